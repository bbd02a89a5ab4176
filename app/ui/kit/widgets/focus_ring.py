"""The focus ring: 2 px of accent, 2 px away from whatever the keyboard is on.

A style sheet cannot draw outside a widget, so one transparent overlay per window follows the focus. It shows for
keyboard focus, and always for fields that take text; a click shows nothing. A widget may say more about itself:
`ring_widget` is another widget to go around (a whole composer), `ring_rect()` the part of it, `ring_radius()` the
radius of its corners; `ring_widget = None` means that it draws its own. A whole pane that only scrolls, or says so by
`is_pane = True`, has a ring only when somebody came to it by Tab or F6, never because a key was pressed in it. A text
without a border of its own fills its pane: its ring is inside, and only when a key led there, for a click leaves the
caret where one looks.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QWindow
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app.ui.kit.focus import enter_open_menu
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme

GAP = 2
WIDTH = 2
_OUTSET = GAP + WIDTH
_TRAVEL = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_F6)
_OVER = "over-rings"  # a property of what no ring of another widget is painted over
TAB_MARGIN = 18  # what the style sheet leaves free behind each tab counts as part of it

_MOVES = (
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.ParentChange,
    QEvent.Type.EnabledChange,
)


class FocusRing(QWidget):
    """Create one per top-level window; it looks after itself."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._focus: QWidget | None = None
        self._followed: list[QWidget] = []
        self._by_keyboard = _by_keyboard_in_parent(window)
        self._last_key_travels = False
        self._came_by_travel = False
        self._came_by_key = False
        self._handle: QWindow | None = None
        self._radius = 6.0
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        window.installEventFilter(self)
        qt_app = QApplication.instance()
        assert isinstance(qt_app, QApplication)
        qt_app.focusChanged.connect(self._focus_changed)
        theme.changed.connect(self._place)
        self._watch_input()
        self._focus_changed(None, qt_app.focusWidget())

    @property
    def by_keyboard(self) -> bool:
        """Whether the last press in the window was a key."""
        return self._by_keyboard

    @property
    def target(self) -> QWidget | None:
        """The widget that the ring is around, None while it is not shown."""
        return self._focus if self.isVisible() else None

    # -- who has the focus, and how it came there -----------------------------------------------------------------

    def _watch_input(self) -> None:
        """See every press in the window once, before any widget does: the last one says how the focus moves."""
        handle = self._window.windowHandle()
        if handle is not None and handle is not self._handle:
            self._handle = handle
            handle.installEventFilter(self)

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if not alive(self, self._window):
            return
        for widget in self._followed:
            if alive(widget):
                widget.removeEventFilter(self)
        self._followed = []
        self._focus = None
        self._came_by_travel, self._came_by_key = self._last_key_travels, self._by_keyboard
        is_page = new is not None and new.focusPolicy() == Qt.FocusPolicy.NoFocus  # Qt turned to it, no person did
        if new is not None and not is_page and new.window() is self._window and new is not self._window:
            self._focus = new
            parent = _ring_widget(new)
            while parent is not None and parent is not self._window:
                parent.installEventFilter(self)
                self._followed.append(parent)
                parent = parent.parentWidget()
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not alive(self, self._window):
            return False  # the window is being taken down: an exception here would end the program
        kind = event.type()
        if isinstance(watched, QWindow):
            if kind == QEvent.Type.MouseButtonPress:
                self._by_keyboard = self._last_key_travels = False
            elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                self._last_key_travels = event.key() in _TRAVEL
                if not self._by_keyboard:
                    self._by_keyboard = True
                    self._place()  # a key on a clicked control: from now on the person needs the ring
            elif isinstance(event, QContextMenuEvent) and event.reason() == QContextMenuEvent.Reason.Keyboard:
                QTimer.singleShot(0, enter_open_menu)
        elif kind in _MOVES:
            if kind == QEvent.Type.Show and watched is self._window:
                self._watch_input()
            self._place()
        return False

    # -- where the ring is ----------------------------------------------------------------------------------------

    def _place(self) -> None:
        area = self._wanted_area()
        if area is None:
            self.hide()
            return
        self.setGeometry(area)
        self.raise_()
        for over in self._window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if over.property(_OVER) and not over.isAncestorOf(self._focus or over):
                over.raise_()
        self.show()
        self.update()

    def _wanted_area(self) -> QRect | None:
        widget = self._focus
        if (
            widget is None
            or not alive(widget)
            or not widget.isVisible()
            or not (self._by_keyboard or _takes_text(widget))
            or (_fills_pane(widget) and not self._came_by_key)
            or (_is_pane(widget) and not self._came_by_travel)
        ):
            return None
        around = _ring_widget(widget)
        if around is None:
            return None
        rect, radius = _shape(self._theme, around)
        area = QRect(around.mapTo(self._window, QPoint(0, 0)) + rect.topLeft(), rect.size())
        self._radius = radius
        outset = -GAP if _fills_pane(around) else _OUTSET
        area.adjust(-outset, -outset, outset, outset)
        self._clip = _visible_part(around, self._window)
        return area if area.intersects(self._clip) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        inset = WIDTH + math.ceil(self._radius + GAP)
        if self.rect().adjusted(inset, inset, -inset, -inset).contains(event.rect()):
            return  # something inside, such as a caret
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self._clip.translated(-self.pos()))
        painter.setPen(QPen(self._theme.color("accent"), WIDTH))
        half = WIDTH / 2
        radius = self._radius + GAP + half
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), radius, radius)


