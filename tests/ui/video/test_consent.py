"""A service that finds a face asks before it uses it: read, agreed to statement by statement, kept with the job."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from app.ui.video.consent import CONFIRMED, consent_from, read_consent
from app.ui.video.consent_dialog import ConsentDialog
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES
WORDS = "sandbox-consent of a face"


async def asked(video: VideoHarness) -> ConsentDialog:
    """Order a video with a face and open the question, all by keys."""
    job_id = await video.queue(WORDS)
    await until(lambda: video.one(job_id).held)
    video.run("video.consent")
    await until(lambda: video.window.findChild(ConsentDialog) is not None)
    dialog = video.window.findChild(ConsentDialog)
    assert isinstance(dialog, ConsentDialog)
    await until(dialog.isVisible)
    return dialog


async def test_a_face_is_agreed_to_by_keyboard_and_queued_once(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        dialog = await asked(video)
        assert video.detail.problem is not None and "consent" in video.detail.problem.what
        assert "I may use the faces in this media." in dialog.policy.toPlainText()
        assert "the start image" in dialog.said.text() and "Nothing was charged" in dialog.said.text()
        assert not dialog.go.isEnabled()
        assert await controls.paid("/video/queue") == 0
        for box in dialog.boxes:
            box.setFocus()
            QTest.keyClick(box, Qt.Key.Key_Space)
        assert dialog.go.isEnabled() and dialog.go.text() == f"Agree and queue for {video.detail.price}"
        dialog.go.setFocus()
        QTest.keyClick(dialog.go, Qt.Key.Key_Space)
        (job,) = video.jobs
        job = await video.reaches(job.id, "running")
        assert job.form["consents"] == {"face_media": dict.fromkeys(CONFIRMED, True)}
        assert ("Consent", "given, version 1") in video.detail.facts
        await video.done(job.id)
        assert await controls.paid("/video/queue") == 1
        states = sorted(intent.state for intent in await Intents(video.database).recent("video"))
        assert states == ["answered", "failed"], "the first was refused, the second carried out"


async def test_not_agreed_to_it_waits_also_after_a_restart_and_can_be_cancelled(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        dialog = await asked(video)
        QApplication.sendEvent(
            dialog, QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        )
        await until(lambda: video.window.findChild(ConsentDialog) is None or not dialog.isVisible())
        assert video.job.held
    async with open_video(tmp_home, theme, controls) as video:
        assert video.job.state == "waiting" and video.job.held
        assert "consent" in video.detail.actions and "send" not in video.detail.actions
        video.run("video.cancel")
        await video.reaches(video.job.id, "cancelled")
        assert await controls.paid("/video/queue") == 0


async def test_the_same_again_is_asked_again(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        dialog = await asked(video)
        for box in dialog.boxes:
            box.click()
        dialog.go.click()
        await video.reaches(video.job.id, "running")
        first = video.job.id
        video.presenter.again(first)
        await until(lambda: len(video.jobs) == 2 and video.job.held)
        assert video.job.id != first and "consents" not in video.job.form


@pytest.mark.parametrize("told", [{}, {"consent": 3, "face_media_roles": "all", "docs_url": 1, "consent_flow": ["x"]}])
def test_a_question_that_cannot_be_read_is_still_a_question(told: dict[str, object]) -> None:
    consent = read_consent(told)
    assert (consent.flow, consent.text, consent.where, consent.more_at) == ("consent", "", "", "")
    assert consent_from(consent.to_json()) == consent


def test_a_strangers_text_is_cut() -> None:
    consent = read_consent({"consent_flow": "f" * 999, "consent": {"policy_text": "x" * 99_999}})
    assert (len(consent.flow), len(consent.text)) == (200, 8_000)
