"""Counts what Qt paints anew, by widget."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget


class Paints(QObject):
    """The rectangles that were painted of some widgets since this was made, or since `clear`."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self.rects: dict[QWidget, list[QRect]] = {widget: [] for widget in widgets}
        for widget in widgets:
            widget.installEventFilter(self)

    def clear(self) -> None:
        for rects in self.rects.values():
            rects.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent) and isinstance(watched, QWidget):
            self.rects[watched].append(event.rect())
        return False