def is_by_keyboard(widget: QWidget) -> bool:
    """Whether the last press in the window around `widget` was a key; True where nobody knows. For rows, which draw
    their ring themselves.
    """
    ring = widget.window().findChild(FocusRing, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return ring is None or ring.by_keyboard


def _by_keyboard_in_parent(window: QWidget) -> bool:
    """Whether the keyboard was used last in the window that a dialog belongs to; True where there is none."""
    parent = window.parentWidget()
    return parent is None or is_by_keyboard(parent)


def _ring_widget(widget: QWidget) -> QWidget | None:
    """The widget that the ring goes around when `widget` has the focus; None when it draws its own."""
    if isinstance(widget, QAbstractItemView) and not hasattr(widget, "ring_widget"):
        return None  # rows show the focus themselves
    around = getattr(widget, "ring_widget", widget)
    return around if isinstance(around, QWidget) else None


def _fills_pane(widget: QWidget) -> bool:
    """Whether the widget is a text without a border and without another widget that has one for it."""
    is_text = isinstance(widget, (QPlainTextEdit, QTextEdit)) and not widget.isReadOnly()
    return is_text and bool(widget.property("bare")) and not hasattr(widget, "ring_widget")


def stay_over_rings(widget: QWidget) -> None:
    """Have a child of a window, such as a notice, never covered by a ring that goes around something else."""
    widget.setProperty(_OVER, True)


def _is_pane(widget: QWidget) -> bool:
    """Whether the widget only scrolls what it shows: a ring around it says nothing."""
    is_pane: bool = getattr(widget, "is_pane", isinstance(widget, QAbstractScrollArea))
    return is_pane and not _takes_text(widget)


def _takes_text(widget: QWidget) -> bool:
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    if isinstance(widget, (QPlainTextEdit, QTextEdit)):
        return not widget.isReadOnly()
    return isinstance(widget, (QLineEdit, QAbstractSpinBox))


def _shape(theme: Theme, widget: QWidget) -> tuple[QRect, float]:
    """The part of the widget that the ring goes around, in its own coordinates, and the radius of its corners."""
    rect = widget.rect()
    own_rect = getattr(widget, "ring_rect", None)
    if own_rect is not None:
        rect = own_rect().toAlignedRect() if isinstance(own_rect(), QRectF) else own_rect()
    elif isinstance(widget, QTabBar):
        rect = widget.tabRect(widget.currentIndex()).adjusted(0, 10, -theme.px(TAB_MARGIN), -10)
    own_radius = getattr(widget, "ring_radius", None)
    return rect, own_radius() if own_radius is not None else float(theme.px(6))


def _visible_part(widget: QWidget, window: QWidget) -> QRect:
    """What of the window can show the ring: the window, cut by every scroll area around the widget.

    A little air is left around a viewport, so that a field at its edge keeps its whole ring.
    """
    part = window.rect()
    parent = widget.parentWidget()
    while parent is not None and parent is not window:
        holder = parent.parentWidget()
        if isinstance(holder, QAbstractScrollArea) and holder.viewport() is parent:
            seen = QRect(parent.mapTo(window, QPoint(0, 0)), parent.size())
            part = part.intersected(seen.adjusted(-_OUTSET, -_OUTSET, _OUTSET, _OUTSET))
        parent = holder
    return part
