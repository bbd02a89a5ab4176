"""Files that go along are looked at as they are chosen: what the service would refuse is said at its field."""

from __future__ import annotations

import wave
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from app.service.video import VideoRequest
from app.ui.kit.theme import Theme
from app.ui.video.reference_media import ReferenceMedia
from app.ui.video.session.media_files import problems_of
from tests.kit.sandbox import Controls
from tests.kit.video import IMAGE_MODEL, NO_DEVICES, open_video, open_video_presenter
from tests.kit.waiting import until

pytestmark = NO_DEVICES


def sound(path: Path, seconds: float) -> str:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(1000)
        file.writeframes(bytes([128]) * round(seconds * 1000))
    return str(path)


def picture(path: Path) -> str:
    image = QImage(64, 36, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    assert image.save(str(path))
    return str(path)


async def test_a_file_that_the_service_would_refuse_is_refused_at_its_field_with_the_limit(
    tmp_home: Path, theme: Theme, controls: Controls, tmp_path: Path
) -> None:
    page = tmp_path / "page.png"
    page.write_text("<html>not a picture</html>")
    long = sound(tmp_path / "long.wav", 31)
    async with open_video(tmp_home, theme, controls) as video:
        form, draft = video.page.form, video.presenter.form
        await until(lambda: draft.model(IMAGE_MODEL) is not None)
        draft.set(kind="image", model=IMAGE_MODEL)
        form.prompt.setPlainText("a boat")
        form.start.chosen.emit(str(page))
        await until(lambda: form.start.problem.isVisible())
        assert form.start.problem.text() == "page.png cannot be used. It must be PNG, JPEG or WebP."
        form.start.chosen.emit(picture(tmp_path / "start.png"))
        await until(lambda: form.queue.isEnabled())
        assert not form.start.problem.isVisible()
        form.sound.chosen.emit(long)
        await until(lambda: form.sound.problem.isVisible())
        assert form.sound.problem.text() == "Up to 30 s. long.wav lasts 31.0 s."
        assert not form.queue.isEnabled()
        form.sound.chosen.emit("")
        form.along.lists["sounds"].take([long])
        await until(lambda: "Up to 30 s" in form.along._problems["sounds"].text())
        assert not form.queue.isEnabled() and not video.presenter.queue()
        assert await controls.calls("/video/queue") == []


async def test_a_file_is_looked_at_before_it_can_be_ordered_also_when_it_is_chosen_by_a_restart(
    tmp_home: Path, theme: Theme, controls: Controls, tmp_path: Path
) -> None:
    start = picture(tmp_path / "start.png")
    async with open_video(tmp_home, theme, controls) as video:
        draft = video.presenter.form
        await until(lambda: draft.model(IMAGE_MODEL) is not None)
        draft.set(kind="image", model=IMAGE_MODEL, start=start, prompt="a boat")
        assert not draft.files_are_known and not video.queue_button.isEnabled()
        await until(video.queue_button.isEnabled)
    Path(start).unlink()
    async with open_video(tmp_home, theme, controls) as video:
        await until(lambda: video.start_problem.isVisible())
        assert "start.png cannot be read" in video.start_problem.text()
        assert not video.queue_button.isEnabled()


def test_every_file_is_looked_at_wherever_it_stands(tmp_path: Path) -> None:
    good, gone = picture(tmp_path / "good.png"), str(tmp_path / "gone.png")
    media = {
        "image_url": good,
        "reference_image_urls": [good, gone],
        "elements": [{"frontal_image_url": good, "video_url": good}],
        "keyframes": [{"image_url": gone, "frame_index": 3}],
    }
    wrong = problems_of(media)
    assert sorted(wrong) == ["elements", "keyframes", "references"]
    assert "MP4, MOV or WebM" in wrong["elements"]


async def test_an_old_price_is_asked_for_again_with_the_length_of_the_reference_videos(
    tmp_home: Path, controls: Controls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.done((await video.order()).id)
        film = video.film_of(job)
        asked: list[float | None] = []
        quote = video.service.video.quote

        async def watched(request: VideoRequest, *, reference_videos_s: float | None = None) -> object:
            asked.append(reference_videos_s)
            return await quote(request, reference_videos_s=reference_videos_s)

        monkeypatch.setattr(video.service.video, "quote", watched)
        await video.fill(
            model=IMAGE_MODEL,
            kind="image",
            start=picture(tmp_path / "a.png"),
            along=ReferenceMedia(films=(str(film),) * 2),
        )
        await until(lambda: video.presenter.form.files_are_known)
        book, now = video.presenter.job_store, video.presenter.job_store.now
        add = book.add

        async def an_hour_later(**values: object) -> object:
            added = await add(**values)  # type: ignore[arg-type]  # handed on as they are
            monkeypatch.setattr(book, "now", lambda: now() + timedelta(hours=1))
            return added

        monkeypatch.setattr(book, "add", an_hour_later)
        asked.clear()
        assert video.presenter.queue()
        await until(lambda: video.job.id != job.id and video.job.state == "running")
        assert asked == [pytest.approx(2 * job.duration_s)]
