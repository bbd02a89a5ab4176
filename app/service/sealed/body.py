"""A chat request as it goes out sealed: every text of every role in an envelope, and nothing else of the person's.

Source: notes on sealed chats (R-TEE-09, R-TEE-10). What cannot be sealed is refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.sealed.envelope import looks_sealed, seal
from app.service.chat_body import chat_body, parse_suffix
from app.service.chat_types import ChatMessage, ChatRequest, ServiceParameters
from app.service.errors import LimitExceeded
from app.service.sealed.reasons import REASONS
from app.translation import tr_n

# What a sealed body may hold. All of it but the envelopes is read by the service on the way.
OPEN_FIELDS = frozenset({"model", "stream", "stream_options", "temperature", "top_p", "max_completion_tokens", "seed"})


@dataclass(frozen=True, slots=True)
class Forbidden:
    """One thing that a sealed request cannot carry: its wire name, and why, as a sentence."""

    field: str
    reason: str


def forbidden_in(request: ChatRequest) -> tuple[Forbidden, ...]:
    """Return what keeps a request from being sealed; empty when nothing does."""
    parameters, usual = request.parameters, ServiceParameters()
    found = [
        Forbidden(name, REASONS[name])
        for name, is_used in (
            ("enable_web_search", parameters.enable_web_search != "off"),
            ("enable_web_scraping", parameters.enable_web_scraping),
            ("enable_x_search", parameters.enable_x_search),
            ("character_slug", parameters.character_slug is not None),
            ("tools", bool(request.tools) or request.tool_choice is not None),
            ("response_format", request.response_format is not None),
            ("stop", bool(request.stop)),
            ("reasoning_effort", request.reasoning_effort is not None),
            ("extra", bool(request.extra)),
            ("model", bool(parse_suffix(request.model)[1])),
        )
        if is_used
    ]
    if any(isinstance(message.content, tuple) for message in request.messages):
        found.append(Forbidden("messages", REASONS["files"]))
    if any(message.extra.get("tool_calls") or message.role == "tool" for message in request.messages):
        found.append(Forbidden("messages", REASONS["tool_calls"]))
    other = {name for name in ("strip_thinking_response", "disable_thinking") if getattr(parameters, name)}
    if other or parameters.return_search_results_as_documents != usual.return_search_results_as_documents:
        found.append(Forbidden("parameters", REASONS["parameters"]))
    return tuple(found)


def sealed_body(
    request: ChatRequest, model_key: bytes, extension_object: str, *, packed: bool = False
) -> dict[str, object]:
    """Return the body of a sealed request. Raises `LimitExceeded` for what cannot be sealed.

    `packed`: earlier turns go into the last message as text, for enclaves that refuse sealed answers of theirs.
    """
    for forbidden in forbidden_in(request):
        raise LimitExceeded(forbidden.reason, field=forbidden.field)
    bare = ChatRequest(
        model=request.model,
        messages=request.messages,
        temperature=request.temperature,
        top_p=request.top_p,
        max_completion_tokens=request.max_completion_tokens,
        seed=request.seed,
    )
    body = chat_body(bare, extension_object, stream=True)
    messages = _packed(request.messages) if packed else request.messages
    body["messages"] = [_sealed(message, model_key) for message in messages]
    body[extension_object] = {"include_venice_system_prompt": False}
    count = clear_texts(body, extension_object)
    if count:
        raise LimitExceeded(
            tr_n(
                "Rialto stopped this request: {n} of its texts was not sealed.",
                "Rialto stopped this request: {n} of its texts were not sealed.",
                count,
            ),
            field="messages",
        )
    return body


def clear_texts(body: Mapping[str, object], extension_object: str) -> int:
    """Count what a body would show of the person's: texts of messages that are no envelopes, and unknown fields."""
    count = sum(name not in OPEN_FIELDS | {"messages", extension_object} for name in body)
    extension = body.get(extension_object, {})
    count += extension not in ({}, {"include_venice_system_prompt": False})
    listed = body.get("messages")
    for message in listed if isinstance(listed, list) else ():
        content = message.get("content") if isinstance(message, Mapping) else None
        is_sealed = content == "" or (isinstance(content, str) and looks_sealed(content))
        count += not is_sealed or set(message) != {"role", "content"}
    return count


def _sealed(message: ChatMessage, model_key: bytes) -> dict[str, object]:
    text = message.content if isinstance(message.content, str) else ""
    return {"role": message.role, "content": seal(text, model_key) if text else ""}


def _packed(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """System prompts as they are, and all turns as one text of the person's."""
    rules = tuple(each for each in messages if each.role in ("system", "developer"))
    turns = [each for each in messages if each.role not in ("system", "developer") and isinstance(each.content, str)]
    if len(turns) < 2:
        return messages
    text = "\n\n".join(f"{each.role}: {each.content}" for each in turns)
    return (*rules, ChatMessage("user", text))
