"""Extra JSON of a video: frozen with its job, sent when the job is, and refused at its field."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, PROMPT, TEXT_MODEL, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES


def type_extra(video: VideoHarness, text: str) -> None:
    video.extra_fold.head.click()
    video.extra.setFocus()
    QTest.keyClicks(video.extra.box, text)


async def test_r_gen_15_extra_json_of_a_video_is_frozen_with_its_job(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        extra = video.extra
        await video.fill()
        type_extra(video, '{"camera": {"pan": "left"}}')
        video.page.queue()
        await until(lambda: video.jobs)
        extra.box.clear()
        extra.flush()
        job = await video.reaches(video.job.id, "running")
        video.choose(job.id)
        video.run("video.request")
        assert "camera" in video.request_text()
        exchange = video.presenter.sending.exchanges[job.id]
        assert exchange.request.body["camera"] == {"pan": "left"}  # type: ignore[index,call-overload]  # a body of JSON
        video.request_pane.copy_curl()
        assert '"camera"' in QGuiApplication.clipboard().text()
        (intent,) = await Intents(video.database).recent("video")
        assert intent.request["extra"] == {"camera": {"pan": "left"}}
        video.presenter.use_again(job.id)
        assert extra.box.toPlainText() == '{"camera": {"pan": "left"}}' and extra.box.isVisible()
    async with open_video(tmp_home, theme, controls) as video:
        assert video.extra.box.toPlainText() == '{"camera": {"pan": "left"}}', "it is in the draft"
        assert video.presenter.form.form.model == TEXT_MODEL


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"camera": "\\ud800"}', "A text in it has half of a character (\\ud800 to \\udfff)."),
        ('{"duration": "60s"}', "Set “duration” in its own field, Length."),
        ('{"keyframes": []}', "Set “keyframes” in its own field, Keyframes."),
    ],
)
async def test_extra_json_of_a_video_that_cannot_be_sent_is_refused(
    tmp_home: Path, theme: Theme, controls: Controls, text: str, fault: str
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        await video.fill(PROMPT)
        type_extra(video, text)
        video.page.queue()
        assert video.extra.note.text() == fault
        assert video.price_note_text() == f"Extra JSON: {fault}"
        assert video.toasts[-1] == (f"Extra JSON: {fault}",) and not video.queue_button.isEnabled()
        assert video.jobs == ()
