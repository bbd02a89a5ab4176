"""Chat: `POST /chat/completions`, streamed or whole.

    async with service.chat.stream(request) as stream:
        async for events in stream:
            ...

Source: service specification, chat completions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from decimal import Decimal
from time import monotonic
from types import TracebackType
from typing import Protocol

from app.service.calls import Call, CallRecord, JsonContent
from app.service.chat_body import chat_body, parse_suffix
from app.service.chat_chunks import ChatReader
from app.service.chat_types import (
    ChatEvent,
    ChatRequest,
    ReasoningDelta,
    Source,
    TextDelta,
    TextWasReasoning,
    ToolCall,
    ToolCallsFound,
    Usage,
)
from app.service.client import OnWait, ServiceClient, ServiceResponse
from app.service.errors import BadResponse, ServiceError, StreamCut
from app.service.exchange import Exchange
from app.service.http.bodies import MAX_CHAT_BYTES, MAX_STREAM_BYTES
from app.service.http.sse import SseReader
from app.service.http.time_limits import CHAT_S
from app.service.rate_limiter import text_pace
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.translation import tr

__all__ = ["ChatAnswer", "ChatResource", "ChatStream", "parse_suffix"]

PATH = "/chat/completions"
DRAIN_S = 0.25
OPENED_AT_ONCE = 16  # envelopes, which take about a millisecond, two on a slow machine; then the window has its turn
MAX_ANSWER_CHARS = 4_000_000  # a million tokens, more than any model writes; an endless answer ends there
TEXTS = (TextDelta, ReasoningDelta)


class Seal(Protocol):
    """The sealed side of a stream: what has to hold before anything of an answer is read."""

    def accept(self, answer: ServiceResponse) -> None:
        """Look at the head of the answer. Raises `SealBroken`."""

    def open(self, read: bytes, chunks: list[bytes]) -> tuple[list[bytes], ServiceError | None]:
        """Return the chunks of a read with their texts opened, as far as they do, and why no more."""

    def drained(self, read: bytes) -> None:
        """Hear of bytes behind the end."""

    def ended(self, finish_reason: str) -> bool:
        """Whether the answer is whole, once its stream has ended well."""

    def failed(self, error: ServiceError) -> ServiceError:
        """The error as it is for a sealed request."""


Price = Callable[[Usage | None], Decimal | None]  # None: the answer was cut before the service counted it


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A whole answer. `extra` belongs into the assistant message of later requests, unchanged."""

    text: str
    reasoning: str
    sources: tuple[Source, ...]
    tool_calls: tuple[ToolCall, ...]
    usage: Usage | None
    cost_usd: Decimal | None
    finish_reason: str
    model: str
    extra: dict[str, object]
    exchange: Exchange


