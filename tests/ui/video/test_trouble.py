"""What comes is no video, the network goes, the service refuses: nothing paid for is lost, and nothing is deleted."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from app.service.http.downloads import part_path
from app.storage.paid_call_intents import Intents
from app.storage.video_check import check_video
from app.ui.video.session.job_store import VideoJobStore
from tests.kit.sandbox import Controls
from tests.kit.video import PRIVATE_MODEL, TEXT_MODEL, open_video_presenter
from tests.kit.waiting import entered, until
from tests.read_only import vanished


@pytest.mark.parametrize("kind", ["html", "empty", "length"])
async def test_R_VID_02_a_lying_video_is_never_done_and_never_deletes_the_copy(
    kind: str, tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(clean_after=True)
        await controls.fault("lie", kind=kind, path="/video/retrieve")
        await controls.turn_clock(10)
        lies = len(await controls.calls("/video/retrieve"))
        async with asyncio.timeout(60):
            while not video.one(job.id).held and len(await controls.calls("/video/retrieve")) < lies + 2:
                await asyncio.sleep(0.02)
        assert video.state(job.id) in ("running", "ready") and not video.one(job.id).size_bytes
        if kind == "html":
            assert "is not a video. Rialto" in video.one(job.id).note
        assert not video.film_of(job).exists()
        assert await controls.calls("/video/complete") == []
        assert video.one(job.id).remote_copy
        await controls.reset_faults()
        video.presenter.do("fetch", job.id)
        async with asyncio.timeout(60):
            while video.state(job.id) != "cleaned":
                if video.one(job.id).held:  # the last lie was still on its way
                    video.presenter.do("fetch", job.id)
                await asyncio.sleep(0.02)
        assert check_video(video.film_of(video.one(job.id))).duration_s == 3.0


async def test_a_truncated_video_is_held_after_three_times_and_fetched_again_by_hand(
    tmp_home: Path, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(clean_after=True)
        job_poller = video.presenter.job_poller
        whole = job_poller._verify

        async def torn(job_: object, **values: bool) -> bool:
            film = video.film_of(job)
            if film.exists():
                film.write_bytes(film.read_bytes()[:-100])
            return await whole(job_, **values)  # type: ignore[arg-type]  # the job

        monkeypatch.setattr(job_poller, "_verify", torn)
        await controls.turn_clock(10)
        await until(lambda: video.one(job.id).held)
        job = video.one(job.id)
        assert job.state == "ready" and "100 bytes early" in job.note and "Nothing was deleted" in job.note
        assert await controls.calls("/video/complete") == []
        monkeypatch.setattr(job_poller, "_verify", whole)
        video.presenter.do("fetch", job.id)
        await video.reaches(job.id, "cleaned")


async def test_R_VID_02_a_video_that_cannot_be_read_here_is_no_bad_one_and_its_copy_stays(
    tmp_home: Path, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(clean_after=True)
        job_poller = video.presenter.job_poller
        verify, kept = job_poller._verify, tmp_home / "kept.mp4"

        async def unreadable(job_: object, **values: bool) -> bool:
            film = video.film_of(job_)
            if film.is_file():
                film.rename(kept)
                film.mkdir()
            return await verify(job_, **values)  # type: ignore[arg-type]  # the job

        monkeypatch.setattr(job_poller, "_verify", unreadable)
        await controls.turn_clock(10)
        await until(lambda: "Reading the video failed" in video.presenter.job_store.unsaved.get(job.id, ""))
        job = video.one(job.id)
        assert job.state in ("running", "ready") and job.remote_copy and not job.bad_films
        assert await controls.calls("/video/complete") == []
        video.film_of(job).rmdir()
        kept.rename(video.film_of(job))
        monkeypatch.setattr(job_poller, "_verify", verify)
        await video.reaches(job.id, "cleaned")


async def test_R_VID_02_a_video_that_was_damaged_here_keeps_the_copy_at_the_service(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        job = await video.done(job.id)
        film = video.film_of(job)
        whole = film.read_bytes()
        film.write_bytes(whole[:-100])
        video.presenter.do("clean", job.id)
        await until(lambda: "The service still has its copy." in video.notices)
        job = video.one(job.id)
        assert job.state == "saved" and job.remote_copy and "the file here is incomplete" in job.note
        assert await controls.calls("/video/complete") == []
        film.write_bytes(whole)
        video.presenter.do("clean", job.id)
        await video.reaches(job.id, "cleaned")


@pytest.mark.parametrize("model", [TEXT_MODEL, PRIVATE_MODEL])
@pytest.mark.parametrize("refused", ["folder", "history"])
async def test_R_VID_02_a_video_that_the_disk_refuses_stays_at_the_service_until_it_is_safe(
    tmp_home: Path, controls: Controls, model: str, refused: str
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(model=model, clean_after=True)
        writer = video.database._writer
        with vanished(video.folder) if refused == "folder" else nullcontext():
            if refused == "history":
                await until(lambda: not video.tasks.running("video draft"))  # the form is kept
                await writer.execute("PRAGMA query_only=ON")
            await controls.turn_clock(10)
            await until(lambda: "could not be saved here" in " ".join(video.notices))
            tries = len(await controls.calls("/video/retrieve"))
            while len(await controls.calls("/video/retrieve")) < tries + 2 and refused == "folder":
                await asyncio.sleep(0.02)
            job = video.one(job.id)
            assert job.state in ("running", "ready") and not job.held and not job.bad_films and job.remote_copy
            assert "The service has its copy" in video.presenter.job_store.unsaved[job.id]
            assert len(video.notices) == 1
            assert await controls.calls("/video/complete") == []
            await writer.execute("PRAGMA query_only=OFF")
        job = await video.reaches(job.id, "cleaned")
        assert check_video(video.film_of(job)).duration_s == 3.0
        assert await controls.paid("/video/queue") == 1


async def test_a_network_cut_in_the_middle_of_a_video_starts_the_download_anew(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        await controls.fault("cut", after=20_000, times=1)
        await video.done(job.id)
        assert check_video(video.film_of(job)).duration_s == 3.0
        assert [path.name for path in video.folder.iterdir()] == [job.file]


async def test_a_download_that_takes_ranges_goes_on_where_it_broke_off(tmp_home: Path, controls: Controls) -> None:
    """Even in the next run of the program: the part and the mark of its video stay on the disk."""
    async with open_video_presenter(tmp_home, controls, pace=0.1) as video:
        job = await video.order(model=PRIVATE_MODEL)
        part = part_path(video.film_of(job))
        await controls.fault("cut", path="/downloads", after=20_000)
        await controls.turn_clock(10)
        await until(lambda: part.exists() and part.stat().st_size >= 40_000)  # cut twice, gone on with once
    assert part.exists()
    await controls.reset_faults()
    shown: list[int] = []
    async with open_video_presenter(tmp_home, controls) as video:
        video.presenter.job_poller.progressed.connect(
            lambda key: shown.append(video.presenter.job_poller.received.get(key, (0, None))[0])
        )
        job = await video.reaches(job.id, "saved")
        film = video.film_of(job)
        assert check_video(film).duration_s == 3.0
        assert min(count for count in shown if count) > 40_000, "what was there is not fetched again"
        assert [path.name for path in video.folder.iterdir()] == [job.file]


async def test_a_lost_answer_of_the_queue_is_unknown_and_nothing_is_queued_again(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        await controls.fault("drop", path="/video/queue", times=1)
        job = await video.order()
        assert job.state == "unknown" and "may have been queued and charged" in job.note
        video.presenter.poll_scheduler.soon()
        video.presenter.sending.wake()
        await asyncio.sleep(0.2)
        assert len(await controls.calls("/video/queue")) == 1
    async with open_video_presenter(tmp_home, controls) as video:
        assert video.job.state == "unknown", "also after the next start"


async def test_a_job_whose_number_comes_while_the_program_closes_goes_on_after_the_next_start(
    tmp_home: Path, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = entered(monkeypatch, VideoJobStore, "record")
    async with open_video_presenter(tmp_home, controls) as video:
        await video.fill()
        assert video.presenter.queue()
        await came.wait()
    async with open_video_presenter(tmp_home, controls) as again:
        assert (again.job.state, bool(again.job.queue_id)) == ("running", True)


async def test_a_refusal_of_the_policy_tells_what_became_of_the_money(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        refused = await video.order("a boat sandbox-refused")
        assert refused.state == "failed" and "Nothing was charged" in refused.note
        problem = video.presenter.detail().problem
        assert problem is not None and [action.id for action in problem.actions] == ["video-proposal", "video-use"]
        video.presenter.use_again(refused.id, as_proposed=True)
        assert video.presenter.form.form.prompt == "A harbor at dawn, seen from the pilot's boat"
        stopped = await video.order("a boat sandbox-violation")
        await controls.turn_clock(10)
        stopped = await video.reaches(stopped.id, "failed")
        assert stopped.refunded is True and "refunded" in stopped.note
        refunds = [(each.id, each.cost_usd) for each in video.exchanges if each.cost_usd and each.cost_usd < 0]
        assert refunds == [(f"{stopped.exchange_id}-refund", -stopped.quote_usd)]
        await video.presenter.job_store.record(stopped.id, state="running", refunded=None, ended_at=None)
    async with open_video_presenter(tmp_home, controls) as again:  # killed before the job knew of its refund
        stopped = await again.reaches(stopped.id, "failed")
        told = [(each.id, each.cost_usd) for each in again.exchanges if each.cost_usd and each.cost_usd < 0]
        assert told == refunds, "its receipt is replaced, so that it counts once"


async def test_a_video_that_is_gone_at_the_service_is_expired(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        await controls.turn_clock(200_000)
        job = await video.reaches(job.id, "expired")
        detail = video.presenter.detail()
        assert not job.remote_copy and detail.problem is not None
        assert detail.problem.primary is None and "use" in detail.actions, "Use again is there once"


async def test_an_empty_balance_keeps_the_job_until_the_person_says_go(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        await controls.send("/balance", "PUT", usd="0", diem="0")
        job = await video.order()
        assert job.state == "waiting" and job.held and "Nothing was charged" in job.note
        await controls.send("/balance", "PUT", usd="5")
        video.presenter.do("send", job.id)
        await video.reaches(job.id, "running")
        assert await controls.paid("/video/queue") == 1


async def test_waiting_jobs_are_cancelled_and_reordered_here_for_nothing(tmp_home: Path, controls: Controls) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        for number in range(4):
            await video.order(f"place {number}")
        waiting = []
        for name in ("first", "second", "third"):
            await video.fill(name)
            assert video.presenter.queue()
            await until(partial(video.is_newest, name))
            waiting.append(video.job)
        assert {job.state for job in waiting} == {"waiting"}
        video.presenter.do("cancel", waiting[0].id)
        await video.reaches(waiting[0].id, "cancelled")
        video.presenter.do("up", waiting[2].id)
        await until(lambda: [job.prompt for job in video.jobs if job.state == "waiting"] == ["second", "third"])
        assert await controls.paid("/video/queue") == 4
        await controls.turn_clock(10)
        await video.reaches(waiting[1].id, "running", "saved")
        third, second = video.one(waiting[2].id), video.one(waiting[1].id)
        assert third.queued_at is not None and second.queued_at is not None and third.queued_at < second.queued_at
        assert video.state(waiting[0].id) == "cancelled" and await controls.paid("/video/queue") == 6


async def test_a_job_that_is_leaving_cannot_be_cancelled_any_more(
    tmp_home: Path, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving = entered(monkeypatch, Intents, "open")
    states: list[str] = []
    async with open_video_presenter(tmp_home, controls) as video:
        await video.fill()
        assert video.presenter.queue()
        await leaving.wait()
        job_id = video.job.id
        video.presenter.job_store.job_changed.connect(lambda _id: states.append(video.state(job_id)))
        video.presenter.do("cancel", job_id)
        await video.reaches(job_id, "running")
        assert "cancelled" not in states
        assert video.notices == ["It was already sent and can no longer be canceled."]
        assert await controls.paid("/video/queue") == 1


async def test_without_a_network_a_job_waits_and_goes_when_it_is_back(
    tmp_home: Path, controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.service.errors import ConnectionFailed

    async with open_video_presenter(tmp_home, controls) as video:
        await video.fill()
        queue = video.service.video.queue

        async def cut_off(*_: object, **__: object) -> None:
            raise ConnectionFailed("No route", surely_not_sent=True)

        monkeypatch.setattr(video.service.video, "queue", cut_off)
        assert video.presenter.queue()
        await until(lambda: video.presenter.sending.is_offline and video.jobs and video.job.state == "waiting")
        assert "network" in video.job.note
        monkeypatch.setattr(video.service.video, "queue", queue)
        await video.reaches(video.job.id, "running")
        assert await controls.paid("/video/queue") == 1


async def test_another_account_does_not_touch_the_jobs_of_the_first(tmp_home: Path, controls: Controls) -> None:
    from app.credentials.accounts import Account

    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order()
        mine = video.current_account.account
        other = Account(id="other", name="Other", base_url=controls.base_url, kind="api_key")
        video.current_account.use(other, video.service)
        asked = len(await controls.calls("/video/retrieve"))
        await controls.turn_clock(10)
        await asyncio.sleep(0.4)
        assert len(await controls.calls("/video/retrieve")) <= asked + 1, "one may have been on its way"
        assert video.state(job.id) == "running"
        assert "account" in video.presenter.detail().progress
        video.current_account.use(mine, video.service)
        await video.reaches(job.id, "saved")


async def test_a_download_address_that_is_no_web_address_is_named_and_nothing_is_called_gone(
    tmp_home: Path, controls: Controls
) -> None:
    async with open_video_presenter(tmp_home, controls) as video:
        job = await video.order(model=PRIVATE_MODEL)
        await video.presenter.job_store.record(job.id, download_url="file:///etc/passwd")
        await controls.turn_clock(10)
        await until(lambda: video.one(job.id).held)
        job = video.one(job.id)
        assert job.state == "ready" and "no secure address" in job.note
