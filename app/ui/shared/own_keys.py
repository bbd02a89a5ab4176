"""Keys that mean the thing one stands on, kept from actions of the window that mean what is open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent


def keeps(event: QEvent, *keys: Qt.Key) -> bool:
    """Take one of these keys, pressed alone, before a shortcut of the window gets it: call it first in `event`.

    True when that happened; the key then arrives in `keyPressEvent`.
    """
    alone = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    if (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.ShortcutOverride
        and event.key() in keys
        and event.modifiers() in alone
    ):
        event.accept()
        return True
    return False
