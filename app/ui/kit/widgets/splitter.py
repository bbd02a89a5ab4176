"""A splitter whose handles have a name and a place for screen readers, which also move them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from app.ui.kit.accessible_role import Value, show_as

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

QWIDGETSIZE_MAX = 16_777_215  # px; Qt's word for no limit, which PySide does not name
STEP_PX = 20.0  # of a screen reader


class Splitter(QSplitter):
    """One pixel of line between panes, with a wider strip to grab; `name` says what moving it changes."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        parent: QWidget | None = None,
        direction: Qt.Orientation = Qt.Orientation.Horizontal,
    ) -> None:
        super().__init__(direction, parent)
        self._theme = theme
        self._name = name
        self.setHandleWidth(1)

    def createHandle(self) -> QSplitterHandle:
        return _Handle(self._theme, self._name, self)


class _Handle(QSplitterHandle):
    def __init__(self, theme: Theme, name: str, parent: QSplitter) -> None:
        super().__init__(parent.orientation(), parent)
        self._theme = theme
        self.setAccessibleName(name)
        show_as(
            self,
            "Splitter",
            Value(
                lambda: self.x() if self.orientation() == Qt.Orientation.Horizontal else self.y(),
                0,
                QWIDGETSIZE_MAX,
                step=STEP_PX,
                write=lambda at: self.moveSplitter(round(at)),
            ),
        )
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.contentsRect(), self._theme.color("line"))
