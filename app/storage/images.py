"""Requested images, stored from before the call; their bytes are files, see `ImageFiles`.

sending ──► saved        the file is on the disk, decoded once from end to end
   ├──────► withheld     the service answered that its policy forbids the image; charged all the same
   ├──────► broken       what the service sent cannot be opened; it is kept beside the others
   ├──────► failed       surely not carried out
   └──────► unknown      it may have been carried out and charged, and nobody here can know
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from app import files
from app.storage.atomic_files import make_folder
from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.table import Table
from app.storage.values import micros_of
from app.translation import tr

ImageState = Literal["sending", "saved", "withheld", "broken", "failed", "unknown"]
ImageKind = Literal["generate", "edit", "upscale", "background", "import"]
MAX_TITLE_CHARS = 60
SUFFIXES: Mapping[str, str] = {"png": ".png", "jpeg": ".jpg", "webp": ".webp", "gif": ".gif"}
LONGEST_LIST = 200_000  # rows; what is beyond could not be reached


@dataclass(frozen=True, slots=True)
class StoredImage:
    """One image. `file` is a name in the folder of `ImageFiles`; width and height are pixels.

    `options` is the form as it was when the image was asked for. `seed` is None where nobody knows it.
    """

    id: str
    call_id: str
    kind: ImageKind
    created_at: datetime
    changed_at: datetime
    place: int = 0
    batch_id: str = ""
    number: int = 1
    total: int = 1
    title: str = ""
    prompt: str = ""
    model: str = ""
    model_name: str = ""
    account_id: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    source_id: str = ""
    state: ImageState = "sending"
    file: str = ""
    form: str = ""
    width: int = 0
    height: int = 0
    size_bytes: int = 0
    seed: int | None = None
    blurred: bool = False
    enhanced_prompt: str = ""
    trashed_at: datetime | None = None
    starred: bool = False
    exchange_id: str = ""
    request_id: str = ""
    estimate_usd: Decimal | None = None
    cost_usd: Decimal | None = None
    charged: bool = True
    duration_s: float = 0.0
    note: str = ""

    @property
    def has_file(self) -> bool:
        return bool(self.file) and self.state == "saved"


_IMAGES = Table(
    "images", StoredImage, tr("This image no longer exists."), otherwise={"kind": "generate", "state": "unknown"}
)
_KEPT = ("id", "created_at", "starred", "trashed_at")  # when a row is saved


def title_of(prompt: str) -> str:
    """Return the beginning of a prompt, cut at a word, as a title."""
    line = " ".join(prompt.split())
    beginning = line.split(",")[0].split(". ")[0]
    if 0 < len(beginning) <= MAX_TITLE_CHARS:
        return beginning
    if len(line) <= MAX_TITLE_CHARS:
        return line
    return f"{line[: MAX_TITLE_CHARS - 1].rsplit(' ', 1)[0]}…"


class ImageFiles:
    """Where the images lie: `folder/<id>.png`. Every path is made of our own ids."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> None:
        """Make the folder. Raises `StorageUnavailable`."""
        make_folder(self.folder)

    def name(self, image_id: str, form: str) -> str:
        return f"{image_id}{SUFFIXES.get(form, '.bin')}"

    def path(self, image: StoredImage) -> Path:
        return self.folder / image.file

    def original(self, image_id: str) -> Path:
        """What the service sent, where the image was put together from it here."""
        return self.folder / f"{image_id}.service"

    def broken(self, image_id: str) -> Path:
        """What the service sent instead of an image."""
        return self.folder / f"{image_id}.unreadable"

    def found(self, image_id: str) -> Path | None:
        """Return the image's file where one lies there, whatever the database says."""
        paths = (self.folder / f"{image_id}{suffix}" for suffix in SUFFIXES.values())
        return next((path for path in paths if path.is_file()), None)

    def size_of(self, ids: Collection[str]) -> int:
        """Return the bytes that images take on this disk, with what the service sent for them; blocks."""
        ids = frozenset(ids)  # the names of all their files begin with one
        try:
            with os.scandir(self.folder) as entries:
                return sum(entry.stat().st_size for entry in entries if entry.name.partition(".")[0] in ids)
        except OSError:
            return 0

    def remove(self, image: StoredImage) -> None:
        """Delete an image's files for good."""
        paths = [self.original(image.id), self.broken(image.id)]
        for path in (*paths, *([self.path(image)] if image.file else [])):
            files.remove(path)


class Images:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def planned(self, kind: ImageKind, call_id: str, at: datetime, **values: Any) -> StoredImage:
        """Return an image that is about to be asked for; `add` puts it on the disk. A batch has one moment `at`."""
        return StoredImage(new_id(), call_id, kind, at, at, **values)

    async def add(self, images: Sequence[StoredImage]) -> None:
        """Put images on the disk, before anything is sent."""
        async with self._database.transaction() as work:
            for image in images:
                await _IMAGES.insert(work, **_IMAGES.values(image))

    async def save(self, image: StoredImage) -> StoredImage:
        """Write an image as it stands, but for what the person may have marked meanwhile, and return it with that."""
        values = {name: value for name, value in _IMAGES.values(image).items() if name not in _KEPT}
        return await self.mark(image.id, **values)

    async def mark(self, image_id: str, **values: object) -> StoredImage:
        """Change some of it, such as `starred` or `trashed_at`, and return the image as it is now."""
        await _IMAGES.change(self._database, image_id, **{**values, "changed_at": self._database.now()})
        return await self.one(image_id)

    async def one(self, image_id: str) -> StoredImage:
        return await _IMAGES.one(self._database, image_id)

    async def recent(
        self, *, trashed: bool = False, until: datetime | None = None, limit: int = LONGEST_LIST
    ) -> tuple[StoredImage, ...]:
        """Return images, newest first, those of one batch in the order of their numbers; none newer than `until`."""
        where = _where(trashed) if until is None else f"{_where(trashed)} AND created_at <= ?"
        values = [limit] if until is None else [micros_of(until), limit]
        return await _IMAGES.select_many(self._database, f"WHERE {where} ORDER BY created_at DESC, seq LIMIT ?", values)

    async def some(self, image_ids: Collection[str]) -> tuple[StoredImage, ...]:
        """Return those of the images that are there, in the trash or not."""
        places = ", ".join("?" * len(image_ids))
        return await _IMAGES.select(self._database, f"WHERE id IN ({places})", [*image_ids])

    async def ids(self, *, trashed: bool = False) -> list[str]:
        return await self._database.fetch_many(f"SELECT id FROM images WHERE {_where(trashed)}", (), lambda row: row[0])

    async def count(self) -> tuple[int, int]:
        """Return how many images are not in the trash, and how many of those have a file."""
        row = await self._database.fetch_one(
            "SELECT count(*), count(CASE WHEN state = 'saved' AND file <> '' THEN 1 END) FROM images"
            " WHERE trashed_at IS NULL"
        )
        assert row is not None
        return row[0], row[1]

    async def unfinished(self) -> tuple[StoredImage, ...]:
        """Return what a killed program was waiting for."""
        return await _IMAGES.select(self._database, "WHERE state = 'sending' ORDER BY seq")

    async def of_call(self, call_id: str) -> tuple[StoredImage, ...]:
        """Return the images that one paid call was made for."""
        return await _IMAGES.select(self._database, "WHERE call_id = ? ORDER BY place", [call_id])

    async def remove(self, image_id: str) -> None:
        """Delete an image for good; its files are the caller's."""
        await self._database.execute("DELETE FROM images WHERE id = ?", [image_id])

    def now(self) -> datetime:
        return self._database.now()


def _where(trashed: bool) -> str:
    return "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
