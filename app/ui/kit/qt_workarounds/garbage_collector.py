"""Python's cycle collector, on the UI thread only, and at moments when nobody waits for that thread.

The collector runs in whatever thread happens to allocate, and the database and the network have threads of their own.
A QObject in a garbage cycle would then be destroyed there: its timers are killed from the wrong thread and the process
dies. So automatic collection is off, and the UI thread collects when its event loop is about to wait: never in the
middle of a handler, and with no wake-up of its own while the program is idle.

A full collection looks at every object, which takes 40 ms with a long chat open: it waits for a quiet moment. What
outlives it is set aside (`gc.freeze`), so that the next one looks at newer objects only. Some minutes later, when none
was due again, everything is looked at once more, at a quiet moment as well: that takes up to 200 ms.

What is freed has to be used again as well: on Linux the C library gives threads heaps of their own, up to eight for
each processor, and each keeps what its busiest moment took. Two serve all threads, and some seconds after work their
free pages go back to the system, which takes a millisecond.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QAbstractEventDispatcher, QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FULL_EVERY = 10  # middle collections between two full ones; in forty, closed chats and lists gather to 20 MB
QUIET_MS = 2_000
QUIET_WAITS = 16  # as often the loop may have waited in that time; a caret that blinks is no work
MOST_DELAYS = 60  # after so many moments that were not quiet the full collection comes all the same
DEEP_QUIET_MS = 300_000
TRIM_MS = 10_000  # after work; work that goes on delays it no further
RELEASED_AT_ONCE = 1_000  # a millisecond of messages
RELEASE_MS = 50
M_ARENA_MAX, HEAPS = -8, 2  # glibc's number for how many heaps there may be
SWITCH_S = 0.001  # a busy thread hands over after this; Python's own 5 ms are a third of a frame


class UiThreadGarbageCollector(QObject):
    """Takes the collector over when made; `close` gives it back."""

    running: ClassVar[UiThreadGarbageCollector | None] = None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        share_heaps()
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        self._waits = 0
        self._delays = 0
        self._is_everything_due = False
        self._quiet = _timer(self, QUIET_MS, self._when_quiet)
        self._deep = _timer(self, DEEP_QUIET_MS, self._make_everything_due)
        self._trim = _timer(self, TRIM_MS, trim_heaps)
        self._released: list[object] = []
        self._release = _timer(self, RELEASE_MS, self._release_some)
        UiThreadGarbageCollector.running = self
        self._dispatcher: QAbstractEventDispatcher | None = QAbstractEventDispatcher.instance()
        if self._dispatcher is not None:
            self._dispatcher.aboutToBlock.connect(self._about_to_wait)

    def close(self) -> None:
        UiThreadGarbageCollector.running = None
        if self._dispatcher is not None:
            self._dispatcher.aboutToBlock.disconnect(self._about_to_wait)
            self._dispatcher = None
        self._quiet.stop()
        self._deep.stop()
        self._trim.stop()
        self._release.stop()
        self._released.clear()
        gc.enable()
        sys.setswitchinterval(self._switch_s)

    def _about_to_wait(self) -> None:
        self._waits += 1
        if not collect_young_if_due():
            return
        if not self._trim.isActive():
            self._trim.start()
        if gc.get_count()[2] >= FULL_EVERY and not self._quiet.isActive():
            self._deep.stop()
            self._wait_for_quiet()

    def _wait_for_quiet(self) -> None:
        self._waits = self._delays = 0
        self._quiet.start()

    def _when_quiet(self) -> None:
        if self._waits > QUIET_WAITS and self._delays < MOST_DELAYS:
            self._waits = 0
            self._delays += 1
            self._quiet.start()
            return
        if self._is_everything_due:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        if not self._is_everything_due:
            self._deep.start()
        self._is_everything_due = False

    def release(self, objects: Sequence[object]) -> None:
        self._released += objects
        self._release.start()

    def _release_some(self) -> None:
        del self._released[-RELEASED_AT_ONCE:]
        if self._released:
            self._release.start()

    def look_later(self) -> None:
        """Look at everything some minutes from now at the latest, also at what is set aside."""
        if not self._deep.isActive():
            self._deep.start()

    def _make_everything_due(self) -> None:
        self._is_everything_due = True
        self._wait_for_quiet()


def set_aside() -> None:
    """Set aside what is there now. It counts as a collection for Python, so the next full one may be far away."""
    gc.freeze()
    if UiThreadGarbageCollector.running is not None:
        UiThreadGarbageCollector.running.look_later()


def release(objects: Sequence[object]) -> None:
    """Let go of what nobody needs any more, some at a time: all of a long chat takes 30 ms.

    Call it before the last other reference goes.
    """
    if UiThreadGarbageCollector.running is not None and len(objects) > RELEASED_AT_ONCE:
        UiThreadGarbageCollector.running.release(objects)


def share_heaps() -> None:
    """Let all threads of this process share two heaps, where the C library is glibc."""
    _call_glibc("mallopt", M_ARENA_MAX, HEAPS)


def trim_heaps() -> bool:
    """Hand free pages back to the system, where the C library is glibc; return whether there were any."""
    return bool(_call_glibc("malloc_trim", 0))


def _call_glibc(name: str, *arguments: int) -> int:
    """Return 0 where there is no such function."""
    if sys.platform != "linux":
        return 0
    from ctypes import CDLL

    function = getattr(CDLL(None), name, None)
    return int(function(*arguments)) if function is not None else 0


def collect_young_if_due() -> bool:
    """Collect the youngest objects when enough were made since the last time, older ones more seldom."""
    young, middle, _ = gc.get_count()
    young_limit, middle_limit, _ = gc.get_threshold()
    if young <= young_limit:
        return False
    gc.collect(0 if middle <= middle_limit else 1)
    return True


def collect_if_due() -> None:
    """Collect what is due, now and all of it."""
    if gc.get_count()[2] >= FULL_EVERY:
        gc.collect()
    else:
        collect_young_if_due()


def _timer(owner: UiThreadGarbageCollector, interval_ms: int, call: Callable[[], object]) -> QTimer:
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    timer.timeout.connect(call)
    return timer
