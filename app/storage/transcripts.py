"""Recordings, sound files and the texts made of them: one row each, from the first block of sound to the last edit.

    recording ──► recorded ──► queued ──► sending ──► done
                     ▲  ▲         │          ├──────► failed     surely not carried out
                     │  │         └──────────┴──────► unknown    may have been carried out
                 (a file)            everything but "done" can be sent, and sent again, by the person

A row in state "recording" at start belongs to a program that was killed. Parts of a long recording keep their own
answers, so that what was paid for is kept whatever becomes of the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.search_index import Marker, like_pattern, query_of
from app.storage.table import Table
from app.storage.values import json_text, micros_of, object_of, read_text
from app.translation import tr

Origin = Literal["recording", "file"]
TranscriptState = Literal["recording", "recorded", "queued", "sending", "done", "failed", "unknown"]
PREVIEW_CHARS = 160
_GONE = tr("This transcript is no longer in the history.")
_CHANGEABLE = frozenset(
    (
        *("title", "sound_path", "size_bytes", "duration_s", "file_hash", "account_id", "state", "note", "problem"),
        *("model", "options", "treatment", "batch", "marks", "receipt", "cost_usd"),
    )
)


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """One row of the list. The text itself is read with `Transcripts.text`."""

    id: str
    title: str
    origin: Origin
    sound_path: str
    created_at: datetime
    changed_at: datetime
    state: TranscriptState
    size_bytes: int = 0
    duration_s: float | None = None
    file_hash: str = ""
    trashed_at: datetime | None = None
    account_id: str = ""
    note: str = ""  # a sentence about how the recording ended
    problem: Mapping[str, Any] = field(default_factory=dict)  # why it was not transcribed, in words
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    treatment: str = ""  # "", "compress:BYTES" or "split"
    batch: int = 0  # the place in the table of files, 0 for none
    marks: tuple[Mapping[str, Any], ...] = ()  # {"at": seconds, "text": …}
    receipt: Mapping[str, Any] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    word_count: int = 0
    preview: str = ""


_ROWS = Table(
    "transcripts",
    TranscriptRow,
    _GONE,
    otherwise={"origin": "file", "state": "failed"},
)


@dataclass(frozen=True, slots=True)
class PartRow:
    """A piece of a long recording; `received` is {} until its answer has come. Times in seconds of the whole."""

    number: int
    path: str
    start_s: float
    end_s: float
    received: Mapping[str, Any] = field(default_factory=dict)
    cost_usd: Decimal | None = None


_PARTS = Table("transcript_parts", PartRow)


@dataclass(frozen=True, slots=True)
class TranscriptText:
    """`document` as edited and `received` as it came, both decoded JSON; {} while there is none."""

    document: Mapping[str, Any]
    received: Mapping[str, Any]


class Transcripts:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`. Every change is pressed to disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, *, title: str, origin: str, sound_path: str, state: str, id: str = "", **more: Any
    ) -> TranscriptRow:
        """Put a recording that begins, or a file that was chosen, on the list."""
        row_id, now = id or new_id(), self._database.now()
        values = {"title": title, "sound_path": sound_path, "state": state, **more}
        _check(values)
        await _ROWS.insert(
            self._database,
            **{"id": row_id, "origin": origin, "created_at": now, "changed_at": now, **values},
            search_text=title.casefold(),
        )
        return await self.one(row_id)

    async def one(self, row_id: str) -> TranscriptRow:
        return await _ROWS.one(self._database, row_id)

    async def list(self) -> tuple[TranscriptRow, ...]:
        """Return everything that is not in the trash, newest first."""
        return await _ROWS.select_many(self._database, "WHERE trashed_at IS NULL ORDER BY created_at DESC, seq DESC")

    async def change(self, row_id: str, **changes: Any) -> TranscriptRow:
        """Set any field of a row but its text."""
        _check(changes)
        await _ROWS.change(self._database, row_id, **changes, changed_at=self._database.now())
        row = await self.one(row_id)
        if "title" in changes:
            await self._index(row)
        return row

    async def text(self, row_id: str) -> TranscriptText:
        row = await self._database.fetch_one("SELECT document, received FROM transcripts WHERE id = ?", [row_id])
        if row is None:
            raise NotStored(_GONE)
        return await asyncio.to_thread(lambda: TranscriptText(object_of(row[0]), object_of(row[1])))

    async def save_text(
        self,
        row_id: str,
        document: Mapping[str, Any],
        plain: str,
        *,
        received: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> TranscriptRow:
        """Keep the text: `plain` is what is searched. With `received` and `changes` an answer that has just come."""
        _check(changes)
        texts = {"document": await asyncio.to_thread(json_text, document)}
        if received is not None:
            texts["received"] = await asyncio.to_thread(json_text, received)
        async with self._database.transaction() as transaction:
            await _ROWS.change(
                transaction,
                row_id,
                **texts,
                word_count=len(plain.split()),
                preview=" ".join(plain[:PREVIEW_CHARS].split()),
                **changes,
                changed_at=self._database.now(),
            )
            row = await _ROWS.one(transaction, row_id)
            await _ROWS.change(transaction, row_id, search_text=f"{row.title}\n{plain}".casefold())
        return await self.one(row_id)

    async def search(self, text: str, limit: int = 200) -> dict[str, str]:
        """Return id → one line around the place, for every row whose title or text holds every word of `text`."""
        terms = query_of(text.casefold(), "none").terms
        if not terms:
            return {}
        where = " AND ".join("search_text LIKE ? ESCAPE '\\'" for _ in terms)
        rows = await self._database.fetch(
            f"SELECT id, search_text FROM transcripts WHERE trashed_at IS NULL AND {where}"
            " ORDER BY created_at DESC LIMIT ?",
            [*map(like_pattern, terms), limit],
        )
        marker = Marker(terms, width=60)
        return await asyncio.to_thread(lambda: {row[0]: marker.snippet(row[1].partition("\n")[2]).text for row in rows})

    async def trash(self, row_id: str) -> None:
        """Take it off the list; `restore` is the undo. Sound and text stay."""
        await _ROWS.change(self._database, row_id, trashed_at=self._database.now())

    async def restore(self, row_id: str) -> None:
        await _ROWS.change(self._database, row_id, trashed_at=None)

    async def trashed(self, before: datetime | None = None) -> tuple[TranscriptRow, ...]:
        """Return what is in the trash, or what has been there since before that moment."""
        where, values = ("trashed_at < ?", [micros_of(before)]) if before else ("trashed_at IS NOT NULL", [])
        return await _ROWS.select(self._database, f"WHERE {where}", values)

    async def purge(self, row_id: str) -> None:
        """Delete a row for good. The sound is its owner's to delete."""
        await self._database.execute("DELETE FROM transcripts WHERE id = ?", [row_id])

    async def shares_sound(self, row: TranscriptRow) -> bool:
        """Tell whether another row is made of the same sound, so that it must not be deleted with this one."""
        found = await self._database.fetch_one(
            "SELECT 1 FROM transcripts WHERE sound_path = ? AND id <> ?", [row.sound_path, row.id]
        )
        return found is not None

    # Parts

    async def set_parts(self, row_id: str, parts: Sequence[PartRow]) -> None:
        """Replace the parts of a row, with the answers they have already."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM transcript_parts WHERE transcript_id = ?", [row_id])
            await transaction.execute_many(
                "INSERT INTO transcript_parts (transcript_id, number, path, start_s, end_s) VALUES (?, ?, ?, ?, ?)",
                [[row_id, part.number, part.path, part.start_s, part.end_s] for part in parts],
            )

    async def parts(self, row_id: str) -> tuple[PartRow, ...]:
        return await _PARTS.select(self._database, "WHERE transcript_id = ? ORDER BY number", [row_id])

    async def part_received(
        self, row_id: str, number: int, received: Mapping[str, Any], cost_usd: Decimal | None
    ) -> None:
        """Keep the answer to one part, which has been paid for."""
        await _PARTS.update(
            self._database,
            "transcript_id = ? AND number = ?",
            [row_id, number],
            received=received,
            cost_usd=cost_usd,
        )

    # After a kill

    async def settle_after_start(self) -> tuple[TranscriptRow, ...]:
        """At start: return what was being recorded or sent, and let what was being sent be known as unknown.

        Call it before anything is recorded or sent. What waited in the queue goes on waiting.
        """
        rows = await _ROWS.select(self._database, "WHERE state IN ('recording', 'sending')")
        await _ROWS.update(self._database, "state = 'sending'", (), state="unknown", changed_at=self._database.now())
        return rows

    async def _index(self, row: TranscriptRow) -> None:
        found = await self._database.fetch_one("SELECT search_text FROM transcripts WHERE id = ?", [row.id])
        text = read_text(found[0]).partition("\n")[2] if found is not None else ""
        await _ROWS.update(self._database, "id = ?", [row.id], search_text=f"{row.title.casefold()}\n{text}")


async def was_cut_off(database: Database) -> bool:
    """Tell whether the last run ended in the middle of a recording or of a request: asked at every start."""
    row = await database.fetch_one("SELECT 1 FROM transcripts WHERE state IN ('recording', 'sending') LIMIT 1")
    return row is not None


def _check(changes: Mapping[str, Any]) -> None:
    unknown = set(changes) - _CHANGEABLE
    if unknown:
        raise TypeError(f"not a changeable field of a transcript: {', '.join(sorted(unknown))}")
