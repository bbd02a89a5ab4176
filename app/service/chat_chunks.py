"""The JSON of chat answers, whole or chunk by chunk, to events.

Every chunk first goes through a typed decoder, which costs about as much as finding its end; whatever does not fit
goes through a tolerant reader, so that an odd field never costs the text beside it.
Source: service specification, chat completions, response and streaming.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Literal

import msgspec

from app.service.chat_types import (
    ChatEvent,
    Finished,
    ModelNamed,
    ReasoningDelta,
    Source,
    SourcesFound,
    TextDelta,
    ToolCall,
    ToolCallsFound,
    Usage,
    UsageReported,
)
from app.service.dialect import EXTENSION_OBJECTS, SEARCH_RESULT_KEYS
from app.service.error_bodies import decode_in_band, plain_text
from app.service.errors import BadAnswer, InBandError, ServiceError
from app.service.json_text import MAX_DEPTH, read_json, would_overflow
from app.service.response_info import ResponseInfo, money
from app.service.think_tags import ThinkTags

DONE = b"[DONE]"
MAX_SOURCES = 200
MAX_SOURCE_CHARS = 4000
MAX_TOOL_CALLS = 128
MAX_TOKENS = 10**12


class _Delta(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None  # the same under the name that local servers use
    tool_calls: object = None
    reasoning_details: object = None
    thought_signature: object = None


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: object = None
    cost: object = None
    error: object = None
    service_parameters: object = None
    venice_parameters: object = None
    service_search_results: object = None
    venice_search_results: object = None


class _PlainDelta(msgspec.Struct, gc=False):
    """Text and nothing else: what is typed None here makes the decoder refuse the chunk when it is there."""

    content: str
    reasoning_content: None = None
    reasoning: None = None
    tool_calls: None = None
    reasoning_details: None = None
    thought_signature: None = None


class _PlainChoice(msgspec.Struct, gc=False):
    delta: _PlainDelta
    index: Literal[0] = 0
    finish_reason: None = None


class _PlainChunk(msgspec.Struct, gc=False):
    choices: tuple[_PlainChoice]
    model: str = ""
    usage: None = None
    error: None = None
    service_parameters: None = None
    venice_parameters: None = None
    service_search_results: None = None
    venice_search_results: None = None


_decode_plain = msgspec.json.Decoder(_PlainChunk).decode
_decode_chunk = msgspec.json.Decoder(_Chunk, float_hook=Decimal).decode
_UNFIT = (msgspec.MsgspecError, ValueError, RecursionError)


class ChatReader:
    """Turns chunks into events and keeps what the answer as a whole amounts to."""

    def __init__(self, documents_tool_names: tuple[str, ...], info: ResponseInfo | None = None) -> None:
        self.info = info
        self.model = ""
        self.usage: Usage | None = None
        self.cost_usd: Decimal | None = None
        self.finish_reason = ""
        self.sources: tuple[Source, ...] = ()
        self.done = False
        self.failure: ServiceError | None = None
        self.ended = False  # done or failed
        self._documents_tool_names = documents_tool_names
        self._tags = ThinkTags()
        self._calls: list[dict[str, object]] = []
        self._thoughts: list[str] = []
        self._extra: dict[str, object] = {}
        self._events: list[ChatEvent] = []
        self._texts: list[str] = []
        self._reasoning = False

    @property
    def extra(self) -> dict[str, object]:
        """What the assistant message must carry in later requests, unchanged."""
        thoughts = {"reasoning_content": "".join(self._thoughts)} if self._thoughts else {}
        return {**thoughts, **self._extra}

    def read(self, chunks: Iterable[bytes]) -> tuple[ChatEvent, ...]:
        """Return the events of some chunks, neighbouring text joined.

        Never raises: an error stands in `failure` afterwards, behind the events that came before it.
        """
        tags, texts = self._tags, self._texts
        for data in chunks:
            if len(data) > MAX_DEPTH and would_overflow(data):
                self.failure = self._unreadable()
                self.ended = True
                break
            try:
                plain = _decode_plain(data)
            except _UNFIT:
                self._read_chunk(data)
                self.ended = self.done or self.failure is not None
                if self.ended:
                    break
                continue
            if plain.model != self.model:
                self._name_model(plain.model)
            content = plain.choices[0].delta.content
            if tags.quiet and not self._reasoning and "<" not in content and "`" not in content:
                texts.append(content)
            else:
                self._read_text(content)
        if self.done:
            self._end()
        elif texts and not self._events and not self._reasoning:  # only text: what nearly every read amounts to
            text = "".join(texts)
            texts.clear()
            return (TextDelta(text),) if text else ()
        return self._taken()

    def _read_chunk(self, data: bytes) -> None:
        """Read a chunk that holds more, or something else, than text."""
        if data == DONE:
            self.done = True
            return
        try:
            chunk = _decode_chunk(data)
        except _UNFIT:
            tolerated = self._tolerate(data)
            if tolerated is None:
                return
            chunk = tolerated
        if chunk.error is not None:
            self.failure = self._in_band(data)
            return
        if chunk.model is not None and chunk.model != self.model:
            self._name_model(chunk.model)
        for choice in chunk.choices or ():
            if choice.index == 0:  # only one answer is ever asked for
                if choice.delta is not None:
                    self._read_delta(choice.delta)
                if choice.finish_reason is not None:
                    self._finish(choice.finish_reason)
        self._read_rest(chunk)

    def read_whole(self, content: Mapping[str, object]) -> tuple[ChatEvent, ...]:
        """Return the events of an answer that was not streamed. An error stands in `failure` afterwards."""
        if content.get("error") is not None:
            self.failure = decode_in_band(content, self.info)
            return ()
        chunk = _chunk_of(content, "message")
        self._name_model(chunk.model or "")
        self._read_rest(chunk)
        for choice in chunk.choices or ():
            if choice.index == 0:
                if choice.delta is not None:
                    self._read_delta(choice.delta)
                self._finish(choice.finish_reason or "")
                break
        self.done = True
        self._end()
        return self._taken()

    def _end(self) -> None:
        self._end_text()
        self._show_calls()

    def _taken(self) -> tuple[ChatEvent, ...]:
        self._flush()
        events, self._events = tuple(self._events), []
        return events

    def _tolerate(self, data: bytes) -> _Chunk | None:
        """A chunk that the typed decoder refused. Something that is no object is a keep-alive."""
        if not data.strip():
            return None
        try:
            content = read_json(data)
        except BadAnswer:
            self.failure = self._unreadable()
            return _Chunk()
        return _chunk_of(content, "delta") if isinstance(content, dict) else None

    def _unreadable(self) -> BadAnswer:
        request_id = self.info.request_id if self.info else ""
        return BadAnswer("A piece of the answer cannot be read.", info=self.info, request_id=request_id)

    def _in_band(self, data: bytes) -> InBandError:
        content = read_json(data)
        return decode_in_band(content if isinstance(content, dict) else {}, self.info)

    def _read_delta(self, delta: _Delta) -> None:
        thought = delta.reasoning_content or delta.reasoning
        if thought:
            self._add(True, thought)
            if delta.reasoning_content:
                self._thoughts.append(thought)
        if delta.content:
            self._read_text(delta.content)
        if delta.tool_calls is not None:
            self._read_calls(delta.tool_calls)
        if isinstance(delta.reasoning_details, list):
            kept = self._extra.setdefault("reasoning_details", [])
            if isinstance(kept, list):
                kept.extend(delta.reasoning_details)
        if delta.thought_signature is not None:
            self._extra["thought_signature"] = delta.thought_signature

    def _read_text(self, content: str) -> None:
        for reasoning, text in self._tags.feed(content):
            self._add(reasoning, text)

    def _name_model(self, model: str) -> None:
        if model and model != self.model:
            self.model = model
            self._emit(ModelNamed(model))

    def _read_rest(self, chunk: _Chunk) -> None:
        for echoed in (chunk.service_parameters, chunk.venice_parameters):
            if echoed is not None and isinstance(echoed, Mapping):
                self._show_sources(echoed.get("web_search_citations"))
        for results in (chunk.service_search_results, chunk.venice_search_results):
            if results is not None:
                self._show_sources(results)
        if chunk.usage is not None and isinstance(chunk.usage, Mapping):
            self.usage = _usage_of(chunk.usage)
            self.cost_usd = _cost_of(chunk.cost)
            self._emit(UsageReported(self.usage, self.cost_usd))

    def _add(self, reasoning: bool, text: str) -> None:
        if reasoning != self._reasoning:
            self._flush()
            self._reasoning = reasoning
        self._texts.append(text)

    def _emit(self, event: ChatEvent) -> None:
        self._flush()
        self._events.append(event)

    def _flush(self) -> None:
        if self._texts:
            text = "".join(self._texts)
            self._texts.clear()
            if text:
                self._events.append(ReasoningDelta(text) if self._reasoning else TextDelta(text))
        self._reasoning = False

    def _end_text(self) -> None:
        for reasoning, text in self._tags.finish():
            self._add(reasoning, text)

    def _finish(self, reason: str) -> None:
        self._end()
        if reason:
            self.finish_reason = reason
            self._emit(Finished(reason))

    def _read_calls(self, fragments: object) -> None:
        """Merge fragments: a new id begins a call, none continues the latest with its index, which is not unique."""
        for fragment in fragments if isinstance(fragments, list) else ():
            if not isinstance(fragment, Mapping):
                continue
            function = fragment.get("function")
            function = function if isinstance(function, Mapping) else {}
            call_id, index = fragment.get("id"), fragment.get("index")
            name, arguments = function.get("name"), function.get("arguments")
            call = self._call(call_id if isinstance(call_id, str) else "", index)
            if call is None:
                continue
            if isinstance(name, str) and not call["name"]:
                call["name"] = name
            if isinstance(arguments, str):
                call["arguments"] = f"{call['arguments']}{arguments}"

    def _call(self, call_id: str, index: object) -> dict[str, object] | None:
        for call in reversed(self._calls):
            if call["id"] == call_id if call_id else call["index"] == index:
                return call
        if len(self._calls) >= MAX_TOOL_CALLS:
            return None
        self._calls.append({"id": call_id, "index": index, "name": "", "arguments": ""})
        return self._calls[-1]

    def _show_calls(self) -> None:
        """Once the calls are whole: search results dressed as a call become sources, the others are reported."""
        calls, self._calls = self._calls, []
        shown: list[ToolCall] = []
        for call in calls:
            tool_call = ToolCall(str(call["id"]), str(call["name"]), str(call["arguments"]))
            if tool_call.name in self._documents_tool_names:
                self._show_documents(tool_call.arguments)
            else:
                shown.append(tool_call)
        if shown:
            self._extra["tool_calls"] = [
                {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
                for each in shown
            ]
            self._emit(ToolCallsFound(tuple(shown)))

    def _show_documents(self, arguments: str) -> None:
        try:
            content = read_json(arguments)
        except BadAnswer:
            return  # results that cannot be read; the answer itself stands
        self._show_sources(content.get("documents") if isinstance(content, Mapping) else content)

    def _show_sources(self, results: object) -> None:
        if not isinstance(results, list) or not results:
            return
        sources = tuple(_sources_of(results))
        if sources and sources != self.sources:
            self.sources = sources
            self._emit(SourcesFound(sources))


def _chunk_of(content: Mapping[str, object], part: str) -> _Chunk:
    """A chunk (`part` "delta") or a whole answer ("message") from JSON whose types nobody vouches for."""
    choices: list[_Choice] = []
    listed = content.get("choices")
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, Mapping):
            continue
        index, inner, reason = item.get("index"), item.get(part), item.get("finish_reason")
        choices.append(
            _Choice(
                index=index if isinstance(index, int) else 0,
                delta=_delta_of(inner) if isinstance(inner, Mapping) else None,
                finish_reason=reason if isinstance(reason, str) else None,
            )
        )
    model = content.get("model")
    others = ("usage", "cost", "error", *EXTENSION_OBJECTS, *SEARCH_RESULT_KEYS)
    return _Chunk(
        model=model if isinstance(model, str) else None,
        choices=choices,
        **{name: content.get(name) for name in others},
    )


def _delta_of(inner: Mapping[str, object]) -> _Delta:
    return _Delta(
        content=_content_text(inner.get("content")),
        reasoning_content=_content_text(inner.get("reasoning_content")),
        reasoning=_content_text(inner.get("reasoning")),
        tool_calls=inner.get("tool_calls"),
        reasoning_details=inner.get("reasoning_details"),
        thought_signature=inner.get("thought_signature"),
    )


def _content_text(content: object) -> str | None:
    """Text as a string, or as a list of text parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "".join(text for text in texts if isinstance(text, str))
    return None


