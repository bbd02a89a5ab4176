"""Closes what a thread opened when its caller was cancelled meanwhile.

A module of its own: it needs asyncio, which is not loaded before the first paint as the other repairs are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


async def to_thread_or_undo(make: Callable[[], Made], undo: Callable[[Made], object]) -> Made:
    """Return what `make()` made in a worker thread. Raises what it raises.

    A thread cannot be stopped: when the caller is cancelled meanwhile, `undo` is called with the result, in a thread.
    """
    loop = asyncio.get_running_loop()
    making = loop.run_in_executor(None, make)

    def give_back(made: asyncio.Future[Made]) -> None:
        if not made.cancelled() and made.exception() is None:
            loop.run_in_executor(None, undo, made.result())

    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(give_back)
        raise
