"""Answers that go to disk as they come: under another name until they are whole, then renamed.

A large file whose source takes ranges is gone on with where it broke off: its part stays on the disk, with a line
beside it by which the source can tell whether it is still the same file (RFC 9110, 13.1.5 and 14).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import TypeVar

from app import files
from app.service.errors import BadResponse, StreamCut
from app.translation import tr

T = TypeVar("T")

BUFFER_BYTES = 2 * 1024 * 1024
MAX_VECTOR = 512  # pieces that one system call takes everywhere
MAX_MARK_CHARS = 500
_WRITEV: Callable[[int, list[bytes]], int] | None = getattr(os, "writev", None)
_RANGE = re.compile(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15})")
OnReceived = Callable[[int, int | None], None]  # bytes so far, bytes in all where the service told


@dataclass(frozen=True, slots=True)
class Part:
    """What is on the disk of a file that broke off. `mark` is the source's own name for this state of the file."""

    size_bytes: int = 0
    mark: str = ""

    def headers(self) -> tuple[tuple[str, str], ...]:
        """What to ask with: for the rest if the file is still the same, else for all of it."""
        if not self.size_bytes or not self.mark:
            return ()
        return (("Range", f"bytes={self.size_bytes}-"), ("If-Range", self.mark))


def part_path(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def mark_path(path: Path) -> Path:
    return path.with_name(path.name + ".part.mark")


def read_part(path: Path) -> Part:
    """Return what an earlier download of `path` left; blocks. Nothing of it can be used without its mark."""
    try:
        mark = mark_path(path).read_text("utf-8")[:MAX_MARK_CHARS].strip()
        return Part(part_path(path).stat().st_size, mark) if mark else Part()
    except (OSError, UnicodeDecodeError):
        return Part()


def drop_part(path: Path) -> None:
    """Forget what an earlier download left; blocks. Raises `OSError`."""
    for each in (part_path(path), mark_path(path)):
        each.unlink(missing_ok=True)


def mark_of(headers: tuple[tuple[str, str], ...]) -> str:
    """By what a later request can name this state of the file; "" where the source takes no ranges, or names none.

    A weak tag, and a date alone, do not promise the same bytes.
    """
    told = dict(headers)
    tag = told.get("etag", "")
    takes_ranges = told.get("accept-ranges", "").lower() == "bytes" or "content-range" in told
    is_strong = tag.startswith('"') and tag.endswith('"') and tag.isascii() and tag.isprintable()
    return tag if takes_ranges and is_strong and len(tag) <= MAX_MARK_CHARS else ""


def rest_of(headers: tuple[tuple[str, str], ...], part: Part) -> int | None:
    """Return the size of the whole file if this partial answer (206) goes on exactly where `part` ends, else None."""
    found = _RANGE.fullmatch(dict(headers).get("content-range", ""))
    return int(found[2]) if found is not None and int(found[1]) == part.size_bytes < int(found[2]) else None


async def save(
    pieces: AsyncIterator[bytes],
    path: Path,
    *,
    total: int | None = None,
    on_received: OnReceived | None = None,
    mark: str = "",
    after: int = 0,
) -> int:
    """Write `pieces` to `path` and return the size of the whole in bytes.

    The file appears under its name only when it is complete and on the disk; a part of it, or one that could not be
    written, leaves nothing behind, unless a `mark` was given: then what came before a break stays for the next try.
    `after`: so many bytes of it are on the disk already, and the pieces follow them. Raises `BadResponse` when the disk
    refuses, and whatever `pieces` raises.
    """
    part = part_path(path)
    received = after
    file = await _opened(path, mark, after)
    keeps = False
    waiting: list[bytes] = []
    try:
        waiting_bytes = 0
        async for piece in pieces:
            waiting.append(piece)
            waiting_bytes += len(piece)
            received += len(piece)
            if waiting_bytes >= BUFFER_BYTES:
                await _in_thread(lambda: _write(file, waiting))
                waiting_bytes = 0
            if on_received is not None:
                on_received(received, total)
        await _in_thread(lambda: _write(file, waiting))
        await _in_thread(lambda: _finish(file, part, path))
    except StreamCut:
        keeps = bool(mark)
        await _in_thread(lambda: _write(file, waiting))
        raise
    except asyncio.CancelledError:
        keeps = bool(mark)
        raise
    finally:
        file.close()
        if not keeps:
            with contextlib.suppress(OSError):  # a disk that refuses was told of
                drop_part(path)
    return received


async def _in_thread(work: Callable[[], T]) -> T:
    """Do something with the disk in a thread. Cancelled, it waits for the thread first: the file is still in its hands.

    Raises `BadResponse` when the disk refuses.
    """
    ahead = asyncio.get_running_loop().run_in_executor(None, _disk, work)
    try:
        return await asyncio.shield(ahead)
    except asyncio.CancelledError:
        await asyncio.wait([ahead])
        raise


async def _opened(path: Path, mark: str, after: int) -> RawIOBase:
    """Open the part. Cancelled meanwhile it is closed again, and stays only where a later try may go on with it."""
    opened: list[RawIOBase] = []
    try:
        await _in_thread(lambda: opened.append(_open(path, mark, after)))
    except asyncio.CancelledError:
        for file in opened:
            file.close()
            if not mark:
                drop_part(path)
        raise
    return opened[0]


def _open(path: Path, mark: str, after: int) -> RawIOBase:
    part = part_path(path)
    if after:
        file = part.open("r+b", buffering=0)
        file.truncate(after)
        file.seek(after)
        return file
    drop_part(path)
    if mark:
        mark_path(path).write_text(mark, "utf-8")
    return part.open("wb", buffering=0)


def _write(file: RawIOBase, waiting: list[bytes]) -> None:
    """Write what waits and empty the list; as it lies in memory where the system can, without joining it first."""
    written = 0
    if _WRITEV is not None and len(waiting) <= MAX_VECTOR:
        written = _WRITEV(file.fileno(), waiting) if waiting else 0
    left = memoryview(b"")
    if written < sum(map(len, waiting)):
        left = memoryview(b"".join(waiting))[written:]
    waiting.clear()
    while left:
        left = left[file.write(left) or 0 :]


def _finish(file: RawIOBase, part: Path, path: Path) -> None:
    os.fsync(file.fileno())
    file.close()
    files.replace(part, path)
    mark_path(path).unlink(missing_ok=True)


def _disk(work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        raise BadResponse(
            tr("The response cannot be saved: {strerror}.", strerror=error.strerror or error), code="disk"
        ) from error
