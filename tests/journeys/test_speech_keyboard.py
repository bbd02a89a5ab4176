"""The Speech tab of the whole program, with real sound, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import soundfile

from app.service.speech import SpeechRequest
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.speech.clone_dialog import CloneDialog
from tests.audio.pulse import Pulse
from tests.audio.sounds import is_loud
from tests.journeys.keyboard import Keyboard
from tests.journeys.talk import in_the_sandbox
from tests.journeys.test_speech import speech_of
from tests.kit.waiting import until

TEXT = "The ferry left at six. Nadia liked that about the ferry. It made no promises, and it kept them all."
LONG = "The ferry left at six whether or not anyone was on it. Nadia liked that about the ferry. It kept its promises."


async def test_a_person_without_a_mouse_chooses_speaks_hears_and_saves(
    start: Callable[..., Any], pulse: Pulse, tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.press("Ctrl+2")
        page = speech_of(rialto)
        harness, sound = page.presenter, page.presenter.sound
        await until(lambda: harness.ready.is_set() and not harness.voice_list.is_offline)

        # a voice: filtered, its sample heard for a price that was said, starred, taken
        picker = page.side.picker
        await hands.press("Ctrl+Shift+L")
        await hands.type("emma")
        await until(lambda: picker.view.rows.shown_keys() == [("tts-kokoro", "bf_emma"), ("tts-gradium-v1", "Emma")])
        await hands.tab_to(picker.view)
        if picker.view.current_key is None:
            await hands.press("Home", "Down")
        await hands.press("Space")
        asked = await hands.dialog(Dialog)
        assert asked.title.text() == "Hear Emma?"
        await hands.push(asked, "Hear it")
        await until(lambda: page.clones.sounding is not None)
        await hands.begin()
        await hands.tab_to(picker.view)
        await hands.press("Ctrl+D")
        await until(lambda: any(voice.favourite for voice in harness.voice_list.all()))
        await hands.press("Return")
        assert harness.choice.voice in ("bf_emma", "Emma")
        for button in (picker.stars, picker.used):
            await hands.tab_to(button)
            await hands.press("Space")
            assert button.isChecked()
            await hands.press("Space")
        await hands.press("Ctrl+Shift+L", "Ctrl+A")
        await hands.type("bf_emma")
        await until(lambda: picker.view.rows.shown_keys() == [("tts-kokoro", "bf_emma")])
        await hands.tab_to(picker.view)
        await hands.press("Home", "Down", "Return")
        assert (harness.choice.model, harness.choice.voice) == ("tts-kokoro", "bf_emma")

        # the delivery
        delivery = page.side.delivery
        await hands.tab_to(delivery.speed.slider)
        before = harness.speech_options.speed
        await hands.press("Right")
        assert harness.speech_options.speed > before
        await hands.press("Left")
        await hands.tab_to(delivery.format)
        await hands.type("WAV")
        await until(lambda: delivery.format.currentData() == "wav")

        # written, spoken from its first sound, paused, sought, skipped, made faster
        await hands.press("Ctrl+L")
        await hands.type(TEXT)
        await until(lambda: page.main.speak_bar.speak.isEnabled())
        with pulse.listening() as recording:
            await hands.press("Ctrl+Return")
            await until(lambda: sound.player.position_s > 0.3 and is_loud(recording))
            await hands.tab_to(page.main.player.play)
            if not sound.player.wants_to_play:  # on a busy machine all of it was heard on the way there
                await hands.press("Space")
            await hands.press("Space")
            assert not sound.player.wants_to_play
        await until(lambda: not harness.is_speaking)
        await hands.tab_to(page.main.player.waveform)
        await hands.press("Home")
        await until(lambda: sound.player.position_s < 0.1)
        await hands.press("]")
        second = sound.sentence_places()[1][1]
        assert sound.player.position_s == pytest.approx(second, abs=0.1)
        await hands.press("[", ">")
        assert sound.player.speed == 1.25
        await hands.press("<")
        await hands.tab_to(page.main.player.volume)
        await hands.press("Space", "PgDown", "Escape")
        assert sound.player.volume < 1

        # the clip: renamed, starred, spoken again, compared, thrown away and brought back, saved
        view = page.list.view
        await hands.tab_to(view)
        await hands.press("F2")
        await hands.dialog(Dialog)
        await hands.press("Ctrl+A")
        await hands.type("The ferry")
        await hands.press("Return")
        await until(lambda: page._rows[0].title == "The ferry")
        await hands.begin()
        await hands.tab_to(view)
        await hands.press("Ctrl+D")
        await until(lambda: page._rows[0].starred)
        await hands.press("Ctrl+Shift+D")
        await until(lambda: len(page._rows) == 2 and not harness.is_speaking)
        await hands.press("Escape")
        await hands.command("Compare clips side by side")
        await until(lambda: len(page.main.audition_view.cards) == 2)
        await hands.begin()
        while sound.player.wants_to_play or page.main.pages.currentIndex():  # what plays is silenced first
            await hands.press("Escape")
        await hands.tab_to(view)
        await hands.press("Home", "Down", "Delete")
        await until(lambda: len(page._rows) == 1)
        await hands.undo("speech", by="Undo: ")
        await until(lambda: len(page._rows) == 2)
        await hands.begin()
        target = tmp_path / "said.flac"
        await hands.press("Ctrl+S")
        await hands.choose_file(str(target))
        await until(target.exists)
        with soundfile.SoundFile(target) as file:
            assert file.copy_metadata()["artist"].startswith("Emma (Kokoro)")


async def test_a_person_without_a_mouse_clones_a_voice_and_speaks_with_it(
    start: Callable[..., Any], pulse: Pulse, tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.press("Ctrl+2")
        page = speech_of(rialto)
        await until(lambda: page.presenter.ready.is_set() and not page.presenter.voice_list.is_offline)
        sound = await rialto.current_account.service.speech.synthesize(
            SpeechRequest(LONG, "tts-kokoro", "bf_emma", "wav")
        )
        sample = tmp_path / "me.wav"
        sample.write_bytes(sound.data)
        await hands.command("Clone a voice")
        asked = await hands.dialog(CloneDialog)
        assert isinstance(asked, CloneDialog)
        await hands.type("Mine")
        await hands.tab_to(asked.choose)
        await hands.press("Space")
        await hands.choose_file(str(sample))
        await hands.dialog(CloneDialog)
        await until(lambda: asked.preview.isEnabled())
        assert "This is a good sample." in asked.report.text()
        await hands.tab_to(asked.preview)
        with pulse.listening() as recording:
            await hands.press("Space")
            await until(lambda: is_loud(recording))
        assert not asked.go.isEnabled(), "nobody's voice is cloned without consent"
        await hands.tab_to(asked.consent)
        await hands.press("Space")
        await hands.tab_to(asked.go)
        await hands.press("Space")
        await until(lambda: page.presenter.choice.voice.startswith("vv_"))
        await hands.begin()
        (card,) = page.side.cloned_voices.cards
        assert "expires in 7 days" in card.second.text()
        await hands.tab_to(card.again)
        before = page.presenter.choice.voice
        await hands.press("Space")
        await until(lambda: page.presenter.choice.voice not in ("", before))
        await hands.press("Ctrl+L")
        await hands.type("Hello again.")
        await until(lambda: page.main.speak_bar.speak.isEnabled())
        await hands.press("Ctrl+Return")
        await until(lambda: page.presenter.sound.player.state == "ended")
        assert page._rows[0].second_line == "Cloned: Mine · Chatterbox HD"
