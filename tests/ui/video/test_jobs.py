"""A job from its order to its clean-up, against the Sandbox with its clock turned."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.storage.film_check import check_film
from tests.ui.video.desk import PRIVATE_MODEL, Controls, open_desk


async def test_R_VID_01_a_film_is_ordered_fetched_checked_and_kept(tmp_home: Path, controls: Controls) -> None:
    async with open_desk(tmp_home, controls) as desk:
        job = await desk.order()
        assert job.state == "running" and job.queue_id and job.quote_usd is not None
        job = await desk.done(job.id)
        film = desk.presenter.book.film(job)
        assert check_film(film).duration_s == job.duration_s == 3.0
        assert job.size_bytes == film.stat().st_size
        assert (job.width, job.height) == (640, 360)
        assert job.remote_copy, "nothing is deleted at the service unasked"
        assert await controls.calls("/video/complete") == []
        assert any("is ready" in notice for notice in desk.notices)


async def test_a_film_that_is_ordered_before_the_disk_was_read_is_ordered_then(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_desk(tmp_home, controls) as desk:
        await desk.fill()
        desk.presenter._opened.clear()
        assert desk.presenter.queue()
        assert not desk.presenter.queue(), "a second press orders nothing"
        await asyncio.sleep(0)
        assert desk.jobs == ()
        desk.presenter._opened.set()
        await desk.until(lambda: desk.jobs)
        await desk.until(lambda: desk.jobs[0].state == "running")
        assert len(desk.jobs) == 1


async def test_R_VID_02_the_copy_is_deleted_once_the_file_is_whole_when_that_was_asked_for(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_desk(tmp_home, controls) as desk:
        job = await desk.order(clean_after=True)
        await controls.turn_clock(10)
        job = await desk.reaches(job.id, "cleaned")
        assert not job.remote_copy
        assert len(await controls.calls("/video/complete")) == 1


async def test_a_private_film_comes_from_its_address_which_is_stored_at_once_and_taken_back(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_desk(tmp_home, controls) as desk:
        job = await desk.order(model=PRIVATE_MODEL)
        assert "/downloads/" in job.download_url
        job = await desk.done(job.id)
        await desk.until(lambda: not desk.one(job.id).download_url)
        calls = [exchange.request for exchange in desk.exchanges if "/downloads/" in exchange.request.url]
        assert [call.method for call in calls] == ["GET", "DELETE"]
        assert not any(call.authenticated for call in calls), "no key goes there"
        assert check_film(desk.presenter.book.film(job)).duration_s == 3.0
