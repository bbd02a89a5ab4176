"""Desktop notifications: over D-Bus on Linux, by the `desktop-notifier` library on Windows and macOS."""

from __future__ import annotations

import asyncio
import importlib
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon

from app.translation import tr

if TYPE_CHECKING:
    from desktop_notifier import DesktopNotifier

    from app.ui.kit.notifications_bus import NotificationBus

NOBODY = tr("This desktop does not show notifications.")
_ICON_PX = 128


class Notifications(QObject):
    """Shows notifications. `pressed` is emitted when the user clicks one.

    `icon_file` is where the icon is written for Windows, which reads it from a file. `uses_bus` is true on Linux.
    """

    pressed = Signal()

    def __init__(self, icon: QIcon, icon_file: Path, *, uses_bus: bool = sys.platform == "linux") -> None:
        super().__init__()
        self._icon = icon
        self._icon_file = icon_file
        self._uses_bus = uses_bus
        self._notifier: DesktopNotifier | None = None

    async def show(self, title: str, text: str = "") -> str:
        """Show a notification. Return a sentence that says why it was not shown, or "" if it was handed over."""
        try:
            if self._uses_bus:
                await asyncio.to_thread(self._show_on_bus, title, text)
                return ""
            return "" if await self._show_by_library(title, text) else NOBODY
        except Exception:  # D-Bus, WinRT and Objective-C raise their own errors; none of them can be handled better
            return NOBODY

    async def aclose(self) -> None:
        if "_bus" in self.__dict__:
            await asyncio.to_thread(self._bus.close)

    @cached_property
    def _bus(self) -> NotificationBus:
        from app.ui.kit.notifications_bus import NotificationBus

        return NotificationBus(self.pressed.emit)

    def _show_on_bus(self, title: str, text: str) -> None:
        self._bus.show(title, text)

    async def _show_by_library(self, title: str, text: str) -> bool:
        """Return whether the system accepted the notification. macOS asks the user for permission the first time."""
        library = await asyncio.to_thread(importlib.import_module, "desktop_notifier")
        if self._notifier is None:
            if not self._icon_file.exists():
                self._icon_file.parent.mkdir(parents=True, exist_ok=True)
                self._icon.pixmap(_ICON_PX).save(str(self._icon_file))
            self._notifier = library.DesktopNotifier("Rialto", library.Icon(path=self._icon_file))
        notifier = self._notifier
        # without an app bundle, the library has a back end for macOS that can do nothing and says so only here
        if not await notifier.get_capabilities() or not await notifier.request_authorisation():
            return False
        accepted: list[bool] = []
        await notifier.send(
            title, text, on_dispatched=lambda: accepted.append(True), on_clicked=lambda: self.pressed.emit()
        )
        return bool(accepted)  # `send` logs errors instead of raising them
