"""What a person does with one job: cancel, send, fetch, clean up, reorder, throw away and bring back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from app.core.trash import move_rows, moved_text
from app.core.undo import UndoCommand
from app.storage.errors import StorageError
from app.storage.video_jobs import VideoJob
from app.translation import tr
from app.ui.video.session.job_rows import consent_of, title_of

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.ui.video.presenter import VideoPresenter


class JobActions:
    """Each deed is a task of its own; asking first, where that is needed, is the page's."""

    def __init__(self, presenter: VideoPresenter, tasks: TaskScope, undo_stack: UndoStack) -> None:
        self._presenter = presenter
        self._tasks = tasks
        self._undo_stack = undo_stack
        self._deeds: dict[str, Callable[[VideoJob], Any]] = {
            "cancel": self._cancel,
            "send": self._send_held,
            "agree": self._agree,
            "fetch": self._fetch_again,
            "clean": self._clean,
            "up": lambda job: self._move(job, 1),
            "down": lambda job: self._move(job, -1),
            "restore": self._restore,
            "delete": self._delete,
        }

    def do(self, action: str, job_id: str) -> None:
        """Carry out one of the actions of `Detail`."""
        if action == "trash":
            self.move_to_trash((job_id,))
        job = self._presenter.job_store.get(job_id)
        if job is not None and action in self._deeds:
            self._tasks.start_unless_running(f"video {action} {job.id}", self._do, self._deeds[action], job)

    async def _do(self, action: Callable[[VideoJob], Any], job: VideoJob) -> None:
        try:
            await action(job)
        except StorageError as error:
            self._presenter.notice.emit(error.sentence)

    async def _cancel(self, job: VideoJob) -> None:
        job_store = self._presenter.job_store
        current = job_store.get(job.id)
        if current is None or current.state != "waiting" or job.id == self._presenter.sending.leaving:
            self._presenter.notice.emit(tr("It was already sent and can no longer be canceled."))
            return
        await job_store.change(job.id, state="cancelled", held=False, note="", ended_at=job_store.now())

    async def _send_held(self, job: VideoJob) -> None:
        """The person has seen the price and the reason."""
        await self._presenter.job_store.change(job.id, held=False, note="", form={**job.form, "agreed": True})
        self._presenter.sending.is_offline = False
        self._presenter.sending.wake()

    async def _agree(self, job: VideoJob) -> None:
        """The person has read what the service asks, and said yes to it for this one job."""
        asked, job_store = consent_of(job), self._presenter.job_store
        if asked is not None and job.state == "waiting":
            form = {**job.form, "consents": asked.agreed(), "consented_at": job_store.now().isoformat()}
            await job_store.change(job.id, held=False, note="", form=form)
            self._presenter.sending.wake()

    async def _fetch_again(self, job: VideoJob) -> None:
        if job.held:
            await self._presenter.job_store.change(job.id, held=False, bad_films=0, note="")
        self._presenter.poll_scheduler.soon()

    async def _clean(self, job: VideoJob) -> None:
        if await self._presenter.job_poller.clean(job.id):
            self._presenter.notice.emit(tr("The service deleted its copy. Yours was not deleted."))
        else:
            self._presenter.notice.emit(tr("The service still has its copy."))

    async def _move(self, job: VideoJob, by: int) -> None:
        """Let a waiting job be sent earlier (1: further down the list) or later (-1)."""
        waiting = [
            each for each in self._presenter.job_store.jobs() if each.state == "waiting"
        ]  # the last to be sent first
        ids = [each.id for each in waiting]
        if job.id not in ids:
            return
        place = ids.index(job.id) + by
        if 0 <= place < len(waiting):
            await self._presenter.job_store.swap(job, waiting[place])

    # The trash

    def move_to_trash(self, job_ids: Iterable[str]) -> None:
        """Move jobs to the trash; those under way stay."""
        found = [job for job_id in job_ids if (job := self._presenter.job_store.get(job_id)) is not None]
        jobs = tuple(job for job in found if not job.is_open and job.trashed_at is None)
        if jobs:
            self._tasks.start_unless_running(f"video trash {jobs[0].id}", self._move_to_trash, jobs)

    async def _move_to_trash(self, jobs: tuple[VideoJob, ...]) -> None:
        job_store = self._presenter.job_store

        async def move(job: VideoJob) -> None:
            self._select_next_to(job)
            await job_store.change(job.id, trashed_at=job_store.now())

        moved, refusal = await move_rows(jobs, move)
        if moved:
            text = moved_text([title_of(job) for job in moved], "videos")
            self._undo_stack.push(UndoCommand("video", text, self._bring_back, (job.id for job in moved)))
        if refusal is not None:
            self._presenter.notice.emit(refusal.sentence)

    async def _restore(self, job: VideoJob) -> None:
        self._select_next_to(job)
        await self._presenter.job_store.change(job.id, trashed_at=None)
        self._undo_stack.forget("video", (job.id,))

    async def _delete(self, job: VideoJob) -> None:
        if job.trashed_at is not None:
            self._undo_stack.forget("video", (job.id,))
            self._select_next_to(job)  # the player lets go of the video first
            await self._presenter.job_store.delete(job.id)

    def _select_next_to(self, job: VideoJob) -> None:
        """What leaves the list is no longer looked at, but what stands below it, or above."""
        presenter = self._presenter
        if presenter.selected != job.id:
            return
        ids = presenter.shown_ids()
        place = ids.index(job.id) if job.id in ids else 0
        others = [each for each in ids if each != job.id]
        presenter.select(others[min(place, len(others) - 1)] if others else "")

    def empty_trash(self) -> None:
        """Delete what is in the trash for good."""
        self._tasks.start_unless_running("video empty trash", self._empty_trash)

    async def _empty_trash(self) -> None:
        trash = self._presenter.job_store.trash()
        if any(job.id == self._presenter.selected for job in trash):
            self._presenter.select("")
        for job in trash:
            await self._do(self._delete, job)

    async def _bring_back(self, job_ids: tuple[str, ...]) -> None:
        for job_id in job_ids:
            job = self._presenter.job_store.get(job_id)
            if job is not None and job.trashed_at is not None:
                await self._restore(job)
                self._presenter.select(job.id)
