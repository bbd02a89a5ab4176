"""Notifications of a Linux desktop: the Desktop Notifications Specification 1.2 over the session's D-Bus.

Everything here may wait for the bus: not on the UI thread.
"""

from __future__ import annotations

import html
import queue
import threading
from collections.abc import Callable
from typing import Any

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.threading import DBusRouter, Proxy, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from app.translation import tr

PATIENCE_S = 5.0
_SERVICE = "org.freedesktop.Notifications"
_ADDRESS = DBusAddress("/org/freedesktop/Notifications", bus_name=_SERVICE, interface=_SERVICE)
_AT_THE_SERVERS_DISCRETION = -1  # how long one stays
_DEFAULT_ACTION = "default"  # a press on the notification itself


class NotificationBus:
    """One connection to the session's bus, opened by the first notification. `pressed` is called in its thread."""

    def __init__(self, pressed: Callable[[], None]) -> None:
        self._pressed = pressed
        self._opening = threading.Lock()
        self._router: DBusRouter | None = None
        self._takes_markup = False
        self._shown: set[int] = set()
        self._showing = threading.Lock()  # a press may be heard before the number of what was pressed is known

    def show(self, title: str, text: str) -> None:
        """Show one. Raises `OSError` or a `jeepney` error when there is no bus, or nobody on it who shows them."""
        router = self._open()
        body = html.escape(text, quote=False) if self._takes_markup else text
        values: tuple[Any, ...] = (
            "Rialto",
            0,
            "rialto",
            title,
            body,
            [_DEFAULT_ACTION, tr("Show")],
            {},
            _AT_THE_SERVERS_DISCRETION,
        )
        with self._showing:
            self._shown.add(self._call(router, "Notify", "susssasa{sv}i", values)[0])

    def close(self) -> None:
        """Leave the bus; what is on show stays."""
        with self._opening:
            router, self._router = self._router, None
        if router is not None:
            router.close()
            router.conn.close()

    def _open(self) -> DBusRouter:
        with self._opening:
            if self._router is None:
                router = DBusRouter(open_dbus_connection("SESSION"))
                self._takes_markup = "body-markup" in self._call(router, "GetCapabilities")[0]
                self._listen(router)
                self._router = router
            return self._router

    def _call(
        self, router: DBusRouter, method: str, signature: str = "", body: tuple[Any, ...] = ()
    ) -> tuple[Any, ...]:
        message = new_method_call(_ADDRESS, method, signature or None, body)
        answer: tuple[Any, ...] = unwrap_msg(router.send_and_get_reply(message, timeout=PATIENCE_S))
        return answer

    def _listen(self, router: DBusRouter) -> None:
        rule = MatchRule(type="signal", interface=_SERVICE, member="ActionInvoked", path=_ADDRESS.object_path)
        Proxy(message_bus, router, timeout=PATIENCE_S).AddMatch(rule)
        presses: queue.Queue[Any] = queue.Queue()
        router.filter(rule, queue=presses)
        threading.Thread(target=self._hear, args=(presses,), name="notifications", daemon=True).start()

    def _hear(self, presses: queue.Queue[Any]) -> None:
        while True:
            number, action = presses.get().body[:2]
            with self._showing:
                is_ours = number in self._shown
            if is_ours and action == _DEFAULT_ACTION:
                self._pressed()
