"""The tour's third act: one real piece of work in every tab beside the chat, all of it in the Sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.shell.tour_guide import StepFailed
from app.ui.speech.page import SpeechPage
from app.ui.transcription.page import TranscriptionPage

if TYPE_CHECKING:
    from pathlib import Path

    from app.storage.takes import Take
    from app.ui.shell.tour_guide import Guide

SAYING = "The train leaves the station at seven. I would like a cup of coffee and a piece of bread."
CALLS = """[
  {"method": "eth_blockNumber", "params": []},
  {"method": "eth_getBalance", "params": ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "latest"]},
  {"method": "eth_getBlockByNumber", "params": ["latest", false]},
  {"method": "trace_replayTransaction", "params": ["0x0000000000000000000000000000000000000000000000000000000000000001", ["trace"]]}
]"""  # noqa: E501 - the calls are sent as they stand


async def act(guide: Guide) -> None:
    """Speak, transcribe what was spoken, and call a chain."""
    window = guide.window
    await guide.until("the Sandbox", lambda: window.caller.is_sandbox and window.caller.service is not None)
    clip = await _speech(guide)
    await _transcription(guide, clip)
    await _crypto_rpc(guide)


async def _speech(guide: Guide) -> Path:
    window = guide.window
    window.show_tab("speech")
    page = window.tab("speech")
    assert isinstance(page, SpeechPage)
    presenter = page.presenter
    await guide.until("voices", lambda: presenter.clips is not None and presenter.model is not None)
    editor = page.main_input()
    assert editor is not None
    editor.setFocus()
    QTest.keyClicks(editor, SAYING)
    await guide.until("the text's price", lambda: presenter.text == SAYING and not presenter.meter.why_not)
    page.speak(aloud=False)
    await guide.until("the clip", lambda: _spoken(page) is not None)
    take = _spoken(page)
    assert take is not None
    saw = f"{take.voice_name} said {len(SAYING)} characters in {take.duration_s:.1f} s of sound."
    await guide.picture("speech", saw)
    reading = presenter.sound.reading
    if reading is None:
        raise StepFailed("the clip is not in the player")
    return reading.path_of(reading.take.parts[0])


def _spoken(page: SpeechPage) -> Take | None:
    clips = page.presenter.clips
    return next((take for take in clips.rows if take.state == "complete"), None) if clips is not None else None


async def _transcription(guide: Guide, clip: Path) -> None:
    window = guide.window
    window.show_tab("transcription")
    page = window.tab("transcription")
    assert isinstance(page, TranscriptionPage)
    presenter = page.presenter
    await guide.until("the recogniser", lambda: presenter.transcripts is not None)
    presenter.add_files([clip])
    await guide.until(
        "the clip to be looked at", lambda: presenter.head().view == "sound" and presenter.head().can_send
    )
    page.main_action()
    await guide.until("the transcript", lambda: presenter.head().view == "result" and page.plain_text())
    words = page.plain_text().split()
    same = sum(word.strip(".,").lower() in SAYING.lower() for word in words)
    await guide.picture("transcript", f"The recogniser heard {len(words)} words of it, {same} of them right.")


async def _crypto_rpc(guide: Guide) -> None:
    window = guide.window
    window.show_tab("crypto_rpc")
    page = window.tab("crypto_rpc")
    assert isinstance(page, CryptoRpcPage)
    presenter = page.presenter
    await guide.until("the methods", lambda: presenter.methods is not None and presenter.view().can_send)
    presenter.edit(lambda draft: draft.set_text(CALLS))
    guide.press(page.main.request.params, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await guide.until("the answers", lambda: presenter.run is not None and presenter.run.outcomes)
    run = presenter.run
    assert run is not None
    saw = f"The chain answered {run.results} of {len(run.outcomes)} calls; {run.errors} went wrong and cost less."
    await guide.picture("console", saw)
