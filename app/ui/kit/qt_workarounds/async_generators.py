"""Closes async generators that were left half-way, as asyncio's own loops do and qasync's does not.

A module of its own: it goes with the version of qasync that needs it.

A stopped answer leaves some: httpx reads a body through several generators, one inside the other, and only the
outermost is closed by name. Without this each of them ends in "async generator ignored GeneratorExit" and its socket
waits for the garbage collector.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any

Restore = Callable[[], None]


def close_left_generators(loop: asyncio.AbstractEventLoop) -> Restore:
    """Have generators of this thread closed on `loop` when nobody holds them any more; the result undoes it."""
    before = sys.get_asyncgen_hooks()
    closing: set[asyncio.Task[None]] = set()

    def close(generator: AsyncGenerator[Any, Any]) -> None:
        # The one task without a TaskScope: its generator has lost its owner already.
        task = loop.create_task(_close(generator))
        closing.add(task)
        task.add_done_callback(closing.discard)

    def finalize(generator: AsyncGenerator[Any, Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(close, generator)

    sys.set_asyncgen_hooks(finalizer=finalize)
    return lambda: sys.set_asyncgen_hooks(before.firstiter, before.finalizer)


async def _close(generator: AsyncGenerator[Any, Any]) -> None:
    await generator.aclose()
