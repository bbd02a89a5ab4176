"""All jobs of this computer as they are on the disk, and the folder of their videos."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app import files
from app.service.http.downloads import drop_part, mark_path, part_path, read_part
from app.storage.atomic_files import make_folder
from app.storage.chat_rows import new_id
from app.storage.errors import NoHistory, StorageUnavailable, unavailable
from app.storage.video_jobs import VideoJob, VideoJobs
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from app.core.leaving_models import TakeBack

POSTER = ".jpg"
PART = ".part"
MAX_NAME_CHARS = 48


class VideoJobStore(QObject):
    """The jobs by id, in the order of the list. Every change goes through here: first the disk, then the window.

    `job_notice` tells a job's id and what a person may want to hear of at once: "ready", "failed", "unknown", "bad",
    "consent", "disk". `unsaved` has why a job or its video could not be saved here, by the job's id, until it is.
    """

    changed = Signal()  # rows came, went or moved
    job_changed = Signal(str)
    job_notice = Signal(str, str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.store: VideoJobs | None = None
        self.is_read = False  # what is on the disk is known
        self.unsaved: dict[str, str] = {}
        self._jobs: dict[str, VideoJob] = {}
        self._in_memory: dict[str, dict[str, object]] = {}  # what `record` could not write yet, by the job's id

    async def open(self, store: VideoJobs) -> None:
        """Read every job, and remove what fetches left half done; `changed` is the caller's. Raises `StorageError`."""
        self.store = store
        jobs = await store.all()
        goes_on = {self.film(job) for job in jobs if job.is_open and job.download_url}
        await asyncio.to_thread(self._tidy, goes_on)
        self.is_read = True
        self._jobs = {job.id: job for job in jobs}

    def _tidy(self, goes_on: set[Path]) -> None:
        """Keep parts of videos that can be gone on with, and none else."""
        make_folder(self.folder)
        for path in self.folder.glob(f"*{PART}"):
            video = path.with_name(path.name.removesuffix(PART))
            if video not in goes_on or not read_part(video).size_bytes:
                drop_part(video)

    # Reading

    def all(self) -> tuple[VideoJob, ...]:
        return tuple(self._jobs.values())

    def jobs(self) -> tuple[VideoJob, ...]:
        """Those that are not in the trash; the last ordered first."""
        return tuple(job for job in self._jobs.values() if job.trashed_at is None)

    def trash(self) -> tuple[VideoJob, ...]:
        return tuple(job for job in self._jobs.values() if job.trashed_at is not None)

    def get(self, job_id: str) -> VideoJob | None:
        return self._jobs.get(job_id)

    def film(self, job: VideoJob) -> Path:
        return self.folder / job.file

    def poster(self, job: VideoJob) -> Path:
        return self.folder / f"{job.file}{POSTER}"

    def size_bytes(self, *, trash: bool = False) -> int:
        """What the videos take on this disk that are not in the trash, or those that are."""
        return sum(job.size_bytes for job in (self.trash() if trash else self.jobs()))

    def usual_s(self, model: str) -> float | None:
        """How long videos of a model took here, in the middle; None before the first."""
        took = [
            (job.ready_at - job.queued_at).total_seconds()
            for job in self._jobs.values()
            if job.model == model and job.ready_at is not None and job.queued_at is not None
        ]
        return median(took[:20]) if took else None

    def now(self) -> datetime:
        if self.store is None:
            raise NoHistory
        return self.store.now()

    # Changing

    async def add(self, *, prompt: str, form: dict[str, Any], media: dict[str, Any], **values: Any) -> VideoJob:
        """Put a job on the disk with copies of the media it needs. Raises `StorageError` and `OSError`."""
        if self.store is None:
            raise NoHistory
        job_id = new_id()
        kept = await asyncio.to_thread(self._keep_media, job_id, media)
        file = file_name(prompt, job_id, self.now())
        try:
            job = await self.store.add(
                id=job_id, prompt=prompt, form={**form, "media": kept, "source": form}, file=file, **values
            )
        except BaseException:
            await asyncio.to_thread(self._remove_media, job_id)
            raise
        self._jobs = {job.id: job, **self._jobs}
        self.changed.emit()
        return job

    async def change(self, job_id: str, **values: object) -> VideoJob:
        """Change a job, and write what waits in memory, too. Raises `StorageError`: then nothing has changed."""
        if self.store is None:
            raise NoHistory
        waiting = self._in_memory.pop(job_id, {})
        try:
            job = await self.store.change(job_id, **{**waiting, **values})
        except BaseException:
            self._wait_in_memory(job_id, {**waiting, **self._in_memory.get(job_id, {})})
            raise
        job = replace(job, **self._in_memory.get(job_id, {}))  # type: ignore[arg-type]  # fields of the job by name
        self.unsaved.pop(job_id, None)
        moved = self._jobs.get(job_id) is None or self._jobs[job_id].trashed_at != job.trashed_at
        self._jobs[job_id] = job
        (self.changed.emit if moved else lambda: self.job_changed.emit(job_id))()
        return job

    async def record(self, job_id: str, **values: object) -> None:
        """Keep what the service said of a job: in memory while the disk refuses it, and with its next change."""
        try:
            await self.change(job_id, **values)
        except StorageUnavailable:
            self._wait_in_memory(job_id, {**self._in_memory.get(job_id, {}), **values})
            self._jobs[job_id] = replace(self._jobs[job_id], **values)  # type: ignore[arg-type]  # as above
            self.job_changed.emit(job_id)

    def _wait_in_memory(self, job_id: str, values: dict[str, object]) -> None:
        if values:
            self._in_memory[job_id] = values

    async def write_waiting(self) -> None:
        """Try once more to write what waits in memory."""
        for job_id in tuple(self._in_memory):
            with contextlib.suppress(StorageUnavailable):
                await self.change(job_id)

    def unsaved_orders(self) -> tuple[VideoJob, ...]:
        """Jobs that would be lost with the program: what the service calls them is in memory alone."""
        return tuple(self._jobs[job_id] for job_id, values in self._in_memory.items() if "queue_id" in values)

    def is_in_memory(self, job_id: str) -> bool:
        """True while the disk has not taken all that is known of a job."""
        return job_id in self._in_memory

    def refuse(self, job_id: str, sentence: str) -> None:
        """Show at a job why it could not be saved here."""
        self.unsaved[job_id] = sentence
        self.job_changed.emit(job_id)

    async def swap(self, one: VideoJob, other: VideoJob) -> None:
        if self.store is None:
            raise NoHistory
        await self.store.swap(one, other)
        self._jobs[one.id], self._jobs[other.id] = replace(one, place=other.place), replace(other, place=one.place)
        self._jobs = {job.id: job for job in sorted(self._jobs.values(), key=lambda job: -job.place)}
        self.changed.emit()

    async def delete(self, job_id: str) -> None:
        """Remove a job, its video and its media for good.

        Raises `StorageUnavailable` if a file cannot be removed; the job then stays, and can be removed later.
        """
        if self.store is None:
            raise NoHistory
        job = self._jobs[job_id]
        await asyncio.to_thread(self._remove, job)
        await self.store.delete(job_id)
        del self._jobs[job_id]
        self._in_memory.pop(job_id, None)
        self.changed.emit()

    # Files. Every name is made of our own ids.

    def _keep_media(self, job_id: str, media: dict[str, Any]) -> dict[str, Any]:
        """Copy what goes along, so that the job can be sent after the original was moved or changed."""

        def keep(name: str, value: Any) -> Any:
            if isinstance(value, dict):
                return {key: keep(f"{name}-{key}", inner) for key, inner in value.items()}
            if isinstance(value, list | tuple):
                return [keep(f"{name}-{number}", inner) for number, inner in enumerate(value)]
            if not isinstance(value, str):
                return value
            path = Path(value)
            kept = f"{job_id}-{name}{path.suffix[:6]}"
            shutil.copyfile(path, self.folder / kept)
            return kept

        make_folder(self.folder)
        return {name: keep(name, value) for name, value in media.items()}

    def _remove_media(self, job_id: str) -> None:
        for path in self.folder.glob(f"{job_id}-*"):
            files.remove(path)

    def _remove(self, job: VideoJob) -> None:
        video = self.film(job)
        try:
            if job.file:  # else none was ever saved
                for path in (video, self.poster(job), part_path(video), mark_path(video)):
                    files.remove(path)  # on Windows a player holds its video open
            self._remove_media(job.id)
        except OSError as error:
            raise unavailable(error, video, tr("Removing {name}", name=video.name)) from error


