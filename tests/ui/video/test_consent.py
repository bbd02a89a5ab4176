"""A service that finds a face asks before it uses it: read, agreed to statement by statement, kept with the job."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.storage.intents import Intents
from app.ui.kit.theme import Theme
from app.ui.video.consent import CONFIRMED, consent_from, read_consent
from app.ui.video.consent_dialog import ConsentDialog
from tests.ui.video.desk import Controls
from tests.ui.video.room import NO_DEVICES, Room, open_room

pytestmark = NO_DEVICES
WORDS = "sandbox-consent of a face"


async def asked(room: Room) -> ConsentDialog:
    """Order a film with a face and open the question, all by keys."""
    job_id = await room.order(WORDS)
    await room.desk.until(lambda: room.desk.one(job_id).held)
    room.run("video.consent")
    await room.desk.until(lambda: room.window.findChild(ConsentDialog) is not None)
    dialog = room.window.findChild(ConsentDialog)
    assert isinstance(dialog, ConsentDialog)
    await room.desk.until(dialog.isVisible)
    return dialog


async def test_a_face_is_agreed_to_by_keyboard_and_queued_once(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        dialog = await asked(room)
        assert room.page.detail.problem is not None and "consent" in room.page.detail.problem.what
        assert "I may use the faces in this media." in dialog.policy.toPlainText()
        assert "the start image" in dialog.said.text() and "Nothing was charged" in dialog.said.text()
        assert not dialog.go.isEnabled()
        assert await controls.paid_jobs() == 0
        for box in dialog.boxes:
            box.setFocus()
            QTest.keyClick(box, Qt.Key.Key_Space)
        assert dialog.go.isEnabled() and dialog.go.text() == f"Agree and queue for {room.page.detail.price}"
        dialog.go.setFocus()
        QTest.keyClick(dialog.go, Qt.Key.Key_Space)
        (job,) = room.desk.jobs
        job = await room.desk.reaches(job.id, "running")
        assert job.form["consents"] == {"face_media": dict.fromkeys(CONFIRMED, True)}
        assert ("Consent", "given, version 1") in room.page.detail.facts
        await room.desk.done(job.id)
        assert await controls.paid_jobs() == 1
        states = sorted(intent.state for intent in await Intents(room.desk.database).recent("video"))
        assert states == ["answered", "failed"], "the first was refused, the second carried out"


async def test_not_agreed_to_it_waits_also_after_a_restart_and_can_be_cancelled(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        dialog = await asked(room)
        QApplication.sendEvent(
            dialog, QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        )
        await room.desk.until(lambda: room.window.findChild(ConsentDialog) is None or not dialog.isVisible())
        assert room.desk.job.held
    async with open_room(tmp_home, theme, controls) as room:
        assert room.desk.job.state == "waiting" and room.desk.job.held
        assert "consent" in room.page.detail.actions and "send" not in room.page.detail.actions
        room.run("video.cancel")
        await room.desk.reaches(room.desk.job.id, "cancelled")
        assert await controls.paid_jobs() == 0


async def test_the_same_again_is_asked_again(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        dialog = await asked(room)
        for box in dialog.boxes:
            box.click()
        dialog.go.click()
        await room.desk.reaches(room.desk.job.id, "running")
        first = room.desk.job.id
        room.desk.presenter.again(first)
        await room.desk.until(lambda: len(room.desk.jobs) == 2 and room.desk.job.held)
        assert room.desk.job.id != first and "consents" not in room.desk.job.form


@pytest.mark.parametrize("told", [{}, {"consent": 3, "face_media_roles": "all", "docs_url": 1, "consent_flow": ["x"]}])
def test_a_question_that_cannot_be_read_is_still_a_question(told: dict[str, object]) -> None:
    consent = read_consent(told)
    assert (consent.flow, consent.text, consent.where, consent.more_at) == ("consent", "", "", "")
    assert consent_from(consent.to_json()) == consent


def test_a_strangers_text_is_cut() -> None:
    consent = read_consent({"consent_flow": "f" * 999, "consent": {"policy_text": "x" * 99_999}})
    assert (len(consent.flow), len(consent.text)) == (200, 8_000)
