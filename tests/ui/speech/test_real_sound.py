"""What the tab plays is what a loudspeaker gives: recorded from the monitor of a real sound server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.audio.devices import AudioHost, SystemDevice
from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.audio.pulse import Pulse
from tests.audio.sounds import heard
from tests.kit.speech import SpeechHarness, open_speech
from tests.kit.waiting import until

TEXT = "The tide turns at noon. The ferry leaves on time. It is quiet."


@pytest.fixture
async def loud(tmp_path: Path, sandbox: RunningSandbox, theme: Theme, pulse: Pulse) -> AsyncIterator[SpeechHarness]:
    """A tab with a real loudspeaker."""
    host = AudioHost()
    host.note_system((SystemDevice(pulse.sink, pulse.sink_name, "output", is_default=True),))
    async with open_speech(tmp_path, sandbox, theme, host=host, make=None) as speech:
        speech.presenter.use_voice("tts-kokoro", "af_sky")
        yield speech


async def test_speaking_is_heard_and_each_sentence_is_marked_as_it_sounds(loud: SpeechHarness, pulse: Pulse) -> None:
    loud.presenter.set_speech_option("format", "pcm")
    loud.write(TEXT)
    with pulse.listening() as recording:
        loud.press_speak()
        await until(lambda: loud.sound.player.state == "ended")
    clip = loud.clips[0]
    sound = heard(recording)
    assert len(sound) / pulse.rate_hz > clip.duration_s - 0.5, "all of it; a busy computer may add pauses"
    assert loud.sentences == [
        "The tide turns at noon.",
        "The ferry leaves on time.",
        "It is quiet.",
    ]
    assert loud.receipt.text().startswith("first audio")


async def test_sentence_times_fall_into_the_pauses(loud: SpeechHarness) -> None:
    """Where a sentence is said to begin, it has just been quiet."""
    loud.presenter.set_speech_option("format", "wav")
    loud.write(TEXT)
    await loud.spoken()
    peaks = np.abs(loud.sound.peaks().astype(int)).max(axis=1)
    places = loud.sound.sentence_places()
    assert len(places) == 3
    for _, start in places[1:]:
        before = peaks[int(start * 50) - 4 : int(start * 50) - 1]
        assert before.max() <= 5
        assert peaks[int(start * 50) : int(start * 50) + 8].max() > 5


async def test_escape_silences_within_a_tenth_of_a_second(loud: SpeechHarness, pulse: Pulse) -> None:
    """What is measured includes the recorder's own delay, more of it on a busy machine: the best of a few counts."""
    loud.write(TEXT * 3)
    sound, took = loud.sound, list[float]()
    while len(took) < 4 and min(took, default=1.0) >= 0.1:
        before = sound.reading
        with pulse.listening() as recording:
            loud.press_speak()
            await until(lambda: sound.reading is not before and sound.player.position_s > 0.5)  # noqa: B023 - at once
            assert loud.page.handle_escape()
            pressed = recording.stat().st_size // 4
            await until(lambda: recording.stat().st_size // 4 > pressed + pulse.rate_hz // 2)  # noqa: B023 - at once
        last = np.flatnonzero(np.abs(np.fromfile(recording, np.float32)) >= 0.01)[-1]
        took.append((last - pressed) / pulse.rate_hz)
        await until(lambda: not loud.presenter.is_speaking)
    assert min(took) < 0.1, took


async def test_skipping_seeking_and_the_keys_of_the_player(loud: SpeechHarness) -> None:
    loud.write(TEXT)
    await loud.spoken()
    sound, bar = loud.sound, loud.player_bar
    bar.segment_requested.emit(1)
    assert sound.player.position_s == pytest.approx(sound.sentence_places()[1][1], abs=0.05)
    bar.segment_requested.emit(-1)
    assert sound.player.position_s == pytest.approx(0.0, abs=0.05)
    editor = loud.editor
    cursor = editor.textCursor()
    cursor.setPosition(TEXT.index("quiet"))
    editor.setTextCursor(cursor)
    next(action for action in loud.page.actions() if action.id == "speech.play_here").run()
    assert sound.player.wants_to_play
    assert sound.player.position_s == pytest.approx(sound.sentence_places()[2][1], abs=0.1)
    bar.play.click()
    bar.waveform.seek_requested.emit(1.5)
    bar.speed_chosen.emit(2.0)
    bar.play.click()
    await until(lambda: sound.player.position_s > 1.8)
    assert bar.speed.text() == "2.0×"
    bar.play.click()
    assert not sound.player.wants_to_play


async def test_outputs_are_listed_and_one_is_chosen_and_remembered(loud: SpeechHarness, pulse: Pulse) -> None:
    loud.page.activated()
    await until(lambda: loud.sound.outputs)
    menu = loud.player_bar.output_menu()
    assert [action.text() for action in menu.actions()] == [
        "System default",
        pulse.sink_name,
        "Feed of the microphone",
    ]
    menu.actions()[1].trigger()
    assert loud.sound.player.device_id == f"server:{pulse.sink}"
    assert (await loud.saved_draft())["output"] == f"server:{pulse.sink}"


async def test_an_answer_is_read_aloud_from_its_first_sentence_while_it_is_written(
    loud: SpeechHarness, pulse: Pulse
) -> None:
    with pulse.listening() as recording:
        loud.aloud.begin("row", "**Hello** there. This goes", is_whole=False)
        await until(lambda: loud.sound.player.position_s > 0.2)
        assert loud.sound.reading.clip.text == "Hello there."
        loud.aloud.feed("row", "**Hello** there. This goes on. And `ends`.")
        loud.aloud.feed("row", "**Hello** there. This goes on. And `ends` here.", is_whole=True)
        await until(lambda: loud.sound.player.state == "ended" and not loud.presenter.is_speaking)
    clip = loud.clips[0]
    assert clip.text == "Hello there. This goes on. And ends here."
    assert clip.text[: clip.parts[0].finish] == "Hello there."
    assert all(part.state == "complete" for part in clip.parts)
    assert len(heard(recording)) / pulse.rate_hz > clip.duration_s - 1.5
