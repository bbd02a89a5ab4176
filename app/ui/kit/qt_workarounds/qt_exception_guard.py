"""Keeps exceptions inside the methods that Qt calls on our widgets and models.

PySide 6.11.3 cannot bear one that leaves such a method while Qt works for a call from Python (`grab`, `show`, …).
Until that call returns the exception waits, and each override that is looked up for the first time meanwhile loses a
reference that was not PySide's to drop: the method is freed under its class, and the process dies when an object of
that class is next drawn, resized or asked. Python 3.11 has it die at once where C code raised ("already deleted").

So every class of Qt objects has its overrides wrapped while it is made. What one raises goes to `sys.excepthook`, as
from a slot, and Qt's own method takes its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from PySide6.QtCore import QObject
from shiboken6 import VoidPtr

# Virtual methods beside the handlers, whose names end in "Event". A test names every override that is missing here.
VIRTUAL = frozenset(
    """
    addItem addSelection attributeKeys attributeValue attributes canFetchMore canInsertFromMimeData characterCount
    characterRect child childAt childCount clone columnCount count createEditor createHandle
    createMimeDataFromSelection currentValue cursorPosition data destroyEditor done drawObject drawRow event
    eventFilter expandingDirections fetchMore filterAcceptsRow flags focusChild focusNextPrevChild hasChildren
    hasHeightForWidth headerData heightForWidth hidePopup highlightBlock hitButton index indexOfChild initStyleOption
    insertFromMimeData interface_cast intrinsicSize isNull isValid itemAt lessThan loadResource maximumValue
    mimeData mimeTypes minimumSize minimumSizeHint minimumStepSize minimumValue object offsetAtPoint paint parent
    pixmap rect reject relations removeSelection reset role roleNames rowCount scaledPixmap scrollContentsBy
    scrollToSubstring selection selectionCount setCurrentIndex setCurrentValue setCursorPosition setData setFocus
    setGeometry
    setModelData setSelection setTabVisible setText showPopup sizeHint startDrag state takeAt text updateEditorGeometry
    """.split()  # noqa: SIM905 - a line for each name would be a page
)
_FALSE = frozenset(
    ("event", "eventFilter", "viewportEvent", "focusNextPrevChild", "hasHeightForWidth", "hitButton", "isValid")
)


def install_exception_guard() -> bool:
    """Wrap the overrides of every class made from now on; False when this PySide does not let itself be asked."""
    kind = type(QObject)

    def made(cls: type, name: str, bases: tuple[type, ...], members: dict[str, Any], **more: Any) -> None:
        type.__init__(cls, name, bases, members, **more)
        _wrap_overrides(cls, members)

    try:
        # The one place where Shiboken's classes can be seen being made.
        setattr(kind, "__init__", made)  # noqa: B010 - no type allows to assign it
    except TypeError:
        return False
    return True


def is_virtual(name: str) -> bool:
    """Whether Qt itself calls methods of this name."""
    return name in VIRTUAL or name.endswith("Event")


def _wrap_overrides(cls: type, members: dict[str, Any]) -> None:
    for name, method in members.items():
        if isinstance(method, FunctionType) and is_virtual(name):
            own = next((base.__dict__[name] for base in cls.__mro__[1:] if _is_of_qt(base, name)), None)
            if own is not None:
                setattr(cls, name, _guarded(name, method, own))


def _is_of_qt(base: type, name: str) -> bool:
    return name in base.__dict__ and base.__module__.startswith("PySide6.")


def report(error: Exception) -> None:
    """Report a crash that ends here, without its frames: a painter in one of them would outlive what it paints on."""
    import traceback

    sys.excepthook(type(error), error, error.__traceback__)
    traceback.clear_frames(error.__traceback__)


def _otherwise(name: str) -> Any:
    if name == "interface_cast":
        return VoidPtr(0)  # PySide 6.11.3 crashes on None
    return False if name in _FALSE else None


def _guarded(name: str, method: FunctionType, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(self: object, *args: Any, **named: Any) -> Any:
        try:
            return method(self, *args, **named)
        except Exception as error:
            report(error)
        # Only now: the frames that failed are gone, and a painter that one of them held with them.
        try:
            return own(self, *args, **named)
        except Exception:
            return _otherwise(name)  # Qt's has no body, or the object is gone

    if method.__code__.co_argcount > 1:
        return guarded

    @wraps(method)
    def guarded_alone(self: object) -> Any:  # a signal connected to it must see that it takes nothing
        return guarded(self)

    return guarded_alone
