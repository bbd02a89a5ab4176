"""qasync's thread on Windows, with a stand-in for the system's queue of completed work."""

import asyncio
import importlib.util
import queue
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication

from app.ui.kit.qt_workarounds.loop_timers import wait_for_events

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in takes the place of Windows' own modules")


class Completions:
    """`_overlapped`: one queue, at which a thread waits."""

    INVALID_HANDLE_VALUE = -1

    def __init__(self) -> None:
        self.queue: queue.Queue[tuple[int, int, int, int]] = queue.Queue()
        self.looks = 0

    def GetQueuedCompletionStatus(self, port: int, wait_ms: int) -> tuple[int, int, int, int] | None:
        self.looks += 1
        try:
            return self.queue.get(wait_ms > 0, wait_ms / 1000)
        except queue.Empty:
            return None

    def PostQueuedCompletionStatus(self, port: int, *status: int) -> None:
        self.queue.put((0, *status))


class Proactor:
    """What asyncio's own is made of, as far as qasync touches it."""

    def __init__(self) -> None:
        self._iocp, self._cache, self._stopped_serving, self._unregistered = 1, {}, set(), []


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> tuple[Completions, ModuleType]:
    """The queue, and qasync's module for Windows as it is there."""
    completions = Completions()
    events = ModuleType("asyncio.windows_events")
    monkeypatch.setattr(events, "IocpProactor", Proactor, raising=False)
    monkeypatch.setitem(sys.modules, "_overlapped", completions)  # type: ignore[arg-type]  # has what a module has
    monkeypatch.setitem(sys.modules, "_winapi", ModuleType("_winapi"))
    monkeypatch.setitem(sys.modules, "asyncio.windows_events", events)
    monkeypatch.setattr(asyncio, "windows_events", events, raising=False)
    monkeypatch.setattr(asyncio, "ProactorEventLoop", object, raising=False)
    path = Path(qasync.__file__).with_name("_windows.py")
    spec = importlib.util.spec_from_file_location("qasync._windows_elsewhere", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return completions, module


class Loop(SimpleNamespace):
    """A loop with the two parts that matter, under the names that qasync gives them."""


def test_the_thread_waits_for_events_and_ends_at_once(windows: tuple[Completions, Any], qapp: QApplication) -> None:
    completions, module = windows
    seen: list[Any] = []
    signal = SimpleNamespace(emit=seen.append)
    names = vars(module)
    proactor = names["_IocpProactor"]()
    poller = names["_EventPoller"](signal)
    loop = Loop(_proactor=proactor, _ProactorEventLoop__event_poller=poller)
    wait_for_events(loop)
    poller.start(proactor)
    time.sleep(0.3)
    assert completions.looks <= 2  # qasync alone: 30
    done: asyncio.Future[None] = asyncio.Future(loop=asyncio.new_event_loop())
    vars(proactor)["_cache"][77] = (done, "overlapped", None, "callback")
    completions.queue.put((0, 5, 0, 77))
    give_up_at = time.monotonic() + 5
    while not seen and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert [[each[1:3] for each in events] for events in seen] == [[("callback", 5)]]
    began = time.monotonic()
    poller.stop()
    assert time.monotonic() - began < 1
    done.get_loop().close()


def test_a_loop_that_is_built_otherwise_stays_as_it_is() -> None:
    loop = Loop(select=1)
    wait_for_events(loop)
    assert vars(loop) == {"select": 1}
