"""Writes one streamed answer: from the request to the finished row on disk. Knows no widget and no other chat.

An answer costs money, and its row is there as "streaming" before the call is made, with the id of the call's receipt:
that row is its durable intent, so none of `app.storage.paid_call_intents` is opened beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from app.core.money import source_of_sum
from app.service.errors import ContentBlocked, EvidenceRefused, InBandError, SealBroken, ServiceError, StreamCut
from app.storage.errors import StorageError
from app.ui.chat.session.answer_notes import CONTENT_FILTER, policy_of
from app.ui.chat.session.content_parts import filled, has_attachments
from app.ui.chat.session.live_answer import AnswerDelta, LiveAnswer
from app.ui.chat.session.schema_check import schema_violation

if TYPE_CHECKING:
    from app.service.chat import ChatStream, Price
    from app.service.chat_types import ChatRequest, RetryWait
    from app.service.client import OnWait
    from app.service.exchange import Exchange
    from app.service.sealed.resource import SealedStream
    from app.service.service import Service
    from app.storage.chat_rows import Message
    from app.storage.chat_store import ChatStore

Seal = Callable[["ChatRequest", "Price", "OnWait"], Awaitable["SealedStream"]]
SAVE_EVERY_S = 0.2  # a streamed answer is on disk at least every 250 ms


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended. `state` is the stored one; `error` is what the service layer raised, if anything."""

    state: str
    error: ServiceError | None = None
    exchange: Exchange | None = None
    trouble: StorageError | None = None  # what was to be sent could not be read
    sealed: SealedStream | None = None  # of an answer that came sealed to its end

    @property
    def seal_error(self) -> ServiceError | None:
        """What is wrong with the seal."""
        return self.error if isinstance(self.error, SealBroken | EvidenceRefused) else None


class AnswerWriter:
    """Streams one answer into a `LiveAnswer` and onto the disk.

    `on_arrived` is called once for each read of the stream, `on_wait` when a try failed and another follows,
    `on_begun` when the request is known, and `on_trouble` when the disk refuses. `seal` makes the sealed call of an
    answer that goes sealed or not at all; without it the answer is an open one.
    """

    def __init__(
        self,
        live: LiveAnswer,
        service: Service,
        history: ChatStore,
        *,
        on_begun: Callable[[], None],
        on_arrived: Callable[[AnswerDelta], None],
        on_wait: Callable[[RetryWait], None],
        on_trouble: Callable[[StorageError], None],
        seal: Seal | None = None,
    ) -> None:
        self._seal = seal
        self._live = live
        self._service = service
        self._history = history
        self._on_begun = on_begun
        self._on_arrived = on_arrived
        self._on_wait = on_wait
        self._on_trouble = on_trouble
        self._dirty = asyncio.Event()
        self._exchange: Callable[[], Exchange] | None = None

    async def run(self, request: ChatRequest) -> Ending:
        """Stream to the end. Canceling leaves everything that came in the `LiveAnswer` and raises as usual."""
        async with asyncio.TaskGroup() as group:
            saving = group.create_task(self._save_as_it_grows())
            try:
                return await self._stream(request)
            finally:
                saving.cancel()
                self._arrived(self._live.finish())

    async def _stream(self, request: ChatRequest) -> Ending:
        began = bool(self._live.text or self._live.reasoning)
        sealed: SealedStream | None = None
        try:
            if self._seal is not None:
                stream: ChatStream = await self._seal(request, self._live.price, self._on_wait)
                sealed = cast("SealedStream", stream)
            else:
                stream = await self._prepared(request)
            self._exchange = lambda: stream.exchange
            await self._history.sending(self._live.message_id, stream.exchange.id)
            self._on_begun()
            async with stream:
                async for events in stream:
                    if not began or self._live.first_event_at is None:
                        self._live.begin(stream.elapsed_s)
                    began = True
                    self._arrived(self._live.append(events))
            self._live.extra = stream.extra
        except ServiceError as error:
            arrived = bool(self._live.text or self._live.reasoning)
            if isinstance(error, StreamCut):
                error.arrived = arrived
            exchange = error.exchange or self.exchange
            if isinstance(error, ContentBlocked):  # an end like that by `finish_reason`, which nothing continues
                self._live.finish_reason = CONTENT_FILTER
                return Ending("complete" if began and arrived else "failed", error, exchange)
            kept = began and arrived and isinstance(error, (StreamCut, InBandError))
            return Ending("interrupted" if kept else "failed", error, exchange)
        except StorageError as error:
            return Ending("failed", trouble=error)
        return Ending("complete", None, self.exchange, sealed=sealed)

    async def _prepared(self, request: ChatRequest) -> ChatStream:
        """The call, with the bytes of attachments in it; large ones are read and encoded in a thread."""
        stream = self._service.chat.stream
        if not has_attachments(request):
            return stream(request, price=self._live.price, on_wait=self._on_wait)
        files = self._history.files

        def prepare() -> ChatStream:
            return stream(filled(request, files), price=self._live.price, on_wait=self._on_wait)

        return await asyncio.to_thread(prepare)

    @property
    def exchange(self) -> Exchange | None:
        """The call as far as it has come; None before it was made."""
        return self._exchange() if self._exchange is not None else None

    def _arrived(self, arrived: AnswerDelta) -> None:
        if arrived.text or arrived.reasoning or arrived.sources_changed or arrived.moved:
            self._dirty.set()
            self._on_arrived(arrived)

    async def _save_as_it_grows(self) -> None:
        """The first words are saved at once, later ones with those that came meanwhile."""
        live = self._live
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await self._dirty.wait()
                self._dirty.clear()
                try:
                    await self._history.save_progress(live.message_id, live.text, live.reasoning)
                except StorageError as error:
                    self._on_trouble(error)
                    return
                await asyncio.sleep(SAVE_EVERY_S)


