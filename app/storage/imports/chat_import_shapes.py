"""The shapes in which other programs export chats, as far as they are public, and the way from each to ours.

* OpenAI's data export: a tree of nodes in `mapping`, `current_node` the leaf on screen.
* Anthropic's data export: `chat_messages` with `sender` and a list of `content` blocks.
* Open WebUI: `chat.history.messages` by id with `parentId`, `currentId` the leaf.
* LibreChat: `messages` with `messageId`, `parentMessageId` and `isCreatedByUser`.
* Lists of turns: `messages` with `role` and `content`, or `conversations` with `from` and `value`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.translation import tr

Left = Counter[str]
Turn = dict[str, Any]  # a message as `chat_file` reads it

HIDDEN = tr("hidden messages, such as system prompts")
ATTACHED = tr("images and files, which the export does not contain")
TOOLS = tr("tool calls and their results")
_MARK = re.compile("( ?)\ue200([^\ue201]*)\ue201|[\ue200-\ue206]")  # ChatGPT's own: a kind, and its values
_TURN_REFERENCE = re.compile(r"turn\d+\w+")
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "ai": "assistant",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """`fits` recognizes one chat; `turns` gives its messages and the id of the leaf that was on screen."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    turns: Callable[[Mapping[str, Any], Left], tuple[list[Turn], str | None]]
    title: str | Callable[[Mapping[str, Any]], str] = "title"  # the field that has it, or what finds it


def chat_of(entry: Mapping[str, Any], shape: Shape, left: Left) -> dict[str, Any] | None:
    """Return the chat as `chat_file.import_chat` takes it; None when it has no message."""
    turns, head_id = shape.turns(entry, left)
    if not turns:
        return None
    created = _when(_first(entry, "create_time", "created_at", "createdAt", "inserted_at"))
    updated = _when(_first(entry, "update_time", "updated_at", "updatedAt"))
    title = shape.title(entry) if callable(shape.title) else entry.get(shape.title)
    models = [turn["model"] for turn in turns if turn.get("model")]
    return {
        "title": title.strip()[:200] if isinstance(title, str) else "",
        "created_at": created or turns[0].get("created_at"),
        "updated_at": updated or turns[-1].get("created_at"),
        "model": models[-1] if models else "",
        "head_id": head_id,
        "messages": turns,
    }


def _first(entry: Mapping[str, Any], *names: str) -> object:
    return next((entry[name] for name in names if entry.get(name)), None)


def role_of(name: object) -> str | None:
    """Our role for another program's: "user", "assistant", or None for system prompts, tools and the unknown."""
    return _ROLES.get(str(name).lower())


# -- OpenAI -----------------------------------------------------------------------------------------------------------


def _openai(entry: Mapping[str, Any], left: Left) -> tuple[list[Turn], str | None]:
    nodes = {str(name): node for name, node in entry["mapping"].items() if isinstance(node, Mapping)}
    turns: list[Turn] = []
    kept: dict[str, str | None] = {}  # node → the nearest message that is kept, itself or above it
    thoughts: dict[str, str] = {}  # node → thoughts that stand above the answer that they belong to
    for name, node in downwards(nodes):
        above = str(node.get("parent"))
        kept[name] = kept.get(above)
        thoughts[name] = thoughts.get(above, "")
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        content = message.get("content")
        kind = content.get("content_type") if isinstance(content, Mapping) else ""
        if kind in ("thoughts", "reasoning_recap"):
            thoughts[name] += _thoughts(content) if isinstance(content, Mapping) else ""
            continue
        turn = _openai_turn(name, message, left)
        if turn is None:
            continue
        turn["parent_id"] = kept[name]
        if turn["role"] == "assistant":
            turn["reasoning"] = thoughts[name].strip()
        thoughts[name] = ""
        kept[name] = name
        turns.append(turn)
    model = entry.get("default_model_slug")
    for turn in turns if isinstance(model, str) else ():
        if turn["role"] == "assistant" and not turn["model"]:
            turn["model"] = model
    return turns, kept.get(str(entry.get("current_node")))


def _openai_turn(name: str, message: Mapping[str, Any], left: Left) -> Turn | None:
    author = message.get("author")
    role = author.get("role") if isinstance(author, Mapping) else ""
    found = message.get("metadata")
    metadata: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    text = _openai_text(message.get("content"), left)
    if role == "tool" or (role == "assistant" and message.get("recipient", "all") != "all"):
        left[TOOLS] += 1
        return None
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        left[HIDDEN] += bool(text)
        return None
    if not text.strip():
        return None
    return make_turn(name, role, text, message.get("create_time"), str(metadata.get("model_slug") or ""))


