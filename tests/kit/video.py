"""A video tab with or without its window: real storage, a real Sandbox with its clock turned, and quick waits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QLabel, QPushButton, QWidget

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.service_cache import ServiceCache
from app.storage.video_jobs import VideoJob
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.video.page import VideoPage
from app.ui.video.presenter import VideoPresenter
from tests.kit.sandbox import Controls
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until
from tests.kit.windows import deleted_last, styled_at_the_end

PACE = 0.02  # of a second for a second of the scheduler
Kind = TypeVar("Kind", bound="VideoPresenterHarness")
PROMPT = "a boat at sunset"
TEXT_MODEL = "rialto-reel-text-to-video"
IMAGE_MODEL = "rialto-reel-image-to-video"
PRIVATE_MODEL = "rialto-reel-private"


@dataclass
class VideoPresenterHarness:
    """Everything under one video tab."""

    presenter: VideoPresenter
    tasks: TaskScope
    current_account: CurrentAccount
    service: Service
    database: Database
    controls: Controls
    exchanges: list[Exchange]
    undo_stack: UndoStack
    notices: list[str] = field(default_factory=list)

    @property
    def jobs(self) -> tuple[VideoJob, ...]:
        return self.presenter.job_store.jobs()

    @property
    def job(self) -> VideoJob:
        """The last one that was ordered."""
        return self.jobs[0]

    def is_newest(self, prompt: str) -> bool:
        return self.job.prompt == prompt

    def film_of(self, job: VideoJob) -> Path:
        return self.presenter.job_store.film(job)

    @property
    def folder(self) -> Path:
        return self.presenter.job_store.folder

    async def fill(self, prompt: str = PROMPT, model: str = TEXT_MODEL, **values: object) -> None:
        """Fill in the form and wait for its price."""
        form = self.presenter.form
        await until(lambda: form.model(model) is not None)
        form.set(model=model, **{"duration": "3s", **values, "prompt": prompt})
        await until(lambda: form.exact)

    async def order(self, prompt: str = PROMPT, model: str = TEXT_MODEL, **values: object) -> VideoJob:
        """Order a video and wait until the service has it, or until it is clear that it has not."""
        before = {job.id for job in self.jobs}
        await self.fill(prompt, model, **values)
        assert self.presenter.queue()
        await until(lambda: {job.id for job in self.jobs} - before)
        job_id = next(iter({job.id for job in self.jobs} - before))
        await until(lambda: self.state(job_id) not in ("waiting", "sending") or self.one(job_id).held)
        return self.one(job_id)

    def one(self, job_id: str) -> VideoJob:
        job = self.presenter.job_store.get(job_id)
        assert job is not None
        return job

    def state(self, job_id: str) -> str:
        return self.one(job_id).state

    async def reaches(self, job_id: str, *states: str) -> VideoJob:
        await until(lambda: self.state(job_id) in states)
        return self.one(job_id)

    async def done(self, job_id: str) -> VideoJob:
        """Let the video become ready and be fetched."""
        await until(lambda: self.state(job_id) not in ("waiting", "sending"))  # it begins at the Sandbox's time
        await self.controls.turn_clock(10)
        return await self.reaches(job_id, "saved", "cleaned")


@asynccontextmanager
async def open_video_presenter(
    home: Path,
    controls: Controls,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    pace: float = PACE,
    kind: type[Kind] = VideoPresenterHarness,  # type: ignore[assignment]  # until told otherwise
) -> AsyncIterator[Kind]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed."""
    tasks = CheckedTasks()
    current_account = CurrentAccount()
    exchanges: list[Exchange] = []

    async def read_key() -> str:
        return controls.api_key

    service = open_service(controls.base_url, "service", ApiKeyAuth(read_key), exchanges.append, transport=transport)
    database = await Database.open(home / "rialto.db")
    presenter = VideoPresenter(current_account, tasks, home / "videos", undo_stack := UndoStack(tasks))
    presenter.poll_scheduler.pace = presenter.sending.pace = pace
    presenter.form.quote_after_s = 0.0
    video = kind(presenter, tasks, current_account, service, database, controls, exchanges, undo_stack)
    presenter.notice.connect(video.notices.append)
    presenter.job_notice.connect(lambda sentence, _job_id: video.notices.append(sentence))
    try:
        account = Account(id="box", name="Sandbox", base_url=controls.base_url, kind="sandbox")
        current_account.use(account, service)
        await Intents(database).settle_after_start()
        await presenter.start(database, ServiceCache(database))
        yield video
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
    tasks.check()


NO_DEVICES = pytest.mark.qt_log_ignore("pipewire", "PulseAudio", "QRhi", extend=True)  # no sound, no screen


