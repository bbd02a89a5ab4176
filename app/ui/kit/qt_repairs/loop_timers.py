"""Ends the timer of what asyncio called off, which qasync leaves running until its time comes.

Every read from the network has a limit of a minute or more, which is called off a moment later. After an hour of use
thousands of timers wait for nothing, each with what it would have called, and Qt sorts every new one in among them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

from PySide6.QtCore import QObject, QTimerEvent


class LoopTimers(QObject):
    """What a qasync loop still has to call, each with a timer of Qt's. Takes the place of qasync's own."""

    def __init__(self) -> None:
        super().__init__()
        self._handles: dict[int, asyncio.Handle] = {}
        self._timer_ids: dict[int, int] = {}  # by the identity of the handle: equal handles are not the same
        self._is_stopped = False

    @property
    def pending(self) -> int:
        """How many there are."""
        return len(self._handles)

    def add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        timer_id = self.startTimer(int(max(0, delay) * 1000))
        self._handles[timer_id] = handle
        self._timer_ids[id(handle)] = timer_id
        return handle

    def end(self, handle: asyncio.Handle) -> None:
        """Forget a handle that was cancelled."""
        timer_id = self._timer_ids.pop(id(handle), None)
        if timer_id is not None:
            self.killTimer(timer_id)
            del self._handles[timer_id]

    def timerEvent(self, event: QTimerEvent) -> None:
        handle = self._handles.get(event.timerId())
        if handle is None:
            self.killTimer(event.timerId())
            return
        self.end(handle)
        if not self._is_stopped and not handle.cancelled():
            handle._run()  # noqa: SLF001 - what a loop does with a handle; there is no public name for it

    def stop(self) -> None:
        self._is_stopped = True

    def set_debug(self, enabled: bool) -> None:
        """qasync tells it; nothing more is logged for it here."""


def end_cancelled_timers(loop: Any, timers: LoopTimers | None = None) -> LoopTimers:
    """Give a new qasync loop timers that end when what they are for is cancelled."""
    used = LoopTimers() if timers is None else timers

    def call_later(
        delay: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        if asyncio.iscoroutinefunction(callback) or not callable(callback):
            raise TypeError("a loop calls functions only")
        return used.add_callback(asyncio.TimerHandle(loop.time() + delay, callback, args, loop, context), delay)

    loop._timer = used  # noqa: SLF001 - qasync has no other way
    loop.call_later = call_later
    loop._timer_handle_cancelled = used.end  # noqa: SLF001 - asyncio's own name for it
    return used
