"""The presenter of the Video tab: the form, the jobs, and the selected one. QtCore only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import number_format
from app.core.current_account import RateLimitRemaining
from app.core.extra_json import parse_extra_json
from app.core.file_saving import save_file
from app.core.leaving_models import FormModel
from app.core.preset_library import PresetLibrary
from app.core.problems import for_account
from app.storage.errors import NoHistory, StorageError
from app.storage.form_drafts import FormDraftStore
from app.storage.paid_call_intents import Intents
from app.storage.presets import Presets
from app.storage.video_jobs import VideoJob, VideoJobs
from app.translation import tr, tr_n
from app.ui.kit.lists.rows import LazyRows
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.video.model_constraints import OWN_FIELDS, form_from, sent_media, sent_values
from app.ui.video.reference_media import from_media
from app.ui.video.session.job_actions import JobActions
from app.ui.video.session.job_poller import JobPoller
from app.ui.video.session.job_rows import RowWriter, proposed, title_of
from app.ui.video.session.job_store import VideoJobStore, WaitingJobs
from app.ui.video.session.poll_scheduler import PollScheduler
from app.ui.video.session.sender import Sender
from app.ui.video.session.video_form import VideoForm
from app.ui.video.state import Detail, JobRow, Jobs

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.database import Database
    from app.storage.service_cache import ServiceCache
OPENS_WITHIN_S = 10.0  # the history, before an order counts as one without it


class VideoPresenter(QObject):
    """`job_notice` carries a sentence, and the id of the job that it is about."""

    jobs_changed = Signal(object)  # Jobs
    row_changed = Signal(object)  # JobRow
    detail_changed = Signal(object)  # Detail
    busy_changed = Signal()
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    job_notice = Signal(str, str)
    finished = Signal(str)  # the id of a job whose video is here

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope, folder: Path, undo_stack: UndoStack) -> None:
        super().__init__()
        self.current_account = current_account
        self._tasks = tasks
        self.job_store = VideoJobStore(folder)
        self.job_poller = JobPoller(self.job_store, current_account)
        self.sending = Sender(self.job_store, current_account, tasks)
        self.poll_scheduler = PollScheduler(self.job_store, self.job_poller, self.sending, tasks)
        self.form = VideoForm(current_account, tasks, undo_stack)
        self.job_actions = JobActions(self, tasks, undo_stack)
        self.writer = RowWriter(
            self.job_store,
            self.job_poller.received,
            lambda: self.poll_scheduler.rests_s,
            lambda: self.sending.waits_s,
            current_account.mark_of,
        )
        self.poll_scheduler.on_rest = self.sending.on_wait = self._publish_open
        self.prompts = PresetLibrary(
            "video", lambda work, *args: tasks.replace(f"video {work.__name__}", work, *args), undo_stack
        )
        self.which = "all"
        self.search = ""
        self.selected = ""
        self._opened = asyncio.Event()
        self._looked_at: dict[str, str] = {}  # filter → the job that was looked at when it was left
        self._seconds = 0
        self.job_store.changed.connect(self._publish_jobs)
        self.job_store.job_changed.connect(self._publish_job)
        self.job_store.job_notice.connect(self._publish_notice)
        self.job_poller.progressed.connect(self._publish_job)
        current_account.account_changed.connect(self._account_changed)
        form = self.form
        current_account.leaving.add_user(
            FormModel(tr("Video"), lambda: form.form.model, lambda model_id: form.set(model=model_id))
        )
        current_account.leaving.add_user(WaitingJobs(self.job_store, form.name_of))
        current_account.reach_changed.connect(self._reach_changed)

    async def start(self, database: Database, service_cache: ServiceCache | None) -> None:
        """Read what is on the disk and go on with it. Raises `StorageError`."""
        store = VideoJobs(database)
        self.sending.intents = Intents(database)
        self.form.service_cache = service_cache
        await self.form.start(FormDraftStore(database, "video"))
        await self.prompts.start(Presets(database))
        await self.job_store.open(store)
        await self.sending.settle()
        self.selected = self.selected or next((job.id for job in self.job_store.jobs()), "")
        self.jobs_changed.emit(self.jobs())
        await asyncio.sleep(0)  # the chosen one is shown in a turn of its own
        self.detail_changed.emit(self.detail())
        self.busy_changed.emit()
        self._opened.set()
        self._go_on()

    async def aclose(self) -> None:
        await self.form.save()
        await self.job_store.write_waiting()

    def unsaved_titles(self) -> tuple[str, ...]:
        """The jobs that would be lost with the program because the disk refused them."""
        return tuple(map(title_of, self.job_store.unsaved_orders()))

    def _go_on(self) -> None:
        """Models, waiting jobs, unfinished ones, and clean-ups that are due: for the account in use."""
        self.form.refresh_models()
        if self.sending.intents is None or self.current_account.service is None:
            return
        self.sending.is_offline = False
        self.sending.wake()
        self.poll_scheduler.soon()
        due = [job.id for job in self.job_store.jobs() if job.has_video and (job.download_url or _clean_is_due(job))]
        if due:
            self._tasks.replace("video finish", self._finish, due)

    async def _finish(self, ids: list[str]) -> None:
        for job_id in ids:
            await self.job_poller.finish(job_id)

    def _account_changed(self) -> None:
        self.form.forget_models()
        self.poll_scheduler.forget_rest()
        self.sending.forget_wait()
        self._go_on()
        self._publish_jobs()

    def _reach_changed(self) -> None:
        if not self.current_account.reach and self.sending.intents is not None:
            self.poll_scheduler.soon()
            self.sending.wake()

    # Ordering

    def queue(self) -> bool:
        """Order what is filled in, at the price that was shown. False when something is missing."""
        view = self.form.view()
        if view.refusal or view.is_looking or not self.form.exact or self.current_account.account is None:
            return False
        return self._tasks.start_unless_running("video order", self._order)

    async def _order(self) -> None:
        form, takes, account, price = self.form.form, self.form.takes, self.current_account.account, self.form.price
        assert takes is not None and account is not None
        try:
            async with asyncio.timeout(OPENS_WITHIN_S):
                await self._opened.wait()  # a quick hand is there before the disk was read
        except TimeoutError as error:
            raise NoHistory from error
        values = {name: value for name, value in sent_values(form, takes).items() if name != "prompt"}
        values["extra"] = parse_extra_json(form.extra_json, OWN_FIELDS)[0]
        try:
            job = await self.job_store.add(
                prompt=form.prompt.strip(),
                form={**values, "filled": form.to_json()},
                media=sent_media(form, takes),
                account_id=account.id,
                model=form.model,
                model_name=self.form.name_of(form.model),
                quote_usd=price,
                clean_after=form.clean_after,
                charged=not self.current_account.is_sandbox,
            )
        except StorageError as error:
            self.notice.emit(tr("{sentence} Nothing was sent.", sentence=error.sentence))
            return
        except OSError as error:
            self.notice.emit(
                tr("A file for this job cannot be read: {strerror}. Nothing was sent.", strerror=error.strerror)
            )
            return
        self.select(job.id)
        self.sending.wake()

    def use_again(self, job_id: str, *, as_proposed: bool = False) -> None:
        """Fill the form with what a job was made from, to be changed. Costs nothing.

        `as_proposed`: with the words and the model that the service proposed when it refused the job.
        """
        job = self.job_store.get(job_id)
        filled = job.form.get("filled") if job is not None else None
        if job is None:
            return
        form = form_from(filled) if isinstance(filled, dict) else replace(self.form.form, prompt=job.prompt)
        media = job.form.get("media") or {}
        names = {"image_url": "start", "end_image_url": "end", "video_url": "film", "audio_url": "sound"}
        kept: dict[str, Any] = {
            names[name]: str(self.job_store.folder / file) for name, file in media.items() if name in names
        }
        kept["along"] = from_media(media, lambda file: str(self.job_store.folder / file))
        if as_proposed:
            words, model = proposed(job)
            known = model if self.form.model(model) is not None else ""
            kept |= {"prompt": words or form.prompt, "model": known or form.model}
        self.form.use(replace(form, **kept), tr("Settings reused"))

    def again(self, job_id: str) -> None:
        """Order the same once more, at today's price, which the page has asked for a yes to."""
        self.use_again(job_id)
        self._tasks.replace("video again", self._order_when_priced)

    async def _order_when_priced(self) -> None:
        for _ in range(200):
            if self.form.exact and self.form.files_are_known:
                self.queue()
                return
            await asyncio.sleep(0.05)

    # What is done with a job

    def do(self, action: str, job_id: str = "") -> None:
        """Carry out one of the actions of `Detail`, on the job that is looked at when none is named."""
        self.job_actions.do(action, job_id or self.selected)

    def save_copy(self, video: Path, target: Path) -> None:
        """Copy a video to where the person wants it."""
        self._tasks.start_unless_running(f"video save {target}", self._save_copy, video, target)

    async def _save_copy(self, video: Path, target: Path) -> None:
        self.notice.emit(await save_file(target, partial(copyfile, video)))

    def empty_trash(self) -> None:
        """Delete what is in the trash for good; the page has asked first."""
        self.job_actions.empty_trash()

    # What is shown

    def show(self, which: str) -> None:
        """Show all jobs, those that run, those that are ready, or the trash; what is looked at stands among them."""
        self._looked_at[self.which] = self.selected
        self.which = which
        ids = self.shown_ids()
        if self.selected not in ids:
            before = self._looked_at.get(which, "")
            self.selected = before if before in ids else next(iter(ids), "")
        self._publish_jobs()

    def find(self, text: str) -> None:
        self.search = text
        self._publish_jobs()

    def select(self, job_id: str) -> None:
        self.selected = job_id
        self._publish_jobs()

    def set_window_hidden(self, hidden: bool) -> None:
        self.poll_scheduler.set_hidden(hidden)

    def refresh_times(self) -> None:
        """Say anew how long ago everything was."""
        self._publish_jobs()

    def renew(self, ids: Sequence[str]) -> None:
        """Tell the rows that are to be seen, and what is open, as they are now: their figures count.

        Called once a second; what has long to go, and is told in tens of seconds, has its turn every fifth time.
        """
        if self.job_store.store is None:
            return  # looked at before the history is open
        self._seconds += 1
        now, is_fifth = self.job_store.now(), self._seconds % 5 == 0
        for job_id in ids:
            job = self.job_store.get(job_id)
            counts = job is not None and job.state in ("sending", "running")
            if job is not None and counts and (is_fifth or self.writer.is_close(job, now)):
                self.row_changed.emit(self.writer.row(job, now))
        job = self.job_store.get(self.selected)
        if job is not None and job.state in ("sending", "running", "ready") and not job.held:
            self.detail_changed.emit(self.detail())

    def shown_ids(self) -> list[str]:
        """The jobs of the list, as filtered and searched."""
        return [job.id for job in self._found(self._kept())]

    def _kept(self) -> tuple[VideoJob, ...]:
        """All jobs of the list, or of the trash."""
        return self.job_store.trash() if self.which == "trash" else self.job_store.jobs()

    def _found(self, jobs: Sequence[VideoJob]) -> list[VideoJob]:
        """Those that pass the filter and hold what is searched for."""
        if self.which in ("open", "ready"):
            jobs = [job for job in jobs if (job.is_open if self.which == "open" else job.has_video)]
        words = SearchTerms(self.search)
        texts = [
            "\n".join((job.prompt, job.model_name, job.model, job.queue_id, job.request_id)).casefold()
            for job in (jobs if words else ())
        ]
        return words.among(jobs, texts) if words else list(jobs)

    def jobs(self) -> Jobs:
        now = self.job_store.now() if self.job_store.store is not None else None
        shown = self._kept()
        videos = [job for job in self.job_store.jobs() if job.has_video]
        size, trash = number_format.size(self.job_store.size_bytes()), self.job_store.size_bytes(trash=True)
        footer = f"{tr_n('{n} video', '{n} videos', len(videos))}, {size}" if videos else tr("No videos")
        if trash:
            footer = f"{footer} · {tr('trash {trash}', trash=number_format.size(trash))}"
        running = len(self.open_jobs())
        return Jobs(
            rows=LazyRows(self._found(shown), lambda job: self.writer.row(job, now)) if now else (),
            which=self.which,
            search=self.search,
            running=tr("{running} running", running=running) if running else "",
            footer=footer if self.job_store.is_read else "",
            total=len(shown),
            selected=self.selected,
            loaded=self.job_store.is_read,
        )

    def detail(self) -> Detail:
        job = self.job_store.get(self.selected)
        if job is None:
            return Detail()
        name = self.current_account.mark_of(job.account_id) if job.is_open else ""
        detail = self.writer.detail(job, self.job_store.now(), self.sending.exchanges.get(job.id), name)
        if detail.problem is None:
            return detail
        return replace(detail, problem=for_account(detail.problem, self.current_account.account))

    def open_jobs(self) -> tuple[VideoJob, ...]:
        return tuple(job for job in self.job_store.jobs() if job.is_open and not job.held)

    def headroom(self) -> RateLimitRemaining | None:
        """How many videos may still be queued this minute, as the last answer told."""
        newest = next(iter(reversed(self.sending.exchanges.values())), None)
        return RateLimitRemaining.told(newest.info if newest is not None else None, tr("Video queue"))

    def _publish_jobs(self) -> None:
        self.jobs_changed.emit(self.jobs())
        self.detail_changed.emit(self.detail())
        self.busy_changed.emit()

    def _publish_job(self, job_id: str) -> None:
        job = self.job_store.get(job_id)
        if job is None:
            return
        row: JobRow = self.writer.row(job, self.job_store.now())
        self.row_changed.emit(row)
        if job_id == self.selected:
            self.detail_changed.emit(self.detail())
        if not job.is_open or job.state in ("sending", "waiting"):
            self._publish_jobs()
            self.sending.wake()

    def _publish_open(self) -> None:
        """What the service can be asked has changed: say so at every job that waits for it."""
        now = self.job_store.now()
        for job in self.open_jobs():
            self.row_changed.emit(self.writer.row(job, now))
        self.detail_changed.emit(self.detail())

    def _publish_notice(self, job_id: str, what: str) -> None:
        job = self.job_store.get(job_id)
        if job is None:
            return
        title = title_of(job)
        sentences = {
            "ready": tr("“{title}” is ready", title=title),
            "failed": tr("“{title}” failed", title=title),
            "unknown": tr("It is not clear whether “{title}” was queued", title=title),
            "bad": tr("“{title}” could not be downloaded", title=title),
            "disk": tr("“{title}” could not be saved here", title=title),
            "consent": tr("The service asks for your consent for “{title}”", title=title),
        }
        self.job_notice.emit(sentences[what], job_id)
        if what == "ready":
            self.finished.emit(job_id)


def _clean_is_due(job: VideoJob) -> bool:
    return job.clean_after and job.remote_copy
