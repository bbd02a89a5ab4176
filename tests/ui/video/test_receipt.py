"""The receipt of a video: what it was quoted at, for how much video, how long it took, and whether it was charged."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.service.errors import ContentRefused
from app.ui.kit.theme import Theme
from app.ui.video.inspector import PREVIEW, REQUEST
from app.ui.video.session.job_poller import refusal_note
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES


def line(video: VideoHarness) -> str:
    receipt = video.receipt_line
    return receipt.text() if receipt.isVisible() else ""


def fact(video: VideoHarness, name: str) -> str:
    """What stands beside a name in the preview."""
    found = video.inspector_texts()
    return found[found.index(name) + 1]


async def test_a_video_has_its_receipt_with_price_length_time_and_request_and_it_opens_the_request(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        assert line(video) == "", "nothing before it is known to be queued"
        await video.reaches(job_id, "running")
        asked = video.one(job_id)
        await until(lambda: line(video))
        assert line(video) == f"$0.15 quoted · 3 s of video · req {asked.request_id[:12]} · play money"
        job = await video.done(job_id)
        assert line(video).startswith("$0.15 quoted · 3 s of video · took ")
        assert fact(video, "Cost") == "$0.15 quoted, play money"
        assert fact(video, "Request ID") == job.request_id and fact(video, "Queue ID") == job.queue_id
        assert video.inspector_tab() == PREVIEW
        QTest.mouseClick(video.receipt_line, Qt.MouseButton.LeftButton)
        assert video.inspector_tab() == REQUEST
        assert job.request_id in video.answer_text()


async def test_what_was_given_back_and_what_was_never_charged_is_on_the_receipt(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        stopped = await video.queue("a boat sandbox-violation")
        await video.reaches(stopped, "running")
        await controls.turn_clock(10)
        await video.reaches(stopped, "failed")
        assert "refunded" in line(video) and "not refunded" not in line(video)
        refused = await video.queue("a boat sandbox-refused")
        await video.reaches(refused, "failed")
        await until(lambda: line(video) == "Nothing was charged")
        await controls.fault("drop", path="/video/queue", times=1)
        lost = await video.queue("a boat that is lost")
        await video.reaches(lost, "unknown")
        await until(lambda: line(video) == "possibly $0.15 · unknown")


def test_a_refusal_says_what_became_of_the_price_and_which_model_may_do_it() -> None:
    error = ContentRefused("Not this.", status=422)
    assert refusal_note(error) == "Not this. The service does not say whether it was charged."
    error.credits_refunded, error.recommended_model = True, "reel"
    assert refusal_note(error) == "Not this. The cost was refunded. It suggests the model reel."
