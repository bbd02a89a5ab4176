"""What goes along with a video: references, scenes, elements and keyframes, as the model's record allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from app.service.models import Model
from app.service.video import VideoRequest
from app.service.wire import read_model
from app.ui.kit.theme import Theme
from app.ui.video.model_constraints import Form, constraints_of, form_from
from app.ui.video.reference_media import (
    Element,
    Keyframe,
    ReferenceMedia,
    limits_of,
    reference_media_from,
    refusals_of,
    sent_reference_media,
)
from tests.kit.sandbox import Controls
from tests.kit.video import IMAGE_MODEL, NO_DEVICES, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES
ALL = ReferenceMedia(
    references=("a.png", "b.png"),
    films=("c.mp4",),
    scenes=("d.png",),
    elements=(Element("e.png", ("f.png",), "g.mp4"),),
    keyframes=(Keyframe("h.png", 0.0), Keyframe("i.png", 1.5)),
)


@pytest.fixture
def picture(tmp_path: Path) -> str:
    path = tmp_path / "face.png"
    image = QImage(64, 36, QImage.Format.Format_RGB32)
    image.fill(0xFF336699)
    assert image.save(str(path), "PNG")  # type: ignore[call-overload]  # a str is what Qt takes
    return str(path)


async def test_elements_and_keyframes_are_filled_in_by_keyboard_kept_sent_and_used_again(
    tmp_home: Path, theme: Theme, controls: Controls, picture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[dict[str, Any]] = []
    to_body = VideoRequest.to_body

    def watched(self: VideoRequest) -> dict[str, Any]:
        bodies.append(to_body(self))
        return bodies[-1]

    monkeypatch.setattr(VideoRequest, "to_body", watched)
    async with open_video(tmp_home, theme, controls) as video:
        form, pane = video.page.form, video.references
        draft = video.presenter.form
        await until(lambda: draft.model(IMAGE_MODEL) is not None)
        draft.set(kind="image", model=IMAGE_MODEL, start=picture)
        assert form.along.isVisible() and not pane.inside.isVisible()
        pane.head.setFocus()
        QTest.keyClick(pane.head, Qt.Key.Key_Space)
        assert pane.inside.isVisible()
        for button in (pane.add_element, pane.add_keyframe, pane.add_keyframe):
            button.setFocus()
            QTest.keyClick(button, Qt.Key.Key_Space)
        assert "no image" in form.price_note.text() and not form.queue.isEnabled()
        pane.elements[0].front.chosen.emit(picture)  # the file dialog's answer
        pane.elements[0].views.take([picture, picture, picture, picture])
        assert len(draft.form.along.elements[0].views) == 3, "as many as there is video for"
        pane.keyframes[0].slot.chosen.emit(picture)
        pane.keyframes[1].slot.chosen.emit(picture)
        pane.lists["references"].take([picture])
        QTest.keyClicks(form.prompt, "@Element1 walks")
        await until(lambda: form.queue.isEnabled() and draft.exact)
        video.run("video.queue")
        await until(lambda: video.jobs and video.job.state == "running")
        body = bodies[-1]
        assert list(body["elements"][0]) == ["frontal_image_url", "reference_image_urls"]
        assert [frame["frame_index"] for frame in body["keyframes"]] == [0, 24]
        sent = [
            body["keyframes"][0]["image_url"],
            *body["reference_image_urls"],
            body["elements"][0]["frontal_image_url"],
        ]
        assert all(url.startswith("data:image/png;base64,") for url in sent)
        draft.clear()
        assert draft.form.along == ReferenceMedia()
        video.page.act("use")
        again = draft.form.along
        assert (len(again.elements[0].views), [one.at_s for one in again.keyframes]) == (3, [0.0, 1.0])
        assert all(Path(path).exists() for path in (again.elements[0].front, *again.references))
        pane.keyframes[0].drop.click()
        assert [one.at_s for one in draft.form.along.keyframes] == [1.0]


async def test_reference_videos_are_measured_for_the_price(
    tmp_home: Path, theme: Theme, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        job = await video.done(job_id)
        film = str(video.film_of(job))
        draft = video.presenter.form
        draft.set(kind="image", model=IMAGE_MODEL)
        await until(lambda: draft.exact)
        lengths: list[float | None] = []
        quote = video.service.video.quote

        async def watched(request: VideoRequest, *, reference_videos_s: float | None = None) -> object:
            lengths.append(reference_videos_s)
            return await quote(request, reference_videos_s=reference_videos_s)

        monkeypatch.setattr(video.service.video, "quote", watched)
        video.references.lists["films"].take([film, film])
        await until(lambda: draft.exact and lengths)
        assert lengths[-1] == pytest.approx(2 * job.duration_s)


def test_what_is_filled_in_survives_as_json() -> None:
    assert reference_media_from(ALL.to_json()) == ALL
    assert form_from(Form(along=ALL).to_json()).along == ALL
    assert reference_media_from(
        {"elements": [3, {"front": 1, "views": "x"}], "keyframes": [{"at_s": -1}], "films": [1]}
    ) == ReferenceMedia(elements=(Element(),), keyframes=(Keyframe(),))


def test_paths_stand_where_the_service_wants_addresses() -> None:
    assert sent_reference_media(ALL, limits_of({}, "image")) == {
        "reference_image_urls": ["a.png", "b.png"],
        "reference_video_urls": ["c.mp4"],
        "scene_image_urls": ["d.png"],
        "elements": [{"frontal_image_url": "e.png", "reference_image_urls": ["f.png"], "video_url": "g.mp4"}],
        "keyframes": [{"image_url": "h.png", "frame_index": 0}, {"image_url": "i.png", "frame_index": 36}],
    }
    assert sent_reference_media(ALL, limits_of({}, "text")) == {}


@pytest.mark.parametrize(
    ("told", "kind", "most"),
    [
        ({}, "text", [0, 0, 0, 0, 0]),
        ({}, "image", [9, 3, 4, 4, 10]),
        ({"elements": 2}, "image", [0, 0, 0, 2, 0]),
        ({"keyframes": True, "max_reference_image_urls": 30}, "text", [30, 0, 0, 0, 10]),
        ({"reference_image": False}, "image", [0, 0, 0, 0, 0]),
        ({"elements": "many"}, "image", [9, 3, 4, 4, 10]),
    ],
)
def test_a_record_that_speaks_of_them_is_believed_and_a_silent_one_offers_all(
    told: dict[str, object], kind: str, most: list[int]
) -> None:
    limits = limits_of(told, kind)
    assert [limits.of(name) for name in ("references", "films", "scenes", "elements", "keyframes")] == most


def test_the_record_of_a_model_decides_what_its_form_shows() -> None:
    body = {
        "id": "m",
        "object": "model",
        "type": "video",
        "model_spec": {"constraints": {"model_type": "text-to-video", "keyframes": 2}},
    }
    takes = constraints_of(read_model(Model, body))
    assert (takes.limits.of("keyframes"), takes.limits.of("elements"), takes.limits.told) == (2, 0, True)


@pytest.mark.parametrize(
    ("along", "field", "words"),
    [
        (ReferenceMedia(films=("a", "b", "c", "d")), "films", "4 selected, the model accepts up to 3"),
        (ReferenceMedia(keyframes=(Keyframe(),)), "keyframes", "no image"),
        (ReferenceMedia(keyframes=(Keyframe("a", 1.0), Keyframe("b", 1.01))), "keyframes", "the same time"),
        (ReferenceMedia(keyframes=(Keyframe("a", 5.5),)), "keyframes", "end of the video at 5 s"),
        (ReferenceMedia(elements=(Element(views=("a",)),)), "elements", "needs a front view"),
    ],
)
def test_what_is_wrong_is_refused_here_with_the_limit_named(along: ReferenceMedia, field: str, words: str) -> None:
    assert words in refusals_of(along, limits_of({}, "image"), 5.0)[field]
