"""Checks a file before it is uploaded, so that what the service would refuse is not sent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.files import open_regular
from app.formats import format_number
from app.media_types import sniff_file
from app.service.calls import limit
from app.service.errors import LimitExceeded
from app.service.http.size_limits import LIMIT_WORDS, MAX_UPLOAD_BYTES
from app.translation import tr


async def check_upload(path: Path, kinds: frozenset[str], sentence: str) -> int:
    """Return the file's size. Raises `LimitExceeded` for one that is missing, empty, over 25 MB or of another kind."""
    size, kind = await asyncio.to_thread(_look, path)
    limit(size > 0, "file", "1", tr("{name} is empty.", name=path.name))
    limit(
        size <= MAX_UPLOAD_BYTES,
        "file",
        "25 MB",
        tr(
            "Up to {limit_words}. {name} has {size} bytes.",
            limit_words=LIMIT_WORDS,
            name=path.name,
            size=format_number(size),
        ),
    )
    limit(
        kind in kinds,
        "file",
        ", ".join(sorted(kinds)),
        tr("{name} cannot be used. {sentence}", name=path.name, sentence=sentence),
    )
    return size


async def sound_kind(path: Path) -> str | None:
    """What the file is, by its bytes."""
    _, kind = await asyncio.to_thread(_look, path)
    return kind


def _look(path: Path) -> tuple[int, str | None]:
    try:
        with open_regular(path) as file:
            return path.stat().st_size, sniff_file(file)
    except OSError as error:
        raise LimitExceeded(
            tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror), field="file"
        ) from None
