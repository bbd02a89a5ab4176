"""What was spoken: takes and their parts. The sound itself is files, see `TakeFiles`.

planned ──► sending ──► complete
               ├──────► cut         some of the sound came; what came is kept
               └──────► failed      none came
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, cast, get_args

from app.storage.conversations import new_id
from app.storage.database import Database, Row
from app.storage.errors import NotStored
from app.storage.files import make_folder
from app.storage.values import (
    json_text,
    micros_of,
    moment_of,
    moment_or_none,
    money_of,
    money_text,
    object_of,
    read_text,
    seconds_of,
    text_of,
)

PartState = Literal["planned", "sending", "complete", "cut", "failed"]
PART_STATES: tuple[PartState, ...] = get_args(PartState)
TakeState = Literal["planned", "sending", "complete", "cut", "failed"]
# The service states no cost of speech. "at most": the sound was cut off, or nobody knows whether it was made; "none":
# the service refused it.
CostSource = Literal["stated", "estimated", "at most", "none"]
COST_SOURCES: tuple[CostSource, ...] = get_args(CostSource)
MAX_TITLE_CHARS = 80
_WORST: tuple[TakeState, ...] = ("sending", "failed", "cut")
BROKEN_OFF = "Rialto ended while this part was on its way."
_TAKE = (
    "id, title, text, account_id, model, voice, voice_name, format, options, created_at, changed_at, trashed_at,"
    " starred, audition, state, duration_s, size_bytes"
)
_PART = (
    "take_id, number, start, finish, state, file, kind, size_bytes, duration_s, rate_hz, first_sound_s, exchange_id,"
    " request_id, cost_usd, cost_source, charged, note"
)


@dataclass(frozen=True, slots=True)
class Part:
    """Characters `start` to `finish` (not included) of the take's text. `file` is a name in the take's folder."""

    take_id: str
    number: int  # from 1
    start: int
    finish: int
    state: PartState = "planned"
    file: str = ""
    kind: str = ""  # what the bytes are: "mp3", "wav", …
    size_bytes: int = 0
    duration_s: float = 0.0
    rate_hz: int = 0
    first_sound_s: float | None = None
    exchange_id: str = ""
    request_id: str = ""
    cost_usd: Decimal | None = None
    cost_source: CostSource = "estimated"
    charged: bool = True
    note: str = ""

    @property
    def has_sound(self) -> bool:
        return bool(self.file) and self.size_bytes > 0


@dataclass(frozen=True, slots=True)
class Take:
    id: str
    title: str
    text: str
    account_id: str
    model: str
    voice: str
    voice_name: str
    format: str  # what was asked for and what the clip is exported as
    created_at: datetime
    changed_at: datetime
    options: Mapping[str, Any] = field(default_factory=dict)
    trashed_at: datetime | None = None
    starred: bool = False
    audition: str = ""
    state: TakeState = "planned"
    duration_s: float = 0.0
    size_bytes: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def cost_usd(self) -> Decimal | None:
        """What all parts cost together, None when no part says."""
        costs = [part.cost_usd for part in self.parts if part.cost_usd is not None]
        return sum(costs, Decimal(0)) if costs else None


def title_of(text: str) -> str:
    """Return the first line of a text, cut at a word, as a title."""
    line = " ".join(text.strip().split("\n")[0].split())
    if len(line) <= MAX_TITLE_CHARS // 2:
        return line
    cut = line[: MAX_TITLE_CHARS // 2].rsplit(" ", 1)[0]
    return f"{cut}…"


class TakeFiles:
    """Where the sound lies: `folder/<take>/part-01.mp3`. Every path is made of our own ids and numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, take_id: str) -> Path:
        return self.folder / take_id

    def part(self, part: Part) -> Path:
        return self.of(part.take_id) / part.file

    def make(self, take_id: str) -> Path:
        """Make the take's folder. Raises `StorageUnavailable`."""
        make_folder(self.of(take_id))
        return self.of(take_id)

    def remove(self, take_id: str) -> None:
        """Delete a take's sound for good."""
        shutil.rmtree(self.of(take_id), ignore_errors=True)