class ChatStream:
    """One streamed answer. Enter it, iterate once; leaving closes the connection, which stops the service's work.

    Each step gives the events of one network read, text joined. Iterating raises `ServiceError`; `StreamCut` when the
    answer ends without having said that it is complete.
    """

    def __init__(
        self,
        client: ServiceClient,
        call: Call,
        *,
        price: Price | None = None,
        on_wait: OnWait | None = None,
        seal: Seal | None = None,
    ) -> None:
        self._client = client
        self._call = call
        self._price = price
        self._on_wait = on_wait
        self._seal = seal
        self._record: CallRecord = client.record(call)
        self._reader = ChatReader(client.dialect.documents_tool_names)
        self._steps: AsyncGenerator[tuple[ChatEvent, ...], None] = self._run() if seal is None else self._sealed(seal)

    @property
    def exchange(self) -> Exchange:
        """The call as far as it has come; its request is there from the start."""
        return self._record.exchange

    @property
    def elapsed_s(self) -> float:
        """Seconds since the last try began, without what was waited before it."""
        return self._record.elapsed_s

    @property
    def info(self) -> ResponseInfo | None:
        """The answer's headers, once there are any."""
        return self._record.exchange.info

    @property
    def model(self) -> str:
        return self._reader.model or self._record.exchange.model

    @property
    def usage(self) -> Usage | None:
        return self._reader.usage

    @property
    def sources(self) -> tuple[Source, ...]:
        return self._reader.sources

    @property
    def finish_reason(self) -> str:
        return self._reader.finish_reason

    @property
    def extra(self) -> dict[str, object]:
        """What the assistant message must carry in later requests, unchanged."""
        return self._reader.extra

    async def __aenter__(self) -> ChatStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncIterator[tuple[ChatEvent, ...]]:
        return self._steps

    async def aclose(self) -> None:
        """Stop the answer. What was generated so far is probably charged."""
        await self._steps.aclose()

    async def _sealed(self, seal: Seal) -> AsyncGenerator[tuple[ChatEvent, ...], None]:
        try:
            async with aclosing(self._run()) as steps:
                async for events in steps:
                    yield events
        except ServiceError as error:
            told = seal.failed(error)
            if told is error:
                raise
            told.exchange = error.exchange
            raise told from None

    async def _run(self) -> AsyncGenerator[tuple[ChatEvent, ...], None]:
        reader, seal = self._reader, self._seal
        async with self._client.open(self._call, record=self._record, on_wait=self._on_wait) as answer:
            reader.info = answer.info
            if seal is not None:
                seal.accept(answer)
            if answer.info.content_type == "application/json":
                events = await self._whole(answer)
                yield events
                return
            if answer.info.content_type in ("text/html", "application/xhtml+xml"):
                raise BadResponse(
                    tr("The service answered with a web page."), status=answer.info.status, info=answer.info
                )
            sse, spoke = SseReader(), False
            try:
                async with aclosing(answer.pieces(may_rest=True)) as pieces:
                    feed, read = sse.feed, reader.read
                    at_once = sys.maxsize if seal is None else OPENED_AT_ONCE
                    broken: ServiceError | None
                    spoke_at, size = monotonic(), 0
                    async for piece in pieces:
                        came = feed(piece)
                        for first in range(0, len(came) or 1, at_once):
                            chunks, broken = came[first : first + at_once], None
                            if seal is not None:
                                if first:
                                    await asyncio.sleep(0)  # a burst of envelopes would hold the window
                                chunks, broken = seal.open(b"" if first else piece, chunks)
                            events = read(chunks)
                            if events:
                                spoke, spoke_at = True, monotonic()
                                yield events
                                size += sum(len(each.text) for each in events if isinstance(each, TEXTS))
                                if size > MAX_ANSWER_CHARS:
                                    raise answer.cut(tr("The answer is longer than any model’s. Rialto stopped it."))
                            elif monotonic() - spoke_at > self._call.answer_s:  # signs of life are no answer
                                raise answer.cut(tr("The answer stopped arriving."))
                            if broken is not None:
                                raise broken
                        if reader.ended:
                            break
                    else:
                        rest = sse.finish()
                        chunks, broken = [rest] if rest is not None else [], None
                        if seal is not None:
                            chunks, broken = seal.open(b"", chunks)
                        events = reader.read(chunks)
                        if not reader.ended:
                            events += reader.cut()
                        if events:
                            spoke = True
                            yield events
                        if broken is not None:
                            raise broken
                    if reader.failure is not None:
                        raise reader.failure
                    if not reader.done or (seal is not None and not seal.ended(reader.finish_reason)):
                        raise _cut(answer.info)
                    _count_tokens(self._client, self._call, reader.usage)
                    answer.complete = True
                    await _drain(pieces, seal)
            finally:
                if spoke or reader.usage is not None:
                    self._report()  # what came before a stop or a cut is charged, too

    async def _whole(self, answer: ServiceResponse) -> tuple[ChatEvent, ...]:
        """Some deployments ignore `stream` for some models and answer at once."""
        await answer.read()
        content = answer.json()
        if not isinstance(content, dict):
            raise BadResponse(tr("The service’s response is not an answer."), info=answer.info)
        events = self._reader.read_whole(content)
        if self._reader.failure is not None:
            raise self._reader.failure
        self._report()
        _count_tokens(self._client, self._call, self._reader.usage)
        return events

    def _report(self) -> None:
        _report(self._record, self._reader, self._price)


