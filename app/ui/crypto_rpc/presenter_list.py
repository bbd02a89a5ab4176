"""The requests that were sent, as the list shows them: searched, moved to the trash, taken out again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.presenter_words import entry_of

if TYPE_CHECKING:
    from app.ui.shared.tasks import TaskScope

MAX_LISTED = 500
MOMENT_S = 0.3  # longer work sends many requests a second


class CallShelf(QObject):
    """`calls` is None until the database is open."""

    changed = Signal(object)  # tuple[CallEntry, ...]
    notice = Signal(str, str, str)  # a sentence, an action's id and words

    def __init__(self, tasks: TaskScope, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._tasks = tasks
        self._now = now
        self._search = ""
        self._trashed: tuple[str, ...] = ()
        self.calls: RpcCalls | None = None

    def search(self, text: str) -> None:
        self._search = text
        self._tasks.replace("rpc list", self.read)

    async def read(self) -> None:
        """Read the list again and show it."""
        if self.calls is not None:
            wanted = self._search
            found = await self.calls.recent(search=wanted, limit=MAX_LISTED)
            now = self._now()
            entries = await asyncio.to_thread(lambda: tuple(entry_of(call, now) for call in found))
            if wanted == self._search:  # else a newer search shows its own
                self.changed.emit(entries)

    def soon(self) -> None:
        """Read the list again in a moment: once for all that is sent until then."""
        self._tasks.start("rpc list soon", self._read_soon)

    async def _read_soon(self) -> None:
        await asyncio.sleep(MOMENT_S)
        await self.read()

    def trash(self, call_ids: tuple[str, ...]) -> None:
        self._tasks.start("rpc trash", self._trash, call_ids)

    async def _trash(self, call_ids: tuple[str, ...]) -> None:
        if self.calls is None:
            return
        await self.calls.trash(call_ids, self._now())
        self._trashed = call_ids
        await self.read()
        words = "The request is in the trash." if len(call_ids) == 1 else f"{len(call_ids)} requests are in the trash."
        self.notice.emit(words, "rpc-undo", "Undo")

    def undo(self) -> None:
        """Take the last requests out of the trash again."""
        self._tasks.start("rpc undo", self._undo)

    async def _undo(self) -> None:
        if self.calls is not None and self._trashed:
            await self.calls.trash(self._trashed, None)
            self._trashed = ()
            await self.read()
