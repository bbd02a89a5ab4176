"""Sentences for screen readers that know no announcements, as Orca 43 of Debian 12: a notification object appears.

A module of its own, because jeepney is loaded after the window can be used, and on Linux alone.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, message_bus, new_method_call
from jeepney.auth import AuthenticationError
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QWidget

from app.ui.kit.accessible_role import show_as
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool
from app.ui.kit.widgets.announce import add_announcement_listener

PATIENCE_S = 5.0
_BUS = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
_REGISTRY = DBusAddress(
    "/org/a11y/atspi/registry", bus_name="org.a11y.atspi.Registry", interface="org.a11y.atspi.Registry"
)
KEPT = 8  # a reader that is busy reads the name of each later
AFTER_A_BURST_MS = 300  # Orca 43 drops notifications while 50 events wait for it, as when a page of a dialog is shown
EVERYTHING = ("", "object:", "object::")


class OlderScreenReaders(QObject):
    """Asks before each sentence who listens: both ways at once would have newer readers say it twice."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._notifications = deque(_notification(window) for _ in range(KEPT))
        self._waiting: list[str] = []
        self._listeners = Listeners()
        add_announcement_listener(self.say)

    def say(self, words: str) -> None:
        """Have `words` said by readers that do not listen to announcements."""
        self._waiting.append(words)
        if len(self._waiting) == 1:
            run_in_pool(self, self._listeners.hear_no_announcements, self._say_waiting)

    def _say_waiting(self, wanted: bool) -> None:
        if wanted:
            QTimer.singleShot(AFTER_A_BURST_MS, self, self._notify)
        else:
            self._waiting.clear()

    def _notify(self) -> None:
        words, self._waiting = " ".join(self._waiting), []
        self._notifications.rotate()
        self._notifications[0].setAccessibleName(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self._notifications[0], QAccessible.Event.ObjectShow))


def _notification(window: QWidget) -> QWidget:
    found = QWidget(window)
    found.hide()
    show_as(found, "Notification")
    return found


class Listeners:
    """Who listens on the accessibility bus. The registry is asked again only when it has told of a change: each
    connection that comes and goes would have Qt, too, read the whole list anew.
    """

    def __init__(self) -> None:
        self._bus: DBusConnection | None = None
        self._hear_none = False

    def hear_no_announcements(self) -> bool:
        """Tell whether somebody listens, and nobody to announcements. It waits for the bus."""
        try:
            if self._bus is None:
                self._bus = _accessibility_bus()
            elif not _has_news(self._bus):
                return self._hear_none
            self._hear_none = _hear_none(self._bus)
        except (OSError, KeyError, ValueError, AuthenticationError, DBusErrorResponse):
            self._bus, self._hear_none = None, False
        return self._hear_none


def _accessibility_bus() -> DBusConnection:
    with open_dbus_connection("SESSION") as session:
        (address,) = unwrap_msg(session.send_and_get_reply(new_method_call(_BUS, "GetAddress"), timeout=PATIENCE_S))
    bus = open_dbus_connection(address)
    changes = MatchRule(type="signal", interface=_REGISTRY.interface)
    unwrap_msg(bus.send_and_get_reply(message_bus.AddMatch(changes), timeout=PATIENCE_S))
    return bus


def _has_news(bus: DBusConnection) -> bool:
    """Whether the registry has told something since this was asked last."""
    found = False
    with suppress(TimeoutError):
        while True:
            bus.receive(timeout=0)
            found = True
    return found


def _hear_none(bus: DBusConnection) -> bool:
    asked = new_method_call(_REGISTRY, "GetRegisteredEvents")
    (listeners,) = unwrap_msg(bus.send_and_get_reply(asked, timeout=PATIENCE_S))
    kinds = {str(kind).casefold() for _, kind in listeners}
    return bool(kinds) and not any(kind in EVERYTHING or kind.startswith("object:announcement") for kind in kinds)
