"""Asks for a job, brings its video to this disk, checks it, and only then lets the service delete its own copy.

The service is never told to delete when it has sent: a fetch that breaks off would lose the video (R-VID-03).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.problems import describe
from app.service.errors import (
    NEEDS_ANOTHER_KEY,
    BadResponse,
    ContentRefused,
    Gone,
    LimitExceeded,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceError,
)
from app.service.video import QueuedVideo, SavedVideo, VideoState
from app.storage.errors import StorageUnavailable, unavailable
from app.storage.video_check import NotAVideo, check_video
from app.translation import tr

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.service import Service
    from app.storage.video_jobs import VideoJob
    from app.ui.video.session.job_store import VideoJobStore

MAX_BAD_VIDEOS = 3
ADDRESS_BUSY = tr("The download server is busy. Rialto tries again shortly.")
TELL_EVERY_S = 0.1
GIVEN_UP = tr("Rialto tried three times. The service still has its copy. Nothing was deleted.")


class AddressBusy(Exception):
    """The place where a private video lies was asked too often; the service itself has no part in it."""

    def __init__(self, retry_after_s: float | None) -> None:
        super().__init__(tr("The download address is over its limit."))
        self.retry_after_s = retry_after_s


class _StillThere(Exception):
    """A video began to come: the service still has it."""


class JobPoller(QObject):
    """`received` holds how many bytes of a video have come and how many there are, while it comes."""

    progressed = Signal(str)

    def __init__(self, job_store: VideoJobStore, current_account: CurrentAccount) -> None:
        super().__init__()
        self._job_store = job_store
        self._current_account = current_account
        self.received: dict[str, tuple[int, int | None]] = {}
        self._told_at: dict[str, float] = {}

    def service_of(self, job: VideoJob) -> Service | None:
        """The service of the account that ordered it, None while another account is in use."""
        account = self._current_account.account
        return self._current_account.service if account is not None and account.id == job.account_id else None

    async def ask(self, job: VideoJob) -> VideoState | None:
        """Ask once. A video that is ready is on the disk and checked afterwards. None: nothing more to ask for.

        Raises the `ServiceError`s after which asking again later makes sense, `AddressBusy`, and `StorageError`.
        """
        service = self.service_of(job)
        if service is None or not job.queue_id:
            return None
        path = self._job_store.film(job)
        if path.exists() and await self._verify(job, quietly=True):
            return None  # it came just before the program ended
        try:
            outcome = await self._fetch(service, job, path)
            if isinstance(outcome, VideoState):
                return await self._note(job, outcome)
            await self._verify(job)
        except (NotFound, Gone):
            await self._end(
                job, "expired", tr("It may have been charged. Reuse its settings to queue it again."), remote_copy=False
            )
        except ContentRefused as error:
            await self._refused(job, error)
        except BadResponse as error:
            if error.code == "disk":
                if isinstance(error.__cause__, OSError):
                    raise unavailable(error.__cause__, path, tr("Saving the video")) from error
                raise StorageUnavailable(error.message) from error
            await self._bad(job, error.message)
        except LimitExceeded as error:
            if error.field != "download_url":
                raise
            await self._bad(job, error.message)
        except (*NEEDS_ANOTHER_KEY, PaymentRequired) as error:
            await self._job_store.record(job.id, held=True, note=describe(error, subject="").sentence)
        finally:
            if self.received.pop(job.id, None) is not None:
                self.progressed.emit(job.id)
        return None

    async def _fetch(self, service: Service, job: VideoJob, path: Path) -> VideoState | SavedVideo:
        queued = QueuedVideo(model=job.model, queue_id=job.queue_id, download_url=job.download_url or None)

        def on_received(count: int, total: int | None) -> None:
            self._publish(job.id, count, total)

        outcome = await service.video.retrieve(
            queued, path, on_received=on_received, paid_usd=job.quote_usd, paid_by=job.exchange_id
        )
        if isinstance(outcome, VideoState) and outcome.state == "completed" and queued.download_url:
            await self._ready(job)
            try:
                return await service.video.download(queued, path, on_received=on_received)
            except RateLimited as error:
                await self._job_store.record(job.id, note=ADDRESS_BUSY)
                raise AddressBusy(error.retry_after_s) from None
            except (NotFound, Gone):
                await self._job_store.record(job.id, download_url="")
                raise
        return outcome

    def _publish(self, job_id: str, count: int, total: int | None) -> None:
        self.received[job_id] = (count, total)
        now = time.monotonic()
        if now - self._told_at.get(job_id, 0.0) >= TELL_EVERY_S:
            self._told_at[job_id] = now
            self.progressed.emit(job_id)

    async def _note(self, job: VideoJob, told: VideoState) -> VideoState | None:
        if told.state == "failed":
            note = tr("The service could not generate this video. It said “{told}”.", told=told.told)
            await self._end(job, "failed", note, remote_copy=False)
            return None
        if told.state == "completed":  # and there is no address to fetch it from
            await self._bad(job, tr("The service says the video is ready but does not send it."))
            return None
        is_news = told.told != job.told or told.average_s != job.average_s or job.note
        if is_news or self._job_store.is_in_memory(job.id):
            await self._job_store.record(job.id, told=told.told, average_s=told.average_s, note="")
        return told

    async def _refused(self, job: VideoJob, error: ContentRefused) -> None:
        note = refusal_note(error)
        form = {**job.form, "proposed": {"prompt": error.suggested_prompt, "model": error.recommended_model}}
        await self._end(job, "failed", note, remote_copy=False, refunded=error.credits_refunded, form=form)

    async def _end(self, job: VideoJob, state: str, note: str, **more: object) -> None:
        await self._job_store.record(
            job.id, state=state, note=note, ended_at=self._job_store.now(), download_url="", **more
        )
        self._job_store.job_notice.emit(job.id, "failed")

    async def _ready(self, job: VideoJob) -> None:
        if job.state != "ready" or job.ready_at is None:
            await self._job_store.record(job.id, state="ready", ready_at=job.ready_at or self._job_store.now())

    # Checking

    async def _verify(self, job: VideoJob, *, quietly: bool = False) -> bool:
        """Look whether the file is a whole video, and call the job saved only then."""
        path = self._job_store.film(job)
        try:
            video = await asyncio.to_thread(check_video, path)
        except OSError as error:
            raise unavailable(error, path, tr("Reading the video")) from error
        except NotAVideo as error:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(path.unlink, missing_ok=True)
            if not quietly:
                await self._bad(job, str(error))
            return False
        now = self._job_store.now()
        await self._job_store.change(
            job.id,
            state="saved",
            held=False,
            note="",
            size_bytes=video.size_bytes,
            duration_s=video.duration_s,
            width=video.width,
            height=video.height,
            ready_at=job.ready_at or now,
            ended_at=now,
        )
        self._job_store.job_notice.emit(job.id, "ready")
        await self.finish(job.id)
        return True

    async def _bad(self, job: VideoJob, sentence: str) -> None:
        """What came was no video: nothing is deleted anywhere, and after three times a person is asked."""
        count = (self._job_store.get(job.id) or job).bad_films + 1
        held = count >= MAX_BAD_VIDEOS
        note = f"{sentence} {GIVEN_UP}" if held else tr("{sentence} Rialto downloads it again.", sentence=sentence)
        await self._job_store.record(
            job.id, state="ready", bad_films=count, held=held, note=note, ready_at=job.ready_at or self._job_store.now()
        )
        if held:
            self._job_store.job_notice.emit(job.id, "bad")

    # Afterwards

    async def finish(self, job_id: str) -> None:
        """After the video is safe: take back the download address, and clean up when the person wanted that."""
        await self._revoke(job_id)
        job = self._job_store.get(job_id)
        if job is not None and job.clean_after and job.remote_copy:
            await self.clean(job_id)

    async def _revoke(self, job_id: str) -> None:
        job = self._job_store.get(job_id)
        service = self.service_of(job) if job is not None else None
        if job is None or service is None or not job.download_url or not job.has_video:
            return
        try:
            await service.video.revoke(
                QueuedVideo(model=job.model, queue_id=job.queue_id, download_url=job.download_url)
            )
        except (NotFound, Gone):
            pass
        except ServiceError:
            return  # tried again at the next start; after a day it is worthless anyway
        await self._job_store.record(job_id, download_url="")

    async def clean(self, job_id: str) -> bool:
        """Let the service delete its copy. Refused while the video is not whole on this disk."""
        job = self._job_store.get(job_id)
        service = self.service_of(job) if job is not None else None
        if job is None or service is None or not job.has_video or not job.remote_copy:
            return False
        try:
            await asyncio.to_thread(check_video, self._job_store.film(job))
        except (NotAVideo, OSError) as error:
            await self._job_store.record(
                job_id,
                note=tr("The service’s copy was not deleted because the file here is incomplete. {error}", error=error),
            )
            return False
        queued = QueuedVideo(model=job.model, queue_id=job.queue_id)
        try:
            removed = await service.video.complete(queued) or await self._is_gone(service, job, queued)
        except ServiceError as error:
            why = describe(error, subject="").sentence
            await self._job_store.record(job_id, note=tr("The service’s copy was not deleted. {why}", why=why))
            return False
        if removed:
            await self._job_store.record(job_id, state="cleaned", remote_copy=False, note="")
        else:
            await self._job_store.record(job_id, note=tr("The service did not delete its copy. Try again later."))
        return removed

    async def _is_gone(self, service: Service, job: VideoJob, queued: QueuedVideo) -> bool:
        """The service removed nothing: because it has nothing any more, or for another reason?"""

        def there(_count: int, _total: int | None) -> None:
            raise _StillThere

        path = self._job_store.folder / f"{job.id}-look"
        try:
            await service.video.retrieve(queued, path, on_received=there)
        except (NotFound, Gone):
            return True
        except _StillThere:
            return False
        finally:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(path.unlink, missing_ok=True)
        return False


def refusal_note(error: ContentRefused) -> str:
    """Say why a video was refused, what became of its price, and which model the service suggests."""
    cause = error.message.rstrip(".") or tr("The content policy stopped this video")
    refund = {
        True: tr("The cost was refunded."),
        False: tr("The cost was not refunded."),
        None: tr("The service does not say whether it was charged."),
    }[error.credits_refunded]
    model = error.recommended_model
    more = tr("It suggests the model {recommended_model}.", recommended_model=model) if model else ""
    return f"{cause}. {refund} {more}".strip()
