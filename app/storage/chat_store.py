"""Chats and their messages. A chat is a tree: editing and trying again add branches, nothing is overwritten.

`Chat.head_id` names the leaf on screen and `path_to(head_id)` is the conversation down to it. What a person typed
is on disk, pressed through, before `add_message` returns; an answer is added as "streaming", saved as it grows and
ended with `finish_message`. What still streams when the program starts was cut off: `mark_interrupted`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from app.storage.attachment_files import FOLDER, AttachmentFiles, used_attachments
from app.storage.chat_rows import (
    DELETED,
    MESSAGE_COLUMNS,
    Chat,
    Message,
    SearchHit,
    check_state,
    message_from_row,
    new_id,
    plain_objects,
    preview_of,
)
from app.storage.database import Database, Row, Transaction
from app.storage.errors import NotStored
from app.storage.presets import Presets
from app.storage.search_index import (
    ENDS_WITH,
    MOST_TERMS,
    NONE,
    TERMS_WITHIN,
    TRIGRAM,
    Marker,
    Query,
    any_of,
    like_pattern,
    query_of,
)
from app.storage.table import Table, read_rows
from app.storage.values import (
    json_text,
    micros_of,
    moment_of,
    money_of,
    money_text,
    object_of,
    read_text,
    seconds_of,
    text_of,
)
from app.translation import tr

PURGED_AT_ONCE = 500  # messages
NEWEST = 10_000  # messages that a search for a letter or two reads before it asks the index
HEAD: Final = "head"  # add_message's parent when none is named: the leaf on screen
_CHANGEABLE = (
    "title",
    "pinned",
    "account_id",
    "model",
    "character_slug",
    "character_name",
    "options",
    "draft",
    "draft_attachments",
    "edited_id",
    "edit_text",
    "edit_attachments",
    "head_id",
)
_OUTSIDE_TRASH = ("c.trashed_at IS NULL",)
_OF_PROJECT = "m.chat_id IN (SELECT id FROM chats WHERE project_id = ? AND trashed_at IS NULL)"
_POSSIBLE = """instr(usage, '"cost_source":"possible"') > 0"""  # the condition of an index
CHATS = Table("chats", Chat, tr("This chat is no longer in the history."))
_ANCESTORS = (
    "WITH RECURSIVE up (id, parent_id, depth) AS ("
    " SELECT id, parent_id, 0 FROM messages WHERE id = ?"
    " UNION ALL SELECT m.id, m.parent_id, depth + 1 FROM messages m JOIN up ON m.id = up.parent_id LIMIT ?"
    ")"
)


_EMPTY: Final[dict[str, Any]] = {
    "content": "",
    "reasoning": "",
    "sources": (),
    "error": "",
    "attachments": (),
    "extra": {DELETED: True},
}


class ChatStore:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.files = AttachmentFiles(database.path.parent / FOLDER)
        self.presets = Presets(database)

    @property
    def database(self) -> Database:
        """For what goes beyond one chat or message: import, export, copies."""
        return self._database

    def is_private(self, chat_id: str | None) -> bool:
        """Whether a chat is in memory alone."""
        return False

    def private_ids(self) -> frozenset[str]:
        """The chats that are in memory alone."""
        return frozenset()

    async def keep(self, chat_id: str) -> Chat:
        """Make a private chat an ordinary one and return it; it has another id then. Its draft comes along."""
        return await self.chat(chat_id)

    async def used_attachments(self) -> frozenset[str]:
        """Return the hashes of all attachments that a message or a draft names."""
        return await used_attachments(self._database)

    # Chats

    async def create_chat(
        self,
        *,
        title: str = "",
        account_id: str = "",
        model: str = "",
        character_slug: str | None = None,
        character_name: str | None = None,
        options: Mapping[str, Any] | None = None,
        draft: str = "",
        project_id: str | None = None,
    ) -> Chat:
        now = self._database.now()
        chat_id = new_id()
        await CHATS.insert(
            self._database,
            id=chat_id,
            title=title,
            account_id=account_id,
            model=model,
            character_slug=character_slug,
            character_name=character_name,
            options=options or {},
            draft=draft,
            project_id=project_id,
            created_at=now,
            updated_at=now,
        )
        return await self.chat(chat_id)

    async def chats(self, *, trashed: bool = False) -> tuple[Chat, ...]:
        """Return the list as it is shown, or the trash: pinned first, newest first. One query that reads no message."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        return await CHATS.select_many(self._database, f"WHERE {where} ORDER BY pinned DESC, updated_at DESC, seq DESC")

    async def chat(self, chat_id: str) -> Chat:
        return await CHATS.one(self._database, chat_id)

    async def chats_of_possible_costs(self, chat_id: str = "") -> frozenset[str]:
        """Return the chats, or the one, with an answer that may not have been charged."""
        one, values = (" AND chat_id = ?", [chat_id]) if chat_id else ("", [])
        rows = await self._database.fetch(f"SELECT DISTINCT chat_id FROM messages WHERE {_POSSIBLE}{one}", values)
        return frozenset(read_text(row[0]) for row in rows)

    async def change_chat(self, chat_id: str, **changes: Any) -> Chat:
        """Set one or more of `_CHANGEABLE`, such as title, pinned, model, options, draft or head_id."""
        unknown = set(changes) - set(_CHANGEABLE)
        if unknown:
            raise TypeError(f"not a changeable field of a chat: {', '.join(sorted(unknown))}")
        if changes:
            await CHATS.change(self._database, chat_id, **changes)
        return await self.chat(chat_id)

    async def trash(self, chat_id: str) -> None:
        """Take the chat off the list and out of searches; `restore` is the undo."""
        await CHATS.change(self._database, chat_id, trashed_at=self._database.now())

    async def restore(self, chat_id: str) -> None:
        await CHATS.change(self._database, chat_id, trashed_at=None)

    async def purge(self, chat_id: str) -> None:
        """Delete a chat and its messages for good. Receipts stay, and so do backups until newer ones replace them.

        Messages go in pieces, the newest first, since each may be the parent of later ones: what else is to be
        written waits for none of them long. A chat that is cut off by a kill lies in the trash with what is left.
        """
        some = "SELECT seq FROM messages WHERE chat_id = ? ORDER BY seq DESC LIMIT ?"
        gone = PURGED_AT_ONCE
        while gone == PURGED_AT_ONCE:
            gone = await self._database.execute(
                f"DELETE FROM messages WHERE seq IN ({some})", [chat_id, PURGED_AT_ONCE], durable=False
            )
        await self._database.execute("DELETE FROM chats WHERE id = ?", [chat_id])

    # Messages

    async def messages(self, chat_id: str) -> tuple[Message, ...]:
        """Return every message of every branch, oldest first."""
        rows = await self._database.fetch(
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE chat_id = ? ORDER BY seq",
            [chat_id],
        )
        return await read_rows(rows, message_from_row)

    async def newest_messages(self, chat_id: str, count: int) -> tuple[Message, ...]:
        """Return the last `count` messages that were made, oldest first: what a long chat shows before all of it."""
        rows = await self._database.fetch(
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE chat_id = ? ORDER BY seq DESC LIMIT ?",
            [chat_id, count],
        )
        return tuple(message_from_row(row) for row in reversed(rows))

    async def message(self, message_id: str) -> Message:
        row = await self._database.fetch_one(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE id = ?", [message_id])
        if row is None:
            raise NotStored(tr("This message is no longer in the history."))
        return message_from_row(row)

    async def path_to(self, leaf_id: str | None, last: int | None = None) -> tuple[Message, ...]:
        """Return the conversation from its first turn down to `leaf_id`; () for None.

        `last` leaves all but that many turns away: a window can draw the end of a long chat at once, then ask for
        the whole.
        """
        if leaf_id is None:
            return ()
        columns = ", ".join(f"m.{name.strip()}" for name in MESSAGE_COLUMNS.split(","))
        rows = await self._database.fetch(
            f"{_ANCESTORS} SELECT {columns} FROM up JOIN messages m ON m.id = up.id ORDER BY up.depth DESC",
            [leaf_id, -1 if last is None else last],
        )
        if not rows:
            raise NotStored(tr("This message is no longer in the history."))
        return await read_rows(rows, message_from_row)

    async def siblings(self, message_id: str) -> tuple[str, ...]:
        """Return the ids of the turns at this place, in the order they were made; `message_id` is one of them."""
        rows = await self._database.fetch(
            "SELECT s.id FROM messages m JOIN messages s ON s.chat_id = m.chat_id AND s.parent_id IS m.parent_id"
            " WHERE m.id = ? ORDER BY s.seq",
            [message_id],
        )
        return tuple(row[0] for row in rows)

    async def select(self, message_id: str) -> Message:
        """Show the branch of this message: its newest leaf becomes the chat's head. Return that leaf."""
        leaf = await self._database.fetch_one(
            "WITH RECURSIVE down (id, seq) AS ("
            " SELECT id, seq FROM messages WHERE id = ?"
            " UNION ALL SELECT m.id, m.seq FROM messages m JOIN down ON m.parent_id = down.id"
            ") SELECT id FROM down ORDER BY seq DESC LIMIT 1",  # the newest of all is a leaf: children come later
            [message_id],
        )
        if leaf is None:
            raise NotStored(tr("This message is no longer in the history."))
        message = await self.message(leaf[0])
        await CHATS.change(self._database, message.chat_id, head_id=message.id)
        return message

    async def add_message(
        self,
        chat_id: str,
        role: str,
        content: str = "",
        *,
        parent_id: str | None = HEAD,
        state: str = "complete",
        reasoning: str = "",
        sources: Sequence[Mapping[str, Any]] = (),
        model: str = "",
        exchange_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
        attachments: Sequence[Mapping[str, Any]] = (),
    ) -> Message:
        """Add a turn below `parent_id` (the head when left out, the root for None) and make it the head.

        When this returns, the text is on the disk. Give the parent of an existing turn to make a branch beside it.
        """
        message_id = new_id()
        now = micros_of(self._database.now())
        content = text_of(content)
        async with self._database.transaction() as transaction:
            chats = await transaction.fetch("SELECT head_id FROM chats WHERE id = ?", [chat_id])
            if not chats:
                raise NotStored(tr("This chat is no longer in the history."))
            parent = chats[0][0] if parent_id == HEAD else parent_id
            if parent is not None:
                there = "SELECT 1 FROM messages WHERE id = ? AND chat_id = ?"
                if not await transaction.fetch(there, [parent, chat_id]):
                    raise NotStored(tr("The message to answer is no longer in the history."))
            await transaction.execute(
                "INSERT INTO messages (id, chat_id, parent_id, role, content, reasoning, sources, state, model,"
                " exchange_id, created_at, extra, attachments) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    *(message_id, chat_id, parent, role, content, text_of(reasoning)),
                    *(json_text(plain_objects(tuple(sources))), check_state(state), model, exchange_id, now),
                    *(json_text(extra or {}), json_text(plain_objects(tuple(attachments)))),
                ],
            )
            await transaction.execute(
                "UPDATE chats SET head_id = ?, updated_at = ?, message_count = message_count + 1,"
                " preview = CASE WHEN ? <> '' THEN ? ELSE preview END WHERE id = ?",
                [message_id, now, *[preview_of(content)] * 2, chat_id],
            )
        return await self.message(message_id)

    async def save_progress(self, message_id: str, content: str, reasoning: str = "") -> bool:
        """Keep what has come so far of a streaming answer; call at least every 250 ms.

        Survives a killed program; a power cut may cost the last of these saves (see `app.storage.database`). False
        when the message streams no more: a late call never undoes `finish_message`.
        """
        changed = await self._database.execute(
            "UPDATE messages SET content = ?, reasoning = ? WHERE id = ? AND state = 'streaming'",
            [text_of(content), text_of(reasoning), message_id],
            durable=False,
        )
        return bool(changed)

    async def sending(self, message_id: str, exchange_id: str) -> None:
        """Name the call that asks for an answer, before it leaves: its receipt tells what a crash cost."""
        await self._database.execute("UPDATE messages SET exchange_id = ? WHERE id = ?", [exchange_id, message_id])

    async def correct_cost(self, exchange_id: str, change_usd: Decimal, source: str) -> Message | None:
        """Add to the cost of the answer that a call brought, which is known now; None if no answer names the call."""
        async with self._database.transaction() as transaction:
            found = await transaction.fetch(
                "SELECT id, chat_id, cost_usd, usage FROM messages WHERE exchange_id = ?", [exchange_id]
            )
            for message_id, chat_id, cost, usage in found:
                await _add_cost(
                    transaction,
                    message_id,
                    chat_id,
                    money_of(cost),
                    change_usd,
                    {**object_of(usage), "cost_source": source},
                )
        return await self.message(found[0][0]) if found else None

    async def finish_message(
        self,
        message_id: str,
        *,
        state: str = "complete",
        content: str | None = None,
        reasoning: str | None = None,
        sources: Sequence[Mapping[str, Any]] | None = None,
        error: str | None = None,
        model: str | None = None,
        exchange_id: str | None = None,
        usage: Mapping[str, Any] | None = None,
        cost_usd: Decimal | None = None,
        thinking_s: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Message:
        """End an answer, pressed through to the disk. What is left out stays as it was.

        The chat's cost grows by what this message's cost grew by. Also for going on with an interrupted answer
        (`state="streaming"`).
        """
        changes: dict[str, Any] = {
            "state": check_state(state),
            "content": None if content is None else text_of(content),
            "reasoning": None if reasoning is None else text_of(reasoning),
            "sources": None if sources is None else json_text(plain_objects(tuple(sources))),
            "error": None if error is None else text_of(error),
            "model": model,
            "exchange_id": exchange_id,
            "usage": None if usage is None else json_text(usage),
            "cost_usd": money_text(money_of(cost_usd)),
            "thinking_s": seconds_of(thinking_s),
            "extra": None if extra is None else json_text(extra),
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        async with self._database.transaction() as transaction:
            rows = await transaction.fetch(
                "SELECT m.chat_id, m.cost_usd, m.usage, m.content, m.seq ="
                " (SELECT max(seq) FROM messages WHERE chat_id = m.chat_id)"
                " FROM messages m WHERE m.id = ?",
                [message_id],
            )
            if not rows:
                raise NotStored(tr("This message is no longer in the history."))
            chat_id, before, old_usage, old_content, is_newest = rows[0]
            names = ", ".join(f"{name} = ?" for name in changes)
            await transaction.execute(
                f"UPDATE messages SET {names} WHERE id = ?",
                [*changes.values(), message_id],
            )
            zero = Decimal(0)
            grown = (money_of(cost_usd) or money_of(before) or zero) - (money_of(before) or zero)
            preview = preview_of(old_content if content is None else text_of(content)) if is_newest else ""
            await transaction.execute(
                "UPDATE chats SET updated_at = ?, preview = CASE WHEN ? <> '' THEN ? ELSE preview END WHERE id = ?",
                [micros_of(self._database.now()), preview, preview, chat_id],
            )
            await _grow(transaction, chat_id, grown, object_of(old_usage) if usage is None else usage)
        return await self.message(message_id)

    async def copy_messages(self, message_ids: Sequence[str], chat_id: str, shown_id: str) -> tuple[Message, ...]:
        """Copy turns, parents before children, below the leaf that another chat shows: all of them or none.

        The copy of `shown_id`, one of them, is shown there then. What they cost was paid once and stays with the
        originals. Raises `NotStored`, also for turns that were deleted.
        """
        copies = {message_id: new_id() for message_id in message_ids}
        async with self._database.transaction() as transaction:
            chats = await transaction.fetch("SELECT head_id FROM chats WHERE id = ?", [chat_id])
            if not chats:
                raise NotStored(tr("This chat is no longer in the history."))
            content = ""
            for message_id, copy_id in copies.items():
                marks = "SELECT parent_id, content, extra FROM messages WHERE id = ?"
                rows = await transaction.fetch(marks, [message_id])
                if not rows or object_of(rows[0][2]).get(DELETED) is True:
                    raise NotStored(tr("This message is no longer in the history."))
                parent = copies.get(rows[0][0], chats[0][0])
                content = text_of(rows[0][1]) or content
                await transaction.execute(
                    "INSERT INTO messages (id, chat_id, parent_id, role, content, reasoning, sources, state, error,"
                    " model, created_at, thinking_s, extra, attachments) SELECT ?, ?, ?, role, content, reasoning,"
                    " sources, state, error, model, created_at, thinking_s, extra, attachments"
                    " FROM messages WHERE id = ?",
                    [copy_id, chat_id, parent, message_id],
                )
            await transaction.execute(
                "UPDATE chats SET head_id = ?, updated_at = ?, message_count = message_count + ?,"
                " preview = CASE WHEN ? <> '' THEN ? ELSE preview END WHERE id = ?",
                [
                    *(copies[shown_id], micros_of(self._database.now()), len(copies)),
                    *(*[preview_of(content)] * 2, chat_id),
                ],
            )
        return tuple([await self.message(copy_id) for copy_id in copies.values()])

    async def delete_messages(self, messages: Sequence[Message], head_id: str | None) -> None:
        """Empty these turns of one chat, and show the branch that ends at `head_id`; `restore_messages` is the undo.

        Each keeps its place in the tree, so that what follows stays where it is, and what it cost.
        """
        await self._rewrite([replace(each, **_EMPTY) for each in messages], head_id)

    async def restore_messages(self, messages: Sequence[Message], head_id: str | None) -> None:
        """Write deleted turns as they were."""
        await self._rewrite(messages, head_id)

    async def _rewrite(self, messages: Sequence[Message], head_id: str | None) -> None:
        async with self._database.transaction() as transaction:
            for each in messages:
                await transaction.execute(
                    "UPDATE messages SET content = ?, reasoning = ?, sources = ?, error = ?, extra = ?,"
                    " attachments = ? WHERE id = ?",
                    [
                        *(each.content, each.reasoning, json_text(plain_objects(each.sources)), each.error),
                        *(json_text(each.extra), json_text(plain_objects(each.attachments)), each.id),
                    ],
                )
            for chat_id in {each.chat_id for each in messages}:
                last = await transaction.fetch(
                    "SELECT content FROM messages WHERE chat_id = ? AND content <> '' ORDER BY seq DESC LIMIT 1",
                    [chat_id],
                )
                await transaction.execute(
                    "UPDATE chats SET head_id = ?, preview = ? WHERE id = ?",
                    [head_id, preview_of(last[0][0]) if last else "", chat_id],
                )

    async def mark_interrupted(self) -> int:
        """At start: what still claims to stream was cut off by a crash. Return how many messages that were.

        Each costs what the receipt of its call says, which `Receipts.settle_after_start` has completed.
        """
        async with self._database.transaction() as transaction:
            cut = await transaction.fetch(
                "SELECT m.id, m.chat_id, m.cost_usd, m.usage, r.cost_usd, r.cost_source, r.charged FROM messages m"
                " JOIN receipts r ON r.id = m.exchange_id WHERE m.state = 'streaming' AND r.cost_usd IS NOT NULL"
            )
            for message_id, chat_id, cost, usage, grown, source, charged in cut:
                told = {**object_of(usage), "estimated": True, "cost_source": source, "sandbox": not charged}
                await _add_cost(transaction, message_id, chat_id, money_of(cost), money_of(grown) or Decimal(0), told)
            return await transaction.execute("UPDATE messages SET state = 'interrupted' WHERE state = 'streaming'")

    # Search

    async def search(
        self, text: str, limit: int = 50, chat_id: str | None = None, project_id: str | None = None
    ) -> tuple[SearchHit, ...]:
        """Return titles, then messages, that hold every word of `text`, newest first; () for an empty search.

        With `chat_id` only that chat's messages, with `project_id` the chats of one project, else every chat; neither
        of the last two looks into the trash.
        """
        query = query_of(text_of(text), self._database.search_kind)
        if not query.terms or limit <= 0:
            return ()
        titles = () if chat_id else await self._titles(query.terms, limit, project_id)
        room = limit - len(titles)
        within: tuple[str, ...] = _OUTSIDE_TRASH if chat_id is None else ("m.chat_id = ?", chat_id)
        if project_id is not None:
            within = (_OF_PROJECT, project_id)
        if query.match and self._database.search_kind != NONE:
            source = "messages_fts f CROSS JOIN messages m ON m.seq = f.rowid"
            rows = await self._found(query, source, "f.rowid", room, within, "messages_fts MATCH ?", query.match)
        elif within is not _OUTSIDE_TRASH or self._database.search_kind != TRIGRAM:
            rows = await self._found(query, "messages m", "m.seq", room, within)
        else:
            rows = await self._short(query, room)
        marker = Marker(query.terms)
        found = (
            SearchHit(chat, title, message, role, moment_of(at), marker.snippet(content))
            for chat, title, message, role, at, content in rows
        )
        return (*titles, *found)

    async def _found(
        self,
        query: Query,
        source: str,
        order: str,
        limit: int,
        within: tuple[str, ...] = _OUTSIDE_TRASH,
        where: str = "TRUE",
        *given: str,
    ) -> list[Row]:
        """Return the newest messages of `source`, `where` narrows it, that hold what the index cannot tell.

        `within` is a condition on the chat, and its value if it has one.
        """
        conditions = [where, within[0]]
        conditions += ["m.content LIKE ? ESCAPE '\\'"] * len(query.likes)
        return await self._database.fetch(
            "SELECT c.id, c.title, m.id, m.role, m.created_at, m.content"
            f" FROM {source} CROSS JOIN chats c ON c.id = m.chat_id WHERE {' AND '.join(conditions)}"
            f" ORDER BY {order} DESC LIMIT ?",
            [*given, *within[1:], *query.likes, limit],
        )

    async def _short(self, query: Query, limit: int) -> list[Row]:
        """Look for words of one or two letters: among the newest messages, where they are frequent, else by the index.

        What is in few of the newest messages is in few of all, so that little is read either way.
        """
        newest = f"(SELECT * FROM messages ORDER BY seq DESC LIMIT {NEWEST}) m"
        rows = await self._found(query, newest, "m.seq", limit)
        if len(rows) >= limit:
            return rows
        known = []
        for term in query.terms:
            low = term.lower()
            within = await self._database.fetch(TERMS_WITHIN, [low, low + chr(0x10FFFF), MOST_TERMS])
            known.append((len(within), low, [row[0] for row in within]))
        count, rarest, trigrams = min(known)
        if count == MOST_TERMS:
            return await self._found(query, "messages m", "m.seq", limit)
        ends = await self._database.fetch(ENDS_WITH, [rarest]) if len(rarest) == 1 else [(rarest,)]
        marks = ", ".join("?" * len(ends))
        which = f"SELECT seq FROM messages WHERE lower(substr(content, -2)) IN ({marks})"
        given = [row[0] for row in ends]
        if trigrams:
            which += " UNION SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?"
            given.append(any_of(trigrams))
        return await self._found(query, "messages m", "m.seq", limit, _OUTSIDE_TRASH, f"m.seq IN ({which})", *given)

    async def _titles(self, terms: tuple[str, ...], limit: int, project_id: str | None) -> tuple[SearchHit, ...]:
        fits = " AND ".join("title LIKE ? ESCAPE '\\'" for _ in terms)
        if project_id is not None:
            fits = f"project_id = ? AND {fits}"
        rows = await self._database.fetch(
            f"SELECT id, title, updated_at FROM chats WHERE trashed_at IS NULL AND {fits}"
            " ORDER BY updated_at DESC LIMIT ?",
            [*(() if project_id is None else (project_id,)), *map(like_pattern, terms), limit],
        )
        marker = Marker(terms, width=1000)
        return tuple(SearchHit(chat, title, None, "", moment_of(at), marker.snippet(title)) for chat, title, at in rows)


async def _add_cost(
    transaction: Transaction,
    message_id: str,
    chat_id: str,
    before: Decimal | None,
    change: Decimal,
    usage: Mapping[str, Any],
) -> None:
    """Let a message and its chat cost more, or less."""
    zero = Decimal(0)
    await transaction.execute(
        "UPDATE messages SET cost_usd = ?, usage = ? WHERE id = ?",
        [money_text((before or zero) + change), json_text(usage), message_id],
    )
    await _grow(transaction, chat_id, change, usage)


async def _grow(transaction: Transaction, chat_id: str, change: Decimal, usage: Mapping[str, Any]) -> None:
    """Let a chat cost more, or less; `usage` of the message says in which money."""
    if not change:
        return
    ((total, play),) = await transaction.fetch("SELECT cost_usd, play_usd FROM chats WHERE id = ?", [chat_id])
    zero = Decimal(0)
    played = change if usage.get("sandbox") is True else zero
    await transaction.execute(
        "UPDATE chats SET cost_usd = ?, play_usd = ? WHERE id = ?",
        [money_text((money_of(total) or zero) + change), money_text((money_of(play) or zero) + played), chat_id],
    )
