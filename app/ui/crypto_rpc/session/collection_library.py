"""The collections on disk: listed, opened into the editor, saved into, renamed, removed and restored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.trash import TrashEntry, TrashKind, moved_text
from app.service.crypto_rpc import AUTO
from app.storage.errors import StorageError
from app.storage.rpc_collections import Collection, RpcCollections, SavedRequest, TrashedCollection
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import CallRow, numbered
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.crypto_rpc.session.variables import used_in
from app.ui.crypto_rpc.state import CollectionEntry
from app.ui.kit.lists.rows import build_rows

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.trash import Trash
    from app.ui.crypto_rpc.session.draft import Draft


class CollectionLibrary(QObject):
    """The files are read and written in threads."""

    changed = Signal(object)  # tuple[CollectionEntry, ...]
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(self, files: RpcCollections, tasks: TaskScope, trash: Trash) -> None:
        super().__init__()
        self._trash = trash
        trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        self._tasks = tasks
        self._found: dict[str, Collection] = {}
        self._files = files
        self.entries: tuple[CollectionEntry, ...] = ()

    def refresh(self) -> None:
        """Look again: the files are plain text, and others write them too."""
        self._tasks.replace("rpc collections", self.read)

    async def read(self) -> None:
        """Read the folder and show what is in it; a file that is no collection is named."""
        try:
            found, broken = await asyncio.to_thread(self._files.read_all)
        except StorageError as error:
            self.notice.emit(error.sentence)
            return
        self._found = {each.file: each for each in found}
        entries = tuple(build_rows(found, _entry)) + tuple(
            CollectionEntry(file, file, trouble=tr("Cannot be read")) for file in broken
        )
        if entries != self.entries:
            self.entries = entries
            self.changed.emit(entries)

    def changer(self, file: str, place: int) -> Callable[[Draft], None] | None:
        """What puts a saved request into a draft, with the values that its collection gives to variables."""
        collection = self._found.get(file)
        if collection is None or not 0 <= place < len(collection.requests):
            return None
        request, values = collection.requests[place], dict(collection.variables)

        def change(draft: Draft) -> None:
            draft.network = request.network
            draft.variables = {**draft.variables, **values}
            draft.set_rows(rows_of(request), selected=0, batch=request.batch)

        return change

    async def save(self, name: str, title: str, draft: Draft) -> str:
        """Save the calls into the collection of that name; return its file's name, "" when it could not be written."""
        items = [
            {"method": row.method, "params": row.params, **({} if row.rpc_id is AUTO else {"id": row.rpc_id})}
            for row in draft.rows
        ]
        try:
            saved = await asyncio.to_thread(
                saved_into, self._files, name, title, draft.network, items, draft.batch, draft.variables
            )
        except StorageError as error:
            self.notice.emit(error.sentence)
            return ""
        await self.read()
        return saved.file

    def rename(self, file: str, name: str) -> None:
        """Give a collection another name; its file keeps its own, so that others find it where it was."""
        collection = self._found.get(file)
        if collection is not None and name.strip():
            self._start(self._write, replace(collection, name=name.strip()))

    def move_to_trash(self, file: str, place: int | None = None) -> None:
        """Move a collection, or one of its requests, to the trash."""
        collection = self._found.get(file)
        if collection is not None and (place is None or 0 <= place < len(collection.requests)):
            self._tasks.start_unless_running(f"rpc collection {file}", self._move_to_trash, collection, place)

    async def _move_to_trash(self, collection: Collection, place: int | None) -> None:
        try:
            name = await asyncio.to_thread(self._files.trash, collection, place, datetime.now(UTC))
        except StorageError as error:
            self.notice.emit(error.sentence)
            return
        finally:
            await self.read()
        title = collection.name if place is None else collection.requests[place].name
        await self._trash.moved((name,), moved_text((title,), "collections"))

    async def _trashed(self) -> list[TrashEntry]:
        now = datetime.now(UTC)
        found = await asyncio.to_thread(self._files.trashed)
        return [_trash_entry(each, now) for each in found]

    async def _restore(self, names: tuple[str, ...]) -> None:
        for name in names:
            await asyncio.to_thread(self._files.restore, name)
        await self.read()

    async def _delete(self, names: tuple[str, ...]) -> None:
        for name in names:
            await asyncio.to_thread(self._files.delete, name)

    def _start(self, work: Callable[[Collection], Awaitable[None]], collection: Collection) -> None:
        self._tasks.start_unless_running(f"rpc collection {collection.file}", work, collection)

    async def _write(self, collection: Collection) -> None:
        await self._change(lambda files: files.save(collection))

    async def _change(self, change: Callable[[RpcCollections], object]) -> None:
        try:
            await asyncio.to_thread(change, self._files)
        except StorageError as error:
            self.notice.emit(error.sentence)
        await self.read()


def _trash_entry(trashed: TrashedCollection, now: datetime) -> TrashEntry:
    collection, moment = trashed.collection, trashed.trashed_at
    words = f"{tr('Collection')} · {collection.name} · {time_format.when(moment, now)}"
    title = collection.requests[0].name if len(collection.requests) == 1 else collection.name
    return TrashEntry(trashed.name, title, words, moment)


def _entry(collection: Collection) -> CollectionEntry:
    return CollectionEntry(
        collection.file,
        collection.name,
        tuple((request.name, _second(request)) for request in collection.requests),
    )


def _second(request: SavedRequest) -> str:
    calls = tr_n("{n} call", "{n} calls", len(request.items))
    return f"{network_title(request.network)}, {calls}"


def rows_of(request: SavedRequest) -> tuple[CallRow, ...]:
    """The calls of a saved request."""
    return numbered(
        [CallRow(0, str(item["method"]), item.get("params", []), item.get("id", AUTO)) for item in request.items]
    )


def saved_into(
    collections: RpcCollections,
    name: str,
    title: str,
    network: str,
    items: Sequence[Mapping[str, Any]],
    batch: bool,
    variables: Mapping[str, Any],
) -> Collection:
    """Add a request to the collection of that name, which is made when it is not there; one of the same title is
    replaced. Blocking: call it in a thread. Raises `StorageUnavailable`."""
    found, _ = collections.read_all()
    collection = next((each for each in found if each.name.casefold() == name.casefold()), Collection(name))
    request = SavedRequest(title, network, tuple(items), batch)
    others = tuple(each for each in collection.requests if each.name != title)
    used = used_in(rows_of(request))
    values = {**collection.variables, **{each: variables[each] for each in used if each in variables}}
    return collections.save(Collection(collection.name, (*others, request), values, collection.file))
