"""Video jobs: rules R-VID, with videos that are played again."""

import base64
import io
import uuid
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np
import pytest
from PIL import Image

from app.sandbox import installed_engines
from tests.sandbox.support import Client, running

MODEL = "rialto-reel-text-to-video"
PRIVATE = "rialto-reel-private"
FROM_IMAGE = "rialto-reel-image-to-video"


def order(sandbox: Client, prompt: str = "a boat at sunset", model: str = MODEL, **more: Any) -> httpx.Response:
    return sandbox.post("/video/queue", {"model": model, "prompt": prompt, "duration": "3s", **more})


def queued(sandbox: Client, prompt: str = "a boat at sunset", model: str = MODEL, **more: Any) -> str:
    answer = order(sandbox, prompt, model, **more)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["queue_id"])


def retrieve(sandbox: Client, queue_id: str, model: str = MODEL, **more: Any) -> httpx.Response:
    return sandbox.post("/video/retrieve", {"model": model, "queue_id": queue_id, **more})


def complete(sandbox: Client, queue_id: str, model: str = MODEL) -> httpx.Response:
    return sandbox.post("/video/complete", {"model": model, "queue_id": queue_id})


def played(data: bytes) -> tuple[float, set[str], tuple[int, int], int]:
    """Return length in seconds, codecs, size, and how many images could be decoded."""
    assert data[4:8] == b"ftyp"
    with av.open(io.BytesIO(data), mode="r") as film:
        codecs = {stream.codec_context.name for stream in film.streams}
        video = film.streams.video[0]
        frames = sum(1 for _ in film.decode(video))
        return float(film.duration or 0) / 1e6, codecs, (video.width, video.height), frames


