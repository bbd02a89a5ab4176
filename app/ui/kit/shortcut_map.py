"""The keyboard map as Settings sees it, so that Settings need not know the window that owns the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance


class ShortcutRefused(Exception):
    """A key cannot be given to an action; the message is a sentence for the person."""


class ShortcutRow(NamedTuple):
    """One action and its key, both keys in Qt's portable text; "" is no key."""

    action_id: str
    text: str
    group: str  # "Rialto", or the title of the tab where it works
    shortcut: str
    own_shortcut: str  # the one it came with

    @property
    def is_changed(self) -> bool:
        return self.shortcut != self.own_shortcut


class ShortcutMap(Protocol):
    """Every action by name, and the right to change its key."""

    @property
    def changed(self) -> SignalInstance: ...

    def rows(self) -> Sequence[ShortcutRow]:
        """All actions, in the order of the menus."""

    def set_shortcut(self, action_id: str, shortcut: str) -> None:
        """Raises `ShortcutRefused`, naming the other action when the key is taken."""

    def reset_shortcut(self, action_id: str) -> None:
        """Raises `ShortcutRefused` when another action took its own key meanwhile."""

    def reset_all(self) -> None:
        """Every action back to the key it came with."""
