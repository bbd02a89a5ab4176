"""Pressing and walking in the JSON of a message: fold, copy a value or its path, go from line to line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.translation import tr
from app.ui.conversation.json_box import JsonBox
from app.ui.conversation.json_lines import fold, show_more
from app.ui.conversation.json_parts import memory_of

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QMenu

    from app.ui.conversation.boxes import Control
    from app.ui.conversation.units import ControlReference
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit

Stop = tuple["ControlReference", "Control", "PlacedUnit"]


class JsonActions:
    """Carries out `("json", what, name of the box, path)`."""

    def __init__(self, view: MessageView) -> None:
        self._view = view

    def run(self, spot: ControlReference, what: Sequence[str]) -> None:
        """Do what a control of a `JsonBox` says."""
        found = self._box(spot)
        if found is None:
            return
        box, placed = found
        memory = memory_of(self._view.stack.memory(spot.row_id), what[1])
        match what[0]:
            case "copy-json":
                self._put(box.value_text(None), spot)
                return
            case "value":
                self._put(box.value_text(what[2]), spot)
                return
            case "raw":
                memory.raw = not memory.raw
            case "fold":
                fold(box.branch, memory, what[2])
            case "more":
                show_more(memory, what[2])
        placed.unit.stale()
        self._view.stack.show(placed.row, placed.key, -float(placed.y))
        self._view.refresh()

    def add_to_menu(self, menu: QMenu, spot: ControlReference, action: tuple[str, ...]) -> None:
        """Offer what can be copied of the line under the pointer."""
        found = self._box(spot)
        if found is None:
            return
        box, path = found[0], action[3]
        menu.addAction(tr("Copy value"), lambda: self._put(box.value_text(path), None))
        menu.addAction(tr("Copy path"), lambda: self._put(path, None))

    def _put(self, text: str, spot: ControlReference | None) -> None:
        QGuiApplication.clipboard().setText(text)
        if spot is not None:
            self._view.show_done(spot)

    def _box(self, spot: ControlReference) -> tuple[JsonBox, PlacedUnit] | None:
        number = self._view.stack.number_of(spot.row_id)
        for placed in self._view.stack.placed:
            if placed.row == number and placed.key == spot.key:
                box = placed.unit.boxes[spot.box]
                return (box, placed) if isinstance(box, JsonBox) else None
        return None


def is_line(control: Control) -> bool:
    """Whether a control is a line of a tree: all lines of one box are one stop of the Tab key."""
    return control.id.startswith("line:")


def single_stops(stops: list[Stop], focused: ControlReference | None) -> list[Stop]:
    """Leave one line of every tree: the one with the focus, else the first on screen."""
    kept: list[Stop] = []
    taken: set[tuple[str, object, int]] = set()
    holds = (focused.row_id, focused.key, focused.box) if focused is not None else None
    for stop in stops:
        spot = stop[0]
        box = (spot.row_id, spot.key, spot.box)
        if is_line(stop[1]):
            own = box == holds and focused is not None and focused.control.startswith("line:")
            if box in taken or (own and spot != focused):
                continue
            taken.add(box)
        kept.append(stop)
    return kept


def press(view: MessageView, event: QKeyEvent, focused: Stop) -> bool:
    """Keys on a line: arrows walk and fold, Ctrl+C copies the value, Ctrl+Shift+C the path."""
    spot, control, placed = focused
    box = placed.unit.boxes[spot.box]
    if not is_line(control) or not isinstance(box, JsonBox):
        return False
    key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    control_key = Qt.KeyboardModifier.ControlModifier
    path = control.action[3]
    if key == Qt.Key.Key_C and held == control_key:
        JsonActions(view).run(spot, ("value", control.action[2], path))
        return True
    if key == Qt.Key.Key_C and held == control_key | Qt.KeyboardModifier.ShiftModifier:
        QGuiApplication.clipboard().setText(path)
        view.show_done(spot)
        return True
    if held != Qt.KeyboardModifier.NoModifier:
        return False
    if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        if control.role == "disclosure" and control.checked == (key == Qt.Key.Key_Left):
            JsonActions(view).run(spot, control.action[1:])
        return True
    if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        return _step(view, focused, 1 if key == Qt.Key.Key_Down else -1)
    return False


def _step(view: MessageView, focused: Stop, by: int) -> bool:

    spot, control, placed = focused
    box = placed.unit.boxes[spot.box]
    lines = [each for each in box.controls() if is_line(each)]
    number = next(place for place, each in enumerate(lines) if each.id == control.id) + by
    if not 0 <= number < len(lines):
        return True
    wanted = lines[number]
    rect = view.control_rect(placed, spot, wanted)
    below = rect.bottom() - view.viewport().height()
    if below > 0 or rect.top() < 0:
        view.scroll_px(below if below > 0 else rect.top())
    view.set_focused(replace(spot, control=wanted.id))
    return True
