"""One run of the whole program on a data folder, for `bench_big_home`: prints what it measured as one JSON line.

`python -m tests.bench.big_home_session HOME` looks at every tab, scrolls and filters its list, opens the chat with the
most messages, searches, adds up receipts, empties the trash and makes the daily backup. Where the figure is a turn of
the event loop it is processor time of the UI thread: a neighbor's load on the machine does not count, and neither does
waiting for it. A search and the totals are processor time of the whole program, for the same reason.
"""

import asyncio
import json
import random
import shutil
import sys
import time
import traceback
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QAbstractItemView

from app.bootstrap.rialto import Rialto
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.paths import Paths
from app.storage.receipt_book import ReceiptBook, ReceiptFilter
from app.storage.settings import SettingsStore
from app.ui.kit.widgets.search_field import SearchField
from tests.bench.bench_first_look import Turns
from tests.bench.bench_open_chat import Painted
from tests.bench.bench_search import queries
from tests.bench.harness import MIN_RUNS
from tests.bench.whole_program import run_with
from tests.big_home import Texts
from tests.kit.settings import change_settings
from tests.kit.waiting import until

SETTLED_S = 0.7
LOOK_EVERY_S = 0.2  # each look is a turn of our own that may count; a full folder is waited for longest
PATIENCE_S = 900.0  # a folder of an earlier version is copied, checked and upgraded first; the backup takes a minute
IDLE_TURN_MS = 0.3  # of a turn in which nothing but the measuring happens
FRAMES = 40
FRAME_S = 0.02
TYPED = ("a", "an", "ane", "")
NEVER_ENDS = {"make tabs ready", "video tick", "measure"}
TRASHED_CHATS = 50
Figures = dict[str, float]


async def settled(rialto: Rialto) -> None:
    """Wait until nothing that was begun is under way, and what follows it has been drawn."""
    scopes = (rialto.tasks, rialto.account_services.bookkeeping)
    end = time.monotonic() + PATIENCE_S
    while {name for scope in scopes for name in scope.names} - NEVER_ENDS:
        if time.monotonic() > end:
            raise TimeoutError(f"under way: {[tuple(scope.names) for scope in scopes]}")
        await asyncio.sleep(LOOK_EVERY_S)
    await asyncio.sleep(SETTLED_S)


