"""The conversation as screen readers see it: a list of messages, each with its blocks and what can be pressed.

A message and its blocks give their whole text, off screen too. The binding offers no actions and no tables to Python:
pressing goes by the keyboard (Tab walks the same controls, Enter presses them), and a cell names its column itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAttributesInterface,
    QAccessibleEvent,
    QAccessibleInterface,
    QAccessibleTextInterface,
)

from app.translation import tr
from app.ui.conversation.keys import stops
from app.ui.conversation.spoken_message import Place, block_name, block_text, plain_text
from app.ui.kit.accessible_interfaces import NO_INTERFACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.conversation.boxes import Control
    from app.ui.conversation.units import ControlReference
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit
    from app.ui.kit.markdown.spoken import SpokenBlock

# Qt takes null where there is nothing; the stubs leave that out.
NOTHING = cast("QAccessibleInterface", None)
NO_OBJECT = cast("QObject", None)

NAME_CHARS = 2000  # of a message, said when it is reached; its text interface gives all of it
_SPEAKERS = {"user": tr("You"), "assistant": tr("Answer"), "note": tr("Note"), "tool": tr("Your function result")}
_STATES = {"stopped": tr("Stopped."), "interrupted": tr("Stopped early."), "failed": tr("Failed.")}
_ROLES = {
    "button": QAccessible.Role.PushButton,
    "link": QAccessible.Role.Link,
    "toggle": QAccessible.Role.CheckBox,
    "disclosure": QAccessible.Role.PushButton,
}
_BLOCK_ROLES = {
    "heading": QAccessible.Role.Heading,
    "paragraph": QAccessible.Role.Paragraph,
    "item": QAccessible.Role.ListItem,
    "formula": QAccessible.Role.Equation,
    "table": QAccessible.Role.Table,
    "row": QAccessible.Role.Row,
    "cell": QAccessible.Role.Cell,
    "code": QAccessible.Role.Section,
    "line": QAccessible.Role.StaticText,
    "group": QAccessible.Role.Section,
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


def announce_focus(view: MessageView, spot: ControlReference | Place | None) -> None:
    """Say that the keyboard's focus has moved to a control, a message or a block of the view."""
    if QAccessible.isActive():
        event = QAccessibleEvent(view.accessible.interface_at(spot), QAccessible.Event.Focus)
        QAccessible.updateAccessibility(event)


def _is_alive(view: MessageView) -> bool:
    """Tell whether Qt has not deleted the view yet; a screen reader may ask later than that."""
    try:
        view.objectName()
    except RuntimeError:
        return False
    return True


class _Interface(QAccessibleInterface):
    """What the kinds have in common. Objects are kept by the view's own interface, as Qt does not own them."""

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

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        return NO_INTERFACE


class _Text(QAccessibleTextInterface):
    """A text that can be read by character, word and line; nothing in it is marked or edited."""

    def __init__(self, read: Callable[[], str]) -> None:
        super().__init__()
        self._read = read

    def text(self, start: int, end: int) -> str:
        return self._read()[start:end]

    def characterCount(self) -> int:
        return len(self._read())

    def cursorPosition(self) -> int:
        return 0

    def setCursorPosition(self, position: int) -> None:
        """There is no caret."""

    def selectionCount(self) -> int:
        return 0

    def selection(self, index: int) -> tuple[int, int]:
        return 0, 0

    def addSelection(self, start: int, end: int) -> None:
        """Nothing can be selected by a reader."""

    def removeSelection(self, index: int) -> None:
        """The same."""

    def setSelection(self, index: int, start: int, end: int) -> None:
        """The same."""

    def characterRect(self, offset: int) -> QRect:
        return QRect()

    def offsetAtPoint(self, point: QPoint) -> int:
        return -1

    def scrollToSubstring(self, start: int, end: int) -> None:
        """Going to a block scrolls to it."""

    def attributes(self, offset: int) -> tuple[str, int, int]:
        return "", 0, len(self._read())


