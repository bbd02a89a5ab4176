"""The one way to remove Qt objects and to rebuild the widgets of a layout.

PySide maps the address of each C++ object to its Python wrapper. `itemAt` of Qt's layouts makes a wrapper that lives as
long as the layout's own, while Qt deletes the item with its widget and tells nobody. The next object at that address
then has two entries, and from PySide 6.10 on the process ends when that object is destroyed. So nobody asks a layout
what is in it: who fills it keeps a list.

What a lambda connected to an object holds is let go of inside that object's destructor. Where that is the last that
held the object's parent, the parent goes and destroys the object once more. So both are held until it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, QTimer

from app.ui.kit.qt_workarounds.alive import alive

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLayout, QWidget

W = TypeVar("W", bound="QWidget")
_leaving: list[tuple[QObject, QObject]] = []  # what is to be destroyed, and the outermost of its parents


def discard(*objects: QObject) -> None:
    """Hide widgets at once and have every object destroyed by the event loop, safe inside its own signals.

    A layout forgets its widget when that is destroyed; hidden until then, it takes no room.
    """
    for each in objects:
        if each.isWidgetType():
            cast("QWidget", each).hide()
        _leaving.append((each, _outermost(each)))
        each.deleteLater()
    if objects:
        QTimer.singleShot(0, _let_go)


def _outermost(each: QObject) -> QObject:
    while (parent := each.parent()) is not None:
        each = parent
    return each


def _let_go() -> None:
    _leaving[:] = [pair for pair in _leaving if alive(pair[0])]


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
