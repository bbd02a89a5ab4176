"""Sound out of bytes: all six formats of speech, whole and while they arrive, and what is broken."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from app.audio import decoding, waveform
from app.audio.decoding import NotSound, StreamingBytes, arriving_blocks, blocks_of, duration_s
from app.audio.spool import Spool
from tests.audio.sounds import block, encoded, frequency_of, tone

KINDS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
RATE_HZ = 24_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_streamed_file_of_each_format_is_read_to_its_end(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sound.{kind}"
    path.write_bytes(encoded(tone(1.0), kind))
    blocks = list(blocks_of(path, kind=kind, pcm_rate_hz=RATE_HZ))
    samples = np.concatenate([one.samples for one in blocks])
    assert frequency_of(samples, blocks[0].rate_hz) == pytest.approx(440, abs=2)
    assert duration_s(path, kind=kind) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("kind", KINDS)
def test_each_format_is_heard_while_it_arrives(kind: str) -> None:
    """Half of the bytes are there and no more have come: sound is given out all the same."""
    noise = np.random.default_rng(1).integers(-2000, 2000, RATE_HZ * 4).astype(np.int16)  # a pure tone is tiny
    data = encoded(tone(4.0, level=0.3) + noise, kind)
    arriving = StreamingBytes()
    frames: list[int] = []
    some = threading.Event()

    def work() -> None:
        for one in arriving_blocks(arriving, kind, pcm_rate_hz=RATE_HZ):
            frames.append(len(one.samples) * RATE_HZ // one.rate_hz)
            some.set()

    thread = threading.Thread(target=work)
    thread.start()
    arriving.feed(data[: len(data) // 2])
    assert some.wait(60)
    arriving.feed(data[len(data) // 2 :])
    arriving.finish()
    thread.join(60)
    assert sum(frames) / RATE_HZ == pytest.approx(4.0, abs=0.06)


def test_a_sample_whose_two_bytes_come_apart_is_whole_again() -> None:
    samples = tone(0.05)
    arriving = StreamingBytes()
    data = samples.tobytes()
    for at in range(0, len(data), 333):
        arriving.feed(data[at : at + 333])
    arriving.finish()
    found = np.concatenate([one.samples for one in arriving_blocks(arriving, "pcm")])
    assert np.array_equal(found, samples)


@pytest.mark.parametrize("length", [b"\0\0\0\0", b"\xff\xff\xff\xff"])
def test_a_wav_that_does_not_know_its_length_is_read_to_its_end(length: bytes, tmp_path: Path) -> None:
    data = encoded(tone(0.5), "wav")
    path = tmp_path / "streamed.wav"
    path.write_bytes(data[:40] + length + data[44:])
    assert sum(len(one.samples) for one in blocks_of(path)) == RATE_HZ // 2


@pytest.mark.parametrize("kind", ["mp3", "opus", "flac", "wav", "pcm"])
def test_a_file_that_was_cut_gives_what_there_is_of_it(kind: str, tmp_path: Path) -> None:
    data = encoded(tone(3.0), kind)
    path = tmp_path / f"cut.{kind}"
    path.write_bytes(data[: len(data) // 2 + 1])
    assert 0.5 < duration_s(path, kind=kind) < 2.0


def test_an_mp3_read_in_blocks_is_the_same_sound_and_nothing_is_complained_of(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """soundfile used to throw away, at each of its blocks, what the next frame of an MP3 needs of those before it."""
    from app.audio.decoding_av import decode

    noise = np.random.default_rng(1).integers(-2000, 2000, RATE_HZ * 12).astype(np.int16)
    path = tmp_path / "speech.mp3"
    path.write_bytes(encoded(tone(12.0, level=0.3) + noise, "mp3"))
    in_blocks = np.concatenate([one.samples for one in blocks_of(path)]).astype(int)
    with path.open("rb") as file:
        at_once = np.concatenate([one.samples for one in decode(file, "mp3")]).astype(int)
    assert len(in_blocks) == len(at_once) == RATE_HZ * 12
    assert np.abs(in_blocks - at_once).max() <= 2, "two decoders differ by rounding alone"
    assert capfd.readouterr().err == ""


def test_what_is_no_sound_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "page.mp3"
    path.write_bytes(b"<html>" * 100)
    with pytest.raises(NotSound, match="no audio"):
        list(blocks_of(path))
    with pytest.raises(NotSound, match="cannot be read"):
        list(blocks_of(tmp_path / "missing.wav"))


def test_without_pyav_compressed_sound_is_heard_when_it_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    arriving = StreamingBytes()
    arriving.feed(encoded(tone(1.0), "mp3"))
    arriving.finish()
    frames = sum(len(one.samples) for one in arriving_blocks(arriving, "mp3"))
    assert frames / RATE_HZ == pytest.approx(1.0, abs=0.06)
    flac = StreamingBytes()
    flac.feed(encoded(tone(1.0), "flac"))
    flac.finish()
    assert sum(len(one.samples) for one in arriving_blocks(flac, "flac")) / RATE_HZ == pytest.approx(1.0, abs=0.003)
    with pytest.raises(NotSound, match="AAC needs PyAV"):
        list(arriving_blocks(arriving, "aac"))


def test_peaks_are_made_once_and_then_read_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sound.wav"
    path.write_bytes(encoded(tone(2.0), "wav"))
    made = waveform.load(path, tmp_path / "cache")
    assert made.shape == (100, 2)
    assert waveform.bars_of(made, 10) == pytest.approx([0.5] * 10, abs=0.02)
    monkeypatch.setattr(waveform, "blocks_of", lambda *_: pytest.fail("the sound was read again"))
    assert np.array_equal(waveform.load(path, tmp_path / "cache"), made)


def test_parts_of_a_clip_meet_without_a_click(tmp_path: Path) -> None:
    """A tone cut at its crest would jump by half the range; the seam falls and rises instead."""
    spool = Spool(tmp_path / "clip.pcm")
    crest = block(0.1 + 0.25 / 440)
    spool.add(crest)
    spool.seam()
    spool.add(crest)
    samples = spool.read(0, spool.frames).astype(int)
    steepest = np.abs(np.diff(tone(0.2).astype(int))).max()
    assert np.abs(np.diff(samples)).max() < steepest * 1.3
    assert spool.seams_s == pytest.approx((len(crest.samples) / RATE_HZ,))
    assert len(spool.peaks()) == int(spool.duration_s * 50)
    spool.close()
    assert not spool.path.exists()


def test_a_part_at_another_rate_is_brought_to_the_clips_own(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "clip.pcm")
    spool.add(block(0.5))
    spool.seam()
    spool.add(block(0.5, rate_hz=48_000))
    spool.finish()
    assert spool.duration_s == pytest.approx(1.0, abs=0.001)
    assert frequency_of(spool.read(12_000, 12_000), RATE_HZ) == pytest.approx(440, abs=1)
    spool.close()


@pytest.mark.parametrize("rate_hz", [22_050, 44_100, 48_000])
def test_the_blocks_of_a_part_at_another_rate_meet_without_a_step(rate_hz: int, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "clip.pcm")
    spool.add(block(0.1))
    spool.seam()
    whole = tone(1.0, 440, rate_hz)
    for at in range(0, len(whole), 777):
        spool.add(decoding.Block(whole[at : at + 777], rate_hz))
    spool.finish()
    found = spool.read(2_400 + 200, RATE_HZ - 400).astype(int)
    bend = np.abs(np.diff(found, n=2)).max()
    assert bend < np.abs(np.diff(tone(0.2).astype(int), n=2)).max() + 4, "a sine bends nowhere more than at its crest"
    spool.close()
