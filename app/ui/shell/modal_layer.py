"""What the palette, the shortcut sheet and help have in common: a panel over the dimmed window that owns the keyboard.

A child widget, not a window of its own: it moves with the window, needs no compositor and blocks nothing else.
"""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QPoint, QPropertyAnimation, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.ui.kit.focus import FocusReturn
from app.ui.kit.layer import Layer
from app.ui.kit.tab_order import tab_stops
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import paint_shadow, solid_frame

_RISE = 4
_RISE_MS = 120
_RADIUS = 12


class ModalLayer(Layer):
    """Shows `panel`; Esc or a press beside it closes it and gives the focus back to where it was."""

    closed = Signal()

    def __init__(self, theme: Theme, window: QWidget, name: str) -> None:
        super().__init__(window)
        self.theme = theme
        self._window = window
        self._focus_return = FocusReturn(self)
        self.setAccessibleName(name)
        self.panel = _Panel(theme, self)
        self._rise = QPropertyAnimation(self.panel, b"pos", self)
        self._rise.setEasingCurve(QEasingCurve.Type.OutCubic)
        theme.changed.connect(self._theme_changed)
        self.hide()

    # For subclasses

    def panel_rect(self) -> QRect:
        """Where the panel belongs in a layer of the present size: in the middle, as large as it wants to be."""
        rect = QRect(QPoint(0, 0), self.panel.sizeHint().boundedTo(self.size()))
        rect.moveCenter(self.rect().center())
        return rect

    def first_focus(self) -> QWidget:
        """What gets the focus when the layer opens: the first that Tab would reach."""
        return next(iter(tab_stops(self)), self.panel)

    def restyle(self) -> None:
        """Take fonts and measures from the theme again."""

    # Open and close

    def open_layer(self) -> None:
        focused = self._window.focusWidget()
        if not self.isVisible():
            self._focus_return.remember(focused)
        self.cover_window()
        self.arrange()
        self.show()
        self.raise_()
        self.first_focus().setFocus(Qt.FocusReason.ShortcutFocusReason)
        duration = self.theme.motion_ms(_RISE_MS)
        if duration:
            end = self.panel.pos()
            self._rise.setDuration(duration)
            self._rise.setStartValue(end + QPoint(0, _RISE))
            self._rise.setEndValue(end)
            self._rise.start()

    def cover_window(self) -> None:
        """Take the window's size, so that what is measured before opening is measured right."""
        self.setGeometry(self._window.rect())

    def close_layer(self) -> bool:
        """Close and give the focus back; False when it was not open."""
        if not self.isVisible():
            return False
        self._rise.stop()
        self.hide()
        self._focus_return.give_back()
        self.closed.emit()
        return True

    def fit(self) -> None:
        """Follow the window's size."""
        if self.isVisible():
            self.setGeometry(self._window.rect())
            self.arrange()

    def arrange(self) -> None:
        self._rise.stop()
        self.panel.setGeometry(self.panel_rect())
        self.update()

    def _theme_changed(self) -> None:
        self.restyle()
        if self.isVisible():
            self.arrange()

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_layer()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.panel.geometry().contains(event.position().toPoint()):
            self.close_layer()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab stays inside the panel."""
        stops = tab_stops(self)
        if not stops:
            return True
        now = self._window.focusWidget()
        at = stops.index(now) if now in stops else -1
        stops[(at + (1 if forward else -1)) % len(stops)].setFocus(
            Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        )
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.color("scrim"))
        paint_shadow(painter, self.theme, self.panel.geometry(), _RADIUS)


class _Panel(QFrame):
    """The panel's own surface, rounded 12 with a line."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, self.rect().toRectF(), _RADIUS, "surface", "line2")
