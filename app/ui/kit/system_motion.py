"""Whether a Linux desktop asks for less motion: the settings portal over the session's D-Bus. Qt does not tell it.

A module of its own, because jeepney is loaded after the window can be used, and on Linux alone.
"""

from __future__ import annotations

from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, new_method_call
from jeepney.auth import AuthenticationError
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

PATIENCE_S = 5.0
_PORTAL = DBusAddress(
    "/org/freedesktop/portal/desktop",
    bus_name="org.freedesktop.portal.Desktop",
    interface="org.freedesktop.portal.Settings",
)


def wants_less_motion() -> bool:
    """Ask the desktop; False where nobody answers. It waits for the bus: not on the UI thread."""
    try:
        with open_dbus_connection("SESSION") as connection:
            return (
                _setting(connection, "org.freedesktop.appearance", "reduced-motion") == 1
                or _setting(connection, "org.gnome.desktop.interface", "enable-animations") is False
            )
    except (OSError, KeyError, ValueError, AuthenticationError):
        return False


def _setting(connection: DBusConnection, namespace: str, key: str) -> Any:
    """Return the value of a setting, None where the desktop has none of that name."""
    try:
        message = new_method_call(_PORTAL, "Read", "ss", (namespace, key))
        value: Any = unwrap_msg(connection.send_and_get_reply(message, timeout=PATIENCE_S))[0]
    except DBusErrorResponse:
        return None
    while isinstance(value, tuple):  # (signature, value), once or twice
        value = value[1]
    return value
