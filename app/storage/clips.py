"""What was spoken: clips and their parts. The sound itself is files, see `ClipFiles`.

planned ──► sending ──► complete
               ├──────► cut         some of the sound came; what came is kept
               └──────► failed      none came
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from app.storage.atomic_files import make_folder
from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.table import Table
from app.storage.values import text_of
from app.translation import tr

PartState = Literal["planned", "sending", "complete", "cut", "failed"]
ClipState = Literal["planned", "sending", "complete", "cut", "failed"]
# The service states no cost of speech. "at most": the sound was cut off, or nobody knows whether it was made; "none":
# the service refused it.
CostSource = Literal["stated", "estimated", "at most", "none"]
MAX_TITLE_CHARS = 80
LONGEST_LIST = 200_000  # rows; what is beyond could not be reached
_WORST: tuple[ClipState, ...] = ("sending", "failed", "cut")
BROKEN_OFF = tr("Rialto quit while this part was being sent.")


@dataclass(frozen=True, slots=True)
class Part:
    """Characters `start` to `finish` (not included) of the clip's text. `file` is a name in the clip's folder."""

    clip_id: str
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
class Clip:
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
    state: ClipState = "planned"
    duration_s: float = 0.0
    size_bytes: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def cost_usd(self) -> Decimal | None:
        """What all parts cost together, None when no part says."""
        costs = [part.cost_usd for part in self.parts if part.cost_usd is not None]
        return sum(costs, Decimal(0)) if costs else None


_CLIPS = Table("clips", Clip, tr("This clip no longer exists."), otherwise={"state": "cut"}, beside=("parts",))
_PARTS = Table("clip_parts", Part, otherwise={"state": "cut", "cost_source": "estimated"})


def title_of(text: str) -> str:
    """Return the first line of a text, cut at a word, as a title."""
    line = " ".join(text.strip().split("\n")[0].split())
    if len(line) <= MAX_TITLE_CHARS // 2:
        return line
    cut = line[: MAX_TITLE_CHARS // 2].rsplit(" ", 1)[0]
    return f"{cut}…"


class ClipFiles:
    """Where the sound lies: `folder/<clip>/part-01.mp3`. Every path is made of our own ids and numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, clip_id: str) -> Path:
        return self.folder / clip_id

    def part(self, part: Part) -> Path:
        return self.of(part.clip_id) / part.file

    def make(self, clip_id: str) -> Path:
        """Make the clip's folder. Raises `StorageUnavailable`."""
        make_folder(self.of(clip_id))
        return self.of(clip_id)

    def remove(self, clip_id: str) -> None:
        """Delete a clip's sound for good."""
        shutil.rmtree(self.of(clip_id), ignore_errors=True)


class ClipStore:
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
    ) -> Clip:
        """Put a clip with its planned parts on disk, before anything is sent."""
        clip_id, now = new_id(), self._database.now()
        async with self._database.transaction() as work:
            await _CLIPS.insert(
                work,
                id=clip_id,
                title=text_of(title)[:MAX_TITLE_CHARS],
                text=text,
                account_id=account_id,
                model=model,
                voice=voice,
                voice_name=voice_name,
                format=format,
                options=options,
                created_at=now,
                changed_at=now,
                audition=audition,
            )
            await work.execute_many(
                "INSERT INTO clip_parts (clip_id, number, start, finish) VALUES (?, ?, ?, ?)",
                [(clip_id, number, start, finish) for number, (start, finish) in enumerate(spans, 1)],
            )
        return await self.one(clip_id)

    async def extend(self, clip_id: str, text: str, spans: Iterable[tuple[int, int]]) -> Clip:
        """Let a clip grow: `text` begins with what it was, `spans` are the parts that come after those it has."""
        before = await self.one(clip_id)
        first = len(before.parts) + 1
        async with self._database.transaction() as work:
            await work.execute("UPDATE clips SET text = ? WHERE id = ?", [text_of(text), clip_id])
            await work.execute_many(
                "INSERT INTO clip_parts (clip_id, number, start, finish) VALUES (?, ?, ?, ?)",
                [(clip_id, number, start, finish) for number, (start, finish) in enumerate(spans, first)],
            )
        return await self.one(clip_id)

    async def one(self, clip_id: str) -> Clip:
        clip = await _CLIPS.one(self._database, clip_id)
        return replace(clip, parts=await _PARTS.select(self._database, "WHERE clip_id = ? ORDER BY number", [clip_id]))

    async def recent(self, *, trashed: bool = False, limit: int = LONGEST_LIST) -> tuple[Clip, ...]:
        """Return clips with their parts, newest first."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        newest = f"WHERE {where} ORDER BY created_at DESC, seq DESC LIMIT ?"
        clips = await _CLIPS.select_many(self._database, newest, [limit])
        every_part = await _PARTS.select_many(
            self._database, f"WHERE clip_id IN (SELECT id FROM clips {newest}) ORDER BY clip_id, number", [limit]
        )

        def joined() -> tuple[Clip, ...]:
            parts: dict[str, list[Part]] = {}
            for part in every_part:
                parts.setdefault(part.clip_id, []).append(part)
            return tuple(replace(clip, parts=tuple(parts.get(clip.id, ()))) for clip in clips)

        return await asyncio.to_thread(joined)  # of thousands it takes longer than a frame

    async def save_part(self, part: Part) -> None:
        """Write a part as it stands, pressed through to the disk, and what it means for the clip."""
        async with self._database.transaction() as work:
            await _PARTS.update(work, "clip_id = ? AND number = ?", [part.clip_id, part.number], **_PARTS.values(part))
            parts = await _PARTS.select(work, "WHERE clip_id = ?", [part.clip_id])
            await _CLIPS.update(
                work,
                "id = ?",
                [part.clip_id],
                state=state_of([each.state for each in parts]),
                duration_s=sum(each.duration_s for each in parts),
                size_bytes=sum(each.size_bytes for each in parts),
                changed_at=self._database.now(),
            )

    async def change(self, clip_id: str, **changes: Any) -> Clip:
        """Set `title`, `starred` or `format`."""
        assert changes.keys() <= {"title", "starred", "format"}, changes
        await _CLIPS.change(self._database, clip_id, **changes)
        return await self.one(clip_id)

    async def trash(self, clip_id: str, trashed: bool = True) -> Clip:
        """Move a clip to the trash, or back."""
        await _CLIPS.change(self._database, clip_id, trashed_at=self._database.now() if trashed else None)
        return await self.one(clip_id)

    async def remove(self, clip_id: str) -> None:
        """Delete a clip for good; its files are the caller's."""
        await self._database.execute("DELETE FROM clips WHERE id = ?", [clip_id])

    async def mark_broken_off(self) -> tuple[str, ...]:
        """After a start: clips that a killed program was at are `cut`, and so is the part that was on its way.

        Return the ids of their clips. What had arrived is in the files; `size_bytes` is theirs to measure.
        """
        rows = await self._database.fetch("SELECT id FROM clips WHERE state IN ('sending', 'planned')")
        found = tuple(str(row[0]) for row in rows)
        if found:
            await self._database.execute(
                "UPDATE clip_parts SET state = 'cut', cost_source = 'at most', note = ? WHERE state = 'sending'",
                [BROKEN_OFF],
            )
            await self._database.execute("UPDATE clips SET state = 'cut' WHERE state IN ('sending', 'planned')")
        return found


def state_of(states: Sequence[str]) -> ClipState:
    """Return how a clip stands whose parts are in these states."""
    for state in _WORST:
        if state in states:
            return state
    return "complete" if set(states) == {"complete"} else "sending" if "complete" in states else "planned"
