"""Keys that act on the focused item, kept from shortcuts of the window that act on the open document."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

# What deletes the row one stands on. A Mac's Delete key is Backspace to Qt; elsewhere Backspace deletes text only.
DELETE_KEYS = (Qt.Key.Key_Delete, *((Qt.Key.Key_Backspace,) if sys.platform == "darwin" else ()))
_ALONE = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


def deletes(event: QKeyEvent) -> bool:
    """Tell whether this key, pressed alone, deletes the row one stands on."""
    return event.key() in DELETE_KEYS and event.modifiers() in _ALONE


def claim_shortcut(event: QEvent, *keys: Qt.Key) -> bool:
    """Take one of these keys, pressed alone, before a shortcut of the window gets it: call it first in `event`.

    True when that happened; the key then arrives in `keyPressEvent`.
    """
    if (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.ShortcutOverride
        and event.key() in keys
        and event.modifiers() in _ALONE
    ):
        event.accept()
        return True
    return False
