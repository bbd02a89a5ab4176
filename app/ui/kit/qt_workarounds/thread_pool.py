"""How what a thread made comes back to the window's own thread.

No thread may emit a signal of a page, or hold one. PySide looks whether the object of a signal lives and then lets
other threads run, so that a page which is closed at that moment ends the process; and a thread that lets go of a page
last destroys it there. Results come through one object that lives as long as the program, and are dropped where whoever
asked for them is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThreadPool, Signal

from app.ui.kit.qt_workarounds.alive import alive

Made = TypeVar("Made")


class _Failed:
    """What comes instead of a result when there is none."""


class _Mailbox(QObject):
    _arrived = Signal(int, object)

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()
        self._takers: dict[int, tuple[QObject, Callable[[Any], None]]] = {}
        self._arrived.connect(self._hand_over)

    def expect(self, owner: QObject, take: Callable[[Any], None]) -> Callable[[Any], None]:
        number = next(self._numbers)
        self._takers[number] = (owner, take)
        return partial(self._arrived.emit, number)

    def _hand_over(self, number: int, result: object) -> None:
        owner, take = self._takers.pop(number)
        if alive(owner) and not isinstance(result, _Failed):
            take(result)


@cache
def _mailbox() -> _Mailbox:  # not cache(_Mailbox): that asks for `__doc__`, for which PySide reads signatures
    return _Mailbox()


def once_in_window_thread(owner: QObject, take: Callable[[Made], None]) -> Callable[[Made], None]:
    """Return what any thread may call, once: `take` then runs in the window's thread, unless `owner` is gone.

    Asked for in the window's thread.
    """
    return _mailbox().expect(owner, take)


def run_in_pool(
    owner: QObject,
    work: Callable[[], Made],
    take: Callable[[Made], None],
    *,
    pool: QThreadPool | None = None,
    priority: int = 0,
) -> None:
    """Run `work` in a thread of the pool and `take` what it made in the window's, unless `owner` is gone then.

    `work` must not hold `owner`, nor anything else of the window. What it raises goes to `sys.excepthook`.
    """
    deliver: Callable[[Any], None] = once_in_window_thread(owner, take)

    def run() -> None:
        result: Made | _Failed = _Failed()
        try:
            result = work()
        finally:
            deliver(result)

    (pool or QThreadPool.globalInstance()).start(run, priority)
