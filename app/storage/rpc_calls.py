"""Every request to a blockchain node: on disk with its idempotency key before it is sent, with its answer afterwards.

open ──► answered     a JSON-RPC answer came, with or without errors in it
   ├───► failed       surely not carried out, or refused as a whole
   └───► unknown      nobody knows; under its key it can be sent again within 24 hours without a second charge

A signed transaction is never kept: in its place stands its hash (R-RPC-41). Answers lie compressed beside the list.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.table import Table
from app.storage.values import micros_of, moment_of, read_text, text_of
from app.translation import tr

if TYPE_CHECKING:
    from app.storage.database import Transaction

CallState = Literal["open", "answered", "failed", "unknown"]
KEY_LIFETIME = timedelta(hours=24)  # R-RPC-33
DELETED = 0  # in place of the moment of a call that is only counted any more
MAX_KEPT_ANSWER_BYTES = 64 * 1024 * 1024  # as much as an answer may have
STRONG_BYTES = 4 * 1024 * 1024  # above, packing quickly matters more than packing small
MAX_WORDS_CHARS = 20_000
LATELY = 2_000  # the newest requests, which are looked through for what was used lately
MAX_NOTE_CHARS = 2_000
ENDED_UNDER_WAY = tr("Rialto quit while this was being sent.")


@dataclass(frozen=True, slots=True)
class RpcCall:
    """One request, one call or a batch. `items` is the JSON text of what was asked, without signed payloads.

    `digest` is the SHA-256 of network and exact bytes, in hexadecimal: equal for the runs of one request. `credits` and
    `cost_usd` are what the service stated, None when it did not. `transactions` maps an item's id to the hash of the
    signed transaction in it, and `tracked` to what is known of it: sender, recipient, value in wei, and its receipt
    once it is in a block. `job_id` is the same for the requests of one piece of work, such as watching a chain.
    """

    id: str
    at: datetime
    account_id: str
    network: str
    items: str
    digest: str
    batch: bool = False
    idempotency_key: str = ""
    state: CallState = "open"
    replayed: bool = False
    status: int | None = None
    estimate_credits: int = 0
    credits: int | None = None
    cost_usd: Decimal | None = None
    errors: int = 0
    request_id: str = ""
    exchange_id: str = ""
    duration_s: float | None = None
    headers: Mapping[str, Any] = field(default_factory=dict)
    transactions: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    trashed_at: datetime | None = None
    job_id: str = ""
    tracked: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 1

    @property
    def key_ends_at(self) -> datetime | None:
        """Until when the service remembers the answer under the key, counted from the first sending."""
        return self.at + KEY_LIFETIME if self.idempotency_key else None


@dataclass(frozen=True, slots=True)
class Rounds:
    """The equal requests of one job together: how many, their credits, how many had errors, and when the last was."""

    requests: int
    credits: int
    errors: int
    last_at: datetime


class Refusal(TypedDict, total=False):
    """What is known of a request without an answer: its refusal, and how often it was sent."""

    status: int | None
    request_id: str
    exchange_id: str
    headers: Mapping[str, str]
    attempts: int
    body: bytes


_CALLS = Table("rpc_calls", RpcCall, tr("This request no longer exists."), otherwise={"state": "unknown"})


class RpcCalls:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self,
        account_id: str,
        network: str,
        items: str,
        *,
        at: datetime,
        digest: str,
        batch: bool = False,
        idempotency_key: str = "",
        estimate_credits: int = 0,
        transactions: Mapping[str, str] | None = None,
        tracked: Mapping[str, Mapping[str, object]] | None = None,
        job_id: str = "",
    ) -> RpcCall:
        """Put a request on disk; only then may it be sent."""
        call = RpcCall(
            id=new_id(),
            at=at,
            account_id=account_id,
            network=network,
            items=items,
            digest=digest,
            batch=batch,
            idempotency_key=idempotency_key,
            estimate_credits=estimate_credits,
            transactions=dict(transactions or {}),
            job_id=job_id,
            tracked=dict(tracked or {}),
        )
        words = f"{network} {items}".lower()[:MAX_WORDS_CHARS]
        await _CALLS.insert(self._database, **_CALLS.values(call), words=words)
        return call

    async def answered(
        self,
        call_id: str,
        body: bytes,
        *,
        status: int,
        credits: int | None,
        cost_usd: Decimal | None,
        errors: int = 0,
        replayed: bool = False,
        request_id: str = "",
        exchange_id: str = "",
        duration_s: float | None = None,
        headers: Mapping[str, str] | None = None,
        attempts: int = 1,
    ) -> None:
        """Keep an answer. One too large to keep leaves everything but its body."""
        level = 6 if len(body) <= STRONG_BYTES else 1
        packed = await asyncio.to_thread(zlib.compress, body, level) if len(body) <= MAX_KEPT_ANSWER_BYTES else None
        async with self._database.transaction() as transaction:
            await _CALLS.change(
                transaction,
                call_id,
                state="answered",
                status=status,
                credits=credits,
                cost_usd=cost_usd,
                errors=errors,
                replayed=replayed,
                request_id=request_id,
                exchange_id=exchange_id,
                duration_s=duration_s,
                headers=headers or {},
                attempts=attempts,
                note="",
            )
            if packed is not None:
                await _keep_body(transaction, call_id, packed, len(body))

    async def failed(self, call_id: str, note: str, **known: Unpack[Refusal]) -> None:
        """It was surely not carried out, or refused as a whole; `note` says why."""
        await self._end(call_id, "failed", note, **known)

    async def unknown(self, call_id: str, note: str, **known: Unpack[Refusal]) -> None:
        """Nobody knows whether it was carried out. An answer that was kept stays beside it."""
        await self._end(call_id, "unknown", note, **known)

    async def _end(self, call_id: str, state: CallState, note: str, **known: Unpack[Refusal]) -> None:
        body = known.pop("body", b"")
        packed = await asyncio.to_thread(zlib.compress, body) if body else b""
        async with self._database.transaction() as transaction:
            await _CALLS.change(transaction, call_id, state=state, note=text_of(note)[:MAX_NOTE_CHARS], **known)
            if body:
                await _keep_body(transaction, call_id, packed, len(body))

    async def track(self, call_id: str, tracked: Mapping[str, object]) -> None:
        """Keep what is known now of the transactions of a call."""
        await _CALLS.change(self._database, call_id, tracked=dict(tracked))

    async def with_transactions(self, limit: int) -> tuple[RpcCall, ...]:
        """The requests that sent signed transactions, of every account, the newest first."""
        rest = "WHERE transactions <> '{}' AND trashed_at IS NULL ORDER BY seq DESC LIMIT ?"
        return await _CALLS.select(self._database, rest, (limit,))

    async def settle_after_start(self) -> int:
        """What was on its way when the program ended is unknown now. Return how many there were."""
        return await _CALLS.update(self._database, "state = 'open'", (), state="unknown", note=ENDED_UNDER_WAY)

    async def one(self, call_id: str) -> RpcCall:
        return await _CALLS.one(self._database, call_id)

    async def body(self, call_id: str) -> bytes | None:
        """The answer's body, None when there is none or it was too large to keep."""
        row = await self._database.fetch_one("SELECT body FROM rpc_answers WHERE call_id = ?", (call_id,))
        return None if row is None else await asyncio.to_thread(zlib.decompress, row[0])

    async def recent(self, *, search: str = "", limit: int = 500, trashed: bool = False) -> tuple[RpcCall, ...]:
        """The newest first; with a search those that hold all of its words in methods, network or parameters.

        Of the equal requests of a job only the first; `rounds` tells the others.
        """
        words = [word for word in search.lower().split() if word]
        where = [f"trashed_at > {DELETED}" if trashed else "trashed_at IS NULL"]
        where += ["instr(words, ?) > 0"] * len(words)
        first = (
            "SELECT min(equal.seq) FROM rpc_calls AS equal WHERE equal.job_id = rpc_calls.job_id"
            " AND equal.digest = rpc_calls.digest AND equal.trashed_at IS rpc_calls.trashed_at"
        )
        where.append(f"CASE job_id WHEN '' THEN TRUE ELSE seq IN ({first}) END")
        rest = f"WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT ?"
        return await _CALLS.select(self._database, rest, (*words, limit))

    async def rounds(self, calls: Sequence[RpcCall]) -> dict[str, Rounds]:
        """By the id of a call: the requests of its job that are equal to it. Calls of no job are left out."""
        jobs = {call.job_id for call in calls if call.job_id}
        rows = await self._database.fetch(
            "SELECT job_id, digest, count(*), sum(CASE WHEN replayed OR state = 'failed' THEN 0"
            " ELSE coalesce(credits, estimate_credits) END), sum(errors > 0 OR state = 'failed'), max(at)"
            f" FROM rpc_calls WHERE job_id IN ({', '.join('?' * len(jobs))}) GROUP BY job_id, digest",
            tuple(jobs),
        )
        found = {(row[0], row[1]): Rounds(int(row[2]), int(row[3]), int(row[4]), moment_of(row[5])) for row in rows}
        return {call.id: found[call.job_id, call.digest] for call in calls if (call.job_id, call.digest) in found}

    async def networks_used(self, limit: int) -> tuple[str, ...]:
        """The networks that were asked last, the last one first; every account's."""
        rows = await self._database.fetch(
            "SELECT network FROM (SELECT network, seq FROM rpc_calls ORDER BY seq DESC LIMIT ?)"
            " GROUP BY network ORDER BY max(seq) DESC LIMIT ?",
            (LATELY, limit),
        )
        return tuple(read_text(row[0]) for row in rows)

    async def runs(self, account_id: str, digest: str) -> tuple[RpcCall, ...]:
        """All runs of one request, the first first."""
        where = "WHERE account_id = ? AND digest = ? AND trashed_at IS NOT ? ORDER BY seq"
        return await _CALLS.select(self._database, where, (account_id, digest, DELETED))

    async def first_under(self, account_id: str, key: str, now: datetime) -> RpcCall | None:
        """The request for which a key was first used, while the service still remembers it.

        What surely never arrived does not count.
        """
        found = await _CALLS.select(
            self._database,
            "WHERE account_id = ? AND idempotency_key = ? AND at > ? AND state <> 'failed' ORDER BY seq LIMIT 1",
            (account_id, key, micros_of(now - KEY_LIFETIME)),
        )
        return found[0] if found else None

    async def is_answered(self, account_id: str, key: str) -> bool:
        """Whether an answer to a request with this key was received and kept."""
        row = await self._database.fetch_one(
            "SELECT 1 FROM rpc_calls WHERE account_id = ? AND idempotency_key = ? AND state = 'answered' LIMIT 1",
            (account_id, key),
        )
        return row is not None

    async def used_since(self, account_id: str, since: datetime) -> tuple[int, int]:
        """Requests and credits of an account since a moment; estimated where the service stated nothing."""
        row = await self._database.fetch_one(
            "SELECT count(*), coalesce(sum(CASE WHEN replayed THEN 0 WHEN state = 'failed' THEN 0"
            " ELSE coalesce(credits, estimate_credits) END), 0)"
            " FROM rpc_calls WHERE account_id = ? AND at > ?",
            (account_id, micros_of(since)),
        )
        assert row is not None
        return int(row[0]), int(row[1])

    async def first_since(self, account_id: str, since: datetime) -> datetime | None:
        """When an account's first request after a moment was sent; None when there was none."""
        row = await self._database.fetch_one(
            "SELECT min(at) FROM rpc_calls WHERE account_id = ? AND at > ?", (account_id, micros_of(since))
        )
        return None if row is None or row[0] is None else moment_of(row[0])

    async def trash(self, call_ids: tuple[str, ...], at: datetime | None) -> None:
        """Move calls to the trash, each with the equal requests of its job, or with None back out of it."""
        await _CALLS.update(self._database, *_with_rounds(call_ids), trashed_at=at)

    async def delete(self, call_ids: tuple[str, ...], now: datetime) -> None:
        """Delete what was sent and answered for good.

        Credits and key of a call stay for the day in which they count against the caps and a repeat is free.
        """
        where, which = _with_rounds(call_ids)
        async with self._database.transaction() as work:
            await work.execute(
                f"DELETE FROM rpc_answers WHERE call_id IN (SELECT id FROM rpc_calls WHERE {where})", which
            )
            await work.execute(
                "UPDATE rpc_calls SET trashed_at = ?, items = '[]', words = '', headers = '{}', transactions = '{}',"
                f" tracked = '{{}}', note = '' WHERE {where}",
                (DELETED, *which),
            )
            await work.execute(
                "DELETE FROM rpc_calls WHERE trashed_at = ? AND at <= ?", (DELETED, micros_of(now - KEY_LIFETIME))
            )


def _with_rounds(call_ids: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """A condition that finds calls and the equal requests of their jobs, and its values."""
    marks = ", ".join("?" * len(call_ids))
    job = f"SELECT job_id, digest FROM rpc_calls WHERE job_id <> '' AND id IN ({marks})"
    return f"(id IN ({marks}) OR (job_id, digest) IN ({job}))", (*call_ids, *call_ids)


async def _keep_body(transaction: Transaction, call_id: str, packed: bytes, size: int) -> None:
    await transaction.execute(
        "INSERT OR REPLACE INTO rpc_answers (call_id, body, size_bytes) VALUES (?, ?, ?)", (call_id, packed, size)
    )
