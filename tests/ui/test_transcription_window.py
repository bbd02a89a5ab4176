"""What the transcribe tab does with microphones, files and tables of files, pressed on the page's own widgets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton

from app.audio import recording
from app.audio.devices import AudioProblem, AudioUnavailable
from app.audio.microphone import MicrophoneChoice, open_microphone
from app.sandbox.http.form import Upload
from app.sandbox.media import transcription as service_side
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.transcription import FILE_SUFFIXES
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from app.ui.transcription.batch_view import COLUMNS
from tests.audio.recorded import FakeBlocks, pitch_hz, tone, write_wav
from tests.kit.transcription import FakeSpeaker, TranscriptionHarness, open_transcription, words_heard
from tests.kit.waiting import until
from tests.sandbox.test_transcription import file as sound_of_kind
from tests.ui.test_transcription_page import TEXT, spoken

pytestmark = pytest.mark.usefixtures("heard_once")
GAP = np.zeros(12_000, np.float32)
TITLES = {"wave": "WAV", "ogg": "Opus", "oga": "Opus", "webm": "WebM"}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@pytest.fixture
def loudspeaker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, np.ndarray]]:
    """Everything that is played, block by block, each with its rate in Hz."""
    played: list[tuple[int, np.ndarray]] = []
    write = FakeSpeaker.write

    def keep(speaker: FakeSpeaker, samples: np.ndarray, place: int) -> None:
        played.append((speaker.rate_hz, np.array(samples)))
        write(speaker, samples, place)

    monkeypatch.setattr(FakeSpeaker, "write", keep)
    return played


def uploads(tab: TranscriptionHarness) -> int:
    """How many requests with sound have left."""
    return sum(each.resource == "transcription" for each in tab.exchanges)


def oversized(path: Path, times: int = 1) -> Path:
    """The sentence said `times` times between silences, in a file that is over 25 MB for what lies behind it."""
    write_wav(path, np.tile(np.concatenate((GAP, spoken(), GAP)), times))
    with path.open("ab") as file:
        file.truncate(27_000_000)  # what a camera leaves behind the sound
    return path


# The microphone


async def test_three_seconds_are_recorded_and_heard_from_the_start_page(
    tmp_home: Path, theme: Theme, loudspeaker: list[tuple[int, np.ndarray]]
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        start = tab.start_pane
        tab.press(start.test)
        await until(lambda: tab.blocks)
        assert start.said.isVisible()
        assert "Rialto records three seconds, then plays" in start.said.text()
        assert start.meter.isVisible()
        assert not start.test.isEnabled()
        tab.blocks[-1].say(tone(440, 1.0))
        await until(lambda: start.meter.value() > 0)
        said: list[str] = []
        tab.presenter.recording.inputs_changed.connect(lambda _: said.append(start.said.text()))
        tab.blocks[-1].say(tone(440, 2.2))
        await until(start.test.isEnabled)
        assert "This is how you sound." in said
        assert start.record.isEnabled()
        assert not start.meter.isVisible()
        assert start.said.text() == ""
        rate_hz = loudspeaker[0][0]
        heard = np.concatenate([samples for _, samples in loudspeaker]).reshape(-1)
        assert 3.0 <= len(heard) / rate_hz < 3.3
        assert pitch_hz(heard, rate_hz) == pytest.approx(440, abs=5)
        assert tab.entries == (), "a test leaves nothing on the list"
        assert tab.toasts == []


async def test_the_options_page_tests_by_keyboard_and_a_lost_microphone_ends_the_test(
    tmp_home: Path, theme: Theme
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        options, start = tab.options, tab.start_pane
        options.test.setFocus()
        QTest.keyClick(options.test, Qt.Key.Key_Space)
        await until(lambda: tab.blocks)
        assert not options.test.isEnabled()
        tab.blocks[-1].end()
        await until(options.test.isEnabled)
        tab.press(start.record)
        await until(lambda: tab.shown == "recording")


@pytest.mark.parametrize("played", [False, True])
async def test_a_recording_ends_a_test_of_the_microphone_that_is_still_on(
    tmp_home: Path, theme: Theme, played: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        start = tab.start_pane
        monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)  # silence here is no microphone that was pulled out
        if played:  # a loudspeaker that never comes to an end
            monkeypatch.setattr(FakeSpeaker, "write", lambda *_: None)
        tab.press(start.test)
        await until(lambda: tab.blocks)
        if played:
            tab.blocks[-1].say(tone(440, 3.2))
            await until(lambda: start.said.text() == "This is how you sound.")
        test = tab.blocks[-1]
        tab.run("transcription.record")
        await until(lambda: tab.shown == "recording")
        assert test.is_closed, "the test has given the microphone back"
        assert len(tab.blocks) == 2
        tab.run("transcription.test")
        assert tab.toasts == ["While recording, the recording meter shows the level."]
        tab.run("transcription.record")
        await until(lambda: tab.shown == "sound")
        assert len(tab.entries) == 1


async def test_escape_ends_a_test_of_the_microphone(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        start = tab.start_pane
        tab.press(start.test)
        await until(lambda: tab.blocks)
        assert tab.page.handle_escape()
        await until(lambda: tab.blocks[-1].is_closed)
        await until(start.test.isEnabled)
        assert start.said.text() == ""
        assert not tab.page.handle_escape()


async def test_a_recording_that_waits_for_its_microphone_or_its_disk_says_so(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)
    async with open_transcription(tmp_home, theme) as tab:
        start = tab.start_pane
        gate = threading.Event()
        opens = tab.open_blocks

        def slowly(choice: MicrophoneChoice) -> FakeBlocks:
            gate.wait(60)
            return opens(choice)

        tab.open_blocks = slowly
        tab.run("transcription.record")
        await until(lambda: start.said.text() == "Opening the microphone…")
        tab.run("transcription.record")
        assert tab.toasts == ["The microphone is opening."]
        gate.set()
        await until(lambda: tab.shown == "recording")
        tab.presenter.recording.ticked.connect(
            lambda tick: tab.run("transcription.record") if tick.phase == "saving" else None
        )
        tab.run("transcription.record")
        await until(lambda: tab.shown == "sound")
        assert tab.toasts[1:] == ["The previous recording is still being saved."]


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (AudioProblem.LIBRARY, "Recording needs PortAudio, which is not installed on this computer"),
        (AudioProblem.DEVICE, "No microphone found"),
        (AudioProblem.BUSY, "Another program is using the microphone. Close it, or choose another input"),
    ],
)
async def test_why_there_is_no_recording_is_read_on_the_page_and_try_again_begins_it(
    tmp_home: Path, theme: Theme, missing: AudioProblem, sentence: str
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        main = tab.page.main
        start, options = main.start, tab.options
        plugged, opens = tuple(each.name for each in tab.host.inputs), tab.open_blocks
        if missing is AudioProblem.LIBRARY:
            tab.host.problem = AudioUnavailable(missing, "input")
        if missing is AudioProblem.BUSY:
            tab.refuses = AudioUnavailable(missing, "input")
        await tab.plug(*(() if missing is AudioProblem.DEVICE else plugged))
        if missing is AudioProblem.BUSY:
            assert start.test.isEnabled(), "only opening it tells that it is busy"
            tab.press(start.test)
            await tab.done()
            assert tab.toasts[-1] == sentence + "."
        else:
            assert start.said.text().startswith(sentence)
            assert options.input_row.note.text() == start.said.text()
            assert options.input.currentText() == "No microphone"
            assert start.without.isVisible(), "another way to something to transcribe"
            assert not start.test.isEnabled()
            assert not options.test.isEnabled()
        if missing is AudioProblem.LIBRARY:  # the plug of the program itself, without its library
            tab.open_blocks = lambda choice: open_microphone(tab.host, choice)
        tab.press(start.record)
        await until(start.error.isVisible)
        assert start.error.what.text() == sentence
        assert "Files can still be transcribed." in start.error.meaning.text()
        assert not start.said.isVisible(), "one place says it"
        assert tab.entries == ()
        assert start.files.isEnabled() and start.record.isEnabled()
        tab.host.problem = tab.refuses = None
        tab.open_blocks = opens
        await tab.plug(*plugged)
        assert not start.without.isVisible()
        again = next(each for each in start.error.findChildren(QPushButton) if each.text() == "Try again")
        tab.press(again)
        await until(lambda: main.view == "recording")
        assert tab.head.problem is None


# Files


async def test_a_wrongly_named_file_is_known_by_its_content_and_what_is_no_sound_is_refused(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        wrong = tmp_home / "really-flac.mp3"
        soundfile.write(wrong, spoken(), 16_000, format="FLAC")
        tab.drop(wrong)
        await until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        assert main.sound.facts.text().startswith("FLAC  ·  ")
        assert main.sound.facts.text().endswith("really-flac.mp3")
        await until(lambda: tab.usage_text() == "1 transcript")
        assert "1 transcript on this computer" in tab.list_pane.foot.toolTip()
        assert not tab.offers_microphones, "a file has none"
        tab.press(main.sound.send)
        await until(lambda: main.view == "result" and "coffee" in tab.plain_text())
        tab.run("transcription.new")
        assert tab.offers_microphones
        await until(lambda: main.view == "empty")
        letter = tmp_home / "letter.wav"
        letter.write_bytes(b"%PDF-1.7 and so on, padded" * 10)
        dialogs: list[QFileDialog] = []
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
        tab.press(main.start.files)
        dialogs[0].filesSelected.emit([str(letter)])
        await until(lambda: tab.toasts)
        assert tab.toasts[-1].startswith("letter.wav cannot be used. Its content is not WAV")
        assert main.view == "empty"
        assert len(tab.entries) == 1
        dialogs[0].deleteLater()


async def test_all_ten_kinds_of_a_dropped_folder_stand_in_the_table_and_under_wrong_names_too(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    kinds = sorted(suffix.removeprefix(".") for suffix in FILE_SUFFIXES)
    folder = tmp_home / "inbox"
    folder.mkdir()
    for kind in kinds:
        (folder / f"as-{kind}.{kind}").write_bytes(sound_of_kind(kind))
        (folder / f"wrong-{kind}.{'wav' if kind == 'webm' else 'webm'}").write_bytes(sound_of_kind(kind))
    (folder / "notes.txt").write_text("not audio", encoding="utf-8")
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        table = tab.batch_rows
        tab.drop(folder)
        await until(lambda: table.rowCount() == 2 * len(kinds))
        column = COLUMNS.index("Type")
        told = {
            str(table.index(row, 0).data()): str(table.index(row, column).data()) for row in range(table.rowCount())
        }
        for kind in kinds:
            right = TITLES.get(kind, kind.upper())
            assert (told[f"as-{kind}"], told[f"wrong-{kind}"]) == (right, right)
        assert uploads(tab) == 0


async def test_over_25_mb_flac_leaves_with_what_was_said_in_it(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    """R-STT-06"""
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        tab.drop(oversized(tmp_home / "long.wav"))
        await until(lambda: main.view == "sound" and main.sound.large.isVisible() and main.sound.send.isEnabled())
        made: list[int] = []
        folder = tab.presenter.folders.cache / "uploads"
        tab.presenter.head_changed.connect(lambda _: made.extend(path.stat().st_size for path in folder.glob("*.flac")))
        tab.run("transcription.main")
        await until(lambda: main.view == "result" and tab.plain_text())
        assert 0 < max(made) <= 25_000_000
        assert words_heard(TEXT, tab.plain_text()) >= 0.6
        assert uploads(tab) == 1


async def test_over_25_mb_what_is_sent_is_compressed_to_a_typed_size(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        sound = main.sound
        tab.drop(oversized(tmp_home / "long.wav"))
        await until(lambda: main.view == "sound" and sound.large.isVisible())
        assert "27 MB is over the service’s limit of 25 MB" in sound.large_words.text()
        QTest.mouseClick(sound.squeeze, Qt.MouseButton.LeftButton, pos=sound.squeeze.rect().center())
        await tab.done()
        sound.target.setFocus()
        sound.target.selectAll()
        QTest.keyClicks(sound.target, "3")
        QTest.keyClick(sound.target, Qt.Key.Key_Return)
        await until(lambda: tab.shown_head.target_bytes == 3_000_000)
        assert "Speech stays clear." in sound.squeeze_words.text()
        made: list[int] = []
        folder = tab.presenter.folders.cache / "uploads"
        tab.presenter.head_changed.connect(
            lambda _: made.extend(path.stat().st_size for path in folder.glob("*.ogg") if path.exists())
        )
        tab.press(sound.send)
        await until(lambda: main.view == "result" and tab.plain_text())
        assert 0 < max(made) <= 3_000_000
        assert words_heard(TEXT, tab.plain_text()) >= 0.6
        assert uploads(tab) == 1


async def test_split_on_silence_is_pressed_and_a_word_of_the_last_part_is_heard_at_its_right_time(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    times = 2
    period = (len(spoken()) + 2 * len(GAP)) / 16_000
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        tab.presenter.sending.longest_part_s = period * 1.2  # instead of hours of sound
        tab.drop(oversized(tmp_home / "talk.wav", times))
        await until(lambda: main.view == "sound" and main.sound.large.isVisible())
        QTest.mouseClick(main.sound.split, Qt.MouseButton.LeftButton, pos=main.sound.split.rect().center())
        await until(main.sound.send.isEnabled)
        told: list[str] = []
        tab.presenter.head_changed.connect(lambda _: told.append(main.sound.working.text()))
        tab.press(main.sound.send)
        await until(lambda: main.view == "result" and tab.plain_text())
        parts = uploads(tab)
        assert parts >= times
        assert any(f" part {parts} of {parts}" in words for words in told)
        assert f"{parts} parts" in main.result.receipt.text()
        view = main.result.view
        found = [
            ((row, place), word.start)
            for row, segment in enumerate(view.document.segments)
            for place, word in enumerate(segment.words)
            if "coffee" in word.text.casefold()
        ]
        starts = [start for _, start in found]
        assert len(found) == times, tab.plain_text()
        assert np.diff(starts) == pytest.approx([period] * (times - 1), abs=0.4)
        view.go_to(found[-1][0][0])
        rect = view.word_rects(found[-1][0])[0]
        heard: list[float] = []
        tab.presenter.playing.position_changed.connect(heard.append)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
        await until(lambda: any(at >= starts[-1] - 0.1 for at in heard))


# The table of files


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While this is not set, the service listens and does not answer."""
    goes_on, hear = threading.Event(), service_side._heard

    def hear_later(upload: Upload) -> object:
        goes_on.wait(60)
        return hear(upload)

    goes_on.set()
    monkeypatch.setattr(service_side, "_heard", hear_later)
    yield goes_on
    goes_on.set()


