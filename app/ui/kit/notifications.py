"""Saying something outside the window: by the desktop's own notifications, in whichever way this system has them."""

from __future__ import annotations

import asyncio
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.translation import tr

if TYPE_CHECKING:
    from app.ui.kit.notifications_bus import NotificationBus

NOBODY = tr("This desktop does not show notifications.")


class Notifications(QObject):
    """`pressed`: the person wants to see what it was about."""

    pressed = Signal()

    def __init__(self, icon: QIcon) -> None:
        super().__init__()
        self._icon = icon

    async def show(self, title: str, text: str = "") -> str:
        """Show one; return why that was not possible, as a sentence, "" when it is on its way."""
        if sys.platform != "linux":
            return self._show_by_tray(title, text)
        try:
            await asyncio.to_thread(self._show_on_bus, title, text)
        except Exception:  # whatever a bus and its programs may answer: there is nothing that could be done about it
            return NOBODY
        return ""

    async def aclose(self) -> None:
        if "_bus" in self.__dict__:
            await asyncio.to_thread(self._bus.close)
        if "_tray" in self.__dict__:
            self._tray.hide()

    @cached_property
    def _bus(self) -> NotificationBus:
        from app.ui.kit.notifications_bus import NotificationBus

        return NotificationBus(self.pressed.emit)

    def _show_on_bus(self, title: str, text: str) -> None:
        self._bus.show(title, text)

    @cached_property
    def _tray(self) -> QSystemTrayIcon:
        tray = QSystemTrayIcon(self._icon, QApplication.instance())
        tray.setToolTip("Rialto")
        tray.messageClicked.connect(self.pressed)
        return tray

    def _show_by_tray(self, title: str, text: str) -> str:
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return NOBODY
        self._tray.show()
        self._tray.showMessage(title, text or " ", self._icon)  # Windows shows nothing without a text
        return ""
