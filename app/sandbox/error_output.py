"""Standard error of the Sandbox: limits repeated complaints of the event loop and labels lines by library."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
import traceback
from typing import Any

EVERY_S = 60.0


class LoopErrors:
    """The exception handler of a loop. Out of files, a loop complains thousands of times a second."""

    def __init__(self) -> None:
        self._last_at: dict[str, float] = {}

    def __call__(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        text = str(context.get("message", ""))
        now = time.monotonic()
        if now - self._last_at.get(text, -EVERY_S) < EVERY_S:
            return
        self._last_at[text] = now
        error = context.get("exception")
        if isinstance(error, OSError):
            text = f"{text}: {error.strerror or error}"
        print(f"Sandbox: {text}", file=sys.stderr)
        if error is not None and not isinstance(error, OSError):
            traceback.print_exception(error, file=sys.stderr)


def label_libraries() -> None:
    """Let each line that a library writes say so. Only for a process that does nothing but serve.

    Libraries in C write to the file descriptor itself: what comes there goes through a pipe from now on.
    """
    try:
        real = os.dup(2)
    except OSError:
        return  # there is no standard error
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    sys.stderr = os.fdopen(real, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    logging.basicConfig(format="Sandbox, from %(name)s: %(message)s")

    def pass_on() -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                print(f"Sandbox, from a library: {line.rstrip()}", file=sys.stderr)

    threading.Thread(target=pass_on, name="standard error", daemon=True).start()
