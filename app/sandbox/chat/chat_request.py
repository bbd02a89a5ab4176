"""Reads the body of `POST /chat/completions`: every documented field is checked, everything else is ignored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from app.sandbox.http.errors import Json
from app.sandbox.http.validation import REQUIRED, Checker, Path, kind_of

ROLES = ("system", "developer", "user", "assistant", "tool")
PARTS = ("text", "image_url", "input_audio", "video_url", "file")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SEARCH_MODES = ("off", "on", "auto")
MAX_CACHE_MARKS = 4
MAX_CHOICES = 128


@dataclass(frozen=True, slots=True)
class Extension:
    """The eleven keys of the extension object with their defaults."""

    character_slug: str | None = None
    strip_thinking_response: bool = False
    disable_thinking: bool = False
    enable_web_search: str = "off"
    enable_web_scraping: bool = False
    enable_x_search: bool = False
    enable_e2ee: bool = True
    enable_web_citations: bool = False
    include_search_results_in_stream: bool = False
    return_search_results_as_documents: bool = False
    include_venice_system_prompt: bool = True

    def as_json(self) -> Json:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if self.character_slug is None:
            del values["character_slug"]
        return values


@dataclass(frozen=True, slots=True)
class ChatRequest:
    model: str
    messages: tuple[Json, ...]
    extension: Extension
    stream: bool = False
    choices: int = 1
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    effort: str | None = None
    tools: tuple[Json, ...] = ()
    tool_choice: str | Json = "auto"
    parallel_tool_calls: bool = True
    response_format: Json = field(default_factory=dict)
    logprobs: bool = False
    cache_key: str | None = None
    sent: Json = field(default_factory=dict)  # the body as it came, for passing on

    def parts(self, kind: str) -> list[Json]:
        """Return every content part of one type, in message order."""
        return [part for message in self.messages for part in content_parts(message) if part.get("type") == kind]


def content_parts(message: Json) -> list[Json]:
    """Return a message's content as parts; a string counts as one text part."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def text_of(message: Json) -> str:
    return "\n".join(part["text"] for part in content_parts(message) if part.get("type") == "text")


def parse(body: Json, extension_name: str, other_name: str, *, flat_list: bool = False) -> ChatRequest:
    """Return the request. Raises `Refusal` 400 with the tree of every invalid field."""
    check = Checker(flat_list=flat_list)
    model, suffix = _model(check, body)
    messages = _messages(check, body.get("messages"))
    name = extension_name if extension_name in body or other_name not in body else other_name
    extension = _extension(check, (name,), check.record((name,), body.get(name)) or {}, Extension())
    extension = _extension(check, ("model",), suffix, extension)
    _ranges(check, body)
    tools = _tools(check, body)
    reasoning = check.record(("reasoning",), body.get("reasoning")) or {}
    effort = check.choice(("reasoning_effort",), body.get("reasoning_effort"), EFFORTS)
    effort = effort or check.choice(("reasoning", "effort"), reasoning.get("effort"), EFFORTS)
    if reasoning.get("enabled") is False:
        effort = "none"
    request = ChatRequest(
        model=model,
        messages=messages,
        extension=extension,
        stream=bool(check.boolean(("stream",), body.get("stream"))),
        choices=check.integer(("n",), body.get("n"), 1, MAX_CHOICES) or 1,
        stop=_stop(check, body.get("stop")),
        max_tokens=_max_tokens(check, body),
        effort=effort,
        tools=tools,
        tool_choice=_tool_choice(check, body.get("tool_choice"), tools),
        parallel_tool_calls=check.boolean(("parallel_tool_calls",), body.get("parallel_tool_calls")) is not False,
        response_format=_response_format(check, body.get("response_format")),
        logprobs=bool(check.boolean(("logprobs",), body.get("logprobs"))) or body.get("top_logprobs") is not None,
        cache_key=check.text(("prompt_cache_key",), body.get("prompt_cache_key")),
        sent=body,
    )
    check.finish()
    return request


def _model(check: Checker, body: Json) -> tuple[str, Json]:
    """Split `<model>:<parameter>=<value>&…` at the first colon; values come back with their JSON type."""
    if "model" not in body:
        check.complain(("model",), REQUIRED)
        return "", {}
    name, _, suffix = (check.text(("model",), body["model"]) or "").partition(":")
    values: Json = {}
    for pair in filter(None, suffix.split("&")):
        key, _, raw = pair.partition("=")
        value = unquote(raw)
        values[unquote(key)] = {"true": True, "false": False}.get(value, value)
    return name, values


def _extension(check: Checker, path: Path, given: Json, start: Extension) -> Extension:
    if not given:
        return start
    changes: dict[str, Any] = {}
    for key in Extension.__dataclass_fields__:
        if given.get(key) is None:
            continue
        value: object
        if key == "character_slug":
            value = check.text((*path, key), given[key])
        elif key == "enable_web_search":
            value = check.choice((*path, key), given[key], SEARCH_MODES)
        else:
            value = check.boolean((*path, key), given[key])
        if value is not None:
            changes[key] = value
    return replace(start, **changes)


def _messages(check: Checker, value: object) -> tuple[Json, ...]:
    path: Path = ("messages",)
    if value is None:
        check.complain(path, REQUIRED)
        return ()
    items = check.items(path, value)
    if items is None:
        return ()
    if not items:
        check.complain(path, "Array must contain at least 1 element(s)")
    marks = 0
    messages: list[Json] = []
    for number, item in enumerate(items):
        message = check.record((*path, number), item)
        if message is None:
            if item is None:
                check.complain((*path, number), "Expected object, received null")
            continue
        if "role" not in message:
            check.complain((*path, number, "role"), REQUIRED)
        elif check.choice((*path, number, "role"), message["role"], ROLES) == "tool":
            _required_text(check, (*path, number, "tool_call_id"), message.get("tool_call_id"))
        for place, made in enumerate(check.items((*path, number, "tool_calls"), message.get("tool_calls")) or ()):
            check.record((*path, number, "tool_calls", place), made)
        marks += _content(check, (*path, number, "content"), message)
        messages.append(message)
    if marks > MAX_CACHE_MARKS:
        check.complain(path, f"At most {MAX_CACHE_MARKS} content parts may carry cache_control")
    return tuple(messages)


