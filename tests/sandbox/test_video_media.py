"""What goes along with a video: checked field by field, and videos that are enlarged."""

import base64
import io
from typing import Any

import av
import pytest
from PIL import Image

from app.sandbox.media.video_enlarging import NotAVideo, enlarge, facts_of
from tests.sandbox.support import Client
from tests.sandbox.test_video import FROM_IMAGE, MODEL, order, picture, played, queued, retrieve

ENLARGER = "rialto-reel-upscale"
OMNI = "rialto-reel-omni-reference"


def film(sandbox: Client) -> bytes:
    queue_id = queued(sandbox, aspect_ratio="1:1")
    sandbox.turn_clock(8)
    data: bytes = retrieve(sandbox, queue_id).content
    sandbox.turn_clock(0)
    return data


def url(data: bytes, kind: str = "video/mp4") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def test_a_video_is_enlarged_for_the_price_that_was_quoted_and_keeps_its_sound(sandbox: Client) -> None:
    sent = {"model": ENLARGER, "duration": "auto", "upscale_factor": 2, "video_url": url(film(sandbox))}
    before = float(sandbox.balance())
    price = sandbox.post("/video/quote", sent).json()["quote"]
    assert price == pytest.approx(0.02 * 3 * 4)
    answer = sandbox.post("/video/queue", sent)
    assert answer.status_code == 200, answer.text
    assert float(sandbox.balance()) == pytest.approx(before - price)
    sandbox.turn_clock(8)
    length, codecs, size, frames = played(retrieve(sandbox, answer.json()["queue_id"], ENLARGER).content)
    assert length == pytest.approx(3, abs=0.15) and size == (720, 720) and frames == 72 and "aac" in codecs


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({}, "video_url"),
        ({"video_url": url(b"not a film at all")}, "video_url"),
        ({"video_url": "https://example.org/a.mp4"}, "video_url"),
        ({"video_url": url(b""), "upscale_factor": 3}, "upscale_factor"),
    ],
)
def test_what_cannot_be_enlarged_is_refused_by_quote_and_queue(
    sandbox: Client, more: dict[str, Any], field: str
) -> None:
    for path in ("/video/quote", "/video/queue"):
        answer = sandbox.post(path, {"model": ENLARGER, "duration": "auto", **more})
        assert answer.status_code == 400 and field in answer.json()["details"], answer.text
    assert float(sandbox.balance()) == 100


def test_other_models_enlarge_nothing(sandbox: Client) -> None:
    assert "upscale_factor" in order(sandbox, upscale_factor=2).json()["details"]


@pytest.mark.parametrize("task", [None, "auto", "reference", "edit", "extend"])
def test_a_video_is_made_from_references(sandbox: Client, task: str | None) -> None:
    more = {"omni_reference_task_type": task} if task else {}
    assert order(sandbox, model=OMNI, reference_image_urls=[picture()], **more).status_code == 200


def colored(red: int, green: int, blue: int) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (320, 200), (red, green, blue)).save(buffer, "PNG")
    return url(buffer.getvalue(), "image/png")


