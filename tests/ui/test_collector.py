"""Garbage that holds Qt objects is collected on the UI thread and nowhere else."""

from __future__ import annotations

import gc
import threading

from PySide6.QtCore import QObject, QTimer

from app.ui.shared.collector import UiThreadCollector, collect_if_due


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
    collector = UiThreadCollector()
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
