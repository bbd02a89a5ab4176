"""Popovers: a card over the window with a soft shadow, closed by Esc or a click outside, focus back where it was."""

from __future__ import annotations

from PySide6.QtCore import (
    QEasingCurve,
    QMargins,
    QParallelAnimationGroup,
    QPoint,
    QPropertyAnimation,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.ui.kit.focus import FocusReturn, forget_hover
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.frames import SHADOW_MARGINS, paint_shadow, solid_frame
from app.ui.kit.widgets.menu import can_blend
from app.ui.kit.widgets.search_field import SearchField

RADIUS = 10
OFFSET = 4  # px between the opener and the card
FADE_MS = 120
RISE = 4  # px
LEAST_LIST_HEIGHT = 96  # px at 100 %
CAN_MOVE = ("xcb", "cocoa", "windows")  # elsewhere the system places popups


class Popover(QFrame):
    """Put content into `body`, then `open_at` a widget. Give the main field to `set_first_focus`.

    `closed` comes whenever it goes away. Where a window cannot be blended over another (X11 without a compositor)
    there is a line and no shadow.
    """

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget, *, name: str, padding: int = 12) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        if not name.strip():
            raise ValueError("a popover needs a name")
        self._theme = theme
        self._padding = padding
        self._opener: QWidget | None = None
        self._first: QWidget | None = None
        self._list: QWidget | None = None
        self._blended = can_blend()
        self._fade = QParallelAnimationGroup(self)
        self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        if self._blended:
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAccessibleName(name)
        self.setWindowTitle(name)
        self._outer = QVBoxLayout(self)
        self._outer.setSpacing(0)
        self.body = QVBoxLayout()
        self._outer.addLayout(self.body)
        self._ring: FocusRing | None = None
        self._focus_return = FocusReturn(self)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def set_first_focus(self, widget: QWidget) -> None:
        """Name the widget that the keyboard is on when the popover opens. Esc in an empty search field closes, too."""
        self._first = widget
        if isinstance(widget, SearchField):
            widget.left.connect(self.close)

    def set_list(self, widget: QWidget) -> None:
        """Name the part with a fixed height that gets less where the screen has too little: what is below stays."""
        self._list = widget

    def open_at(self, opener: QWidget, *, above: bool = False, align_right: bool = False, width: int = 0) -> None:
        """Open under (or above) `opener`; `width` in px at 100 %, 0 for what the content wants.

        Goes to the other side when there is no room, and stays on the screen, in the window too if it fits there.
        """
        self._opener = opener
        self._focus_return.remember(opener.window().focusWidget())
        if self._ring is None:
            self._ring = FocusRing(self._theme, self)
        margins = self._shadow_margins()
        if width:
            self.setFixedWidth(self._theme.type_px(width) + margins.left() + margins.right())
        self.adjustSize()
        layout = self.layout()
        if width and layout is not None and layout.hasHeightForWidth():
            # `adjustSize` has asked for the height at the width that the words would like, without a line break.
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        self._shrink_list(
            self.height() - margins.top() - margins.bottom() - opener.screen().availableGeometry().height()
        )
        place = self._place(opener, above, align_right)
        self.move(place)
        self._appear(place)
        if self._first is not None:
            self._first.setFocus(Qt.FocusReason.PopupFocusReason)

    def _shrink_list(self, excess: int) -> None:
        """Take `excess` px off the list and the popover, if there are any."""
        if self._list is None or excess <= 0:
            return
        before = self._list.height()
        self._list.setFixedHeight(max(self._theme.type_px(LEAST_LIST_HEIGHT), before - excess))
        self._outer.activate()  # the least height is known to be less from now on
        self.resize(self.width(), self.height() - before + self._list.height())

    def _place(self, opener: QWidget, above: bool, align_right: bool) -> QPoint:
        margins = self._shadow_margins()
        card = QRect(QPoint(0, 0), self.size()).marginsRemoved(margins).size()
        anchor = QRect(opener.mapToGlobal(QPoint(0, 0)), opener.size())
        screen = opener.screen() or QGuiApplication.primaryScreen()
        offset = self._theme.px(OFFSET)
        room = self._room(opener, screen.availableGeometry(), card)
        below_y, above_y = anchor.bottom() + 1 + offset, anchor.top() - offset - card.height()
        y = above_y if above else below_y
        if not above and below_y + card.height() > room.bottom() and above_y >= room.top():
            y = above_y
        elif above and above_y < room.top():
            y = below_y
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            align_right = not align_right
        x = anchor.right() + 1 - card.width() if align_right else anchor.left()
        x = max(room.left(), min(x, room.right() + 1 - card.width()))
        y = max(room.top(), min(y, room.bottom() + 1 - card.height()))
        return QPoint(x - margins.left(), y - margins.top())

    def _room(self, opener: QWidget, screen: QRect, card: QSize) -> QRect:
        """Return where the card may stand: on the screen, and inside the window wherever that is large enough."""
        window = opener.window()
        air = self._theme.px(OFFSET)
        inside = QRect(window.mapToGlobal(QPoint(0, 0)), window.size()).adjusted(air, air, -air, -air)
        inside = screen.intersected(inside)
        if card.width() <= inside.width():
            screen.setLeft(inside.left())
            screen.setRight(inside.right())
        if card.height() <= inside.height():
            screen.setTop(inside.top())
            screen.setBottom(inside.bottom())
        return screen

    def _appear(self, place: QPoint) -> None:
        """Fade in and rise by 4 px. With reduced motion, at once."""
        duration = self._theme.motion_ms(FADE_MS)
        self._fade.stop()
        self.setWindowOpacity(1.0)
        if not duration:
            self.show()
            return
        moves: list[tuple[bytes, object, object]] = [(b"windowOpacity", 0.0, 1.0)]
        if QGuiApplication.platformName() in CAN_MOVE:
            moves.append((b"pos", place + QPoint(0, RISE), place))
        self._fade.clear()
        for name, begins, ends in moves:
            part = QPropertyAnimation(self, name)
            part.setEasingCurve(QEasingCurve.Type.OutCubic)
            part.setDuration(duration)
            part.setStartValue(begins)
            part.setEndValue(ends)
            self._fade.addAnimation(part)
            self.setProperty(name.decode(), begins)  # the first frame is drawn before the animation turns
        self.show()
        self._fade.start()

    def _shadow_margins(self) -> QMargins:
        return SHADOW_MARGINS if self._blended else QMargins()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        margins = self._shadow_margins()
        if not self.rect().marginsRemoved(margins).contains(event.position().toPoint()):
            self.close()  # the shadow is outside
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        opener, self._opener = self._opener, None
        self._focus_return.give_back(opener)
        parent = self.parentWidget()
        if parent is not None:
            forget_hover(parent.window())
        self.closed.emit()

    def _apply_theme(self) -> None:
        padding = self._theme.px(self._padding)
        margins = self._shadow_margins()
        line = 1
        self._outer.setContentsMargins(
            margins.left() + line, margins.top() + line, margins.right() + line, margins.bottom() + line
        )
        self.body.setContentsMargins(padding, padding, padding, padding)
        self.body.setSpacing(self._theme.px(8))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        radius = self._theme.px(RADIUS)
        if not self._blended:
            painter.fillRect(self.rect(), self._theme.color("surface"))
            solid_frame(painter, self._theme, QRectF(self.rect()), 0, "surface", "line2")
            return
        card = self.rect().marginsRemoved(SHADOW_MARGINS)
        paint_shadow(painter, self._theme, card, radius)
        solid_frame(painter, self._theme, QRectF(card), radius, "surface", "line2")