class ChatResource:
    """Asks models. `price` estimates the cost of an answer whose own cost the service does not state."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def stream(self, request: ChatRequest, *, price: Price | None = None, on_wait: OnWait | None = None) -> ChatStream:
        """Prepare a streamed answer; it is asked for when first iterated. Raises `LimitExceeded` at once.

        `on_wait` is told before each wait for another try or for a held budget.
        """
        return ChatStream(self._client, self._call(request, stream=True), price=price, on_wait=on_wait)

    async def complete(
        self, request: ChatRequest, *, price: Price | None = None, on_wait: OnWait | None = None
    ) -> ChatAnswer:
        """Return a whole answer. Raises `ServiceError`."""
        call = self._call(request, stream=False)
        record = self._client.record(call)
        reader = ChatReader(self._client.dialect.documents_tool_names)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            reader.info = answer.info
            content = answer.json()
            if not isinstance(content, dict):
                raise BadResponse(tr("The service’s response is not an answer."), info=answer.info)
            events = reader.read_whole(content)
            if reader.failure is not None:
                raise reader.failure
            _report(record, reader, price)
            _count_tokens(self._client, call, reader.usage)
        text, reasoning = _texts(events)
        return ChatAnswer(
            text=text,
            reasoning=reasoning,
            sources=reader.sources,
            tool_calls=tuple(call for event in events if isinstance(event, ToolCallsFound) for call in event.calls),
            usage=reader.usage,
            cost_usd=reader.cost_usd,
            finish_reason=reader.finish_reason,
            model=reader.model or request.model,
            extra=reader.extra,
            exchange=record.exchange,
        )

    def _call(self, request: ChatRequest, *, stream: bool) -> Call:
        body = chat_body(request, self._client.dialect.extension_object, stream=stream)
        return Call(
            "POST",
            PATH,
            CallKind.PAID,
            "chat",
            content=JsonContent(body),
            accept="text/event-stream" if stream else "application/json",
            max_bytes=MAX_STREAM_BYTES if stream else MAX_CHAT_BYTES,
            answer_s=CHAT_S,
            model=str(body["model"]),
            pace=text_pace(str(body["model"])),
        )


def _texts(events: Iterable[ChatEvent]) -> tuple[str, str]:
    """Return the text and the reasoning of an answer."""
    text = reasoning = ""
    for event in events:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, ReasoningDelta):
            reasoning += event.text
        elif isinstance(event, TextWasReasoning):
            text, reasoning = "", f"{text}{reasoning}".rstrip()
    return text, reasoning


def _count_tokens(client: ServiceClient, call: Call, usage: Usage | None) -> None:
    if usage is not None:
        client.limits.pace.spend(call.pace, usage.total)


def _report(record: CallRecord, reader: ChatReader, price: Price | None) -> None:
    usage = reader.usage
    units: dict[str, int] | None = None
    if usage is not None:
        units = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.total,
            "cached_tokens": usage.cached,
            "reasoning_tokens": usage.reasoning,
        }
    record.report(model=reader.model, units=units, cost_usd=reader.cost_usd, claimed=reader.claimed)
    if record.exchange.cost_source != "stated":
        estimate = price(usage) if price is not None else None
        record.report(cost_usd=estimate, cost_source="estimated")


def _cut(info: ResponseInfo) -> StreamCut:
    return StreamCut(
        tr("The answer ended before it was complete."), status=info.status, info=info, request_id=info.request_id
    )


async def _drain(pieces: AsyncIterator[bytes], seal: Seal | None) -> None:
    """Read the end of the body, so that the connection can serve the next call. Not worth waiting long for."""
    with suppress(TimeoutError, ServiceError):
        async with asyncio.timeout(DRAIN_S):
            async for piece in pieces:
                if seal is not None:
                    seal.drained(piece)
