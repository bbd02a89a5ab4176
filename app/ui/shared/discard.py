"""The one way to remove Qt objects and to rebuild the widgets of a layout.

PySide maps the address of each C++ object to its Python wrapper. `itemAt` of Qt's layouts makes a wrapper that lives as
long as the layout's own, while Qt deletes the item with its widget and tells nobody. The next object at that address
then has two entries, and from PySide 6.10 on the process ends when that object is destroyed. So nobody asks a layout
what is in it: who fills it keeps a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLayout, QWidget

W = TypeVar("W", bound="QWidget")


def discard(*objects: QObject) -> None:
    """Hide widgets at once and have every object destroyed by the event loop, safe inside its own signals.

    A layout forgets its widget when that is destroyed; hidden until then, it takes no room.
    """
    for each in objects:
        if each.isWidgetType():
            cast("QWidget", each).hide()
        each.deleteLater()


class WidgetList(Generic[W]):
    """The widgets of a layout that are rebuilt when what they show changes, in the order they were added."""

    def __init__(self, layout: QLayout) -> None:
        self._layout = layout
        self._widgets: list[W] = []

    def add(self, widget: W, *place: Any) -> W:
        """Add to the end of the layout; `place` is what else its `addWidget` takes."""
        self._layout.addWidget(widget, *place)
        self._widgets.append(widget)
        return widget

    def clear(self) -> None:
        """Discard all of them."""
        discard(*self._widgets)
        self._widgets.clear()

    def __iter__(self) -> Iterator[W]:
        return iter(tuple(self._widgets))

    def __len__(self) -> int:
        return len(self._widgets)