def colors(data: bytes) -> list[str]:
    """The strongest color in the middle of every image of a video, each once as long as it lasts."""
    found: list[str] = []
    with av.open(io.BytesIO(data), "r") as opened:
        for frame in opened.decode(video=0):
            pixel = frame.to_ndarray(format="rgb24")[frame.height // 2, frame.width // 2]
            name = ("red", "green", "blue")[int(pixel.argmax())]
            if found[-1:] != [name]:
                found.append(name)
    return found


def test_every_reference_is_seen_in_the_video_one_after_the_other(sandbox: Client) -> None:
    red, green, blue = colored(200, 10, 10), colored(10, 200, 10), colored(10, 10, 200)
    seen_last = order(sandbox, model=FROM_IMAGE, image_url=blue, aspect_ratio="1:1").json()["queue_id"]
    sandbox.turn_clock(8)
    clip = url(retrieve(sandbox, seen_last, FROM_IMAGE).content)
    references: dict[str, Any] = {
        "reference_image_urls": [red, green],
        "reference_video_urls": [clip],
        "scene_image_urls": [red],
    }
    queue_id = order(sandbox, model=OMNI, **references).json()["queue_id"]
    sandbox.turn_clock(16)
    assert colors(retrieve(sandbox, queue_id, OMNI).content) == ["red", "green", "red", "blue"]


def test_first_image_element_keyframe_and_last_image_are_seen_in_their_places(sandbox: Client) -> None:
    red, green, blue = colored(200, 10, 10), colored(10, 200, 10), colored(10, 10, 200)
    more: dict[str, Any] = {
        "elements": [{"frontal_image_url": green}],
        "keyframes": [{"image_url": green, "frame_index": 60}],
    }
    answer = order(sandbox, model=FROM_IMAGE, image_url=red, end_image_url=blue, **more)
    sandbox.turn_clock(8)
    shown = colors(retrieve(sandbox, answer.json()["queue_id"], FROM_IMAGE).content)
    assert shown == ["red", "green", "blue", "green"], "the last half second is the keyframe's"


def test_without_a_reference_or_for_another_task_it_is_refused(sandbox: Client) -> None:
    assert "reference_image_urls" in order(sandbox, model=OMNI).json()["details"]
    wrong = {"reference_audio_urls": [url(b"RIFF", "audio/wav")], "omni_reference_task_type": "guess"}
    assert "omni_reference_task_type" in order(sandbox, model=OMNI, **wrong).json()["details"]
    assert "omni_reference_task_type" in order(sandbox, model=MODEL, omni_reference_task_type="edit").json()["details"]


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"reference_image_urls": [picture()] * 31}, ["reference_image_urls"]),
        ({"reference_video_urls": [url(b"x")] * 11}, ["reference_video_urls"]),
        ({"reference_audio_urls": [url(b"x")] * 11}, ["reference_audio_urls"]),
        ({"reference_document_urls": [url(b"x")] * 2}, ["reference_document_urls"]),
        ({"scene_image_urls": [picture()] * 5}, ["scene_image_urls"]),
        ({"reference_audio_urls": "one"}, ["reference_audio_urls"]),
        ({"reference_audio_urls": [None]}, ["reference_audio_urls", "0"]),
        ({"reference_document_urls": ["%%"]}, ["reference_document_urls", "0"]),
        ({"elements": [{}] * 5}, ["elements"]),
        ({"elements": [3]}, ["elements", "0"]),
        ({"elements": [{"frontal_image_url": 3}]}, ["elements", "0", "frontal_image_url"]),
        ({"elements": [{"reference_image_urls": [picture()] * 4}]}, ["elements", "0", "reference_image_urls"]),
        ({"keyframes": [{"frame_index": 0}]}, ["keyframes", "0", "image_url"]),
        ({"keyframes": [{"image_url": picture()}]}, ["keyframes", "0", "frame_index"]),
        ({"keyframes": [{"image_url": picture(), "frame_index": 73}]}, ["keyframes", "0", "frame_index"]),
        ({"keyframes": [{"image_url": picture(), "frame_index": 5}] * 2}, ["keyframes", "1", "frame_index"]),
        ({"audio_url": "%%"}, ["audio_url"]),
        ({"end_image_url": 4}, ["end_image_url"]),
    ],
)
def test_each_field_that_goes_along_is_checked(sandbox: Client, more: dict[str, Any], where: list[str]) -> None:
    answer = order(sandbox, model=FROM_IMAGE, image_url=picture(), **more)
    assert answer.status_code == 400
    level = answer.json()["details"]
    for step in where:
        level = level[step]
    assert level["_errors"]


def test_a_broken_video_is_said_to_be_one(sandbox: Client) -> None:
    whole = film(sandbox)
    assert facts_of(whole).width == 360
    with pytest.raises(NotAVideo):
        facts_of(whole[:200])
    with pytest.raises(NotAVideo):
        enlarge(b"\0" * 400, 2)