def _content(check: Checker, path: Path, message: Json) -> int:
    """Check one message's content; return how many of its parts are marked for caching."""
    content = message.get("content")
    if content is None:
        if message.get("role") != "assistant":
            check.complain(path, REQUIRED)
        return 0
    if isinstance(content, str):
        return 0
    if not isinstance(content, list):
        check.complain(path, f"Expected string or array, received {kind_of(content)}")
        return 0
    marks = 0
    for number, part in enumerate(content):
        here = (*path, number)
        if not isinstance(part, dict):
            check.complain(here, f"Expected object, received {kind_of(part)}")
            continue
        kind = part.get("type")
        if kind not in PARTS:
            check.choice((*here, "type"), kind if kind is not None else "", PARTS)
            continue
        _part(check, here, part, str(kind), str(message.get("role")))
        marks += part.get("cache_control") is not None
        check.record((*here, "cache_control"), part.get("cache_control"))
    return marks


def _part(check: Checker, path: Path, part: Json, kind: str, role: str) -> None:
    if kind != "text" and role != "user":
        check.complain(path, f"Only user messages may carry {kind} parts")
    elif kind == "text":
        text = part.get("text")
        if _required_text(check, (*path, "text"), text) == "":
            check.complain((*path, "text"), "String must contain at least 1 character(s)")
    else:
        inner = part.get(kind)
        if not isinstance(inner, dict):
            check.complain((*path, kind), REQUIRED if inner is None else f"Expected object, received {kind_of(inner)}")
            return
        field_name = {"input_audio": "data", "file": "file_data"}.get(kind, "url")
        _required_text(check, (*path, kind, field_name), inner.get(field_name))


def _required_text(check: Checker, path: Path, value: object) -> str | None:
    if value is None:
        check.complain(path, REQUIRED)
    return check.text(path, value)


def _ranges(check: Checker, body: Json) -> None:
    limits: tuple[tuple[str, float | None, float | None], ...] = (
        ("temperature", 0, 2), ("top_p", 0, 1), ("min_p", 0, 1), ("min_temp", 0, 2), ("max_temp", 0, 2),
        ("frequency_penalty", -2, 2), ("presence_penalty", -2, 2), ("repetition_penalty", 0, None),
    )  # fmt: skip
    for name, low, high in limits:
        check.number((name,), body.get(name), low, high)
    check.integer(("top_k",), body.get("top_k"), 0)
    check.integer(("top_logprobs",), body.get("top_logprobs"), 0)
    check.integer(("seed",), body.get("seed"), 1)
    check.choice(("prompt_cache_retention",), body.get("prompt_cache_retention"), ("default", "extended", "24h"))
    options = check.record(("stream_options",), body.get("stream_options")) or {}
    check.boolean(("stream_options", "include_usage"), options.get("include_usage"))


def _max_tokens(check: Checker, body: Json) -> int | None:
    wanted = check.integer(("max_completion_tokens",), body.get("max_completion_tokens"), 1)
    old = check.integer(("max_tokens",), body.get("max_tokens"))
    if wanted is not None:
        return wanted
    return old if old is not None and old > 0 else None


def _stop(check: Checker, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    items = check.items(("stop",), value) or []
    if not 1 <= len(items) <= 4:
        check.complain(("stop",), "Array must contain 1 to 4 element(s)")
    texts = [check.text(("stop", number), item) for number, item in enumerate(items)]
    return tuple(text for text in texts if text)


def _tools(check: Checker, body: Json) -> tuple[Json, ...]:
    tools: list[Json] = []
    for number, item in enumerate(check.items(("tools",), body.get("tools")) or []):
        tool = check.record(("tools", number), item) or {}
        if tool.get("type") in ("web_search", "x_search"):
            continue  # they validate, and turn nothing on
        if tool.get("type") != "function":
            check.complain(("tools", number, "type"), "Invalid literal value, expected 'function'")
            continue
        function = check.record(("tools", number, "function"), tool.get("function")) or {}
        _required_text(check, ("tools", number, "function", "name"), function.get("name"))
        check.record(("tools", number, "function", "parameters"), function.get("parameters"))
        tools.append(function)
    return tuple(tools)


def _tool_choice(check: Checker, value: object, tools: tuple[Json, ...]) -> str | Json:
    if value is None:
        return "auto"
    if isinstance(value, dict):
        name = (check.record(("tool_choice", "function"), value.get("function")) or {}).get("name")
        if name not in [tool.get("name") for tool in tools]:
            check.complain(("tool_choice", "function", "name"), "This names none of the tools")
        return value
    return check.choice(("tool_choice",), value, ("auto", "none", "required")) or "auto"


def _response_format(check: Checker, value: object) -> Json:
    given = check.record(("response_format",), value) or {}
    if not given:
        return {}
    kind = check.choice(("response_format", "type"), given.get("type") or "", ("text", "json_object", "json_schema"))
    if kind == "text":
        return {}
    if kind == "json_schema":
        wrapped = check.record(("response_format", "json_schema"), given.get("json_schema")) or {}
        if not isinstance(wrapped.get("schema"), dict):
            check.complain(("response_format", "json_schema", "schema"), REQUIRED)
    return given
