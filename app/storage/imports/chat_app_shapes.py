"""The shapes in which more programs export chats, beside those of `chat_import_shapes`.

* DeepSeek: a tree of nodes as OpenAI's, whose messages hold typed `fragments`.
* Le Chat: a list of messages with `chatId` and `parentId`, a file for each chat.
* Grok: `conversation` and `responses`, each with `parent_response_id`.
* LM Studio: `messages` with `versions` of `singleStep` or `multiStep`.
* TypingMind: `chats` below `data`, each with a `chatTitle`.
* Chatbox: an object with a `session:…` for each chat, or a list `chat-sessions`.
* Cherry Studio: `indexedDB` with `topics` and `message_blocks`; their names are in `localStorage`.
* Google AI Studio: `chunkedPrompt` with `chunks`.

What Google Takeout has of Gemini is recognized and refused: it does not say which prompts belong together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from app.storage.imports.chat_import_shapes import (
    ATTACHED,
    HIDDEN,
    SHAPES,
    TOOLS,
    Left,
    Shape,
    Turn,
    downwards,
    make_turn,
    role_of,
    text_of_blocks,
)
from app.translation import tr

Entry = Mapping[str, Any]
Turns = tuple[list[Turn], str | None]
_SESSION = "session:"  # how Chatbox names a chat


def _rows(value: object) -> list[Entry]:
    """The objects of a list; () of anything else."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _said(name: str, entry: Entry, role: str, text: str, thoughts: str = "", model: object = None) -> Turn:
    at = next((entry[key] for key in ("createdAt", "created_at", "create_time", "timestamp") if entry.get(key)), None)
    if isinstance(at, Mapping):  # MongoDB's dates: {"$date": {"$numberLong": "…"}}
        at = at.get("$date")
        at = at.get("$numberLong") if isinstance(at, Mapping) else at
        at = int(at) if isinstance(at, str) and at.isdigit() else at
    turn = make_turn(name, role, text, at, model if isinstance(model, str) else "")
    turn["reasoning"] = thoughts
    return turn


def _is_kept(text: str, role: str | None, left: Left) -> bool:
    """Whether a message is imported; what is not is counted."""
    if role is None:
        left[HIDDEN] += bool(text.strip())
    return role is not None and bool(text.strip())


def _joined(pieces: list[str]) -> str:
    return "\n\n".join(piece for piece in pieces if piece.strip())


# -- DeepSeek ---------------------------------------------------------------------------------------------------------


def _is_deepseek(entry: Entry) -> bool:
    nodes = entry.get("mapping")
    if not isinstance(nodes, Mapping):
        return False
    return any(
        isinstance(node, Mapping) and isinstance(node.get("message"), Mapping) and "fragments" in node["message"]
        for node in nodes.values()
    )


def _deepseek(entry: Entry, left: Left) -> Turns:
    nodes = {str(name): node for name, node in entry["mapping"].items() if isinstance(node, Mapping)}
    turns: list[Turn] = []
    kept: dict[str, str | None] = {}
    for name, node in downwards(nodes):
        kept[name] = kept.get(str(node.get("parent")))
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        said: dict[str, list[str]] = {"REQUEST": [], "RESPONSE": [], "THINK": []}
        for fragment in _rows(message.get("fragments")):
            text = fragment.get("content")
            if fragment.get("type") in said and isinstance(text, str):
                said[fragment["type"]].append(text)
            else:
                left[TOOLS] += 1  # searches and pages that were read
        left[ATTACHED] += len(_rows(message.get("files")))
        role = "user" if said["REQUEST"] else "assistant"
        text = _joined(said["REQUEST"] or said["RESPONSE"])
        if not text:
            continue
        at = {"createdAt": message.get("inserted_at")}
        turn = _said(name, at, role, text, _joined(said["THINK"]), message.get("model"))
        turn["parent_id"], kept[name] = kept[name], name
        turns.append(turn)
    return turns, None


# -- Le Chat, Grok ----------------------------------------------------------------------------------------------------


