"""A settings portal on a bus of its own, and what Rialto reads there. Prints it.

python -m tests.ui.motion_session [reduced|still|moving|nobody]      under dbus-run-session
"""

import sys
import threading

from jeepney import HeaderFields, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

from app.ui.kit.system_motion import wants_less_motion

KINDS = {
    "reduced": {"reduced-motion": ("u", 1)},
    "still": {"enable-animations": ("b", False)},
    "moving": {"reduced-motion": ("u", 0), "enable-animations": ("b", True)},
}


def serve(connection: DBusConnection, settings: dict[str, tuple[str, object]]) -> None:
    while True:
        message = connection.receive()
        if message.header.fields.get(HeaderFields.member) != "Read":
            continue
        value = settings.get(message.body[1])
        if value is None:
            connection.send(new_error(message, "org.freedesktop.portal.Error.NotFound", "s", ("no",)))
        else:
            connection.send(new_method_return(message, "v", (("v", value),)))


if __name__ == "__main__":
    if sys.argv[1] in KINDS:
        portal = open_dbus_connection("SESSION")
        Proxy(message_bus, portal).RequestName("org.freedesktop.portal.Desktop")
        threading.Thread(target=serve, args=(portal, KINDS[sys.argv[1]]), daemon=True).start()
    print(wants_less_motion())
