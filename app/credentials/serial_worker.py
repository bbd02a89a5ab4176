"""One daemon thread for calls that may block until a person answers a window of the system."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class SerialWorker:
    """Runs one call after another, so that two windows never ask for the same password.

    A daemon thread, unlike those of `asyncio.to_thread`: a prompt nobody answers must not keep the program from
    ending. A call that was given up while it waited in line is never made.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, work: Callable[[], Result], limit_s: float) -> Result:
        """Return what `work()` returns. Raises what it raises, and `TimeoutError` after `limit_s` seconds."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._jobs.put((work, loop, answer))
        async with asyncio.timeout(limit_s):
            return await answer

    def _serve(self) -> None:
        while True:
            work, loop, answer = self._jobs.get()
            if answer.cancelled():
                continue
            try:
                result = work()
            except BaseException as error:  # handed on whole to the one who asked
                self._settle(loop, answer, None, error)
            else:
                self._settle(loop, answer, result, None)

    @staticmethod
    def _settle(
        loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Any], result: Any, error: BaseException | None
    ) -> None:
        def settle() -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile; nobody waits any more
            loop.call_soon_threadsafe(settle)
