"""Turns a chat request into its JSON body, after checking the limits that the service enforces.

Source: service specification, chat completions (R-CHAT-05..16, R-EXT-*).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from urllib.parse import unquote

from app.service.calls import limit
from app.service.chat_types import (
    AUDIO_FORMATS,
    REASONING_EFFORTS,
    WEB_SEARCH_MODES,
    ChatMessage,
    ChatRequest,
    ContentPart,
    ServiceParameters,
)
from app.service.http.base64_text import Base64Text
from app.service.http.size_limits import LIMIT_WORDS, MAX_UPLOAD_BYTES
from app.translation import tr

MAX_CACHE_MARKS = 4
MAX_STOPS = 4
TOOL_CHOICES = ("auto", "none", "required")
MAX_IMAGES_PER_MESSAGE = 10
MAX_SOUNDS_PER_MESSAGE = 5
MAX_FILES_PER_MESSAGE = 5
MAX_VIDEOS = 3
MAX_ATTACHMENT_BYTES = MAX_UPLOAD_BYTES
MAX_BODY_BYTES = 35 * 1024 * 1024

_SUFFIX = re.compile(r"(?P<model>[^\s]*?):(?P<pairs>\w+=[^&\s]*(?:&\w+=[^&\s]*)*)")
_PARAMETERS = {each.name: each for each in fields(ServiceParameters)}


def chat_body(request: ChatRequest, extension_object: str, *, stream: bool) -> dict[str, object]:
    """Return the body, keys in a fixed order so that equal requests are equal bytes. Raises `LimitExceeded`.

    A suffix typed behind the model's name moves into the extension object, where every deployment understands it. A
    stream that searches asks for its search results, which otherwise never arrive (R-EXT-21).
    """
    model, typed = parse_suffix(request.model)
    parameters = replace(request.parameters, **typed)  # type: ignore[arg-type] # parse_suffix checks each value's type
    searches = parameters.enable_web_search != "off" or parameters.enable_x_search
    wants_results = request.results_in_stream and not parameters.return_search_results_as_documents
    if stream and searches and wants_results:
        parameters = replace(parameters, include_search_results_in_stream=True)
    _check(request, model, parameters)

    body: dict[str, object] = {"model": model, "messages": [message.to_wire() for message in request.messages]}
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    for name in (
        "temperature",
        "top_p",
        "max_completion_tokens",
        "reasoning_effort",
        "seed",
        "prompt_cache_key",
        "prompt_cache_retention",
        "anon_user_id",
    ):
        value = getattr(request, name)
        if value is not None:
            body[name] = value
    if request.stop:
        body["stop"] = list(request.stop)
    if request.response_format is not None:
        body["response_format"] = dict(request.response_format)
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = request.tool_choice
    wire = parameters.to_wire()
    if wire:
        body[extension_object] = wire
    for name, value in request.extra.items():
        ours = body.get(name)
        body[name] = {**ours, **value} if isinstance(ours, dict) and isinstance(value, Mapping) else value
    return body


def parse_suffix(model: str) -> tuple[str, dict[str, str | bool]]:
    """Split `<model_id>:<parameter>=<value>&…` into the id and the parameters it sets (R-EXT-27).

    Unknown parameters and values that do not fit are left out, as the service ignores them. A name without `=` after
    its colon (`llama3:8b`, as local servers have them) is a plain id.
    """
    model_id, found, _ = read_suffix(model)
    return model_id, found


def read_suffix(model: str) -> tuple[str, dict[str, str | bool], str]:
    """Return what `parse_suffix` does, and a sentence about the first pair that it leaves out, "" for none."""
    match = _SUFFIX.fullmatch(model)
    if match is None:
        return model, {}, ""
    found: dict[str, str | bool] = {}
    fault = ""
    for pair in match["pairs"].split("&"):
        name, _, text = pair.partition("=")
        parameter = _PARAMETERS.get(name)
        value = unquote(text)
        if parameter is None:
            names = ", ".join(_PARAMETERS)
            fault = fault or tr("There is no parameter “{name}”. The parameters are {names}.", name=name, names=names)
        elif isinstance(parameter.default, bool):
            if value in ("true", "false"):
                found[name] = value == "true"
            else:
                fault = fault or tr("“{name}” can be true or false.", name=name)
        elif name == "enable_web_search" and value not in WEB_SEARCH_MODES:
            fault = fault or tr("“{name}” can be off, on or auto.", name=name)
        elif value:
            found[name] = value
        else:
            fault = fault or tr("“{name}” needs a value.", name=name)
    return match["model"], found, fault


def _check(request: ChatRequest, model: str, parameters: ServiceParameters) -> None:
    limit(bool(model.strip()), "model", "1", tr("Choose a model."))
    limit(bool(request.messages), "messages", "1", tr("A chat needs at least one message."))
    _in_range("temperature", request.temperature, 0, 2)
    _in_range("top_p", request.top_p, 0, 1)
    tokens = request.max_completion_tokens
    limit(tokens is None or tokens >= 1, "max_completion_tokens", "1", tr("An answer needs at least one token."))
    limit(request.seed is None or request.seed > 0, "seed", "1", tr("A seed is a whole number above 0."))
    limit(
        len(request.stop) <= MAX_STOPS,
        "stop",
        str(MAX_STOPS),
        tr("Up to {max_stops} stop sequences.", max_stops=MAX_STOPS),
    )
    effort = request.reasoning_effort
    limit(
        effort is None or effort in REASONING_EFFORTS,
        "reasoning_effort",
        ", ".join(REASONING_EFFORTS),
        tr("There is no reasoning effort “{effort}”.", effort=effort),
    )
    limit(
        parameters.enable_web_search in WEB_SEARCH_MODES,
        "enable_web_search",
        ", ".join(WEB_SEARCH_MODES),
        tr("Web search is off, on or auto."),
    )
    choice = request.tool_choice
    limit(
        choice is None or choice in TOOL_CHOICES,
        "tool_choice",
        ", ".join(TOOL_CHOICES),
        tr("Unknown function choice “{choice}”.", choice=choice),
    )
    slug = parameters.character_slug
    limit(slug is None or bool(slug.strip()), "character_slug", "1", tr("A character needs its slug."))
    parts = [part for message in request.messages for part in _parts(message)]
    marks = sum(part.cache for part in parts)
    limit(
        marks <= MAX_CACHE_MARKS,
        "cache_control",
        str(MAX_CACHE_MARKS),
        tr("Up to {max_cache_marks} cache marks.", max_cache_marks=MAX_CACHE_MARKS),
    )
    videos = sum(part.type == "video_url" for part in parts)
    limit(
        videos <= MAX_VIDEOS,
        "video_url",
        str(MAX_VIDEOS),
        tr("Up to {max_videos} videos in one request.", max_videos=MAX_VIDEOS),
    )
    for number, message in enumerate(request.messages):
        _check_message(number, message)
    size = sum(_size(message) for message in request.messages)
    limit(size <= MAX_BODY_BYTES, "messages", "35 MB", tr("All messages together are larger than 35 MB."))


def _check_message(number: int, message: ChatMessage) -> None:
    parts = _parts(message)
    for part_type, allowed, word in (
        ("image_url", MAX_IMAGES_PER_MESSAGE, "pictures"),
        ("input_audio", MAX_SOUNDS_PER_MESSAGE, "sounds"),
        ("file", MAX_FILES_PER_MESSAGE, "files"),
    ):
        count = sum(part.type == part_type for part in parts)
        limit(
            count <= allowed,
            part_type,
            str(allowed),
            tr("Up to {allowed} {word} in one message.", allowed=allowed, word=word),
        )
    for place, part in enumerate(parts):
        field_name = f"messages[{number}].content[{place}]"
        if part.type == "text":
            limit(bool(part.value), field_name, "1", tr("A text part cannot be empty."))
        elif part.type == "input_audio" and isinstance(part.value, Mapping):
            data = part.value.get("data")
            begins = data.head if isinstance(data, Base64Text) else data
            bare = isinstance(begins, str) and bool(data) and not begins.startswith(("data:", "http:", "https:"))
            limit(bare, field_name, "base64", tr("Send audio as bare base64, not as an address."))
            known = part.value.get("format") in AUDIO_FORMATS
            limit(known, field_name, ", ".join(AUDIO_FORMATS), tr("This audio format is not accepted."))
        size = _attachment_bytes(part)
        limit(
            size <= MAX_ATTACHMENT_BYTES,
            field_name,
            "25 MB",
            tr("One attachment may be up to {limit_words}.", limit_words=LIMIT_WORDS),
        )


def _in_range(name: str, value: float | None, low: float, high: float) -> None:
    limit(
        value is None or low <= value <= high,
        name,
        tr("{low} to {high}", low=low, high=high),
        tr("{name} must be between {low} and {high}.", name=name, low=low, high=high),
    )


def _parts(message: ChatMessage) -> tuple[ContentPart, ...]:
    return message.content if isinstance(message.content, tuple) else ()


def _attachment_bytes(part: ContentPart) -> int:
    """The size of what a data URL or a base64 text carries, after decoding."""
    if not isinstance(part.value, Mapping):
        return 0
    longest = max(_texts(part.value), key=len, default="")
    if isinstance(longest, Base64Text):
        return longest.size
    if part.type == "input_audio":
        return len(longest) * 3 // 4
    if longest.startswith("data:"):
        return (len(longest) - longest.find(",") - 1) * 3 // 4
    return 0


def _size(message: ChatMessage) -> int:
    if isinstance(message.content, str):
        return len(message.content)
    size = 0
    for part in _parts(message):
        size += len(part.value) if isinstance(part.value, str) else sum(map(len, _texts(part.value)))
    return size


def _texts(value: Mapping[str, object]) -> list[str | Base64Text]:
    return [each for each in value.values() if isinstance(each, str | Base64Text)]
