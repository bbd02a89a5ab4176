"""P9, answers: 10 MB of JSON from the stored bytes to the painted tree, and how long the window stood still meanwhile.

The stored answer is read, parsed and shown by the presenter and the pane that ship; a heartbeat of 2 ms on the same
loop measures the longest time in which the window could not have reacted. The same for 50 MB, which is the most that
an answer may have here.
"""

import asyncio
import gc
import json
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QApplication

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.storage.database import Database
from app.storage.paths import resources
from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.kit.qt_workarounds.garbage_collector import UiThreadGarbageCollector
from app.ui.kit.theme import Theme
from tests.bench.harness import Ratio

MB = 1_000_000
BEAT_S = 0.002
RUNS = 5
OPEN_MS, STALL_MS, LARGE_STALL_MS = 150.0, 16.0, 50.0
ITEMS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{}]})
LOG = {"address": "0x" + "35" * 20, "data": "0x" + "00" * 96, "topics": ["0x" + "11" * 32] * 3, "logIndex": "0x1"}


def answer(size: int) -> bytes:
    one = len(json.dumps(LOG)) + 2
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": [LOG] * (size // one)}).encode()


async def beat(longest: list[float]) -> None:
    """Keep the longest stall in `longest[0]`, and in `longest[1]` the most that this thread itself worked in one."""
    last, worked = time.perf_counter(), time.thread_time()
    while True:
        await asyncio.sleep(BEAT_S)
        now, work = time.perf_counter(), time.thread_time()
        longest[0] = max(longest[0], now - last - BEAT_S)
        longest[1] = max(longest[1], work - worked)
        last, worked = now, work


async def opened(presenter: CryptoRpcPresenter, page: CryptoRpcPage, tasks: TaskScope, call_id: str) -> float:
    """Seconds from the key to the painted tree."""
    begun = time.perf_counter()
    presenter.runs.open(call_id)
    await tasks.idle()
    page.main.response.tree.viewport().repaint()
    return time.perf_counter() - begun


async def measure(folder: Path, theme: Theme, size: int) -> tuple[float, float, float]:
    """The median time in ms, and the medians of the longest stalls in ms: on the clock, and of work done in them."""
    tasks = TaskScope(lambda error: print(error))
    database = await Database.open(folder / f"{size}.db")
    calls = RpcCalls(database)
    kept = await calls.begin("box", "ethereum-mainnet", ITEMS, at=datetime.now(UTC), digest="d")
    await calls.answered(kept.id, answer(size), status=200, credits=20, cost_usd=None)
    presenter = CryptoRpcPresenter(CurrentAccount(), tasks, resources() / "data", folder, UndoStack(tasks))
    page = CryptoRpcPage(theme, presenter, tasks, lambda: "")
    page.main.resize(1104, 848)
    page.main.show()
    await presenter.start(database)
    await tasks.idle()
    times, stalls, works = [], [], []
    for _ in range(RUNS + 1):
        presenter.new_batch()
        await tasks.idle()
        gc.collect()
        longest = [0.0, 0.0]
        heart = asyncio.get_running_loop().create_task(beat(longest))
        await asyncio.sleep(0.05)
        longest[:] = [0.0, 0.0]
        times.append(await opened(presenter, page, tasks, kept.id) * 1000)
        await asyncio.sleep(0.02)
        heart.cancel()
        stalls.append(longest[0] * 1000)
        works.append(longest[1] * 1000)
    page.main.hide()
    await tasks.aclose()
    await database.close()
    return _median(times), _median(stalls), _median(works)


def _median(figures: list[float]) -> float:
    return sorted(figures[1:])[RUNS // 2]  # the first is the warm-up


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    collector = UiThreadGarbageCollector()
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qt_app)
    loop = qasync.QEventLoop(qt_app)
    asyncio.set_event_loop(loop)
    with loop, tempfile.TemporaryDirectory() as name:
        time_10, stall_10, work_10 = loop.run_until_complete(measure(Path(name), theme, 10 * MB))
        time_50, stall_50, work_50 = loop.run_until_complete(measure(Path(name), theme, 50 * MB))
    collector.close()
    absolute = "stated goal"
    return [
        Ratio("P9", "10 MB of JSON stored to visible", time_10, OPEN_MS, absolute, "ms"),
        Ratio("P9", "longest stall meanwhile", stall_10, STALL_MS, absolute, "ms", f"{work_10:.0f} ms of work in it"),
        Ratio(
            "P9",
            "longest stall with 50 MB",
            stall_50,
            LARGE_STALL_MS,
            absolute,
            "ms",
            f"{work_50:.0f} ms of work in it, visible after {time_50:.0f} ms",
        ),
    ]
