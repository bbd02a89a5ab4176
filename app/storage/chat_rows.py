"""What a chat, a message and a hit in a search are, and how their rows are read. No SQL runs here."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.storage.search_index import Snippet
from app.storage.values import moment_of, money_of, object_of, objects_of, read_text, seconds_of

STATES = ("complete", "streaming", "stopped", "interrupted", "failed")
PREVIEW_CHARS = 160
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chat:
    """`head_id` is the selected leaf of the tree; the last three sum up the messages of all branches."""

    id: str
    title: str = ""
    created_at: datetime = _EPOCH
    updated_at: datetime = _EPOCH  # when a message last came or ended; renaming and pinning do not count
    pinned: bool = False
    trashed_at: datetime | None = None
    account_id: str = ""
    model: str = ""
    character_slug: str | None = None
    character_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    draft: str = ""
    head_id: str | None = None
    message_count: int = 0
    cost_usd: Decimal = Decimal(0)
    draft_attachments: tuple[dict[str, Any], ...] = ()  # as `Message.attachments`, beside the draft
    project_id: str | None = None  # None for a chat in no project; the project may be in the trash
    edited_id: str = ""  # the turn that is being put in other words; "" for none, and then the next two are empty
    edit_text: str = ""
    edit_attachments: tuple[dict[str, Any], ...] = ()
    play_usd: Decimal = Decimal(0)  # of `cost_usd`, what was play money


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `state` is one of complete, streaming, stopped, interrupted, failed; `error` says why it failed."""

    id: str
    chat_id: str
    parent_id: str | None  # None for the first turn of a branch that begins the chat
    role: str
    content: str = ""
    reasoning: str = ""
    sources: tuple[dict[str, Any], ...] = ()
    state: str = "complete"
    error: str = ""
    model: str = ""
    exchange_id: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    created_at: datetime = _EPOCH
    thinking_s: float | None = None
    attachments: tuple[dict[str, Any], ...] = ()  # what each is; the bytes are files, see `attachment_files`
    extra: dict[str, Any] = field(default_factory=dict)  # goes back to the service as it came: `tool_calls`, …

    @property
    def is_deleted(self) -> bool:
        """Whether the person deleted the turn: its place in the tree and its cost stay, its words are gone."""
        return self.extra.get(DELETED) is True


@dataclass(frozen=True, slots=True)
class SearchHit:
    """`message_id` is None when the chat's title was found."""

    chat_id: str
    chat_title: str
    message_id: str | None
    role: str
    created_at: datetime
    snippet: Snippet


IMPORTED_SEAL = "imported"  # in a message's `usage`, as "seal": a file says that it was sealed
DELETED = "deleted"  # in a message's `extra`
MESSAGE_COLUMNS = (
    "id, chat_id, parent_id, role, content, reasoning, sources, state, error, model, exchange_id, usage, cost_usd,"
    " created_at, thinking_s, extra, attachments"
)


def message_from_row(row: tuple[Any, ...]) -> Message:
    """Read `MESSAGE_COLUMNS`."""
    return Message(
        id=str(row[0]),
        chat_id=str(row[1]),
        parent_id=read_text(row[2]) or None,
        role=read_text(row[3]),
        content=read_text(row[4]),
        reasoning=read_text(row[5]),
        sources=objects_of(row[6]),
        state=row[7] if row[7] in STATES else "interrupted",
        error=read_text(row[8]),
        model=read_text(row[9]),
        exchange_id=read_text(row[10]) or None,
        usage=object_of(row[11]),
        cost_usd=money_of(row[12]),
        created_at=moment_of(row[13]),
        thinking_s=seconds_of(row[14]),
        extra=object_of(row[15]),
        attachments=objects_of(row[16]),
    )


def preview_of(content: str) -> str:
    return " ".join(content[: 4 * PREVIEW_CHARS].split())[:PREVIEW_CHARS]


def new_id() -> str:
    """Return 128 random bits as 32 hexadecimal digits: ids stay apart when chats are copied between computers."""
    return secrets.token_hex(16)


def check_state(state: str) -> str:
    if state not in STATES:
        raise ValueError(f"{state!r} is no state of a message")
    return state


def plain_objects(values: object) -> list[dict[str, Any]]:
    """Return the mappings in `values` as plain objects, ready for JSON."""
    return [dict(value) for value in values if isinstance(value, Mapping)] if isinstance(values, list | tuple) else []
