"""Which hosts were called since the start, and when each account was answered last. Numbers only, never contents.

It hears every receipt, so Settings can state what left this computer whenever it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.storage.receipts import Receipt, Receipts

Purpose = Literal["", "enclave", "images", "updates"]
_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class HostCalls:
    """Calls to one host since the start. `host` is "" for the Sandbox; `purpose` is "" for an account's own host."""

    host: str
    calls: int
    last_at: datetime
    purpose: Purpose = ""

    @property
    def is_here(self) -> bool:
        """True when nothing left this computer."""
        return not self.host or self.host in _HERE


@dataclass(frozen=True, slots=True)
class LastResponse:
    """`latency_ms` is known for short calls only: a chat lasts as long as its answer is long."""

    at: datetime
    latency_ms: int | None = None


class CallLog(QObject):
    """`changed` names the account that was answered, "" for a request of none."""

    changed = Signal(str)

    def __init__(self, address_of: Callable[[str], str]) -> None:
        """`address_of` gives an account's base address by its id, "" for the Sandbox and for one that is gone."""
        super().__init__()
        self._address_of = address_of
        self._hosts: dict[str, HostCalls] = {}
        self._last: dict[str, LastResponse] = {}

    @property
    def hosts(self) -> tuple[HostCalls, ...]:
        """The hosts by name, those on this computer last."""
        return tuple(sorted(self._hosts.values(), key=lambda row: (row.is_here, row.host)))

    def last_answer(self, account_id: str) -> LastResponse | None:
        return self._last.get(account_id)

    def note(self, receipt: Receipt) -> None:
        """Count one call; connect it to whoever tells receipts."""
        host = urlsplit(self._address_of(receipt.account_id)).hostname or ""
        asked = urlsplit(receipt.endpoint.rpartition(" ")[2]).hostname or ""  # a whole address: not the account's own
        is_other = asked not in ("", host, *_HERE)
        host = asked if is_other else host
        self._count(host, receipt.at, "enclave" if is_other else "")
        if not is_other and receipt.outcome in ("ok", "cut", "stopped"):
            short = receipt.endpoint.startswith("GET ")
            before = self._last.get(receipt.account_id)
            latency = round(receipt.duration_s * 1000) if short else before.latency_ms if before is not None else None
            self._last[receipt.account_id] = LastResponse(receipt.at, latency)
        self.changed.emit(receipt.account_id)

    def note_host(self, host: str, purpose: Purpose) -> None:
        """Count one request that belongs to no account."""
        self._count(host, datetime.now(UTC), purpose)
        self.changed.emit("")

    def _count(self, host: str, at: datetime, purpose: Purpose) -> None:
        row = self._hosts.get(host, HostCalls(host, 0, at, purpose))
        self._hosts[host] = replace(row, calls=row.calls + 1, last_at=at)

    async def read(self, receipts: Receipts, account_ids: Iterable[str]) -> None:
        """Learn from the receipts of earlier sessions when each account was answered. Raises `StorageError`."""
        for account_id in account_ids:
            recent = await receipts.recent(1, account_id=account_id)
            if recent and account_id not in self._last:
                self._last[account_id] = LastResponse(recent[0].at)
                self.changed.emit(account_id)
