"""Bytes that are no sound raise `NotSound` and nothing else, from a file and while they arrive."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.audio.decoding import NotSound, StreamingBytes, arriving_blocks, blocks_of, holds_sound
from app.audio.formats import FORMATS

NOISE = random.Random(14).randbytes(40_000)


def wav_head(channels: int = 1, rate_hz: int = 24_000, bits: int = 16, code: int = 1, size: int = 96) -> bytes:
    form = struct.pack("<HHIIHH", code, channels, rate_hz, rate_hz * 2, 2, bits)
    return b"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00" + form + b"data" + struct.pack("<I", size)


NO_SOUND = {
    "a page": (b"<!doctype html><html><body>Bad gateway</body></html>", "mp3"),
    "a program": (b"MZ\x90\x00" + NOISE, "mp3"),
    "noise": (b"\x01\x02" + NOISE, "mp3"),
    "utf-16": ("Error: the model is away".encode("utf-16"), "mp3"),
    "a wave without channels": (wav_head(channels=0) + bytes(96), "wav"),
    "a wave without a rate": (wav_head(rate_hz=0) + bytes(96), "wav"),
    "a wave of its head alone": (wav_head(size=0), "wav"),
    "an empty file": (b"", "mp3"),
    "an ogg head": (b"OggS" + bytes(60), "opus"),
    "a flac head": (b"fLaC" + bytes(60), "flac"),
}


@pytest.mark.parametrize(("data", "kind"), NO_SOUND.values(), ids=NO_SOUND)
def test_what_is_no_sound_is_told_from_sound(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "clip"
    path.write_bytes(data)
    assert not holds_sound(path, kind)
    assert heard(data, kind) == 0


def heard(data: bytes, kind: str) -> int:
    """How many frames are given out while the bytes arrive; 0 also for `NotSound`."""
    arriving = StreamingBytes()
    arriving.feed(data)
    arriving.finish()
    try:
        return sum(len(block.samples) for block in arriving_blocks(arriving, kind))
    except NotSound:
        return 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=2000),
        st.builds(
            lambda *form: wav_head(*form) + NOISE[:500],
            st.integers(0, 65535),
            st.integers(0, 2**32 - 1).filter(lambda rate: rate * 2 < 2**32),
            st.sampled_from([0, 1, 8, 16, 24, 65535]),
            st.sampled_from([0, 1, 3, 0xFFFE]),
        ),
        st.sampled_from([b"OggS", b"fLaC", b"ID3\x04", b"\xff\xfb\x90", b"RIFF"]).map(lambda head: head + NOISE[:900]),
    ),
    kind=st.sampled_from(sorted(FORMATS)),
)
def test_any_bytes_end_in_sound_or_in_not_sound(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "clip"
    path.write_bytes(data)
    heard(data, kind)
    try:
        for _ in blocks_of(path, kind=kind):
            pass
    except NotSound:
        pass
