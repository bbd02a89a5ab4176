"""Toasts: news of work in the background, bottom right, at most three. Never for something that needs an answer."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.core.problems import ActionSpec
from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.focus import FocusReturn
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.tab_order import tab_stops
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import IconButton, LinkButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.focus_ring import stay_over_rings
from app.ui.kit.widgets.frames import SHADOW_MARGINS, paint_shadow, solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import STAY_ABOVE

MAX_TOASTS = 3
STAY_S = 6  # unless the person chose otherwise
WIDTH = 400
GAP = 12
EDGE = 16

# tone → (icon, icon color, border)
_TONES = {
    "ok": ("check-circle", "ok", "line2"),
    "info": ("info", "text2", "line2"),
    "warn": ("clock", "warn", "line2"),
    "bad": ("error", "bad", "bad"),
}


class Toast(QFrame):
    """One piece of news. `action` tells the id of a pressed link; `closed` comes once, however it ends."""

    action = Signal(str)
    closed = Signal()
    resized = Signal()  # the size of the text changed, and so did its height

    def __init__(
        self,
        theme: Theme,
        title: str,
        text: str = "",
        *,
        tone: str = "info",
        icon_name: str = "",
        actions: tuple[ActionSpec, ...] = (),
        hint: str = "",
        stay_s: int | None = STAY_S,
        parent: QWidget | None = None,
    ) -> None:
        """`stay_s`: seconds, None until it is closed."""
        super().__init__(parent)
        self._theme = theme
        self.stay_s = stay_s
        self._tone = tone
        self._gone = False
        self.says = (title, text, actions)
        self.is_news = True  # until the keyboard was on it
        self.setAccessibleName(sanitize_line(f"{title.rstrip('.')}. {text}".strip()))
        default_icon, role, self._border = _TONES[tone]
        self._outer = QVBoxLayout(self)
        row = QHBoxLayout()
        row.setSpacing(theme.px(10))
        self._outer.addLayout(row)
        sign = IconLabel(theme, icon_name or default_icon, role)
        sign.setContentsMargins(0, theme.px(4) + max(0, (theme.line_px() - theme.icon_px(18)) // 2), 0, 0)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(theme.px(1))
        column.setContentsMargins(0, theme.px(4), 0, theme.px(4))  # the words stand beside the middle of the button
        row.addLayout(column, 1)
        column.addWidget(Label(theme, title, weight=500, wrap=True))
        if text:
            column.addWidget(Label(theme, text, "small", "text2", wrap=True))
        if actions:
            column.addWidget(self._links(actions, hint))
        close = IconButton(theme, "close", tr("Dismiss"), size="small", icon_size=14, role="text3")
        close.clicked.connect(self.close_toast)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(1000 * (stay_s or 0))
        self._timer.timeout.connect(self._time_is_up)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)
        if not self.stays:
            self._timer.start()

    @property
    def stays(self) -> bool:
        """True for errors, which wait until somebody closes them, and for all where the person wants that."""
        return self._tone == "bad" or self.stay_s is None

    def _links(self, actions: tuple[ActionSpec, ...], hint: str) -> QWidget:
        holder = QWidget()
        flow = FlowLayout(self._theme, gap=12, parent=holder)
        for spec in actions:
            link = LinkButton(self._theme, spec.text)
            link.setObjectName(spec.id)
            link.clicked.connect(self._pressed)
            flow.addWidget(link)
        if hint:
            flow.addWidget(Label(self._theme, hint, "small", "text3"))
        return holder

    def heightForWidth(self, width: int) -> int:
        return self._outer.heightForWidth(width)

    def _pressed(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.action.emit(sender.objectName())
        self.close_toast()

    def close_toast(self) -> None:
        """Go away."""
        if not self._gone:
            self._gone = True
            self._timer.stop()
            self.closed.emit()

    def _time_is_up(self) -> None:
        focus = QApplication.focusWidget()
        if self.underMouse() or (focus is not None and self.isAncestorOf(focus)):
            self._timer.start()  # somebody is reading it
        else:
            self.close_toast()

    def leaveEvent(self, event: QEvent) -> None:
        if not self.stays:
            self._timer.start()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_toast()
            return
        super().keyPressEvent(event)

    def _apply_theme(self) -> None:
        px, shadow = self._theme.px, SHADOW_MARGINS
        self._outer.setContentsMargins(
            shadow.left() + px(12), shadow.top() + px(6), shadow.right() + px(6), shadow.bottom() + px(6)
        )
        self._outer.invalidate()
        self.update()
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        card = self.rect().marginsRemoved(SHADOW_MARGINS)
        radius = self._theme.px(8)
        paint_shadow(painter, self._theme, card, radius)
        solid_frame(painter, self._theme, QRectF(card), radius, "surface", self._border)


class ToastHost(QObject):
    """Stacks toasts in the lower right corner of `window`, above its status bar.

    `bottom_px` at 100 % is what to leave free below (the status bar); widgets named `STAY_ABOVE` are left free, too.
    """

    action = Signal(str, str)  # key of the toast, id of the action

    def __init__(self, theme: Theme, window: QWidget, *, bottom_px: int = 28) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._bottom = bottom_px
        self.stay_s: int | None = STAY_S  # how long each stays, None until it is closed
        self._toasts: list[tuple[str, Toast]] = []
        self._moves: dict[Toast, QPropertyAnimation] = {}
        self._focus_return = FocusReturn(window)
        window.installEventFilter(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._follow)

    @property
    def toasts(self) -> tuple[Toast, ...]:
        """What is on show, the newest last."""
        return tuple(toast for _, toast in self._toasts)

    def show_toast(
        self,
        title: str,
        text: str = "",
        *,
        tone: str = "info",
        icon_name: str = "",
        actions: tuple[ActionSpec, ...] = (),
        hint: str = "",
        key: str = "",
    ) -> Toast:
        """Tell something. A fourth toast pushes out the oldest that may go.

        One with the same `key` is replaced, and one that says the same and offers nothing of its own, too.
        """
        if key:
            self.close(key)
        elif not actions:
            for known, shown in list(self._toasts):
                if not known and shown.says == (title, text, actions):
                    shown.close_toast()
        while len(self._toasts) >= MAX_TOASTS:
            going = next((toast for _, toast in self._toasts if not toast.stays), self._toasts[0][1])
            going.close_toast()
        toast = Toast(
            self._theme,
            title,
            text,
            tone=tone,
            icon_name=icon_name,
            actions=actions,
            hint=hint,
            stay_s=self.stay_s,
            parent=self._window,
        )
        stay_over_rings(toast)
        self._toasts.append((key, toast))
        toast.closed.connect(self._closed)
        toast.action.connect(self._acted)
        toast.resized.connect(self.rearrange)
        toast.show()
        self._arrange(new=toast)
        announce(toast, toast.accessibleName(), urgent=tone == "bad")
        return toast

    def close(self, key: str) -> None:
        """Close the toast with this key, if it is still there."""
        for known, toast in list(self._toasts):
            if known == key:
                toast.close_toast()

    def _acted(self, action: str) -> None:
        sender = self.sender()
        for key, toast in self._toasts:
            if toast is sender:
                self.action.emit(key, action)

    def _closed(self) -> None:
        sender = self.sender()
        for entry in list(self._toasts):
            if entry[1] is sender:
                self._toasts.remove(entry)
                self._moves.pop(entry[1], None)
                self._give_focus_back(entry[1])
                discard(entry[1])
        self._arrange()

    def enter_news(self) -> bool:
        """Put the keyboard on the newest toast unless it was there already; False when there is nothing new."""
        stops = tab_stops(self._toasts[-1][1]) if self._toasts and self._toasts[-1][1].is_news else []
        if stops:
            stops[0].setFocus(Qt.FocusReason.TabFocusReason)
        return bool(stops)

    def _follow(self, old: QWidget | None, new: QWidget | None) -> None:
        """Remember where the keyboard was before it came to a toast, and that somebody has been there."""
        entered = self._holder(new)
        if entered is not None:
            entered.is_news = False
            if old is not None and self._holder(old) is None:
                self._focus_return.remember(old)

    def _holder(self, widget: QWidget | None) -> Toast | None:
        inside = (toast for toast in self.toasts if widget is not None and alive(toast) and toast.isAncestorOf(widget))
        return next(inside, None)

    def _give_focus_back(self, toast: Toast) -> None:
        """The keyboard goes back from a toast that ends to where it came from."""
        focus = self._window.focusWidget()
        if focus is None or not toast.isAncestorOf(focus):
            return
        self._focus_return.give_back()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and alive(self._window):
            self.rearrange()
        return False

    def rearrange(self) -> None:
        """What is to be left free below may have changed, as when the window shows another tab."""
        if self._toasts:
            self._arrange()

    def _arrange(self, new: Toast | None = None) -> None:
        """Put the newest lowest; the shadows of neighbors overlap, the cards do not."""
        theme, shadow = self._theme, SHADOW_MARGINS
        bottom = self._lowest()
        for _, toast in reversed(self._toasts):
            inner = min(theme.type_px(WIDTH), self._window.width() - 2 * theme.px(EDGE))
            width = inner + shadow.left() + shadow.right()
            height = toast.heightForWidth(width)
            toast.resize(width, height)
            place = QPoint(
                self._window.width() - theme.px(EDGE) - inner - shadow.left(),
                bottom - height + shadow.bottom(),
            )
            if self._window.layoutDirection() == Qt.LayoutDirection.RightToLeft:
                place.setX(theme.px(EDGE) - shadow.left())
            self._move(toast, place, appearing=toast is new)
            toast.raise_()
            bottom -= height - shadow.top() - shadow.bottom() + theme.px(GAP)

    def _lowest(self) -> int:
        """Where the lowest toast ends: over the status bar, and over what a person is about to press."""
        window, theme = self._window, self._theme
        bottom = window.height() - theme.height_px(self._bottom, 16) - theme.px(EDGE)
        inner = min(theme.type_px(WIDTH), window.width() - 2 * theme.px(EDGE))
        newest = self._toasts[-1][1].heightForWidth(inner) if self._toasts else 0
        highest = newest + theme.height_px(52, 22)  # it does not go over the header
        for part in window.findChildren(QWidget, STAY_ABOVE):
            part.installEventFilter(self)  # a message box grows while one types
            area = QRect(part.mapTo(window, QPoint(0, 0)), part.size())
            beside = area.right() < window.width() - theme.px(EDGE) - inner
            if window.layoutDirection() == Qt.LayoutDirection.RightToLeft:
                beside = area.left() > theme.px(EDGE) + inner
            if not part.isVisible() or beside or area.top() >= bottom:
                continue
            if area.top() > highest:
                bottom = area.top() - theme.px(GAP)
            elif area.bottom() > bottom - newest:  # as high as the page: what one presses is at its lower end
                bottom = highest
        return bottom

    def _move(self, toast: Toast, place: QPoint, *, appearing: bool) -> None:
        time = self._theme.motion_ms(150)
        if not time:
            toast.move(place)
            return
        if appearing:
            toast.move(place + QPoint(0, self._theme.px(8)))
        if toast.pos() == place:
            return
        move = self._moves.get(toast)
        if move is None:
            move = self._moves[toast] = QPropertyAnimation(toast, b"pos", toast)
            move.setEasingCurve(QEasingCurve.Type.OutCubic)
        move.stop()
        move.setDuration(time)
        move.setStartValue(toast.pos())
        move.setEndValue(place)
        move.start()
