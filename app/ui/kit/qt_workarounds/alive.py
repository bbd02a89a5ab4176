"""Whether the C++ half of a Qt object still exists.

While a window is taken down Qt still sends events, and PySide 6.11.3 ends the program when a Python override raises
then (seen: `RuntimeError: Internal C++ object already deleted` inside an event filter). Ask here first.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from shiboken6 import isValid


def alive(*objects: QObject) -> bool:
    """Tell whether every one of `objects` may still be touched."""
    return all(isValid(item) for item in objects)
