"""Too many questions (429): they are paced and it is said, the job goes on, nothing is queued again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from app.ui.kit.theme import Theme
from app.ui.video.state import JobRow
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, PRIVATE_MODEL, VideoHarness, open_video, open_video_presenter
from tests.kit.waiting import until

pytestmark = NO_DEVICES
NO_HINT = {"x-ratelimit-reset-requests": "", "x-ratelimit-reset-tokens": ""}


def read(video: VideoHarness) -> str:
    """Everything that stands in the preview."""
    return "\n".join(video.inspector_texts())


def let_pass(video: VideoHarness, seconds: float) -> None:
    """Turn the clocks of the scheduler and of the key's limits, which wait in real seconds here."""
    poll_scheduler, service = video.presenter.poll_scheduler, video.current_account.service
    assert service is not None
    for timed in (service.client.limits, poll_scheduler):
        timed._clock = lambda clock=timed._clock: clock() + seconds  # type: ignore[misc]  # bound here
    poll_scheduler.wake()


async def rendering(video: VideoHarness) -> str:
    """Order a video whose next look is far away."""
    job_id = await video.queue()
    await until(lambda: video.one(job_id).average_s is not None)
    video.presenter.poll_scheduler.pace = 1.0
    return job_id


@pytest.mark.parametrize(
    ("headers", "rest_s"),
    [
        ({"Retry-After": "40", **NO_HINT}, 40),
        ({"x-ratelimit-reset-tokens": ""}, 60),  # the Sandbox tells when its minute ends
        (NO_HINT, 15),
    ],
    ids=["Retry-After", "limit headers", "no hint"],
)
async def test_R_LIM_09_a_refused_question_rests_is_told_and_the_video_still_comes(
    headers: dict[str, str], rest_s: float, tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id, poll_scheduler = await rendering(video), video.presenter.poll_scheduler
        await controls.fault("answer", status=429, path="/video/retrieve", headers=headers, times=1)
        poll_scheduler.soon()
        await until(lambda: poll_scheduler.rests_s)
        assert rest_s - 10 < poll_scheduler.rests_s <= rest_s + 1  # whole seconds of a clock are rounded up
        assert "The service asked for fewer status checks. Rialto checks again at" in read(video)
        assert "The video is still being generated." in read(video)
        assert video.state(job_id) == "running" and video.page.badge() == 1
        asked = len(await controls.calls("/video/retrieve"))
        poll_scheduler.soon()  # the window is seen again: that is no reason to ask against the service's wish
        await controls.turn_clock(10)
        assert len(await controls.calls("/video/retrieve")) == asked
        let_pass(video, rest_s + 1)
        await video.reaches(job_id, "saved")
        assert poll_scheduler.rests_s == 0 and "fewer status checks" not in read(video)
        assert len(await controls.calls("/video/queue")) == 1


async def test_refused_again_without_a_hint_it_rests_longer_up_to_a_minute(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id, poll_scheduler = await rendering(video), video.presenter.poll_scheduler
        await controls.fault("answer", status=429, path="/video/retrieve", headers=NO_HINT, times=4)
        poll_scheduler.soon()
        for longest in (15, 30, 60, 60):
            await until(lambda longest=longest: longest - 8 < poll_scheduler.rests_s <= longest)  # type: ignore[misc]  # bound here
            let_pass(video, poll_scheduler.rests_s + 0.1)
        await controls.turn_clock(10)
        let_pass(video, 10)
        await video.reaches(job_id, "saved")


async def test_R_LIM_29_a_minute_that_is_used_up_is_left_alone_before_it_is_refused(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    """Another program with the same key has asked too: the headers of a good answer say that nothing is left."""
    async with open_video(tmp_home, theme, controls) as video:
        job_id, poll_scheduler = await rendering(video), video.presenter.poll_scheduler
        job = video.one(job_id)
        body = {"model": job.model, "queue_id": job.queue_id}
        await until(lambda: poll_scheduler._due[job_id] - poll_scheduler._clock() > 2)  # the next look is far away
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {controls.api_key}"}) as http:
            left = 120
            while left > 1:
                answer = await http.post(f"{controls.base_url}/video/retrieve", json=body)
                left = int(answer.headers["x-ratelimit-remaining-requests"])
        poll_scheduler.soon()
        await until(lambda: poll_scheduler.rests_s)
        assert "asked for fewer status checks" in read(video)
        await controls.turn_clock(61)
        let_pass(video, 61)
        await video.reaches(job_id, "saved")
        assert not [line for line in await controls.calls("/video/retrieve") if line["status"] == 429]


async def test_R_LIM_08_a_job_that_is_too_many_this_minute_waits_says_so_and_is_queued_once(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        video.presenter.sending.pace = 1.0
        headers = {"Retry-After": "300", **NO_HINT}
        await controls.fault("answer", status=429, path="/video/queue", headers=headers, times=1)
        job_id = await video.queue()
        await until(lambda: video.presenter.sending.waits_s > 200)
        await until(lambda: "limit for this minute" in read(video))
        assert video.state(job_id) == "waiting" and not video.one(job_id).held
        assert "Nothing was charged" in read(video)
        row = video.row_of(job_id)
        assert isinstance(row, JobRow) and row.badge == "Waiting"
        video.presenter.sending.wake()
        assert len(await controls.calls("/video/queue")) == 1
        video.presenter.sending.forget_wait()  # the five minutes are over
        video.presenter.poll_scheduler.soon()
        await video.reaches(job_id, "running")
        assert await controls.paid("/video/queue") == 1


@pytest.mark.parametrize(("after", "sent"), [("30000", 1), ("200", 2)])
async def test_a_job_that_the_limit_turns_away_for_long_or_again_and_again_asks(
    tmp_home: Path, controls: Controls, after: str, sent: int
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        headers = {"Retry-After": after, **NO_HINT}
        await controls.fault("answer", status=429, path="/video/queue", headers=headers)
        await video.fill()
        assert video.presenter.queue()
        await until(lambda: video.jobs)
        (job,) = video.jobs
        for _ in range(sent - 1):
            await until(lambda: video.presenter.sending.waits_s)
            video.presenter.sending.forget_wait()  # the time is up
            video.presenter.poll_scheduler.soon()
        await until(lambda: video.one(job.id).held)
        assert video.one(job.id).note.startswith("Limit reached. Resets ")
        assert len(await controls.calls("/video/queue")) == sent
        assert await controls.paid("/video/queue") == 0


async def test_a_download_address_that_is_asked_too_often_rests_alone(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(model=PRIVATE_MODEL)
        await controls.fault("answer", status=429, path="/downloads", headers={"Retry-After": "0"}, times=1)
        notes = []
        video.presenter.job_store.job_changed.connect(lambda key: notes.append(video.one(key).note))
        await controls.turn_clock(10)
        job = await video.reaches(job.id, "saved")
        assert any("is busy" in note for note in notes) and job.note == ""
        assert video.presenter.poll_scheduler.rests_s == 0, "the service itself may be asked"


async def test_a_refusal_that_comes_again_and_again_is_told_and_asked_on(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await video.reaches(job_id, "running")
        await controls.fault("answer", status=403, path="/video/retrieve")
        await until(lambda: "No status yet" in read(video))
        await controls.reset_faults()
        await controls.turn_clock(10)
        job = await video.reaches(job_id, "saved")
        assert job.note == ""
        await asyncio.sleep(0)
