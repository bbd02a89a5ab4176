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
from app.ui.video.along import Along
from app.ui.video.presenter_media import problems_of
from tests.ui.video.desk import PICTURE_MODEL, Controls, open_desk
from tests.ui.video.room import NO_DEVICES, open_room

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
    async with open_room(tmp_home, theme, controls) as room:
        form, desk = room.page.form, room.desk.presenter.form
        await room.desk.until(lambda: desk.model(PICTURE_MODEL) is not None)
        desk.set(kind="image", model=PICTURE_MODEL)
        form.prompt.setPlainText("a boat")
        form.start.chosen.emit(str(page))
        await room.desk.until(lambda: form.start.problem.isVisible())
        assert form.start.problem.text() == "page.png cannot be used: it has to be PNG, JPEG or WebP."
        form.start.chosen.emit(picture(tmp_path / "start.png"))
        await room.desk.until(lambda: form.queue.isEnabled())
        assert not form.start.problem.isVisible()
        form.sound.chosen.emit(long)
        await room.desk.until(lambda: form.sound.problem.isVisible())
        assert form.sound.problem.text() == "Up to 30 s; long.wav lasts 31.0 s."
        assert not form.queue.isEnabled()
        form.sound.chosen.emit("")
        form.along.lists["sounds"].take([long])
        await room.desk.until(lambda: "Up to 30 s" in form.along._problems["sounds"].text())
        assert not form.queue.isEnabled() and not room.desk.presenter.queue()
        assert await controls.calls("/video/queue") == []


async def test_a_file_is_looked_at_before_it_can_be_ordered_also_when_it_is_chosen_by_a_restart(
    tmp_home: Path, theme: Theme, controls: Controls, tmp_path: Path
) -> None:
    start = picture(tmp_path / "start.png")
    async with open_room(tmp_home, theme, controls) as room:
        desk = room.desk.presenter.form
        await room.desk.until(lambda: desk.model(PICTURE_MODEL) is not None)
        desk.set(kind="image", model=PICTURE_MODEL, start=start, prompt="a boat")
        assert not desk.files_are_known and not room.page.form.queue.isEnabled()
        await room.desk.until(room.page.form.queue.isEnabled)
    Path(start).unlink()
    async with open_room(tmp_home, theme, controls) as room:
        await room.desk.until(lambda: room.page.form.start.problem.isVisible())
        assert "start.png cannot be read" in room.page.form.start.problem.text()
        assert not room.page.form.queue.isEnabled()


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
    async with open_desk(tmp_home, controls) as desk:
        job = await desk.done((await desk.order()).id)
        film = desk.presenter.book.film(job)
        asked: list[float | None] = []
        quote = desk.service.video.quote

        async def watched(request: VideoRequest, *, reference_films_s: float | None = None) -> object:
            asked.append(reference_films_s)
            return await quote(request, reference_films_s=reference_films_s)

        monkeypatch.setattr(desk.service.video, "quote", watched)
        await desk.fill(
            model=PICTURE_MODEL, kind="image", start=picture(tmp_path / "a.png"), along=Along(films=(str(film),) * 2)
        )
        await desk.until(lambda: desk.presenter.form.files_are_known)
        book, now = desk.presenter.book, desk.presenter.book.now
        add = book.add

        async def an_hour_later(**values: object) -> object:
            added = await add(**values)  # type: ignore[arg-type]  # handed on as they are
            monkeypatch.setattr(book, "now", lambda: now() + timedelta(hours=1))
            return added

        monkeypatch.setattr(book, "add", an_hour_later)
        asked.clear()
        assert desk.presenter.queue()
        await desk.until(lambda: desk.job.id != job.id and desk.job.state == "running")
        assert asked == [pytest.approx(2 * job.duration_s)]
