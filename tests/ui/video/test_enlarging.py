"""Videos that are made larger, and videos that are made from references: what the form asks, sends and keeps."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QRadioButton

from app.service.models import Model
from app.service.video import VideoRequest
from app.service.wire import read_model
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.video.model_constraints import Form, ModelConstraints, constraints_of, refusal_of, sent_media, sent_values
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES
ENLARGER = "rialto-reel-upscale"
OMNI = "rialto-reel-omni-reference"


def model(model_id: str, **constraints: object) -> Model:
    body = {"id": model_id, "object": "model", "type": "video", "model_spec": {"constraints": constraints}}
    return read_model(Model, body)


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is sent to be queued, as it goes over the wire."""
    sent: list[dict[str, Any]] = []
    to_body = VideoRequest.to_body

    def watched(self: VideoRequest) -> dict[str, Any]:
        sent.append(to_body(self))
        return sent[-1]

    monkeypatch.setattr(VideoRequest, "to_body", watched)
    return sent


async def choose(video: VideoHarness, model_id: str, kind: str) -> None:
    """Choose a kind and a model as the fields tell it."""
    form = video.page.form
    await until(lambda: video.presenter.form.model(model_id) is not None)
    form.kind.chosen.emit(kind)
    form.model.setCurrentIndex(form.model.findData(model_id))
    form.model.activated.emit(form.model.currentIndex())
    await until(lambda: video.presenter.form.form.model == model_id)


async def test_a_video_is_made_larger_for_the_price_of_its_length_and_size(
    tmp_home: Path, theme: Theme, controls: Controls, bodies: list[dict[str, Any]]
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        first = await video.done(await video.queue())
        form, draft = video.page.form, video.presenter.form
        await choose(video, ENLARGER, "video")
        video.run("video.new")
        assert form.factor.isVisible() and not form.duration.isVisible() and not form.audio.isVisible()
        assert "needs a source video" in form.price_note.text() and not form.queue.isEnabled()
        form.film.chosen.emit(str(video.film_of(first)))  # the file dialog's answer
        await until(lambda: draft.exact)
        assert form.queue.text() == "Queue for $0.24", "no words are needed, the price is known"
        choice = form.factor.field
        assert isinstance(choice, SegmentedChoice)
        twice = choice.findChildren(QRadioButton)[1]
        twice.setFocus()
        QTest.keyClick(twice, Qt.Key.Key_Left)
        assert draft.form.factor == "1" and not form.queue.isEnabled(), "an old price cannot be paid"
        await until(lambda: form.queue.isEnabled() and draft.exact)
        assert form.queue.text() == "Queue for $0.06"
        before = {job.id for job in video.jobs}
        video.press(form.queue)
        await until(lambda: {job.id for job in video.jobs} - before)
        job = video.job
        await video.reaches(job.id, "running")
        assert bodies[-1]["upscale_factor"] == 1 and bodies[-1]["video_url"].startswith("data:video/mp4;base64,")
        assert "prompt" not in bodies[-1]
        await controls.turn_clock(30)
        larger = await video.reaches(job.id, "saved")
        assert (larger.width, larger.height) == (first.width, first.height)
        row = video.row_of(job.id)
        assert row is not None and row.title == first.file and "Enlarger · 1×" in row.spoken
        video.page.act("use", job.id)
        assert draft.form.factor == "1" and Path(draft.form.film).exists()


async def test_references_of_every_kind_and_what_they_are_for_are_sent_kept_and_used_again(
    tmp_home: Path, theme: Theme, controls: Controls, bodies: list[dict[str, Any]], tmp_path: Path
) -> None:
    sound, document, other = tmp_path / "sea.wav", tmp_path / "story.pdf", tmp_path / "story.txt"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\0" * 800)
    document.write_bytes(b"%PDF-1.4\n%%EOF\n")
    other.write_text("a story")
    async with open_video(tmp_home, theme, controls) as video:
        form, draft = video.page.form, video.presenter.form
        await choose(video, OMNI, "image")
        QTest.keyClicks(form.prompt, "@Audio1 over the sea")
        assert "needs references" in form.price_note.text() and not form.queue.isEnabled()
        pane = form.along
        pane.head.click()
        pane.lists["sounds"].take([str(sound)])
        pane.lists["documents"].take([str(document), str(other)])
        assert draft.form.along.documents == (str(document),), "as many as there is room for"
        task = pane.task.field
        assert task is not None and pane.task.isVisible()
        pane.task.chosen.emit("extend")
        await until(lambda: form.queue.isEnabled() and draft.exact)
        video.run("video.queue")
        await until(lambda: video.jobs and video.job.state == "running")
        body = bodies[-1]
        assert body["omni_reference_task_type"] == "extend"
        assert body["reference_audio_urls"][0].startswith("data:audio/wav;base64,")
        assert body["reference_document_urls"][0].startswith("data:application/pdf;base64,")
        draft.clear()
        video.page.act("use")
        assert draft.form.task == "extend" and Path(draft.form.along.sounds[0]).exists()
        assert Path(draft.form.along.documents[0]).exists()
        draft.set(along=draft.form.along.__class__(sounds=(str(other),)))
        await until(lambda: "It must be WAV or MP3" in form.price_note.text())
        assert not form.queue.isEnabled()
    assert await controls.paid("/video/queue") == 1


@pytest.mark.parametrize(
    ("record", "factors", "tasks"),
    [
        (model("a-upscale", model_type="video"), ("1", "2", "4"), ()),
        (model("a-upscale", model_type="text-to-video"), (), ()),
        (model("a", model_type="video", upscale_factors=[2, 4]), ("2", "4"), ()),
        (model("a", model_type="video", upscale_factor=True), ("1", "2", "4"), ()),
        (model("an-upscale", model_type="video", upscale_factor=False), (), ()),
        (model("an-omni-model", model_type="image-to-video"), (), ("auto", "reference", "edit", "extend")),
        (model("a", model_type="video", omni_reference_task_type=["auto", "edit", "x"]), (), ("auto", "edit")),
        (model("a", model_type="image-to-video"), (), ()),
    ],
)
def test_the_record_says_who_enlarges_and_who_asks_for_a_task_and_the_name_where_it_is_silent(
    record: Model, factors: tuple[str, ...], tasks: tuple[str, ...]
) -> None:
    takes = constraints_of(record)
    assert (takes.factors, takes.tasks) == (factors, tasks)
    assert not (takes.factors and any(takes.limits.most.values())), "nothing is added to a film that is made larger"


def test_a_model_without_lengths_decides_itself_and_nothing_it_does_not_take_is_sent() -> None:
    form = Form(kind="video", prompt="a boat", duration="5s", film="a.mp4", sound="a.wav", factor="4", task="edit")
    plain = sent_values(form, ModelConstraints(kind="video"))
    assert plain["duration"] == "auto"
    assert plain["upscale_factor"] is None and plain["omni_reference_task_type"] is None
    enlarger = ModelConstraints(kind="video", factors=("1", "2", "4"))
    assert sent_values(form, enlarger)["upscale_factor"] == 4
    assert sent_media(form, enlarger) == {"video_url": "a.mp4"}, "what is enlarged keeps its sound"
    assert not refusal_of(Form(kind="video", film="a.mp4"), enlarger), "words are not needed"
