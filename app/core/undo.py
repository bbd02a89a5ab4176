"""The undo history of the window: one for the toasts' Undo, Ctrl+Z and the palette. QtCore only."""

from __future__ import annotations

import itertools
from bisect import insort
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.storage.errors import StorageUnavailable, refusal_of

if TYPE_CHECKING:
    from app.core.tasks import TaskScope

MOST_COMMANDS = 200


class UndoCommand:
    """Something a person did in one tab that can be undone.

    `text` says what was done: "“Desk lamp” moved to trash". `undo` is given the ids that are still there to be brought
    back, in their order. Work that needs the disk is awaited, and raises `StorageError` where the disk refuses it.
    """

    def __init__(
        self,
        tab: str,
        text: str,
        undo: Callable[[tuple[str, ...]], Awaitable[None] | None],
        ids: Iterable[str],
        *,
        note: str = "",
        has_toast: bool = True,
    ) -> None:
        self.tab = tab
        self.text = text
        self.note = note  # what else the person should know of it
        self.ids = tuple(ids)
        self.has_toast = has_toast  # False where what was done is plain to see, such as an edit
        self.number = 0  # its place among the commands of the stack
        self._undo = undo

    def undo(self) -> Awaitable[None] | None:
        return self._undo(self.ids)


class UndoStack(QObject):
    """Commands of all tabs, the newest last. Unlike a `QUndoStack`, any of them can be undone, as its toast is.

    `removed` comes for each command that can no longer be undone, however that came about. One that the disk refuses to
    undo is pushed again, so that it can be undone once there is room.
    """

    pushed = Signal(object)  # UndoCommand
    removed = Signal(object)  # UndoCommand

    def __init__(self, tasks: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._commands: list[UndoCommand] = []
        self._numbers = itertools.count(1)

    def push(self, command: UndoCommand) -> None:
        command.number = next(self._numbers)
        self._put(command)

    def _put(self, command: UndoCommand) -> None:
        insort(self._commands, command, key=lambda each: each.number)
        while len(self._commands) > MOST_COMMANDS:
            self._remove(self._commands[0])
        self.pushed.emit(command)

    def newest(self, tab: str = "") -> tuple[UndoCommand, ...]:
        """The newest command of each tab: that of `tab` first, the others from the newest on."""
        found: dict[str, UndoCommand] = {}
        for command in reversed(self._commands):
            found.setdefault(command.tab, command)
        return tuple(sorted(found.values(), key=lambda command: command.tab != tab))

    def can_undo(self, tab: str) -> bool:
        return any(command.tab == tab for command in self._commands)

    def undo_last(self, tab: str) -> bool:
        """Undo the newest command of a tab; False when there is none."""
        return self.can_undo(tab) and self.undo(self.newest(tab)[0])

    def undo(self, command: UndoCommand) -> bool:
        """Start to undo a command; False when that was done already."""
        if command not in self._commands:
            return False
        self._remove(command)
        work = command.undo()
        if work is not None:
            self._tasks.start_unless_running(f"undo {command.number}", self._carry_out, command, work)
        return True

    async def _carry_out(self, command: UndoCommand, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            if isinstance(refusal_of(error), StorageUnavailable):
                self._put(command)
            raise

    def forget(self, tab: str, ids: Iterable[str]) -> None:
        """These were brought back by other means or deleted for good: no command of the tab has them any more."""
        gone = set(ids)
        for command in [each for each in self._commands if each.tab == tab and gone.intersection(each.ids)]:
            command.ids = tuple(each for each in command.ids if each not in gone)
            if not command.ids:
                self._remove(command)

    def _remove(self, command: UndoCommand) -> None:
        self._commands.remove(command)
        self.removed.emit(command)