def _le_chat(entry: Entry, left: Left) -> Turns:
    turns: list[Turn] = []
    known: set[str] = set()
    for message in sorted(_rows(entry["messages"]), key=lambda each: str(each.get("createdAt") or "")):
        chunks = message.get("contentChunks")
        content = message.get("content")
        thoughts = ""
        if isinstance(chunks, list):
            thoughts = _joined(
                [text_of_blocks(each.get("thinking"), left) for each in _rows(chunks) if "thinking" in each]
            )
            others = [each for each in chunks if not (isinstance(each, Mapping) and "thinking" in each)]
            text = text_of_blocks(others, left) or (content if isinstance(content, str) else "")
        else:
            text = content if isinstance(content, str) else text_of_blocks(content, left)
        left[ATTACHED] += len(_rows(message.get("files")))
        role = role_of(message.get("role"))
        if not _is_kept(text, role, left) or role is None:
            continue
        turn = _said(str(message.get("id")), message, role, text, thoughts, message.get("model"))
        parent = str(message.get("parentId"))
        turn["parent_id"] = parent if parent in known else turns[-1]["id"] if turns else None
        known.add(turn["id"])
        turns.append(turn)
    return turns, None


def _grok(entry: Entry, left: Left) -> Turns:
    turns: list[Turn] = []
    known: set[str] = set()
    for wrapped in _rows(entry["responses"]):
        message = wrapped.get("response")
        message = message if isinstance(message, Mapping) else wrapped
        text = message.get("message")
        text = text if isinstance(text, str) else ""
        for name in ("file_attachments", "image_attachments", "generated_image_urls"):
            found = message.get(name)
            left[ATTACHED] += len(found) if isinstance(found, list) else 0
        role = role_of(message.get("sender"))
        if not _is_kept(text, role, left) or role is None:
            continue
        thoughts = message.get("thinking_trace")
        name = str(message.get("_id") or len(turns))
        turn = _said(name, message, role, text, thoughts if isinstance(thoughts, str) else "", message.get("model"))
        parent = str(message.get("parent_response_id"))
        turn["parent_id"] = parent if parent in known else turns[-1]["id"] if turns else None
        known.add(name)
        turns.append(turn)
    leaf = entry["conversation"].get("leaf_response_id")
    return turns, leaf if leaf in known else None


def _of_grok(entry: Entry) -> str:
    title = entry["conversation"].get("title")
    return title if isinstance(title, str) else ""


# -- LM Studio --------------------------------------------------------------------------------------------------------


def _lm_studio(entry: Entry, left: Left) -> Turns:
    """Every version of a message is kept; the next message stands below the one that was selected."""
    turns: list[Turn] = []
    above: str | None = None
    if isinstance(entry.get("systemPrompt"), str) and entry["systemPrompt"].strip():
        left[HIDDEN] += 1
    for number, message in enumerate(_rows(entry["messages"])):
        selected = message.get("currentlySelected")
        following = above
        for place, version in enumerate(_rows(message.get("versions"))):
            text, thoughts = _lm_studio_text(version, left)
            role = role_of(version.get("role"))
            if not _is_kept(text, role, left) or role is None:
                continue
            sender = version.get("senderInfo")
            model = sender.get("senderName") if isinstance(sender, Mapping) else None
            turn = _said(f"{number}.{place}", entry, role, text, thoughts, model)
            turn["parent_id"] = above
            turns.append(turn)
            if place == selected or following == above:
                following = turn["id"]
        above = following
    return turns, above


def _lm_studio_text(version: Entry, left: Left) -> tuple[str, str]:
    texts: list[str] = []
    thoughts: list[str] = []
    steps = _rows(version.get("steps")) if version.get("type") == "multiStep" else [version]
    for step in steps:
        if step is not version and step.get("type") != "contentBlock":
            left[TOOLS] += step.get("type") in ("toolStatus", "toolCall")
            continue
        style = step.get("style")
        text = text_of_blocks(step.get("content"), left)
        (thoughts if isinstance(style, Mapping) and style.get("type") == "thinking" else texts).append(text)
    return _joined(texts), _joined(thoughts)


