"""Extra JSON in Speech: sent with every part, kept with the draft and the clip, and refused at its field."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.storage.paid_call_intents import Intents
from app.ui.speech.speech_options import speech_options_from
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until


def type_extra(speech: SpeechHarness, text: str) -> None:
    speech.extra_fold.head.click()
    speech.extra.setFocus()
    QTest.keyClicks(speech.extra.box, text)


async def test_r_gen_15_extra_json_of_speech_is_sent_kept_and_copied(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.write("The tide turns at noon.")
    extra = speech.extra
    type_extra(speech, '{"pitch": 1.5}')
    speech.page.speak(aloud=False)
    await until(lambda: speech.clips and speech.clips[0].state == "complete" and not speech.presenter.is_speaking)
    clip = speech.clips[0]
    assert speech.request_pane.record.body["pitch"] == 1.5
    speech.request_pane.copy_curl()
    assert '"pitch"' in QGuiApplication.clipboard().text()
    assert speech_options_from((await speech.saved_draft())["knobs"]).extra_json == '{"pitch": 1.5}'
    (intent,) = await Intents(speech.database).recent("speech")
    assert intent.request["pitch"] == 1.5
    extra.box.clear()
    QTest.keyClicks(extra.box, '{"other": 1}')
    extra.flush()
    speech.open_clip(clip.id)
    await until(lambda: speech.presenter.head.clip_id == clip.id)
    assert extra.box.toPlainText() == '{\n  "pitch": 1.5\n}', "a clip brings what it was spoken with"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"pitch": NaN}', "JSON does not allow NaN or Infinity."),
        ('{"pitch": 1e999}', "JSON does not allow NaN or Infinity."),
        ('{"input": "other words"}', "Set “input” in its own field, Text."),
        ('{"voice": "af_sky"}', "Set “voice” in its own field, Voice."),
    ],
)
async def test_extra_json_of_speech_that_cannot_be_sent_is_refused(
    speech: SpeechHarness, text: str, fault: str
) -> None:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.write("The tide turns at noon.")
    type_extra(speech, text)
    speech.page.speak(aloud=False)
    assert speech.extra.note.text() == fault
    assert speech.speak_bar.length.text() == f"Extra JSON: {fault}" and not speech.speak_bar.speak.isEnabled()
    assert speech.toasts[-1][0] == f"Extra JSON: {fault}"
    assert not speech.clip_actions.audition("Hello there.", (("tts-kokoro", "bf_emma"),))
    speech.aloud.begin("answer", "Hello there.", is_whole=True)
    assert not speech.tasks.running("speech speak") and not speech.tasks.running("speech audition")
    assert speech.paid_calls == 0 and not speech.clips