def _openai_text(content: object, left: Left) -> str:
    if not isinstance(content, Mapping):
        return content if isinstance(content, str) else ""
    if content.get("content_type") == "user_editable_context":
        return ""
    pieces: list[str] = []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content.get("text") or content.get("result")]:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            pieces.append(part["text"])
        elif part:
            left[ATTACHED] += 1
    text = "\n\n".join(piece for piece in pieces if piece)
    if content.get("content_type") == "code" and text:
        text = f"```{content.get('language') or ''}\n{text}\n```"
    return _MARK.sub(_visible_words, text)


def _visible_words(found: re.Match[str]) -> str:
    """The words that a mark encloses: the name of an entity, the text of a link; nothing of a citation."""
    kind, *values = (found[2] or "").split("\ue202")
    for value in values:
        try:
            named = json.loads(value)
        except (ValueError, RecursionError):
            named = value
        if isinstance(named, list):  # ["city", "Paris", "what is known of it"]
            named = next((each for each in named[1:] if isinstance(each, str)), "")
        if kind.endswith("cite") or not isinstance(named, str) or _TURN_REFERENCE.match(named):
            continue
        return f"{found[1]}{named}"
    return ""


def _thoughts(content: Mapping[str, Any]) -> str:
    found = content.get("thoughts")
    pieces = [str(each.get("content") or "") for each in found if isinstance(each, Mapping)] if found else []
    return "\n\n".join(piece for piece in pieces if piece) + "\n\n" if pieces else ""


