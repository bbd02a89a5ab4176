"""The Transcribe tab of the whole program, with real sound, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import webvtt

from app.bootstrap.rialto import Rialto
from app.ui.transcription.page import TranscriptionPage
from tests.audio.pulse import Pulse
from tests.audio.sounds import is_loud
from tests.journeys.keyboard import Keyboard
from tests.journeys.talk import in_the_sandbox
from tests.journeys.test_speech import speech_of
from tests.kit.transcription import words_heard
from tests.kit.waiting import until
from tests.sandbox.test_transcription import samples

PARAGRAPH = "The train leaves the station at seven. I would like a cup of coffee and a piece of bread."
SHORT = "I would like a cup of coffee."


def transcription_of(rialto: Rialto) -> TranscriptionPage:
    page = rialto.window.tab("transcription")
    assert isinstance(page, TranscriptionPage)
    return page


def say(text: str, path: Path) -> Path:
    soundfile.write(path, np.asarray(samples(text)), 16_000)
    return path


async def test_a_person_without_a_mouse_records_reads_mends_and_hands_on(
    start: Callable[..., Any], pulse: Pulse, tmp_path: Path
) -> None:
    said = say(PARAGRAPH, tmp_path / "said.wav")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.press("Ctrl+3")
        page = transcription_of(rialto)
        main, side, harness = page.main, page.side, page.presenter
        await until(lambda: harness.recording.inputs().microphones and harness.account_models.choices())

        # the microphone: chosen, and kept by its lasting name; QtMultimedia names those of a process's first sound
        # server alone, and PortAudio knows a later one as a whole
        await hands.tab_to(side.options.input)
        names = (pulse.source, "pulse")
        while not harness.recording.inputs().chosen.endswith(names):
            before = harness.recording.inputs().chosen
            await hands.press("Down")
            await until(lambda before=before: harness.recording.inputs().chosen != before)  # type: ignore[misc]
        assert rialto.settings.value.transcription["device"] == harness.recording.inputs().chosen

        # recorded, with a pause and a mark, and nothing sent before it is said
        await hands.press("Ctrl+Shift+R")
        await until(lambda: main.view == "recording" and harness.recording.seconds > 0)
        player = pulse.play(said)
        await hands.press("M")
        await until(lambda: player.poll() is not None)
        heard = harness.recording.seconds
        await until(lambda: harness.recording.seconds > heard + 0.3)
        await hands.press("Space")
        await until(lambda: harness.recording.phase == "paused")
        assert main.recording.estimate.text().startswith("So far about $0.00")
        await hands.press("Space")
        await until(lambda: harness.recording.phase == "recording")
        await hands.press("Ctrl+Shift+R")
        await until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        assert harness.sending.last_exchange is None

        # heard before it is sent, and a copy of it saved
        await hands.tab_to(main.sound.player.play)
        with pulse.listening() as loudspeaker:
            await hands.press("Space")
            await until(lambda: harness.playing.player.position_s > 1.0 and is_loud(loudspeaker))
            await hands.press("Space")
        await hands.command("Save recording as")
        await hands.choose_file(str(tmp_path / "copy.wav"))
        await until(lambda: (tmp_path / "copy.wav").exists())
        await hands.begin()

        # sent, and understood
        await hands.press("Ctrl+Return")
        await until(lambda: page.head.work is not None or main.view == "result")
        await until(lambda: main.view == "result" and page.plain_text())
        # Half of the words: the recognizer knows people's voices better than this one.
        assert words_heard(PARAGRAPH, page.plain_text()) >= 0.5, page.plain_text()
        assert "play money" in main.result.receipt.text()
        assert [mark.text for mark in page.head.marks] == [""]

        # a segment edited, nudged, split; all of it taken back
        await hands.tab_to(main.result.view)
        before = page.plain_text()
        await hands.press("F2", "End")
        await hands.type(" Hurrah")
        await hands.press("Return")
        await until(lambda: "Hurrah" in page.plain_text())
        began = harness.reading.document.segments[0].start
        await hands.press("Shift+Right")
        await until(lambda: harness.reading.document.segments[0].start > began)
        number = len(harness.reading.document.segments)
        await hands.press("Ctrl+Right", "Ctrl+Right", "S")
        await until(lambda: len(harness.reading.document.segments) == number + 1)
        for _ in range(3):
            await hands.press("Ctrl+Z")
        await until(lambda: page.plain_text() == before)

        # found, exported, and taken by an independent reader
        await hands.press("Ctrl+F")
        await hands.type("coffee")
        await until(lambda: main.result.count.text().startswith("1 of "))
        await hands.tab_to(side.export.cards["srt"])
        await hands.press("Down")
        await until(lambda: harness.exports.choice.kind != "srt")
        await hands.press("Up", "Ctrl+E")
        await hands.choose_file(str(tmp_path / "out.srt"))
        await until(lambda: (tmp_path / "out.srt").exists())
        assert (
            "coffee"
            in " ".join(caption.text for caption in webvtt.from_srt(str(tmp_path / "out.srt")).captions).casefold()
        )
        await hands.begin()

        # handed on
        await hands.command("Ask about it in Chat")
        await until(lambda: rialto.window.current_tab == "chat" and before in rialto.chat_page.main.composer.text())
        await hands.press("Ctrl+3")
        await hands.command("Speak transcript")
        await until(lambda: rialto.window.current_tab == "speech")
        await until(lambda: speech_of(rialto).presenter.text == before)


async def test_a_folder_is_transcribed_from_the_keyboard(start: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("first.wav", "second.wav"):
        say(SHORT, folder / name)
    (folder / "letter.txt").write_text("not a sound", encoding="utf-8")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.press("Ctrl+3")
        page = transcription_of(rialto)
        await until(lambda: page.presenter.account_models.choices())
        await hands.command("Open a folder of audio files")
        await hands.choose_file(str(folder))
        await until(lambda: page.main.view == "batch" and len(page.main.batch.model.rows) == 2)
        await hands.begin()
        assert "of audio, about $" in page.main.batch.more.text()
        await hands.press("Ctrl+Return")
        await until(lambda: page.main.batch.words.text().startswith("2 of 2"))
        await hands.tab_to(page.main.batch.table)
        await hands.press("Home", "Return")
        await until(lambda: page.main.view == "result" and "coffee" in page.plain_text().casefold())
        await hands.press("Alt+Down")
        await until(lambda: page.head.title in ("first", "second"))
