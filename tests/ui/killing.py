"""Programs that are killed in the middle of something, for real, without paying for a start of Python each time.

One process loads the modules once and waits; for each kill it forks, and the fork, which has nothing but those modules
in common with it, lives until it says the word and is ended by SIGKILL. Where there is no fork, a new process starts.

A victim's module calls `serve(live)` under `if __name__ == "__main__"`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.kit.portable import KILL

CAN_FORK = hasattr(os, "fork")
LIMIT_S = 60.0


def serve(live: Callable[..., None]) -> None:
    """In the victim's process: run `live` with the texts of each line of the input, in a fork of its own."""
    for line in sys.stdin:
        words = json.loads(line)
        child = os.fork() if CAN_FORK else 0
        if child == 0:
            print(os.getpid(), flush=True)
            live(*words)
            os._exit(0)
        os.waitpid(child, 0)
        print("gone", flush=True)


class KilledPrograms:
    """The other end of `serve`."""

    def __init__(self, process: subprocess.Popen[str], module: str) -> None:
        self._process = process
        self._module = module

    async def kill(self, *words: str) -> str:
        """Let one live until it says a line, kill it, and return the line."""
        async with asyncio.timeout(LIMIT_S):
            return await asyncio.to_thread(self._kill, words)

    def _kill(self, words: tuple[str, ...]) -> str:
        process = self._process if CAN_FORK else started(self._module)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(words) + "\n")
        process.stdin.flush()
        killed_program = int(process.stdout.readline())
        told = process.stdout.readline().strip()
        os.kill(killed_program, KILL)
        if CAN_FORK:
            assert process.stdout.readline().strip() == "gone"
        else:
            process.wait()
        return told


def started(module: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )


@contextmanager
def killed_programs(module: str) -> Iterator[KilledPrograms]:
    """The victims of one module, for all of its tests."""
    process = started(module)
    try:
        yield KilledPrograms(process, module)
    finally:
        process.kill()
        process.communicate()