# -- TypingMind, Chatbox, Cherry Studio, Google AI Studio --------------------------------------------------------------


def _is_typing_mind(entry: Entry) -> bool:
    return isinstance(entry.get("messages"), list) and ("chatTitle" in entry or "chatID" in entry)


def _is_chatbox(entry: Entry) -> bool:
    return isinstance(entry.get("chatbox_messages"), list)


def _is_cherry(entry: Entry) -> bool:
    return isinstance(entry.get("cherry_messages"), list)


def _flat(messages: list[Entry], left: Left) -> Turns:
    """Messages one after the other, with their thoughts among their parts or beside them."""
    turns: list[Turn] = []
    for number, message in enumerate(messages):
        parts = message.get("contentParts", message.get("content"))
        if isinstance(message.get("responses"), list):  # TypingMind: several models, each with messages of its own
            answers = _rows(message["responses"])
            left[tr("answers of further models to the same question")] += max(0, len(answers) - 1)
            first = _rows(answers[0].get("messages")) if answers else []
            message = first[-1] if first else message
            parts = message.get("content")
        thoughts = message.get("reasoningContent") or message.get("reasoning_content")
        thoughts = thoughts if isinstance(thoughts, str) else ""
        if isinstance(parts, list):
            reasons = [each for each in _rows(parts) if each.get("type") in ("reasoning", "thinking")]
            thoughts = _joined([thoughts, *(str(each.get("text") or each.get("thinking") or "") for each in reasons)])
            tools = [each for each in _rows(parts) if each.get("type") in ("tool-call", "tool_use", "tool_result")]
            left[TOOLS] += len(tools)
            text = text_of_blocks([each for each in parts if each not in reasons and each not in tools], left)
        else:
            text = parts if isinstance(parts, str) else ""
        role = role_of(message.get("role"))
        if not _is_kept(text, role, left) or role is None:
            continue
        turn = _said(str(number), message, role, text, thoughts, message.get("model"))
        turn["parent_id"] = turns[-1]["id"] if turns else None
        turns.append(turn)
    return turns, None


def _cherry(entry: Entry, left: Left) -> Turns:
    """Several models may answer one question (`askId`): their answers are versions of each other."""
    blocks: Mapping[str, list[Entry]] = entry["blocks"]
    turns: list[Turn] = []
    known: set[str] = set()
    for message in _rows(entry["cherry_messages"]):
        name = str(message.get("id"))
        content = message.get("content")
        texts = [content] if isinstance(content, str) else []
        thoughts: list[str] = []
        for block in blocks.get(name, ()):
            match block.get("type"):
                case "main_text" | "code":
                    texts.append(str(block.get("content") or ""))
                case "thinking":
                    thoughts.append(str(block.get("content") or ""))
                case "image" | "file" | "video":
                    left[ATTACHED] += 1
                case "tool":
                    left[TOOLS] += 1
        text, role = _joined(texts), role_of(message.get("role"))
        if not _is_kept(text, role, left) or role is None:
            continue
        model = message.get("model")
        model = model.get("name") or model.get("id") if isinstance(model, Mapping) else message.get("modelId")
        turn = _said(name, message, role, text, _joined(thoughts), model)
        asked = str(message.get("askId"))
        turn["parent_id"] = asked if asked in known else turns[-1]["id"] if turns else None
        known.add(name)
        turns.append(turn)
    return turns, None


def _ai_studio(entry: Entry, left: Left) -> Turns:
    turns: list[Turn] = []
    settings = entry.get("runSettings")
    model = settings.get("model") if isinstance(settings, Mapping) else None
    thoughts: list[str] = []
    for number, chunk in enumerate(_rows(entry["chunkedPrompt"].get("chunks"))):
        text = chunk.get("text")
        text = text if isinstance(text, str) else ""
        left[ATTACHED] += not text and any(name.startswith(("drive", "inline")) for name in chunk)
        if chunk.get("isThought"):
            thoughts.append(text)
            continue
        role = role_of(chunk.get("role"))
        if not _is_kept(text, role, left) or role is None:
            continue
        turn = _said(str(number), chunk, role, text, _joined(thoughts) if role == "assistant" else "", model)
        thoughts = []
        turn["parent_id"] = turns[-1]["id"] if turns else None
        turns.append(turn)
    return turns, None


