"""A generator that nobody holds any more is closed on the event loop, not torn apart by the garbage collector."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

from app.ui.kit.qt_workarounds.async_generators import close_left_generators


async def test_a_generator_left_half_way_runs_its_ending() -> None:
    undo = close_left_generators(asyncio.get_running_loop())
    ended = asyncio.Event()

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)  # an ending that waits cannot run inside the collector
            ended.set()

    async def take_one() -> None:
        async for _ in numbers():
            return

    try:
        await take_one()
        gc.collect()
        async with asyncio.timeout(60):
            await ended.wait()
    finally:
        undo()
