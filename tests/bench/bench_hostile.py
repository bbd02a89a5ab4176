"""P4: messages that mean harm, streamed and opened. What one turn of the window's loop costs while they are shown.

Processor time of the window's thread, so that a neighbor's load does not count. The network is held shut all along.
"""

import gc
import socket
import time
from collections.abc import Callable

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from app.ui.conversation.rows import MessageRow
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.bench.harness import Ratio
from tests.ui.hostile_messages import HOSTILE

FRAME_MS = 16.0
OPEN_MS = 50.0  # what P5 gives to the opening of a chat
RUNS = 3  # the least of them: what is seldom is the machine's
CHUNK = 4_000  # characters: what one read from a fast network brings
MOST = 400_000  # characters of one message; a longer one repeats itself
AGAIN_S = 0.05  # nothing to do for so long: everything is shown


def turns_ms(view: MessageView, work: Callable[[], bool]) -> list[float]:
    """Call `work` until it says that it is done, then let the view come to rest; return what each turn cost."""
    taken = []
    goes_on, rested = True, time.perf_counter()
    while goes_on or time.perf_counter() - rested < AGAIN_S:
        begun = time.thread_time()
        if goes_on:
            goes_on = work()
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
        cost = (time.thread_time() - begun) * 1000
        taken.append(cost)
        if goes_on or not view.is_settled or any(model.backlog for model in view.stack.known_models()):
            rested = time.perf_counter()
    return taken


def streamed_ms(theme: Theme, text: str) -> list[float]:
    view = _view(
        theme, [MessageRow("q", "user", "Show me"), MessageRow("a", "assistant", citations=True, state="streaming")]
    )
    at = 0

    def arrive() -> bool:
        nonlocal at
        view.append_text("a", text[at : at + CHUNK])
        at += CHUNK
        if at < len(text):
            return True
        view.end_stream("a")
        return False

    taken = turns_ms(view, arrive)
    _close(view)
    return taken


def opened_ms(theme: Theme, text: str) -> list[float]:
    view = _view(theme, [])
    rows = [MessageRow("q", "user", "Show me"), MessageRow("a", "assistant", text, citations=True)]

    def show() -> bool:
        view.set_messages(rows)
        return False

    taken = turns_ms(view, show)
    _close(view)
    return taken


def longest_ms(measure: Callable[[Theme, str], list[float]], theme: Theme, text: str) -> float:
    found = []
    for _ in range(RUNS):
        gc.collect()
        found.append(max(measure(theme, text)))
    return min(found)


def _view(theme: Theme, rows: list[MessageRow]) -> MessageView:
    view = MessageView(theme)
    view.resize(900, 800)
    view.set_messages(rows)
    view.show()
    QApplication.processEvents()
    return view


def _close(view: MessageView) -> None:
    view.close()
    view.deleteLater()
    QApplication.processEvents()


def _refuse(*args: object, **kwargs: object) -> object:
    raise RuntimeError(f"a message reached for the network: {args}")


def main() -> list[Ratio]:
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme = Theme()
    theme.apply(application)
    reach, socket.socket.connect = socket.socket.connect, _refuse  # type: ignore[method-assign, assignment]  # held shut
    gc.disable()  # the program collects when its loop is idle, see app/ui/kit/qt_workarounds/garbage_collector.py
    found = []
    try:
        for name, measure, limit in (("streamed", streamed_ms, FRAME_MS), ("opened", opened_ms, OPEN_MS)):
            measure(theme, "warm **up** $x$\n\n| a |\n|--|\n| b |")
            longest = {case: longest_ms(measure, theme, text[:MOST]) for case, text in HOSTILE.items()}
            slowest = sorted(longest, key=lambda case: -longest[case])
            over = sum(each > limit for each in longest.values())
            detail = f"{over} over: " + ", ".join(f"{case} {longest[case]:.1f}" for case in slowest[:5])
            against = f"{len(HOSTILE)} messages"
            found.append(
                Ratio("P4", f"hostile, {name}: longest turn", longest[slowest[0]], limit, against, "ms", detail)
            )
    finally:
        gc.enable()
        socket.socket.connect = reach  # type: ignore[method-assign]  # and open again
    return found
