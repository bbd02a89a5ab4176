"""What a person does with a job in the window, by its buttons: cancel, reorder, order again, and lies that are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.storage.video_check import check_video
from app.ui.kit.theme import Theme
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, PROMPT, VideoHarness, open_video
from tests.kit.waiting import until
from tests.ui.video.test_page import titles

pytestmark = NO_DEVICES


def read(video: VideoHarness) -> str:
    """Everything that stands in the preview."""
    return "\n".join(video.inspector_texts())


async def test_waiting_jobs_are_reordered_and_cancelled_by_their_buttons(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        for number in range(4):
            await video.queue(f"place {number}")
        first, second = await video.queue("first"), await video.queue("second")
        assert video.page.badge() == 6 and "You can still cancel it" in read(video)
        assert video.buttons["up"].isVisible()
        video.press(video.buttons["up"])
        await until(lambda: titles(video)[:2] == ["first", "second"])
        video.choose(first)
        await until(lambda: video.detail.id == first)
        video.press(video.buttons["cancel"])
        await video.reaches(first, "cancelled")
        await until(lambda: video.page.badge() == 5 and "Nothing was charged" in read(video))
        assert not video.buttons["cancel"].isVisible()
        await until(lambda: [job.state for job in video.jobs].count("running") == 4)  # what comes later is not ready
        await controls.turn_clock(10)
        await video.reaches(second, "running", "saved")
        assert await controls.paid("/video/queue") == 5, "what was cancelled was never sent"


async def test_the_same_is_ordered_once_more_after_a_yes_at_its_price(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        first = await video.queue()
        await video.done(first)
        video.page.act("again")
        await video.say_yes()
        await until(lambda: len(video.jobs) == 2)
        again = video.job
        assert again.prompt == PROMPT and again.quote_usd == video.one(first).quote_usd
        await video.reaches(again.id, "running")
        assert await controls.paid("/video/queue") == 2


async def test_the_switch_lets_the_service_delete_its_copy_once_the_file_is_whole_and_says_why_so(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        form = video.page.form
        assert not form.delete.isChecked(), "off by default"
        assert "Only after the file is checked on this computer" in form.delete_note.text()
        form.delete.setFocus()
        QTest.keyClick(form.delete, Qt.Key.Key_Space)
        job_id = await video.queue()
        await video.reaches(job_id, "running")
        await controls.turn_clock(10)
        await video.reaches(job_id, "cleaned")
        await until(lambda: video.remote_text() == "The service no longer has a copy")
        for exchange in video.exchanges:
            body = exchange.request.body
            assert not (isinstance(body, dict) and body.get("delete_media_on_completion"))


@pytest.mark.parametrize(
    ("fault", "values"),
    [
        ("lie", {"kind": "html"}),
        ("answer", {"status": 503}),
        ("cut", {"after": 20_000, "kind": "length"}),  # half a video that claims to be whole
        ("cut", {"after": 0, "kind": "length"}),  # nothing at all
    ],
    ids=["html", "busy", "truncated", "empty"],
)
async def test_R_VID_02_what_is_no_video_is_never_done_in_the_window_and_its_copy_stays(
    fault: str, values: dict[str, object], tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        video.presenter.form.set(clean_after=True)
        job_id = await video.queue()
        await video.reaches(job_id, "running")
        await controls.fault(fault, path="/video/retrieve", **values)
        asked = len(await controls.calls("/video/retrieve"))
        await controls.turn_clock(10)
        async with asyncio.timeout(30):
            while len(await controls.calls("/video/retrieve")) < asked + 2:
                await asyncio.sleep(0.02)
        assert video.state(job_id) in ("running", "ready") and video.detail.film == ""
        assert "Saved on this computer" not in read(video)
        assert await controls.calls("/video/complete") == []
        if fault == "cut":
            await until(lambda: "Rialto downloads it again" in read(video))
        await controls.reset_faults()

        def cleaned() -> bool:
            if video.one(job_id).held:  # the last lie may still have been on its way
                video.page.act("fetch", job_id)
            return video.state(job_id) == "cleaned"

        await until(cleaned)
        assert check_video(video.film_of(video.one(job_id))).duration_s == 3.0
        assert await controls.paid("/video/queue") == 1