class Takes:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        *,
        text: str,
        title: str,
        account_id: str,
        model: str,
        voice: str,
        voice_name: str,
        format: str,
        options: Mapping[str, Any],
        spans: Iterable[tuple[int, int]],
        audition: str = "",
    ) -> Take:
        """Put a take with its planned parts on disk, before anything is sent."""
        take_id, now = new_id(), micros_of(self._database.now())
        async with self._database.transaction() as work:
            await work.execute(
                "INSERT INTO takes (id, title, text, account_id, model, voice, voice_name, format, options, created_at,"
                " changed_at, audition) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    *(take_id, text_of(title)[:MAX_TITLE_CHARS], text_of(text), account_id, model, voice),
                    *(text_of(voice_name), format, json_text(options), now, now, audition),
                ],
            )
            await work.execute_many(
                "INSERT INTO take_parts (take_id, number, start, finish) VALUES (?, ?, ?, ?)",
                [(take_id, number, start, finish) for number, (start, finish) in enumerate(spans, 1)],
            )
        return await self.one(take_id)

    async def extend(self, take_id: str, text: str, spans: Iterable[tuple[int, int]]) -> Take:
        """Let a take grow: `text` begins with what it was, `spans` are the parts that come after those it has."""
        before = await self.one(take_id)
        first = len(before.parts) + 1
        async with self._database.transaction() as work:
            await work.execute("UPDATE takes SET text = ? WHERE id = ?", [text_of(text), take_id])
            await work.execute_many(
                "INSERT INTO take_parts (take_id, number, start, finish) VALUES (?, ?, ?, ?)",
                [(take_id, number, start, finish) for number, (start, finish) in enumerate(spans, first)],
            )
        return await self.one(take_id)

    async def one(self, take_id: str) -> Take:
        row = await self._database.fetch_one(f"SELECT {_TAKE} FROM takes WHERE id = ?", [take_id])
        if row is None:
            raise _gone()
        parts = await self._database.fetch(
            f"SELECT {_PART} FROM take_parts WHERE take_id = ? ORDER BY number", [take_id]
        )
        return _take_from_row(row, tuple(map(_part_from_row, parts)))

    async def recent(self, *, trashed: bool = False, limit: int = 2000) -> tuple[Take, ...]:
        """Return takes with their parts, newest first."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        rows = await self._database.fetch(
            f"SELECT {_TAKE} FROM takes WHERE {where} ORDER BY created_at DESC, seq DESC LIMIT ?", [limit]
        )
        parts: dict[str, list[Part]] = {}
        for row in await self._database.fetch(
            f"SELECT {_PART} FROM take_parts WHERE take_id IN (SELECT id FROM takes WHERE {where})"
            " ORDER BY take_id, number"
        ):
            part = _part_from_row(row)
            parts.setdefault(part.take_id, []).append(part)
        return tuple(_take_from_row(row, tuple(parts.get(str(row[0]), ()))) for row in rows)

    async def save_part(self, part: Part) -> None:
        """Write a part as it stands, pressed through to the disk, and what it means for the take."""
        async with self._database.transaction() as work:
            await work.execute(
                "UPDATE take_parts SET state = ?, file = ?, kind = ?, size_bytes = ?, duration_s = ?, rate_hz = ?,"
                " first_sound_s = ?, exchange_id = ?, request_id = ?, cost_usd = ?, cost_source = ?, charged = ?,"
                " note = ?"
                " WHERE take_id = ? AND number = ?",
                [
                    *(part.state, part.file, part.kind, part.size_bytes, part.duration_s, part.rate_hz),
                    *(part.first_sound_s, part.exchange_id, text_of(part.request_id), money_text(part.cost_usd)),
                    *(part.cost_source, int(part.charged), text_of(part.note), part.take_id, part.number),
                ],
            )
            rows = await work.fetch(
                "SELECT state, duration_s, size_bytes FROM take_parts WHERE take_id = ?", [part.take_id]
            )
            await work.execute(
                "UPDATE takes SET state = ?, duration_s = ?, size_bytes = ?, changed_at = ? WHERE id = ?",
                [
                    state_of([str(row[0]) for row in rows]),
                    sum(float(row[1]) for row in rows),
                    sum(int(row[2]) for row in rows),
                    micros_of(self._database.now()),
                    part.take_id,
                ],
            )

    async def change(self, take_id: str, **changes: Any) -> Take:
        """Set `title`, `starred` or `format`."""
        columns: dict[str, Callable[[Any], object]] = {"title": text_of, "starred": int, "format": text_of}
        for name, value in changes.items():
            done = await self._database.execute(
                f"UPDATE takes SET {name} = ? WHERE id = ?", [columns[name](value), take_id]
            )
            if not done:
                raise _gone()
        return await self.one(take_id)

    async def trash(self, take_id: str, trashed: bool = True) -> Take:
        """Move a take to the trash, or back."""
        moment = micros_of(self._database.now()) if trashed else None
        if not await self._database.execute("UPDATE takes SET trashed_at = ? WHERE id = ?", [moment, take_id]):
            raise _gone()
        return await self.one(take_id)

    async def remove(self, take_id: str) -> None:
        """Delete a take for good; its files are the caller's."""
        await self._database.execute("DELETE FROM takes WHERE id = ?", [take_id])

    async def mark_broken_off(self) -> tuple[str, ...]:
        """After a start: takes that a killed program was at are `cut`, and so is the part that was on its way.

        Return the ids of their takes. What had arrived is in the files; `size_bytes` is theirs to measure.
        """
        rows = await self._database.fetch("SELECT id FROM takes WHERE state IN ('sending', 'planned')")
        found = tuple(str(row[0]) for row in rows)
        if found:
            await self._database.execute(
                "UPDATE take_parts SET state = 'cut', cost_source = 'at most', note = ? WHERE state = 'sending'",
                [BROKEN_OFF],
            )
            await self._database.execute("UPDATE takes SET state = 'cut' WHERE state IN ('sending', 'planned')")
        return found


