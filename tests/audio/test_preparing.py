"""Files made fit for upload: another rate, cuts in silences, a stated size."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.decoding import blocks_of
from app.audio.resampling import Resampler
from app.audio.silence import STEP_S, LevelCounter, cuts
from app.audio.upload_conversion import (
    CannotPrepare,
    Stopped,
    bitrate_for,
    compress,
    longest_part_s,
    split,
    to_flac,
)
from tests.audio.recorded import pauses, pitch_hz, tone, write_wav
from tests.sandbox.test_transcription import file, samples


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100, 48_000])
def test_another_rate_keeps_pitch_level_and_length_whatever_the_blocks(rate_hz: int) -> None:
    source = tone(1_000, 1.0, 0.5, rate_hz)
    whole = Resampler(rate_hz, 16_000)
    result = np.concatenate((whole.feed(source), whole.flush()))
    assert len(result) == pytest.approx(16_000, abs=2)
    assert pitch_hz(result, 16_000) == pytest.approx(1_000, abs=0.5)
    assert float(np.sqrt((result[1000:-1000] ** 2).mean())) == pytest.approx(0.3535, abs=0.002)
    piecewise = Resampler(rate_hz, 16_000)
    pieces = [piecewise.feed(source[at : at + 777]) for at in range(0, len(source), 777)]
    together = np.concatenate((*pieces, piecewise.flush()))
    assert np.allclose(together, result, atol=1e-5)


def test_what_16_khz_cannot_carry_is_filtered_not_folded() -> None:
    resampler = Resampler(48_000, 16_000)
    result = np.concatenate((resampler.feed(tone(11_000, 1.0, 0.5, 48_000)), resampler.flush()))
    assert float(np.abs(result[500:-500]).max()) < 0.002


def levels_of(path: Path) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    counter: LevelCounter | None = None
    for block in blocks_of(path):
        counter = counter or LevelCounter(block.rate_hz)
        counter.add((block.samples / 32_768).astype(np.float32))
    assert counter is not None
    return counter.levels()


def test_cuts_lie_in_silences_and_no_part_is_too_long(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "talk.wav", pauses(4.0, 0.6, 120))
    levels = levels_of(path)
    assert len(levels) == pytest.approx(120 / STEP_S, abs=1)
    found = cuts(levels, 30.0)
    edges = [0.0, *found, 120.0]
    assert all(later - earlier <= 30.0 for earlier, later in itertools.pairwise(edges))
    assert 4 <= len(found) <= 5
    assert all((at % 4.6) > 4.0 for at in found)


def test_sound_without_any_silence_is_cut_all_the_same(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "drone.wav", tone(200, 100))
    found = cuts(levels_of(path), 30.0)
    edges = [0.0, *found, 100.0]
    assert all(0 < later - earlier <= 30.0 for earlier, later in itertools.pairwise(edges))
    assert cuts(levels_of(path), 200.0) == []


def test_parts_follow_one_another_without_gap_or_overlap(tmp_path: Path) -> None:
    source = write_wav(tmp_path / "talk.wav", pauses(3.0, 0.5, 60, 44_100), 44_100)
    parts = split(source, tmp_path / "parts", 25_000_000, longest_s=20)
    assert [part.path.exists() for part in parts] == [True] * len(parts)
    assert parts[0].start_s == 0
    assert parts[-1].end_s == pytest.approx(60, abs=0.001)
    assert all(one.end_s == two.start_s for one, two in itertools.pairwise(parts))
    for part in parts:
        info = soundfile.info(part.path)
        assert (info.samplerate, info.channels, info.format) == (16_000, 1, "FLAC")
        assert info.duration == pytest.approx(part.end_s - part.start_s, abs=0.005)
        assert part.path.stat().st_size < 25_000_000


def test_a_part_of_noise_fits_into_the_limit_too(tmp_path: Path) -> None:
    seconds = longest_part_s(2_000_000)
    noise = np.random.default_rng(1).uniform(-1, 1, int(seconds * 16_000)).astype(np.float32)
    source = write_wav(tmp_path / "noise.wav", noise)
    to_flac(source, tmp_path / "noise.flac")
    assert (tmp_path / "noise.flac").stat().st_size < 2_000_000


def test_compressed_to_a_stated_size(tmp_path: Path) -> None:
    source = write_wav(tmp_path / "talk.wav", pauses(3.0, 0.5, 40, 44_100), 44_100)
    for target in (200_000, 100_000):
        size = compress(source, tmp_path / "talk.ogg", target)
        assert size == (tmp_path / "talk.ogg").stat().st_size
        assert target * 0.5 < size <= target
        assert soundfile.info(tmp_path / "talk.ogg").duration == pytest.approx(40, abs=0.1)


def test_what_cannot_become_that_small_says_so(tmp_path: Path) -> None:
    source = write_wav(tmp_path / "talk.wav", pauses(3.0, 0.5, 10))
    with pytest.raises(CannotPrepare, match="Split it on silence"):
        compress(source, tmp_path / "talk.ogg", 2_000)
    assert not (tmp_path / "talk.ogg").exists()
    assert bitrate_for(3600, 25_000_000) == 48_000
    assert bitrate_for(7200, 25_000_000) < 48_000


@pytest.mark.parametrize("suffix", ["m4a", "mp4", "aac", "webm"])
def test_what_libsndfile_does_not_read_is_converted_all_the_same(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"film.{suffix}"
    source.write_bytes(file(suffix))
    length = to_flac(source, tmp_path / "whole.flac")
    assert length == pytest.approx(len(samples()) / 16_000, abs=0.25)
    assert soundfile.info(tmp_path / "whole.flac").duration == pytest.approx(length, abs=0.01)
    (part,) = split(source, tmp_path / "parts", 25_000_000)
    assert part.end_s == pytest.approx(length, abs=0.01)


def test_what_is_not_sound_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.wav").write_bytes(b"RIFFxxxxWAVE but no more")
    with pytest.raises(CannotPrepare, match=r"notes\.wav cannot be read as audio"):
        to_flac(tmp_path / "notes.wav", tmp_path / "out.flac")


def test_a_file_that_is_damaged_in_its_middle_is_named_and_nothing_half_made_stays(tmp_path: Path) -> None:
    source, made = tmp_path / "talk.flac", tmp_path / "made"
    random = np.random.default_rng(2)
    soundfile.write(source, random.normal(0, 0.2, 24_000 * 30), 24_000)
    data = bytearray(source.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 20_000] = random.bytes(20_000)
    source.write_bytes(data)
    made.mkdir()
    for prepare in (
        lambda: to_flac(source, made / "out.flac"),
        lambda: compress(source, made / "out.ogg", 400_000),
        lambda: split(source, made, 25_000_000),
    ):
        with pytest.raises(CannotPrepare, match=r"^talk\.flac cannot be read as audio: "):
            prepare()
        assert not list(made.iterdir())


def test_stopped_in_the_middle_nothing_half_made_stays(tmp_path: Path) -> None:
    source = write_wav(tmp_path / "talk.wav", tone(440, 40))
    shares: list[float] = []
    with pytest.raises(Stopped):
        to_flac(source, tmp_path / "out.flac", shares.append, lambda: bool(shares))
    assert not (tmp_path / "out.flac").exists()
    assert shares == [pytest.approx(0.256, abs=0.01)]


def test_an_mp3_is_prepared_and_cut_without_a_word_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Parts follow one another in one file: going to a place in an MP3 loses what the first frames there need."""
    source = tmp_path / "talk.mp3"
    noise = np.random.default_rng(2).normal(0, 0.05, 24_000 * 24)
    soundfile.write(source, pauses(2.0, 0.4, 24, 24_000)[: len(noise)] + noise, 24_000)
    parts = split(source, tmp_path / "parts", 25_000_000, longest_s=8)
    whole = tmp_path / "whole.flac"
    to_flac(source, whole)
    assert capfd.readouterr().err == ""
    together = np.concatenate([soundfile.read(part.path)[0] for part in parts])
    at_once, _ = soundfile.read(whole)
    size = min(len(together), len(at_once))
    assert size == pytest.approx(24 * 16_000, abs=40)
    assert len(parts) >= 3
