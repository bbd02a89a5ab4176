"""Menus with round corners where the system can blend a window over another, plain ones where it cannot."""

from __future__ import annotations

import os
from functools import cache

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.service.http.sanitize import sanitize_line
from app.ui.kit.focus import enter_menu, forget_hover, tell_focus_soon
from app.ui.kit.icons import icon
from app.ui.kit.key_text import as_shown
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.focus_ring import FocusRing


@cache
def can_blend() -> bool:
    """Tell whether a translucent window really lets shine through what is behind it.

    Everywhere but on X11 without a compositor, where its clear parts would be black. A compositor owns the selection
    `_NET_WM_CM_S0`; asking takes one short connection, once.
    """
    if QGuiApplication.platformName() != "xcb":
        return True
    import ctypes
    import ctypes.util

    library = ctypes.util.find_library("X11")
    if library is None:
        return False
    x11 = ctypes.CDLL(library)
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XGetSelectionOwner.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
    x11.XGetSelectionOwner.restype = ctypes.c_ulong
    x11.XCloseDisplay.argtypes = (ctypes.c_void_p,)
    display = x11.XOpenDisplay(os.environ.get("DISPLAY", "").encode() or None)
    if not display:
        return False
    atom = x11.XInternAtom(display, b"_NET_WM_CM_S0", 0)
    owner = x11.XGetSelectionOwner(display, atom)
    x11.XCloseDisplay(display)
    return bool(owner)


def menu_text(name: str) -> str:
    """A name that people gave, as an entry shows it: harmless, and without letters that would become keys."""
    return sanitize_line(name).replace("&", "&&")


class Menu(QMenu):
    """A context or drop-down menu. `add` makes an entry with icon and shortcut in one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setToolTipsVisible(True)
        if can_blend():
            self.setProperty("rounded", True)
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
            self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
            self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)

    def popup(self, pos: QPoint, /, at: QAction | None = None) -> None:
        """Open; when a key opens it, on the first entry, which a screen reader then says."""
        super().popup(pos, at)
        parent = self.parentWidget()
        ring = parent.window().findChild(FocusRing) if parent is not None else None
        if at is None and (ring is None or ring.by_keyboard):
            enter_menu(self)

    def event(self, event: QEvent) -> bool:
        """Keep every key from the shortcuts of the window: of itself, a menu keeps only the keys it uses."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        tell_focus_soon()
        parent = self.parentWidget()
        if parent is not None:
            forget_hover(parent.window())

    def add(
        self, text: str, icon_name: str = "", *, shortcut: str = "", role: str = "text2", enabled: bool = True
    ) -> QAction:
        """Add an entry. The shortcut is shown; the action's owner binds it."""
        action = self.addAction(text)
        if icon_name:
            action.setIcon(icon(self._theme, icon_name, role))
        if shortcut:
            action.setShortcut(as_shown(shortcut))
            action.setShortcutVisibleInContextMenu(True)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setEnabled(enabled)
        return action

    def add_trash(self, words: str, *, enabled: bool = True) -> QAction:
        """Add what moves things to the trash: last, apart from the rest, in red and with its key."""
        self.addSeparator()
        return self.add(words, "trash", shortcut="Del", role="bad", enabled=enabled)
