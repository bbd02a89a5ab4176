"""The keyboard in the message view: scrolling, the walk through what can be pressed, copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.ui.conversation.json_actions import press as press_json
from app.ui.conversation.json_actions import single_stops
from app.ui.conversation.units import ControlReference

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Control
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit

LINE_PX = 48  # of one press of an arrow key
PAGE_KEEPS_PX = 44  # what a page leaves of the page before
SIDE_PX = 60
NO_MODIFIER = Qt.KeyboardModifier.NoModifier


def stops(view: MessageView) -> list[tuple[ControlReference, Control, PlacedUnit]]:
    """Return everything on screen that the Tab key stops at, from the top."""
    found = []
    height = view.viewport().height()
    for placed in view.stack.placed:
        row_id = view.stack.rows[placed.row].id
        for number, box in enumerate(placed.unit.boxes):
            for control in box.controls():
                middle = placed.y + box.y + control.rect.center().y()
                if control.role != "label" and control.action != ("none",) and 0 <= middle < height:
                    found.append((ControlReference(row_id, placed.key, number, control.id), control, placed))
    return found


def walk(view: MessageView, forward: bool) -> bool:
    """Move the focus to the next stop inside the view; False when it leaves the view."""
    every = single_stops(stops(view), view.picture.focused)
    spots = [spot for spot, _, _ in every]
    current = view.picture.focused
    place = view.walk.place
    if current is None and place is not None:
        here = view.stack.number_of(place.row_id) or 0
        rows = [view.stack.number_of(spot.row_id) or 0 for spot in spots]
        after = (index for index, row in enumerate(rows) if row >= here)
        before = (index for index, row in enumerate(rows) if row <= here)
        index = next(after, len(spots)) if forward else max(before, default=-1)
    elif current is None:
        index = 0 if forward else -1
        if not forward or not spots:
            return False
    else:
        index = spots.index(current) + (1 if forward else -1) if current in spots else 0
    if not 0 <= index < len(spots):
        view.walk.leave()
        view.set_focused(None)
        return False
    view.set_focused(spots[index])
    return True


def press(view: MessageView, event: QKeyEvent) -> bool:
    """Do what a key means here; False for a key that means nothing."""
    focused = _focused(view)
    if focused is not None and press_json(view, event, focused):
        return True
    if event.matches(QKeySequence.StandardKey.Copy):
        view.copy()
        return True
    if event.matches(QKeySequence.StandardKey.SelectAll):
        view.select_all()
        return True
    key = event.key()
    if focused is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
        view.activate(focused[0], focused[1])
        return True
    if focused is not None and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        box = focused[2].unit.boxes[focused[0].box]
        step = -SIDE_PX if key == Qt.Key.Key_Left else SIDE_PX
        if box.scrolled_by(step):
            view.sideways_moved(box)
            return True
        return False
    if event.modifiers() in (NO_MODIFIER, Qt.KeyboardModifier.KeypadModifier) and view.walk.press(key):
        return True
    page = max(LINE_PX, view.viewport().height() - PAGE_KEEPS_PX)
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    allowed = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        allowed |= Qt.KeyboardModifier.ControlModifier
    if event.modifiers() & ~allowed:
        return False
    match key:
        case Qt.Key.Key_Up:
            view.scroll_px(-LINE_PX)
        case Qt.Key.Key_Down:
            view.scroll_px(LINE_PX)
        case Qt.Key.Key_PageUp:
            view.scroll_px(-page)
        case Qt.Key.Key_PageDown:
            view.scroll_px(page)
        case Qt.Key.Key_Space:
            view.scroll_px(-page if shift else page)
        case Qt.Key.Key_Home:
            view.scroll_to_start()
        case Qt.Key.Key_End:
            view.scroll_to_end()
        case _:
            return False
    return True


def menu_place(view: MessageView) -> QPoint:
    """Where the menu key opens the menu: on what the keyboard is on, else on the upper message."""
    focused = _focused(view)
    if focused is None and view.walk.place is not None:
        rect = view.walk.rect(view.walk.place) & view.viewport().rect()
        return QPoint(view.picture.left + 8, rect.center().y())
    if focused is None:
        return QPoint(view.picture.left + 8, 8)
    return view.control_rect(focused[2], focused[0], focused[1]).center().toPoint()


def is_typing(event: QKeyEvent) -> bool:
    """Tell text and Paste from keys that may be somebody's shortcut."""
    if event.matches(QKeySequence.StandardKey.Paste):
        return True
    held = event.modifiers() & (
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
    )
    third_level = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier  # AltGr of Windows
    return held in (Qt.KeyboardModifier.NoModifier, third_level) and event.text().isprintable() and bool(event.text())


def _focused(view: MessageView) -> tuple[ControlReference, Control, PlacedUnit] | None:
    return next((stop for stop in stops(view) if stop[0] == view.picture.focused), None)
