"""Garbage that holds Qt objects is collected on the UI thread and nowhere else."""

from __future__ import annotations

import ctypes
import gc
import platform
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from app.ui.kit.qt_workarounds import garbage_collector as module
from app.ui.kit.qt_workarounds.garbage_collector import (
    FULL_EVERY,
    RELEASED_AT_ONCE,
    UiThreadGarbageCollector,
    collect_if_due,
    release,
    set_aside,
    trim_heaps,
)

ROOT = Path(__file__).resolve().parents[2]


class Noted(QObject):
    """A Qt object in a cycle that says which thread it was collected on."""

    def __init__(self, threads: list[str]) -> None:
        super().__init__()
        self.cycle = self
        self.timer = QTimer(self)
        self._threads = threads

    def __del__(self) -> None:
        self._threads.append(threading.current_thread().name)


def allocate(count: int) -> None:
    kept = [[] for _ in range(count)]
    assert len(kept) == count


async def test_a_busy_worker_thread_collects_nothing() -> None:
    collector = UiThreadGarbageCollector()
    try:
        threads: list[str] = []
        for _ in range(20):
            Noted(threads)
        worker = threading.Thread(target=allocate, args=(50_000,), name="worker")
        worker.start()
        worker.join()
        assert threads == []
        gc.collect()
        assert set(threads) == {threading.main_thread().name}
    finally:
        collector.close()
        gc.disable()  # the suite collects between tests, see conftest


def test_nothing_happens_before_it_is_due() -> None:
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    collect_if_due()
    assert gc.get_stats()[0]["collections"] == before
    cycles: list[list[object]] = [[] for _ in range(gc.get_threshold()[0] + 100)]
    collect_if_due()
    assert gc.get_stats()[0]["collections"] == before + 1
    assert cycles


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[UiThreadGarbageCollector]:
    """One that finds two hundredths of a second quiet already. What stays of the suite (see conftest) is set aside."""
    monkeypatch.setattr(module, "QUIET_MS", 20)
    monkeypatch.setattr(module, "DEEP_QUIET_MS", 60)
    gc.collect()
    gc.freeze()
    made = UiThreadGarbageCollector()
    yield made
    made.close()
    gc.disable()  # the suite collects between tests, see conftest


def full_collections() -> int:
    return int(gc.get_stats()[2]["collections"])


def make_full_one_due() -> None:
    for _ in range(FULL_EVERY):
        gc.collect(1)
    allocate(gc.get_threshold()[0] + 100)


