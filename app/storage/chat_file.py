"""One chat as JSON: what "Export" writes and "Import" reads back identical; also how a chat is duplicated.

The reader takes anything that names messages: what is odd in a message costs that field, a parent that is not
there becomes the message before, ids that are taken are made anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from app.storage.chat_rows import (
    IMPORTED_SEAL,
    STATES,
    Chat,
    Message,
    new_id,
    plain_objects,
    preview_of,
)
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import StorageError
from app.storage.values import json_text, micros_of, money_of, money_text, seconds_of, text_of
from app.translation import tr

FORMAT = "rialto-chat"
VERSION = 1
_MAX_ID_CHARS = 64
_TEXTS = ("role", "content", "reasoning", "error", "model")


class NotAChat(StorageError):
    pass


def chat_to_json(chat: Chat, messages: tuple[Message, ...]) -> dict[str, Any]:
    """Return one JSON object with every branch. Account, draft and trash are this computer's and stay out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": chat.title,
        "created_at": chat.created_at.isoformat(),
        "updated_at": chat.updated_at.isoformat(),
        "model": chat.model,
        "character_slug": chat.character_slug,
        "character_name": chat.character_name,
        "options": chat.options,
        "head_id": chat.head_id,
        "messages": [_message_to_json(message) for message in messages],
    }


def _message_to_json(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "parent_id": message.parent_id,
        **{name: getattr(message, name) for name in (*_TEXTS, "state", "exchange_id", "usage", "thinking_s", "extra")},
        "sources": list(message.sources),
        "attachments": [_without_folder(each) for each in message.attachments],
        "cost_usd": money_text(message.cost_usd),
        "created_at": message.created_at.isoformat(),
    }


def _without_folder(attachment: Mapping[str, Any]) -> Mapping[str, Any]:
    """An attachment that is from a document, with that document's name alone: folders are this computer's."""
    place = attachment.get("place")
    if not isinstance(place, Mapping) or not isinstance(place.get("path"), str):
        return attachment
    return {**attachment, "place": {**place, "path": PurePath(place["path"]).name}}


async def import_chat(
    database: Database,
    body: object,
    account_id: str = "",
    project_id: str | None = None,
    *,
    trashed: bool = False,
    own: bool = False,
) -> Chat:
    """Keep the chat that `body` (decoded JSON) holds and return it. Raises `NotAChat` with a sentence.

    With `trashed` it goes into the trash, where the chats of a project wait until all of them have come. With `own` it
    never left Rialto, so what it says of its seals was checked here.
    All of it is kept or none; a message that was still streaming counts as interrupted.
    """
    if not isinstance(body, Mapping) or not isinstance(body.get("messages"), list):
        raise NotAChat(tr("This file contains no chat that Rialto can read."))
    if isinstance(body.get("version"), int) and body["version"] > VERSION and body.get("format") == FORMAT:
        raise NotAChat(tr("This chat was exported by a newer version of Rialto."))
    now = database.now()
    entries = [entry for entry in body["messages"] if isinstance(entry, Mapping) and text_of(entry.get("role"))]
    async with database.transaction() as transaction:
        taken: set[str] = set()
        for name in {entry["id"] for entry in entries if _usable_id(entry.get("id"))}:
            taken.update(row[0] for row in await transaction.fetch("SELECT id FROM messages WHERE id = ?", [name]))
        chat_id, ids = new_id(), _ids(entries, taken)
        messages, names = _messages(entries, ids, chat_id, now, own)
        chat = {
            "id": chat_id,
            **{name: text_of(body.get(name)) for name in ("title", "model", "character_slug", "character_name")},
            **{name: moment_in(body.get(name), now) for name in ("created_at", "updated_at")},
            "account_id": account_id,
            "project_id": project_id,
            "pinned": int(body.get("pinned") is True),
            "trashed_at": micros_of(now) if trashed else None,
            "options": json_text(body["options"] if isinstance(body.get("options"), Mapping) else {}),
            "head_id": names.get(text_of(body.get("head_id")), ids[-1] if ids else None),
            "preview": next((preview_of(row["content"]) for row in reversed(messages) if row["content"]), ""),
            "message_count": len(messages),
            "cost_usd": money_text(sum((money_of(row["cost_usd"]) or Decimal(0) for row in messages), Decimal(0))),
        }
        await transaction.execute(_insert("chats", chat), list(chat.values()))
        if messages:
            rows = [list(row.values()) for row in messages]
            await transaction.execute_many(_insert("messages", messages[0]), rows)
    return await ChatStore(database).chat(chat_id)


