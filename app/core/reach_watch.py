"""While a service cannot be reached, asks now and then whether it can be: nobody has to press anything to be back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import chain, repeat

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope

WAITS_S = (5.0, 10.0, 20.0, 40.0, 60.0)  # before each try; the last one again and again


class ReachWatch:
    """`probe` makes one free call that signs nothing; that it was answered is told by the caller itself."""

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        probe: Callable[[], Awaitable[None]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._current_account = current_account
        self._tasks = tasks
        self._knock = probe
        self._sleep = sleep
        current_account.reach_changed.connect(self._reach_changed)
        self._reach_changed()

    def _reach_changed(self) -> None:
        if self._is_cut_off():
            self._tasks.start("reach", self._watch)

    def _is_cut_off(self) -> bool:
        return bool(self._current_account.reach) and not self._current_account.is_sandbox

    async def _watch(self) -> None:
        for wait in chain(WAITS_S, repeat(WAITS_S[-1])):
            await self._sleep(wait)
            if not self._is_cut_off():
                return
            await self._knock()
            if not self._is_cut_off():
                return
