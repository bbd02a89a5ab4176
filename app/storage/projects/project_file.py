"""A project with its chats as one JSON file: what "Export" writes and "Import" reads back identical.

Account, drafts and what lies in the trash are this computer's and stay out, as in a chat's file. The bytes of
attachments stand behind the chats, each content once. Of documents the file has the list of what is followed, and no
contents; whoever imports it decides whether to follow that. Their embeddings, which were paid for, go along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from app.storage.chat_file import NotAChat, chat_to_json, import_chat, moment_in
from app.storage.chat_rows import Chat, Message, new_id
from app.storage.database import Database
from app.storage.errors import StorageError
from app.storage.presets import clean_name
from app.storage.projects.project_store import COLORS, PROJECTS, Project, Projects
from app.storage.values import moment_of, money_of, money_text, text_of
from app.translation import tr

FORMAT = "rialto-project"
VERSION = 1
MAX_INSTRUCTIONS_CHARS = 100_000
MAX_DOCUMENTS = 1_000
MAX_LIMIT_USD = Decimal(1_000_000)
_TEXTS = ("model", "character_slug", "character_name")
_SWITCHES = ("folded", "archived")


class NotAProject(StorageError):
    """The file holds no project that can be taken; the sentence says why."""


@dataclass(frozen=True, slots=True)
class ImportedProject:
    """`left` counts the chats that could not be taken, by reason. `newest` is the chat with the latest message."""

    project: Project
    chat_ids: tuple[str, ...] = ()
    newest: str = ""
    left: Counter[str] = field(default_factory=Counter)
    documents: tuple[str, ...] = ()  # files and folders that it followed; nothing is followed yet
    embeddings: Mapping[str, Any] | None = None  # as the file has them: not checked


def project_to_json(
    project: Project,
    chats: Sequence[tuple[Chat, tuple[Message, ...]]],
    documents: Sequence[str] = (),
    embeddings: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return one JSON object. `chats` are in the order of the list, the first row first; `documents` are followed."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": project.name,
        "color": project.color,
        "created_at": project.created_at.isoformat(),
        "instructions": project.instructions,
        **{name: getattr(project, name) for name in (*_TEXTS, *_SWITCHES)},
        "options": project.options,
        "limit_usd": money_text(project.limit_usd),
        "documents": list(documents),
        **({"embeddings": embeddings} if embeddings is not None else {}),
        "chats": [{**chat_to_json(chat, messages), "pinned": chat.pinned} for chat, messages in chats],
    }


async def import_project(database: Database, body: Mapping[str, Any], account_id: str = "") -> ImportedProject:
    """Keep a project and its chats, below the others. Raises `NotAProject` with a sentence.

    Until all of it is on the disk, it lies in the trash: that is where a kill leaves what has come.
    """
    values = _values(body, database.now())
    projects = Projects(database)
    project_id = new_id()
    (below,) = await database.fetch_one("SELECT COALESCE(max(place), 0) + 1 FROM projects") or (1,)
    await PROJECTS.insert(database, id=project_id, place=below, trashed_at=database.now(), **values)
    left: Counter[str] = Counter()
    taken: list[Chat] = []
    for entry in reversed(body["chats"]):  # of chats of one moment the one that came later stands higher
        try:
            taken.append(await import_chat(database, entry, account_id, project_id, trashed=True))
        except NotAChat as error:
            left[error.sentence.rstrip(".")] += 1
    async with database.transaction() as transaction:
        await transaction.execute("UPDATE chats SET trashed_at = NULL WHERE project_id = ?", [project_id])
        await transaction.execute("UPDATE projects SET trashed_at = NULL WHERE id = ?", [project_id])
    embeddings = body.get("embeddings")
    newest = max(taken, key=lambda chat: chat.updated_at, default=None)
    return ImportedProject(
        await projects.one(project_id),
        tuple(chat.id for chat in taken),
        newest.id if newest is not None else "",
        left,
        _documents(body.get("documents")),
        embeddings if isinstance(embeddings, Mapping | None) else {},
    )


def _documents(listed: object) -> tuple[str, ...]:
    """Return the full paths of a list; what is no such path is left out."""
    if not isinstance(listed, list):
        return ()
    paths = [each for each in listed if isinstance(each, str) and "\0" not in each and Path(each).is_absolute()]
    return tuple(dict.fromkeys(paths))[:MAX_DOCUMENTS]


def _values(body: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the columns of the project; what is odd costs its field, and what would do harm the whole."""
    version = body.get("version")
    if isinstance(version, int) and version > VERSION:
        raise NotAProject(tr("This project was exported by a newer version of Rialto."))
    if body.get("format") != FORMAT or not isinstance(body.get("chats"), list):
        raise NotAProject(tr("This file contains no project that Rialto can read."))
    instructions = text_of(body.get("instructions"))
    if len(instructions) > MAX_INSTRUCTIONS_CHARS:
        raise NotAProject(tr("This project’s instructions are longer than 100,000 characters."))
    limit = money_of(body.get("limit_usd"))
    if body.get("limit_usd") is not None and (limit is None or not 0 <= limit <= MAX_LIMIT_USD):
        # without a limit anything could be spent
        raise NotAProject(tr("This project’s spending limit is not an amount."))
    options = body.get("options")
    color = body.get("color")
    return {
        "name": clean_name(text_of(body.get("name"))),
        "color": color if color in COLORS else "",
        "created_at": moment_of(moment_in(body.get("created_at"), now)),
        "instructions": instructions,
        **{name: text_of(body.get(name)) for name in _TEXTS},
        **{name: body.get(name) is True for name in _SWITCHES},
        "options": dict(options) if isinstance(options, Mapping) else {},
        "limit_usd": limit,
    }
