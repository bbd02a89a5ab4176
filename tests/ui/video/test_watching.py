"""What a person sees of a job while it is made, and what the window tells the scheduler and the system."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QImage, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.credentials.accounts import Account
from app.service.video import VideoRequest
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.video.state import JobRow
from tests.kit.sandbox import Controls
from tests.kit.video import IMAGE_MODEL, NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES


def row_of(video: VideoHarness, job_id: str) -> JobRow:
    row = video.row_of(job_id)
    assert isinstance(row, JobRow)
    return row


async def test_a_row_tells_how_long_it_has_been_how_long_it_usually_is_and_what_is_left(
    tmp_home: Path, theme: Theme, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await until(lambda: video.one(job_id).average_s is not None)
        queued_at, book = video.one(job_id).queued_at, video.presenter.job_store
        assert queued_at is not None

        def after(seconds: float) -> JobRow:
            monkeypatch.setattr(book, "now", lambda: queued_at + timedelta(seconds=seconds))
            for _ in range(5):  # what has long to go is renewed every fifth second
                video.page.presenter.renew(video.page.main.visible_jobs())
            return row_of(video, job_id)

        assert (after(2).right, after(2).share) == ("about 6 s left", 0.25)
        assert after(9).right == "finishing", "what takes its usual time is not late"
        late = after(20)
        assert "20 s" in late.right and "usually 8 s" in late.right
        assert late.share == 0.98, "never said to be done before it is"


async def test_a_video_that_comes_in_says_that_it_is_downloaded(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await until(lambda: row_of(video, job_id).badge == "Rendering")
        video.presenter.job_poller.received[job_id] = (65_500, 107_000)
        video.presenter.select(job_id)
        row = row_of(video, job_id)
        assert (row.badge, row.right) == ("Downloading", "65.5 KB of 107 KB")


async def test_no_second_is_counted_while_no_job_is_open_and_minutes_go_on(
    tmp_home: Path, theme: Theme, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        minute, second = sorted(video.page.main.findChildren(Ticker), key=lambda each: -each.timer.interval())
        assert minute.timer.isActive() and not second.timer.isActive()
        job_id = await video.queue()
        await until(second.timer.isActive)
        await video.done(job_id)
        await until(lambda: not second.timer.isActive())
        ended_at, book = video.one(job_id).ended_at, video.presenter.job_store
        assert ended_at is not None
        monkeypatch.setattr(book, "now", lambda: ended_at + timedelta(minutes=7))
        minute.timer.timeout.emit()
        facts = dict(video.page.detail.facts)
        assert facts["Created"] == "7 min ago"


async def test_the_scheduler_asks_less_while_the_window_is_hidden(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        window, poll_scheduler = video.window.windowHandle(), video.presenter.poll_scheduler
        window.visibilityChanged.emit(QWindow.Visibility.Minimized)
        assert poll_scheduler.hidden
        window.visibilityChanged.emit(QWindow.Visibility.Windowed)
        assert not poll_scheduler.hidden


async def test_the_first_and_the_last_image_are_sent(
    tmp_home: Path, theme: Theme, controls: Controls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[dict[str, Any]] = []
    to_body = VideoRequest.to_body

    def watched(self: VideoRequest) -> dict[str, Any]:
        bodies.append(to_body(self))
        return bodies[-1]

    monkeypatch.setattr(VideoRequest, "to_body", watched)
    image = QImage(64, 36, QImage.Format.Format_RGB32)
    image.fill(0xFF336699)
    assert image.save(str(tmp_path / "a.png"), "PNG")  # type: ignore[call-overload]  # a str is what Qt takes
    async with open_video(tmp_home, theme, controls) as video:
        form, draft = video.page.form, video.presenter.form
        await until(lambda: draft.model(IMAGE_MODEL) is not None)
        form.kind.chosen.emit("image")
        form.model.setCurrentIndex(form.model.findData(IMAGE_MODEL))
        form.model.activated.emit(form.model.currentIndex())
        QTest.keyClicks(form.prompt, "from dawn to dusk")
        for slot in (form.start, form.end):
            assert slot.isVisible()
            slot.chosen.emit(str(tmp_path / "a.png"))  # the file dialog's answer
        await until(lambda: form.queue.isEnabled() and draft.exact)
        video.press(form.queue)
        await until(lambda: video.jobs and video.job.state == "running")
        assert bodies[-1]["image_url"] == bodies[-1]["end_image_url"]
        assert bodies[-1]["end_image_url"].startswith("data:image/png;base64,")


async def test_a_video_that_is_ready_calls_for_attention_and_its_folder_is_opened(
    tmp_home: Path, theme: Theme, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    opened: list[QUrl] = []
    monkeypatch.setattr(QApplication, "alert", lambda window, *_: called.append(window))
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: bool(opened.append(url)))
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await video.done(job_id)
        await until(lambda: called == [video.window])
        folder = video.buttons["folder"]
        await until(folder.isVisible)
        video.press(folder)
        video.press(video.folder_button)
        assert [url.toLocalFile() for url in opened] == [str(video.folder)] * 2


async def test_videos_of_another_account_say_whose_they_are(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await video.done(job_id)
        assert "Sandbox" not in row_of(video, job_id).second
        video.current_account.names = {"box": "Sandbox"}.__getitem__
        video.current_account.use(Account("other", "Main account", "https://api.example.com/v1"), None)
        assert row_of(video, job_id).second.endswith(" · Sandbox")
