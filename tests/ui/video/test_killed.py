"""SIGKILL at every step of a job: after the next start there is one paid job and its file, and never a second one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage.paid_call_intents import Intents
from app.storage.video_check import check_video
from tests.kit.sandbox import Controls
from tests.kit.video import open_video_presenter
from tests.kit.waiting import until
from tests.ui.killing import KilledPrograms, killed_programs


@pytest.fixture(scope="module")
def killed_programs_here() -> Iterator[KilledPrograms]:
    with killed_programs("tests.ui.video.killed_video") as found:
        yield found


async def kill_at(killed_programs_here: KilledPrograms, step: str, home: Path, controls: Controls) -> None:
    assert await killed_programs_here.kill(step, str(home), controls.base_url, controls.api_key) == "here"


@pytest.mark.parametrize(
    ("step", "paid_before"),
    [
        ("ordered", 0),  # the row is on the disk, nothing else
        ("intended", 0),  # the intent is on the disk, it was never sent
        ("sending", 0),  # the row says sending, the intent knows better
        ("kept", 1),  # the service's id is on the disk, the intent does not know yet
        ("rendering", 1),  # after the first poll
        ("fetching", 1),  # in the middle of the download
        ("fetched", 1),  # the file has its name, the row does not know
        ("saved", 1),  # checked, the service still has its copy
        ("removed", 1),  # the copy is deleted, the row does not know
        ("kept private", 1),  # the address of the video is on the disk, the intent does not know yet
        ("fetching private", 1),  # in the middle of what comes from that address
        ("saved private", 1),  # checked, and the address not revoked yet
    ],
)
async def test_R_VID_02_killed_at_a_step_a_job_ends_with_one_paid_video_on_the_disk(
    killed_programs_here: KilledPrograms, step: str, paid_before: int, tmp_home: Path, controls: Controls
) -> None:
    await kill_at(killed_programs_here, step, tmp_home, controls)
    assert await controls.paid("/video/queue") == paid_before
    async with open_video_presenter(tmp_home, controls) as video:
        (job,) = video.jobs
        await until(lambda: video.state(job.id) not in ("waiting", "sending"))
        await controls.turn_clock(20)
        job = await video.reaches(job.id, "cleaned")
        assert check_video(video.film_of(job)).duration_s == 3.0
        assert await controls.paid("/video/queue") == 1
        assert job.download_url == "", "revoked"
        assert await Intents(video.database).pending("video") == ()
        left = sorted(path.name for path in video.folder.iterdir())
        assert left == [job.file], "nothing half done stays"


@pytest.mark.parametrize(("step", "paid_before"), [("leaving", 0), ("queued", 1)])
async def test_killed_between_sending_and_the_answer_nobody_knows_and_nothing_is_queued_by_itself(
    killed_programs_here: KilledPrograms, step: str, paid_before: int, tmp_home: Path, controls: Controls
) -> None:
    await kill_at(killed_programs_here, step, tmp_home, controls)
    async with open_video_presenter(tmp_home, controls) as video:
        (job,) = video.jobs
        assert job.state == "unknown"
        assert any("It is not clear" in notice for notice in video.notices)
        await controls.turn_clock(20)
        await asyncio.sleep(0.3)  # time in which a program that queues by itself would have done it
        assert await controls.paid("/video/queue") == paid_before
        video.presenter.again(job.id)  # the person does
        await until(lambda: len(video.jobs) == 2)
        await until(lambda: video.job.state == "running")
        await controls.turn_clock(60)
        await video.reaches(video.job.id, "saved", "cleaned")
        assert await controls.paid("/video/queue") == paid_before + 1
    async with open_video_presenter(tmp_home, controls) as video:
        assert not any("It is not clear" in notice for notice in video.notices), "a person is told once"
