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
from app.audio.devices import AudioUnavailable, Missing
from app.audio.microphone import MicrophoneChoice, open_microphone
from app.sandbox.http.form import Upload
from app.sandbox.media import transcription as service_side
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.transcription import FILE_SUFFIXES
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from app.ui.transcription.batch_view import COLUMNS
from tests.audio.recorded import FakeBlocks, pitch_hz, tone, write_wav
from tests.sandbox.test_transcription import file as sound_of_kind
from tests.ui.test_transcription_page import TEXT, Room, drop, open_room, spoken
from tests.ui.transcription_desk import FakeSpeaker, words_heard

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


def uploads(room: Room) -> int:
    """How many requests with sound have left."""
    return sum(each.resource == "transcription" for each in room.desk.exchanges)


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
    async with open_room(tmp_home, theme) as room:
        desk, start = room.desk, room.page.main.start
        room.press(start.test)
        await desk.until(lambda: desk.blocks)
        assert start.said.isVisible()
        assert "three seconds are recorded, then played" in start.said.text()
        assert start.meter.isVisible()
        assert not start.test.isEnabled()
        desk.blocks[-1].say(tone(440, 1.0))
        await desk.until(lambda: start.meter.value() > 0)
        said: list[str] = []
        desk.presenter.recording.inputs_changed.connect(lambda _: said.append(start.said.text()))
        desk.blocks[-1].say(tone(440, 2.2))
        await desk.until(start.test.isEnabled)
        assert "This is how you sound." in said
        assert start.record.isEnabled()
        assert not start.meter.isVisible()
        assert start.said.text() == ""
        rate_hz = loudspeaker[0][0]
        heard = np.concatenate([samples for _, samples in loudspeaker]).reshape(-1)
        assert 3.0 <= len(heard) / rate_hz < 3.3
        assert pitch_hz(heard, rate_hz) == pytest.approx(440, abs=5)
        assert desk.entries == (), "a test leaves nothing on the list"
        assert room.toasts == []


async def test_the_options_page_tests_by_keyboard_and_a_lost_microphone_ends_the_test(
    tmp_home: Path, theme: Theme
) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, options, start = room.desk, room.page.side.options, room.page.main.start
        options.test.setFocus()
        QTest.keyClick(options.test, Qt.Key.Key_Space)
        await desk.until(lambda: desk.blocks)
        assert not options.test.isEnabled()
        desk.blocks[-1].end()
        await desk.until(options.test.isEnabled)
        room.press(start.record)
        await desk.until(lambda: room.page.main.view == "recording")


@pytest.mark.parametrize("played", [False, True])
async def test_a_recording_ends_a_test_of_the_microphone_that_is_still_on(
    tmp_home: Path, theme: Theme, played: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, start = room.desk, room.page.main.start
        monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)  # silence here is no microphone that was pulled out
        if played:  # a loudspeaker that never comes to an end
            monkeypatch.setattr(FakeSpeaker, "write", lambda *_: None)
        room.press(start.test)
        await desk.until(lambda: desk.blocks)
        if played:
            desk.blocks[-1].say(tone(440, 3.2))
            await desk.until(lambda: start.said.text() == "This is how you sound.")
        test = desk.blocks[-1]
        room.run("transcription.record")
        await desk.until(lambda: room.page.main.view == "recording")
        assert test.is_closed, "the test has given the microphone back"
        assert len(desk.blocks) == 2
        room.run("transcription.test")
        assert room.toasts == ["While it records, the meter of the recording shows what is heard."]
        room.run("transcription.record")
        await desk.until(lambda: room.page.main.view == "sound")
        assert len(desk.entries) == 1