def file_name(prompt: str, job_id: str, now: datetime) -> str:
    """A name that a person finds again and every system takes: `2026-11-20 a small sailboat 1f3c9a.mp4`."""
    words = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in prompt).split()
    name = " ".join(words)[:MAX_NAME_CHARS].strip() or "video"
    return f"{now.astimezone():%Y-%m-%d} {name} {job_id.replace('-', '')[-8:]}.mp4"


class WaitingJobs:
    """The jobs that were not sent yet, as what uses a model. Their price is asked for again before they are sent."""

    def __init__(self, job_store: VideoJobStore, name_of: Callable[[str], str]) -> None:
        self._job_store = job_store
        self._name_of = name_of

    def _of(self, model_id: str) -> list[str]:
        return [job.id for job in self._job_store.jobs() if job.state == "waiting" and job.model == model_id]

    def uses(self, model_id: str) -> Sequence[str]:
        count = len(self._of(model_id))
        return (tr_n("{n} waiting video", "{n} waiting videos", count),) if count else ()

    async def replace(self, old_id: str, new_id: str) -> TakeBack | None:
        moved = self._of(old_id)
        await self._use(moved, new_id)

        async def take_back() -> None:
            await self._use([job_id for job_id in self._of(new_id) if job_id in moved], old_id)

        return take_back if moved else None

    async def _use(self, job_ids: Sequence[str], model_id: str) -> None:
        for job_id in job_ids:
            await self._job_store.record(job_id, model=model_id, model_name=self._name_of(model_id))
