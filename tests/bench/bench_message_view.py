"""P2 (the suite's half), P3, P5: the message view, streaming and opened, against itself and against plain text.

The text is one section of Markdown with everything that an answer has (headings, lists, a table, code, citations,
formulas, tasks, a footnote) over and over, so that what is measured at the 1,000th and at the 20,000th token is the
same text. A frame is what the person would see at 30 images a second.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QPoint, QPointF, Qt
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from app.ui.conversation.rows import MessageRow
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.bench.harness import Ratio, against, medians, percentile

ROOT = Path(__file__).resolve().parents[2]
TOKENS_A_FRAME = 3  # about 100 a second at 30 images a second
LONG = 20_000  # tokens
MESSAGES = 5_000
SECTION = """## Waiting for the reset

When the service answers **429** it says when the window ends, so a blind wait is wrong while that is known.[REF]0[/REF]
Use the *reset* when there is one, and `full jitter` when there is none. Every client picks a random point inside the
window, not its end, and so they do not all come back in the same moment.

1. Give the whole upload a **retry budget**: over 20 failures in 30 s block the caller for another 30 s.[REF]1[/REF]
2. Retry only `429`, `500` and `503`. A `400` will fail the same way again, however often it is sent.
3. Write down what was sent before it is sent, so that a crash between two tries loses nothing that matters.

| Answer | Wait | Try again |
|:--|--:|---|
| 429 | until the reset | yes |
| 500, 503 | 1, 2, 4, 8, 16 s with jitter | yes, five times |
| 400 | none | no, the request itself is at fault |

```python
def next_delay(attempt: int, headers: Mapping[str, str]) -> float:
    reset = headers.get("x-ratelimit-reset-requests")
    if reset is not None:
        return max(0.0, float(reset) - time.time()) + random.uniform(0, 0.25)
    return random.uniform(0, min(60.0, 0.5 * 2**attempt))
```

With a rate of $r$ calls and a window of $w$ seconds a client waits for $\\frac{w}{2r}$ seconds on average, and how much
longer a single one may wait is not worth a second thought as long as the window itself is short enough.[^load]

$$
\\sigma = \\sqrt{\\frac{w^2}{12}}
$$

- [x] Read the reset from the answer's header before anything is tried again, whatever the status of the answer was.
- [ ] Try the jitter with as many clients as there will be on the busiest day of the year, not with the two on the desk.

[^load]: Measured with a load that was made by hand, over a whole day, and not with what happened to come last week.

The rest is a matter of taste. A person who watches the window wants to know that something is being done, and when it
will be done; a countdown says both. Nothing else on the screen should move while it runs, and nothing should be lost
when it is stopped half-way, neither the text that was typed nor the part of the answer that has come already.

