"""The transcribe tab's work against the real Sandbox: record, send, split, batch, edit, lose nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from app.audio.devices import AudioProblem, AudioUnavailable, SystemDevice
from app.audio.microphone import MicrophoneChoice
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paid_call_intents import Intents
from app.storage.paths import resources
from app.storage.transcripts import Transcripts
from app.ui.transcription.session.microphone_session import RecordingSession, SavedMicrophone
from app.ui.transcription.state import ExportChoice
from tests.audio.recorded import FakeBlocks, tone, write_wav
from tests.kit.transcription import FakeHost, FakeWatch, open_transcription_presenter, words_heard
from tests.kit.waiting import entered, until
from tests.read_only import small_disk, vanished
from tests.sandbox.test_transcription import samples

pytestmark = pytest.mark.usefixtures("heard_once")

WHISPER = "openai/whisper-large-v3"
PARAKEET = "nvidia/parakeet-tdt-0.6b-v3"
TEXT = "I would like a cup of coffee."
GAP = np.zeros(12_000, np.float32)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


def spoken() -> np.ndarray:
    """The Sandbox's voice as floats at 16 kHz."""
    return np.asarray(samples(TEXT), np.float32) / 32768


def spoken_file(folder: Path, name: str = "note.wav", *, kind: str = "") -> Path:
    kind = kind or name.rpartition(".")[2]
    subtype = "VORBIS" if kind == "ogg" else "PCM_16"
    soundfile.write(folder / name, spoken(), 16_000, format=kind.upper(), subtype=subtype)
    return folder / name


# Record, transcribe