class Session:
    """Every method fills `figures`: milliseconds, or MB where the name says so."""

    def __init__(self, rialto: Rialto) -> None:
        self.rialto = rialto
        self.window = rialto.window
        self.turns = Turns()
        self.figures: Figures = {}

    @property
    def database(self) -> Database:
        assert self.rialto.database is not None
        return self.rialto.database

    async def run(self) -> None:
        """Measure everything, and end the program."""
        try:
            self.turns.begin()
            await until(lambda: self.rialto.chat.library is not None, within_s=PATIENCE_S)
            await self._note("turn start", lambda: None)
            await self._built_ahead()
            names = list(self.window.tab_names())
            for name in names[1:]:
                await self._look(name)
            self.figures["MB memory"] = pss_mb()
            for name in names:
                await self._use_list(name)
            await self._open_largest()
            await self._search()
            await self._add_up()
            await self._throw_away()
            await self._back_up()
        finally:
            self.window.close()

    async def _note(self, name: str, act: object) -> None:
        """Do it and write down the longest turn until it has settled."""
        if callable(act):
            act()
        await settled(self.rialto)
        self.figures[name] = self.turns.end()

    async def _built_ahead(self) -> None:
        self.turns.begin()
        self.window.expect_tab()
        await until(lambda: all(name in self.window.tab_frames.by_name for name in self.window.tab_names()))
        await self._note("turn building", lambda: None)

    async def _look(self, name: str) -> None:
        self.turns.begin()
        await self._note(f"turn {name}", partial(self.window.show_tab, name))
        self.figures[f"work {name}"] = sum(taken for taken in self.turns.taken if taken > IDLE_TURN_MS)

    async def _use_list(self, name: str) -> None:
        """Scroll the longest list of a tab page by page, and type into the field above it."""
        self.window.show_tab(name)
        await settled(self.rialto)
        views = [view for view in self.window.findChildren(QAbstractItemView) if view.isVisible()]
        if not views:
            return
        view = max(views, key=lambda view: view.model().rowCount())
        bar, frames = view.verticalScrollBar(), []
        for _ in range(FRAMES):
            self.turns.begin()
            await asyncio.sleep(0)
            bar.setValue(bar.value() + view.viewport().height())
            await asyncio.sleep(FRAME_S)
            frames.append(self.turns.end())
        self.figures[f"scroll {name}"] = max(frames)
        bar.setValue(0)
        fields = [field for field in self.window.findChildren(SearchField) if field.isVisible()]
        if not fields:
            return
        frames.clear()
        for typed in TYPED:
            self.turns.begin()
            await self._note(f"filter {name}", partial(fields[0].setText, typed))
            frames.append(self.figures[f"filter {name}"])
        self.figures[f"filter {name}"] = max(frames)

    async def _open_largest(self) -> None:
        self.window.show_tab("chat")
        page = self.rialto.chat_page
        painted = Painted(page)
        rows = await self.database.fetch(
            "SELECT id, head_id FROM chats WHERE trashed_at IS NULL ORDER BY message_count DESC, seq LIMIT 2"
        )
        opened, worked = [], []
        for _ in range(MIN_RUNS if rows else 0):
            for chat_id, newest in reversed(rows):
                await settled(self.rialto)
                painted.wait_for(newest)
                self.turns.begin()
                begun, cpu_begun = time.perf_counter(), time.thread_time()
                self.rialto.chat.open_chat(chat_id)
                await until(lambda: painted.at is not None)
                waiting = sum(taken for taken in self.turns.taken if taken <= IDLE_TURN_MS)  # for the disk
                self.turns.begin()  # what is measured from here on is how its rest comes in
                opened.append(((painted.at or 0.0) - begun) * 1000)
                worked.append((painted.cpu_at - cpu_begun) * 1000 - waiting)
                await self._note("turn opening the largest chat", lambda: None)
        if not rows:
            return
        self.figures["open the largest chat"] = sorted(opened)[len(opened) // 2]
        self.figures["work open the largest chat"] = sorted(worked)[len(worked) // 2]

    async def _search(self) -> None:
        history, words = ChatStore(self.database), Texts(random.Random(2026)).words
        for name, text in queries(words).items():
            taken = []
            for _ in range(MIN_RUNS):
                begun = time.process_time()
                await history.search(text)
                taken.append((time.process_time() - begun) * 1000)
            self.figures[f"search {name}"] = sorted(taken)[len(taken) // 2]

    async def _add_up(self) -> None:
        book = ReceiptBook(self.database)
        today = datetime.now(UTC).date()
        month = ReceiptFilter(first_day=today - timedelta(days=29), last_day=today)
        for name, wanted in (("of 30 days", month), ("of all time", ReceiptFilter())):
            taken = []
            for _ in range(MIN_RUNS):
                begun = time.process_time()
                await book.totals(wanted, UTC, play=True)
                await book.choices()
                taken.append((time.process_time() - begun) * 1000)
            self.figures[f"totals {name}"] = sorted(taken)[len(taken) // 2]
            self.turns.begin()
            await book.totals(wanted, UTC, play=True)
            self.figures[f"turn totals {name}"] = self.turns.end()

    async def _throw_away(self) -> None:
        self.window.show_tab("chat")
        chat = self.rialto.chat
        rows = await self.database.fetch(
            "SELECT id FROM chats WHERE trashed_at IS NULL ORDER BY seq LIMIT ?", [TRASHED_CHATS]
        )
        chat_ids = [row[0] for row in rows]
        self.turns.begin()
        await self._note("turn moving chats to the trash", partial(chat.move_to_trash, chat_ids))
        await chat.trash.read()
        self.turns.begin()
        begun = time.perf_counter()
        await self._note("turn emptying the trash of chats", chat.trash.empty)
        self.figures["emptying the trash of chats"] = (time.perf_counter() - begun - SETTLED_S) * 1000

    async def _back_up(self) -> None:
        for backup in self.database.backups.glob("*.db"):
            backup.unlink()
        await settled(self.rialto)
        told: list[float | None] = []
        self.turns.begin()
        begun = time.perf_counter()
        await self.database.back_up_daily(told.append)
        self.figures["backup"] = (time.perf_counter() - begun) * 1000
        self.figures["turn backup"] = self.turns.end()
        self.figures["progress of the backup"] = len(told)


def pss_mb() -> float:
    """Return what memory of this process is its own, with its share of what it shares."""
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system tells no memory")


async def _measure(rialto: Rialto, figures: Figures) -> None:
    session = Session(rialto)
    session.figures = figures
    try:
        await session.run()
    except Exception:
        traceback.print_exc()  # the program would keep it as a crash of its own
        raise


def main(home: Path) -> None:
    figures: Figures = {}
    paths = Paths.below(home)
    change_settings(SettingsStore(paths.settings), last_tab="chat", last_chat="")  # as after any other run
    shutil.rmtree(paths.crashes, ignore_errors=True)  # the program would ask about a session that failed
    run_with(partial(_measure, figures=figures), home)
    print(json.dumps({name: round(figure, 2) for name, figure in figures.items()}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