def _insert(table: str, row: Mapping[str, Any]) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"


async def duplicate_chat(database: Database, chat_id: str, leaf_id: str | None = None, *, title: str = "") -> Chat:
    """Return a copy of a chat under new ids: with all its branches, or the one that ends at `leaf_id`.

    What its answers cost was paid once and stays with the original.
    """
    history = ChatStore(database)
    chat = await history.chat(chat_id)
    messages = await history.messages(chat_id) if leaf_id is None else await history.path_to(leaf_id)
    free = tuple(replace(message, usage={}, cost_usd=None, exchange_id=None) for message in messages)
    head_id = chat.head_id if leaf_id is None else leaf_id
    now = database.now()
    copy = replace(chat, title=title or chat.title, head_id=head_id, created_at=now, updated_at=now)
    return await import_chat(database, chat_to_json(copy, free), chat.account_id, chat.project_id)


def _usable_id(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _MAX_ID_CHARS and name.isascii() and name.isprintable()


def _ids(entries: list[Mapping[str, Any]], taken: set[str]) -> list[str]:
    ids: list[str] = []
    used = set(taken)
    for entry in entries:
        name = entry.get("id")
        ids.append(name if isinstance(name, str) and _usable_id(name) and name not in used else new_id())
        used.add(ids[-1])
    return ids


def _messages(
    entries: list[Mapping[str, Any]], ids: list[str], chat_id: str, now: datetime, own: bool
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the rows to insert, parents before children, and what each id of the file is called now."""
    names: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for number, (entry, message_id) in enumerate(zip(entries, ids, strict=True)):
        before = ids[number - 1] if number else None
        parent = entry.get("parent_id", before)
        if parent is not None:
            parent = names.get(parent, before) if isinstance(parent, str) else before
        if isinstance(entry.get("id"), str):
            names.setdefault(entry["id"], message_id)
        rows.append(
            {
                "id": message_id,
                "chat_id": chat_id,
                "parent_id": parent,
                **{name: text_of(entry.get(name)) for name in _TEXTS},
                "sources": json_text(plain_objects(entry.get("sources"))),
                "state": _settled(entry.get("state", "complete")),
                "exchange_id": text_of(entry.get("exchange_id")) or None,
                "usage": json_text(_usage(entry.get("usage"), own)),
                "cost_usd": money_text(money_of(entry.get("cost_usd"))),
                "created_at": moment_in(entry.get("created_at"), now),
                "thinking_s": seconds_of(entry.get("thinking_s")),
                "extra": json_text(entry["extra"] if isinstance(entry.get("extra"), Mapping) else {}),
                "attachments": json_text(plain_objects(entry.get("attachments"))),
            }
        )
    return rows, names


def _usage(usage: object, own: bool) -> Mapping[str, Any]:
    """What an answer used. A file can claim any outcome of a seal; that it broke is the only one taken on its word."""
    if not isinstance(usage, Mapping):
        return {}
    seal = usage.get("seal")
    return {**usage, "seal": IMPORTED_SEAL} if seal and seal != "broken" and not own else usage


def _settled(state: object) -> str:
    return str(state) if state in STATES and state != "streaming" else "interrupted"


def moment_in(value: object, now: datetime) -> int:
    """Return the microseconds of a moment in a file; those of `now` for what is no date."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else now
        return micros_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return micros_of(now)
