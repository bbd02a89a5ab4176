"""Sound files made after public bug reports of other programs: their real length is shown, played, priced and sent."""

import io
from pathlib import Path

import pytest
import soundfile

from app.audio.decoding import duration_s
from app.audio.duration import length_of
from app.audio.probe import probe, probe_file
from app.audio.upload_conversion import CannotPrepare, compress, split, to_flac
from app.media_types import sniff_file
from app.ui.transcription.session.file_probe import look

INPUTS = Path(__file__).parent / "inputs"
LENGTHS = {  # seconds, and the kind under whose name it is sent
    "k16-mp3-concatenated-3+4+4s.mp3": (11.0, "mp3"),
    "k16-concat-only-the-first-has-a-header.mp3": (10.1, "mp3"),
    "k16-concat-no-header-at-all.mp3": (10.1, "mp3"),
    "k16-ogg-chained-3+4s.ogg": (7.0, "ogg"),
    "k17-size-zero.wav": (1.0, "wav"),
    "k17-size-zero-float.wav": (0.75, "wav"),
    "k18-wav-g722.wav": (3.0, "wav"),
    "k18-wav-gsm610.wav": (3.0, "wav"),
    "k18-wav-aac.wav": (3.0, "wav"),
    "k19-flac-id3-prefix.flac": (3.0, "flac"),
    "k19-aac-id3-prefix.aac": (3.0, "aac"),
    "k20-flac-total-0.flac": (0.5, "flac"),
    "k20-flac-total-hour.flac": (0.5, "flac"),
    "k20-xing-frames-10000.mp3": (0.5, "mp3"),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_sound_has_one_length_shown_played_and_sent(name: str, tmp_path: Path) -> None:
    path, (seconds, kind) = INPUTS / name, LENGTHS[name]
    near = pytest.approx(seconds, abs=0.1)
    assert length_of(path, kind) == near
    assert duration_s(path, kind=kind) == near
    looked = look(path)
    assert (looked.kind, looked.duration_s, looked.problem) == (kind, near, "")
    assert Path(looked.wire_name).suffix == f".{kind}"
    assert to_flac(path, tmp_path / "whole.flac") == near
    assert soundfile.info(tmp_path / "whole.flac").duration == near
    compress(path, tmp_path / "small.ogg", 1_000_000)
    assert soundfile.info(tmp_path / "small.ogg").duration == near
    parts = split(path, tmp_path / "parts", 25_000_000, longest_s=2)
    assert parts[-1].end_s == near
    assert sum(soundfile.info(part.path).duration for part in parts) == near


def test_every_input_has_its_length() -> None:
    assert {path.name for path in INPUTS.iterdir()} == set(LENGTHS)


def test_sound_is_played_without_ffmpeg_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.audio.decoding.find_spec", lambda _: None)
    for name, (seconds, _) in LENGTHS.items():
        if name not in ("k18-wav-g722.wav", "k18-wav-aac.wav", "k19-aac-id3-prefix.aac"):
            assert duration_s(INPUTS / name) == pytest.approx(seconds, abs=0.1), name


@pytest.mark.parametrize("ending", [b"", b"TAG" + bytes(125), b"APETAGEX" + bytes(24)])
def test_tags_between_and_after_joined_files_are_no_sound(ending: bytes, tmp_path: Path) -> None:
    one = (INPUTS / "k16-concat-no-header-at-all.mp3").read_bytes()
    tag = b"ID3\x04\x00\x00\x00\x00\x02\x00" + b"\xff\xfb\x90\x00" * 64
    (tmp_path / "a.mp3").write_bytes(tag + one + ending + tag + one + ending)
    assert length_of(tmp_path / "a.mp3", "mp3") == pytest.approx(2 * 10.176, abs=0.01)
    assert duration_s(tmp_path / "a.mp3") == pytest.approx(2 * 10.176, abs=0.1)


def test_joined_files_of_different_rates_keep_their_length(tmp_path: Path) -> None:
    joined = b"".join(
        (INPUTS / name).read_bytes() for name in sorted(LENGTHS) if name.startswith("k16") and "mp3" in name
    )
    other = (INPUTS / "k20-xing-frames-10000.mp3").read_bytes()
    (tmp_path / "a.mp3").write_bytes(joined + other)
    assert length_of(tmp_path / "a.mp3", "mp3") == pytest.approx(31.8, abs=0.2)
    assert to_flac(tmp_path / "a.mp3", tmp_path / "a.flac") == pytest.approx(31.8, abs=0.3)


@pytest.mark.parametrize(
    ("container", "subtype"),
    [
        ("FLAC", "PCM_16"),
        ("FLAC", "PCM_24"),
        ("OGG", "VORBIS"),
        ("OGG", "OPUS"),
        ("MP3", "MPEG_LAYER_III"),
        ("WAV", "FLOAT"),
        ("WAV", "IMA_ADPCM"),
    ],
)
@pytest.mark.parametrize("rate_hz", [16_000, 48_000])
def test_a_cut_file_lasts_as_long_as_what_is_left(container: str, subtype: str, rate_hz: int, tmp_path: Path) -> None:
    import numpy as np

    noise = np.random.default_rng(3).normal(0, 0.1, rate_hz * 4)
    path = tmp_path / "a"
    soundfile.write(path, noise, rate_hz, format=container, subtype=subtype)
    assert length_of(path, "") == pytest.approx(4.0, abs=0.06)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 5 // 8])
    assert 1.7 < (length_of(path, "") or 0) < 2.6
    assert duration_s(path) == pytest.approx(length_of(path, ""), abs=0.05)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"ID3", b"RIFF", b"RIFF\0\0\0\0WAVEfmt ", b"fLaC", b"OggS" + bytes(30), b"\xff\xfb"]
)
def test_a_header_alone_has_no_length_and_cannot_be_prepared(data: bytes, tmp_path: Path) -> None:
    assert probe_file(io.BytesIO(data)).seconds is None
    (tmp_path / "a").write_bytes(data)
    assert probe(tmp_path / "a").seconds is None
    assert length_of(tmp_path / "a", "") is None
    with pytest.raises(CannotPrepare):
        to_flac(tmp_path / "a", tmp_path / "out.flac")
    assert not (tmp_path / "out.flac").exists()


def test_a_tag_before_a_sound_is_not_its_kind() -> None:
    tag = b"ID3\x04\x00\x00\x00\x00\x00\x05hello"
    assert sniff_file(io.BytesIO(tag + b"fLaC")) == "flac"
    assert sniff_file(io.BytesIO(tag + tag + b"\xff\xf1\x50\x80")) == "aac"
    assert sniff_file(io.BytesIO(tag + b"RIFF\0\0\0\0WAVE")) == "wav"
    assert sniff_file(io.BytesIO(tag + b"\xff\xfb\x90\x00")) == "mp3"
    assert sniff_file(io.BytesIO(tag)) == "mp3"
    assert sniff_file(io.BytesIO(tag + b"%PDF-")) == "mp3"
