"""P4, the first look at each tab: how long the interface is held up by it, and by the building ahead of it.

The whole program runs in this process with the Sandbox's data folder, and its bytecode compiled, as installed programs
have it. It is left alone until every tab was built ahead, then every tab is looked at once. What is measured is the
longest turn of the event loop in processor time of the UI thread: a neighbour's load on the machine does not count, and
neither does waiting for it.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer

from app.bootstrap.rialto import Rialto
from app.bootstrap.start import run
from app.ui.kit.qt_repairs.pyside_features import read_no_sources
from tests.bench.harness import Ratio
from tests.bench.windows import find_bytecode, prepare_home, screen

LOOK_S = 1.5
PATIENCE_S = 60.0
SWITCH_LIMIT_MS = 50.0  # the budget of a change of tab
PIECE_LIMIT_MS = 16.0
BASELINE = "stated goal"


class Turns:
    """Knows how long each turn of the event loop took, in ms of the UI thread."""

    def __init__(self) -> None:
        self._timer = QTimer()
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._note)
        self._last: float | None = None
        self.taken: list[float] = []

    def begin(self) -> None:
        self.taken, self._last = [], None
        self._timer.start()

    def end(self) -> float:
        """Return the longest turn since `begin`."""
        self._timer.stop()
        return max(self.taken)

    def _note(self) -> None:
        now = time.thread_time() * 1000
        if self._last is not None:
            self.taken.append(now - self._last)
        self._last = now


async def look(rialto: Rialto, worst: dict[str, float]) -> None:
    """Wait until the tabs were built ahead, look at each, write the worst turns into `worst` and close the window."""
    window, turns = rialto.window, Turns()
    names = [name for name in window.tab_names() if name != "chat"]
    try:
        while rialto.database is None:
            await asyncio.sleep(0.05)
        await asyncio.sleep(LOOK_S)  # the start itself is another bench's
        turns.begin()
        async with asyncio.timeout(PATIENCE_S):
            while not all(name in window.tab_frames.by_name for name in names):
                await asyncio.sleep(0.1)
        worst["building"] = turns.end()
        for name in names:
            turns.begin()
            await asyncio.sleep(0.05)
            window.show_tab(name)
            await asyncio.sleep(LOOK_S)
            worst[name] = turns.end()
    finally:
        window.close()


def main() -> list[Ratio]:
    read_no_sources()
    find_bytecode()
    worst: dict[str, float] = {}
    titles: dict[str, str] = {}
    go_on = Rialto._go_on

    def go_on_and_look(rialto: Rialto) -> None:
        go_on(rialto)
        titles.update((name, rialto.window.title_of(name)) for name in rialto.window.tab_names())
        rialto.tasks.start("look", look, rialto, worst)

    with tempfile.TemporaryDirectory() as scratch:
        os.environ["RIALTO_HOME"] = scratch
        os.environ["QT_QPA_PLATFORM"] = screen()
        prepare_home(Path(scratch), "sandbox")
        setattr(Rialto, "_go_on", go_on_and_look)  # noqa: B010 - mypy forbids to assign to a method
        sys.argv = ["rialto"]
        if run([]) != 0:
            raise RuntimeError("the program did not end well")
    return [
        Ratio("P4", "longest turn while tabs are built ahead", worst.pop("building"), PIECE_LIMIT_MS, BASELINE, "ms"),
        *(
            Ratio("P4", f"longest turn at the first look at {titles[name]}", taken, SWITCH_LIMIT_MS, BASELINE, "ms")
            for name, taken in worst.items()
        ),
    ]
