"""The desktop's notifications on a bus of their own, with a program on it that shows them. Prints what it was asked.

python -m tests.ui.notification_session [markup|plain|nobody]      under dbus-run-session
"""

import asyncio
import json
import sys
import threading
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, HeaderFields, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.ui.kit.notifications import Notifications

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
NUMBER = 7


class Desktop:
    """Answers on the bus from a thread, and presses each notification as soon as it is shown."""

    def __init__(self, capabilities: list[str]) -> None:
        self.capabilities = capabilities
        self.asked: list[Any] = []
        self._connection: DBusConnection = open_dbus_connection("SESSION")
        Proxy(message_bus, self._connection).RequestName(NAME)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            message = self._connection.receive()
            match message.header.fields.get(HeaderFields.member):
                case "GetCapabilities":
                    self._connection.send(new_method_return(message, "as", (self.capabilities,)))
                case "Notify":
                    self.asked.append(message.body)
                    self._connection.send(new_method_return(message, "u", (NUMBER,)))
                    place = DBusAddress(PATH, interface=NAME)
                    self._connection.send(new_signal(place, "ActionInvoked", "us", (NUMBER + 1, "default")))
                    self._connection.send(new_signal(place, "ActionInvoked", "us", (NUMBER, "default")))


async def main(desktop: Desktop | None) -> dict[str, Any]:
    notifications = Notifications(QIcon(), Path("unused.png"))
    presses: list[bool] = []
    notifications.pressed.connect(lambda: presses.append(True))
    problem = await notifications.show("Rialto", "“<b>a & b</b>” is done")
    if desktop is not None:
        async with asyncio.timeout(60):
            while not presses:
                QApplication.processEvents()
                await asyncio.sleep(0.01)
    await notifications.aclose()
    return {"problem": problem, "asked": desktop.asked if desktop is not None else [], "presses": len(presses)}


if __name__ == "__main__":
    qt_app = QApplication(["rialto", "-platform", "offscreen"])
    kinds = {"markup": ["body", "body-markup", "actions"], "plain": ["body"]}
    wanted = kinds.get(sys.argv[1])
    print(json.dumps(asyncio.run(main(Desktop(wanted) if wanted is not None else None))))