def picture(kind: str = "PNG") -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (320, 200), (10, 200, 30)).save(buffer, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def test_R_GEN_08_R_NS_02_a_video_is_queued_made_and_fetched(sandbox: Client) -> None:
    answer = order(sandbox)
    assert set(answer.json()) == {"model", "queue_id"}
    queue_id = answer.json()["queue_id"]
    assert str(uuid.UUID(queue_id)) == queue_id
    waiting = retrieve(sandbox, queue_id)
    assert waiting.json() == {"status": "PROCESSING", "average_execution_time": 8000, "execution_duration": 0}
    sandbox.turn_clock(7.5)
    assert retrieve(sandbox, queue_id).json()["execution_duration"] == 7500
    sandbox.turn_clock(8)
    video = retrieve(sandbox, queue_id)
    assert video.headers["content-type"] == "video/mp4"
    assert "video.mp4" in video.headers["content-disposition"]
    length, codecs, size, frames = played(video.content)
    assert length == pytest.approx(3, abs=0.15) and size == (640, 360) and frames == 72
    assert "aac" in codecs and codecs & {"h264", "vp9", "libvpx-vp9"} and not codecs & {"av1", "libdav1d"}
    assert retrieve(sandbox, queue_id).content == video.content, "fetching does not remove it"


@pytest.mark.parametrize(
    ("ratio", "resolution", "size"),
    [("9:16", "360p", (360, 640)), ("1:1", "360p", (360, 360)), ("16:9", "480p", (854, 480))],
)
def test_size_and_silence(sandbox: Client, ratio: str, resolution: str, size: tuple[int, int]) -> None:
    queue_id = queued(sandbox, aspect_ratio=ratio, resolution=resolution, audio=False)
    sandbox.turn_clock(8)
    _, codecs, seen, _ = played(retrieve(sandbox, queue_id).content)
    assert seen == size and "aac" not in codecs


def test_a_video_moves_and_sounds(sandbox: Client) -> None:
    queue_id = queued(sandbox, "a city at night")
    sandbox.turn_clock(8)
    data = retrieve(sandbox, queue_id).content
    with av.open(io.BytesIO(data), mode="r") as video:
        frames = [frame.to_ndarray(format="gray").astype(int) for frame in video.decode(video=0)]
    assert np.abs(frames[0] - frames[-1]).mean() > 3
    from app.sandbox.media.sound import decode

    assert np.abs(decode(data).samples.astype(int)).max() > 1000


def test_an_image_becomes_the_video(sandbox: Client) -> None:
    queue_id = queued(sandbox, model=FROM_IMAGE, image_url=picture())
    sandbox.turn_clock(8)
    with av.open(io.BytesIO(retrieve(sandbox, queue_id, FROM_IMAGE).content), mode="r") as video:
        middle = next(iter(video.decode(video=0))).to_ndarray(format="rgb24")[100, 300]
    assert middle[1] > 120 > 60 > middle[0]
    for wrong in (None, "https://example.org/a.png", "data:image/png;base64,%%", "data:image/png;base64,AAAA"):
        answer = order(sandbox, model=FROM_IMAGE, image_url=wrong)
        assert answer.status_code == 400 and "image_url" in answer.json()["details"]


def test_R_EP_03_R_VID_01_R_VID_02_R_VID_06_R_VID_07_complete_removes_a_finished_video(sandbox: Client) -> None:
    queue_id = queued(sandbox)
    assert complete(sandbox, queue_id).json() == {"success": False}, "it is still being made"
    sandbox.turn_clock(8)
    assert complete(sandbox, queue_id).json() == {"success": True}
    assert retrieve(sandbox, queue_id).status_code == 404
    assert complete(sandbox, queue_id).json() == {"success": False}
    assert complete(sandbox, str(uuid.uuid4())).json() == {"success": False}


def test_R_VID_03_the_flag_of_the_retrieve_call_removes_the_video(sandbox: Client) -> None:
    queue_id = queued(sandbox)
    assert retrieve(sandbox, queue_id, delete_media_on_completion=True).json()["status"] == "PROCESSING"
    sandbox.turn_clock(8)
    assert retrieve(sandbox, queue_id, delete_media_on_completion=False).status_code == 200
    assert played(retrieve(sandbox, queue_id, delete_media_on_completion=True).content)
    assert retrieve(sandbox, queue_id).status_code == 404


def test_R_VID_04_R_VID_05_R_VID_08_both_fields_are_checked_in_one_tree(sandbox: Client) -> None:
    for path in ("/video/complete", "/video/retrieve"):
        answer = sandbox.post(path, {})
        assert answer.status_code == 400 and set(answer.json()["details"]) == {"_errors", "model", "queue_id"}
        wrong = sandbox.post(path, {"model": MODEL, "queue_id": "not-a-uuid"})
        assert wrong.json()["details"]["queue_id"]["_errors"] == ["Invalid uuid"]
        assert sandbox.post(path, {"model": 7, "queue_id": []}).status_code == 400
    assert retrieve(sandbox, queued(sandbox), "another-model").status_code == 404


def test_R_VID_09_the_endpoints_want_a_credential_but_a_quote_does_not(sandbox: Client, bare: httpx.Client) -> None:
    for path in ("queue", "retrieve", "complete"):
        assert bare.post(f"{sandbox.running.base_url}/video/{path}", json={}).status_code == 401
    answer = bare.post(f"{sandbox.running.base_url}/video/quote", json={"model": MODEL, "duration": "5s"})
    assert answer.json() == {"quote": 0.25}


def test_a_quote_is_what_is_charged(sandbox: Client) -> None:
    shape = {"duration": "8s", "resolution": "480p", "audio": False}
    price = sandbox.post("/video/quote", {"model": MODEL, **shape}).json()["quote"]
    queued(sandbox, **shape)
    assert float(sandbox.balance()) == pytest.approx(100 - price) and price == pytest.approx(0.48)
    sandbox.control("/balance", {"usd": "0"})
    assert order(sandbox).status_code == 402


def test_R_NS_04_a_private_video_is_fetched_by_an_address_of_its_own(sandbox: Client, bare: httpx.Client) -> None:
    body = order(sandbox, model=PRIVATE).json()
    url = body["download_url"]
    assert url.startswith(sandbox.running.origin) and bare.get(url).status_code == 404
    sandbox.turn_clock(9)
    state = retrieve(sandbox, body["queue_id"], PRIVATE).json()
    assert state == {"status": "COMPLETED", "average_execution_time": 8000, "execution_duration": 9000}
    assert played(bare.get(url).content) and played(bare.get(url).content)
    assert complete(sandbox, body["queue_id"], PRIVATE).json() == {"success": True}
    assert bare.get(url).status_code == 200
    assert bare.delete(url).status_code == 204
    assert (bare.get(url).status_code, bare.delete(url).status_code) == (410, 410)
    assert bare.get(url + "x").status_code == 404


def test_videos_and_downloads_expire_after_a_day(sandbox: Client, bare: httpx.Client) -> None:
    body = order(sandbox, model=PRIVATE).json()
    sandbox.turn_clock(86_400)
    assert retrieve(sandbox, body["queue_id"], PRIVATE).status_code == 404
    assert bare.get(body["download_url"]).status_code == 410


def test_a_video_against_the_policy_is_422_and_the_money_comes_back_once(sandbox: Client) -> None:
    queue_id = queued(sandbox, "a boat sandbox-violation")
    assert sandbox.balance() != "100"
    sandbox.turn_clock(8)
    for _ in range(2):
        answer = retrieve(sandbox, queue_id)
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["credits_refunded"]) == (422, "provider_content_policy", True)
    assert float(sandbox.balance()) == 100


