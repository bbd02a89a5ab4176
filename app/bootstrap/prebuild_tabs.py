"""Builds the tabs that have not been shown yet while the person is idle.

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
from collections.abc import Iterator, Sequence
from importlib.abc import InspectLoader
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QWindow

from app.bootstrap.tabs import RAIL
from app.ui.kit.qt_repairs.alive import alive
from app.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from app.storage.database import Database

SETTLE_S = 1.0  # the start itself comes first
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


class Quiet(QObject):
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

    async def come(self) -> None:
        """Return when nothing has been done for a while."""
        while (rest := self._last + QUIET_S - monotonic()) > 0:  # noqa: ASYNC110 - the lack of events is awaited
            await asyncio.sleep(rest)


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


async def make_ready(window: MainWindow, needed: Sequence[str] = ()) -> None:
    """Build every tab ahead, one after the other; the `needed` ones come first and begin at once."""
    names = [tab.info.name for tab in RAIL]
    quiet = Quiet(window.windowHandle())
    know_qt = {QT: True}
    try:
        await asyncio.sleep(0 if needed else SETTLE_S)
        for name in (*needed, *(name for name in names if name not in needed)):
            if window.tab_frames.is_wanted(name):
                continue
            if name not in needed:
                await quiet.come()
            for module in await asyncio.to_thread(_modules_of, name, know_qt):
                if window.tab_frames.is_wanted(name):
                    break  # somebody looks at it: what is left is imported at once
                if module.knows_qt:
                    importlib.import_module(module.name)
                else:
                    await asyncio.to_thread(importlib.import_module, module.name)
                await asyncio.sleep(PIECE_PAUSE_S)
                if name not in needed:
                    await quiet.come()
            while window.tab_frames.build_some(name):
                await asyncio.sleep(PIECE_PAUSE_S)
                if name not in needed:
                    await quiet.come()
            if name in needed:
                window.tab(name)
            window.theme.forget_rules()
    finally:
        quiet.close()
    gc.freeze()  # tabs live as long as the program: no collection need look at them