class _Level(QAccessibleAttributesInterface):
    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def attributeKeys(self) -> list[QAccessible.Attribute]:
        return [QAccessible.Attribute.Level]

    def attributeValue(self, key: QAccessible.Attribute) -> int:
        return self._level


class _ReadInterface(_Interface):
    """A message or a block of one: what has blocks below it, and a text."""

    def __init__(self, view: MessageView, place: Place) -> None:
        super().__init__(view)
        self.place = place
        self._text = _Text(self._whole_text)
        self._blocks: dict[int, BlockInterface] = {}

    def _whole_text(self) -> str:
        raise NotImplementedError

    def _below(self) -> tuple[SpokenBlock, ...]:
        raise NotImplementedError

    def childCount(self) -> int:
        return len(self._below())

    def child(self, index: int) -> QAccessibleInterface:
        return self.block_interface(index) if 0 <= index < len(self._below()) else NOTHING

    def block_interface(self, index: int) -> BlockInterface:
        if index not in self._blocks:
            place = self.place._replace(path=(*self.place.path, index))
            self._blocks[index] = BlockInterface(self._view, self, place)
        return self._blocks[index]

    def rect(self) -> QRect:
        viewport = self._view.viewport()
        return self._view.walk.rect(self.place).translated(viewport.mapToGlobal(QPoint(0, 0)))

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._view.walk.place == self.place
        return state

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        return self._text if kind == QAccessible.InterfaceType.TextInterface else NO_INTERFACE


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
        spot = self._view.walk.place or self._view.picture.focused
        return self.interface_at(spot) if spot is not None else NOTHING

    def row_interface(self, row_id: str) -> RowInterface:
        if row_id not in self._rows:  # they are kept as long as the view: Qt has pointers to them
            self._rows[row_id] = RowInterface(self._view, Place(row_id))
        return self._rows[row_id]

    def interface_at(self, spot: ControlReference | Place | None) -> QAccessibleInterface:
        """Return the interface of a control, a message or a block; that of the view for None."""
        if spot is None:
            return self
        row = self.row_interface(spot.row_id)
        if not isinstance(spot, Place):
            return row.control_interface(spot)
        found: _ReadInterface = row
        for index in spot.path:
            found = found.block_interface(index)
        return found


class RowInterface(_ReadInterface):
    """One message: its name begins with who speaks. Below it are its blocks, then what can be pressed on screen."""

    def __init__(self, view: MessageView, place: Place) -> None:
        super().__init__(view, place)
        self.row_id = place.row_id
        self._controls: dict[ControlReference, ControlInterface] = {}

    def _whole_text(self) -> str:
        return plain_text(self._below())

    def _below(self) -> tuple[SpokenBlock, ...]:
        return self._view.walk.blocks(self.row_id)

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
            words = " ".join(self._whole_text()[:NAME_CHARS].split())
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


class BlockInterface(_ReadInterface):
    """One block of a message, or a part of one: a row of a table, a cell, a line of code."""

    def __init__(self, view: MessageView, above: _ReadInterface, place: Place) -> None:
        super().__init__(view, place)
        self._above = above
        self._level: _Level | None = None

    def _block(self) -> SpokenBlock | None:
        return self._view.walk.block(self.place)

    def _whole_text(self) -> str:
        block = self._block()
        return block_text(block) if block is not None else ""

    def _below(self) -> tuple[SpokenBlock, ...]:
        block = self._block()
        return block.children if block is not None else ()

    def isValid(self) -> bool:
        return _is_alive(self._view) and self._block() is not None

    def parent(self) -> QAccessibleInterface:
        return self._above

    def role(self) -> QAccessible.Role:
        block = self._block()
        return _BLOCK_ROLES[block.kind] if block is not None else QAccessible.Role.NoRole

    def text(self, kind: QAccessible.Text) -> str:
        block = self._block()
        return block_name(block) if block is not None and kind == QAccessible.Text.Name else ""

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        block = self._block()
        if kind == QAccessible.InterfaceType.AttributesInterface and block is not None and block.level:
            self._level = _Level(block.level)
            return self._level
        return super().interface_cast(kind)


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