def test_prompts_that_are_refused_at_once(sandbox: Client) -> None:
    refused = order(sandbox, "sandbox-refused")
    assert (refused.status_code, set(refused.json())) == (422, {"error", "suggested_prompt"})
    asked = order(sandbox, "sandbox-consent")
    assert (asked.status_code, asked.json()["error"]["code"]) == (409, "needs_consent")
    assert order(sandbox, "sandbox-consent", consents={"version": "1"}).status_code == 200


def test_all_wrong_fields_of_an_order_stand_in_one_tree(sandbox: Client) -> None:
    answer = order(sandbox, "x" * 2501, duration="31s", aspect_ratio="2:1", resolution="8k", audio="yes")
    assert set(answer.json()["details"]) == {"_errors", "prompt", "duration", "aspect_ratio", "resolution", "audio"}
    missing = sandbox.post("/video/queue", {})
    assert set(missing.json()["details"]) == {"_errors", "model", "prompt", "duration"}
    assert order(sandbox, model="no-such-model").status_code == 404


def test_R_LIM_08_R_LIM_09_queue_and_retrieve_have_windows_of_their_own(sandbox: Client) -> None:
    answer = order(sandbox)
    assert answer.headers["x-ratelimit-limit-requests"] == "40"
    assert retrieve(sandbox, answer.json()["queue_id"]).headers["x-ratelimit-limit-requests"] == "120"


def test_R_VID_08_another_caller_sees_nothing_of_it(tmp_path: Path) -> None:
    with running(tmp_path, any_key=True) as sandbox:
        queue_id = queued(sandbox)
        sandbox.http.headers["authorization"] = "Bearer another"
        assert retrieve(sandbox, queue_id).status_code == 404
        assert complete(sandbox, queue_id).json() == {"success": False}


def test_without_the_engine_the_answer_is_501(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "av" else real(name))
    answer = order(sandbox)
    assert answer.status_code == 501 and "PyAV" in answer.json()["error"]


def test_a_video_can_be_cut_off_on_its_way_and_fetched_again(sandbox: Client) -> None:
    queue_id = queued(sandbox)
    sandbox.turn_clock(8)
    sandbox.fault("cut", after=5000, times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        retrieve(sandbox, queue_id)
    assert played(retrieve(sandbox, queue_id).content)
