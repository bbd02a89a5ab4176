"""The JSON of chat answers, whole or chunk by chunk, to events.

Every chunk first goes through a typed decoder, which costs about as much as finding its end; whatever does not fit
goes through a tolerant reader, so that an odd field never costs the text beside it.
Source: service specification, chat completions, response and streaming.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from app.service.chat_types import (
    ChatEvent,
    Finished,
    ModelNamed,
    ModelRefused,
    ReasoningDelta,
    Source,
    SourcesFound,
    TextDelta,
    TextWasReasoning,
    ToolCall,
    ToolCallsFound,
    Usage,
    UsageReported,
)
from app.service.chat_wire import (
    UNFIT,
    Chunk,
    Delta,
    chunk_of,
    claims_of,
    cost_of,
    decode_chunk,
    decode_plain,
    is_done,
    sources_of,
    usage_of,
)
from app.service.errors import BadResponse, InBandError, ServiceError
from app.service.http.error_bodies import decode_in_band
from app.service.http.json_text import MAX_DEPTH, read_json, would_overflow
from app.service.response_info import ResponseInfo
from app.service.think_tags import Segment, ThinkTags, marks_in
from app.translation import tr

MAX_TOOL_CALLS = 128


class ChatReader:
    """Turns chunks into events and keeps what the answer as a whole amounts to."""

    def __init__(self, documents_tool_names: tuple[str, ...], info: ResponseInfo | None = None) -> None:
        self.info = info
        self.model = ""
        self.usage: Usage | None = None
        self.cost_usd: Decimal | None = None
        self.claimed = ""  # counts and costs that cannot be meant, as sent
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
        self._refused = False

    @property
    def extra(self) -> dict[str, object]:
        """What the assistant message must carry in later requests, unchanged."""
        thoughts = {"reasoning_content": "".join(self._thoughts)} if self._thoughts else {}
        return {**thoughts, **self._extra}

    def read(self, chunks: Iterable[bytes]) -> tuple[ChatEvent, ...]:
        """Return the events of some chunks, neighboring text joined.

        Never raises: an error stands in `failure` afterwards, behind the events that came before it.
        """
        tags, texts = self._tags, self._texts
        for data in chunks:
            if len(data) > MAX_DEPTH and would_overflow(data):
                self.failure = self._unreadable()
                self.ended = True
                break
            try:
                plain = decode_plain(data)
            except UNFIT:
                self._read_chunk(data)
                self.ended = self.done or self.failure is not None
                if self.ended:
                    break
                continue
            if plain.model != self.model:
                self._name_model(plain.model)
            content = plain.choices[0].delta.content
            if tags.quiet and not self._reasoning and not marks_in(content):
                texts.append(content)
            else:
                self._read_text(content)
        if self.ended:
            self._end()
        elif texts and not self._events and not self._reasoning:  # only text: what nearly every read amounts to
            text = "".join(texts)
            texts.clear()
            return (TextDelta(text),) if text else ()
        return self._taken()

    def _read_chunk(self, data: bytes) -> None:
        """Read a chunk that holds more, or something else, than text."""
        if is_done(data):
            self.done = True
            return
        try:
            chunk = decode_chunk(data)
        except UNFIT:
            tolerated = self._tolerate(data)
            if tolerated is None:
                return
            chunk = tolerated
        if chunk.error is None and not chunk.choices and chunk.usage is None:
            chunk.error = _bare_error(data)
        if chunk.error is not None:
            self.failure = self._in_band(data)
            return
        if chunk.model is not None and chunk.model != self.model:
            self._name_model(chunk.model)
        for choice in chunk.choices or ():
            if choice.index == 0:  # only one answer is ever asked for
                if choice.delta is not None:
                    self._read_delta(choice.delta)
                self.finish_reason = choice.finish_reason or self.finish_reason
        self._read_rest(chunk)

    def read_whole(self, content: Mapping[str, object]) -> tuple[ChatEvent, ...]:
        """Return the events of an answer that was not streamed. An error stands in `failure` afterwards."""
        if content.get("error") is not None:
            self.failure = decode_in_band(content, self.info)
            return ()
        chunk = chunk_of(content, "message")
        self._name_model(chunk.model or "")
        self._read_rest(chunk)
        for choice in chunk.choices or ():
            if choice.index == 0:
                if choice.delta is not None:
                    self._read_delta(choice.delta)
                self.finish_reason = choice.finish_reason or ""
                break
        self.done = True
        self._end()
        return self._taken()

    def cut(self) -> tuple[ChatEvent, ...]:
        """Return what was held back of an answer that stops without its end; tool calls may be cut and are dropped."""
        self._end_text()
        return self._taken()

    def _end(self) -> None:
        """End the answer, once: servers state the reason in any piece, or in all of them."""
        self._end_text()
        if self.failure is not None:
            return
        self._show_calls()
        if self.finish_reason:
            self._emit(Finished(self.finish_reason))

    def _taken(self) -> tuple[ChatEvent, ...]:
        self._flush()
        events, self._events = tuple(self._events), []
        return events

    def _tolerate(self, data: bytes) -> Chunk | None:
        """A chunk that the typed decoder refused. Something that is no object is a keep-alive."""
        if not data.strip():
            return None
        try:
            content = read_json(data, constants=True)  # log probabilities of some servers are NaN
        except BadResponse:
            self.failure = self._unreadable()
            return Chunk()
        return chunk_of(content, "delta") if isinstance(content, dict) else None

    def _unreadable(self) -> BadResponse:
        request_id = self.info.request_id if self.info else ""
        return BadResponse(tr("A piece of the answer cannot be read."), info=self.info, request_id=request_id)

    def _in_band(self, data: bytes) -> InBandError:
        bare = _bare_error(data)
        content = {"error": bare} if bare is not None else read_json(data, constants=True)
        return decode_in_band(content if isinstance(content, dict) else {}, self.info)

    def _read_delta(self, delta: Delta) -> None:
        thought = delta.reasoning_content or delta.reasoning
        if thought:
            self._add(True, thought)
            if delta.reasoning_content:
                self._thoughts.append(thought)
        if delta.content:
            self._read_text(delta.content)
        if delta.refusal:
            if not self._refused:
                self._refused = True
                self._emit(ModelRefused())
            self._read_text(delta.refusal)
        if delta.tool_calls is not None:
            self._read_calls(delta.tool_calls)
        if isinstance(delta.reasoning_details, list):
            kept = self._extra.setdefault("reasoning_details", [])
            if isinstance(kept, list):
                kept.extend(delta.reasoning_details)
        if delta.thought_signature is not None:
            self._extra["thought_signature"] = delta.thought_signature

    def _read_text(self, content: str) -> None:
        self._add_segments(self._tags.feed(content))

    def _name_model(self, model: str) -> None:
        if model and model != self.model:
            self.model = model
            self._emit(ModelNamed(model))

    def _read_rest(self, chunk: Chunk) -> None:
        for echoed in (chunk.service_parameters, chunk.venice_parameters):
            if echoed is not None and isinstance(echoed, Mapping):
                self._show_sources(echoed.get("web_search_citations"))
        for results in (chunk.service_search_results, chunk.venice_search_results):
            if results is not None:
                self._show_sources(results)
        if chunk.usage is not None and isinstance(chunk.usage, Mapping):
            self.usage = usage_of(chunk.usage)
            self.cost_usd = cost_of(chunk.cost)
            self.claimed = claims_of(chunk.usage, chunk.cost)
            if self.usage is not None:
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
        self._add_segments(self._tags.finish())

    def _add_segments(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            if segment is None:
                self._emit(TextWasReasoning())
            else:
                self._add(*segment)

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
        except BadResponse:
            return  # results that cannot be read; the answer itself stands
        self._show_sources(content.get("documents") if isinstance(content, Mapping) else content)

    def _show_sources(self, results: object) -> None:
        if not isinstance(results, list) or not results:
            return
        sources = tuple(sources_of(results))
        if sources and sources != self.sources:
            self.sources = sources
            self._emit(SourcesFound(sources))


def _bare_error(data: bytes) -> Mapping[str, object] | None:
    """An error that is the whole of an event, as `event: error` brings it; None for any other event."""
    try:
        content = read_json(data, constants=True)
    except BadResponse:
        return None
    if not isinstance(content, dict) or content.get("error") is not None:
        return None
    named = "error" in (content.get("type"), content.get("object"))
    return content if named or isinstance(content.get("message"), str) else None
