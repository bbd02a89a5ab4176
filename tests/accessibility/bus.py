"""A desktop with an accessibility bus, and a reader on it: what a screen reader is told, and keys as from a keyboard.

Xvfb, a session bus and AT-SPI's own launcher and registry; nothing of the window under test is known here but what it
says on the bus. Keys are made by the registry, which sends them to the X server.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
KEYS_AGAIN_S = 12.0
PATIENCE_S = 60.0
T = TypeVar("T")
ACCESSIBLE = "org.a11y.atspi.Accessible"
REGISTRY = "org.a11y.atspi.Registry"
THE_REGISTRY = DBusAddress("/org/a11y/atspi/registry", bus_name=REGISTRY, interface=REGISTRY)
KEYS = DBusAddress(
    "/org/a11y/atspi/registry/deviceeventcontroller",
    bus_name=REGISTRY,
    interface="org.a11y.atspi.DeviceEventController",
)
PRESS, RELEASE, PRESS_AND_RELEASE, TEXT = 0, 1, 2, 4
# Codes of a PC keyboard under X11.
CODES = {
    **{"Escape": 9, "Tab": 23, "Return": 36, "Space": 65, "comma": 59, "slash": 61},
    **{f"F{number}": 66 + number for number in range(1, 11)},
    **{"Home": 110, "Up": 111, "PageUp": 112, "Left": 113, "Right": 114, "End": 115, "Down": 116, "PageDown": 117},
    **{"Ctrl": 37, "Shift": 50, "Alt": 64, "Delete": 119},
    **{str(digit): 9 + (digit or 10) for digit in range(10)},
    **{
        letter: code
        for row, first in (("qwertyuiop", 24), ("asdfghjkl", 38), ("zxcvbnm", 52))
        for code, letter in enumerate(row, first)
    },
    **{"-": 20, "=": 21, "[": 34, "]": 35, ";": 47, "'": 48, "`": 49, "\\": 51, ",": 59, ".": 60, "/": 61, " ": 65},
}
WITH_SHIFT = dict(zip('!@#$%^&*()_+{}:"~|<>?', "1234567890-=[];'`\\,./", strict=True))
# A session bus that starts nothing by itself, such as this machine's keyring with windows of its own.
SESSION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
STATES = {"checked": 4, "enabled": 8, "focusable": 11, "focused": 12, "sensitive": 24, "showing": 25, "visible": 30}


class Node(NamedTuple):
    """An accessible object, as the bus names it."""

    owner: str
    path: str


class Event(NamedTuple):
    kind: str  # "StateChanged", "Announcement", …
    detail: str  # "focused" …
    node: Node
    value: Any
    on: int


def _is_focus(event: Event) -> bool:
    return event.kind == "StateChanged" and event.detail == "focused" and bool(event.on)


class Seen(NamedTuple):
    """What was read of an object when a walk passed it."""

    node: Node
    role: str
    name: str
    description: str
    states: frozenset[str]
    interfaces: frozenset[str]
    depth: int


def _states(halves: tuple[int, int]) -> frozenset[str]:
    bits = halves[0] | halves[1] << 32
    return frozenset(state for state, bit in STATES.items() if bits >> bit & 1)


def _call_to(node: Node, member: str) -> Message:
    return new_method_call(DBusAddress(node.path, bus_name=node.owner, interface=ACCESSIBLE), member)


def _property_call(node: Node, name: str, interface: str = ACCESSIBLE) -> Message:
    to = DBusAddress(node.path, bus_name=node.owner, interface="org.freedesktop.DBus.Properties")
    return new_method_call(to, "Get", "ss", (interface, name))


class Reader:
    """Reads the tree, hears the events, presses keys."""

    def __init__(self, address: str, display: str, kinds: Sequence[str] = ("object:", "window:", "focus:")) -> None:
        self.display = display
        self.presses = 0  # of keys, without typed text
        self.clicks = 0  # presses of the mouse button
        self._lately: deque[Node] = deque(maxlen=8)  # had the focus, the last one now
        self.events: deque[Event] = deque()
        self._address, self._kinds = address, tuple(kinds)
        self._connect(kinds)

    def _connect(self, kinds: Sequence[str]) -> None:
        self._screen = Screen(self.display)
        self._bus: DBusConnection = open_dbus_connection(self._address)
        bus = Proxy(message_bus, self._bus)
        for kind in ("Object", "Window", "Focus"):
            bus.AddMatch(MatchRule(type="signal", interface=f"org.a11y.atspi.Event.{kind}"))
        for name in kinds:
            self.wait(lambda name=name: self._registers(name), "the registry")

    def _registers(self, name: str) -> bool:
        """The registry is started by the first call, and on a busy machine twice: then one of them ends."""
        self._call(THE_REGISTRY, "RegisterEvent", "sass", (name, [], ""))
        return True

    @contextmanager
    def listening_to(self, kinds: Sequence[str]) -> Iterator[None]:
        """Be another reader for a while, one that asks for these events."""
        self.close()
        self._connect(kinds)
        yield
        self.close()
        self._connect(self._kinds)

    def close(self) -> None:
        self._bus.close()
        self._screen.close()

    def _call(self, to: DBusAddress, member: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> Any:
        return self._calls([new_method_call(to, member, signature, body)])[0]

    def _calls(self, messages: Sequence[Message]) -> list[Any]:
        """Send several questions at once; return the bodies of their answers."""
        serials = [next(self._bus.outgoing_serial) for _ in messages]
        for message, serial in zip(messages, serials, strict=True):
            self._bus.send(message, serial=serial)
        answers: dict[int, Message] = {}
        until = time.monotonic() + PATIENCE_S
        while len(answers) < len(serials):
            got = self._bus.receive(timeout=max(0.1, until - time.monotonic()))
            serial = got.header.fields.get(HeaderFields.reply_serial)
            if serial in serials:
                answers[serial] = got
            else:
                self._keep(got)
        failed = [answer.body for answer in answers.values() if answer.header.message_type is MessageType.error]
        if failed:
            raise LookupError(str(failed))
        return [answers[serial].body for serial in serials]

    def _keep(self, got: Message) -> None:
        if got.header.message_type is not MessageType.signal:
            return
        fields = got.header.fields
        if not str(fields.get(HeaderFields.interface, "")).startswith("org.a11y.atspi.Event."):
            return
        node = Node(str(fields[HeaderFields.sender]), str(fields[HeaderFields.path]))
        detail, on, _, (_, value) = got.body[:4]
        event = Event(str(fields[HeaderFields.member]), detail, node, value, on)
        self.events.append(event)
        if _is_focus(event):
            self._lately.append(node)

    # -- the tree -----------------------------------------------------------------------------------------------------

    def _ask(self, node: Node, member: str, *, interface: str = ACCESSIBLE) -> Any:
        return self._call(DBusAddress(node.path, bus_name=node.owner, interface=interface), member)[0]

    def _property(self, node: Node, name: str, *, interface: str = ACCESSIBLE) -> Any:
        return self._calls([_property_call(node, name, interface)])[0][0][1]

    def children(self, node: Node) -> list[Node]:
        return [Node(*each) for each in self._ask(node, "GetChildren")]

    def parent(self, node: Node) -> Node:
        return Node(*self._property(node, "Parent"))

    def window(self, node: Node, root: Node) -> Node:
        """The window, dialog or popover that an object is in; those are no children of the program's root on X11."""
        while (above := self.parent(node)) != root:
            node = above
        return node

    def name(self, node: Node) -> str:
        return self.names([node])[0]

    def names(self, nodes: Sequence[Node]) -> list[str]:
        return [str(name) for ((_, name),) in self._calls([_property_call(node, "Name") for node in nodes])]

    def role(self, node: Node) -> str:
        return str(self._ask(node, "GetRoleName"))

    def value(self, node: Node) -> float:
        return float(self._property(node, "CurrentValue", interface="org.a11y.atspi.Value"))

    def size(self, node: Node) -> tuple[int, int]:
        """Width and height on screen."""
        return self._extents(node)[2:]

    def _extents(self, node: Node) -> tuple[int, int, int, int]:
        to = DBusAddress(node.path, bus_name=node.owner, interface="org.a11y.atspi.Component")
        left, top, width, height = self._call(to, "GetExtents", "u", (0,))[0]
        return left, top, width, height

    def look(self, node: Node, depth: int = 0) -> Seen:
        return self._pass(node, depth)[0]

    def _pass(self, node: Node, depth: int) -> tuple[Seen, list[Node]]:
        """Return what is read of an object, and its children."""
        asked = [_call_to(node, member) for member in ("GetState", "GetRoleName", "GetInterfaces", "GetChildren")]
        asked += [_property_call(node, name) for name in ("Name", "Description")]
        (states,), (role,), (interfaces,), (children,), ((_, name),), ((_, description),) = self._calls(asked)
        seen = Seen(
            node,
            str(role),
            str(name),
            str(description),
            _states(states),
            frozenset(str(each).removeprefix("org.a11y.atspi.") for each in interfaces),
            depth,
        )
        return seen, [Node(*each) for each in children]

    def program(self) -> Node:
        """Wait for Rialto on the bus and return its root; a screen reader may be there too."""
        desktop = Node(REGISTRY, "/org/a11y/atspi/accessible/root")
        named = lambda: (each for each in self.children(desktop) if self.name(each) == "Rialto")  # noqa: E731
        return self.wait(lambda: next(named(), None), "Rialto on the bus")

    def walk(self, node: Node, depth: int = 0) -> Iterator[Seen]:
        """Every object on screen below `node`, from the top."""
        seen, children = self._pass(node, depth)
        if depth and "showing" not in seen.states:
            return
        yield seen
        for child in children:
            with suppress(LookupError):  # it went while it was looked at
                yield from self.walk(child, depth + 1)

    def search(self, node: Node, fits: Callable[[str], object], depth: int = 0) -> Iterator[Seen]:
        """The same for objects whose name fits: of the others no more is asked than where to go on, which is half."""
        asked = [_call_to(node, "GetState"), _call_to(node, "GetChildren"), _property_call(node, "Name")]
        (states,), (children,), ((_, name),) = self._calls(asked)
        if depth and "showing" not in _states(states):
            return
        if fits(str(name)):
            yield self.look(node, depth)
        for child in children:
            with suppress(LookupError):  # it went while it was looked at
                yield from self.search(Node(*child), fits, depth + 1)

    def find(self, root: Node, name: str, role: str = "") -> Node:
        """Wait for an object on screen whose name begins with `name`."""

        def found() -> Node | None:
            fits = self.search(root, lambda each: each.startswith(name))
            return next((seen.node for seen in fits if role in ("", seen.role)), None)

        return self.wait(found, f"{role or 'an object'} called {name!r}")

    # -- events -------------------------------------------------------------------------------------------------------

    def listen(self, for_s: float = 0.0) -> None:
        """Take in what is said, for some time."""
        until = time.monotonic() + for_s
        while True:
            with suppress(TimeoutError):
                self._keep(self._bus.receive(timeout=max(0.001, until - time.monotonic())))
            if time.monotonic() >= until and not select.select([self._bus.sock], [], [], 0)[0]:
                return

    def wait(self, found: Callable[[], T | None], what: str, again: Callable[[], object] | None = None) -> T:
        """Listen until something is there. `again` repeats keys: without a window manager, those that are pressed
        while a window closes reach nobody.
        """
        until = time.monotonic() + PATIENCE_S
        repeat_at = time.monotonic() + KEYS_AGAIN_S
        while time.monotonic() < until:
            if again is not None and time.monotonic() > repeat_at:
                again()
                repeat_at = time.monotonic() + KEYS_AGAIN_S
            with suppress(LookupError):
                result = found()
                if result:
                    return result
            self._screen.activate_window()
            self.listen(0.05)
        raise AssertionError(f"{what} did not come; heard: {self.said()[-20:]}")

    def said(self) -> list[str]:
        """All announcements so far."""
        return [str(event.value) for event in list(self.events) if event.kind == "Announcement"]

    def notified(self) -> list[str]:
        """What notification objects that appeared say."""
        found = []
        for event in list(self.events):
            if (event.kind, event.detail, event.on) == ("StateChanged", "showing", 1):
                with suppress(LookupError):  # it went meanwhile
                    seen = self.look(event.node)
                    found += [seen.name] if seen.role == "notification" else []
        return found

    def senders(self, kind: str) -> set[str]:
        """The roles of the objects that sent events of this kind so far."""
        found = set()
        for event in list(self.events):
            if event.kind == kind:
                with suppress(LookupError):  # it went meanwhile
                    found.add(self.role(event.node))
        return found

    def focused(self) -> list[Node]:
        """The objects that got the focus so far, in order."""
        return [event.node for event in list(self.events) if _is_focus(event)]

    def focus_now(self) -> Node | None:
        """The object that got the focus last, if anything did."""
        return self._lately[-1] if self._lately else None

    def at(self, name: str) -> bool:
        """Whether an object of this name has the focus. A list that is filled says it of a row meanwhile."""
        for node in reversed(list(self._lately)):
            with suppress(LookupError):
                if self.name(node) == name and "focused" in self.look(node).states:
                    return True
        return False

    def hear(self, words: str, again: Callable[[], object] | None = None) -> str:
        """Wait for an announcement with some words in it."""
        said = lambda: next((each for each in self.said() if words in each), None)  # noqa: E731
        return self.wait(said, f"the words {words!r}", again)

    # -- keys ---------------------------------------------------------------------------------------------------------

    def press(self, keys: str) -> None:
        """Press keys held together, as "Ctrl+Shift+M"."""
        self._screen.activate_window()
        self.presses += 1
        codes = [CODES[key if len(key) > 1 else key.lower()] for key in keys.split("+")]
        for code in codes:
            self._key(code, "", PRESS)
        for code in reversed(codes):
            self._key(code, "", RELEASE)

    def click(self, node: Node, presses: int = 1) -> None:
        """Press the mouse button in the middle of an object."""
        self._screen.activate_window()
        self.clicks += presses
        left, top, width, height = self._extents(node)
        at = (left + width // 2, top + height // 2)
        for kind in ("abs", "b1c" if presses == 1 else "b1d"):
            self._call(KEYS, "GenerateMouseEvent", "iis", (*at, kind))

    def type(self, text: str) -> None:
        """Type by the keys that each sign is on. For one that is on none the registry gives a key another meaning for
        a moment, which is over before a busy program has looked what the key means.
        """
        for letter in text:
            sign = WITH_SHIFT.get(letter, letter.lower())
            codes = [CODES["Shift"]] * (sign != letter) + [CODES[sign]] if sign in CODES else []
            if not codes:
                self._key(0, letter, TEXT)
            for code in codes:
                self._key(code, "", PRESS)
            for code in reversed(codes):
                self._key(code, "", RELEASE)

    def _key(self, code: int, text: str, kind: int) -> None:
        self._call(KEYS, "GenerateKeyboardEvent", "isu", (code, text, kind))

    def focus_after(self, keys: str) -> Seen:
        """Press keys; return what has the focus when it has settled."""
        self.listen()
        self.events.clear()
        self.press(keys)
        self.wait(self.focused, f"a focus after {keys}")
        self.listen(0.03)
        return self.look(self.focused()[-1])


# A window that was only just made cannot take the keyboard yet, and one that goes no more.
_NEVER_MIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda _display, _error: 0)


