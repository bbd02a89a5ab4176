"""Lines that are only read, such as the facts of a dialog: one stop of Tab, from where Up and Down go line by line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.ui.kit.accessible_role import show_as

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class ReadLines(QObject):
    """Give each line an accessible name that is all its text: its labels are not read as well."""

    def __init__(self, around: QWidget) -> None:
        super().__init__(around)
        self._lines: list[QWidget] = []

    def add(self, line: QWidget) -> None:
        show_as(line, "ListItem")
        line.setFocusPolicy(Qt.FocusPolicy.ClickFocus if self._lines else Qt.FocusPolicy.StrongFocus)
        line.installEventFilter(self)
        self._lines.append(line)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or event.key() not in _STEPS:
            return False
        place = next(place for place, line in enumerate(self._lines) if line is watched)
        line = self._lines[max(0, min(len(self._lines) - 1, place + _STEPS[Qt.Key(event.key())]))]
        line.setFocus(Qt.FocusReason.TabFocusReason)
        holder: QWidget | None = line
        while holder is not None and not isinstance(holder, QScrollArea):
            holder = holder.parentWidget()
        if holder is not None:
            holder.ensureWidgetVisible(line)
        return True