def _usage_of(content: Mapping[str, object]) -> Usage:
    prompt_details = content.get("prompt_tokens_details")
    completion_details = content.get("completion_tokens_details")
    prompt = _count(content, "prompt_tokens")
    completion = _count(content, "completion_tokens")
    return Usage(
        prompt=prompt,
        completion=completion,
        total=_count(content, "total_tokens") or prompt + completion,
        cached=_count(prompt_details, "cached_tokens"),
        reasoning=_count(completion_details, "reasoning_tokens"),
        cache_created=_count(prompt_details, "cache_creation_input_tokens"),
    )


def _count(content: object, name: str) -> int:
    number = money(content.get(name)) if isinstance(content, Mapping) else None
    return int(number) if number is not None and 0 <= number < MAX_TOKENS else 0


def _cost_of(cost: object) -> Decimal | None:
    if not isinstance(cost, Mapping):
        return None
    parts = [part for part in (money(cost.get("usd")), money(cost.get("diem"))) if part is not None]
    return sum(parts, Decimal(0)) if parts else None


def _sources_of(results: list[object]) -> Iterator[Source]:
    """Positions count, also of results that cannot be shown, because citations name them by position."""
    for index, result in enumerate(results[:MAX_SOURCES]):
        entry = result if isinstance(result, Mapping) else {}
        url = _plain(entry, 2000, "url", "link")
        yield Source(
            index=index,
            title=_plain(entry, 300, "title"),
            url=url if url.startswith(("https://", "http://")) else "",
            content=_plain(entry, MAX_SOURCE_CHARS, "content", "snippet"),
            date=_plain(entry, 60, "date", "published_at"),
        )


def _plain(entry: Mapping[str, object], max_chars: int, *names: str) -> str:
    for name in names:
        value = entry.get(name)
        if isinstance(value, str) and value:
            return plain_text(value, max_chars)
    return ""