def test_a_full_collection_waits_for_a_quiet_moment(
    collector: UiThreadGarbageCollector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_WAITS", -1)
    before, set_aside = full_collections(), gc.get_freeze_count()
    kept = [[] for _ in range(gc.get_threshold()[0] + 100)]
    make_full_one_due()
    kept += [[] for _ in range(gc.get_threshold()[0] + 100)]
    qtbot.waitUntil(lambda: collector._delays > 2, timeout=60_000)
    assert full_collections() == before
    monkeypatch.setattr(module, "QUIET_WAITS", 1_000)
    qtbot.waitUntil(lambda: full_collections() == before + 1, timeout=60_000)
    assert gc.get_freeze_count() > set_aside  # the next one looks at newer objects only


def test_one_that_was_put_off_too_often_comes_all_the_same(
    collector: UiThreadGarbageCollector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_WAITS", -1)
    monkeypatch.setattr(module, "MOST_DELAYS", 2)
    before = full_collections()
    make_full_one_due()
    kept = [[] for _ in range(gc.get_threshold()[0] + 100)]
    qtbot.waitUntil(lambda: full_collections() == before + 1, timeout=60_000)
    assert kept


def test_after_work_free_memory_is_handed_back(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    trims: list[None] = []
    monkeypatch.setattr(module, "TRIM_MS", 20)
    monkeypatch.setattr(module, "trim_heaps", lambda: trims.append(None))
    gc.collect()
    collector = UiThreadGarbageCollector()
    qtbot.wait(100)
    assert not trims, "nothing was done"
    kept = [[] for _ in range(gc.get_threshold()[0] + 100)]
    qtbot.waitUntil(lambda: bool(trims), timeout=60_000)
    collector.close()
    gc.disable()
    assert kept


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do it by themselves or not at all")
def test_free_pages_between_used_ones_go_back_to_the_system() -> None:
    blocks: list[bytes | None] = [bytes(60_000) for _ in range(100)]
    blocks[::2] = [None] * 50
    assert trim_heaps()
    assert blocks


def test_what_was_set_aside_is_looked_at_again_after_a_long_quiet(
    collector: UiThreadGarbageCollector, qtbot: QtBot
) -> None:
    threads: list[str] = []
    kept, set_aside = [Noted(threads)], gc.get_freeze_count()
    make_full_one_due()
    more = [[] for _ in range(gc.get_threshold()[0] + 100)]
    qtbot.waitUntil(lambda: gc.get_freeze_count() > set_aside, timeout=60_000)
    kept.clear()
    gc.collect()
    assert threads == []  # it is among what was set aside
    qtbot.waitUntil(lambda: threads == [threading.main_thread().name], timeout=60_000)
    assert more


def test_what_others_set_aside_is_looked_at_again_although_no_full_collection_came(
    collector: UiThreadGarbageCollector, qtbot: QtBot
) -> None:
    threads: list[str] = []
    kept = [Noted(threads)]
    set_aside()
    kept.clear()
    qtbot.waitUntil(lambda: threads == [threading.main_thread().name], timeout=60_000)


def test_what_was_set_aside_is_not_looked_at_while_the_window_is_at_work(
    collector: UiThreadGarbageCollector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = full_collections()
    make_full_one_due()
    kept = [[] for _ in range(gc.get_threshold()[0] + 100)]
    qtbot.waitUntil(lambda: full_collections() == before + 1, timeout=60_000)
    monkeypatch.setattr(module, "QUIET_WAITS", -1)
    qtbot.waitUntil(lambda: collector._delays > 2, timeout=60_000)
    assert full_collections() == before + 1
    monkeypatch.setattr(module, "QUIET_WAITS", 1_000)
    qtbot.waitUntil(lambda: full_collections() == before + 2, timeout=60_000)
    assert kept


def test_what_thousands_of_messages_hold_is_freed_after_the_turn_that_lets_go_of_them(
    collector: UiThreadGarbageCollector, qtbot: QtBot
) -> None:
    threads: list[str] = []
    messages = [Freed(threads) for _ in range(3 * RELEASED_AT_ONCE)]
    release(messages)
    messages.clear()
    assert threads == []
    qtbot.waitUntil(lambda: len(threads) == 3 * RELEASED_AT_ONCE, timeout=60_000)
    assert set(threads) == {threading.main_thread().name}


class Freed:
    """Says which thread freed it."""

    def __init__(self, threads: list[str]) -> None:
        self._threads = threads

    def __del__(self) -> None:
        self._threads.append(threading.current_thread().name)


class Part:
    """Of a view; it and the view know each other."""

    alive = 0

    def __init__(self) -> None:
        self.view = self
        Part.alive += 1

    def __del__(self) -> None:
        Part.alive -= 1


def test_views_closed_long_after_they_were_opened_do_not_gather() -> None:
    gc.collect()
    views: deque[list[Part]] = deque(maxlen=12)
    most = 0
    for _ in range(500):
        views.append([Part() for _ in range(1_000)])
        collect_if_due()
        most = max(most, Part.alive)
    views.clear()
    gc.collect()
    assert Part.alive == 0
    assert most < 200_000, "of half a million"


def test_other_threads_hand_over_within_a_millisecond_while_a_window_is_there() -> None:
    before = sys.getswitchinterval()
    collector = UiThreadGarbageCollector()
    assert sys.getswitchinterval() <= 0.001
    collector.close()
    gc.disable()
    assert sys.getswitchinterval() == before


HEAPS_OF_EIGHT_THREADS = """
import ctypes, os, re, sys, tempfile, threading
if sys.argv[1] == "shared":
    from app.ui.kit.qt_workarounds.garbage_collector import share_heaps
    share_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.fdopen.restype = ctypes.c_void_p, ctypes.c_void_p
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
together = threading.Barrier(8)
def allocate():
    together.wait()
    libc.malloc(100_000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
file = tempfile.TemporaryFile()
stream = libc.fdopen(os.dup(file.fileno()), b"w")
libc.malloc_info(0, stream)
libc.fclose(stream)
file.seek(0)
print(len(re.findall(rb"<heap ", file.read())))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"), reason="only glibc has such heaps"
)
def test_threads_share_two_heaps() -> None:
    def heaps(how: str) -> int:
        command = [sys.executable, "-c", HEAPS_OF_EIGHT_THREADS, how]
        return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)

    assert heaps("shared") <= 2 < heaps("each its own")
