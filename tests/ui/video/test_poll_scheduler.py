"""When jobs are asked for: below the limit, by the expected time, seldom when hidden, never for nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.service.video import VideoState
from tests.kit.sandbox import Controls
from tests.kit.video import open_video_presenter
from tests.kit.waiting import until


def told(average_s: float | None, elapsed_s: float | None) -> VideoState:
    return VideoState("processing", "PROCESSING", average_s, elapsed_s)


async def test_R_LIM_09_waits_follow_the_expected_time_and_the_limit(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls, pace=1.0) as video:
        poll_scheduler = video.presenter.poll_scheduler
        assert poll_scheduler.interval_s(told(8, 0), 1) == 5, "never more often than every five seconds"
        assert poll_scheduler.interval_s(told(40, 10), 1) == 15, "half of what is left"
        assert poll_scheduler.interval_s(told(1000, 10), 1) == 30, "never longer than half a minute"
        assert poll_scheduler.interval_s(told(None, None), 1) == 5
        assert poll_scheduler.interval_s(told(8, 0), 200) * 110 / 60 >= 200, "all together below the limit"
        poll_scheduler.hidden = True
        assert poll_scheduler.interval_s(told(8, 0), 1) == 15, "a window that is not seen asks seldom"


async def test_with_nothing_to_wait_for_nothing_runs_and_nothing_is_asked(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        await video.done(job.id)
        await until(lambda: not video.tasks.running("video poll"))
        asked = len(await controls.calls("/video/retrieve"))
        await asyncio.sleep(0.3)
        assert len(await controls.calls("/video/retrieve")) == asked


async def test_a_service_at_capacity_is_asked_again(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        await video.order()
        await controls.fault("answer", status=503, path="/video/retrieve", times=2)
        await controls.turn_clock(10)
        job = await video.reaches(video.job.id, "saved")
        assert job.note == ""


async def test_a_computer_that_slept_asks_for_everything_when_it_wakes(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls, pace=1.0) as video:
        job = await video.order()
        await controls.turn_clock(10)
        assert video.state(job.id) == "running", "the next look is seconds away"
        poll_scheduler = video.presenter.poll_scheduler
        clock = poll_scheduler._clock
        poll_scheduler._clock = lambda: clock() + 3600
        poll_scheduler.wake()
        await video.reaches(job.id, "saved")
