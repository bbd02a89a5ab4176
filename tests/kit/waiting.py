"""The way to wait in tests: for a fact, never for a time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest  # not for real: what is measured waits in this way, too, without the suite's libraries

LIMIT_S = 100.0  # only for tests that would never end; a computer may have ten other things to do


async def until(fact: Callable[[], object], what: str | Callable[[], str] = "", *, within_s: float = LIMIT_S) -> None:
    """Let the event loop run until `fact()` is true. Raises `TimeoutError`, which says what was waited for."""
    end = time.monotonic() + within_s
    for pause_s in _pauses():
        if fact():
            return
        _check(end, fact, what)
        await asyncio.sleep(pause_s)


def block_until(fact: Callable[[], object], what: str | Callable[[], str] = "", *, within_s: float = LIMIT_S) -> None:
    """The same where no event loop runs: this thread sleeps meanwhile."""
    end = time.monotonic() + within_s
    for pause_s in _pauses():
        if fact():
            return
        _check(end, fact, what)
        time.sleep(pause_s)


def _pauses() -> Iterator[float]:
    """The seconds between two looks. Each wakes the loop: looking at the same pace would slow what is waited for."""
    pause_s = 0.002
    while True:
        yield pause_s
        pause_s = min(pause_s * 1.5, 0.02)


def _check(end: float, fact: Callable[[], object], what: str | Callable[[], str]) -> None:
    if time.monotonic() >= end:
        raise TimeoutError(f"this never came true: {what() if callable(what) else what or _source(fact)}")


def _source(fact: Callable[[], object]) -> str:
    try:
        return inspect.getsource(fact).strip()
    except (OSError, TypeError):  # a bound method of Qt, for one
        return repr(fact)


def entered(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> asyncio.Event:
    """An event that is set when this coroutine of a class or a module begins; it then leaves the loop a turn."""
    event, work = asyncio.Event(), getattr(owner, name)

    async def enter(*values: Any, **more: Any) -> Any:
        event.set()
        await asyncio.sleep(0)
        return await work(*values, **more)

    monkeypatch.setattr(owner, name, enter)
    return event
