"""The undo history of the window: one for the toasts' Undo, Ctrl+Z and the palette. QtCore only."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

MOST_COMMANDS = 200


class UndoCommand:
    """Something a person did in one tab that can be undone.

    `text` says what was done: "“Desk lamp” moved to trash". `undo` starts the work; it is given the ids that are
    still there to be brought back, in their order.
    """

    def __init__(
        self,
        tab: str,
        text: str,
        undo: Callable[[tuple[str, ...]], object],
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
        self._undo = undo

    def undo(self) -> None:
        self._undo(self.ids)


class UndoStack(QObject):
    """Commands of all tabs, the newest last. Unlike a `QUndoStack`, any of them can be undone, as its toast is.

    `removed` comes once for each command that can no longer be undone, however that came about.
    """

    pushed = Signal(object)  # UndoCommand
    removed = Signal(object)  # UndoCommand

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: list[UndoCommand] = []

    def push(self, command: UndoCommand) -> None:
        self._commands.append(command)
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
        """Undo a command; False when that was done already."""
        if command not in self._commands:
            return False
        self._remove(command)
        command.undo()
        return True

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
