"""A job from its order to its clean-up, against the Sandbox with its clock turned."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from app.storage.video_check import check_video
from tests.kit.sandbox import Controls
from tests.kit.video import PRIVATE_MODEL, PROMPT, VideoPresenterHarness, open_video_presenter
from tests.kit.waiting import until


async def test_R_VID_01_a_video_is_ordered_fetched_checked_and_kept(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        assert job.state == "running" and job.queue_id and job.quote_usd is not None
        job = await video.done(job.id)
        film = video.film_of(job)
        assert check_video(film).duration_s == job.duration_s == 3.0
        assert job.size_bytes == film.stat().st_size
        assert (job.width, job.height) == (640, 360)
        assert job.remote_copy, "nothing is deleted at the service unasked"
        assert await controls.calls("/video/complete") == []
        assert any("is ready" in notice for notice in video.notices)


@dataclass
class Watched(VideoPresenterHarness):
    """Knows what was told of the jobs on the disk."""

    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.presenter.jobs_changed.connect(lambda jobs: self.told.extend(row.title for row in jobs.rows))
        self.presenter.detail_changed.connect(lambda detail: self.told.append(f"{detail.title}, in detail"))


async def test_what_is_on_the_disk_is_shown_once(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        await video.done((await video.order()).id)
    async with open_video_presenter(tmp_home, controls, kind=Watched) as video:
        assert video.told == [", in detail", PROMPT, f"{PROMPT}, in detail"], "once, after the account told of none"


async def test_a_video_that_is_ordered_before_the_disk_was_read_is_ordered_then(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        await video.fill()
        video.presenter._opened.clear()
        assert video.presenter.queue()
        assert not video.presenter.queue(), "a second press orders nothing"
        await asyncio.sleep(0)
        assert video.jobs == ()
        video.presenter._opened.set()
        await until(lambda: video.jobs)
        await until(lambda: video.jobs[0].state == "running")
        assert len(video.jobs) == 1


async def test_R_VID_02_the_copy_is_deleted_once_the_file_is_whole_when_that_was_asked_for(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(clean_after=True)
        await controls.turn_clock(10)
        job = await video.reaches(job.id, "cleaned")
        assert not job.remote_copy
        assert len(await controls.calls("/video/complete")) == 1


async def test_a_private_video_comes_from_its_address_which_is_stored_at_once_and_taken_back(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(model=PRIVATE_MODEL)
        assert "/downloads/" in job.download_url
        job = await video.done(job.id)
        await until(lambda: not video.one(job.id).download_url)
        calls = [exchange.request for exchange in video.exchanges if "/downloads/" in exchange.request.url]
        assert [call.method for call in calls] == ["GET", "DELETE"]
        assert not any(call.authenticated for call in calls), "no key goes there"
        assert check_video(video.film_of(job)).duration_s == 3.0
