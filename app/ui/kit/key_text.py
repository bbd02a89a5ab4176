"""How a shortcut is written: as the system writes it, with a space where Qt puts a plus."""

from __future__ import annotations

import sys

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.ui.kit.plain_tooltip import plain_tip

# A description with nothing to say: for an empty one Qt tells screen readers the tooltip, or what an empty field shows,
# and they read the name twice.
SAID = " "


def as_shown(shortcut: str) -> QKeySequence:
    """Return the keys as they are shown: the large key is Enter to people and Return to Qt."""
    return QKeySequence(shortcut if sys.platform == "darwin" else shortcut.replace("Return", "Enter"))


def native_text(shortcut: str) -> str:
    """Return `Ctrl+Enter` for `Ctrl+Return`, `⌘↩` on macOS."""
    return as_shown(shortcut).toString(QKeySequence.SequenceFormat.NativeText)


def key_text(shortcut: str) -> str:
    """Return `Ctrl K` for `Ctrl+K`, `⌘K` on macOS; an empty string for no shortcut."""
    native = native_text(shortcut)
    return native if sys.platform == "darwin" else native.replace("+", " ").strip()


def set_tip(widget: QWidget, name: str, shortcut: str = "") -> None:
    """Set a tooltip: the name, and the shortcut behind it; a screen reader, which says the name, is told the key."""
    widget.setToolTip(plain_tip(f"{name}  {key_text(shortcut)}" if shortcut else name))
    widget.setAccessibleDescription(key_text(shortcut) or SAID)
