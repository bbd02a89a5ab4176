"""Lets qasync's thread on Windows wait for events of the network instead of looking for them 100 times a second.

Each look takes Python's lock and wakes the processor. The thread looks so often only to notice that it should end, so
that is reported to it as an event. A module of its own: it goes with the version of qasync that needs it.
"""

from __future__ import annotations

from typing import Any

LONGEST_WAIT_S = 60.0
_POLLER, _WORKER, _IS_STOPPED = "_ProactorEventLoop__event_poller", "_EventPoller__worker", "_EventWorker__stop"


def wait_for_events(loop: Any) -> None:
    """Change a new qasync loop of Windows. Does nothing if qasync is built differently than expected."""
    poller = getattr(loop, _POLLER, None)
    proactor = getattr(loop, "_proactor", None)
    if poller is None or proactor is None:
        return
    import _overlapped  # part of CPython on Windows

    wait, stop = proactor.select, poller.stop

    def stop_at_once() -> None:
        worker = getattr(poller, _WORKER, None)
        if worker is not None:
            setattr(worker, _IS_STOPPED, True)
            _overlapped.PostQueuedCompletionStatus(proactor._iocp, 0, 0, 0)  # noqa: SLF001 - asyncio's own name for it
        stop()

    proactor.select = lambda timeout=None: wait(LONGEST_WAIT_S if timeout is not None and timeout > 0 else timeout)
    poller.stop = stop_at_once