# -- files that hold many chats ---------------------------------------------------------------------------------------


def entries_within(content: Entry) -> list[Any] | None:
    """The chats of an object that holds many; None when it is none of those known."""
    if isinstance(content.get("indexedDB"), Mapping):
        return list(_cherry_topics(content))
    sessions = [value for name, value in content.items() if name.startswith(_SESSION)] or content.get("chat-sessions")
    if isinstance(sessions, list) and sessions:
        return [chat for session in _rows(sessions) for chat in _chatbox_chats(session)]
    for name in ("conversations", "chats", "data"):
        inner = content.get(name)
        if isinstance(inner, list) and all(isinstance(each, Mapping) for each in inner[:3]):
            return inner
        if name == "data" and isinstance(inner, Mapping) and isinstance(inner.get("chats"), list):
            return list(inner["chats"])
    return None


def _chatbox_chats(session: Entry) -> Iterator[Entry]:
    """A session and the earlier threads that it keeps."""
    for part in (*_rows(session.get("threads")), session):
        messages = part.get("messages")
        if isinstance(messages, list) and messages:
            yield {"title": part.get("name"), "chatbox_messages": messages, "createdAt": part.get("createdAt")}


def _cherry_topics(content: Entry) -> Iterator[Entry]:
    names: dict[str, str] = {}
    try:
        kept = json.loads(content["localStorage"]["persist:cherry-studio"])
        found = json.loads(kept["assistants"])
        for assistant in (*_rows(found.get("assistants")), found.get("defaultAssistant")):
            for topic in _rows(assistant.get("topics")) if isinstance(assistant, Mapping) else ():
                names[str(topic.get("id"))] = str(topic.get("name") or "")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        pass  # chats without a name
    database = content["indexedDB"]
    blocks: dict[str, list[Entry]] = {}
    for block in _rows(database.get("message_blocks")):
        blocks.setdefault(str(block.get("messageId")), []).append(block)
    for topic in _rows(database.get("topics")):
        name = names.get(str(topic.get("id")), "")
        yield {"title": name, "cherry_messages": topic.get("messages") or [], "blocks": blocks}


def refused_program(entry: Entry) -> str:
    """The program whose exports cannot be imported, "" for others."""
    if "safeHtmlItem" in entry or str(entry.get("header")).startswith(("Gemini", "Bard")):
        return "Gemini (Google Takeout)"
    return ""


ALL_SHAPES = (
    Shape("DeepSeek", _is_deepseek, _deepseek),
    Shape(
        "Grok",
        lambda entry: isinstance(entry.get("responses"), list) and isinstance(entry.get("conversation"), Mapping),
        _grok,
        title=_of_grok,
    ),
    Shape(
        "Le Chat",
        lambda entry: any("chatId" in each and "role" in each for each in _rows(entry.get("messages"))[:1]),
        _le_chat,
    ),
    Shape(
        "LM Studio",
        lambda entry: any(isinstance(each.get("versions"), list) for each in _rows(entry.get("messages"))[:1]),
        _lm_studio,
        title="name",
    ),
    Shape("TypingMind", _is_typing_mind, lambda entry, left: _flat(_rows(entry["messages"]), left), title="chatTitle"),
    Shape("Chatbox", _is_chatbox, lambda entry, left: _flat(_rows(entry["chatbox_messages"]), left)),
    Shape("Cherry Studio", _is_cherry, _cherry),
    Shape("Google AI Studio", lambda entry: isinstance(entry.get("chunkedPrompt"), Mapping), _ai_studio),
    *SHAPES,
)
