"""What asyncio calls off leaves no timer behind, and what it does not is called, in its order."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.ui.kit.qt_workarounds import loop_timers
from app.ui.kit.qt_workarounds.loop_timers import LoopTimers


@pytest.fixture
async def timers() -> LoopTimers:
    """Those of the loop that runs, which is the one we ship."""
    found = asyncio.get_running_loop()._timer  # type: ignore[attr-defined]
    assert isinstance(found, LoopTimers)
    return found


async def test_limits_that_were_kept_leave_no_timers_behind(timers: LoopTimers) -> None:
    before = timers.pending
    for _ in range(500):
        async with asyncio.timeout(600):
            await asyncio.sleep(0)
    assert timers.pending <= before + 2


async def test_what_is_due_is_called_in_order_and_what_was_cancelled_is_not(timers: LoopTimers) -> None:
    loop, called = asyncio.get_running_loop(), list[int]()
    handles = [loop.call_soon(called.append, number) for number in range(6)]
    twins = [loop.call_later(600, called.append, 9) for _ in range(2)]
    handles[1].cancel()
    handles[1].cancel()
    twins[0].cancel()
    await asyncio.sleep(0.05)
    assert called == [0, 2, 3, 4, 5]
    before = timers.pending
    twins[1].cancel()
    assert timers.pending == before - 1


async def test_a_call_that_cancels_itself_and_fails_ends_its_timer(timers: LoopTimers) -> None:
    loop, told = asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
    before = timers.pending

    def fail() -> None:
        handle.cancel()
        raise ValueError("odd")

    handle = loop.call_soon(fail)
    await asyncio.sleep(0.05)
    assert [type(error) for error in told] == [ValueError]
    assert timers.pending <= before + 1


async def test_ten_thousand_calls_take_two_timers_of_qts(timers: LoopTimers) -> None:
    loop, called = asyncio.get_running_loop(), list[int]()
    for number in range(10_000):
        loop.call_soon(called.append, number)
    late = [loop.call_later(600 + number, called.append, -1) for number in range(100)]
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None
    assert len(dispatcher.registeredTimers(timers)) <= 2
    while len(called) < 10_000:
        await asyncio.sleep(0)
    assert called == list(range(10_000))
    for handle in late:
        handle.cancel()


async def test_what_is_due_later_comes_in_the_order_of_its_time(
    timers: LoopTimers, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, called, now = asyncio.get_running_loop(), list[int](), time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(loop_timers, "monotonic", lambda: now)  # a pause between two calls would change their order
        for delay in (3, 1, 2):
            loop.call_later(delay / 100, called.append, delay)
        gone = loop.call_later(0.001, called.append, 9)
    gone.cancel()
    while len(called) < 3:
        await asyncio.sleep(0.01)
    assert called == [1, 2, 3]


async def test_the_rest_is_called_in_an_event_loop_inside_of_a_call(timers: LoopTimers) -> None:
    loop, called, inner = asyncio.get_running_loop(), list[str](), QEventLoop()

    def wait() -> None:
        inner.exec()
        called.append("outer")

    def leave() -> None:
        called.append("inner")
        inner.quit()

    loop.call_soon(wait)
    loop.call_soon(leave)
    while len(called) < 2:
        await asyncio.sleep(0)
    assert called == ["inner", "outer"]


def test_a_call_that_the_processor_was_taken_from_is_made_in_the_next_round(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds pass at each look at the clock: no round has time for anything."""
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(loop_timers, "monotonic", lambda: next(clock))
    timers, called = LoopTimers(), list[str]()
    handle = cast("asyncio.Handle", SimpleNamespace(cancelled=lambda: False, _run=lambda: called.append("made")))
    timers.add_soon(handle)
    qapp.processEvents()
    assert not called and timers.pending == 1
    monkeypatch.setattr(loop_timers, "monotonic", time.monotonic)
    qapp.processEvents()
    assert called == ["made"] and timers.pending == 0


async def test_a_timer_of_qts_that_came_due_in_a_long_call_comes_before_the_next_call(timers: LoopTimers) -> None:
    loop, called = asyncio.get_running_loop(), list[str]()
    timer = QTimer(singleShot=True, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(lambda: called.append("timer"))

    def work() -> None:
        timer.start(1)
        until = time.monotonic() + loop_timers.TURN_S
        while timer.remainingTime() or time.monotonic() <= until:
            pass
        called.append("long call")

    loop.call_soon(work)
    loop.call_soon(called.append, "next call")
    while len(called) < 3:
        await asyncio.sleep(0)
    assert called == ["long call", "timer", "next call"]
