"""What painted widgets are for screen readers: a role, and a value that is the number on screen.

This says it; `accessible_interfaces` tells Qt, once the window can be used: Qt's classes take 3 ms of the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

Role = Literal[
    "Chart",
    "ComboBox",
    "Document",
    "Graphic",
    "ListItem",
    "NoRole",  # what another widget says already: readers pass it by
    "Notification",
    "ProgressBar",
    "Slider",
    "Splitter",
    "StaticText",
]  # of QAccessible
ATTRIBUTE = "accessible_role"


_shown: WeakSet[QWidget] = WeakSet()
_listeners: list[Callable[[QWidget], None]] = []


class Value(NamedTuple):
    """`read` returns the number as it is shown; `write` takes one from a screen reader, None where none can be set."""

    read: Callable[[], float]
    low: float
    high: float
    step: float = 0.0
    write: Callable[[float], object] | None = None


class ShownAs(NamedTuple):
    role: Role
    value: Value | None
    name: Callable[[], str] | None


def show_as(widget: QWidget, role: Role, value: Value | None = None, name: Callable[[], str] | None = None) -> None:
    """Have screen readers see `widget` in this role, with this value; `name` replaces its accessible name."""
    setattr(widget, ATTRIBUTE, ShownAs(role, value, name))
    _shown.add(widget)
    for tell in _listeners:
        tell(widget)


def tell_of_shown(tell: Callable[[QWidget], None]) -> None:
    """Call `tell` with each widget that has been shown as something, and with those to come."""
    _listeners.append(tell)
    for widget in list(_shown):
        tell(widget)