class Screen:
    """An X server without a window manager, which is made up for here."""

    def __init__(self, display: str) -> None:
        self._x11 = ctypes.CDLL("libX11.so.6")
        self._x11.XSetErrorHandler(_NEVER_MIND)
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self._connection = ctypes.c_void_p(self._x11.XOpenDisplay(display.encode()))
        assert self._connection, f"nothing answers at the screen {display}"  # what follows would end the process

    def close(self) -> None:
        self._x11.XCloseDisplay(self._connection)

    def activate_window(self) -> None:
        """Give the keyboard to the largest window where none has it, as a window manager would."""
        x11, connection = self._x11, self._connection
        root = ctypes.c_ulong(x11.XDefaultRootWindow(connection))
        focused, after = ctypes.c_ulong(), ctypes.c_int()
        x11.XGetInputFocus(connection, ctypes.byref(focused), ctypes.byref(after))
        if focused.value not in (0, 1, root.value):
            return
        above, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        windows = ctypes.POINTER(ctypes.c_ulong)()
        x11.XQueryTree(
            *(connection, root, ctypes.byref(above), ctypes.byref(parent), ctypes.byref(windows), ctypes.byref(count))
        )
        sizes = {}
        for window in windows[: count.value]:
            x, y = ctypes.c_int(), ctypes.c_int()
            width, height, border, depth = (ctypes.c_uint() for _ in range(4))
            places = (ctypes.byref(each) for each in (above, x, y, width, height, border, depth))
            x11.XGetGeometry(connection, ctypes.c_ulong(window), *places)
            sizes[window] = width.value * height.value
        largest = max(sizes, key=lambda window: sizes[window], default=root.value)
        x11.XSetInputFocus(connection, ctypes.c_ulong(largest), 2, ctypes.c_ulong(0))  # 2: back to its parent
        x11.XSync(connection, 0)


