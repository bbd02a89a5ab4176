"""Video jobs: quoted, queued, fetched, cleaned."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from app.service.errors import (
    BadResponse,
    CallsPaused,
    Conflict,
    ConnectionFailed,
    ContentRefused,
    LimitExceeded,
    NotFound,
    ServerFailed,
    StreamCut,
)
from app.service.video import QueuedVideo, SavedVideo, VideoRequest, VideoState, poll_interval_s
from tests.service.loopback import Received, Watched, answering, http, serving

VIDEO = b"\x00\x00\x00\x20ftypisom" + b"\x00" * 200_000
WANTED = VideoRequest("film-1", "A harbor at dawn.", "5s")
JOB = QueuedVideo(model="film-1", queue_id="11111111-2222-4333-8444-555555555555")


def sending(body: bytes, content_type: str = "video/mp4") -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(200, content=body, headers={"content-type": content_type})


def test_only_what_is_set_is_sent() -> None:
    assert WANTED.to_body() == {"model": "film-1", "duration": "5s", "prompt": "A harbor at dawn."}
    full = replace(
        WANTED,
        negative_prompt="rain",
        aspect_ratio="16:9",
        resolution="720p",
        audio=False,
        upscale_factor=2,
        image_url="data:image/png;base64,AA==",
        reference_image_urls=("https://a",),
        extra={"keyframes": []},
    ).to_body()
    assert full["audio"] is False
    assert (full["reference_image_urls"], full["keyframes"], full["upscale_factor"]) == (["https://a"], [], 2)
    assert replace(WANTED, prompt="", aspect_ratio="1:1").to_body() == {
        "model": "film-1",
        "duration": "5s",
        "aspect_ratio": "1:1",
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": ""}, "model"),
        ({"duration": ""}, "duration"),
        ({"prompt": "x" * 2501}, "prompt"),
        ({"prompt": "x" * 20_001, "prompt_limit": 50_000}, "prompt"),
        ({"negative_prompt": "x" * 2501}, "negative_prompt"),
        ({"upscale_factor": 3}, "upscale_factor"),
    ],
)
def test_limits_are_refused_before_sending(changes: dict[str, object], field: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        replace(WANTED, **changes).to_body()  # type: ignore[arg-type] # names of real fields
    assert caught.value.field == field


async def test_a_quote_is_exact_and_names_only_what_prices_depend_on() -> None:
    async with Watched(handler=answering({"quote": 0.34})) as watched:
        assert await watched.service.video.quote(replace(WANTED, resolution="720p")) == Decimal("0.34")
        assert json.loads(watched.requests[0].content) == {"model": "film-1", "duration": "5s", "resolution": "720p"}
    for body in ({}, [], {"quote": "free"}):
        async with Watched(handler=answering(body)) as watched:
            assert await watched.service.video.quote(WANTED) is None


async def test_a_queued_job_is_returned_whole() -> None:
    async with Watched(handler=answering({"queue_id": "q-1", "download_url": "https://x/y"})) as watched:
        receipt = await watched.service.video.queue(WANTED, quoted_usd=Decimal("0.34"))
        assert (receipt.job.model, receipt.job.queue_id, receipt.job.download_url) == ("film-1", "q-1", "https://x/y")
        assert (receipt.exchange.cost_usd, receipt.exchange.cost_source) == (Decimal("0.34"), "estimated")
    async with Watched(handler=answering({"model": "m"})) as watched:
        with pytest.raises(BadResponse):
            await watched.service.video.queue(WANTED)


async def test_a_lost_queue_call_is_unknown_and_never_repeated() -> None:
    for error in (httpx.ReadError("x"), httpx.ConnectError("x")):

        def lose(request: httpx.Request, error: Exception = error) -> httpx.Response:
            raise error

        async with Watched(handler=lose) as watched:
            with pytest.raises(ConnectionFailed):
                await watched.service.video.queue(WANTED)
            assert len(watched.requests) == 1


async def test_consent_is_asked_for() -> None:
    body = {"error": {"code": "needs_consent", "message": "x"}, "consent_flow": "face", "face_media_roles": ["image"]}
    async with Watched(handler=answering(body, 409)) as watched:
        with pytest.raises(Conflict) as caught:
            await watched.service.video.queue(WANTED)
        assert caught.value.consent == {"consent_flow": "face", "face_media_roles": ["image"]}


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("PROCESSING", "processing"),
        ("pending", "processing"),
        ("IN_PROGRESS", "processing"),
        ("COMPLETED", "completed"),
        ("failed", "failed"),
        ("cancelled", "failed"),
        ("Dreaming", "other"),
    ],
)
async def test_r_vid_03_a_state_is_read_and_nothing_is_deleted(told: str, state: str, tmp_path: Path) -> None:
    body = {"status": told, "average_execution_time": 8000, "execution_duration": 2500}
    async with Watched(handler=answering(body)) as watched:
        found = await watched.service.video.retrieve(JOB, tmp_path / "film.mp4")
        assert found == VideoState(state, told, 8.0, 2.5)
        assert found.remaining_s == 5.5
        assert json.loads(watched.requests[0].content)["delete_media_on_completion"] is False
        assert watched.exchange.outcome == "ok"
    assert list(tmp_path.iterdir()) == []


async def test_times_that_are_missing_are_unknown(tmp_path: Path) -> None:
    async with Watched(handler=answering({"status": "PROCESSING", "average_execution_time": "x"})) as watched:
        found = await watched.service.video.retrieve(JOB, tmp_path / "film.mp4")
        assert isinstance(found, VideoState)
        assert found.remaining_s is None


@pytest.mark.parametrize("content_type", ["video/mp4", "application/octet-stream", "application/json"])
async def test_a_finished_video_is_known_by_its_bytes_and_goes_to_disk(content_type: str, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    async with serving(http(body=VIDEO, content_type=content_type)) as server, Watched(server.base_url) as watched:
        path = tmp_path / "film.mp4"
        found = await watched.service.video.retrieve(JOB, path, on_received=lambda *seen: told.append(seen))
        assert found == SavedVideo(path, len(VIDEO), "mp4")
        assert path.read_bytes() == VIDEO
        assert told[-1] == (len(VIDEO), len(VIDEO))
        assert watched.exchange.outcome == "ok"


@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"{}", b"[]", b"{", b"GIF89a" + b"\x00" * 100])
async def test_neither_video_nor_state_is_a_bad_answer(body: bytes, tmp_path: Path) -> None:
    async with Watched(handler=sending(body)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.video.retrieve(JOB, tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


async def test_an_endless_state_is_refused(tmp_path: Path) -> None:
    async with Watched(handler=sending(b'{"status": "' + b"x" * (17 * 1024 * 1024))) as watched:
        with pytest.raises(BadResponse):
            await watched.service.video.retrieve(JOB, tmp_path / "film.mp4")


async def test_a_video_that_breaks_off_leaves_nothing_and_can_be_fetched_again(tmp_path: Path) -> None:
    async def half(received: Received, writer) -> None:  # type: ignore[no-untyped-def] # an asyncio.StreamWriter
        writer.write(http(body=VIDEO, content_type="video/mp4")[:-1000])
        await writer.drain()
        writer.close()

    path = tmp_path / "film.mp4"
    async with (
        serving(half, http(body=VIDEO, content_type="video/mp4")) as server,
        Watched(server.base_url) as watched,
    ):
        with pytest.raises(StreamCut):
            await watched.service.video.retrieve(JOB, path)
        assert list(tmp_path.iterdir()) == []
        assert isinstance(await watched.service.video.retrieve(JOB, path), SavedVideo)


async def test_what_became_of_a_job_is_told() -> None:
    refused = {"error": {"message": "no", "type": "provider_content_policy", "credits_refunded": True}}
    for body, status, kind in (({"error": "gone"}, 404, NotFound), (refused, 422, ContentRefused)):
        async with Watched(handler=answering(body, status)) as watched:
            with pytest.raises(kind):
                await watched.service.video.retrieve(JOB, Path("unused"))


async def test_a_refund_that_is_told_again_is_the_same_receipt() -> None:
    refused = {"error": {"message": "no", "type": "provider_content_policy", "credits_refunded": True}}
    async with Watched(handler=answering(refused, 422)) as watched:
        for paid_by in ("queued-1", "queued-1", "queued-2"):
            with pytest.raises(ContentRefused):
                await watched.service.video.retrieve(JOB, Path("unused"), paid_usd=Decimal("0.35"), paid_by=paid_by)
        told = [(each.id, each.cost_usd) for each in watched.exchanges]
        assert told == [(f"{paid_by}-refund", Decimal("-0.35")) for paid_by in ("queued-1", "queued-1", "queued-2")]


async def test_polling_rests_while_the_budget_is_low(tmp_path: Path) -> None:
    async with Watched(handler=answering({"status": "PROCESSING"})) as watched:
        for _ in range(15):
            (await watched.budget.admit()).answered(500)
        with pytest.raises(CallsPaused):
            await watched.service.video.retrieve(JOB, tmp_path / "film.mp4")
        assert await watched.service.video.retrieve(JOB, tmp_path / "film.mp4", background=False)


async def test_a_download_address_gets_no_key_and_can_be_revoked(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    videos = http(body=VIDEO, content_type="video/mp4")
    async with serving(videos, http(204)) as store, Watched("http://127.0.0.1:9/v1") as watched:
        job = JOB.model_copy(update={"download_url": f"{store.base_url}/film?sign=1"})
        assert (await watched.service.video.download(job, path)).size_bytes == len(VIDEO)
        await watched.service.video.revoke(job)
        assert [(one.method, "authorization" in one.headers) for one in store.received] == [
            ("GET", False),
            ("DELETE", False),
        ]
        assert [exchange.outcome for exchange in watched.exchanges] == ["ok", "ok"]


async def test_a_download_address_on_the_services_own_host_gets_no_key_either(tmp_path: Path) -> None:
    async with (
        serving(http(body=VIDEO, content_type="video/mp4"), http(204)) as store,
        Watched(f"{store.base_url}/v1") as watched,
    ):
        job = JOB.model_copy(update={"download_url": f"{store.base_url}/film?sign=1"})
        await watched.service.video.download(job, tmp_path / "film.mp4")
        await watched.service.video.revoke(job)
        assert [("authorization" in one.headers) for one in store.received] == [False, False]


@pytest.mark.parametrize("address", [None, "", "http://plain.example/film", "file:///etc/passwd", "javascript:1"])
async def test_an_unsafe_download_address_is_not_followed(address: str | None, tmp_path: Path) -> None:
    async with Watched("https://service.test/v1", handler=sending(VIDEO)) as watched:
        job = JOB.model_copy(update={"download_url": address})
        with pytest.raises(LimitExceeded):
            await watched.service.video.download(job, tmp_path / "film.mp4")
        assert watched.requests == []


@pytest.mark.parametrize("success", [True, False])
async def test_r_vid_01_r_vid_04_r_vid_05_r_vid_06_r_vid_07_cleaning_up_says_whether_it_worked(success: bool) -> None:
    async with Watched(handler=answering({"success": success})) as watched:
        assert await watched.service.video.complete(JOB) is success
        assert json.loads(watched.requests[0].content) == {"model": "film-1", "queue_id": JOB.queue_id}
    async with Watched(handler=answering({"success": "yes"})) as watched:
        with pytest.raises(BadResponse):
            await watched.service.video.complete(JOB)
    async with Watched(handler=answering({"error": "x"}, 500)) as watched:
        with pytest.raises(ServerFailed):
            await watched.service.video.complete(JOB)
        assert len(watched.requests) == 4


@pytest.mark.parametrize(("jobs", "seconds"), [(0, 5), (1, 5), (9, 5), (10, 6), (40, 22)])
def test_r_lim_09_many_jobs_are_asked_for_less_often(jobs: int, seconds: int) -> None:
    assert poll_interval_s(jobs) == seconds
