"""A recording on disk: whole after each block, readable after a kill, flat in memory, true about its level."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.levels import FLOOR_DB, LevelWatch, level_of
from app.audio.live_peaks import LivePeaks, peaks_path
from app.audio.recording import Recorder
from app.audio.wav_file import HEADER_BYTES, WavWriter, mend, read_facts
from tests.audio.recorded import RATE_HZ, FakeBlocks, pcm, pitch_hz, tone
from tests.kit.portable import KILL
from tests.kit.waiting import block_until


def test_every_block_is_in_the_file_at_once_and_the_header_follows(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    now = [0.0]
    writer = WavWriter(path, RATE_HZ, clock=lambda: now[0])
    writer.write(pcm(tone(440, 0.5)))
    assert path.stat().st_size == HEADER_BYTES + RATE_HZ
    now[0] = 1.5
    writer.write(pcm(tone(440, 0.5)))
    facts = read_facts(path)
    assert facts is not None
    assert facts.is_true
    assert facts.seconds == 1.0
    writer.close()
    writer.close()
    assert soundfile.info(path).duration == 1.0


def test_a_header_that_lagged_behind_is_mended_and_a_torn_frame_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writer = WavWriter(path, RATE_HZ)
    writer.write(pcm(tone(440, 2.0)))
    with path.open("ab") as file:
        file.write(b"\x01")  # half a sample
    assert not read_facts(path).is_true  # type: ignore[union-attr]  # it is a WAV file
    facts = mend(path)
    assert facts is not None
    assert facts.seconds == 2.0
    assert soundfile.info(path).duration == 2.0
    assert mend(path) == facts
    writer.close()


def test_what_is_no_recording_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes.wav"
    other.write_bytes(b"not sound at all" * 10)
    assert mend(other) is None
    assert other.read_bytes() == b"not sound at all" * 10
    assert mend(tmp_path / "missing.wav") is None


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        WavWriter(tmp_path / "a.wav", RATE_HZ)


def test_levels_are_decibels_of_full_scale() -> None:
    half = (tone(440, 1.0, 0.5) * 32767).astype(np.int16)
    level = level_of(half)
    assert level.rms_db == pytest.approx(-9.03, abs=0.02)
    assert level.peak_db == pytest.approx(-6.02, abs=0.02)
    assert level_of(np.zeros(100, np.int16)).rms_db == FLOOR_DB
    assert level_of(np.full(100, 32767, np.int16)).clipped == 100


def test_silence_muting_and_clipping_are_told_and_taken_back() -> None:
    watch = LevelWatch()
    loud = level_of((tone(440, 0.1, 0.5) * 32767).astype(np.int16))
    faint = level_of((tone(440, 0.1, 0.0005) * 32767).astype(np.int16))
    nothing = level_of(np.zeros(1600, np.int16))
    clipped = level_of(np.full(1600, 32767, np.int16))
    for level, seconds, warning in (
        (faint, 3.9, ""),
        (faint, 0.2, "silent"),
        (loud, 0.1, ""),
        (nothing, 4.1, "muted"),
        (clipped, 0.1, "clipping"),
        (loud, 2.8, "clipping"),
        (loud, 0.3, ""),
    ):
        watch.observe(level, seconds)
        assert watch.warning == warning


def record(tmp_path: Path, blocks: FakeBlocks, **kwargs: object) -> Recorder:
    recorder = Recorder(blocks, tmp_path / "a.wav", **kwargs)  # type: ignore[arg-type]  # what a test gives
    recorder.start()
    return recorder


def test_a_tone_said_is_the_tone_recorded(tmp_path: Path) -> None:
    blocks = FakeBlocks()
    recorder = record(tmp_path, blocks)
    blocks.say(tone(440, 2.0))
    block_until(lambda: recorder.snapshot().seconds >= 2.0)
    state = recorder.stop()
    assert state.is_over
    assert state.reason is None
    assert blocks.is_closed
    samples, rate = soundfile.read(tmp_path / "a.wav")
    assert rate == RATE_HZ
    assert pitch_hz(samples, rate) == pytest.approx(440, abs=0.05)
    assert float(np.sqrt((samples**2).mean())) == pytest.approx(0.3535, abs=0.001)


def test_what_is_said_in_a_pause_is_not_kept(tmp_path: Path) -> None:
    blocks = FakeBlocks()
    recorder = record(tmp_path, blocks)
    blocks.say(tone(300, 1.0))
    block_until(lambda: recorder.snapshot().seconds == 1.0)
    recorder.pause(True)
    blocks.say(tone(900, 1.0))
    block_until(lambda: blocks.is_heard)
    block_until(lambda: recorder.snapshot().level_db > -20)
    recorder.pause(False)
    blocks.say(tone(600, 0.5))
    block_until(lambda: recorder.snapshot().seconds >= 1.5)
    assert recorder.stop().seconds == pytest.approx(1.5, abs=0.03)


def test_gain_is_applied_and_channels_are_chosen_or_mixed(tmp_path: Path) -> None:
    stereo = np.stack([tone(300, 0.5, 0.2), tone(800, 0.5, 0.4)], axis=1).reshape(-1)
    for name, channel, hz, amplitude in (("left", 0, 300, 0.2), ("right", 1, 800, 0.4), ("mixed", -1, 800, 0.2)):
        blocks = FakeBlocks(channels=2)
        recorder = Recorder(blocks, tmp_path / f"{name}.wav", channel=channel, gain_db=6.0206)
        recorder.start()
        blocks.say(stereo)
        block_until(lambda r=recorder: r.snapshot().seconds >= 0.5)
        recorder.stop()
        samples, _ = soundfile.read(tmp_path / f"{name}.wav")
        assert pitch_hz(samples, RATE_HZ) == pytest.approx(hz, abs=1)
        spectrum = np.abs(np.fft.rfft(samples)) * 2 / len(samples)
        assert spectrum[hz // 2] == pytest.approx(amplitude * 2, rel=0.02)


def test_an_unplugged_microphone_ends_it_with_a_sentence_and_keeps_the_file(tmp_path: Path) -> None:
    blocks = FakeBlocks()
    recorder = record(tmp_path, blocks)
    blocks.say(tone(440, 1.0))
    block_until(lambda: recorder.snapshot().seconds == 1.0)
    blocks.end()
    block_until(lambda: recorder.snapshot().is_over)
    reason = recorder.snapshot().reason
    assert reason is not None
    assert reason.sentence == "The microphone was disconnected. Everything up to that point is saved."
    assert soundfile.info(tmp_path / "a.wav").duration == 1.0


def test_a_microphone_that_falls_silent_without_a_word_counts_as_gone(tmp_path: Path) -> None:
    now = [0.0]
    blocks = FakeBlocks()
    recorder = record(tmp_path, blocks, clock=lambda: now[0])
    blocks.say(tone(440, 0.2))
    block_until(lambda: recorder.snapshot().seconds == 0.2)  # else the rest is heard at the later time
    now[0] = 10.0
    block_until(lambda: recorder.snapshot().is_over)
    assert recorder.snapshot().reason is not None


def test_a_full_disk_ends_it_and_keeps_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = FakeBlocks()
    recorder = record(tmp_path, blocks)
    blocks.say(tone(440, 1.0))
    block_until(lambda: recorder.snapshot().seconds == 1.0)

    def refuse(block: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recorder._file, "write", refuse)
    blocks.say(tone(440, 1.0))
    block_until(lambda: recorder.snapshot().is_over)
    reason = recorder.snapshot().reason
    assert reason is not None
    assert "No space left on device" in reason.sentence
    assert soundfile.info(tmp_path / "a.wav").duration == 1.0


def test_the_waveform_grows_on_disk_and_not_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    peaks = LivePeaks(peaks_path(path), RATE_HZ)
    minute = (tone(50, 60.0, 0.5) * 32767).astype(np.int16)
    for _ in range(10):
        peaks.add(minute)
    peaks.close()
    assert peaks.count == 50 * 600
    assert len(peaks.newest) == 50 * 60
    assert peaks_path(path).stat().st_size == 2 * peaks.count
    low, high = peaks.newest[-1]
    assert (low, high) == (pytest.approx(-0.5, abs=0.02), pytest.approx(0.5, abs=0.02))


def test_killed_mid_recording_the_file_is_there_and_can_be_read(tmp_path: Path) -> None:
    """SIGKILL between two blocks: everything that was said until then is in the file after `mend`."""
    path = tmp_path / "killed.wav"
    command = [sys.executable, "-m", "tests.audio.killed_recording", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        seconds = float(process.stdout.readline())
        os.kill(process.pid, KILL)
    assert seconds > 0.5
    facts = mend(path)
    assert facts is not None
    assert facts.seconds >= seconds
    samples, rate = soundfile.read(path)
    assert len(samples) / rate == facts.seconds
    assert pitch_hz(samples, rate) == pytest.approx(440, abs=0.5)