async def test_escape_ends_a_test_of_the_microphone(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, start = room.desk, room.page.main.start
        room.press(start.test)
        await desk.until(lambda: desk.blocks)
        assert room.page.handle_escape()
        await desk.until(start.test.isEnabled)
        assert desk.blocks[-1].is_closed
        assert start.said.text() == ""
        assert not room.page.handle_escape()


async def test_a_recording_that_waits_for_its_microphone_or_its_disk_says_so(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)
    async with open_room(tmp_home, theme) as room:
        desk, start = room.desk, room.page.main.start
        gate = threading.Event()
        opens = desk.open_blocks

        def slowly(choice: MicrophoneChoice) -> FakeBlocks:
            gate.wait(60)
            return opens(choice)

        desk.presenter.recording._open_blocks = slowly
        room.run("transcription.record")
        await desk.until(lambda: start.said.text() == "Opening the microphone…")
        room.run("transcription.record")
        assert room.toasts == ["The microphone is being opened."]
        gate.set()
        await desk.until(lambda: room.page.main.view == "recording")
        desk.presenter.recording.ticked.connect(
            lambda tick: room.run("transcription.record") if tick.phase == "saving" else None
        )
        room.run("transcription.record")
        await desk.until(lambda: room.page.main.view == "sound")
        assert room.toasts[1:] == ["The recording before is still being saved."]


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (Missing.LIBRARY, "Recording needs PortAudio, which is not installed on this computer"),
        (Missing.DEVICE, "No microphone found"),
        (Missing.BUSY, "Another program holds the microphone. Close it there, or choose another input"),
    ],
)
async def test_why_there_is_no_recording_is_read_on_the_page_and_try_again_begins_it(
    tmp_home: Path, theme: Theme, missing: Missing, sentence: str
) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, main = room.desk, room.page.main
        start, options = main.start, room.page.side.options
        plugged = tuple(each.name for each in desk.host.inputs)
        if missing is Missing.LIBRARY:
            desk.host.problem = AudioUnavailable(missing, "input")
        if missing is Missing.BUSY:
            desk.refuses = AudioUnavailable(missing, "input")
        await desk.plug(*(() if missing is Missing.DEVICE else plugged))
        if missing is Missing.BUSY:
            assert start.test.isEnabled(), "only opening it tells that it is busy"
            room.press(start.test)
            await desk.done()
            assert room.toasts[-1] == sentence + "."
        else:
            assert start.said.text().startswith(sentence)
            assert options.input_row.note.text() == start.said.text()
            assert options.input.currentText() == "No microphone"
            assert not start.test.isEnabled()
            assert not options.test.isEnabled()
        if missing is Missing.LIBRARY:  # the plug of the program itself, without its library
            desk.presenter.recording._open_blocks = lambda choice: open_microphone(desk.host, choice)
        room.press(start.record)
        await desk.until(start.error.isVisible)
        assert start.error.what.text() == sentence
        assert "Files can still be transcribed." in start.error.meaning.text()
        assert not start.said.isVisible(), "one place says it"
        assert desk.entries == ()
        assert start.files.isEnabled() and start.record.isEnabled()
        desk.host.problem = desk.refuses = None
        desk.presenter.recording._open_blocks = desk.open_blocks
        await desk.plug(*plugged)
        again = next(each for each in start.error.findChildren(QPushButton) if each.text() == "Try again")
        room.press(again)
        await desk.until(lambda: main.view == "recording")
        assert desk.head.problem is None


# Files


