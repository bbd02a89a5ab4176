"""Sends waiting jobs, one after the other: an intent on the disk first, the service's id on the disk after.

    row "waiting" ─ intent ─ row "sending" ─ intent "sent" ─ the call ─ row "running" with its id ─ intent "answered"

Killed at any of these, the next start knows what is true, see `settle`. Nothing is queued twice by itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.paid_call import STOPPED_ON_ITS_WAY, end_of_call, paid_call
from app.core.problems import describe
from app.core.tasks import to_the_end
from app.core.time_format import LONGEST_COUNTDOWN_S
from app.service.errors import (
    NEEDS_ANOTHER_KEY,
    CallsPaused,
    Conflict,
    ConnectionFailed,
    ContentRefused,
    CredentialUnavailable,
    LimitExceeded,
    PaymentRequired,
    RateLimited,
    ServiceError,
    SpendingLimit,
    TimedOut,
)
from app.service.video import VideoRequest
from app.storage.errors import NoHistory, NotStored, StorageError
from app.storage.paid_call_intents import NOBODY_KNOWS, Intents
from app.translation import tr
from app.ui.video.consent import read_consent
from app.ui.video.session.media_files import length_of, media_of

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.service.chat_types import RetryWait
    from app.service.exchange import Exchange
    from app.service.service import Service
    from app.storage.video_jobs import VideoJob
    from app.ui.video.session.job_store import VideoJobStore

_log = logging.getLogger(__name__)
KIND = "video"
SEND = "video send"
MAX_RESENDS = 1  # how often a job is sent again by itself after a limit, on top of the tries of each call
AT_ONCE = 4  # jobs of one account at the service; the others wait here, where they can be cancelled for nothing
OLD_QUOTE = timedelta(minutes=10)
DEFAULT_REST_S = 60.0  # after a refusal that does not say for how long: limits are counted by the minute
TOO_MANY = tr("Over the service’s limit for this minute. It is sent later. Nothing was charged.")
ONLY_IN_MEMORY = tr(
    "The job was queued, but its number could not be saved. Rialto keeps trying. Do not quit Rialto yet."
)
WAITS_FOR_NETWORK = tr("Waiting for the network. Nothing was charged.")


class Sender:
    """`exchanges` keeps the calls of this run by job, for the Request page."""

    def __init__(self, job_store: VideoJobStore, current_account: CurrentAccount, tasks: TaskScope) -> None:
        self._job_store = job_store
        self._current_account = current_account
        self._tasks = tasks
        self.intents: Intents | None = None
        self.exchanges: dict[str, Exchange] = {}
        self.is_offline = False
        self.pace = 1.0  # shortens waits; tests turn it
        self.on_wait: Callable[[], None] = _nothing  # called as a wait begins and as it ends
        self.leaving = ""  # the id of the job that nobody can call back any more
        self._resends: dict[str, int] = {}  # by job: how often it was sent again by itself after a limit
        self._open_intents: set[str] = set()  # of jobs that were sent while the disk took nothing
        self._sent_at = 0.0  # of the monotonic clock: when the job that is on its way is let through

    @property
    def waits_s(self) -> float:
        """How long the job that is on its way has still to wait for the service's limit of jobs per minute."""
        return max(0.0, self._sent_at - time.monotonic())

    def _record_wait(self, wait: RetryWait) -> None:
        """The call waits for the service's limit, refused or kept here; other waits are short."""
        if wait.reason in ("rate_limit", "pace", "held"):
            self._hold_back(wait.wait_s)

    def _hold_back(self, seconds: float) -> None:
        self._sent_at = time.monotonic() + seconds
        self.on_wait()

    def forget_wait(self) -> None:
        """Another account is used: it has limits of its own."""
        self._sent_at = 0.0

    def wake(self) -> None:
        """See whether anything can be sent, and note of what was sent what the disk refused to note."""
        if self._open_intents:
            self._tasks.start_unless_running("video intents", self._close_intents)
        if self.intents is not None and self._next() is not None:
            self._tasks.start_unless_running(SEND, self._run)

    @property
    def is_waiting_for_network(self) -> bool:
        """True while a job could be sent, were there a network."""
        return self.is_offline and any(job.state == "waiting" and not job.held for job in self._job_store.jobs())

    def _next(self) -> VideoJob | None:
        account = self._current_account.account
        if account is None or self._current_account.service is None or self.is_offline or self.waits_s:
            return None
        mine = [job for job in self._job_store.jobs() if job.account_id == account.id]
        there = sum(job.state in ("sending", "running") and not job.held for job in mine)
        if there >= AT_ONCE:
            return None
        return next((job for job in reversed(mine) if job.state == "waiting" and not job.held), None)

    async def _run(self) -> None:
        while (job := self._next()) is not None:
            service = self._current_account.service
            assert service is not None
            await self._send(job, service)

    async def _send(self, job: VideoJob, service: Service) -> None:
        if self.intents is None:
            raise NoHistory
        job_store = self._job_store
        try:
            request = await self.request_of(job)
            request.to_body()  # what is over a limit is refused before an intent exists
            if not await self._quote_still_holds(job, request, service):
                return
        except LimitExceeded as error:
            await job_store.record(
                job.id,
                state="failed",
                note=tr("{message} Nothing was charged.", message=error.message),
                ended_at=job_store.now(),
            )
            return
        except ServiceError as error:
            await self._not_sent(job, error)
            return
        current = job_store.get(job.id)
        if current is None or current.state != "waiting" or current.held or current.trashed_at is not None:
            return  # changed its mind, or was paused, while the price was asked for
        self.leaving = job.id  # at once: its row says so a moment later
        try:
            async with paid_call(self.intents, KIND, job.account_id, _described(job, request)) as paid:
                await job_store.change(job.id, state="sending", intent_id=paid.intent.id, note="")
                await paid.sent()
                receipt = await service.video.queue(request, quoted_usd=job.quote_usd, on_wait=self._record_wait)
                self._sent_at = 0.0
                self.exchanges[job.id] = receipt.exchange
                info = receipt.exchange.info
                queued = job_store.record(
                    job.id,
                    state="running",
                    queue_id=receipt.job.queue_id,
                    model=receipt.job.model,
                    download_url=receipt.job.download_url or "",
                    queued_at=job_store.now(),
                    remote_copy=True,
                    exchange_id=receipt.exchange.id,
                    request_id=info.request_id if info is not None else "",
                )
                await to_the_end(queued)
                if job_store.is_in_memory(job.id):
                    job_store.refuse(job.id, ONLY_IN_MEMORY)
                    job_store.job_notice.emit(job.id, "disk")
                await paid.answered(receipt.job.queue_id, receipt.exchange.id)
        except ServiceError as error:
            await self._not_queued(job, error)
        except StorageError:
            _log.exception("A job could not be saved")
            current = job_store.get(job.id)
            if current is not None and current.queue_id:
                self._open_intents.add(job.id)  # it was sent, whatever cannot be noted of it yet
                return
            await self._hold(job, tr("This job could not be saved to disk, so it was not sent."))
        finally:
            self.leaving = ""

    async def _quote_still_holds(self, job: VideoJob, request: VideoRequest, service: Service) -> bool:
        """Ask for the price again when the one that was agreed to is old; a higher one waits for a yes."""
        if self._job_store.now() - job.created_at < OLD_QUOTE or job.form.get("agreed") is True:
            return True
        videos = (job.form.get("media") or {}).get("reference_video_urls") or ()
        length_s = (
            await asyncio.to_thread(length_of, [self._job_store.folder / name for name in videos]) if videos else None
        )
        price = await service.video.quote(request, reference_videos_s=length_s)
        if price is None or price <= (job.quote_usd or Decimal(0)):
            return True
        await self._job_store.record(
            job.id, held=True, quote_usd=price, note=tr("The price has risen since you queued it. Nothing was charged.")
        )
        return False

    async def _not_sent(self, job: VideoJob, error: ServiceError) -> None:
        """The price could not be asked for."""
        if isinstance(error, ConnectionFailed | TimedOut | CallsPaused):
            self.is_offline = True
            await self._job_store.record(job.id, note=WAITS_FOR_NETWORK)
        else:
            await self._hold(job, describe(error, subject="").sentence)

    async def _not_queued(self, job: VideoJob, error: ServiceError) -> None:
        job_store = self._job_store
        self._sent_at = 0.0
        if error.exchange is not None:
            self.exchanges[job.id] = error.exchange
        problem = describe(error, subject=tr("video"))
        if end_of_call(error) == "unknown":
            note = tr(
                "{what}. It may have been queued and charged. Rialto does not queue it again automatically.",
                what=problem.what,
            )
            await job_store.record(job.id, state="unknown", note=note, ended_at=job_store.now())
            job_store.job_notice.emit(job.id, "unknown")
        elif error.surely_not_sent and isinstance(error, ConnectionFailed | TimedOut | CallsPaused):
            self.is_offline = True
            await job_store.record(job.id, state="waiting", note=WAITS_FOR_NETWORK)
        elif isinstance(error, Conflict) and error.consent is not None:
            asked = read_consent(error.consent)
            note = tr("It found a face in the attached files. Nothing was charged.")
            await job_store.record(
                job.id, state="waiting", held=True, note=note, form={**job.form, "consent": asked.to_json()}
            )
            job_store.job_notice.emit(job.id, "consent")
        elif isinstance(error, PaymentRequired):
            await self._hold(job, problem.meaning, short=True)
        elif isinstance(error, RateLimited) and self._is_refused_too_long(job, error):
            await self._hold(job, problem.sentence)
        elif isinstance(error, RateLimited):  # surely not queued, so it may be sent once more
            self.is_offline = True
            await job_store.record(job.id, state="waiting", note=TOO_MANY)
            self._hold_back((error.retry_after_s or DEFAULT_REST_S) * self.pace)
        elif isinstance(error, SpendingLimit):
            await self._hold(job, problem.sentence, limit=error.scope)
        elif isinstance(error, (*NEEDS_ANOTHER_KEY, CredentialUnavailable)):
            await self._hold(job, problem.sentence)
        else:
            form = job.form
            if isinstance(error, ContentRefused):
                form = {**form, "proposed": {"prompt": error.suggested_prompt, "model": error.recommended_model}}
            note = tr("{sentence} Nothing was charged.", sentence=problem.sentence)
            await job_store.record(job.id, state="failed", note=note, form=form, ended_at=job_store.now())
            job_store.job_notice.emit(job.id, "failed")

    def _is_refused_too_long(self, job: VideoJob, error: RateLimited) -> bool:
        """Whether the person is asked instead of sending once more by itself: nothing is tried for ever."""
        resends = self._resends.pop(job.id, 0)
        if resends >= MAX_RESENDS or (error.retry_after_s or 0.0) > LONGEST_COUNTDOWN_S:
            return True
        self._resends[job.id] = resends + 1
        return False

    async def _hold(self, job: VideoJob, note: str, *, short: bool = False, limit: str = "") -> None:
        """Let a job wait for the person. `short`: for lack of credits, which a top-up can change. `limit`: the scope
        of the spending limit that stopped it."""
        form = {**job.form, "short": short, "limit": limit}
        await self._job_store.record(job.id, state="waiting", held=True, note=note, form=form)

    # What is sent

    async def request_of(self, job: VideoJob) -> VideoRequest:
        """The request of a job, with its media read from the disk. Raises `LimitExceeded`."""
        values = {name: value for name, value in job.form.items() if name in _FIELDS}
        read = await asyncio.to_thread(media_of, job.form.get("media") or {}, self._job_store.folder)
        media: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in read.items()}
        extra = {name: media.pop(name) for name in tuple(media) if name not in _MEDIA}
        extra |= job.form.get("extra") or {}
        consents = job.form.get("consents")
        extra |= {"consents": consents} if isinstance(consents, dict) else {}
        return VideoRequest(prompt=job.prompt, extra=extra, **values, **media)

    # After a start

    async def settle(self) -> None:
        """Make of every job that was being sent what is true, by what became of its intent."""
        if self.intents is None:
            raise NoHistory
        for job in self._job_store.all():
            if job.intent_id and job.queue_id:
                await self._close_intent(job)
            if job.state != "sending":
                continue
            state = await self._end_of(job)
            if state == "cancelled":
                await self._job_store.record(job.id, state="waiting", note="")
            elif state == "failed":
                await self._job_store.record(job.id, state="failed", ended_at=self._job_store.now())
            else:
                await self._job_store.record(job.id, state="unknown", note=NOBODY_KNOWS, ended_at=self._job_store.now())
                self._job_store.job_notice.emit(job.id, "unknown")
                await self.intents.acknowledge(job.intent_id)

    async def _end_of(self, job: VideoJob) -> str:
        """How a job's intent ended; what is still open was stopped by the end of the program."""
        if self.intents is None:
            raise NoHistory
        try:
            intent = await self.intents.one(job.intent_id)
        except NotStored:
            return "cancelled"  # it never came to be
        if intent.state == "intended":
            intent = await self.intents.cancel(intent.id)
        elif intent.state == "sent":
            intent = await self.intents.unknown(intent.id, STOPPED_ON_ITS_WAY)
        return intent.state

    async def _close_intents(self) -> None:
        for job_id in tuple(self._open_intents):
            job = self._job_store.get(job_id)
            if self._job_store.is_in_memory(job_id):
                continue
            try:
                if job is not None:
                    await self._close_intent(job)
            except StorageError:
                continue
            self._open_intents.discard(job_id)

    async def _close_intent(self, job: VideoJob) -> None:
        """The id is on the disk, so it was carried out, whatever the intent still says."""
        if self.intents is None:
            raise NoHistory
        try:
            intent = await self.intents.one(job.intent_id)
            if intent.state in ("sent", "unknown"):
                await self.intents.answered(intent.id, job.queue_id, job.exchange_id)
        except NotStored:
            return


_MEDIA = frozenset({"image_url", "end_image_url", "audio_url", "video_url", "reference_image_urls"})
_FIELDS = frozenset(
    {
        "model",
        "duration",
        "negative_prompt",
        "aspect_ratio",
        "resolution",
        "audio",
        "upscale_factor",
        "omni_reference_task_type",
        "prompt_limit",
    }
)


def _nothing() -> None:
    """Stands in until the presenter listens."""


def _described(job: VideoJob, request: VideoRequest) -> dict[str, Any]:
    """What an intent keeps: everything but the bytes of the media, which lie beside the videos."""
    body = {name: value for name, value in asdict(request).items() if value and name not in (*_MEDIA, "extra")}
    typed = {"extra": job.form["extra"]} if job.form.get("extra") else {}
    return {**body, **typed, "job": job.id, "media": job.form.get("media") or {}, "quote_usd": job.quote_usd}
