"""Keeps wrappers of layout items out of PySide's map, where the next object at their address would end the process.

A module of its own: it goes with the version of PySide that needs it.

PySide 6.11.3 makes a wrapper of each item in a layout that is added to another (`addLayout`, `insertLayout`) and keeps
it as long as the layout. Qt deletes the item with its widget and tells nobody, so the map keeps a dead entry. See
`app/ui/kit/discard.py` for what that leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLayout
from shiboken6 import Shiboken


def forget_layout_items() -> None:
    """Have every layout that is added to another from now on leave no wrappers of its items."""
    for kind, name in ((QBoxLayout, "addLayout"), (QBoxLayout, "insertLayout"), (QGridLayout, "addLayout")):
        method = getattr(kind, name)
        if not hasattr(method, "__wrapped__"):
            setattr(kind, name, _forgetting(method))


def _forgetting(method: Callable[..., None]) -> Callable[..., None]:
    @wraps(method, assigned=("__name__", "__qualname__"))  # to ask for `__doc__` has PySide read all its signatures
    def add(self: QLayout, *args: Any, **named: Any) -> None:
        method(self, *args, **named)
        for each in (*args, *named.values()):
            if isinstance(each, QLayout):
                _forget_items(each)

    return add


def _forget_items(layout: QLayout) -> None:
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if isinstance(item, QLayout):
            _forget_items(item)
        elif item is not None and not Shiboken.createdByPython(item):
            Shiboken.invalidate(item)
