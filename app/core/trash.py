"""The trash of the tabs: list, restore, delete permanently, undo. QtCore only.

A tab adds each kind of row that it has, such as clips and cloned voices, and says what it moved; the rest is here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from PySide6.QtCore import QObject, Signal

from app.core.undo import UndoCommand
from app.formats import format_number
from app.storage.errors import NotStored, StorageError
from app.translation import tr

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack

Ids = tuple[str, ...]
Row = TypeVar("Row")


class TrashEntry(NamedTuple):
    """One row of the trash. Two kinds of rows never share an id."""

    id: str
    title: str
    second_line: str
    trashed_at: datetime

    @property
    def spoken(self) -> str:
        return f"{self.title}, {self.second_line}"


class TrashKind(NamedTuple):
    """How one kind of row is listed, restored and deleted for good. All three may raise `StorageError`."""

    trashed: Callable[[], Awaitable[Sequence[TrashEntry]]]
    restore: Callable[[Ids], Awaitable[None]]
    delete: Callable[[Ids], Awaitable[None]]


class Trash(QObject):
    """The trash of one tab. `changed` carries every `TrashEntry`, the one moved last first."""

    changed = Signal(object)  # tuple[TrashEntry, ...]
    failed = Signal(str)  # a sentence

    def __init__(self, tab: str, tasks: TaskScope, undo_stack: UndoStack, *, kept_days: int = 0) -> None:
        """`kept_days`: how long the tab keeps what is here, 0 for ever."""
        super().__init__()
        self.kept_days = kept_days
        self._tab = tab
        self._tasks = tasks
        self._undo_stack = undo_stack
        self._kinds: list[TrashKind] = []
        self.entries: tuple[TrashEntry, ...] = ()
        self.is_read = False  # before that nobody knows whether the trash is empty

    def add_kind(self, kind: TrashKind) -> None:
        self._kinds.append(kind)

    async def moved(self, ids: Iterable[str], text: str) -> None:
        """The tab has moved these to its trash; `text` says so and is offered with Undo."""
        self._undo_stack.push(UndoCommand(self._tab, text, partial(self._change, "restore"), ids))
        await self.read()

    def show(self) -> None:
        """Tell what is in the trash."""
        self._tasks.replace(f"{self._tab} trash", self._guarded, self.read)

    def restore(self, ids: Iterable[str]) -> None:
        """Put rows back where they were."""
        self._start("restore", tuple(ids))

    def delete(self, ids: Iterable[str]) -> None:
        """Delete rows for good. Ask the person before."""
        self._start("delete", tuple(ids))

    def empty(self) -> None:
        """Delete everything in the trash for good. Ask the person before."""
        self.delete(entry.id for entry in self.entries)

    def _start(self, change: str, ids: Ids) -> None:
        if ids:
            self._tasks.start_unless_running(f"{self._tab} {change} {ids[0]}", self._guarded, self._change, change, ids)

    async def _change(self, change: str, ids: Ids) -> None:
        left = set(ids)
        try:
            for kind in self._kinds:
                there = {entry.id for entry in await kind.trashed()}
                wanted = tuple(each for each in ids if each in there)
                if wanted:
                    await (kind.restore if change == "restore" else kind.delete)(wanted)
                    self._undo_stack.forget(self._tab, wanted)
                    left = left.difference(wanted)
            if left:
                raise NotStored(tr("This is no longer in the trash."))
        finally:
            await self.read()

    async def read(self) -> None:
        """Look what is in the trash and tell it. Raises `StorageError`."""
        found = [entry for kind in self._kinds for entry in await kind.trashed()]
        self.entries = tuple(sorted(found, key=lambda entry: entry.trashed_at, reverse=True))
        self.is_read = True
        self.changed.emit(self.entries)

    async def _guarded(self, work: Callable[..., Awaitable[None]], *args: object) -> None:
        try:
            await work(*args)
        except StorageError as error:
            self.failed.emit(error.sentence)


async def move_rows(
    rows: Iterable[Row], move: Callable[[Row], Awaitable[object]]
) -> tuple[tuple[Row, ...], StorageError | None]:
    """Move rows to a trash, one after the other, up to the first that the disk refuses.

    Return those that were moved, which can be undone, and the refusal, to be raised once that was offered.
    """
    moved: list[Row] = []
    try:
        for row in rows:
            await move(row)
            moved.append(row)
    except StorageError as error:
        return tuple(moved), error
    return tuple(moved), None


def moved_text(titles: Sequence[str], plural: str) -> str:
    """Return what a toast says of rows that were moved to the trash: "“Harbour” moved to trash", "3 clips moved…"."""
    what = f"“{titles[0]}”" if len(titles) == 1 else f"{format_number(len(titles))} {plural}"
    return tr("{what} moved to trash", what=what)
