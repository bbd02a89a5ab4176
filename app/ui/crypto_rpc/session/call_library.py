"""The requests that were sent, as the list shows them: searched, moved to the trash, restored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.trash import TrashEntry, TrashKind, moved_text
from app.storage.errors import NoHistory
from app.storage.rpc_calls import RpcCall, RpcCalls
from app.ui.crypto_rpc.session.call_words import entry_of, title_of
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.kit.lists.rows import build_rows

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.trash import Trash
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces
    from app.ui.crypto_rpc.session.decoding import Interfaces
    from app.ui.crypto_rpc.state import CallEntry

MAX_LISTED = 500
MOMENT_S = 0.3  # longer work sends many requests a second


class CallLibrary(QObject):
    """`calls` is None until the database is open."""

    changed = Signal(object)  # tuple[CallEntry, ...]

    def __init__(
        self, tasks: TaskScope, now: Callable[[], datetime], trash: Trash, interfaces: ContractInterfaces
    ) -> None:
        super().__init__()
        self._tasks = tasks
        self._now = now
        self._search = ""
        self._trash = trash
        self._interfaces = interfaces
        self.mark_of: Callable[[str], str] = lambda _account_id: ""
        trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        self.calls: RpcCalls | None = None

    def search(self, text: str) -> None:
        self._search = text
        self._tasks.replace("rpc list", self.read)

    async def read(self) -> None:
        """Read the list again and show it."""
        if self.calls is not None:
            wanted = self._search
            found = await self.calls.recent(search=wanted, limit=MAX_LISTED)
            rounds = await self.calls.rounds(found)
            now, known = self._now(), self._interfaces.interfaces()

            def entry(call: RpcCall) -> CallEntry:
                return entry_of(call, now, known, self.mark_of(call.account_id), rounds.get(call.id))

            entries = await asyncio.to_thread(lambda: tuple(build_rows(found, entry)))
            if wanted == self._search:  # else a newer search shows its own
                self.changed.emit(entries)

    def soon(self) -> None:
        """Read the list again in a moment: once for all that is sent until then."""
        self._tasks.start_unless_running("rpc list soon", self._read_soon)

    async def _read_soon(self) -> None:
        await asyncio.sleep(MOMENT_S)
        await self.read()

    def move_to_trash(self, call_ids: tuple[str, ...]) -> None:
        if self.calls is not None and call_ids:
            self._tasks.start_unless_running(f"rpc trash {call_ids[0]}", self._move_to_trash, self.calls, call_ids)

    async def _move_to_trash(self, calls: RpcCalls, call_ids: tuple[str, ...]) -> None:
        known = self._interfaces.interfaces()
        titles = [title_of(await calls.one(call_id), known) for call_id in call_ids[:1]]
        await calls.trash(call_ids, self._now())
        await self.read()
        await self._trash.moved(call_ids, moved_text([*titles, *call_ids[1:]], "calls"))

    async def _trashed(self) -> list[TrashEntry]:
        now, known = self._now(), self._interfaces.interfaces()
        found = await self.calls.recent(trashed=True, limit=MAX_LISTED) if self.calls is not None else ()
        return [_trash_entry(call, now, known) for call in found]

    async def _restore(self, call_ids: tuple[str, ...]) -> None:
        if self.calls is None:
            raise NoHistory
        await self.calls.trash(call_ids, None)
        await self.read()

    async def _delete(self, call_ids: tuple[str, ...]) -> None:
        if self.calls is None:
            raise NoHistory
        await self.calls.delete(call_ids, self._now())


def _trash_entry(call: RpcCall, now: datetime, interfaces: Interfaces) -> TrashEntry:
    moment = call.trashed_at or now
    second = f"{network_title(call.network)} · {time_format.when(moment, now)}"
    return TrashEntry(call.id, title_of(call, interfaces), second, moment)
