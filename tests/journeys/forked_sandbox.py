"""Sandboxes that have everything imported when they begin: forks of a process that imported it once.

python forked_sandbox.py serve SOCKET                              fork for every caller until standard input closes
python -I -S forked_sandbox.py join PATH --serve-sandbox FOLDER    be what Rialto takes for its Sandbox

What a Sandbox imports by and by takes up to two seconds, and most journeys start two.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

assert sys.platform != "win32"  # which has no fork


def serve(listening: socket.socket) -> None:
    import gc
    import importlib
    import pkgutil
    import select

    import app.sandbox.child_process

    for module in pkgutil.walk_packages(app.sandbox.__path__, "app.sandbox."):
        if not module.name.endswith((".__main__", ".pytest_plugin")):
            importlib.import_module(module.name)
    for name in (
        "email.utils",
        "eth_account",
        "eth_account.messages",
        "eth_utils.crypto",
        "python_multipart.multipart",
    ):
        importlib.import_module(name)  # which the Sandbox imports where it needs them
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all that they share
    forks: set[int] = set()
    while True:
        readable, _, _ = select.select([listening, sys.stdin], [], [], None if not forks else 1.0)
        forks = {fork for fork in forks if os.waitpid(fork, os.WNOHANG) == (0, 0)}
        if sys.stdin in readable:
            return
        if listening in readable:
            caller, _ = listening.accept()
            fork = os.fork()
            if fork == 0:
                listening.close()
                _live(caller)
            forks.add(fork)
            caller.close()


def _live(caller: socket.socket) -> None:
    """Be the Sandbox of the caller, and end with it."""
    import gc
    import random
    import threading

    from app.sandbox.child_process import main

    _, descriptors, _, _ = socket.recv_fds(caller, 1, 3)
    _take_over(descriptors)
    with caller.makefile("rb") as stream:
        said = stream.readline().rstrip(b"\n").split(b"\0")
    os.environ.clear()
    os.environb.update(pair.partition(b"=")[::2] for pair in said[1:])
    random.seed()

    def end_with_caller() -> None:
        caller.recv(1)
        _end()

    threading.Thread(target=end_with_caller, daemon=True).start()
    gc.disable()  # as `python -m app` does
    main(os.fsdecode(said[0]))
    _end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)  # to tidy up what the forks share takes longer than to start one


def join(path: str, folder: str) -> None:
    """Hand the streams of this process to a new Sandbox, and end when it ends."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b"s"], [0, 1, 2])
        environment = (name + b"=" + value.replace(b"\n", b" ") for name, value in os.environb.items())
        server.sendall(b"\0".join((os.fsencode(folder), *environment)) + b"\n")
        _take_over([os.open(os.devnull, os.O_RDWR)] * 3)  # else nobody would see the Sandbox close them
        server.recv(1)


def _take_over(descriptors: list[int]) -> None:
    for stream, descriptor in enumerate(descriptors):
        os.dup2(descriptor, stream)
    for descriptor in set(descriptors):
        os.close(descriptor)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(socket.socket(fileno=int(sys.argv[2])))
    else:
        join(sys.argv[2], sys.argv[-1])
