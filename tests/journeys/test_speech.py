"""The whole program with a real loudspeaker: write, speak, restart; have an answer read aloud and silence it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bootstrap.rialto import Rialto
from app.credentials.accounts import new_account
from app.ui.speech.page import SpeechPage
from tests.audio.pulse import Pulse
from tests.audio.sounds import is_loud
from tests.journeys.talk import in_the_sandbox
from tests.kit.settings import change_settings
from tests.kit.waiting import until

PAUSE_S = 1.0  # longer than any between two sentences


def speech_of(rialto: Rialto) -> SpeechPage:
    page = rialto.window.tab("speech")
    assert isinstance(page, SpeechPage)
    return page


def silent_for_s(recording: Path, pulse: Pulse) -> float:
    """How long nothing has been heard at the end of what is being recorded."""
    samples = np.fromfile(recording, np.float32)
    loud = np.flatnonzero(np.abs(samples) >= 0.01)
    return float(len(samples) - (loud[-1] if len(loud) else 0)) / pulse.rate_hz


async def test_a_person_speaks_a_line_and_finds_it_after_a_restart(
    start: Callable[..., Any], qtbot: QtBot, pulse: Pulse
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("speech")
        page = speech_of(rialto)
        await until(lambda: page.presenter.ready.is_set() and not page.presenter.voice_list.is_offline)
        page.presenter.use_voice("tts-kokoro", "bf_emma")
        page.main.editor.setFocus()
        qtbot.keyClicks(page.main.editor, "Hello there. This is a line.")
        with pulse.listening() as recording:
            qtbot.keyClick(page.main.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            if not page.presenter.is_speaking:  # off screen a window may not be active, and its keys go nowhere
                page.speak()
            await until(lambda: page.presenter.sound.player.state == "ended" and is_loud(recording))
        assert rialto.database is not None
    async with start() as rialto:
        rialto.window.show_tab("speech")
        page = speech_of(rialto)
        await until(lambda: page.list.view.rows.shown_keys())
        await until(lambda: page.main.editor.toPlainText() == "Hello there. This is a line.")
        page.open_clip(str(page.list.view.rows.shown_keys()[0]))
        await until(lambda: page.main.player.waveform.duration_s > 0.5)
        assert page.presenter.choice.voice == "bf_emma"


async def test_the_voice_that_is_shown_is_the_one_that_speaks_from_the_first_clip_on(start: Callable[..., Any]) -> None:
    """Also for a person who is quicker than the list of voices, and with whichever account."""
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.window.show_tab("speech")
        page = speech_of(rialto)
        await until(page.presenter.ready.is_set)
        clips = page.presenter.clip_library
        page.main.editor.setPlainText("Hello there.")
        rialto.current_account.account_changed.connect(lambda: page.speak(aloud=False))
        box = rialto.account_services.sandbox_account()
        other = rialto.account_services.accounts.add(new_account("Other box", box.base_url, kind="sandbox"))
        for account in (box, other, box):
            rialto.accounts.use(account.id)
            await until(
                lambda of=account.id: [one.state for one in clips.rows[:1] if one.account_id == of] == ["complete"]
            )
            await until(lambda: not page.presenter.is_speaking)
            await until(lambda: not page.presenter.voice_list.is_offline)
            clip, picker = clips.rows[0], page.side.picker
            assert clip.voice_name == "Sky"
            assert picker.delegate.marked == (clip.model, clip.voice)
            row = page.list.view.rows.row(page.list.view.rows.index_of(clip.id))
            assert row.second_line == page.main.model.text() == "Sky · Kokoro"


async def test_an_answer_is_read_aloud_and_escape_silences_it_in_any_tab(
    start: Callable[..., Any], qtbot: QtBot, pulse: Pulse
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("chat")
        rialto.chat_page.send("What is the Sandbox good for?")
        await until(lambda: any(row.role == "assistant" and len(row.text) > 80 for row in rialto.chat_page.rows()))
        row = rialto.chat_page.rows()[-1]
        rialto.chat_page.main.view.action.emit(row.id, "speak")
        await until(lambda: "speech" in {tab.name for tab in rialto.window.built_tabs()})
        page = speech_of(rialto)
        with pulse.listening() as recording:
            await until(lambda: page.presenter.sound.player.position_s > 0.3)
            assert rialto.window.current_tab == "chat"
            qtbot.keyClick(rialto.window, Qt.Key.Key_Escape)
            await until(lambda: silent_for_s(recording, pulse) > PAUSE_S)
        await until(lambda: not page.presenter.is_speaking)
        clip = page.presenter.clip_library.rows[0]
        assert page.presenter.sound.player.state == "paused", "it was not heard to its end"
        assert clip.text and not set("*`#[") & set(clip.text)
        await until(lambda: rialto.chat_page.rows()[-1].state == "complete")
