"""Calls what asyncio has to do with two timers of Qt's in all, where qasync starts one for each call.

What is due at once stands in a queue and what is due later in a heap. What asyncio called off goes at once: every read
from the network has a limit of a minute or more, which is called off a moment later, so that after an hour thousands
of timers would wait for nothing.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from heapq import heapify, heappop, heappush
from itertools import count
from math import ceil
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimerEvent

TURN_S = 0.004  # then Qt has a look at keys and paints before the rest of the queue
LONGEST_MS = 3_600_000  # of a timer of Qt's; what is due later is waited for in several
LONGEST_WAIT_S = 60.0  # of the thread that waits for the network on Windows
MOST_THREADS = 10  # for work beside a loop, as many as qasync starts
MOST_ENDED = 50  # that may stay in the heap before it is made anew


class LoopTimers(QObject):
    """What a qasync loop still has to call. Takes the place of qasync's own timers."""

    def __init__(self) -> None:
        super().__init__()
        self._soon: deque[asyncio.Handle] = deque()
        self._soon_id = 0
        self._heap: list[tuple[float, int, asyncio.Handle]] = []
        self._waiting: set[int] = set()  # the identities of those in the heap that were not called off
        self._order = count()
        self._late_id = 0
        self._late_at = 0.0
        self._is_stopped = False

    @property
    def pending(self) -> int:
        """How many there are."""
        return len(self._soon) + len(self._waiting)

    def add_soon(self, handle: asyncio.Handle) -> asyncio.Handle:
        self._soon.append(handle)
        if not self._soon_id:
            self._soon_id = self.startTimer(0)
        return handle

    def add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        if delay <= 0:
            return self.add_soon(handle)
        due = monotonic() + delay
        heappush(self._heap, (due, next(self._order), handle))
        self._waiting.add(id(handle))
        if not self._late_id or due < self._late_at:
            self._wait_until(due)
        return handle

    def end(self, handle: asyncio.Handle) -> None:
        """Forget a handle that was cancelled."""
        if id(handle) not in self._waiting:
            return
        self._waiting.remove(id(handle))
        if len(self._heap) > 2 * len(self._waiting) + MOST_ENDED:
            self._heap = [each for each in self._heap if id(each[2]) in self._waiting]
            heapify(self._heap)

    def timerEvent(self, event: QTimerEvent) -> None:
        if event.timerId() == self._late_id:
            self._take_due()
        until = monotonic() + TURN_S
        self._renew()
        for _ in range(len(self._soon)):
            if not self._soon or monotonic() > until:
                break
            handle = self._soon.popleft()
            if not self._is_stopped and not handle.cancelled():
                handle._run()  # noqa: SLF001 - what a loop does with a handle; there is no public name for it
        if self._soon_id:
            self.killTimer(self._soon_id)
        self._soon_id = self.startTimer(0) if self._soon else 0  # anew: other timers that are due by now come first

    def _renew(self) -> None:
        """Have a timer that is not under way: one that is, fires in no event loop of Qt's inside of what it calls."""
        if self._soon_id:
            self.killTimer(self._soon_id)
        self._soon_id = self.startTimer(0) if len(self._soon) > 1 else 0

    def _take_due(self) -> None:
        """Put what is due behind what waits already, in the order of its time."""
        self.killTimer(self._late_id)
        self._late_id = 0
        now = monotonic()
        while self._heap and (self._heap[0][0] <= now or id(self._heap[0][2]) not in self._waiting):
            handle = heappop(self._heap)[2]
            if id(handle) in self._waiting:
                self._waiting.remove(id(handle))
                self._soon.append(handle)
        if self._heap:
            self._wait_until(self._heap[0][0])

    def _wait_until(self, due: float) -> None:
        if self._late_id:
            self.killTimer(self._late_id)
        wait_ms = min(LONGEST_MS, max(0, ceil((due - monotonic()) * 1000)))
        self._late_id = self.startTimer(wait_ms, Qt.TimerType.PreciseTimer)
        self._late_at = due

    def stop(self) -> None:
        self._is_stopped = True

    def set_debug(self, enabled: bool) -> None:
        """qasync tells it; nothing more is logged for it here."""


END_WITHIN_S = 2.0  # all threads of a loop together, when it closes


def end_cancelled_timers(loop: Any, timers: LoopTimers | None = None) -> LoopTimers:
    """Give a new qasync loop timers that end when what they are for is cancelled."""
    used = LoopTimers() if timers is None else timers

    def call_soon(callback: Callable[..., object], *args: object, context: Context | None = None) -> asyncio.Handle:
        return used.add_soon(asyncio.Handle(callback, args, loop, context))

    def call_later(
        delay: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        if inspect.iscoroutinefunction(callback) or not callable(callback):
            raise TypeError("a loop calls functions only")
        return used.add_callback(asyncio.TimerHandle(loop.time() + delay, callback, args, loop, context), delay)

    loop._timer = used  # noqa: SLF001 - qasync has no other way
    loop.call_soon = call_soon
    loop.call_later = call_later
    loop._timer_handle_cancelled = used.end  # noqa: SLF001 - asyncio's own name for it
    return used


class _BoundedThreads(ThreadPoolExecutor):
    """Threads that are waited for at most `END_WITHIN_S`: one may read from a network drive that went away."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        latest = monotonic() + (END_WITHIN_S if wait else 0)
        for thread in tuple(self._threads):
            thread.join(max(0.0, latest - monotonic()))


def start_threads_when_needed(loop: asyncio.AbstractEventLoop) -> None:
    """Give a new qasync loop threads that start when there is work for them; its own start at the first work, all."""
    loop.set_default_executor(_BoundedThreads(MOST_THREADS))


def replace_threads(loop: asyncio.AbstractEventLoop) -> None:
    """Give such a loop fresh threads for what is still to be done: all of the others may be stuck."""
    before = getattr(loop, "_QEventLoop__default_executor", None)
    if isinstance(before, _BoundedThreads):
        before.shutdown(wait=False, cancel_futures=False)
        start_threads_when_needed(loop)


def wait_for_events(loop: Any) -> None:
    """Let the thread of a new qasync loop on Windows wait for the network instead of looking 100 times a second.

    Each look takes Python's lock and wakes the processor. The thread looks so often only to notice that it should end,
    so that is reported to it as an event. Does nothing on other systems, or if qasync is built differently.
    """
    poller = getattr(loop, "_ProactorEventLoop__event_poller", None)
    proactor = getattr(loop, "_proactor", None)
    if poller is None or proactor is None:
        return
    overlapped = importlib.import_module("_overlapped")  # a part of CPython on Windows
    wait, stop = proactor.select, poller.stop

    def stop_at_once() -> None:
        worker = getattr(poller, "_EventPoller__worker", None)
        if worker is not None:
            setattr(worker, "_EventWorker__stop", True)  # noqa: B010 - private to a class there
            overlapped.PostQueuedCompletionStatus(proactor._iocp, 0, 0, 0)  # noqa: SLF001 - asyncio's own name for it
        stop()

    proactor.select = lambda timeout=None: wait(LONGEST_WAIT_S if timeout is not None and timeout > 0 else timeout)
    poller.stop = stop_at_once
