"""Paid calls, on disk before they are sent, so that a restart after a crash knows which were begun.

    intended ──► sent ──► answered      the service said that it did it; `reference` is what it gave for the money
        │         ├─────► failed        surely not carried out
        │         └─────► unknown ────► answered, failed, or sent once more with the same idempotency key
        ├───────► failed                refused before anything left this computer
        └───────► cancelled             surely never sent

Everything a call needs to be looked up or repeated is in `request`, and no secret: no key, no sign-in, no signature
that is good for anything but this call. `app.core.paid_call` walks a call through these states.

What a call may have cost is not kept here: each has its receipt before it leaves (`app.storage.receipts`).

Chat needs no intent. Its question and the row that its answer grows in (`state="streaming"`) are on disk before the
call is made, so the row itself is the intent: `ChatStore.mark_interrupted` is to it what `settle_after_start` is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.table import Table
from app.storage.values import text_of
from app.translation import tr

IntentState = Literal["intended", "sent", "answered", "failed", "cancelled", "unknown"]
MAX_NOTE_CHARS = 2_000

_MAY_FOLLOW: Mapping[str, frozenset[str]] = {
    "sent": frozenset({"intended", "unknown"}),  # the second only with an idempotency key
    "answered": frozenset({"sent", "unknown"}),
    "failed": frozenset({"intended", "sent", "unknown"}),
    "unknown": frozenset({"sent"}),
    "cancelled": frozenset({"intended"}),
}
NEVER_SENT = tr("Rialto quit before this was sent. Nothing was charged.")
NOBODY_KNOWS = tr("Rialto quit while this was being sent. It may have been processed and charged.")


@dataclass(frozen=True, slots=True)
class Intent:
    """One paid call. `reference` is what the service gave for it: a job's id, a take's id, a transaction's hash.

    `note` is a sentence about how it ended. `exchange_id` names the receipt. `told` is True once a person was shown
    that nobody knows the end.
    """

    id: str
    kind: str  # the feature's word: "speech", "video", "images", "crypto_rpc", "x402", …
    account_id: str
    created_at: datetime
    changed_at: datetime
    request: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""
    state: IntentState = "intended"
    reference: str = ""
    note: str = ""
    exchange_id: str = ""
    told: bool = False

    @property
    def is_open(self) -> bool:
        """True while the end is not known, or when nobody will ever know it."""
        return self.state in ("intended", "sent", "unknown")


_INTENTS = Table(
    "intents",
    Intent,
    tr("This paid request is no longer in the history."),
    otherwise={"state": "unknown"},
)


class InvalidTransition(ValueError):
    """A change of state that makes no sense: a mistake in our program, never in what is stored."""


class Intents:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`, a senseless change
    `InvalidTransition`.

    Every change is pressed through to the disk before the call returns.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self, kind: str, account_id: str, request: Mapping[str, Any], idempotency_key: str = "", *, id: str = ""
    ) -> Intent:
        """Put what is about to be paid for on disk. `request` must survive JSON: dates and decimals come back as text.

        `id` is for a caller that has one already (a job's row of the same name); else one is made.
        """
        intent_id = id or new_id()
        now = self._database.now()
        await _INTENTS.insert(
            self._database,
            id=intent_id,
            kind=kind,
            account_id=account_id,
            created_at=now,
            changed_at=now,
            request=request,
            idempotency_key=idempotency_key,
        )
        return await self.one(intent_id)

    async def adopt(
        self,
        kind: str,
        intent_id: str,
        account_id: str,
        created_at: datetime,
        request: Mapping[str, Any],
        idempotency_key: str,
    ) -> IntentState:
        """Take over a call that another record says may have been sent; return its state.

        Where the database does not have it, or has it as never sent, it is unknown from now on.
        """
        now = self._database.now()
        async with self._database.transaction() as transaction:
            known = await _INTENTS.select(transaction, "WHERE id = ?", [intent_id])
            if known and known[0].state not in ("intended", "cancelled"):
                return known[0].state
            if not known:
                await _INTENTS.insert(
                    transaction,
                    id=intent_id,
                    kind=kind,
                    account_id=account_id,
                    created_at=created_at,
                    changed_at=now,
                    request=request,
                    idempotency_key=idempotency_key,
                )
            await _INTENTS.change(
                transaction, intent_id, request=request, state="unknown", note=NOBODY_KNOWS, changed_at=now, told=False
            )
            return "unknown"

    async def amend(self, intent_id: str, more: Mapping[str, Any]) -> Intent:
        """Add to the request of a call that has not left yet what came to be known since, such as its signed form."""
        async with self._database.transaction() as transaction:
            before = await _INTENTS.one(transaction, intent_id)
            if before.state != "intended":
                raise InvalidTransition(f"the request of an intent that is {before.state} cannot change")
            request = {**before.request, **more}
            await _INTENTS.change(transaction, intent_id, request=request, changed_at=self._database.now())
            return await _INTENTS.one(transaction, intent_id)

    async def sent(self, intent_id: str) -> Intent:
        """The call is about to leave: from here on nobody can be sure that it did not. Call it before sending.

        Also for sending once more what ended unknown, with the idempotency key it had; without one this raises.
        """
        return await self._turn(intent_id, "sent")

    async def answered(self, intent_id: str, reference: str = "", exchange_id: str = "", *, note: str = "") -> Intent:
        """The service did it. Also for what was unknown and has been found since."""
        return await self._turn(intent_id, "answered", note=note, reference=reference, exchange_id=exchange_id)

    async def failed(self, intent_id: str, note: str = "", exchange_id: str = "") -> Intent:
        """It was surely not carried out."""
        return await self._turn(intent_id, "failed", note=note, exchange_id=exchange_id)

    async def unknown(self, intent_id: str, note: str = "", exchange_id: str = "") -> Intent:
        """It may have been carried out, and nobody here can know."""
        return await self._turn(intent_id, "unknown", note=note, exchange_id=exchange_id)

    async def cancel(self, intent_id: str, note: str = "") -> Intent:
        """The person changed their mind before it was sent."""
        return await self._turn(intent_id, "cancelled", note=note)

    async def acknowledge(self, intent_id: str) -> Intent:
        """The person has seen that nobody knows the end: it stays unknown, and `pending` names it no more."""
        await _INTENTS.change(self._database, intent_id, told=True)
        return await self.one(intent_id)

    async def one(self, intent_id: str) -> Intent:
        return await _INTENTS.one(self._database, intent_id)

    async def state_of(self, intent_id: str) -> IntentState:
        """Return "unknown" also for an id that is not there."""
        try:
            return (await self.one(intent_id)).state
        except NotStored:
            return "unknown"

    async def pending(self, kind: str) -> tuple[Intent, ...]:
        """Return what is under way, and what ended unknown without the person having been told; oldest first."""
        return await _INTENTS.select(
            self._database,
            "WHERE state IN ('intended', 'sent', 'unknown') AND (state <> 'unknown' OR told = 0) AND kind = ?"
            " ORDER BY seq",
            [kind],
        )

    async def recent(self, kind: str, limit: int = 50) -> tuple[Intent, ...]:
        """Return the newest of a kind first, whatever became of them."""
        return await _INTENTS.select(self._database, "WHERE kind = ? ORDER BY seq DESC LIMIT ?", [kind, limit])

    async def unsettled(self, kind: str) -> tuple[Intent, ...]:
        """Return every call of a kind that may have been carried out, told or not; newest first."""
        return await _INTENTS.select(
            self._database,
            "WHERE state NOT IN ('intended', 'answered', 'failed', 'cancelled') AND kind = ? ORDER BY seq DESC",
            [kind],
        )

    async def settle_after_start(self) -> tuple[Intent, ...]:
        """At start, before any call: what was "sent" is now unknown, what was "intended" was surely never sent.

        Returns those that changed, as they are now. The unknown ones stay in `pending` until `tell`.
        """
        now = self._database.now()
        async with self._database.transaction() as transaction:
            left = "SELECT id FROM intents WHERE state IN ('intended', 'sent') ORDER BY seq"
            ids = [row[0] for row in await transaction.fetch(left)]
            for before, after, note in (("sent", "unknown", NOBODY_KNOWS), ("intended", "cancelled", NEVER_SENT)):
                await _INTENTS.update(transaction, "state = ?", [before], state=after, note=note, changed_at=now)
            return tuple([await _INTENTS.one(transaction, intent_id) for intent_id in ids])

    async def _turn(
        self, intent_id: str, state: str, *, note: str = "", reference: str = "", exchange_id: str = ""
    ) -> Intent:
        """Change the state if it may follow; what is left empty stays as it was, but a note belongs to its state."""
        async with self._database.transaction() as transaction:
            before = await _INTENTS.one(transaction, intent_id)
            if before.state not in _MAY_FOLLOW[state]:
                raise InvalidTransition(f"an intent that is {before.state} cannot become {state}")
            if state == "sent" and before.state == "unknown" and not before.idempotency_key:
                raise InvalidTransition("without an idempotency key, sending again could pay twice")
            await _INTENTS.change(
                transaction,
                intent_id,
                state=state,
                note=text_of(note)[:MAX_NOTE_CHARS],
                reference=reference or before.reference,
                exchange_id=exchange_id or before.exchange_id,
                changed_at=self._database.now(),
                told=False,
            )
            return await _INTENTS.one(transaction, intent_id)