async def test_a_recording_is_transcribed_with_times_and_a_receipt(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.record(np.concatenate((GAP, spoken(), GAP)), transcribe=True)
        head = tab.head
        assert (head.view, head.state, head.origin) == ("result", "done", "recording")
        document = tab.document
        assert words_heard(TEXT, document.text) >= 0.6
        assert document.estimated == ""
        assert document.segments[0].words[0].start >= 0.5
        receipt = [run.text for run in head.receipt]
        assert receipt[0].startswith("about $0.00")
        assert any("audio" in text for text in receipt)
        assert receipt[-2:] == ["simple recognizer", "play money"]
        assert tab.entries[0].state == "done"
        row = tab.presenter.row(head.id or "")
        assert row is not None
        assert (tmp_home / "recordings" / row.sound_path).is_file()
        assert not list((tmp_home / "cache" / "uploads").iterdir())


async def test_list_and_player_keep_the_sounds_own_length_when_the_service_rounds_it(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    """1.996 seconds: the service says 2.00, and the player would end at 0:01 of 0:02."""
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        path = tmp_home / "short.wav"
        write_wav(path, np.concatenate((spoken(), np.zeros(16_000, np.float32)))[:31_936])
        await tab.add(path)
        before = tab.head.sound.duration_s
        assert before == pytest.approx(1.996)
        await tab.send()
        assert tab.document.duration_s == 2.0
        assert tab.head.sound.duration_s == before
        assert tab.entries[0].right == "0:01"


async def test_nothing_is_sent_before_it_is_said(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        calls = len(tab.exchanges)
        await tab.record(spoken())
        assert tab.head.view == "sound"
        assert tab.head.price.startswith("$0.0")
        assert "Whisper" in tab.head.price_words
        assert len(tab.exchanges) == calls


@pytest.mark.parametrize(("model", "estimated"), [(PARAKEET, ""), ("fal-ai/wizper", "words"), ("stt-xai-v1", "")])
async def test_every_models_times_become_words_that_can_be_clicked(
    tmp_home: Path, sandbox: RunningSandbox, model: str, estimated: str
) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.set_option("model", model)
        await tab.add(spoken_file(tmp_home))
        await tab.send()
        document = tab.document
        assert document.estimated == estimated
        assert document.word_count > 5
        assert tab.presenter.options.model == model


async def test_r_stt_08_plain_text_has_no_times_and_says_that_they_are_estimated(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.set_option("response_format", "text")
        await tab.add(spoken_file(tmp_home))
        await tab.send()
        assert tab.document.estimated == "all"
        assert ("Timestamps", "estimated") in tab.head.facts


async def test_pause_marks_and_discard_with_undo(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.record(tone(440, 1.0), stop=False)
        tab.presenter.mark("Lock built")
        tab.presenter.recorder.pause_recording()
        assert tab.presenter.recording.phase == "paused"
        tab.presenter.recorder.pause_recording()
        tab.presenter.mark()
        tab.presenter.rename_mark(1, "Second")
        assert [mark.text for mark in tab.head.marks] == ["Lock built", "Second"]
        tab.presenter.remove_mark(1)
        tab.presenter.recorder.discard_recording()
        await tab.done()
        assert tab.entries == ()
        assert tab.undo_stack.undo_last("transcription")
        await tab.done()
        assert tab.head.view == "sound"
        assert [mark.text for mark in tab.head.marks] == ["Lock built"]
        assert tab.head.sound.duration_s == pytest.approx(1.0, abs=0.05)


# Microphones


async def test_the_list_follows_plugging_and_the_choice_is_remembered(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        inputs = tab.presenter.recording.inputs()
        assert [each.name for each in inputs.microphones] == ["Built-in", "USB microphone"]
        tab.presenter.recorder.choose_microphone("id-USB microphone")
        tab.presenter.recorder.choose_channel(1)
        tab.presenter.recorder.set_gain(3.0)
        await tab.plug("Built-in")
        assert tab.presenter.recording.inputs().missing
        await tab.plug("Built-in", "USB microphone", "Headset")
        assert not tab.presenter.recording.inputs().missing
    async with open_transcription_presenter(tmp_home) as tab:
        kept = tab.presenter.recording.kept
        assert (kept.device_id, kept.channel, kept.gain_db) == ("id-USB microphone", 1, 3.0)


async def test_unplugged_while_recording_the_file_is_kept_and_the_reason_said(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        row_id = await tab.record(tone(440, 1.0), stop=False)
        await tab.plug("USB microphone")
        await until(lambda: not tab.presenter.recorder.is_recording)
        await tab.done()
        row = tab.presenter.row(row_id)
        assert row is not None
        assert row.state == "recorded"
        assert row.note == "The microphone was disconnected. Everything up to that point is saved."
        assert tab.notices[-1][0] == row.note
        assert soundfile.info(tmp_home / "recordings" / row.sound_path).duration == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (AudioProblem.LIBRARY, "Recording needs PortAudio"),
        (AudioProblem.DEVICE, "No microphone found"),
        (AudioProblem.BUSY, "Another program is using the microphone"),
    ],
)
async def test_no_portaudio_no_device_and_a_busy_device_each_have_a_sentence(
    tmp_home: Path, missing: AudioProblem, words: str
) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        tab.refuses = AudioUnavailable(missing, "input")
        tab.presenter.recorder.record()
        await tab.done()
        problem = tab.head.problem
        assert problem is not None
        assert words in problem.what
        assert [action.id for action in problem.actions] == ["record"]
        assert tab.entries == ()
        tab.refuses = None
        tab.presenter.act("record")
        await until(lambda: tab.presenter.recorder.is_recording)


async def test_the_microphone_test_records_three_seconds_and_plays_them(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        states: list[str] = []
        tab.presenter.recording.inputs_changed.connect(lambda inputs: states.append(inputs.test))
        tab.presenter.recorder.test_microphone()
        await until(lambda: tab.blocks)
        tab.blocks[-1].say(tone(440, 3.2))
        await tab.done()
        changes = [state for state, before in zip(states, ["", *states], strict=False) if state != before]
        assert changes == ["recording", "playing", ""]
        assert not (tmp_home / "cache" / "microphone-test.wav").exists()
        assert tab.entries == ()


# Files


async def test_the_type_is_told_from_the_content(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.add(spoken_file(tmp_home, "really-flac.mp3", kind="flac"))
        assert tab.head.sound.kind == "FLAC"
        await tab.send()
        assert tab.head.view == "result"
        (tmp_home / "note.wav").write_bytes(b"%PDF-1.7 and so on, padded" * 10)
        await tab.add(tmp_home / "note.wav")
        assert "cannot be used. Its content is not WAV" in tab.notices[-1][0]


async def test_a_file_over_25_mb_can_be_compressed_to_a_size(tmp_home: Path, sandbox: RunningSandbox) -> None:
    loud = np.tile(np.concatenate((spoken(), GAP)), 3)
    wide = np.repeat(loud, 3)  # 48 kHz in two channels: 8 times the bytes
    soundfile.write(tmp_home / "long.wav", np.stack([wide, wide], 1), 48_000, subtype="PCM_32")
    with (tmp_home / "long.wav").open("ab") as padded:
        padded.truncate(27_000_000)  # what a camera leaves behind the sound
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.add(tmp_home / "long.wav")
        assert tab.head.sound.too_large
        row_id = tab.head.id or ""
        tab.presenter.set_treatment(row_id, "compress:200000")
        await tab.done()
        await tab.send()
        assert tab.head.view == "result", tab.head.problem
        assert words_heard(" ".join([TEXT] * 3), tab.document.text) > 0.5


async def test_split_on_silence_the_parts_are_joined_in_order_with_right_times(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    path = write_wav(tmp_home / "talk.wav", np.tile(np.concatenate((GAP, spoken(), GAP)), 4))
    length = soundfile.info(path).duration
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.sending.longest_part_s = length / 3
        await tab.add(path)
        tab.presenter.set_treatment(tab.head.id or "", "split")
        await tab.done()
        await tab.send()
        document = tab.document
        assert tab.head.view == "result", tab.head.problem
        starts = [word.start for segment in document.segments for word in segment.words]
        assert starts == sorted(starts)
        assert starts[-1] > length * 0.75
        assert words_heard(" ".join([TEXT] * 4), document.text) > 0.5
        parts = await tab.presenter.store.parts(tab.head.id or "")
        assert len(parts) >= 3
        assert tab.presenter.reading.received["parts"][1]["start"] == parts[1].start_s
        assert any(run.text == f"{len(parts)} parts" for run in tab.head.receipt)


async def test_a_part_that_failed_is_sent_again_alone(tmp_home: Path, sandbox: RunningSandbox) -> None:
    path = write_wav(tmp_home / "talk.wav", np.tile(np.concatenate((GAP, spoken(), GAP)), 3))
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.sending.longest_part_s = soundfile.info(path).duration / 2
        await tab.add(path)
        row_id = tab.head.id or ""
        tab.presenter.set_treatment(row_id, "split")
        await tab.done()
        await tab.fault("answer", status=402, times=1, path="/audio/transcriptions")
        await tab.send()
        parts = await tab.presenter.store.parts(row_id)
        answered = [bool(part.received) for part in parts]
        if answered[0]:
            assert answered[1] is False
        assert tab.head.problem is not None
        paid = [each for each in tab.exchanges if each.resource == "transcription" and each.status == 200]
        await tab.send()
        assert tab.head.view == "result"
        again = [each for each in tab.exchanges if each.resource == "transcription" and each.status == 200]
        assert len(again) - len(paid) == len(parts) - sum(answered)


async def test_a_folder_becomes_a_table_that_pauses_and_resumes_over_a_restart(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    folder = tmp_home / "inbox"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.wav", "b.flac", "deep/c.ogg"):
        spoken_file(folder, name)
    (folder / "notes.txt").write_text("not audio")
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.add(folder)
        batch = tab.presenter.batch_queue.view()
        assert tab.head.view == "batch"
        assert sorted(row.title for row in batch.rows) == ["a", "b", "c"]
        assert batch.left == 3
        assert batch.price.startswith("about $")
        tab.presenter.batch_queue.drop(batch.rows[0].id)
        await tab.done()
        assert tab.presenter.batch_queue.view().left == 2
        assert tab.undo_stack.undo_last("transcription")
        await tab.done()
        assert tab.presenter.batch_queue.view().rows == batch.rows
        tab.presenter.batch_queue.start()
        await until(lambda: any(row.is_busy for row in tab.presenter.batch_queue.view().rows))
        tab.presenter.batch_queue.pause()
        await tab.done()
        batch = tab.presenter.batch_queue.view()
        assert (batch.done, batch.waiting, batch.running) == (1, 2, False)
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        calls = len(tab.exchanges)
        tab.presenter.show_batch()
        assert tab.presenter.batch_queue.view().waiting == 2
        assert all(each.resource != "transcription" for each in tab.exchanges[calls:])
        tab.presenter.batch_queue.start()
        await tab.done()
        assert tab.presenter.batch_queue.view().done == 3
        tab.presenter.batch_queue.clear_done()
        await tab.done()
        assert tab.presenter.batch_queue.view().rows == ()
        assert len(tab.entries) == 3


# Nothing is lost


async def test_a_failed_request_keeps_the_recording_and_retry_is_one_press(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.fault("answer", status=402, times=1, path="/audio/transcriptions")
        await tab.record(spoken(), transcribe=True)
        problem = tab.head.problem
        assert problem is not None
        assert "Not enough credits" in problem.what
        assert tab.entries[0].state == "failed"
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.open(tab.entries[0].id)
        await tab.done()
        assert tab.head.problem is not None
        assert [action.id for action in tab.head.problem.actions] == ["retry"]
        tab.presenter.act("retry")
        await tab.done()
        assert tab.head.view == "result"


async def test_r_stt_19_sound_that_cannot_be_transcribed_is_not_called_forbidden(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.fault("answer", status=422, times=1, path="/audio/transcriptions")
        await tab.record(spoken(), transcribe=True)
        problem = tab.head.problem
        assert problem is not None
        assert problem.what == "The service could not transcribe this audio"
        assert [action.id for action in problem.actions] == ["choose-model"]


async def test_a_disk_too_full_to_prepare_an_upload_is_named_and_the_next_try_works(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    (tmp_home / "cache").mkdir()
    with small_disk(tmp_home / "cache", 2) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here")
        async with open_transcription_presenter(tmp_home, sandbox) as tab:
            row_id = await tab.record(spoken())
            calls = len(tab.exchanges)
            disk.fill()
            await tab.send(row_id)
            problem = tab.head.problem
            assert problem is not None
            assert problem.what.startswith("Preparing audio failed. The disk is full: ")
            assert (problem.meaning, tab.head.state, len(tab.exchanges)) == ("Nothing was sent.", "failed", calls)
            disk.make_room()
            tab.presenter.act("retry")
            await tab.done()
            assert tab.head.view == "result"


async def test_a_file_that_was_moved_away_is_named_and_the_next_try_works(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        path = spoken_file(tmp_home)
        await tab.add(path)
        path.rename(away := tmp_home / "away.wav")
        await tab.send(tab.head.id)
        problem = tab.head.problem
        assert problem is not None and problem.what == "note.wav cannot be read: No such file or directory."
        away.rename(path)
        tab.presenter.act("retry")
        await tab.done()
        assert tab.head.view == "result"


async def test_without_a_place_for_what_is_prepared_the_page_says_so(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        row_id = await tab.record(spoken())
        with vanished(tmp_home / "cache"):
            tab.presenter.playing.toggle()
            assert tab.presenter.playing.problem.startswith("Preparing audio failed. The folder does not exist: ")
            await tab.send(row_id)
            problem = tab.head.problem
            assert problem is not None and problem.what.startswith("Preparing audio failed. The folder does not exist")
        tab.presenter.playing.toggle()
        assert (tab.presenter.playing.plays, tab.presenter.playing.problem) == (True, "")


async def test_stopped_on_its_way_it_may_have_been_charged_and_says_so(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.fault("slow", seconds=20, times=1, path="/audio/transcriptions")
        await tab.add(spoken_file(tmp_home))
        tab.presenter.transcribe()
        await until(lambda: tab.head.work is not None and tab.head.work.phase == "listening")
        assert tab.presenter.cancel()
        await tab.done()
        assert tab.head.state == "unknown"
        assert tab.head.problem is not None
        assert "charged" in tab.head.problem.meaning
        assert tab.head.problem.severity == "warn"
        row_id = tab.head.id or ""
        await tab.presenter.update(row_id, batch=1)
        tab.presenter.batch_queue.start()
        await tab.done()
        assert tab.presenter.row(row_id).state == "unknown"  # type: ignore[union-attr]  # it is on the list


async def test_stopped_as_its_text_comes_it_is_done(
    tmp_home: Path, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = entered(monkeypatch, Transcripts, "save_text")
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        await tab.add(spoken_file(tmp_home))
        tab.presenter.transcribe()
        await came.wait()
        tab.presenter.cancel()
        await tab.done()
        assert tab.head.state == "done"
        assert (await Intents(tab.database).recent("transcription"))[0].state == "answered"


# Read, edit, export


async def test_edits_are_on_disk_at_once_and_the_exports_have_them(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        await tab.seed()
        reading = tab.presenter.reading
        before = reading.document
        reading.edit(0, "Zeppelins " + before.segments[0].text)
        reading.split(0, 2)
        reading.nudge(0, "both", -0.05)
        await tab.done()
        assert reading.undo()
        assert reading.redo()
        await tab.done()
        tab.presenter.search("zeppelins")
        await tab.done()
        assert len(tab.entries) == 1
        assert "zeppelins" in tab.entries[0].second_line
        for kind in ("srt", "vtt", "txt", "md", "json", "csv"):
            tab.presenter.exports.choose(ExportChoice(kind))
            tab.presenter.exports.save(tmp_home / f"out.{kind}")
            await tab.done()
            assert "Zeppelins" in (tmp_home / f"out.{kind}").read_text(encoding="utf-8")
        tab.presenter.exports.choose(ExportChoice("srt"))
        preview = tab.presenter.exports.preview(0.0)
        tab.presenter.exports.choose(ExportChoice("csv"))
        assert preview.text.startswith("1\n00:00:0")
        assert preview.place.startswith("cue 1 of ")
    async with open_transcription_presenter(tmp_home) as tab:
        tab.presenter.open(tab.entries[0].id)
        await tab.done()
        assert tab.document.segments[0].text.startswith("Zeppelins")
        assert tab.presenter.exports.choice.kind == "csv"


async def test_a_word_is_heard_from_its_own_time(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:
        await tab.seed()
        heard: list[float] = []
        tab.presenter.playing.position_changed.connect(heard.append)
        word = tab.document.segments[0].words[2]
        tab.presenter.playing.seek(word.start, play=True)
        await until(lambda: heard and heard[-1] > word.start)
        assert next(at for at in heard if at) >= word.start - 0.1
        await until(lambda: not tab.presenter.playing.plays)


async def test_a_recording_is_on_the_list_before_it_is_shown_as_one(tmp_home: Path) -> None:
    """Whoever marks or stops it in its first moment reaches it, and none before it."""
    async with open_transcription_presenter(tmp_home) as tab:
        presenter, begin = tab.presenter, tab.presenter.recording.begin
        rows: list[int] = []

        async def begun(path: Path) -> None:
            rows.append(len(await presenter.store.list()))
            await begin(path)

        presenter.recording.begin = begun  # type: ignore[method-assign]  # looks at the disk, then begins
        presenter.recorder.record()
        await until(lambda: presenter.recorder.is_recording)
        presenter.mark("Here")
        presenter.recorder.stop_recording(transcribe=False)
        await tab.done()
        assert rows == [1]
        (entry,) = tab.entries
        assert entry.state == "recorded"
        assert [mark.text for mark in tab.head.marks] == ["Here"]


async def test_a_recording_that_cannot_begin_leaves_nothing_on_the_list(tmp_home: Path) -> None:
    async with open_transcription_presenter(tmp_home) as tab:

        def busy(_choice: MicrophoneChoice) -> FakeBlocks:
            raise AudioUnavailable(AudioProblem.BUSY, "input")

        tab.open_blocks = busy
        tab.presenter.recorder.record()
        await tab.done()
        assert tab.head.problem is not None and "Another program is using" in tab.head.problem.what
        assert await tab.presenter.store.list() == ()


async def test_a_list_of_microphones_that_comes_late_replaces_no_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    host, answers = FakeHost(), [asyncio.Event(), asyncio.Event()]
    recording, waiting = RecordingSession(host, FakeWatch(), SavedMicrophone()), iter(answers)

    async def in_a_thread(list_devices: Callable[[str], tuple[Any, ...]], direction: str) -> tuple[Any, ...]:
        found = list_devices(direction)
        await next(waiting).wait()
        return found

    monkeypatch.setattr(asyncio, "to_thread", in_a_thread)
    looks = [asyncio.ensure_future(recording.refresh())]
    await asyncio.sleep(0)
    host.inputs.append(SystemDevice("late", "Late microphone", "input", 1, True))
    looks.append(asyncio.ensure_future(recording.refresh()))
    answers[1].set()
    for _ in range(10):  # turns in which the second could end before the first
        await asyncio.sleep(0)
    answers[0].set()
    await asyncio.gather(*looks)
    assert [one.name for one in recording.inputs().microphones] == ["Late microphone"]
