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
from typing import Any, Literal

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.table import Table
from app.translation import tr

JobState = Literal[
    "waiting", "sending", "running", "ready", "saved", "cleaned", "failed", "expired", "unknown", "cancelled"
]
OPEN: tuple[JobState, ...] = ("waiting", "sending", "running", "ready")
WITH_VIDEO: tuple[JobState, ...] = ("saved", "cleaned")


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


_JOBS = Table("video_jobs", VideoJob, tr("This video no longer exists."), otherwise={"state": "unknown"})
_MAY_CHANGE = frozenset(_JOBS.names) - {"id", "account_id", "created_at", "file"}


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
        async with self._database.transaction() as work:
            last = await work.fetch("SELECT COALESCE(MAX(place), 0) FROM video_jobs")
            await _JOBS.insert(
                work,
                id=job_id,
                place=last[0][0] + 1,
                account_id=account_id,
                model=model,
                model_name=model_name,
                prompt=prompt,
                form=form,
                file=file,
                quote_usd=quote_usd,
                clean_after=clean_after,
                charged=charged,
                created_at=self._database.now(),
            )
        return await self.one(job_id)

    async def one(self, job_id: str) -> VideoJob:
        return await _JOBS.one(self._database, job_id)

    async def all(self) -> tuple[VideoJob, ...]:
        """Return every job, those in the trash too; the last ordered first."""
        return await _JOBS.select_many(self._database, "ORDER BY place DESC")

    async def change(self, job_id: str, **values: object) -> VideoJob:
        """Set columns by the names of the fields of `VideoJob`, and return the job as it is now."""
        assert values.keys() <= _MAY_CHANGE, values.keys() - _MAY_CHANGE
        await _JOBS.change(self._database, job_id, **values)
        return await self.one(job_id)

    async def swap(self, one: VideoJob, other: VideoJob) -> None:
        """Let two jobs change places."""
        async with self._database.transaction() as transaction:
            await _JOBS.change(transaction, one.id, place=other.place)
            await _JOBS.change(transaction, other.id, place=one.place)

    async def delete(self, job_id: str) -> None:
        await self._database.execute("DELETE FROM video_jobs WHERE id = ?", [job_id])

    def now(self) -> datetime:
        return self._database.now()


async def has_open_jobs(database: Database) -> bool:
    """Tell whether any job has something to come, without reading the jobs: asked at every start."""
    names = ", ".join(f"'{state}'" for state in OPEN)
    row = await database.fetch_one(f"SELECT 1 FROM video_jobs WHERE state IN ({names}) LIMIT 1")
    return row is not None
