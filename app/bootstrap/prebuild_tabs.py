"""Builds the tabs that have not been shown yet, once the person comes near one of them.

Their modules are imported one by one and their pages are built in pieces, so that neither the first look at a tab nor
a keystroke meanwhile has to wait. A tab that is only ready asks nobody for anything: it begins when it is wanted. All
of it happens in the window's own thread, but for libraries that know nothing of Qt: PySide ends the process now and
then when two threads make its classes at the same time.
"""

from __future__ import annotations

import asyncio
import dis
import gc
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from importlib.abc import InspectLoader
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QWindow

from app.bootstrap.tabs import RAIL
from app.ui.kit.markdown.parser import parser
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from app.storage.database import Database

SETTLE_S = 1.0  # the start itself comes first
LOOK_S = 0.05  # between two looks at what the person comes near
QUIET_S = 0.5  # so long after the last key, click or turn of the wheel
PIECE_PAUSE_S = 0.01  # between two pieces, for whatever else the event loop has to do
QT = "PySide6"
_INPUT = frozenset(
    (
        QEvent.Type.KeyPress,
        QEvent.Type.KeyRelease,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseMove,
        QEvent.Type.Wheel,
        QEvent.Type.TouchUpdate,
        QEvent.Type.Resize,
    )
)


class IdleDetector(QObject):
    """Knows when the person last did something in a window. `close` it when that is of no more interest."""

    def __init__(self, window: QWindow) -> None:
        super().__init__()
        self._window = window
        self._last = monotonic()
        window.installEventFilter(self)

    def close(self) -> None:
        if alive(self._window):
            self._window.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _INPUT:
            self._last = monotonic()
        return False

    async def come(self, unless: Callable[[], object]) -> None:
        """Return when nothing has been done for a while, or `unless` is so."""
        while (rest := self._last + QUIET_S - monotonic()) > 0 and not unless():  # noqa: ASYNC110 - the lack of events
            await asyncio.sleep(min(rest, LOOK_S))


# What the first message needs besides the parser.
ANSWERS = ("app.ui.chat.composer_controller", "app.ui.conversation.layout", "app.ui.kit.markdown.renderer")


class Module(NamedTuple):
    """What is to be imported. One that does not know Qt, by others either, may be imported in a thread."""

    name: str
    knows_qt: bool


def _modules_of(tab: str, know_qt: dict[str, bool]) -> list[Module]:
    """The modules of a tab, its dialogs left out: they are loaded when they are opened.

    `know_qt` is what was found out so far about modules; it is added to.
    """
    package = importlib.import_module(f"app.ui.{tab}")
    names = sorted(found.name for found in pkgutil.walk_packages(package.__path__, f"app.ui.{tab}."))
    wanted = [name for name in names if not name.endswith(("_dialog", "_dialogs"))]
    wanted.append(f"app.bootstrap.{tab}_tab")
    if all(name in sys.modules for name in wanted):
        return []  # and so is what they need
    return _one_by_one(wanted, know_qt)


def _one_by_one(names: Sequence[str], know_qt: dict[str, bool]) -> list[Module]:
    """Put modules behind those that they need, which are named too: no import has to take others along."""
    order: list[Module] = []

    def visit(name: str) -> bool:
        if name not in know_qt:
            know_qt[name] = False  # whatever needs itself again
            with_qt = [visit(needed) for needed in _needed_by(name)]  # all are visited, whatever the first is
            know_qt[name] = any(with_qt)
            if name not in sys.modules:
                order.append(Module(name, know_qt[name]))
        return know_qt[name]

    for name in names:
        visit(name)
    return order


