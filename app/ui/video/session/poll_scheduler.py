"""One schedule for all jobs: asks for each when it is likely to have news, and for all together below the limit.

Sleeps between, more when the window is not to be seen, and not at all with nothing to wait for. It goes by the clock on
the wall: after the computer slept, everything that fell due meanwhile is asked for at once.

A service that refuses for too many questions (429) is left alone for as long as it says, by all jobs together, and
`rests_s` tells the window how long. Only questions rest: videos go on being made, and nothing is queued again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.problems import describe
from app.service.errors import CallsPaused, ConnectionFailed, RateLimited, ServiceError, TimedOut
from app.service.video import RETRIEVE_PER_MINUTE, VideoState, poll_interval_s
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.video.session.job_poller import AddressBusy

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.video_jobs import VideoJob
    from app.ui.video.session.job_poller import JobPoller
    from app.ui.video.session.job_store import VideoJobStore
    from app.ui.video.session.sender import Sender

POLL = "video poll"
MAX_ASKING = 4
LONGEST_S = 30.0  # between two looks at a job that is far from done, or long overdue
HIDDEN_TIMES = 3.0
MANY, MANY_EVERY_S = 12, 1.0  # more jobs than these share one question a second: nobody watches so many so closely
LOOK_UP_S = 30.0  # how long one sleep lasts at most: the clock may have jumped
RETRY_S = 15.0  # after the network was lost
LONGEST_REST_S = 60.0  # after a refusal that does not say for how long: limits are counted by the minute
SAYS_WHY_AFTER = 3  # errors in a row, from which on a job says why there is no news of it


class PollScheduler:
    """`pace` shortens every wait; tests turn it. `on_rest` is called as a rest begins and as it ends."""

    def __init__(
        self,
        job_store: VideoJobStore,
        job_poller: JobPoller,
        sender: Sender,
        tasks: TaskScope,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._job_store = job_store
        self._job_poller = job_poller
        self._sender = sender
        self._tasks = tasks
        self._clock = clock
        self._due: dict[str, float] = {}
        self._errors: dict[str, int] = {}
        self._rests_until = 0.0
        self._refusals = 0  # for too many questions, in a row
        self._asking: set[str] = set()
        self._looks_at = 0.0  # when the loop looks again by itself
        self._hurries = False
        self._woken = asyncio.Event()
        self.hidden = False
        self.pace = 1.0
        self.on_rest: Callable[[], None] = _nothing
        job_store.changed.connect(self.wake)
        job_store.job_changed.connect(lambda _id: self.wake() if not tasks.running(POLL) else None)

    # When

    def wake(self) -> None:
        """Something changed: a job came, the window is to be seen again, the network is back."""
        self._woken.set()
        if self._open() or self._sender.is_waiting_for_network:
            self._tasks.start_unless_running(POLL, self._run)

    def soon(self) -> None:
        """Ask for everything now."""
        self._due.clear()
        self._errors.clear()
        self._hurries = True
        self._sender.is_offline = False
        self._sender.wake()
        self.wake()

    @property
    def rests_s(self) -> float:
        """How long nothing is asked yet because the service wants fewer questions; 0 means that it may be asked."""
        return max(0.0, self._rests_until - self._clock())

    def forget_rest(self) -> None:
        """Another account is used: it has limits of its own."""
        self._refusals = 0
        self._end_rest()

    def _rest(self, seconds: float) -> None:
        self._rests_until = max(self._rests_until, self._clock() + seconds * self.pace)
        self.on_rest()

    def _end_rest(self) -> None:
        """What fell due meanwhile comes one after the other, not as a crowd."""
        if self._rests_until:
            self._rests_until = 0.0
            self._due.clear()
            self._hurries = True
            self.on_rest()

    def set_hidden(self, hidden: bool) -> None:
        if hidden != self.hidden:
            self.hidden = hidden
            if not hidden:
                self.soon()

    def _open(self) -> list[VideoJob]:
        """Jobs that the service may have news of, and that may be asked for."""
        return [
            job
            for job in self._job_store.all()
            if job.state in ("running", "ready")
            and not job.held
            and job.queue_id
            and self._job_poller.service_of(job) is not None
        ]

    def interval_s(self, told: VideoState | None, jobs: int) -> float:
        """How long until a job is asked for again: half of what is probably left, within reason."""
        base = max(poll_interval_s(jobs), jobs * MANY_EVERY_S if jobs > MANY else 0.0)
        wait = base
        if told is not None and told.average_s and told.elapsed_s is not None:
            left = told.average_s - told.elapsed_s
            wait = left / 2 if left > 0 else -left / 4
        wait = max(base, min(LONGEST_S, wait))
        return wait * (HIDDEN_TIMES if self.hidden else 1.0) * self.pace

    # The loop

    async def _run(self) -> None:
        while (jobs := self._open()) or self._sender.is_waiting_for_network:
            self._woken.clear()
            self._sender.wake()
            now = self._clock()
            if now >= self._rests_until:
                self._end_rest()
            self._plan(jobs, now)
            sleep_s = LOOK_UP_S
            if now < self._rests_until:
                sleep_s = self._rests_until - now
            elif not self._ask_due(jobs, now):  # else one of those that are being asked for wakes us
                sleep_s = min((self._due[job.id] for job in jobs if job.id not in self._asking), default=now) - now
                sleep_s = sleep_s if len(self._asking) < len(jobs) else LOOK_UP_S
            if self._sender.is_waiting_for_network:
                sleep_s = min(sleep_s, RETRY_S * self.pace)
            sleep_s = min(max(0.01, sleep_s), LOOK_UP_S)
            self._looks_at = now + sleep_s
            try:
                async with asyncio.timeout(sleep_s):
                    await self._woken.wait()
            except TimeoutError:
                if not self._sender.waits_s:
                    self._sender.is_offline = False  # the next try will tell
                self._sender.wake()
        self._due.clear()

    def _plan(self, jobs: list[VideoJob], now: float) -> None:
        """Say when those are due that have no time yet, one after the other so that they do not come as a crowd."""
        first = 0.0 if self._hurries else poll_interval_s(1)
        self._hurries = False
        new = 0
        apart = MANY_EVERY_S if len(jobs) > MANY else 60 / RETRIEVE_PER_MINUTE
        for job in jobs:
            if job.id not in self._due:
                self._due[job.id] = now + (first + new * apart) * self.pace
                new += 1
            elif self._due[job.id] > now + 600:
                self._due[job.id] = now  # the clock was turned back

    def _ask_due(self, jobs: list[VideoJob], now: float) -> bool:
        """Ask for what is due; True when as many as may be are being asked for and others wait."""
        due = [job for job in jobs if self._due[job.id] <= now and job.id not in self._asking]
        for job in sorted(due, key=lambda job: self._due[job.id]):
            if len(self._asking) >= MAX_ASKING:
                return True
            if self._tasks.start_unless_running(f"video fetch {job.id}", self._ask, job.id):
                self._asking.add(job.id)
        return False

    async def _ask(self, job_id: str) -> None:
        job = self._job_store.get(job_id)
        try:
            if job is not None:
                await self._ask_for(job)
        finally:
            was_full = len(self._asking) >= MAX_ASKING
            self._asking.discard(job_id)
            job = self._job_store.get(job_id)
            is_over = job is None or job.state != "running"
            if was_full or is_over or self._due.get(job_id, 0.0) < self._looks_at:
                self._woken.set()  # else the loop sleeps on: nothing is due before it looks again by itself

    async def _ask_for(self, job: VideoJob) -> None:
        job_id, count = job.id, len(self._due)
        told: VideoState | None = None
        try:
            told = await self._job_poller.ask(job)
            self._errors.pop(job_id, None)
            self._refusals = 0
            wait = self.interval_s(told, count)
            if told is not None and told.rests_s:
                self._rest(told.rests_s)
        except AddressBusy as busy:
            wait = self._once_more(job_id, busy.retry_after_s)
        except (RateLimited, CallsPaused) as error:
            told_s = error.retry_after_s
            wait = RETRY_S * 2**self._refusals if told_s is None else told_s
            self._refusals = min(self._refusals + 1, 8)
            self._rest(min(wait, LONGEST_REST_S) if told_s is None else wait)
            wait = 0.0
        except (ServiceError, StorageError) as error:
            wait = self._once_more(job_id)
            await self._say_why(job_id, error)
        self._due[job_id] = self._clock() + wait
        self._sender.wake()

    def _once_more(self, job_id: str, told_s: float | None = None) -> float:
        """How long one job waits after an error of its own."""
        self._errors[job_id] = number = self._errors.get(job_id, 0) + 1
        return (told_s if told_s is not None else min(60.0, RETRY_S * 2 ** (number - 1))) * self.pace

    async def _say_why(self, job_id: str, error: ServiceError | StorageError) -> None:
        """Tell what is refused again and again, and a full disk at once; a network that is away has its banner."""
        job = self._job_store.get(job_id)
        if job is None or job.state not in ("running", "ready"):
            return
        if isinstance(error, StorageError):
            if self._errors[job_id] == 1:
                self._job_store.job_notice.emit(job_id, "disk")
            self._job_store.refuse(
                job_id,
                tr(
                    "{sentence}. The service has its copy, and Rialto keeps trying.",
                    sentence=error.sentence.rstrip("."),
                ),
            )
            return
        is_new = self._errors[job_id] < SAYS_WHY_AFTER
        if is_new or job.state != "running" or isinstance(error, ConnectionFailed | TimedOut):
            return
        note = tr("No status yet: {what}. Rialto keeps checking.", what=describe(error, subject="").what.lower())
        if job.note != note:
            await self._job_store.record(job_id, note=note)


def _nothing() -> None:
    """Stands in until the presenter listens."""