async def store_ending(
    history: ChatStore,
    live: LiveAnswer,
    ending: Ending,
    *,
    error_text: str,
    sandbox: bool,
    earlier: Message,
    seal: str = "",
) -> Message:
    """Put the finished answer on disk. A continuation adds to what the row had used before."""
    has_answer = live.first_token_at is not None or live.usage is not None
    reported = live.usage is not None
    exchange = ending.exchange
    cost, source = (exchange.cost_usd, exchange.cost_source) if exchange is not None else (None, "none")
    before = earlier.usage
    policy = policy_of(exchange.info if exchange is not None else None)
    usage: dict[str, Any] = {
        "prompt": live.input_tokens + _whole(before, "prompt"),
        "cached": live.cached_tokens + _whole(before, "cached"),
        "completion": (live.output_tokens if has_answer else 0) + _whole(before, "completion"),
        "reasoning": (live.usage.reasoning if live.usage is not None else 0) + _whole(before, "reasoning"),
        "estimated": not reported or bool(before.get("estimated")),
        "searched": live.searched,
        "sandbox": sandbox,
        "calls": _whole(before, "calls") + 1,
        "duration_s": round(live.elapsed_s + _seconds(before, "duration_s"), 3),
        "finish_reason": live.finish_reason,
        **({"refused": True} if live.refused else {}),
        **({"policy": policy} if policy else {}),
        **({"seal": seal} if seal else {}),
    }
    if cost is not None:
        usage["cost_source"] = source_of_sum((source, str(before.get("cost_source"))))
        if not has_answer:  # it may have been charged, although nothing of it came
            told = ("cost_source", "estimated", "sandbox", "calls", "policy", "seal", "finish_reason")
            usage = {**before, **{name: usage[name] for name in told if name in usage}}
    ended = {"finish_reason": CONTENT_FILTER} if live.finish_reason == CONTENT_FILTER else {}
    if live.first_token_s is not None:
        usage["first_token_s"] = round(live.first_token_s, 3)
    if live.tokens_per_s is not None:
        usage["tokens_per_s"] = round(live.tokens_per_s, 1)
    if live.schema is not None and ending.state == "complete":
        usage["structured"] = misfit_of(live.text, live.schema)
    if earlier.cost_usd is not None:
        cost = earlier.cost_usd + (cost or 0)
    return await history.finish_message(
        live.message_id,
        state=ending.state,
        content=live.text,
        reasoning=live.reasoning,
        sources=[asdict(source) for source in live.sources] or None,
        error=error_text,
        model=live.model_id,
        exchange_id=exchange.id if exchange is not None else None,
        usage=usage if has_answer or cost is not None else {**before, **ended},
        cost_usd=cost,
        thinking_s=live.thinking_s,
        extra=live.extra or None,
    )


def misfit_of(text: str, schema: Mapping[str, Any]) -> str:
    """Where an answer leaves its schema, "" when it fits; for what is no JSON nothing is said, that can be seen."""
    try:
        return schema_violation(json.loads(text), schema)
    except (ValueError, RecursionError):
        return ""


def _whole(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _seconds(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
