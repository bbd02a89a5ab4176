"""The conversation as screen readers see it: a list of messages, and in each what can be pressed on screen.

A message's text is its value, its first words are its name. The binding offers no way to hand text or action
interfaces to Qt from Python, so pressing goes by the keyboard: Tab walks the same controls, Enter presses them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface

from app.translation import tr
from app.ui.conversation.keys import stops
from app.ui.conversation.rows import receipt_text

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Control
    from app.ui.conversation.units import ControlReference
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit

# Qt takes null where there is nothing; the stubs leave that out.
NOTHING = cast("QAccessibleInterface", None)
NO_OBJECT = cast("QObject", None)

NAME_CHARS = 200
_SPEAKERS = {"user": tr("You"), "assistant": tr("Answer"), "note": tr("Note"), "tool": tr("Your function result")}
_ROLES = {
    "button": QAccessible.Role.PushButton,
    "link": QAccessible.Role.Link,
    "toggle": QAccessible.Role.CheckBox,
    "disclosure": QAccessible.Role.PushButton,
}


def make_accessible(view: MessageView) -> None:
    """See that Qt finds an interface for `view` when a screen reader asks."""
    _install()
    view.accessible = ViewInterface(view)


@cache
def _install() -> None:
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, found: QObject | None) -> QAccessibleInterface | None:
    made = getattr(found, "accessible", None)
    return made if isinstance(made, ViewInterface) else None


def announce_focus(view: MessageView, spot: ControlReference | None) -> None:
    """Say that the keyboard's focus has moved to a control of the view."""
    if not QAccessible.isActive():
        return
    interface = view.accessible.control_interface(spot) if spot is not None else view.accessible
    if interface is not None:
        event = QAccessibleEvent(interface, QAccessible.Event.Focus)
        QAccessible.updateAccessibility(event)


def _is_alive(view: MessageView) -> bool:
    """Tell whether Qt has not deleted the view yet; a screen reader may ask later than that."""
    try:
        view.objectName()
    except RuntimeError:
        return False
    return True


class _Interface(QAccessibleInterface):
    """What the three kinds have in common. Objects are kept by the view's own interface, as Qt does not own them."""

    def __init__(self, view: MessageView) -> None:
        super().__init__()
        self._view = view

    def isValid(self) -> bool:
        return _is_alive(self._view)

    def object(self) -> QObject:
        return NO_OBJECT

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be renamed."""

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        for number in range(self.childCount()):
            child = self.child(number)
            if child.rect().contains(x, y):
                return child
        return NOTHING

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface:
        return NOTHING

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        for number in range(self.childCount()):
            if self.child(number) is child:
                return number
        return -1

    def state(self) -> QAccessible.State:
        return QAccessible.State()


class ViewInterface(_Interface):
    """The list of messages."""

    def __init__(self, view: MessageView) -> None:
        super().__init__(view)
        self._rows: dict[str, RowInterface] = {}

    def object(self) -> QObject:
        return self._view if _is_alive(self._view) else NO_OBJECT

    def parent(self) -> QAccessibleInterface:
        above = self._view.parentWidget()
        return QAccessible.queryAccessibleInterface(above) if above is not None else NOTHING

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.List

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._view.accessibleName()
        if kind == QAccessible.Text.Description:
            return self._view.accessibleDescription() or tr("{count} messages", count=len(self._view.stack.rows))
        return ""

    def rect(self) -> QRect:
        return QRect(self._view.mapToGlobal(QPoint(0, 0)), self._view.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._view.hasFocus()
        state.readOnly = True
        return state

    def childCount(self) -> int:
        return len(self._view.stack.rows)

    def child(self, index: int) -> QAccessibleInterface:
        rows = self._view.stack.rows
        return self.row_interface(rows[index].id) if 0 <= index < len(rows) else NOTHING

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        number = self._view.stack.number_of(child.row_id) if isinstance(child, RowInterface) else None
        return -1 if number is None else number

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        at = self._view.viewport().mapFromGlobal(QPoint(x, y))
        placed = self._view.pointer.placed_at(at.y())
        return self.child(placed.row) if placed is not None else NOTHING

    def focusChild(self) -> QAccessibleInterface:
        spot = self._view.picture.focused
        return self.row_interface(spot.row_id).control_interface(spot) if spot is not None else NOTHING

    def row_interface(self, row_id: str) -> RowInterface:
        if len(self._rows) > 2000:
            self._rows = {key: row for key, row in self._rows.items() if self._view.stack.number_of(key) is not None}
        return self._rows.setdefault(row_id, RowInterface(self._view, row_id))

    def control_interface(self, spot: ControlReference | None) -> QAccessibleInterface | None:
        return self.row_interface(spot.row_id).control_interface(spot) if spot is not None else None


class RowInterface(_Interface):
    """One message: its name begins with who speaks, its value is the text as it came."""

    def __init__(self, view: MessageView, row_id: str) -> None:
        super().__init__(view)
        self.row_id = row_id
        self._controls: dict[ControlReference, ControlInterface] = {}

    def parent(self) -> QAccessibleInterface:
        return self._view.accessible

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def _number(self) -> int | None:
        return self._view.stack.number_of(self.row_id)

    def isValid(self) -> bool:
        return _is_alive(self._view) and self._number() is not None

    def text(self, kind: QAccessible.Text) -> str:
        if self._number() is None:
            return ""
        row = self._view.row(self.row_id)
        if kind == QAccessible.Text.Name:
            words = " ".join(row.text[: NAME_CHARS * 2].split())[:NAME_CHARS]
            notes = {"stopped": "Stopped. ", "interrupted": tr("Stopped early. "), "failed": "Failed. "}.get(
                row.state, ""
            )
            problem = f"{row.problem.sentence} " if row.problem is not None else ""
            return f"{_SPEAKERS[row.role]}: {notes}{problem}{words}".strip()
        if kind == QAccessible.Text.Value:
            return row.text
        if kind == QAccessible.Text.Description:
            return receipt_text(row.receipt + row.byline)
        return ""

    def _placed(self) -> list[PlacedUnit]:
        number = self._number()
        return [placed for placed in self._view.stack.placed if placed.row == number]

    def rect(self) -> QRect:
        found = QRect()
        viewport = self._view.viewport()
        for placed in self._placed():
            found |= QRect(0, placed.y, viewport.width(), placed.unit.height)
        return found.translated(viewport.mapToGlobal(QPoint(0, 0)))

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = True
        if not self._placed():
            state.offscreen = True
        return state

    def _stops(self) -> list[tuple[ControlReference, Control, PlacedUnit]]:
        return [stop for stop in stops(self._view) if stop[0].row_id == self.row_id]

    def childCount(self) -> int:
        return len(self._stops())

    def child(self, index: int) -> QAccessibleInterface:
        every = self._stops()
        return self.control_interface(every[index][0]) if 0 <= index < len(every) else NOTHING

    def control_interface(self, spot: ControlReference) -> ControlInterface:
        return self._controls.setdefault(spot, ControlInterface(self._view, self, spot))


class ControlInterface(_Interface):
    """A button or link in a message that is on screen."""

    def __init__(self, view: MessageView, row: RowInterface, spot: ControlReference) -> None:
        super().__init__(view)
        self._row = row
        self.spot = spot

    def _find(self) -> tuple[ControlReference, Control, PlacedUnit] | None:
        return next((stop for stop in stops(self._view) if stop[0] == self.spot), None)

    def isValid(self) -> bool:
        return _is_alive(self._view) and self._find() is not None

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
        if kind == QAccessible.Text.Description:
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