async def test_the_table_is_paused_and_goes_on_by_its_button_after_a_restart(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox, held: threading.Event
) -> None:
    folder = tmp_home / "inbox"
    folder.mkdir()
    for name in ("a.wav", "b.flac", "c.wav"):
        soundfile.write(folder / name, spoken()[:12_000], 16_000)  # quickly understood
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        batch = tab.batch_pane
        tab.drop(folder)
        await until(lambda: len(batch.model.rows) == 3)
        held.clear()  # so that it can be paused
        tab.press(batch.start)
        await until(lambda: any(row.is_busy for row in batch.model.rows))
        assert not batch.start.isVisible()
        tab.press(batch.pause)
        held.set()
        await until(lambda: batch.words.text() == "1 of 3 files transcribed")
        await tab.done()
        assert batch.start.text() == "Continue"
        assert "2 waiting. Nothing is sent until you choose Continue." in batch.more.text()
        assert uploads(tab) == 1
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        batch = tab.batch_pane
        tab.press(tab.table_button)
        await until(lambda: tab.shown == "batch")
        assert batch.words.text() == "1 of 3 files transcribed"
        assert batch.start.text() == "Continue"
        assert uploads(tab) == 0
        held.clear()
        tab.press(batch.start)
        await until(lambda: any(row.is_busy for row in batch.model.rows))
        tab.press(batch.pause)
        tab.press(batch.start)  # at once, while the file before the pause is still on its way
        held.set()
        await until(lambda: batch.words.text().startswith("3 of 3"))
        assert uploads(tab) == 2, "the one that was done is not paid for again"
        await tab.done()
        tab.press(batch.clear)
        await until(lambda: not batch.model.rows)
        assert batch.words.text() == "Drop files or folders here"
        assert [entry.state for entry in tab.entries] == ["done"] * 3
