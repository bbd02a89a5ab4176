"""A side pane that slides over the canvas where there is no room beside it."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QPoint, QPropertyAnimation, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QLinearGradient, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.kit.focus import FocusReturn
from app.ui.kit.theme import Theme
from app.ui.shell.focus_cycle import first_stop

SLIDE_MS = 140
_SHADOW = 24


class OverlayPane(QWidget):
    """Lies over the whole frame while a pane is open: dims the rest, and a press on it closes the pane.

    The pane takes the focus when it comes and gives it back to where it was when it goes. When the focus moves to what
    it covers, by Tab or by a key that leads there, the pane goes: nobody works behind it.
    """

    closed = Signal()

    def __init__(self, theme: Theme, frame: QWidget) -> None:
        super().__init__(frame)
        self._theme = theme
        self._frame = frame
        self.pane: QWidget | None = None
        self._from_left = True
        self._focus_return = FocusReturn(self)
        self._slide = QPropertyAnimation(self)
        self._slide.setPropertyName(b"pos")
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.valueChanged.connect(self.update)  # the shadow moves with the pane
        self._slide.finished.connect(self._arrived)
        self._leaving = False
        self.hide()
        qt_app = QApplication.instance()
        if isinstance(qt_app, QApplication):
            qt_app.focusChanged.connect(self._focus_moved)

    def open_pane(self, pane: QWidget, width: int, *, from_left: bool, main: QWidget | None = None) -> None:
        """Slide `pane` in, `width` px wide, instead of one that is open. A `main` field in it gets the focus."""
        if self.pane is not None:
            self._put_away()
        self.pane = pane
        self._from_left = from_left
        focused = self.window().focusWidget()
        self._focus_return.remember(None if focused is None or pane.isAncestorOf(focused) else focused)
        self.setGeometry(self._frame.rect())
        pane.setParent(self)
        pane.resize(width, self.height())
        self.show()
        self.raise_()
        pane.move(self._outside())
        pane.show()
        self._move_to(self._inside(), leaving=False)
        target = main if main is not None and pane.isAncestorOf(main) and main.isEnabled() else first_stop(pane)
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_pane(self) -> bool:
        """Slide the open pane out and give the focus back; False when none is open."""
        if self.pane is None or self._leaving:
            return False
        self._move_to(self._outside(), leaving=True)
        return True

    def _focus_moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self.pane is None or new is None or self.isAncestorOf(new) or not self._frame.isAncestorOf(new):
            return
        self.close_pane()

    def drop_pane(self) -> None:
        """Let go of the pane at once: it gets a place beside the canvas."""
        self._slide.stop()
        self._put_away()
        self.closed.emit()

    def fit(self, list_width: int, inspector_width: int) -> None:
        """Follow the frame's size."""
        if self.pane is None:
            return
        self._slide.stop()
        self.setGeometry(self._frame.rect())
        self.pane.resize(list_width if self._from_left else inspector_width, self.height())
        if self._leaving:
            self._arrived()
        else:
            self.pane.move(self._inside())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.close_pane():
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.close_pane()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        dark = self._theme.is_dark
        painter.fillRect(self.rect(), QColor(0, 0, 0, 90 if dark else 36))
        if self.pane is None:
            return
        side = self.pane.geometry()
        starts = side.right() + 1 if self._is_left() else side.left()
        ends = starts + (_SHADOW if self._is_left() else -_SHADOW)
        shade = QLinearGradient(starts, 0, ends, 0)
        shade.setColorAt(0, QColor(0, 0, 0, 90 if dark else 30))
        shade.setColorAt(1, QColor(0, 0, 0, 0))
        strip = QRect(min(starts, ends), 0, _SHADOW, self.height())
        painter.fillRect(strip, shade)
        line = starts if self._is_left() else starts - 1
        painter.fillRect(QRect(line, 0, 1, self.height()), self._theme.color("line2"))

    def _is_left(self) -> bool:
        return self._from_left != self.isRightToLeft()

    def _inside(self) -> QPoint:
        assert self.pane is not None
        return QPoint(0 if self._is_left() else self.width() - self.pane.width(), 0)

    def _outside(self) -> QPoint:
        assert self.pane is not None
        return QPoint(-self.pane.width() if self._is_left() else self.width(), 0)

    def _move_to(self, where: QPoint, *, leaving: bool) -> None:
        assert self.pane is not None
        self._leaving = leaving
        self._slide.stop()
        duration = self._theme.motion_ms(SLIDE_MS)
        if duration == 0:
            self.pane.move(where)
            self._arrived()
            return
        self._slide.setTargetObject(self.pane)
        self._slide.setDuration(duration)
        self._slide.setStartValue(self.pane.pos())
        self._slide.setEndValue(where)
        self._slide.start()

    def _arrived(self) -> None:
        self.update()
        if self._leaving:
            self._put_away()
            self.closed.emit()

    def _put_away(self) -> None:
        pane, self.pane, self._leaving = self.pane, None, False
        if pane is None:
            return
        had_focus = pane.isAncestorOf(self.window().focusWidget() or self.window())
        self.hide()
        pane.hide()
        pane.setParent(self._frame)
        if had_focus:
            self._focus_return.give_back()