_screens = itertools.count()


@contextmanager
def desktop() -> Iterator[tuple[dict[str, str], str]]:
    """Start a screen and the buses; yields what programs on it need in their environment, and the bus of readers."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rialto-atspi-"))
        reading, writing = os.pipe()
        # Two servers that look for a free number at the same moment can take one away from each other.
        own = f":{1000 + os.getpid() % 5000 * 8 + next(_screens) % 8}"
        command = ["Xvfb", own, "-displayfd", str(writing), "-screen", "0", "1440x900x24"]
        screen = stack.enter_context(_started(command, pass_fds=(writing,)))
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        assert screen.poll() is None
        home = Path(folder) / "home"
        (home / "rialto").mkdir(parents=True)  # Qt's file dialogs begin in it, and show what is not hidden
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
            "HOME": str(home),
            "DISPLAY": f":{number}",
            "XDG_RUNTIME_DIR": folder,
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
        config = Path(folder) / "session.conf"
        config.write_text(SESSION, "utf-8")
        bus = stack.enter_context(
            _started(
                ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1"],
                env=environment,
                stdout=subprocess.PIPE,
            )
        )
        assert bus.stdout is not None
        environment["DBUS_SESSION_BUS_ADDRESS"] = address = bus.stdout.readline().decode().strip()
        stack.enter_context(_started([str(LAUNCHER), "--launch-immediately"], env=environment))
        yield environment, _readers_bus(address)


@contextmanager
def _started(command: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how}
    with subprocess.Popen(command, **how) as process:
        try:
            yield process
        finally:
            process.terminate()


def _readers_bus(session: str) -> str:
    with open_dbus_connection(session) as connection:
        launcher = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
        for _ in range(600):
            reply = connection.send_and_get_reply(new_method_call(launcher, "GetAddress"), timeout=PATIENCE_S)
            if reply.header.message_type is MessageType.method_return:
                return str(reply.body[0])
            time.sleep(0.1)
    raise AssertionError("no accessibility bus")


@contextmanager
def program(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start Rialto on such a desktop."""
    command = [sys.executable, "-m", "app", *arguments]
    with _started(command, env=environment, cwd=ROOT) as process:
        yield process