async def test_a_wrongly_named_file_is_known_by_its_content_and_what_is_no_sound_is_refused(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        wrong = tmp_home / "really-flac.mp3"
        soundfile.write(wrong, spoken(), 16_000, format="FLAC")
        drop(room, wrong)
        await desk.until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        assert main.sound.facts.text().startswith("FLAC  ·  ")
        assert main.sound.facts.text().endswith("really-flac.mp3")
        await desk.until(lambda: room.page.list.foot.words.text() == "1 transcript")
        assert "1 transcript on this computer" in room.page.list.foot.toolTip()
        room.press(main.sound.send)
        await desk.until(lambda: main.view == "result" and "coffee" in room.page.plain_text())
        room.run("transcription.new")
        await desk.until(lambda: main.view == "empty")
        letter = tmp_home / "letter.wav"
        letter.write_bytes(b"%PDF-1.7 and so on, padded" * 10)
        dialogs: list[QFileDialog] = []
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
        room.press(main.start.files)
        dialogs[0].filesSelected.emit([str(letter)])
        await desk.until(lambda: room.toasts)
        assert room.toasts[-1].startswith("letter.wav cannot be used: its content is not WAV")
        assert main.view == "empty"
        assert len(desk.entries) == 1
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
    (folder / "notes.txt").write_text("not sound", encoding="utf-8")
    async with open_room(tmp_home, theme, sandbox) as room:
        table = room.page.main.batch.model
        drop(room, folder)
        await room.desk.until(lambda: table.rowCount() == 2 * len(kinds))
        column = COLUMNS.index("Type")
        told = {
            str(table.index(row, 0).data()): str(table.index(row, column).data()) for row in range(table.rowCount())
        }
        for kind in kinds:
            right = TITLES.get(kind, kind.upper())
            assert (told[f"as-{kind}"], told[f"wrong-{kind}"]) == (right, right)
        assert uploads(room) == 0


async def test_over_25_mb_nothing_leaves_until_compress_to_a_typed_size_is_chosen(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        sound = main.sound
        drop(room, oversized(tmp_home / "long.wav"))
        await desk.until(lambda: main.view == "sound" and sound.large.isVisible())
        assert "27 MB is more than the 25 MB" in sound.large_words.text()
        room.run("transcription.main")  # Ctrl+Enter does not go round the question
        await desk.done()
        assert not sound.send.isEnabled()
        assert uploads(room) == 0
        QTest.mouseClick(sound.squeeze, Qt.MouseButton.LeftButton, pos=sound.squeeze.rect().center())
        await desk.done()
        sound.target.setFocus()
        sound.target.selectAll()
        QTest.keyClicks(sound.target, "3")
        QTest.keyClick(sound.target, Qt.Key.Key_Return)
        await desk.until(lambda: room.page.head.target_bytes == 3_000_000)
        assert "Speech stays clear." in sound.squeeze_words.text()
        made: list[int] = []
        folder = desk.presenter.folders.cache / "uploads"
        desk.presenter.head_changed.connect(
            lambda _: made.extend(path.stat().st_size for path in folder.glob("*.ogg") if path.exists())
        )
        room.press(sound.send)
        await desk.until(lambda: main.view == "result" and room.page.plain_text())
        assert 0 < max(made) <= 3_000_000
        assert words_heard(TEXT, room.page.plain_text()) >= 0.6
        assert uploads(room) == 1


async def test_split_on_silence_is_pressed_and_a_word_of_the_last_part_is_heard_at_its_right_time(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    times = 2
    period = (len(spoken()) + 2 * len(GAP)) / 16_000
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        desk.presenter.sending.longest_part_s = period * 1.2  # instead of hours of sound
        drop(room, oversized(tmp_home / "talk.wav", times))
        await desk.until(lambda: main.view == "sound" and main.sound.large.isVisible())
        QTest.mouseClick(main.sound.split, Qt.MouseButton.LeftButton, pos=main.sound.split.rect().center())
        await desk.until(main.sound.send.isEnabled)
        told: list[str] = []
        desk.presenter.head_changed.connect(lambda _: told.append(main.sound.working.text()))
        room.press(main.sound.send)
        await desk.until(lambda: main.view == "result" and room.page.plain_text())
        parts = uploads(room)
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
        assert len(found) == times, room.page.plain_text()
        assert np.diff(starts) == pytest.approx([period] * (times - 1), abs=0.4)
        view.go_to(found[-1][0][0])
        rect = view.word_rects(found[-1][0])[0]
        heard: list[float] = []
        desk.presenter.playing.position_changed.connect(heard.append)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
        await desk.until(lambda: any(at >= starts[-1] - 0.1 for at in heard))


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
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, batch = room.desk, room.page.main.batch
        drop(room, folder)
        await desk.until(lambda: len(batch.model.rows) == 3)
        held.clear()  # so that it can be paused
        room.press(batch.start)
        await desk.until(lambda: any(row.is_busy for row in batch.model.rows))
        assert not batch.start.isVisible()
        room.press(batch.pause)
        held.set()
        await desk.until(lambda: batch.words.text() == "1 of 3 files are transcribed")
        await desk.done()
        assert batch.start.text() == "Go on"
        assert "2 wait: nothing is sent before you choose Go on." in batch.more.text()
        assert uploads(room) == 1
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, batch = room.desk, room.page.main.batch
        room.press(room.page.list.table)
        await desk.until(lambda: room.page.main.view == "batch")
        assert batch.words.text() == "1 of 3 files are transcribed"
        assert batch.start.text() == "Go on"
        assert uploads(room) == 0
        held.clear()
        room.press(batch.start)
        await desk.until(lambda: any(row.is_busy for row in batch.model.rows))
        room.press(batch.pause)
        room.press(batch.start)  # at once, while the file before the pause is still on its way
        held.set()
        await desk.until(lambda: batch.words.text().startswith("3 of 3"))
        assert uploads(room) == 2, "the one that was done is not paid for again"
        await desk.done()
        room.press(batch.clear)
        await desk.until(lambda: not batch.model.rows)
        assert batch.words.text() == "Drop files or folders here"
        assert [entry.state for entry in desk.entries] == ["done"] * 3
