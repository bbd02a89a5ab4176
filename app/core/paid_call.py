"""Records a paid call on disk through all its states, whichever way it ends.

    async with paid_call(intents, "speech", account.id, {"model": …, "input": …}) as paid:
        …                                           # still free to change one's mind: leaving here cancels
        await paid.sent()                           # on disk; the very next thing is the call
        speech = await service.speech.create(…)
        await paid.keep(save(speech), clip.id, exchange.id)     # on disk first, then "answered"

How a call that is not a top-up ends is read from what the service layer says about it, in `end_of_call`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from app.core.tasks import to_the_end
from app.service.calls import is_surely_undone
from app.service.errors import OutcomeUnknown, ServiceError
from app.storage.errors import StorageError
from app.translation import tr

if TYPE_CHECKING:
    from app.storage.paid_call_intents import Intent, Intents

Result = TypeVar("Result")
_log = logging.getLogger(__name__)
STOPPED_ON_ITS_WAY = tr("Stopped while sending. It may have been processed and charged.")
STOPPED_BEFORE = tr("Stopped before it was sent. Nothing was charged.")


def end_of_call(error: ServiceError) -> Literal["failed", "unknown"]:
    """Return how a paid call that raised has ended: "failed" only if it was surely not carried out.

    Never sent is failed. A refusal (4xx, and a 5xx of the service itself) is failed, unless the call is one that moves
    money and the service layer calls its outcome unknown. All else is unknown: no answer, an answer that broke off or
    cannot be read, an error inside an answer that had begun, a gateway that gave up waiting.
    """
    exchange = error.exchange
    if isinstance(error, OutcomeUnknown) or (exchange is not None and exchange.outcome == "unknown"):
        return "unknown"
    return "failed" if is_surely_undone(error) else "unknown"


class PaidCall:
    """One intent and how far it has come. Made by `paid_call`; a tab calls `sent` and `answered`."""

    def __init__(self, intents: Intents, intent: Intent) -> None:
        self._intents = intents
        self.intent = intent

    async def sent(self) -> None:
        """Note that the call leaves now. Raises `StorageError`: then it must not be made."""
        try:
            await self._turn(self._intents.sent(self.intent.id))
        except asyncio.CancelledError:
            await self._turn(self._intents.failed(self.intent.id, STOPPED_BEFORE))
            raise

    async def answered(self, reference: str = "", exchange_id: str = "", *, note: str = "") -> None:
        """Note that the service did it, after what it gave is on disk. Whatever happens later does not undo this."""
        await self._turn(self._intents.answered(self.intent.id, reference, exchange_id, note=note))

    async def keep(self, work: Coroutine[Any, Any, Result], reference: str = "", exchange_id: str = "") -> Result:
        """Put what the service gave on disk and note that it did it; a cancel waits for both."""

        async def keep() -> Result:
            result = await work
            await self.answered(reference, exchange_id)
            return result

        return await to_the_end(keep())

    async def ended(self, error: BaseException) -> None:
        """Note how it ended with `error`, unless its end is known already. Never raises: the error itself matters more.

        What cannot be noted stays "sent" and is unknown after the next start, which is the truth.
        """
        state, intent_id = self.intent.state, self.intent.id
        is_service = isinstance(error, ServiceError)
        exchange_id = error.exchange.id if isinstance(error, ServiceError) and error.exchange is not None else ""
        note = str(error) if is_service else ""
        try:
            if state == "intended" and is_service:
                await self._turn(self._intents.failed(intent_id, note, exchange_id))
            elif state == "intended":
                await self._turn(self._intents.cancel(intent_id, STOPPED_BEFORE))
            elif state == "sent" and isinstance(error, ServiceError) and end_of_call(error) == "failed":
                await self._turn(self._intents.failed(intent_id, note, exchange_id))
            elif state == "sent":
                stopped = isinstance(error, asyncio.CancelledError)
                words = STOPPED_ON_ITS_WAY if stopped else note or type(error).__name__
                await self._turn(self._intents.unknown(intent_id, words, exchange_id))
        except StorageError:
            _log.exception("The end of a paid call could not be recorded")

    async def _turn(self, change: Coroutine[Any, Any, Intent]) -> None:
        """Let a change of state end, whoever is canceled meanwhile: what is on disk is what is known here."""

        async def turn() -> None:
            self.intent = await change

        await to_the_end(turn())


@asynccontextmanager
async def paid_call(
    intents: Intents,
    kind: str,
    account_id: str,
    request: Mapping[str, Any],
    *,
    idempotency_key: str = "",
    id: str = "",
) -> AsyncIterator[PaidCall]:
    """Open an intent, and see to it that it ends in a true state. Raises `StorageError`, or what the block does.

    A block that ends by itself without `answered` is answered if it was sent, and cancelled if not.
    """
    intent = await intents.open(kind, account_id, request, idempotency_key, id=id)
    async with _walked(intents, intent) as paid:
        yield paid


@asynccontextmanager
async def _walked(intents: Intents, intent: Intent) -> AsyncIterator[PaidCall]:
    paid = PaidCall(intents, intent)
    try:
        yield paid
    except BaseException as error:
        await paid.ended(error)
        raise
    if paid.intent.state == "sent":
        await paid.answered()
    elif paid.intent.state == "intended":
        paid.intent = await intents.cancel(paid.intent.id)
