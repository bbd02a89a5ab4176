"""The images that are there: searched, starred, thrown away and brought back, saved elsewhere, deleted for good."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.file_saving import SavedFile
from app.core.tasks import TaskScope
from app.core.trash import move_rows, moved_text
from app.core.undo import UndoCommand, UndoStack
from app.files import TooLarge, read_regular
from app.media_types import HEAD_BYTES, sniff
from app.storage.atomic_files import write_atomically
from app.storage.chat_rows import new_id
from app.storage.errors import NoHistory, StorageError, unavailable
from app.storage.file_names import file_name, free_path
from app.storage.images import LONGEST_LIST, SUFFIXES, ImageFiles, Images, StoredImage, title_of
from app.translation import tr
from app.ui.images.image_processing import checked_size, small_image
from app.ui.images.session.tiles import tile_of
from app.ui.images.state import KIND_WORDS, GalleryState, Tile, Usage
from app.ui.kit.image_decoding import UndecodableImage
from app.ui.kit.image_metadata import NotWhole, check_whole, metadata_of
from app.ui.kit.lists.rows import LazyRows
from app.ui.kit.lists.search_terms import SearchTerms

DEFAULT_PATTERN = "{title} {number}"
PATTERN_WORDS = ("title", "number", "model", "seed", "date", "time", "id")
MEASURE_AFTER_S = 0.2  # several images that come at once are measured once
MAX_IMAGE_BYTES = 25 * 1024 * 1024
READ_AT_ONCE = 2_000  # images; all that ten years have gathered take a second and 35 MB


def name_of(pattern: str, image: StoredImage) -> str:
    """Return the name an image is saved under: words in braces are filled in, what no disk takes is left out."""
    at = image.created_at.astimezone()
    words = {
        "title": image.title or KIND_WORDS.get(image.kind, tr("Image")),
        "number": str(image.number) if image.total > 1 else "",
        "model": image.model_name or image.model,
        "seed": str(image.seed) if image.seed is not None else "",
        "date": f"{at:%Y-%m-%d}",
        "time": f"{at:%H.%M}",
        "id": image.id[:8],
    }
    name = pattern or DEFAULT_PATTERN
    for word, value in words.items():
        name = name.replace(f"{{{word}}}", value)
    return file_name(name, SUFFIXES.get(image.form, ".png"), otherwise=tr("Image"))


class ImageLibrary(QObject):
    """`gallery_changed` carries a `GalleryState`, `image_changed` one `StoredImage`."""

    gallery_changed = Signal(object)
    image_changed = Signal(object)
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    usage_changed = Signal(object)  # Usage
    deleted = Signal(str)  # the id of an image that is gone for good
    imported = Signal(str)  # the id of an image that was brought in

    def __init__(self, tasks: TaskScope, undo_stack: UndoStack, files: ImageFiles) -> None:
        super().__init__()
        self._files = files
        self._tasks = tasks
        self._undo_stack = undo_stack
        self.images: Images | None = None
        self.rows: dict[str, StoredImage] = {}  # newest first
        self.unread = 0  # how many older ones were not read yet
        self.trashed: dict[str, StoredImage] = {}
        self._referred: dict[str, StoredImage] = {}  # which forms refer to, however old they are
        self._is_read = False
        self.search = ""
        self.scope = ""
        self.pattern = ""
        self.usage = Usage()
        self.mark_of: Callable[[str], str] = lambda _account_id: ""
        self.cache: Path | None = None  # where small images of them lie
        self._texts: dict[str, tuple[StoredImage, str]] = {}

    async def start(self, images: Images) -> None:
        self.images = images
        await self.load()

    async def load(self) -> None:
        """Read the newest images, as many as were read before, and the trash."""
        if self.images is None:
            raise NoHistory
        count, _ = await self.images.count()
        coming_back = 0 if self.unread else len(self.trashed)  # at most: where all were read, all are again
        limit = max(READ_AT_ONCE, len(self.rows) + coming_back)
        rows = await self.images.recent(limit=limit)
        trashed = await self.images.recent(trashed=True)
        self.rows, self.trashed = await asyncio.to_thread(
            lambda: ({image.id: image for image in rows}, {image.id: image for image in trashed})
        )
        self.unread = max(0, count - len(rows)) if len(rows) == limit else 0  # the count may be older than the rows
        self._is_read = True
        self.publish()
        self._tasks.replace("images usage", self._measure)

    async def read_these(self, image_ids: Collection[str]) -> None:
        """Read images that a form refers to, so that `one` knows them also where they are older than what was read."""
        if self.images is None:
            raise NoHistory
        self._referred |= {image.id: image for image in await self.images.some(image_ids)}

    def read_more(self, *, everything: bool = False) -> None:
        """Read the next older images, for somebody who came to the end of the others, or all."""
        if self.unread:
            limit = LONGEST_LIST if everything else READ_AT_ONCE
            self._tasks.start_unless_running(f"images older {limit}", self._read_more, limit)

    async def _read_more(self, limit: int) -> None:
        assert self.images is not None and self.rows
        last = next(reversed(self.rows.values()))
        read = await self.images.recent(until=last.created_at, limit=limit)
        if self.unread and last.id not in self.rows:  # the list was read anew meanwhile and ends elsewhere
            await self._read_more(limit)
            return
        older = {image.id: image for image in read if image.id not in self.rows and image.id not in self.trashed}
        self.rows = self.rows | older
        self.unread = max(0, self.unread - len(older)) if len(read) == limit and older else 0
        self.publish()

    def one(self, image_id: str) -> StoredImage | None:
        return self.rows.get(image_id) or self.trashed.get(image_id) or self._referred.get(image_id)

    def path(self, image_id: str) -> Path | None:
        """Return the file of an image, None where there is none."""
        image = self.one(image_id)
        return self._files.path(image) if image is not None and image.has_file else None

    def put(self, image: StoredImage) -> None:
        """Take a new or changed image into the list, in its place."""
        if image.id in self.trashed:
            self.trashed[image.id] = image
        elif image.id in self.rows:
            self.rows[image.id] = image
        else:
            later = [one for one in self.rows.values() if one.batch_id == image.batch_id and image.batch_id]
            rest = {key: one for key, one in self.rows.items() if not image.batch_id or one.batch_id != image.batch_id}
            self.rows = {one.id: one for one in (*later, image)} | rest
        self.publish()
        self.image_changed.emit(image)
        if image.state != "sending":
            self._tasks.replace("images usage", self._measure)

    def drop(self, image_id: str) -> None:
        """Take an image out of the list that was never asked for."""
        if self.rows.pop(image_id, None) is not None:
            self.publish()

    async def _measure(self) -> None:
        """Look how much all of it takes on the disk; reads the folder, so it has its own thread and its own time."""
        await asyncio.sleep(MEASURE_AFTER_S)
        if self.images is None:
            raise NoHistory
        kept, trash = await self.images.ids(), await self.images.ids(trashed=True)
        _, with_file = await self.images.count()
        sizes = await asyncio.to_thread(lambda: (self._files.size_of(kept), self._files.size_of(trash)))
        self.usage = Usage(with_file, *sizes)
        self.usage_changed.emit(self.usage)

    # -- looking --------------------------------------------------------------------------------------------------

    def search_for(self, text: str) -> None:
        self.search = text.strip()
        self.publish()

    def show_scope(self, scope: str) -> None:
        """Show all images (""), the starred ones, or the trash."""
        self.scope = scope
        self.publish()

    def publish(self) -> None:
        rows, unread = (self.trashed, 0) if self.scope == "trash" else (self.rows, self.unread)
        if unread and (self.search or self.scope):
            self.read_more(everything=True)  # what is looked for may be among them; shown once they are read
            return
        found = [image for image in rows.values() if image.starred] if self.scope == "starred" else [*rows.values()]
        if self.search:
            self._tasks.replace("images search", self._search, found, len(rows))
        else:
            self._tasks.cancel("images search")
            self._show(found, len(rows) + unread, unread)

    async def _search(self, images: list[StoredImage], total: int) -> None:
        """Look through thousands of images in a thread: that takes longer than a frame."""
        words = SearchTerms(self.search)
        self._show(await asyncio.to_thread(lambda: words.among(images, list(map(self._text_of, images)))), total)

    def _show(self, found: list[StoredImage], total: int, unread: int = 0) -> None:
        busy = any(image.state == "sending" for image in found)
        tiles = LazyRows(found, self._tile)
        self.gallery_changed.emit(GalleryState(tiles, total, self.search, self.scope, self._is_read, busy, unread))

    def _tile(self, image: StoredImage) -> Tile:
        """The tile of an image, with its account where that is not the one in use."""
        tile, mark = tile_of(image), self.mark_of(image.account_id)
        return replace(tile, second_line=f"{tile.second_line} · {mark}") if mark else tile

    def _text_of(self, image: StoredImage) -> str:
        """The words an image is found by, made once for each state of it."""
        known = self._texts.get(image.id)
        if known is None or known[0] is not image:
            known = self._texts[image.id] = (image, _text(image))
        return known[1]

    # -- changing -------------------------------------------------------------------------------------------------

    def star(self, image_id: str) -> None:
        image = self.one(image_id)
        if image is not None:
            self._tasks.start_unless_running(f"images star {image_id}", self._mark, image_id, not image.starred)

    async def _mark(self, image_id: str, starred: bool) -> None:
        if self.images is None:
            raise NoHistory
        self.put(await self.images.mark(image_id, starred=starred))

    def move_to_trash(self, image_ids: Sequence[str]) -> None:
        """Move images to the trash; what is on its way stays."""
        ids = tuple(key for key in image_ids if key in self.rows and self.rows[key].state != "sending")
        if ids:
            self._tasks.start_unless_running(f"images trash {ids[0]}", self._trash, ids)

    def restore(self, image_ids: Sequence[str]) -> None:
        """Take images out of the trash."""
        ids = tuple(key for key in image_ids if key in self.trashed)
        if ids:
            self._tasks.start_unless_running(f"images back {ids[0]}", self._restore, ids)

    async def _restore(self, ids: tuple[str, ...]) -> None:
        moved, refusal = await self._move(ids, to_trash=False)
        self._undo_stack.forget("images", moved)
        if refusal is not None:
            raise refusal

    async def _trash(self, ids: tuple[str, ...]) -> None:
        moved, refusal = await self._move(ids, to_trash=True)
        if moved:
            titles = [tile_of(self.trashed[image_id]).title for image_id in moved]
            self._undo_stack.push(UndoCommand("images", moved_text(titles, "images"), self._restore, moved))
        if refusal is not None:
            raise refusal

    async def _move(self, ids: tuple[str, ...], to_trash: bool) -> tuple[tuple[str, ...], StorageError | None]:
        if self.images is None:
            raise NoHistory
        images, moment = self.images, self.images.now() if to_trash else None

        async def move(image_id: str) -> None:
            if self.one(image_id) is not None:
                await images.mark(image_id, trashed_at=moment)

        moved = await move_rows(ids, move)
        await self.load()
        return moved

    def empty_trash(self) -> None:
        """Delete what is in the trash for good. The page has asked."""
        self._tasks.start_unless_running("images empty trash", self._empty)

    async def _empty(self) -> None:
        if self.images is None:
            raise NoHistory
        for image in tuple(self.trashed.values()):
            self._undo_stack.forget("images", (image.id,))
            await asyncio.to_thread(self._delete, image)
            await self.images.remove(image.id)
            self._referred.pop(image.id, None)
            self.deleted.emit(image.id)
        await self.load()

    def _delete(self, image: StoredImage) -> None:
        """Runs in a thread. The small image of it goes too."""
        with contextlib.suppress(OSError):
            self._files.remove(image)
        if self.cache is not None:
            with contextlib.suppress(OSError):
                small_image(self._files.path(image), self.cache).unlink(missing_ok=True)

    # -- out and in -----------------------------------------------------------------------------------------------

    def save_as(self, image_ids: Sequence[str], folder_or_file: Path, pattern: str = "") -> None:
        """Copy one image to a file, or several into a folder under names made by the pattern."""
        self.pattern = pattern or self.pattern
        self._tasks.start_unless_running("images save", self._copy, tuple(image_ids), folder_or_file)

    async def _copy(self, ids: tuple[str, ...], target: Path) -> None:
        try:
            saved = await asyncio.to_thread(self._copy_all, ids, target)
        except StorageError as error:
            self.notice.emit(error.sentence)
            return
        if not saved:
            self.notice.emit(tr("There was nothing to save"))
            return
        self.notice.emit(
            SavedFile(
                saved[0],
                "" if len(saved) == 1 else tr("{count} images saved in {name}", count=len(saved), name=target.name),
            )
        )

    def _copy_all(self, ids: tuple[str, ...], target: Path) -> list[Path]:
        """Runs in a thread. In a folder nothing is overwritten."""
        places: list[Path] = []
        try:
            is_folder = target.is_dir()
        except OSError as error:  # a name that is too long, or a folder that may not be looked at
            raise unavailable(error, target, tr("Saving the image")) from error
        for image_id in ids:
            image, path = self.one(image_id), self.path(image_id)
            if image is None or path is None:
                continue
            place = free_path(target / name_of(self.pattern, image)) if is_folder else target
            try:
                data = path.read_bytes()
            except OSError as error:
                raise unavailable(error, path, tr("Reading the image")) from error
            write_atomically(place, data, 0o644)
            places.append(place)
        return places

    def bring_in(self, path: Path) -> None:
        """Copy an image of this computer into the library, to edit or enlarge it. Nothing is sent."""
        self._tasks.start_unless_running(f"images import {path}", self._bring_in, path)

    async def _bring_in(self, path: Path) -> None:
        if self.images is None:
            raise NoHistory
        image = self.images.planned("import", "", self.images.now(), title=path.stem[:60], charged=False)
        try:
            image = await asyncio.to_thread(_taken_in, self._files, image, path)
        except (UndecodableImage, NotWhole):
            self.notice.emit(tr("“{name}” is not a PNG, JPEG or WebP image that Rialto can open.", name=path.name))
            return
        except StorageError as error:
            self.notice.emit(error.sentence)
            return
        await self.images.add([image])
        self.put(image)
        self.imported.emit(image.id)


def _taken_in(files: ImageFiles, image: StoredImage, path: Path) -> StoredImage:
    """Runs in a thread."""
    try:
        data = read_regular(path, MAX_IMAGE_BYTES - 1)
    except TooLarge:
        raise UndecodableImage from None
    except OSError as error:
        raise unavailable(error, path, tr("Reading the image")) from error
    form = sniff(data[:HEAD_BYTES]) or ""
    check_whole(data, form)
    width, height = checked_size(data)
    files.make()
    name = files.name(image.id, form)
    write_atomically(files.folder / name, data)
    facts = metadata_of(data, form)
    prompt = str(facts.get("prompt") or "")
    return replace(
        image,
        state="saved",
        file=name,
        form=form,
        width=width,
        height=height,
        size_bytes=len(data),
        prompt=prompt,
        title=image.title or title_of(prompt) or new_id()[:8],
    )


def _text(image: StoredImage) -> str:
    caption = tile_of(image).title
    return f"{caption} {image.prompt} {image.model} {image.model_name} {image.seed} {image.kind}".casefold()
