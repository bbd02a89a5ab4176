"""From a branch of messages and the options to a request, and from a stored note back to the Request page.

What was sent is kept without the messages themselves: they are in the history already, and repeating them with every
turn would make a chat's size grow with the square of its length. The page puts them back in from the branch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.core.extra_json import parse_extra_json
from app.core.shown_call import ShownCall, shown_call
from app.formats import format_number
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.exchange import RequestRecord
from app.service.http.base64_text import PLAIN_TEXT, Base64Text
from app.translation import tr
from app.ui.chat.session.chat_options import ChatOptions, effort_of, judge, service_parameters
from app.ui.chat.session.content_parts import user_messages
from app.ui.chat.session.continuation import CONTINUE_INSTRUCTION
from app.ui.chat.session.inspector_state import RequestView, SealedTurn
from app.ui.chat.session.structured_output import refusals
from app.ui.chat.session.tool_calls import carried, is_answer_sent

if TYPE_CHECKING:
    from app.service.exchange import Exchange
    from app.service.models import Model
    from app.storage.chat_rows import Message
    from app.ui.chat.session.structured_output import Structure

_NOTE_VERSION = 1
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")
ENVELOPE_SHOWN = 96  # digits
TEXT_SHOWN = 40_000  # of base64 of a text, such as the passages of documents: looked at whole
# For the model, where passages of documents went along; what it writes is shown as a link to the source.
CITE_PASSAGES = tr(
    "Passages of documents are attached in one file, each under its number. After each sentence based on one, write "
    "[n](#passage-n): n is its number in the last message that has some. A whole document counts as one passage."
)
DAY = "24h"  # the longest that the service keeps what it has cached


def build_request(
    *,
    chat_id: str,
    model_id: str,
    model: Model | None,
    options: ChatOptions,
    character_slug: str | None,
    branch: Sequence[Message],
    continues: Message | None = None,
    structure: Structure | None = None,
    anon_user_id: str = "",
) -> ChatRequest:
    """The request for the next answer on `branch`, which ends with the turn to be answered.

    With `continues`, the kept part goes along as the assistant's words and the model is asked to go on. The chat's id
    is the cache key, so that all turns of one chat hit the same cache (R-CHAT-06, R-CHAT-07).
    """
    messages = wire_messages(options, branch, model)
    controls = judge(options, model)
    no_schema, no_functions = refusals(model)
    tools = structure.tools() if structure is not None and not no_functions else ()
    if continues is not None and continues.content:
        messages += (ChatMessage("assistant", continues.content), ChatMessage("user", CONTINUE_INSTRUCTION))
    return ChatRequest(
        model=model_id,
        messages=messages,
        parameters=service_parameters(options, model, character_slug),
        temperature=options.temperature,
        top_p=options.top_p,
        max_completion_tokens=options.reply_limit,
        reasoning_effort=effort_of(options, model),
        seed=options.seed,
        stop=options.stop,
        prompt_cache_key=chat_id,
        anon_user_id=anon_user_id or None,
        prompt_cache_retention=DAY if controls.keep_cache.usable and options.keep_cache else None,
        response_format=structure.response_format() if structure is not None and not no_schema else None,
        tools=tools,
        tool_choice=structure.function_choice if structure is not None and tools else None,
        extra=parse_extra_json(options.extra_json)[0],
        results_in_stream=options.results_in_stream,
    )


def wire_messages(
    options: ChatOptions, branch: Sequence[Message], model: Model | None = None
) -> tuple[ChatMessage, ...]:
    """System prompt first, then every turn that has text."""
    system = options.system_prompt
    if any("place" in each for message in branch for each in message.attachments):
        system = f"{system}\n\n{CITE_PASSAGES}".strip()
    before = (ChatMessage("system", system),) if system.strip() else ()
    return (*before, *_turns(options, branch, model))


def _turns(options: ChatOptions, branch: Sequence[Message], model: Model | None = None) -> tuple[ChatMessage, ...]:
    """Every turn that has text. Earlier ones are never written differently, for caches."""
    messages: list[ChatMessage] = []
    attached = user_messages(branch, model, cache=options.cache_attachments)
    for place, message in enumerate(branch):
        if message.id in attached:
            messages.append(attached[message.id])
        elif message.role == "user":
            messages.append(ChatMessage("user", message.content))
        elif message.role == "tool" and is_answer_sent(branch, place):
            call_id = str(message.extra.get("tool_call_id") or "")
            messages.append(ChatMessage("tool", message.content, {"tool_call_id": call_id}))
        elif message.role == "assistant":
            extra = carried(branch, place) if message.extra else {}
            if message.content or "tool_calls" in extra:
                messages.append(ChatMessage("assistant", message.content or None, extra))
    return tuple(messages)


def note_of(exchange: Exchange, turns: int, written: Sequence[ChatMessage] = ()) -> dict[str, Any]:
    """What the Request page needs after a restart. `turns` is how many messages came from the branch.

    `written` are the messages of a sealed request before they were sealed; of their envelopes the beginning is kept.
    """
    record = exchange.request
    body = dict(record.body) if isinstance(record.body, Mapping) else {}
    messages = body.pop("messages", [])
    seen = shortened_envelopes(messages) if written else None
    messages = [each.to_wire() for each in written] or messages
    before = 1 if messages and messages[0].get("role") == "system" else 0
    return {
        "version": _NOTE_VERSION,
        "method": record.method,
        "path": record.path,
        "url": record.url,
        "headers": [list(pair) for pair in record.headers],
        "authenticated": record.authenticated,
        "body": body,
        "before": messages[:before],
        "after": messages[before + turns :],
        "message_at": _place_of_messages(record.body),
        "answer_headers": [list(pair) for pair in exchange.info.headers] if exchange.info is not None else [],
        "status": exchange.status,
        "sent_at": exchange.started_at.isoformat(),
        "duration_s": exchange.duration_s,
        "refusal": exchange.refused_body if exchange.error else "",
        "attempts": exchange.attempts,
        **({"seen": seen} if seen is not None else {}),
    }


def shortened_envelope(text: object) -> str:
    """The beginning of an envelope, and how long it is."""
    envelope = text if isinstance(text, str) else ""
    if len(envelope) <= ENVELOPE_SHOWN:
        return envelope
    beginning, count = envelope[:ENVELOPE_SHOWN], format_number(len(envelope))
    return tr("{beginning}… ({count} characters)", beginning=beginning, count=count)


def shortened_envelopes(messages: object) -> list[dict[str, Any]]:
    """Sealed messages with the beginnings of their envelopes."""
    listed = messages if isinstance(messages, list | tuple) else ()
    return [{**each, "content": shortened_envelope(each.get("content"))} for each in listed]


def sealed_turns(written: Sequence[Mapping[str, Any]], seen: object) -> tuple[SealedTurn, ...]:
    """What was written beside what was seen of it. Turns that went within one message stand beside that one."""
    envelopes = [each for each in seen if isinstance(each, Mapping)] if isinstance(seen, list | tuple) else []
    texts = [str(each.get("content") or "") for each in written]
    packed = len(texts) - len(envelopes)
    if packed > 0 and envelopes:
        start = len(envelopes) - 1
        texts = [*texts[:start], "\n\n".join(texts[start:])]
    return tuple(
        SealedTurn(str(each.get("role") or ""), text, str(each.get("content") or ""))
        for text, each in zip(texts, envelopes, strict=False)
    )


def without_bytes(exchange: Exchange) -> Exchange:
    """The call with attachments cut short: it is kept to be looked at, and a video would be kept 50 times."""
    body = exchange.request.body
    messages = body.get("messages") if isinstance(body, Mapping) else None
    if not any(isinstance(each.get("content"), list) for each in messages or () if isinstance(each, Mapping)):
        return exchange
    return replace(exchange, request=replace(exchange.request, body=shortened_body(body)))


def shortened_body(body: object) -> object:
    """A request body with the bytes of attachments cut short, but for short texts: what is kept to be looked at."""
    if isinstance(body, Mapping):
        return {name: shortened_body(value) for name, value in body.items()}
    if isinstance(body, list | tuple):
        return [shortened_body(value) for value in body]
    if isinstance(body, Base64Text):
        if body.head == PLAIN_TEXT and len(body) <= TEXT_SHOWN:
            return str(body)
        return tr("{beginning}… ({count} characters)", beginning=body.beginning[:60], count=format_number(len(body)))
    if isinstance(body, str) and len(body) > 400 and (_DATA.match(body) or _is_base64(body)):
        return tr("{body}… ({count} characters)", body=body[:60], count=format_number(len(body)))
    return body


def _is_base64(text: str) -> bool:
    return " " not in text[:400] and "\n" not in text[:400] and len(text) > 4_000 and text[:400].isascii()


def view_of(exchange: Exchange, written: Sequence[ChatMessage] = ()) -> RequestView:
    """The Request page of a call of this session; `written` are the messages of a sealed one before that."""
    body = exchange.request.body
    seen = shortened_envelopes(body.get("messages")) if written and isinstance(body, Mapping) else None
    return RequestView(
        shown_call(exchange),
        sealed=sealed_turns([each.to_wire() for each in written], seen),
    )


def view_from_note(note: Mapping[str, Any], branch: Sequence[Message]) -> RequestView | None:
    """The same after a restart; None when the note cannot be read. `branch` ends with the turn that was answered."""
    try:
        turns = [message.to_wire() for message in _turns(ChatOptions(), branch)]
        messages = [*note["before"], *turns, *note["after"]]
        items = list(note["body"].items())
        items.insert(note["message_at"], ("messages", note.get("seen", messages)))
        record = RequestRecord(
            method=note["method"],
            path=note["path"],
            url=note["url"],
            headers=_pairs(note["headers"]),
            body=dict(items),
            authenticated=bool(note["authenticated"]),
        )
        call = ShownCall(
            record,
            status=note["status"],
            sent_at=datetime.fromisoformat(note["sent_at"]),
            duration_s=note["duration_s"],
            headers=_pairs(note["answer_headers"]),
            refusal=str(note.get("refusal", "")),
            attempts=int(note.get("attempts", 1)),
        )
        return RequestView(call, sealed=sealed_turns(messages, note.get("seen")))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def turns_sent(branch: Sequence[Message]) -> int:
    """How many messages of a branch go into a request."""
    return len(_turns(ChatOptions(), branch))


def _place_of_messages(body: object) -> int:
    return list(body).index("messages") if isinstance(body, Mapping) and "messages" in body else 0


def _pairs(values: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in values)