def state_of(states: Sequence[str]) -> TakeState:
    """Return how a take stands whose parts are in these states."""
    for state in _WORST:
        if state in states:
            return state
    return "complete" if set(states) == {"complete"} else "sending" if "complete" in states else "planned"


def _take_from_row(row: Row, parts: tuple[Part, ...]) -> Take:
    return Take(
        id=str(row[0]),
        title=read_text(row[1]),
        text=read_text(row[2]),
        account_id=read_text(row[3]),
        model=read_text(row[4]),
        voice=read_text(row[5]),
        voice_name=read_text(row[6]),
        format=read_text(row[7]),
        options=object_of(row[8]),
        created_at=moment_of(row[9]),
        changed_at=moment_of(row[10]),
        trashed_at=moment_or_none(row[11]),
        starred=bool(row[12]),
        audition=read_text(row[13]),
        state=cast(TakeState, row[14]) if row[14] in PART_STATES else "cut",
        duration_s=seconds_of(row[15]) or 0.0,
        size_bytes=int(row[16] or 0),
        parts=parts,
    )


def _part_from_row(row: Row) -> Part:
    return Part(
        take_id=str(row[0]),
        number=int(row[1]),
        start=int(row[2]),
        finish=int(row[3]),
        state=cast(PartState, row[4]) if row[4] in PART_STATES else "cut",
        file=read_text(row[5]),
        kind=read_text(row[6]),
        size_bytes=int(row[7] or 0),
        duration_s=seconds_of(row[8]) or 0.0,
        rate_hz=int(row[9] or 0),
        first_sound_s=seconds_of(row[10]),
        exchange_id=read_text(row[11]),
        request_id=read_text(row[12]),
        cost_usd=money_of(row[13]),
        cost_source=cast(CostSource, row[14]) if row[14] in COST_SOURCES else "estimated",
        charged=bool(row[15]),
        note=read_text(row[16]),
    )


def _gone() -> NotStored:
    return NotStored("This take is no longer there.")
