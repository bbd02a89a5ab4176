"""P4: nothing stalls while 20,000 tokens arrive as fast as the loop takes them and a person types and scrolls.

Beside the message view stands a plain text field that is fed by the same stream, typed beside and scrolled in the same
way, in the same minute; and the machine with nothing to do. What a neighbor takes of the processor falls on all three
alike. The processor time between two beats is ours alone, whatever else runs.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from PySide6.QtCore import QElapsedTimer, QEvent, QEventLoop, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from app.ui.conversation.rows import MessageRow
from app.ui.conversation.stream import FLUSH_MS
from app.ui.kit.qt_workarounds.garbage_collector import UiThreadGarbageCollector
from app.ui.kit.theme import Theme
from tests.bench.bench_message_view import LONG, close, messages, open_view, stream, turn
from tests.bench.harness import MIN_RUNS, Ratio, percentile

BEAT_MS = 5
IDLE_MS = 1000
READ = 40  # tokens: one read from the network
P99_MS, WORST_MS = 8.0, 16.0


class Heart:
    """Beats every 5 ms and writes down how late each beat was, and what the time since the last one cost."""

    def __init__(self) -> None:
        self.late_ms: list[float] = []
        self.busy_ms: list[float] = []  # of the processor
        self.all_busy_ms: list[float] = []  # the same with every other thread
        self._clock = QElapsedTimer()
        self._cpu_s = self._all_cpu_s = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        self._cpu_s, self._all_cpu_s = time.thread_time(), time.process_time()
        self._clock.start()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _beat(self) -> None:
        self.late_ms.append(max(0.0, self._clock.nsecsElapsed() / 1e6 - BEAT_MS))
        now_s, all_now_s = time.thread_time(), time.process_time()
        self.busy_ms.append((now_s - self._cpu_s) * 1000)
        self.all_busy_ms.append((all_now_s - self._all_cpu_s) * 1000)
        self._cpu_s, self._all_cpu_s = now_s, all_now_s
        self._clock.restart()


@dataclass(frozen=True, slots=True)
class Shown:
    """Something that text arrives in. `is_done` is asked after the last text whether all of it is on screen."""

    take: Callable[[Sequence[str]], None]  # tokens
    end: Callable[[], None]
    scroll: Callable[[int], None]  # which of the person's movements it is
    is_done: Callable[[], bool]


def beats(shown: Shown, read: int = READ) -> Heart:
    """Let the tokens arrive in it, `read` in one turn, and a person type beside it and scroll it."""
    field = QPlainTextEdit()
    field.resize(600, 80)
    field.show()
    QApplication.processEvents()
    feed = stream(LONG)
    heart, loop = Heart(), QEventLoop()
    hands = 0

    def arrive() -> None:
        tokens = tuple(islice(feed, read))
        if tokens:
            shown.take(tokens)
            QTimer.singleShot(1, arrive)
        else:
            shown.end()

    def use() -> None:
        nonlocal hands
        hands += 1
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            key = QKeyEvent(kind, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
            QApplication.sendEvent(field, key)
        shown.scroll(hands)

    def look() -> None:
        if shown.is_done():
            loop.quit()

    timers = []
    for interval, call in ((60, use), (100, look)):
        timer = QTimer()
        timer.setInterval(interval)
        timer.timeout.connect(call)
        timer.start()
        timers.append(timer)
    gc.collect()
    collector = UiThreadGarbageCollector()  # as in the program
    heart.start()
    QTimer.singleShot(0, arrive)
    loop.exec()
    heart.stop()
    collector.close()
    for timer in timers:
        timer.stop()
    field.deleteLater()
    return heart


def our_beats(theme: Theme, arrived: Callable[[Sequence[str]], str] = "".join, read: int = READ) -> Heart:
    """`arrived` is the way of tokens to a text."""
    view = open_view(theme, [*messages(20), MessageRow("live", "assistant", citations=True, state="streaming")])

    def scroll(hands: int) -> None:
        if hands % 8 in (0, 1, 2):
            turn(view, 120)
        elif hands % 8 == 4:
            view.scroll_to_end()

    def is_done() -> bool:
        return view.row("live").state != "streaming" and not any(model.backlog for model in view.stack.known_models())

    def take(tokens: Sequence[str]) -> None:
        view.append_text("live", arrived(tokens))

    heart = beats(Shown(take, lambda: view.end_stream("live"), scroll, is_done), read)
    close(view)
    return heart


def plain_beats() -> Heart:
    """The same with a plain text field, shown as often as the message view shows: the least that Qt can do."""
    field = QPlainTextEdit()
    field.setReadOnly(True)
    field.setUndoRedoEnabled(False)
    field.resize(900, 800)
    field.show()
    bar = field.verticalScrollBar()
    waiting: list[str] = []
    ended = False

    def show_it() -> None:
        if waiting:
            at_end = bar.value() == bar.maximum()
            cursor = field.textCursor()
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText("".join(waiting))
            waiting.clear()
            if at_end:
                bar.setValue(bar.maximum())

    def end() -> None:
        nonlocal ended
        ended = True

    def scroll(hands: int) -> None:
        if hands % 8 in (0, 1, 2):
            bar.setValue(bar.value() - 3)
        elif hands % 8 == 4:
            bar.setValue(bar.maximum())

    flush = QTimer()
    flush.setInterval(FLUSH_MS)
    flush.timeout.connect(show_it)
    flush.start()
    heart = beats(Shown(waiting.extend, end, scroll, lambda: ended and not waiting))
    flush.stop()
    field.hide()
    field.deleteLater()
    return heart


def idle_beats() -> Heart:
    """How late the beats are while nothing is done: what the machine itself costs."""
    heart, loop = Heart(), QEventLoop()
    heart.start()
    QTimer.singleShot(IDLE_MS, loop.quit)
    loop.exec()
    heart.stop()
    return heart


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.apply(qt_app)
    our_beats(theme)  # imports, fonts, the lexer of its code
    ours, plain, idle = [], [], []
    for _ in range(MIN_RUNS):
        idle.append(idle_beats().late_ms)
        plain.append(plain_beats().late_ms)
        ours.append(our_beats(theme))
    found = []
    for name, share, limit in (("p99", 0.99, P99_MS), ("worst", 1.0, WORST_MS)):
        late = sorted(percentile(heart.late_ms, share) for heart in ours)
        busy = sorted(percentile(heart.busy_ms, share) for heart in ours)
        fields = sorted(percentile(run, share) for run in plain)
        alone = sorted(percentile(run, share) for run in idle)
        middle = MIN_RUNS // 2
        detail = ", ".join(f"{each:.1f}" for each in late)
        detail += f"; a plain text field {fields[middle]:.1f}; with nothing to do {alone[middle]:.1f}"
        detail += f"; processor between two beats {busy[middle]:.1f}"
        against = f"median of {MIN_RUNS} runs of {len(ours[0].late_ms)} beats"
        what = f"stall while 20,000 tokens arrive: {name}"
        found.append(Ratio("P4", what, late[middle], limit, against, "ms", detail))
    return found
