"""Videos that were ordered: one row from before the order is sent until the video is on this disk, and after.

waiting ──► sending ──► running ──► ready ──► saved ──► cleaned     the service has no copy any more
   │           │           │          └────► (held)                 what came was no video; nothing is deleted
   │           │           ├──► failed                              made by nobody: the service says so
   │           │           └──► expired                             the service has it no more
   │           ├──► failed                                          surely not queued
   │           └──► unknown                                         nobody knows whether it was queued
   └──► cancelled                                                   before it was sent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, cast, get_args

from app.storage.conversations import new_id
from app.storage.database import Database, Row
from app.storage.errors import NotStored
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

JobState = Literal[
    "waiting", "sending", "running", "ready", "saved", "cleaned", "failed", "expired", "unknown", "cancelled"
]
STATES: tuple[JobState, ...] = get_args(JobState)
OPEN: tuple[JobState, ...] = ("waiting", "sending", "running", "ready")
WITH_VIDEO: tuple[JobState, ...] = ("saved", "cleaned")
_COLUMNS = (
    "id, place, account_id, model, model_name, prompt, form, state, told, note, held, quote_usd, intent_id,"
    " exchange_id, request_id, queue_id, download_url, created_at, queued_at, ready_at, ended_at, average_s, bad_films,"
    " file, size_bytes, duration_s, width, height, clean_after, remote_copy, charged, refunded, trashed_at"
)
_MAY_CHANGE = frozenset(_COLUMNS.replace(" ", "").split(",")) - {"id", "account_id", "created_at", "file"}


@dataclass(frozen=True, slots=True)
class VideoJob:
    """One ordered video. `form` is what was filled in, without the prompt; media in it are names of files."""

    id: str
    place: int
    account_id: str
    model: str
    model_name: str
    prompt: str
    created_at: datetime
    file: str  # a name in the folder of videos
    form: Mapping[str, Any] = field(default_factory=dict)
    state: JobState = "waiting"
    told: str = ""
    note: str = ""
    held: bool = False
    quote_usd: Decimal | None = None
    intent_id: str = ""
    exchange_id: str = ""
    request_id: str = ""
    queue_id: str = ""
    download_url: str = ""
    queued_at: datetime | None = None
    ready_at: datetime | None = None
    ended_at: datetime | None = None
    average_s: float | None = None
    bad_films: int = 0
    size_bytes: int = 0
    duration_s: float = 0.0
    width: int = 0
    height: int = 0
    clean_after: bool = False
    remote_copy: bool = False
    charged: bool = True
    refunded: bool | None = None
    trashed_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """True while something is still to come."""
        return self.state in OPEN

    @property
    def has_video(self) -> bool:
        return self.state in WITH_VIDEO


class VideoJobs:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`. Every change is on the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        *,
        account_id: str,
        model: str,
        model_name: str,
        prompt: str,
        form: Mapping[str, Any],
        file: str,
        quote_usd: Decimal | None,
        clean_after: bool,
        charged: bool,
        id: str = "",
    ) -> VideoJob:
        """Put a job on the disk, last of those that wait."""
        job_id = id or new_id()
        await self._database.execute(
            "INSERT INTO video_jobs (id, place, account_id, model, model_name, prompt, form, file, quote_usd,"
            " clean_after, charged, created_at)"
            " VALUES (?, (SELECT COALESCE(MAX(place), 0) + 1 FROM video_jobs), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(job_id, account_id, model, text_of(model_name), text_of(prompt), json_text(form), file),
                *(money_text(quote_usd), int(clean_after), int(charged), micros_of(self._database.now())),
            ],
        )
        return await self.one(job_id)

    async def one(self, job_id: str) -> VideoJob:
        row = await self._database.fetch_one(f"SELECT {_COLUMNS} FROM video_jobs WHERE id = ?", [job_id])
        if row is None:
            raise NotStored("This video is no longer there.")
        return _job_from_row(row)

    async def all(self) -> tuple[VideoJob, ...]:
        """Return every job, those in the trash too; the last ordered first."""
        rows = await self._database.fetch(f"SELECT {_COLUMNS} FROM video_jobs ORDER BY place DESC")
        return tuple(map(_job_from_row, rows))

    async def change(self, job_id: str, **values: object) -> VideoJob:
        """Set columns by the names of the fields of `VideoJob`, and return the job as it is now."""
        assert values.keys() <= _MAY_CHANGE, values.keys() - _MAY_CHANGE
        sets = ", ".join(f"{name} = ?" for name in values)
        stored = [_stored(value) for value in values.values()]
        if not await self._database.execute(f"UPDATE video_jobs SET {sets} WHERE id = ?", [*stored, job_id]):
            raise NotStored("This video is no longer there.")
        return await self.one(job_id)

    async def swap(self, one: VideoJob, other: VideoJob) -> None:
        """Let two jobs change places."""
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE video_jobs SET place = ? WHERE id = ?", [other.place, one.id])
            await transaction.execute("UPDATE video_jobs SET place = ? WHERE id = ?", [one.place, other.id])

    async def delete(self, job_id: str) -> None:
        await self._database.execute("DELETE FROM video_jobs WHERE id = ?", [job_id])

    def now(self) -> datetime:
        return self._database.now()


async def has_open_jobs(database: Database) -> bool:
    """Tell whether any job has something to come, without reading the jobs: asked at every start."""
    names = ", ".join(f"'{state}'" for state in OPEN)
    row = await database.fetch_one(f"SELECT 1 FROM video_jobs WHERE state IN ({names}) LIMIT 1")
    return row is not None


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return micros_of(value)
    if isinstance(value, Decimal):
        return money_text(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Mapping):
        return json_text(value)
    return text_of(value) if isinstance(value, str) else value


def _job_from_row(row: Row) -> VideoJob:
    return VideoJob(
        id=str(row[0]),
        place=int(row[1]),
        account_id=read_text(row[2]),
        model=read_text(row[3]),
        model_name=read_text(row[4]),
        prompt=read_text(row[5]),
        form=object_of(row[6]),
        state=cast(JobState, row[7]) if row[7] in STATES else "unknown",
        told=read_text(row[8]),
        note=read_text(row[9]),
        held=bool(row[10]),
        quote_usd=money_of(row[11]),
        intent_id=read_text(row[12]),
        exchange_id=read_text(row[13]),
        request_id=read_text(row[14]),
        queue_id=read_text(row[15]),
        download_url=read_text(row[16]),
        created_at=moment_of(row[17]),
        queued_at=moment_or_none(row[18]),
        ready_at=moment_or_none(row[19]),
        ended_at=moment_or_none(row[20]),
        average_s=seconds_of(row[21]),
        bad_films=int(row[22] or 0),
        file=read_text(row[23]),
        size_bytes=int(row[24] or 0),
        duration_s=seconds_of(row[25]) or 0.0,
        width=int(row[26] or 0),
        height=int(row[27] or 0),
        clean_after=bool(row[28]),
        remote_copy=bool(row[29]),
        charged=bool(row[30]),
        refunded=None if row[31] is None else bool(row[31]),
        trashed_at=moment_or_none(row[32]),
    )
