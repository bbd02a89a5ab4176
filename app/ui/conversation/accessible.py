"""The conversation as screen readers see it: a list of messages, each with its blocks and what can be pressed.

Tab walks the same controls, and Enter presses them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface

from app.translation import tr, tr_n
from app.ui.conversation.keyboard import stops
from app.ui.kit.accessible_document import ListInterface, PartInterface, ReadInterface, interface_of, tell_focus
from app.ui.kit.markdown.spoken import Place, plain_text
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.widgets.announce import is_heard

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Control
    from app.ui.conversation.units import ControlReference
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit
    from app.ui.kit.markdown.spoken import SpokenBlock

NAME_CHARS = 2000  # of a message, said when it is reached; its text interface gives all of it
_SPEAKERS = {"user": tr("You"), "assistant": tr("Answer"), "note": tr("Note"), "tool": tr("Your function result")}
_STATES = {"stopped": tr("Stopped."), "interrupted": tr("Stopped early."), "failed": tr("Failed.")}
_ROLES = {
    "button": QAccessible.Role.PushButton,
    "link": QAccessible.Role.Link,
    "toggle": QAccessible.Role.CheckBox,
    "disclosure": QAccessible.Role.PushButton,
}


def announce_focus(view: MessageView, spot: ControlReference | Place | None) -> None:
    """Say that the keyboard's focus has moved to a control, a message or a block of the view."""
    if is_heard():
        whole = interface_of(view)
        tell_focus(whole.interface_at(spot) if isinstance(whole, ViewInterface) else whole)


class ViewInterface(ListInterface):
    """The list of messages."""

    def __init__(self, view: MessageView) -> None:
        super().__init__(view, view.walk)
        self._view = view

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Description:
            return self._view.accessibleDescription() or tr_n("{n} message", "{n} messages", len(self._view.stack.rows))
        return super().text(kind)

    def focusChild(self) -> QAccessibleInterface:
        control = self._view.picture.focused
        return self.interface_at(control) if control is not None else super().focusChild()

    def _make_row(self, place: Place) -> ReadInterface:
        return RowInterface(self._view, place, self)

    def interface_at(self, spot: ControlReference | Place | None) -> QAccessibleInterface:
        """Return the interface of a control, a message or a block; that of the view for None."""
        if spot is None:
            return self
        if isinstance(spot, Place):
            return self.interface_of(spot)
        row = self.row_interface(spot.row_id)
        return row.control_interface(spot) if isinstance(row, RowInterface) else row


class RowInterface(ReadInterface):
    """One message: its name begins with who speaks. Below it are its blocks, then what can be pressed on screen."""

    def __init__(self, view: MessageView, place: Place, above: ViewInterface) -> None:
        super().__init__(view, view.walk, place)
        self._view = view
        self._above = above
        self.row_id = place.row_id
        self._controls: dict[ControlReference, ControlInterface] = {}

    def _whole_text(self) -> str:
        return plain_text(self._below())

    def _below(self) -> tuple[SpokenBlock, ...]:
        return self._view.walk.blocks(self.row_id)

    def parent(self) -> QAccessibleInterface:
        return self._above

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def _number(self) -> int | None:
        return self._view.stack.number_of(self.row_id)

    def isValid(self) -> bool:
        return alive(self._view) and self._number() is not None

    def text(self, kind: QAccessible.Text) -> str:
        if self._number() is None:
            return ""
        row = self._view.row(self.row_id)
        if kind == QAccessible.Text.Name:
            heads = tuple(replace(each, children=()) if each.kind == "group" else each for each in self._below())
            words = " ".join(plain_text(heads)[:NAME_CHARS].split())  # "5 sources" instead of all their quotations
            return " ".join(filter(None, (f"{_SPEAKERS[row.role]}:", _STATES.get(row.state, ""), words)))
        if kind == QAccessible.Text.Value:
            return self._whole_text()
        return ""

    def _stops(self) -> list[tuple[ControlReference, Control, PlacedUnit]]:
        return [stop for stop in stops(self._view) if stop[0].row_id == self.row_id]

    def childCount(self) -> int:
        return super().childCount() + len(self._stops())

    def child(self, index: int) -> QAccessibleInterface:
        every = self._stops()
        number = index - super().childCount()
        return self.control_interface(every[number][0]) if 0 <= number < len(every) else super().child(index)

    def control_interface(self, spot: ControlReference) -> ControlInterface:
        return self._controls.setdefault(spot, ControlInterface(self._view, self, spot))


class ControlInterface(PartInterface):
    """A button or link in a message that is on screen."""

    def __init__(self, view: MessageView, row: RowInterface, spot: ControlReference) -> None:
        super().__init__(view)
        self._view = view
        self._row = row
        self.spot = spot

    def _find(self) -> tuple[ControlReference, Control, PlacedUnit] | None:
        return next((stop for stop in stops(self._view) if stop[0] == self.spot), None)

    def isValid(self) -> bool:
        return alive(self._view) and self._find() is not None

    def parent(self) -> QAccessibleInterface:
        return self._row

    def role(self) -> QAccessible.Role:
        found = self._find()
        return _ROLES.get(found[1].role, QAccessible.Role.PushButton) if found else QAccessible.Role.NoRole

    def text(self, kind: QAccessible.Text) -> str:
        found = self._find()
        if found is None:
            return ""
        if kind == QAccessible.Text.Name:
            return found[1].name
        if kind == QAccessible.Text.Description and found[1].tooltip != found[1].name:
            return found[1].tooltip
        return ""

    def rect(self) -> QRect:
        found = self._find()
        if found is None:
            return QRect()
        spot, control, placed = found
        rect = self._view.control_rect(placed, spot, control).toAlignedRect()
        return rect.translated(self._view.viewport().mapToGlobal(QPoint(0, 0)))

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        found = self._find()
        state.focusable = True
        state.focused = self._view.picture.focused == self.spot
        if found is not None and found[1].role == "toggle":
            state.checkable = True
            state.checked = found[1].checked
        if found is not None and found[1].role == "disclosure":
            state.expandable = True
            state.expanded = found[1].checked
        return state
