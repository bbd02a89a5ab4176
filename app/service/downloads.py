"""Answers that go to disk as they come: under another name until they are whole, then renamed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from app.service.errors import BadAnswer

T = TypeVar("T")

BUFFER_BYTES = 1024 * 1024
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
    file = await asyncio.to_thread(_disk, lambda: part.open("wb"))
    try:
        waiting = bytearray()
        async for piece in pieces:
            waiting += piece
            received += len(piece)
            if len(waiting) >= BUFFER_BYTES:
                full, waiting = waiting, bytearray()
                await asyncio.to_thread(_disk, lambda full=full: file.write(full))
            if on_received is not None:
                on_received(received, total)
        await asyncio.to_thread(_disk, lambda: _finish(file, waiting, part, path))
    finally:
        file.close()
        if part.exists():
            part.unlink(missing_ok=True)
    return received


def _finish(file: BinaryIO, rest: bytearray, part: Path, path: Path) -> None:
    file.write(rest)
    file.flush()
    os.fsync(file.fileno())
    file.close()
    part.replace(path)


def _disk(work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        raise BadAnswer(f"The answer cannot be saved: {error.strerror or error}.", code="disk") from None
