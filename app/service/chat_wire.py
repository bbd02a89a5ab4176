"""The shapes of chat answers: two decoders for chunks, and readers for what nobody vouches for.

Source: service specification, chat completions, response and streaming.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

import msgspec

from app.service.amounts import charge, count
from app.service.chat_types import Source, Usage
from app.service.dialect import EXTENSION_OBJECTS, SEARCH_RESULT_KEYS
from app.service.http.error_bodies import plain_text

MAX_SOURCES = 200
MAX_SOURCE_CHARS = 4000
_DONE = b"[DONE]"


MAX_REASON_CHARS = 40  # of the word for why an answer ended


class Delta(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None  # the same under the name that local servers use
    refusal: str | None = None  # what the model says instead of an answer (the OpenAI shape)
    tool_calls: object = None
    reasoning_details: object = None
    thought_signature: object = None


class Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    model: str | None = None
    choices: list[Choice] | None = None
    usage: object = None
    cost: object = None
    error: object = None
    service_parameters: object = None
    venice_parameters: object = None
    service_search_results: object = None
    venice_search_results: object = None


class SealedChunk(msgspec.Struct, gc=False):
    """A chunk of a sealed answer: what may pass in the clear, and `choices`, whose texts are envelopes."""

    id: object = None
    model: object = None
    choices: object = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    cost: msgspec.Raw = msgspec.Raw(b"null")
    error: object = None


class PlainDelta(msgspec.Struct, gc=False):
    """Text and nothing else: what is typed None here makes the decoder refuse the chunk when it is there."""

    content: str
    reasoning_content: None = None
    reasoning: None = None
    refusal: None = None
    tool_calls: None = None
    reasoning_details: None = None
    thought_signature: None = None


class PlainChoice(msgspec.Struct, gc=False):
    delta: PlainDelta
    index: Literal[0] = 0
    finish_reason: None = None


class PlainChunk(msgspec.Struct, gc=False):
    choices: tuple[PlainChoice]
    model: str = ""
    usage: None = None
    error: None = None
    service_parameters: None = None
    venice_parameters: None = None
    service_search_results: None = None
    venice_search_results: None = None


decode_plain = msgspec.json.Decoder(PlainChunk).decode
decode_sealed = msgspec.json.Decoder(SealedChunk).decode
encode = msgspec.json.Encoder().encode
decode_chunk = msgspec.json.Decoder(Chunk, float_hook=Decimal).decode
UNFIT = (msgspec.MsgspecError, ValueError, RecursionError)


def is_done(data: bytes) -> bool:
    """True for the event that ends a stream; servers put white space around its mark."""
    return data == _DONE or (len(data) < 20 and data.strip() == _DONE)


def chunk_of(content: Mapping[str, object], part: str) -> Chunk:
    """A chunk (`part` "delta") or a whole answer ("message") from JSON whose types nobody vouches for."""
    choices: list[Choice] = []
    listed = content.get("choices")
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, Mapping):
            continue
        index, inner, reason = item.get("index"), item.get(part), item.get("finish_reason")
        choices.append(
            Choice(
                index=index if isinstance(index, int) else 0,
                delta=_delta_of(inner) if isinstance(inner, Mapping) else None,
                finish_reason=None if reason is None else str(reason)[:MAX_REASON_CHARS],
            )
        )
    model = content.get("model")
    others = ("usage", "cost", "error", *EXTENSION_OBJECTS, *SEARCH_RESULT_KEYS)
    return Chunk(
        model=model if isinstance(model, str) else None,
        choices=choices,
        **{name: content.get(name) for name in others},
    )


def _delta_of(inner: Mapping[str, object]) -> Delta:
    return Delta(
        content=_content_text(inner.get("content")),
        reasoning_content=_content_text(inner.get("reasoning_content")),
        reasoning=_content_text(inner.get("reasoning")),
        refusal=_content_text(inner.get("refusal")),
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


def usage_of(content: Mapping[str, object]) -> Usage | None:
    """Return the tokens that were counted; None for none at all, or one that cannot be meant, as −5."""
    prompt_details = content.get("prompt_tokens_details")
    completion_details = content.get("completion_tokens_details")
    prompt = _count(content, "prompt_tokens")
    completion = _count(content, "completion_tokens")
    if prompt is None or completion is None or not prompt + completion:
        return None
    return Usage(
        prompt=prompt,
        completion=completion,
        total=_count(content, "total_tokens") or prompt + completion,
        cached=_count(prompt_details, "cached_tokens") or 0,
        reasoning=_count(completion_details, "reasoning_tokens") or 0,
        cache_created=_count(prompt_details, "cache_creation_input_tokens") or 0,
    )


def _count(content: object, name: str) -> int | None:
    """Return a count, 0 where none is told, None for one that cannot be meant."""
    told = content.get(name) if isinstance(content, Mapping) else None
    return 0 if told is None else count(told)


def cost_of(cost: object) -> Decimal | None:
    """Return the cost in USD, DIEM at par; None where none is told, or one that cannot be meant."""
    if not isinstance(cost, Mapping):
        return None
    told = [part for part in (cost.get("usd"), cost.get("diem")) if part is not None]
    parts = [part for part in map(charge, told) if part is not None]
    return sum(parts, Decimal(0)) if parts and len(parts) == len(told) else None


def claims_of(usage: Mapping[str, object], cost: object) -> str:
    """Return what is told of an answer and cannot be meant, such as "completion_tokens −5"; "" where all of it can."""
    names = ("prompt_tokens", "completion_tokens")
    claims = [f"{name} {_shown(usage[name])}" for name in names if _count(usage, name) is None]
    for name in ("usd", "diem"):
        told = cost.get(name) if isinstance(cost, Mapping) else None
        claims += [f"{_shown(told)} {name.upper()}"] if told is not None and charge(told) is None else []
    return ", ".join(claims)


def _shown(told: object) -> str:
    return plain_text(str(told), 40)


def sources_of(results: list[object]) -> Iterator[Source]:
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
