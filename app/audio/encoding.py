"""Writes clips: joined sound into any format, with what it is written into the file.

libsndfile (soundfile) writes WAV, FLAC, MP3 and Opus with their own kinds of tags, FFmpeg (PyAV, where it is installed)
AAC. A clip that one answer holds whole is copied byte for byte; an MP3 or AAC gets its tags in front of the bytes.
Call it in a thread.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app import files
from app.audio.formats import FORMATS, can_encode, missing_sentence
from app.audio.sound_file import new_sound_file
from app.audio.spool import RateChange
from app.translation import tr

if TYPE_CHECKING:
    import numpy as np

    from app.audio.spool import Spool

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

BLOCK_FRAMES = 1 << 15
OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)
_SNDFILE = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "opus": ("OGG", "OPUS"),
    "ogg": ("OGG", "VORBIS"),
}


class CannotWrite(Exception):
    """The clip could not be written; nothing was left behind. `sentence` is ready to be shown."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class AudioTags:
    """What a player shows. `date` is ISO 8601."""

    title: str = ""
    artist: str = ""
    date: str = ""
    comment: str = ""


def write_clip(target: Path, kind: str, spool: Spool, tags: AudioTags, source: Path | None = None) -> None:
    """Write a clip to `target`, whole or not at all. `source` is a file of that kind to copy. Raises `CannotWrite`."""
    if kind not in FORMATS or not (source is not None or can_encode(kind)):
        raise CannotWrite(missing_sentence(kind))
    temporary = target.with_name(f".{os.urandom(8).hex()}.new")  # short: a disk takes 255 bytes, the name may have them
    try:
        if source is not None and kind in ("mp3", "aac", "pcm"):
            _copy(source, temporary, tags if kind != "pcm" else None)
        else:
            _encode(temporary, kind, spool, tags)
        files.replace(temporary, target)
    except (OSError, RuntimeError) as error:  # soundfile's own errors are RuntimeErrors
        reason = str((isinstance(error, OSError) and error.strerror) or error).rstrip(".")
        raise CannotWrite(tr("{name} could not be saved: {strerror}.", name=target.name, strerror=reason)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _copy(source: Path, target: Path, tags: AudioTags | None) -> None:
    with source.open("rb") as read, target.open("wb") as written:
        if tags is not None:
            head = read.read(10)
            known = head.startswith(b"ID3") and len(head) == 10  # an encoder's own empty tag gives way to ours
            read.seek(10 + _plain(head[6:10]) if known else 0)
            written.write(id3(tags))
        shutil.copyfileobj(read, written)


def _encode(target: Path, kind: str, spool: Spool, tags: AudioTags) -> None:
    if kind == "pcm":
        with target.open("wb") as file:
            for samples in _blocks(spool, spool.rate_hz):
                file.write(samples.astype("<i2").tobytes())
        return
    if kind in ("aac", "m4a"):
        from app.audio.encoding_av import encode

        encode(target, kind, _blocks(spool, spool.rate_hz), spool.rate_hz, tags)
        return
    rate_hz = spool.rate_hz
    if kind == "opus" and rate_hz not in OPUS_RATES_HZ:
        rate_hz = next((rate for rate in OPUS_RATES_HZ if rate >= rate_hz), OPUS_RATES_HZ[-1])
    container, subtype = _SNDFILE[kind]
    with new_sound_file(target, rate_hz, container, subtype) as file:
        for name, text in asdict(tags).items():
            if text:  # libsndfile takes no empty one
                setattr(file, name, text)
        for samples in _blocks(spool, rate_hz):
            file.write(samples)


def _blocks(spool: Spool, rate_hz: int) -> Iterator[Samples]:
    change = RateChange(spool.rate_hz, rate_hz) if rate_hz != spool.rate_hz else None
    for start in range(0, spool.frames, BLOCK_FRAMES):
        samples = spool.read(start, BLOCK_FRAMES)
        yield samples if change is None else change.feed(samples)
    if change is not None:
        yield change.flush()


def id3(tags: AudioTags) -> bytes:
    """Return an ID3v2.4 tag with title, artist, date and comment in UTF-8."""
    frames = b""
    for name, text in (("TIT2", tags.title), ("TPE1", tags.artist), ("TDRC", tags.date)):
        if text:
            frames += _frame(name, b"\x03" + text.encode("utf-8", "replace"))
    if tags.comment:
        frames += _frame("COMM", b"\x03eng\x00" + tags.comment.encode("utf-8", "replace"))
    return b"ID3\x04\x00\x00" + _synchsafe(len(frames)) + frames


def _frame(name: str, body: bytes) -> bytes:
    return name.encode() + _synchsafe(len(body)) + b"\x00\x00" + body


def _synchsafe(size: int) -> bytes:
    return bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))


def _plain(size: bytes) -> int:
    return sum((byte & 0x7F) << shift for byte, shift in zip(size, (21, 14, 7, 0), strict=True))
