"""Checks a file before it is uploaded, so that what the service would refuse is not sent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.service.calls import limit
from app.service.errors import LimitExceeded
from app.service.http.media_types import HEAD_BYTES, sniff
from app.service.http.size_limits import LIMIT_WORDS, MAX_UPLOAD_BYTES


async def check_upload(path: Path, kinds: frozenset[str], sentence: str) -> int:
    """Return the file's size. Raises `LimitExceeded` for one that is missing, empty, over 25 MB or of another kind."""
    size, head = await asyncio.to_thread(_look, path)
    limit(size > 0, "file", "1", f"{path.name} is empty.")
    limit(
        size <= MAX_UPLOAD_BYTES,
        "file",
        "25 MB",
        f"Up to {LIMIT_WORDS}; {path.name} has {size:,} bytes.",
    )
    limit(sniff(head) in kinds, "file", ", ".join(sorted(kinds)), f"{path.name} cannot be used. {sentence}")
    return size


async def sound_kind(path: Path) -> str | None:
    """What the file is, by how it begins."""
    _, head = await asyncio.to_thread(_look, path)
    return sniff(head)


def _look(path: Path) -> tuple[int, bytes]:
    try:
        with path.open("rb") as file:
            return path.stat().st_size, file.read(HEAD_BYTES)
    except OSError as error:
        raise LimitExceeded(f"{path.name} cannot be read: {error.strerror}.", field="file") from None
