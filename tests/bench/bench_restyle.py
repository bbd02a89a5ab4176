"""P12: a change of theme or text size, with every tab built and a long chat open.

The whole program runs in this process. What is measured is the processor time of the process from the key press until
the window has come to rest, and how long twelve presses in a row take beside one.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto
from app.ui.conversation.rows import MessageRow
from tests.bench.harness import Ratio
from tests.bench.whole_program import run_with

LIMIT_MS = 250.0
ROUNDS = 5
MESSAGES = 800
PATIENCE_S = 900.0
BASELINE = "stated goal"
ANSWER = "Some words with **weight**, `code` and a list:\n\n- one\n- two\n\n```python\nprint('hello')\n```\n"


async def measure(rialto: Rialto, taken: dict[str, float]) -> None:
    """Build every tab, open a long chat, change the theme and the text size; write processor time in ms."""
    window = rialto.window
    try:
        async with asyncio.timeout(PATIENCE_S):
            while rialto.database is None or rialto.chat.library is None:
                await asyncio.sleep(0.05)
            for name in window.tab_names():
                window.show_tab(name)
                await asyncio.sleep(0.5)
            window.show_tab("chat")
            rows = [
                MessageRow(f"m{n}", "user" if n % 2 == 0 else "assistant", ANSWER if n % 2 else "A question?")
                for n in range(MESSAGES)
            ]
            rialto.chat_page.main.view.set_messages(rows)
            await rest()
            idle = await cost(lambda: None)
            theme, larger, twelve = [], [], []
            for _ in range(ROUNDS):
                theme.append(await cost(window.next_theme))
                larger.append(await cost(lambda: window.change_text_size(1)))
                twelve.append(await cost(lambda: [window.change_text_size(step) for step in (1, -1) * 6]))
            middle = ROUNDS // 2
            taken["theme"] = sorted(theme)[middle] - idle
            taken["size"] = sorted(larger)[middle] - idle
            taken["twelve"] = sorted(twelve)[middle] - idle
            taken["widgets"] = len(QApplication.allWidgets())
            taken["tab"] = 0.0
            for name in window.tab_names():
                taken["tab"] = max(taken["tab"], await cost(lambda name=name: window.show_tab(name)) - idle)  # type: ignore[misc]
    finally:
        window.close()


async def rest() -> None:
    """Wait until the event loop has nothing to do but wait, for half a second of processor silence."""
    while True:
        before = time.process_time()
        await asyncio.sleep(0.5)
        if time.process_time() - before < 0.02:
            return


async def cost(work: Callable[[], object]) -> float:
    """Return ms of processor time from `work` until the window rests."""
    begun = time.process_time()
    work()
    await asyncio.sleep(0.3)
    await rest()
    return (time.process_time() - begun) * 1000


def main() -> list[Ratio]:
    taken: dict[str, float] = {}
    run_with(partial(measure, taken=taken))
    return [
        Ratio("P12", "a change of theme", taken["theme"], LIMIT_MS, BASELINE, "ms", f"{taken['widgets']:.0f} widgets"),
        Ratio("P12", "a change of text size", taken["size"], LIMIT_MS, BASELINE, "ms"),
        Ratio("P12", "twelve changes of text size at once", taken["twelve"], LIMIT_MS, BASELINE, "ms"),
        Ratio("P12", "the first look at a tab after a change", taken["tab"], LIMIT_MS, BASELINE, "ms"),
    ]
