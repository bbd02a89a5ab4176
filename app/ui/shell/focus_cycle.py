"""F6 and Shift+F6: from one part of the window to the next, to where the focus was in it last.

And where the focus goes when what had it is hidden or disabled. Qt takes the next widget of the window, which may be
in another pane, or the button of the menu.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.ui.kit.focus import can_take_focus
from app.ui.kit.layer import layers_of
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.tab_order import tab_stops
from app.ui.shell.navigation import Rail
from app.ui.shell.zones import ZoneFrame


class FocusCycle(QObject):
    """Remembers the last focused widget of each part.

    `released` names a widget that Qt took the focus from without giving it to another: its parent was disabled.
    `strayed` names the widget that had the focus, or None, and the one that got it although it cannot be seen.
    """

    released = Signal(QWidget)
    strayed = Signal(object, QWidget)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._layers = layers_of(window)
        self._last: dict[QWidget, QWidget] = {}

    def watch(self, qt_app: QApplication) -> None:
        """Follow the focus; a bound method, so that the application does not keep this object alive."""
        qt_app.focusChanged.connect(self._moved)

    def step(self, parts: Sequence[QWidget], direction: int) -> QWidget | None:
        """Move to the next of `parts` (in order, those that can be seen) and return it."""
        seen = [part for part in parts if part.isVisible()]
        if not seen:
            return None
        now = self._window.focusWidget()
        at = next((i for i, part in enumerate(seen) if now is not None and _holds(part, now)), -1)
        for distance in range(1, len(seen) + 1):
            part = seen[(at + direction * distance) % len(seen)]
            target = self._target(part)
            if target is not None:
                target.setFocus(Qt.FocusReason.TabFocusReason)
                return part
        return None

    def _target(self, part: QWidget) -> QWidget | None:
        if isinstance(part, Rail):
            return part.first_target()
        last = self._last.get(part)
        if last is not None and can_take_focus(last, inside=part):
            return last
        return first_stop(part)

    def _is_in_sight(self, widget: QWidget) -> bool:
        return widget.isVisible() and not _covers(self._layers.top, widget)

    def _moved(self, old: QWidget | None, new: QWidget | None) -> None:
        if not alive(self._window):  # it is being deleted, and this object with it
            return
        if new is None and old is not None and alive(old) and self._window.isActiveWindow() and not old.isEnabled():
            self.released.emit(old)
        if new is not None and new.window() is self._window and not self._is_in_sight(new):
            self.strayed.emit(old if old is not None and alive(old) else None, new)
            return
        widget = new
        while widget is not None and widget is not self._window:
            if widget.property("focusPart"):
                if new is not None:
                    self._last[widget] = new
                return
            widget = widget.parentWidget()


def _covers(layer: QWidget | None, widget: QWidget) -> bool:
    return layer is not None and not _holds(layer, widget)


def first_stop(part: QWidget) -> QWidget | None:
    """The first widget in `part` that Tab would reach, in tab order."""
    if part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.isEnabled():
        return part
    return next(iter(tab_stops(part)), None)


def place_after(lost: QWidget, frame: ZoneFrame) -> QWidget | None:
    """Where the focus goes when `lost` cannot keep it: where one would go on typing, or the next stop of its pane."""
    zone = next((zone for zone in frame.parts() if zone.isVisible() and _holds(zone, lost)), None)
    main = frame.tab.main_input()
    can_type = can_take_focus(main)
    if zone is not None and not (can_type and main is not None and _holds(zone, main)):
        stops = set(tab_stops(zone))
        widgets = zone.findChildren(QWidget)
        at = widgets.index(lost) if lost in widgets else 0
        near = next((widget for widget in [*widgets[at:], *reversed(widgets[:at])] if widget in stops), None)
        if near is not None:
            return near
    if can_type or frame.canvas_zone is None:
        return main if can_type else None
    work = [stop for stop in tab_stops(frame.canvas_zone) if not _is_in_header(stop)]
    return next((stop for stop in work if isinstance(stop, QAbstractScrollArea)), next(iter(work), None))


def _is_in_header(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    return parent is not None and parent.property("part") == "header"


def _holds(part: QWidget, widget: QWidget) -> bool:
    return part is widget or part.isAncestorOf(widget)