@dataclass
class VideoHarness(VideoPresenterHarness):
    """A video tab in a window, with hands."""

    toasts: list[tuple[str, ...]] = field(default_factory=list)

    def show(self, theme: Theme) -> QWidget:
        """Put the page into a window and return that."""
        with styled_at_the_end():
            self.page = VideoPage(theme, self.presenter, self.tasks)
            self.page.toast_requested.connect(lambda *words: self.toasts.append(words))
            self.presenter.job_notice.connect(lambda *about: self.toasts.append(about))
            self.window = QWidget()
            row = QHBoxLayout(self.window)
            for pane in (self.page.list_pane(), self.page.canvas(), self.page.inspector()):
                row.addWidget(pane, 2 if pane is self.page.canvas() else 1)
            self.window.resize(1440, 900)
        self.window.show()
        self.window.activateWindow()
        self.page.set_zones(Zones())
        self.page.activated()
        return self.window

    # -- the form -------------------------------------------------------------------------------------------------

    @property
    def prompt_field(self) -> Any:
        return self.page.form.prompt

    @property
    def queue_button(self) -> QPushButton:
        return self.page.form.queue

    @property
    def extra_fold(self) -> Any:
        """The part of the form that unfolds."""
        return self.page.form.more

    @property
    def model_field(self) -> Any:
        return self.page.form.model

    @property
    def extra(self) -> Any:
        """The field for extra JSON."""
        return self.extra_fold.extra

    @property
    def request_pane(self) -> Any:
        return self.page.side.request

    @property
    def start_problem(self) -> QLabel:
        """What is said of the image that a video begins with."""
        return self.page.form.start.problem

    @property
    def references(self) -> Any:
        """The lists of media that go along."""
        return self.page.form.along

    @property
    def prompts_popover(self) -> QWidget:
        return self.page.prompts.popover

    def price_note_text(self) -> str:
        """What stands below the price: what follows from it, or why nothing can be queued."""
        return self.page.form.price_note.text()

    def prompt_text(self) -> str:
        return self.prompt_field.toPlainText()

    # -- the list -------------------------------------------------------------------------------------------------

    @property
    def list_view(self) -> Any:
        return self.page.main.view

    @property
    def search_field(self) -> QWidget:
        return self.page.main.search

    @property
    def empty_trash_button(self) -> QPushButton:
        return self.page.main.empty_trash

    @property
    def folder_button(self) -> QPushButton:
        return self.page.main.folder

    def row_of(self, job_id: str) -> Any:
        return self.list_view.rows.row_of(job_id)

    def shown_ids(self) -> list[str]:
        return self.list_view.rows.shown_keys()

    def show_filter(self, name: str) -> None:
        self.page.main.filter_chosen.emit(name)

    def choose(self, job_id: str) -> None:
        self.page.main.selected.emit(job_id)

    def nothing_text(self) -> str:
        """What stands where no video does."""
        return self.page.main.nothing.title.text()

    def usage_text(self) -> str:
        return self.page.main.usage.text()

    def running_text(self) -> str:
        return self.page.main.running.text()

    def open_menu(self, job_id: str, at: QPoint) -> Any:
        return self.page._open_menu(job_id, at)

    # -- one video ------------------------------------------------------------------------------------------------

    @property
    def detail(self) -> Any:
        return self.page.detail

    @property
    def player(self) -> Any:
        return self.page.side.player

    @property
    def buttons(self) -> Any:
        """What can be done with the video, by name."""
        return self.page.side.buttons

    @property
    def delete_button(self) -> QPushButton:
        """Deletes the service's copy."""
        return self.page.side.delete

    @property
    def more_button(self) -> QPushButton:
        return self.page.side.more

    @property
    def receipt_line(self) -> QWidget:
        return self.page.side.receipt

    @property
    def request_label(self) -> QLabel:
        return self.page.side.request.path

    @property
    def large_window(self) -> Any:
        return self.page._large

    def inspector_texts(self) -> list[str]:
        """Everything that can be read beside the list."""
        return [label.text() for label in self.page.side.findChildren(QLabel) if label.isVisible() and label.text()]

    def inspector_tab(self) -> int:
        return self.page.side.tabs.bar.currentIndex()

    def remote_text(self) -> str:
        """What is said of the service's copy."""
        return self.page.side.remote.text()

    def request_text(self) -> str:
        request = self.page.side.request
        record = request.record
        return f"{record.method} {record.path}\n{request.body.toPlainText()}" if record is not None else ""

    def answer_text(self) -> str:
        request = self.page.side.request
        return "\n".join((request.outcome.text(), *(f"{name}: {value}" for name, value in request.rows)))

    # -- what a person does ---------------------------------------------------------------------------------------

    def press(self, button: QWidget) -> None:
        assert button.isVisible(), button.accessibleName()
        assert button.isEnabled(), button.accessibleName()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def run(self, action_id: str) -> None:
        action = next(each for each in self.page.actions() if each.id == action_id)
        assert action.enabled(), action_id
        action.run()

    async def say_yes(self) -> None:
        """Press the button of the question that is asked."""
        await until(lambda: QApplication.activeModalWidget() or self.window.findChild(QDialog))
        dialog = self.window.findChild(QDialog) or QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        buttons = [button for button in dialog.findChildren(QPushButton) if button.text() not in ("Cancel", "")]
        buttons[-1].click()

    async def done(self, job_id: str) -> VideoJob:
        await self.reaches(job_id, "running")
        return await super().done(job_id)

    async def queue(self, prompt: str = PROMPT) -> str:
        """Type, wait for the price, press the button; return the job's id."""
        await until(lambda: self.presenter.form.model(TEXT_MODEL))
        self.prompt_field.setPlainText("")
        QTest.keyClicks(self.prompt_field, prompt)
        await until(lambda: self.queue_button.isEnabled() and self.presenter.form.exact)
        before = {job.id for job in self.jobs}
        self.press(self.queue_button)
        await until(lambda: {job.id for job in self.jobs} - before)
        return self.job.id


@asynccontextmanager
async def open_video(home: Path, theme: Theme, controls: Controls) -> AsyncIterator[VideoHarness]:
    with deleted_last() as windows:
        async with open_video_presenter(home, controls, kind=VideoHarness) as video:
            windows.append(video.show(theme))
            yield video
            video.player.show_video("")
