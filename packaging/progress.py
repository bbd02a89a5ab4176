"""How the bootstrap talks: one line for every step that takes over a second, one sentence for every refusal."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

SLOW_AFTER_S = 1.0
REMIND_EVERY_S = 20.0
TAIL_LINES = 15


class Refusal(Exception):
    """Rialto cannot go on here. The text is written for the person: what happened, then what to do."""


class CommandFailed(Exception):
    """A tool that we called ended with an error. `output` is everything it said."""

    def __init__(self, command: Sequence[str], code: int, output: str) -> None:
        super().__init__(f"{Path(command[0]).name} ended with code {code}")
        self.output = output

    @property
    def tail(self) -> str:
        lines = [line for line in self.output.splitlines() if line.strip()]
        return "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])


def say(sentence: str) -> None:
    print(sentence, flush=True)


@contextmanager
def step(doing: str, slow_after_s: float = SLOW_AFTER_S) -> Iterator[None]:
    """Announce what is being done once it has taken a second, and say how long it took. A quick step stays silent."""
    begun = time.monotonic()
    over = threading.Event()
    announced = threading.Event()

    def announce() -> None:
        if over.wait(slow_after_s):
            return
        announced.set()
        say(f"{doing}…")
        while not over.wait(REMIND_EVERY_S):
            say(f"  still at it after {time.monotonic() - begun:.0f} s")

    speaker = threading.Thread(target=announce, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        over.set()
        speaker.join()
    if announced.is_set():
        say(f"  took {time.monotonic() - begun:.1f} s")


def quietly(command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a tool without a terminal and return all it said. Raises `CommandFailed`, or `OSError` when it is absent."""
    ended = subprocess.run(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        raise CommandFailed(command, ended.returncode, ended.stdout)
    return ended.stdout


def speak_everywhere() -> None:
    """Let a console whose code page lacks a sign show a question mark for it rather than end the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