def downwards(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every node after the one above it, brothers in their order; nodes in a circle are left out."""
    below: dict[str, list[str]] = {}
    for name, node in nodes.items():
        parent = node.get("parent") or node.get("parentId")
        below.setdefault(str(parent) if parent is not None and str(parent) in nodes else "", []).append(name)
    for name, node in nodes.items():
        order = node.get("children") or node.get("childrenIds")
        if isinstance(order, list) and name in below:
            place = {str(child): number for number, child in enumerate(order)}
            below[name].sort(key=lambda child: place.get(child, len(place)))
    waiting = list(reversed(below.get("", [])))
    while waiting:
        name = waiting.pop()
        yield name, nodes[name]
        waiting += reversed(below.get(name, []))


# -- Anthropic --------------------------------------------------------------------------------------------------------


def _anthropic(entry: Mapping[str, Any], left: Left) -> tuple[list[Turn], str | None]:
    turns: list[Turn] = []
    known: set[str] = set()
    for number, message in enumerate(entry["chat_messages"]):
        if not isinstance(message, Mapping):
            continue
        texts, thoughts = [], []
        blocks = message.get("content")
        for block in blocks if isinstance(blocks, list) else []:
            kind = block.get("type") if isinstance(block, Mapping) else ""
            if kind == "text":
                texts.append(str(block.get("text") or ""))
            elif kind == "thinking":
                thoughts.append(str(block.get("thinking") or ""))
            elif kind in ("tool_use", "tool_result"):
                left[TOOLS] += 1
        text = "\n\n".join(filter(None, texts)) or str(message.get("text") or "")
        for name in ("attachments", "files"):
            left[ATTACHED] += len(message[name]) if isinstance(message.get(name), list) else 0
        role = role_of(message.get("sender") or message.get("role"))
        if role is None or not text.strip():
            left[HIDDEN] += bool(text.strip())
            continue
        turn = make_turn(str(message.get("uuid") or number), role, text, message.get("created_at"), "")
        turn["reasoning"] = "\n\n".join(filter(None, thoughts))
        parent = message.get("parent_message_uuid")
        turn["parent_id"] = parent if parent in known else turns[-1]["id"] if turns else None
        known.add(turn["id"])
        turns.append(turn)
    leaf = entry.get("current_leaf_message_uuid")
    return turns, leaf if leaf in known else None


# -- Open WebUI, LibreChat, lists -------------------------------------------------------------------------------------


def _open_webui(entry: Mapping[str, Any], left: Left) -> tuple[list[Turn], str | None]:
    chat = entry["chat"]
    history = chat["history"]
    nodes = {str(name): node for name, node in history["messages"].items() if isinstance(node, Mapping)}
    turns: list[Turn] = []
    kept: dict[str, str | None] = {}
    for name, node in downwards(nodes):
        above = kept.get(str(node.get("parentId")))
        kept[name] = above
        left[ATTACHED] += len(node["files"]) if isinstance(node.get("files"), list) else 0
        turn = _listed_turn(name, node, left)
        if turn is not None:
            turn["parent_id"] = above
            kept[name] = name
            turns.append(turn)
    return turns, kept.get(str(history.get("currentId")))


def _librechat(entry: Mapping[str, Any], left: Left) -> tuple[list[Turn], str | None]:
    turns: list[Turn] = []
    known: set[str] = set()
    for message in _flat(entry["messages"]):
        role = "user" if message.get("isCreatedByUser") else "assistant"
        text = message.get("text") or text_of_blocks(message.get("content"), left)
        if not isinstance(text, str) or not text.strip():
            continue
        turn = make_turn(
            str(message["messageId"]), role, text, message.get("createdAt"), str(message.get("model") or "")
        )
        parent = str(message.get("parentMessageId"))
        turn["parent_id"] = parent if parent in known else None
        known.add(turn["id"])
        turns.append(turn)
    return turns, None


def _flat(messages: object) -> Iterator[Mapping[str, Any]]:
    """Messages one after the other, also those that stand in the `children` of others."""
    waiting = list(reversed(messages)) if isinstance(messages, list) else []
    while waiting:
        message = waiting.pop()
        if isinstance(message, Mapping):
            yield message
            children = message.get("children")
            waiting += reversed(children) if isinstance(children, list) else []


def _listed(entry: Mapping[str, Any], left: Left) -> tuple[list[Turn], str | None]:
    turns: list[Turn] = []
    for number, message in enumerate(entry.get("messages") or entry.get("conversations") or ()):
        turn = _listed_turn(str(number), message, left) if isinstance(message, Mapping) else None
        if turn is not None:
            turn["parent_id"] = turns[-1]["id"] if turns else None
            turns.append(turn)
    return turns, None


def _listed_turn(name: str, message: Mapping[str, Any], left: Left) -> Turn | None:
    said = message.get("role") or message.get("from") or message.get("sender")
    role = role_of(said)
    content = message.get("content", message.get("value", message.get("text")))
    text = content if isinstance(content, str) else text_of_blocks(content, left)
    if role is None:
        left[TOOLS if said == "tool" else HIDDEN] += bool(text.strip())
        return None
    if not text.strip():
        return None
    at = message.get("timestamp") or message.get("created_at") or message.get("createdAt")
    turn = make_turn(name, role, text, at, str(message.get("model") or ""))
    thoughts = message.get("reasoning_content")
    turn["reasoning"] = thoughts if isinstance(thoughts, str) else ""
    return turn


def text_of_blocks(content: object, left: Left) -> str:
    """The text of a list of content parts; other parts are counted."""
    pieces: list[str] = []
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, Mapping):
            text = text.get("value")
        if isinstance(text, str):
            pieces.append(text)
        else:
            left[ATTACHED] += 1
    return "\n\n".join(pieces)


def make_turn(name: str, role: str, text: str, at: object, model: str) -> Turn:
    return {
        "id": name,
        "parent_id": None,
        "role": role,
        "content": text,
        "model": model if role == "assistant" else "",
        "created_at": _when(at),
    }


def _when(value: object) -> str | None:
    """Return an ISO moment for seconds or milliseconds since 1970 or an ISO text; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _has_turns(entry: Mapping[str, Any], name: str, *keys: str) -> bool:
    turns = entry.get(name)
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, Mapping) and all(key in first for key in keys)


SHAPES = (
    Shape("ChatGPT", lambda entry: isinstance(entry.get("mapping"), Mapping), _openai),
    Shape("Claude", lambda entry: isinstance(entry.get("chat_messages"), list), _anthropic, title="name"),
    Shape(
        "Open WebUI",
        lambda entry: (
            isinstance(chat := entry.get("chat"), Mapping)
            and isinstance(history := chat.get("history"), Mapping)
            and isinstance(history.get("messages"), Mapping)
        ),
        _open_webui,
    ),
    Shape("LibreChat", lambda entry: _has_turns(entry, "messages", "messageId"), _librechat),
    Shape(tr("a list of messages"), lambda entry: _has_turns(entry, "messages", "role"), _listed),
    Shape(tr("a list of messages"), lambda entry: _has_turns(entry, "conversations", "from", "value"), _listed),
)
