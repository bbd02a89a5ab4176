"""What a clip cost and what was sent for it: part by part, now and after a restart."""

from __future__ import annotations

import httpx
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from tests.kit.speech import SpeechHarness, open_speech
from tests.kit.waiting import until

SENTENCE = "The harbour lies still in the morning. "


async def test_a_receipt_says_that_the_cost_is_an_estimate(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write("Hello there. This is a line.")
    estimate = speech.price_text()
    await speech.spoken()
    receipt = speech.receipt
    assert f"about {estimate}" in receipt.text()
    assert [run.text[:4] for run in receipt.runs if run.mono] == ["req "], "an id is read sign by sign"
    assert speech.rows[0].cost == f"about {estimate}"


async def test_what_was_cut_off_cost_at_most_its_estimate_and_a_refusal_nothing(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("format", "wav")
    await speech.fault("cut", path="/audio/speech", after=60_000, times=1)
    speech.write("Hello there. This is a line.")
    await speech.spoken()
    assert "up to $0.000098" in speech.receipt.text()
    assert speech.rows[0].cost.startswith("up to ")
    speech.page.new_clip()
    await speech.fault("answer", path="/audio/speech", status=402, times=1)
    speech.write("Another line.")
    await speech.spoken()
    assert "nothing charged" in speech.receipt.text()
    assert speech.rows[0].cost == ""


async def test_each_call_of_a_long_reading_can_be_looked_at_now_and_after_a_restart(
    speech: SpeechHarness, qtbot: QtBot
) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("speed", 4.0)
    speech.write(SENTENCE * 110)
    await speech.spoken()
    speech.page.open_request()
    page = speech.request_pane
    assert page.which.text() == "Part 2 of 2"
    assert '"speed": 4.0' in page.body.toPlainText() and page.outcome.text().startswith("200")
    headers = dict(page.rows)
    assert headers["content-type"].startswith("audio/") and "x-service-model-id" in headers and "cf-ray" in headers
    page.before.setFocus()
    qtbot.keyClick(page.before, Qt.Key.Key_Space)
    assert page.which.text() == "Part 1 of 2" and not page.before.isEnabled()
    first = page.record.body
    assert first["input"].count("morning.") == 105
    page.curl.click()
    command = QGuiApplication.clipboard().text()
    assert "$RIALTO_API_KEY" in command and speech.sandbox.api_key not in command
    clip_id = speech.keys[0]
    async with open_speech(speech.home, speech.sandbox, speech.theme) as later:
        later.page.open_clip(clip_id)
        page = later.request_pane
        await until(lambda: page.which.text() == "Part 2 of 2")
        page.before.click()
        assert page.record.body == first, "made again from what is kept, to the letter"
        assert dict(page.rows)["Status"] == "complete" and dict(page.rows)["Request ID"]
        assert page.curl.isHidden()


async def test_a_clip_that_goes_to_transcribe_is_called_by_its_title(speech: SpeechHarness) -> None:
    handed: list[object] = []
    speech.page.transcribe_requested.connect(handed.append)
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.page.take_text("Hello there.", "The ferry: a talk")
    assert speech.title_text() == "The ferry: a talk"
    await speech.spoken()
    clip = speech.clips[0]
    assert clip.title == "The ferry: a talk"
    speech.transcribe_button.click()
    await until(lambda: handed)
    (path,) = handed
    assert path.name == "The ferry a talk.mp3"  # type: ignore[attr-defined]  # a Path
    assert path.read_bytes() == speech.files.part(clip.parts[0]).read_bytes()  # type: ignore[attr-defined]
    speech.presenter.set_speech_option("speed", 4.0)
    speech.page.take_text(SENTENCE * 110, "Long")
    await speech.spoken()
    speech.transcribe_button.click()
    await until(lambda: len(handed) == 2)
    assert handed[1].name == "Long.flac"  # type: ignore[attr-defined]


async def test_a_key_never_stands_on_the_request_page(speech: SpeechHarness) -> None:
    speech.write("Hello there.")
    await speech.spoken()
    page = speech.request_pane
    shown = page.path.text() + page.body.toPlainText() + str(page.rows)
    assert speech.sandbox.api_key not in shown and "Authorization" not in shown
    assert httpx.URL(speech.sandbox.origin).host not in shown
