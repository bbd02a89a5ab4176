"""Writes a file to the path that the person chose, and reports success or failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.storage.atomic_files import replacing
from app.translation import tr


class SavedFile(str):
    """A sentence about a file that was written for the person, who may want to see it in its folder."""

    path: Path

    def __new__(cls, path: Path, sentence: str = "") -> SavedFile:
        """`sentence` is by itself that it was saved under this name."""
        words = super().__new__(cls, sentence or tr("Saved as {name}", name=path.name))
        words.path = path
        return words


async def save_file(path: Path, write: Callable[[Path], object]) -> str:
    """Run `write` in a thread; its `OSError` ends in the sentence that is returned for a notice, like its success.

    `write` is given another path: a file that was at `path` is replaced by a whole one or not at all.
    """
    import asyncio  # not before the window is painted

    def work() -> None:
        with replacing(path) as place:
            write(place)

    try:
        await asyncio.to_thread(work)
    except OSError as error:
        return tr(
            "{name} could not be saved: {strerror}",
            name=path.name,
            strerror=error.strerror or tr("the disk reported an error"),
        )
    return SavedFile(path)
