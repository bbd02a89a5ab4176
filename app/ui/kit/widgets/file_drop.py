"""Files dropped on a part of the window, which lights up while they are over it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import solid_frame

LIT_ALPHA = 0.35  # of the tint: what is below is still read


class FileDrop(QObject):
    """`dropped` carries what was dropped on `widget`; `lit` says whether files are over it now.

    Only local files are taken; anything else, such as text, is left to the widget.
    """

    dropped = Signal(object)  # tuple[Path, ...], at least one

    def __init__(self, theme: Theme, widget: QWidget) -> None:
        super().__init__(widget)
        self._light = _Light(theme, widget)
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    @property
    def lit(self) -> bool:
        return self._light.isVisible()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.DragEnter, QEvent.Type.DragMove):
            over = cast(QDragEnterEvent, event)
            if not any(url.isLocalFile() for url in over.mimeData().urls()):
                return False
            over.acceptProposedAction()
            self._light.show_over()
            return True
        if kind == QEvent.Type.DragLeave:
            was_lit = self.lit
            self._light.hide()
            return was_lit
        if kind == QEvent.Type.Drop:
            self._light.hide()
            drop = cast(QDropEvent, event)
            paths = tuple(Path(url.toLocalFile()) for url in drop.mimeData().urls() if url.isLocalFile())
            if paths:
                drop.acceptProposedAction()
                self.dropped.emit(paths)
            return bool(paths)
        return False


class _Light(QWidget):
    """A frame and a tint over all of its parent, which neither the mouse nor the keyboard notices."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_over(self) -> None:
        if not self.isVisible():
            parent = self.parentWidget()
            assert parent is not None
            self.setGeometry(parent.rect())
            self.show()
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, box = self._theme, QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(LIT_ALPHA)
        solid_frame(painter, theme, box, theme.px(6), "accent_tint", "accent_tint")
        painter.setOpacity(1)
        pen = painter.pen()
        pen.setColor(theme.color("accent"))
        pen.setWidth(theme.px(2))
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, theme.px(6), theme.px(6))
