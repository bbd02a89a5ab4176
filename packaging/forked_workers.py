"""Workers of pytest-xdist that have every test imported when they begin: forks of a process that collected them once.

python forked_workers.py serve SOCKET ARGUMENT …    collect with these arguments of pytest, then fork behind the caller
python forked_workers.py join SOCKET                be what execnet takes for the Python of a worker

To import what tests import takes two thirds of a worker's first ten seconds.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

assert sys.platform != "win32"  # which has nothing of what follows
LOOKS_EVERY_S = 1.0  # whether the run is over


def serve(address: str, arguments: Sequence[str]) -> None:
    """Collect, which also compiles, and end; a fork goes on and makes workers for as long as this one's parent runs."""
    import pytest

    run = os.getppid()
    sys.path[0] = str(Path.cwd())  # as `python -m pytest` has it
    pytest.main(list(arguments))
    _draw_once()
    gc.collect()
    gc.freeze()  # a collection in a worker would copy all that the workers share
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(_short(address))
        listening.listen()
        if os.fork() != 0:
            os._exit(0)
        _take_over([os.open(os.devnull, os.O_RDWR)] * 3)  # else whoever reads what was said here waits
        listening.settimeout(LOOKS_EVERY_S)
        while _is_running(run):
            with contextlib.suppress(TimeoutError):
                caller, _ = listening.accept()
                descriptors = socket.recv_fds(caller, 1, 3)[1]
                if os.fork() == 0:
                    listening.close()
                    _work(descriptors)
                    return  # the system closes `caller`, for which `join` waits
                caller.close()
                for descriptor in descriptors:
                    os.close(descriptor)


def _draw_once() -> None:
    """Have Hypothesis make its tables of characters, which takes two seconds of each worker."""
    from hypothesis import HealthCheck, given, settings, strategies

    @settings(max_examples=1, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.text())
    def draw(text: str) -> None:
        """Nothing is tested."""

    draw()


def join(address: str) -> None:
    """Hand the streams of this process to a new worker, and end when it ends."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(_short(address))
        socket.send_fds(server, [b"w"], [0, 1, 2])
        _take_over([os.open(os.devnull, os.O_RDWR)] * 3)  # else nobody would see the worker close them
        server.recv(1)


def _short(address: str) -> str:
    """Return another path of a socket: Linux takes 107 bytes, and a folder for temporary files may have more."""
    folder = os.open(Path(address).parent, os.O_RDONLY)
    return f"/proc/self/fd/{folder}/{Path(address).name}"


def _work(descriptors: Sequence[int]) -> None:
    """Do what execnet asks of the Python that it starts."""
    _take_over(descriptors)
    first = open(0, encoding="utf-8", closefd=False).readline()  # noqa: SIM115 - it stays open
    exec(eval(first), {"sys": sys})


def _take_over(descriptors: Sequence[int]) -> None:
    for stream, descriptor in enumerate(descriptors):
        os.dup2(descriptor, stream)
    for descriptor in set(descriptors):
        os.close(descriptor)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    else:
        join(sys.argv[2])