"""


def tokens_of(text: str) -> list[str]:
    """Cut a text as models do: words with the space before them, long ones in two."""
    found: list[str] = []
    word = ""
    for character in text:
        if character in " \n" or len(word) >= 7:
            found.append(word)
            word = ""
        word += character
    return [token for token in (*found, word) if token]


TOKENS = tokens_of(SECTION)


def stream(count: int) -> Iterator[str]:
    return islice(cycle(TOKENS), count)


def whole_sections(tokens: int) -> str:
    """Return as many whole sections as make about `tokens` tokens."""
    return SECTION * max(1, round(tokens / len(TOKENS)))


def messages(count: int) -> list[MessageRow]:
    rows = []
    for number in range(count):
        if number % 2 == 0:
            rows.append(MessageRow(str(number), "user", f"Question {number}: what should a client do after a refusal?"))
        else:
            start = (number * 37) % (len(SECTION) // 2)
            rows.append(MessageRow(str(number), "assistant", SECTION[start : start + 900]))
    return rows


def open_view(theme: Theme, rows: list[MessageRow]) -> MessageView:
    view = MessageView(theme)
    view.resize(900, 800)
    view.set_messages(rows)
    view.show()
    QApplication.processEvents()
    return view


def drain(view: MessageView) -> None:
    """Let the view show everything that it was given."""
    while any(model.backlog for model in view.stack.known_models()) or not view.highlighter.is_idle:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
    QApplication.processEvents()


# -- P2, P3: what a token costs ---------------------------------------------------------------------------------------


def streaming_view(theme: Theme, before: int, rows: list[MessageRow]) -> MessageView:
    """Return a view in which an answer of `before` tokens is still being written, below `rows`."""
    start = MessageRow("live", "assistant", whole_sections(before), citations=True, state="streaming")
    view = open_view(theme, [*rows, start])
    drain(view)
    return view


def section_cost_s(view: MessageView, arrived: Callable[[Sequence[str]], str] = "".join) -> float:
    """Stream two more sections image by image; return seconds of processor time for each token.

    `arrived` is the way of tokens to a text, which counts.
    """
    gc.collect()
    begun = time.process_time()
    for _ in range(2):
        for at in range(0, len(TOKENS), TOKENS_A_FRAME):
            view.append_text("live", arrived(TOKENS[at : at + TOKENS_A_FRAME]))
            view.stream.flush()
            QApplication.processEvents()
    return (time.process_time() - begun) / (2 * len(TOKENS))


def plain_cost_s(tokens: int) -> float:
    """Stream the same text into a plain text field that shows its end; the floor of what Qt can do."""
    field = QPlainTextEdit()
    field.setReadOnly(True)
    field.resize(900, 800)
    field.setUndoRedoEnabled(False)
    field.show()
    QApplication.processEvents()
    feed = list(stream(tokens))
    gc.collect()
    begun = time.process_time()
    for at in range(0, len(feed), TOKENS_A_FRAME):
        cursor = field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText("".join(feed[at : at + TOKENS_A_FRAME]))
        field.verticalScrollBar().setValue(field.verticalScrollBar().maximum())
        QApplication.processEvents()
    took = time.process_time() - begun
    field.deleteLater()
    return took / len(feed)


def our_cost_s(theme: Theme, tokens: int) -> float:
    """The same through the message view, every image of it."""
    view = open_view(theme, [MessageRow("live", "assistant", citations=True, state="streaming")])
    feed = list(stream(tokens))
    gc.collect()
    begun = time.process_time()
    for at in range(0, len(feed), TOKENS_A_FRAME):
        view.append_text("live", "".join(feed[at : at + TOKENS_A_FRAME]))
        view.stream.flush()
        QApplication.processEvents()
    took = time.process_time() - begun
    close(view)
    return took / len(feed)


def close(view: MessageView) -> None:
    view.hide()
    view.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


# -- P5: a long chat --------------------------------------------------------------------------------------------------


def turn(view: MessageView, angle: int) -> None:
    """Turn the mouse wheel over the view."""
    at = QPointF(view.viewport().rect().center())
    where = QPointF(view.viewport().mapToGlobal(at.toPoint()))
    wheel = QWheelEvent(
        at,
        where,
        QPoint(),
        QPoint(0, angle),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), wheel)


def timed_ms(view: MessageView, work: Callable[[], object]) -> float:
    """Return how long `work` and the paint that it asks for take, in however many turns of the loop."""
    begun = time.perf_counter()
    work()
    QApplication.processEvents()
    while not view.is_settled:
        QApplication.processEvents()
    return (time.perf_counter() - begun) * 1000


def opening_ms(theme: Theme, rows: list[MessageRow]) -> float:
    view = open_view(theme, [])
    took = timed_ms(view, lambda: view.set_messages(rows))
    close(view)
    return took


def scroll_ms(theme: Theme, rows: list[MessageRow]) -> float:
    """Return what nine of ten wheel notches through fresh text stay below."""
    view = open_view(theme, rows)
    drain(view)
    steps = [timed_ms(view, lambda: turn(view, 120)) for _ in range(200)]
    close(view)
    return percentile(steps, 0.9)


def resize_ms(theme: Theme, rows: list[MessageRow]) -> float:
    view = open_view(theme, rows)
    drain(view)
    view.scroll_px(-20_000)
    widths = [700 - 13 * number for number in range(12)]
    steps = [timed_ms(view, lambda width=width: view.resize(width, 800)) for width in widths]  # type: ignore[misc]  # bound
    close(view)
    return percentile(steps, 0.9)


def memory_mb(count: int) -> float:
    """Return the memory of a process that has a chat of `count` messages open and has scrolled through it a little."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.bench.bench_message_view", "memory", str(count)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(ended.stdout.splitlines()[-1]))


def _own_memory(count: int) -> None:
    import psutil

    import app.ui.conversation.layout  # noqa: F401  # what the program has loaded once any chat was open
    from app.ui.kit import icons
    from app.ui.kit.markdown.code import color_lines
    from app.ui.kit.markdown.parser import parser

    qt_app = QApplication([])
    theme = Theme()
    theme.apply(qt_app)
    parser()
    color_lines("", "python")
    icons.pixmap(theme, "copy", 15)
    view = open_view(theme, messages(count) if count else [])
    for _ in range(60):
        view.scroll_px(-400)
        QApplication.processEvents()
    gc.collect()
    print(json.dumps(psutil.Process().memory_info().rss / 1e6), flush=True)


# -- all of it --------------------------------------------------------------------------------------------------------


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.apply(qt_app)
    rows = messages(MESSAGES)
    found = [
        against(
            "P2",
            "a streamed token, every picture painted: processor",
            lambda: our_cost_s(theme, 2000),
            lambda: plain_cost_s(2000),
            limit=1.6,
            baseline="plain text append",
            unit="µs",
            scale=1e6,
        )
    ]
    short, long, below = (
        streaming_view(theme, 1000, []),
        streaming_view(theme, LONG, []),
        streaming_view(theme, 1000, rows),
    )
    at_1k, at_20k, under = medians(
        lambda: section_cost_s(short), lambda: section_cost_s(long), lambda: section_cost_s(below)
    )
    for view in (short, long, below):
        close(view)
    for name, cost, baseline in (
        ("a token at 20,000 tokens", at_20k, "at 1,000 tokens"),
        ("a token under 5,000 messages", under, "under none"),
    ):
        detail = f"{cost * 1e6:.0f} µs against {at_1k * 1e6:.0f} µs"
        found.append(Ratio("P3", name, cost / at_1k, 1.15, baseline, detail=detail))
    opening, scrolling, resizing = medians(
        lambda: opening_ms(theme, rows), lambda: scroll_ms(theme, rows), lambda: resize_ms(theme, rows)
    )
    for name, value, limit in (
        ("opening 5,000 messages, painted", opening, 50.0),
        ("a scroll step there (p90)", scrolling, 4.0),
        ("a resize there (p90)", resizing, 16.0),
    ):
        found.append(Ratio("P5", name, value, limit, "absolute", "ms"))
    full, empty = medians(lambda: memory_mb(MESSAGES), lambda: memory_mb(0), warm_up=0)
    detail = f"{full:.0f} MB against {empty:.0f} MB"
    found.append(Ratio("P5", "memory with 5,000 messages", full / empty, 1.3, "an empty chat", detail=detail))
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        _own_memory(int(sys.argv[2]))
