"""Answers that go to disk as they come: under another name until they are whole, then renamed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from io import RawIOBase
from pathlib import Path
from typing import TypeVar

from app.service.errors import BadAnswer

T = TypeVar("T")

BUFFER_BYTES = 2 * 1024 * 1024
MAX_VECTOR = 512  # pieces that one system call takes everywhere
_WRITEV: Callable[[int, list[bytes]], int] | None = getattr(os, "writev", None)
OnReceived = Callable[[int, int | None], None]  # bytes so far, bytes in all where the service told


async def save(
    pieces: AsyncIterator[bytes], path: Path, *, total: int | None = None, on_received: OnReceived | None = None
) -> int:
    """Write `pieces` to `path` and return the size in bytes.

    The file appears under its name only when it is complete and on the disk; a part of it, or one that could not be
    written, leaves nothing behind. Raises `BadAnswer` when the disk refuses, and whatever `pieces` raises.
    """
    part = path.with_name(path.name + ".part")
    received = 0
    file = await asyncio.to_thread(_disk, lambda: part.open("wb", buffering=0))
    try:
        waiting: list[bytes] = []
        waiting_bytes = 0
        async for piece in pieces:
            waiting.append(piece)
            waiting_bytes += len(piece)
            received += len(piece)
            if waiting_bytes >= BUFFER_BYTES:
                await asyncio.to_thread(_write, file, waiting)
                waiting_bytes = 0
            if on_received is not None:
                on_received(received, total)
        await asyncio.to_thread(_write, file, waiting)
        await asyncio.to_thread(_disk, lambda: _finish(file, part, path))
    finally:
        file.close()
        if part.exists():
            part.unlink(missing_ok=True)
    return received


def _write(file: RawIOBase, waiting: list[bytes]) -> None:
    """Write what waits and empty the list; as it lies in memory where the system can, without joining it first."""
    written = 0
    if _WRITEV is not None and len(waiting) <= MAX_VECTOR:
        written = _disk(partial(_WRITEV, file.fileno(), waiting)) if waiting else 0
    left = memoryview(b"")
    if written < sum(map(len, waiting)):
        left = memoryview(b"".join(waiting))[written:]
    waiting.clear()
    while left:
        left = left[_disk(partial(file.write, left)) or 0 :]


def _finish(file: RawIOBase, part: Path, path: Path) -> None:
    os.fsync(file.fileno())
    file.close()
    part.replace(path)


def _disk(work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        raise BadAnswer(f"The answer cannot be saved: {error.strerror or error}.", code="disk") from None
