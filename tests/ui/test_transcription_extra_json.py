"""Extra JSON in Transcribe: sent as fields of the form, kept, and refused at its field for one file and for many."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.sandbox.server import RunningSandbox
from app.service.exchange import FormPart
from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from tests.audio.recorded import tone, write_wav
from tests.kit.transcription import TranscriptionHarness, open_transcription
from tests.kit.waiting import until


def type_extra(tab: TranscriptionHarness, text: str) -> None:
    tab.extra_fold.head.click()
    tab.extra.setFocus()
    QTest.keyClicks(tab.extra.box, text)


async def test_r_gen_15_extra_json_of_a_transcription_becomes_fields_of_its_form(
    tmp_home: Path, theme: Theme, swift_sandbox: RunningSandbox
) -> None:
    path = write_wav(tmp_home / "note.wav", tone(440, 1.0))
    async with open_transcription(tmp_home, theme, swift_sandbox) as tab:
        await until(lambda: tab.presenter.options.model)
        await tab.add(path)
        type_extra(tab, '{"prompt": "Names: Zoe", "diarize": true, "speakers": [1, 2]}')
        tab.press(tab.sound_pane.send)
        await tab.done()
        assert tab.shown == "result"
        (exchange,) = [each for each in tab.exchanges if each.request.method == "POST"]
        parts = exchange.request.body
        assert isinstance(parts, tuple)
        for name, value in (("prompt", "Names: Zoe"), ("diarize", "true"), ("speakers", "[1, 2]")):
            assert FormPart(name, value) in parts
        tab.request_pane.copy_curl()
        assert "diarize=true" in QGuiApplication.clipboard().text()
        (intent,) = await Intents(tab.database).recent("transcription")
        assert intent.request["extra"]["diarize"] is True
    async with open_transcription(tmp_home, theme, swift_sandbox) as tab:
        assert "diarize" in tab.extra.box.toPlainText(), "kept with the other options"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"diarize": tru}', "Line 1, column 13: expecting value."),
        ('{"language": "de"}', "Set “language” in its own field, Spoken language."),
        ('{"count": ' + "9" * 5000 + "}", "A number in it has too many digits."),
    ],
)
async def test_extra_json_of_a_transcription_that_cannot_be_sent_is_refused(
    tmp_home: Path, theme: Theme, swift_sandbox: RunningSandbox, text: str, fault: str
) -> None:
    paths = [write_wav(tmp_home / f"{name}.wav", tone(440, 1.0)) for name in ("one", "two")]
    async with open_transcription(tmp_home, theme, swift_sandbox) as tab:
        await until(lambda: tab.presenter.options.model)
        await tab.add(paths[0])
        tab.extra_fold.head.click()
        tab.extra.box.insertPlainText(text)
        tab.presenter.transcribe()  # right after the last key
        await tab.done()
        assert tab.extra.note.text() == fault
        assert tab.sound_pane.beta.text() == f"Extra JSON: {fault}" and not tab.sound_pane.send.isEnabled()
        await tab.add(*paths)
        tab.presenter.show_batch()
        assert not tab.batch_pane.start.isEnabled() and fault in tab.batch_pane.start.toolTip()
        tab.presenter.batch_queue.start()
        await tab.done()
        tab.page.say_why_not()
        assert tab.toasts[-1] == f"Extra JSON: {fault}"
        assert [each for each in tab.exchanges if each.request.method == "POST"] == []
