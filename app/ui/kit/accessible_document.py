"""A painted view as a document for screen readers: a list of rows, each with its blocks and their whole text.

What is off screen is there too. The whole text of a block is its name: the binding offers no actions, no tables and
only half a text interface to Python, from which Orca 48 read all but the first letter. Pressing goes by the keyboard,
and a cell names its column itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAttributesInterface,
    QAccessibleEvent,
    QAccessibleInterface,
)
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget

from app.ui.kit.accessible_interfaces import NO_INTERFACE, look_again
from app.ui.kit.markdown.spoken import Place, SpokenBlock, block_name
from app.ui.kit.qt_workarounds.alive import alive

if TYPE_CHECKING:
    from collections.abc import Callable

# Qt takes null where there is nothing; the stubs leave that out.
NOTHING = cast("QAccessibleInterface", None)
NO_OBJECT = cast("QObject", None)
ATTRIBUTE = "make_accessible"  # of a view: makes its interface

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


class Document(Protocol):
    """What a view shows, from top to bottom. Rows are known by ids that do not change while they are shown."""

    @property
    def place(self) -> Place | None:
        """Where the keyboard is; None while it is on no row."""

    def count(self) -> int:
        """How many rows there are, with those off screen."""

    def row_id(self, number: int) -> str:
        """The id of a row."""

    def number_of(self, row_id: str) -> int | None:
        """Where a row stands; None for one that is gone."""

    def blocks(self, row_id: str) -> tuple[SpokenBlock, ...]:
        """What is in a row; nothing for one that is gone."""

    def block(self, place: Place) -> SpokenBlock | None:
        """What is at a place; None where there is nothing any more."""

    def rect(self, place: Place) -> QRect:
        """Where a place is in the viewport, empty when it is off screen."""

    def row_at(self, y: int) -> int | None:
        """The row at a height of the viewport."""


def show_document(view: QAbstractScrollArea, make: Callable[[], ListInterface]) -> None:
    """See that Qt gets an interface of `make` for `view` when a screen reader asks, and tells nothing of its bar."""
    _install()
    setattr(view, ATTRIBUTE, make)
    bar = view.verticalScrollBar()
    setattr(bar, ATTRIBUTE, lambda: _Unheard(bar, QAccessible.Role.ScrollBar))
    look_again(bar)


@cache
def _install() -> None:
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, found: QObject | None) -> QAccessibleInterface | None:
    """Make one each time: Qt asks again once PySide has changed the class of an object, which the first signal does
    that is connected to it, and of an interface that is twice in its cache it ends the one that has gone already.
    """
    make = getattr(found, ATTRIBUTE, None)
    return make() if make is not None else None


def interface_of(view: QAbstractScrollArea) -> ListInterface:
    """Return the interface that Qt has for a view with a document."""
    found = QAccessible.queryAccessibleInterface(view)
    if not isinstance(found, ListInterface):  # a reader asked while the view was being made
        QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(found))
        found = QAccessible.queryAccessibleInterface(view)
    assert isinstance(found, ListInterface)
    return found


def tell_focus(interface: QAccessibleInterface) -> None:
    """Say that the keyboard has moved to what this is the interface of."""
    QAccessible.updateAccessibility(QAccessibleEvent(interface, QAccessible.Event.Focus))


class PartInterface(QAccessibleInterface):
    """What the kinds have in common. Objects are kept by the view's own interface, as Qt does not own them."""

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__()
        self._area = view

    def isValid(self) -> bool:
        return alive(self._area)

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


class _Unheard(QAccessibleWidget):
    """Of a bar: readers do not find it in the document, and it would be an event with every piece of an answer."""

    def isValid(self) -> bool:
        return False


class _Level(QAccessibleAttributesInterface):
    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def attributeKeys(self) -> list[QAccessible.Attribute]:
        return [QAccessible.Attribute.Level]

    def attributeValue(self, key: QAccessible.Attribute) -> int:
        return self._level


class ReadInterface(PartInterface):
    """A row or a block: what has blocks below it."""

    def __init__(self, view: QAbstractScrollArea, document: Document, place: Place) -> None:
        super().__init__(view)
        self._document = document
        self.place = place
        self._blocks: dict[int, BlockInterface] = {}

    def _below(self) -> tuple[SpokenBlock, ...]:
        raise NotImplementedError

    def childCount(self) -> int:
        return len(self._below())

    def child(self, index: int) -> QAccessibleInterface:
        return self.block_interface(index) if 0 <= index < len(self._below()) else NOTHING

    def block_interface(self, index: int) -> BlockInterface:
        if index not in self._blocks:
            place = self.place._replace(path=(*self.place.path, index))
            self._blocks[index] = BlockInterface(self._area, self._document, place, self)
        return self._blocks[index]

    def rect(self) -> QRect:
        return self._document.rect(self.place).translated(self._area.viewport().mapToGlobal(QPoint(0, 0)))

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._document.place == self.place
        return state


class BlockInterface(ReadInterface):
    """One block, or a part of one: a row of a table, a cell, a line of code."""

    def __init__(
        self, view: QAbstractScrollArea, document: Document, place: Place, above: QAccessibleInterface
    ) -> None:
        super().__init__(view, document, place)
        self._above = above
        self._level: _Level | None = None

    def _block(self) -> SpokenBlock | None:
        return self._document.block(self.place)

    def _below(self) -> tuple[SpokenBlock, ...]:
        block = self._block()
        return block.children if block is not None else ()

    def isValid(self) -> bool:
        return alive(self._area) and self._block() is not None

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


class ListInterface(PartInterface):
    """The view itself: the list of its rows."""

    def __init__(self, view: QAbstractScrollArea, document: Document) -> None:
        super().__init__(view)
        self._document = document
        self._rows: dict[str, ReadInterface] = {}

    def object(self) -> QObject:
        return self._area if alive(self._area) else NO_OBJECT

    def parent(self) -> QAccessibleInterface:
        above = self._area.parentWidget() if alive(self._area) else None
        return QAccessible.queryAccessibleInterface(above) if above is not None else NOTHING

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.List

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._area.accessibleName()
        return self._area.accessibleDescription() if kind == QAccessible.Text.Description else ""

    def rect(self) -> QRect:
        return QRect(self._area.mapToGlobal(QPoint(0, 0)), self._area.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._area.hasFocus()
        state.readOnly = True
        return state

    def childCount(self) -> int:
        return self._document.count()

    def child(self, index: int) -> QAccessibleInterface:
        inside = 0 <= index < self._document.count()
        return self.row_interface(self._document.row_id(index)) if inside else NOTHING

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        number = self._document.number_of(child.place.row_id) if isinstance(child, ReadInterface) else None
        return -1 if number is None else number

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        number = self._document.row_at(self._area.viewport().mapFromGlobal(QPoint(x, y)).y())
        return self.child(number) if number is not None else NOTHING

    def focusChild(self) -> QAccessibleInterface:
        place = self._document.place
        return self.interface_of(place) if place is not None else NOTHING

    def row_interface(self, row_id: str) -> ReadInterface:
        if row_id not in self._rows:
            self._rows[row_id] = self._make_row(Place(row_id))
        return self._rows[row_id]

    def _make_row(self, place: Place) -> ReadInterface:
        return BlockInterface(self._area, self._document, place, self)

    def interface_of(self, place: Place) -> ReadInterface:
        """Return the interface of a row or a block."""
        found = self.row_interface(place.row_id)
        for index in place.path:
            found = found.block_interface(index)
        return found
