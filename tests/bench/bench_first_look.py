"""P4, the first look at each tab: how long the interface is held up by it, and by the building ahead of it.

The whole program runs in this process with the Sandbox's data folder, and its bytecode compiled, as installed programs
have it. Somebody comes near the rail and does nothing until every tab was built ahead, then every tab is looked at
once. What is measured is the longest turn of the event loop in processor time of the UI thread: a neighbor's load on
the machine does not count, and neither does waiting for it.
"""

import asyncio
import time
from functools import partial

from PySide6.QtCore import QTimer

from app.bootstrap.rialto import Rialto
from tests.bench.harness import Ratio
from tests.bench.whole_program import run_with

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


async def look(rialto: Rialto, worst: dict[str, float], titles: dict[str, str]) -> None:
    """Wait until the tabs were built ahead, look at each, write the worst turns into `worst` and close the window."""
    window, turns = rialto.window, Turns()
    names = [name for name in window.tab_names() if name != "chat"]
    titles.update((name, window.title_of(name)) for name in names)
    try:
        while rialto.database is None:
            await asyncio.sleep(0.05)
        await asyncio.sleep(LOOK_S)  # the start itself is another bench's
        turns.begin()
        window.expect_tab()
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
    worst: dict[str, float] = {}
    titles: dict[str, str] = {}
    run_with(partial(look, worst=worst, titles=titles))
    return [
        Ratio("P4", "longest turn while tabs are built ahead", worst.pop("building"), PIECE_LIMIT_MS, BASELINE, "ms"),
        *(
            Ratio("P4", f"longest turn at the first look at {titles[name]}", taken, SWITCH_LIMIT_MS, BASELINE, "ms")
            for name, taken in worst.items()
        ),
    ]
