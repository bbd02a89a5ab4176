"""P5 from disk: a chat of 5,000 messages is asked for, and its end is painted; then the rest comes in unnoticed.

The real chat tab on a real database, without a service: from the call that a click on its row makes to the first paint
of the conversation that shows the newest message. `bench_message_view` times the view alone, with its rows in memory.
Beside each figure of the clock stands the processor time of the window's thread: ours alone, whatever else runs.
"""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.core.current_account import CurrentAccount
from app.core.undo import UndoStack
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.settings import SettingsStore
from app.ui.chat.page import ChatPage
from app.ui.chat.presenter import ChatPresenter
from app.ui.kit.qt_workarounds.garbage_collector import UiThreadGarbageCollector
from app.ui.kit.theme import Theme
from tests.bench.bench_message_view import MESSAGES, messages
from tests.bench.harness import Ratio
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until

RUNS = 7
OPEN_MS = 50.0
STALL_MS = 16.0
BEAT_MS = 2
PATIENCE_S = 60.0


class Painted(QObject):
    """Remembers when the conversation was painted with its newest row on screen."""

    def __init__(self, page: ChatPage) -> None:
        super().__init__()
        self._page = page
        self.newest = ""
        self.at: float | None = None
        self.cpu_at = 0.0
        page.main.view.viewport().installEventFilter(self)

    def wait_for(self, newest: str) -> None:
        self.newest, self.at = newest, None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            self.at is None
            and event.type() == QEvent.Type.Paint
            and [row.id for row in self._page._rows[-1:]] == [self.newest]
        ):
            QTimer.singleShot(0, self, self._note)
        return False

    def _note(self) -> None:
        if self.at is None:
            self.at, self.cpu_at = time.perf_counter(), time.thread_time()


class Heartbeat:
    """The longest time between two beats of the UI thread, in seconds, beyond the beat itself, and what one cost."""

    def __init__(self) -> None:
        self._last, self._cpu = time.perf_counter(), time.thread_time()
        self.worst_s = self.busiest_s = 0.0
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def begin(self) -> None:
        self._last, self._cpu = time.perf_counter(), time.thread_time()
        self.worst_s = self.busiest_s = 0.0

    def _beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self.worst_s = max(self.worst_s, now - self._last - BEAT_MS / 1000)
        self.busiest_s = max(self.busiest_s, cpu - self._cpu)
        self._last, self._cpu = now, cpu


async def fill(database: Database) -> None:
    """A long chat and a short one, written as the history keeps them: each message below the one before it."""
    made = 1_700_000_000_000_000
    async with database.transaction(durable=False) as transaction:
        for chat_id, count in (("short", 2), ("long", MESSAGES)):
            await transaction.execute_many(
                "INSERT INTO chats (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)",
                [(chat_id, chat_id.title(), made, made)],
            )
            rows = [
                (f"{chat_id}-{row.id}", chat_id, f"{chat_id}-{n - 1}" if n else None, row.role, row.text, made + n)
                for n, row in enumerate(messages(count))
            ]
            await transaction.execute_many(
                "INSERT INTO messages (id, chat_id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )
            await transaction.execute_many(
                "UPDATE chats SET head_id = ?, message_count = ? WHERE id = ?", [(rows[-1][0], count, chat_id)]
            )


async def measure(theme: Theme, folder: Path) -> list[Ratio]:
    collector = UiThreadGarbageCollector()  # as in the program
    tasks = CheckedTasks()
    presenter = ChatPresenter(CurrentAccount(), SettingsStore(folder / "settings.json"), tasks, UndoStack(tasks))
    page = ChatPage(theme, presenter, tasks)
    page.canvas().resize(900, 800)
    page.canvas().show()
    database = await Database.open(folder / "rialto.db")
    try:
        await fill(database)
        await presenter.start(ChatStore(database))
        painted, beat = Painted(page), Heartbeat()
        opened: list[float] = []
        whole: list[float] = []
        stalls: list[float] = []
        idle: list[float] = []
        work: list[float] = []
        busy: list[float] = []
        for number in range(RUNS + 1):
            painted.wait_for("short-1")
            presenter.open_chat("short")
            await until(lambda: painted.at is not None)
            await asyncio.sleep(0.05)
            painted.wait_for(f"long-{MESSAGES - 1}")
            beat.begin()
            begun, cpu_begun = time.perf_counter(), time.thread_time()
            presenter.open_chat("long")
            await until(lambda: painted.at is not None)
            await until(lambda: presenter.opened.is_whole and len(page._rows) == MESSAGES)
            worst_s, busiest_s, ended = beat.worst_s, beat.busiest_s, time.perf_counter()
            beat.begin()
            await asyncio.sleep(ended - begun)
            if number:
                idle.append(beat.worst_s * 1000)
                opened.append(((painted.at or 0.0) - begun) * 1000)
                whole.append((ended - begun) * 1000)
                stalls.append(worst_s * 1000)
                work.append((painted.cpu_at - cpu_begun) * 1000)
                busy.append(busiest_s * 1000)
    finally:
        await tasks.aclose()
        await database.close()
        page.canvas().hide()
        collector.close()
    tasks.check()
    detail = f"processor {statistics.median(work):.1f}; all of it after {statistics.median(whole):.0f} ms"
    alone = (
        f"processor between two beats {statistics.median(busy):.1f}; with nothing to do {statistics.median(idle):.1f}"
    )
    return [
        Ratio("P5", "open 5,000 messages from disk", statistics.median(opened), OPEN_MS, "itself", "ms", detail),
        Ratio(
            "P5",
            "longest stall while they come in",
            statistics.median(stalls),
            STALL_MS,
            "a 2 ms heartbeat",
            "ms",
            alone,
        ),
    ]


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    qt_app.setQuitOnLastWindowClosed(False)
    theme = Theme()
    theme.apply(qt_app)
    loop = qasync.QEventLoop(qt_app)
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory() as folder, loop:
        ratios: list[Ratio] = loop.run_until_complete(measure(theme, Path(folder)))
    return ratios