def _needed_by(module: str) -> Iterator[str]:
    """Name what a module imports of the program and of Qt when it is run, read from its code; not what types need."""
    spec = importlib.util.find_spec(module)
    code = spec.loader.get_code(module) if spec is not None and isinstance(spec.loader, InspectLoader) else None
    if code is None:
        return
    is_for_types, skipped_to = False, 0
    wanted: tuple[object, ...] = ()
    for step in dis.get_instructions(code):
        if step.offset < skipped_to:
            continue
        if step.argval == "TYPE_CHECKING":
            is_for_types = step.opname == "LOAD_NAME"
        elif is_for_types and "JUMP_IF_FALSE" in step.opname.replace("FORWARD_", ""):
            is_for_types, skipped_to = False, step.argval
        elif step.opname == "LOAD_CONST" and isinstance(step.argval, tuple):
            wanted = step.argval
        elif step.opname == "IMPORT_NAME" and str(step.argval).startswith(QT):
            yield QT
        elif step.opname == "IMPORT_NAME" and str(step.argval).startswith("app."):
            yield step.argval
            yield from (name for name in (f"{step.argval}.{word}" for word in wanted) if _is_module(name))


def _is_module(name: str) -> bool:
    package = sys.modules.get(name.rpartition(".")[0])
    return package is not None and hasattr(package, "__path__") and importlib.util.find_spec(name) is not None


async def with_work(database: Database) -> list[str]:
    """Name the tabs that have something to continue: a video still to come, a recording that a kill cut off."""
    return [tab.info.name for tab in RAIL if tab.has_work is not None and await tab.has_work(database)]


class LikelyTabs(QObject):
    """Knows which tabs the person may look at in a moment."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._names: list[str] = []  # the newest last; "": any
        self._has_come = asyncio.Event()
        window.tab_expected.connect(self._add)
        window.tab_frames.wanted.connect(self._add)
        if window.expected_tab is not None:
            self._add(window.expected_tab)
        if any(window.tab_frames.is_wanted(tab.info.name) for tab in RAIL):
            self._has_come.set()

    def _add(self, name: str) -> None:
        self._names.append(name)
        self._has_come.set()

    async def come(self) -> None:
        """Return when there is one."""
        await self._has_come.wait()

    def newest_of(self, names: Sequence[str]) -> str:
        """Return which of `names` was approached last, "" for none."""
        return next((name for name in reversed(self._names) if name in names), "")


async def _load(module: Module) -> None:
    if module.knows_qt:
        importlib.import_module(module.name)
    else:
        await asyncio.to_thread(importlib.import_module, module.name)


async def _pieces(window: MainWindow, name: str, know_qt: dict[str, bool]) -> AsyncIterator[None]:
    """Build a tab, one module or one piece of its page at a time."""
    frames = window.tab_frames
    for module in await asyncio.to_thread(_modules_of, name, know_qt):
        if frames.is_wanted(name):
            return  # somebody looks at it: what was left is there
        await _load(module)
        yield
    while frames.build_some(name):
        yield


async def make_ready(window: MainWindow, needed: Sequence[str] = ()) -> None:
    """Load what the first message needs, which would hold the window between the key and the message, then build tabs.

    The `needed` ones are built at once and begin, too; the others once the person comes near one of them: who only
    chats never has them in memory. The tab that was approached last comes first and does not wait for quiet.
    """
    expected, quiet = LikelyTabs(window), IdleDetector(window.windowHandle())
    know_qt = {QT: True}
    begun: dict[str, AsyncIterator[None]] = {}
    left = [tab.info.name for tab in RAIL]
    try:
        await asyncio.sleep(0 if needed else SETTLE_S)
        await asyncio.to_thread(parser)
        for module in await asyncio.to_thread(_one_by_one, ANSWERS, know_qt):
            await _load(module)
            await asyncio.sleep(PIECE_PAUSE_S)
        while left:
            name = next((each for each in needed if each in left), "") or expected.newest_of(left)
            pause_s = 0.0 if name else PIECE_PAUSE_S
            if not name:
                await expected.come()
                await quiet.come(unless=lambda: expected.newest_of(left))
                name = expected.newest_of(left) or left[0]
            pieces = begun.setdefault(name, _pieces(window, name, know_qt))
            if await anext(pieces, True):
                left.remove(name)
                if name in needed:
                    window.tab(name)
                if not window.tab_frames.is_wanted(name):
                    window.theme.forget_rules()
            await asyncio.sleep(pause_s)
    finally:
        quiet.close()
    gc.freeze()  # tabs live as long as the program: no collection need look at them
