"""Sound out of files, and out of bytes that are still arriving, block by block in one channel of 16 bits.

Own code reads raw samples and WAV, libsndfile (soundfile) reads FLAC, MP3, Ogg and Opus, FFmpeg (PyAV, where it is
installed) reads AAC, M4A, MP4 and WebM, and everything compressed while it arrives. Nothing here holds more than a
block of a file in memory. Call it in a thread.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from app.audio.formats import DEFAULT_PCM_RATE_HZ, can_decode, missing_sentence
from app.audio.probe import Link, probe_file
from app.audio.sound_file import LinkedFile, open_forwards
from app.files import open_regular
from app.translation import tr

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

BLOCK_FRAMES = 1 << 14
BLOCK_BYTES = 1 << 14
WAV_HEAD_BYTES = 4096  # no header of speech is longer
_UNKNOWN_FRAMES = 1 << 40
_SMALL_STEP = 64
_PCM_16, _EXTENSIBLE = 1, 0xFFFE


class NotSound(Exception):
    """The bytes hold no sound that can be decoded here. `sentence` is ready to be shown."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Block:
    """One channel, shape (frames,)."""

    samples: Samples
    rate_hz: int


class StreamingBytes:
    """Bytes that come from one thread and are read in another; reading waits for what is not there yet.

    What was read is forgotten, unless `keeps`.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self._keeps = keeps
        self._bytes = bytearray()
        self._at = 0
        self._is_complete = False
        self._changed = threading.Condition()

    def feed(self, data: bytes) -> None:
        with self._changed:
            self._bytes += data
            self._changed.notify_all()

    def finish(self) -> None:
        """No more bytes will come, whether or not all did."""
        with self._changed:
            self._is_complete = True
            self._changed.notify_all()

    def read(self, size: int = -1) -> bytes:
        """Return between one byte and `size`, as soon as there are any; b"" at the end. Without a size: everything."""
        with self._changed:
            if size < 0:
                self._changed.wait_for(lambda: self._is_complete)
                size = len(self._bytes) - self._at
            else:
                self._changed.wait_for(lambda: self._is_complete or len(self._bytes) > self._at)
            data = bytes(self._bytes[self._at : self._at + size])
            self._at += len(data)
            if not self._keeps and self._at >= BLOCK_BYTES:
                del self._bytes[: self._at]
                self._at = 0
            return data

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes, fewer only at the end."""
        data = b""
        while len(data) < size and (more := self.read(size - len(data))):
            data += more
        return data


def blocks_of(path: Path, *, kind: str = "", pcm_rate_hz: int = DEFAULT_PCM_RATE_HZ) -> Iterator[Block]:
    """Give a file's sound block by block; `kind` ("pcm", "mp3", …) where the bytes do not say. Raises `NotSound`.

    Files that were joined give all of their sound, at the rate of each. A file that ends too early gives what there is.
    """
    try:
        with open_regular(path) as file:
            if kind == "pcm":
                yield from _raw_blocks(file, pcm_rate_hz)
                return
            found = probe_file(file)
            file.seek(0)
            if found.kind == "wav" and _wav_form(file)[0] is not None:
                file.seek(0)
                yield from _wav_blocks(file)
            else:
                yield from _compressed_blocks(file, kind or found.kind, found.links)
    except OSError as error:
        raise NotSound(
            tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror or error)
        ) from error


def arriving_blocks(arriving: StreamingBytes, kind: str, *, pcm_rate_hz: int = DEFAULT_PCM_RATE_HZ) -> Iterator[Block]:
    """Give sound while its bytes arrive. Raises `NotSound`, at the end too when nothing could be heard.

    Without PyAV what is compressed is heard when it is complete.
    """
    if kind == "pcm":
        yield from _raw_blocks(arriving, pcm_rate_hz)
    elif kind == "wav":
        yield from _wav_blocks(arriving)
    elif find_spec("av") is not None:
        from app.audio.decoding_av import container_of, decode

        yield from decode(arriving, container_of(kind))
    elif kind in ("aac", "m4a", "mp4", "webm"):
        raise NotSound(missing_sentence(kind))
    else:
        yield from _sndfile_blocks(io.BytesIO(arriving.read()))


def holds_sound(path: Path, kind: str, *, pcm_rate_hz: int = DEFAULT_PCM_RATE_HZ) -> bool:
    """Whether a file holds any sound, as far as that can be told here: True for a format that is not decoded here."""
    try:
        return any(len(block.samples) for block in blocks_of(path, kind=kind, pcm_rate_hz=pcm_rate_hz))
    except NotSound:
        return not can_decode(kind)


def duration_s(path: Path, *, kind: str = "", pcm_rate_hz: int = DEFAULT_PCM_RATE_HZ) -> float:
    """Return how long a file's sound is, by decoding it: the length that a streamed file states is not to be trusted.

    Raises `NotSound`.
    """
    return sum(len(block.samples) / block.rate_hz for block in blocks_of(path, kind=kind, pcm_rate_hz=pcm_rate_hz))


def _raw_blocks(source: BinaryIO | StreamingBytes, rate_hz: int) -> Iterator[Block]:
    import numpy as np

    odd = b""
    while data := source.read(BLOCK_BYTES):
        data = odd + data
        whole = len(data) - len(data) % 2
        odd = data[whole:]
        if whole:
            yield Block(np.frombuffer(data[:whole], "<i2").astype(np.int16), rate_hz)


def _wav_blocks(source: BinaryIO | StreamingBytes) -> Iterator[Block]:
    """A WAV by hand: one that was streamed states 0 or 0xFFFFFFFF as its length, and libsndfile believes the 0."""
    form, first = _wav_form(source)
    if form is None:
        rest = first + source.read()
        yield from _sndfile_blocks(io.BytesIO(rest))
        return
    channels, rate_hz, length = form
    import numpy as np

    left = length if 0 < length < 0xFFFFFFFF else None
    held = first
    while True:
        if left is not None:
            held = held[:left]
        frame_bytes = 2 * channels
        whole = len(held) - len(held) % frame_bytes
        if whole:
            frames = np.frombuffer(held[:whole], "<i2").reshape(-1, channels)
            mono = frames[:, 0] if channels == 1 else frames.mean(axis=1)
            yield Block(mono.astype(np.int16), rate_hz)
            if left is not None:
                left -= whole
        held = held[whole:]
        if left == 0 or not (more := source.read(BLOCK_BYTES)):
            return
        held += more


def _wav_form(source: BinaryIO | StreamingBytes) -> tuple[tuple[int, int, int] | None, bytes]:
    """Return channels, rate and length in bytes, with nothing read of the samples; or None and what was read."""
    read = source.read_exactly if isinstance(source, StreamingBytes) else source.read
    seen = read(12)
    if not (seen.startswith(b"RIFF") and seen[8:12] == b"WAVE"):
        raise NotSound(tr("This is not a WAV file."))
    form: tuple[int, int, int] | None = None
    while len(seen) < WAV_HEAD_BYTES:
        head = read(8)
        if len(head) < 8:
            raise NotSound(tr("This WAV file ends before its audio begins."))
        seen += head
        name, size = head[:4], int.from_bytes(head[4:], "little")
        if name == b"data":
            return ((form[0], form[1], size), b"") if form is not None else (None, seen)
        body = read(min(size + size % 2, WAV_HEAD_BYTES))
        seen += body
        if name == b"fmt " and len(body) >= 16:
            code = int.from_bytes(body[0:2], "little")
            if code == _EXTENSIBLE and len(body) >= 26:
                code = int.from_bytes(body[24:26], "little")
            bits = int.from_bytes(body[14:16], "little")
            channels, rate_hz = int.from_bytes(body[2:4], "little"), int.from_bytes(body[4:8], "little")
            if code == _PCM_16 and bits == 16 and channels and rate_hz:
                form = (channels, rate_hz, 0)
    return None, seen


def _compressed_blocks(file: BinaryIO, kind: str, links: tuple[Link, ...]) -> Iterator[Block]:
    """libsndfile first, one link after the other; FFmpeg for what it does not know."""
    given = False
    for link in links or (Link(0, file.seek(0, os.SEEK_END)),):
        try:
            for block in _sndfile_blocks(LinkedFile(file, link)):
                given = True
                yield block
        except NotSound:
            if given:
                continue  # one of several that is damaged
            if find_spec("av") is None:
                if kind in ("aac", "m4a", "mp4", "webm"):
                    raise NotSound(missing_sentence(kind)) from None
                raise
            break
    if given or find_spec("av") is None:
        return
    from app.audio.decoding_av import decode, decode_unframed_aac, is_unframed_aac

    if kind == "wav" and links and is_unframed_aac(links[0].prefix):
        yield from decode_unframed_aac(LinkedFile(file, links[0]).read(), len(links[0].prefix))
        return
    file.seek(0)
    yield from decode(file, None)


def _sndfile_blocks(file: BinaryIO | io.RawIOBase) -> Iterator[Block]:
    import numpy as np
    import soundfile

    try:
        sound = open_forwards(file)
    except (soundfile.LibsndfileError, RuntimeError, TypeError) as error:
        raise NotSound(tr("This file has no audio that Rialto can play.")) from error
    given = 0
    # A FLAC that was streamed does not know its length: its end is an error, which costs what was read with it.
    step = BLOCK_FRAMES if sound.frames < _UNKNOWN_FRAMES else _SMALL_STEP
    with sound:
        while True:
            try:
                block = sound.read(step, dtype="int16", always_2d=True)
            except (soundfile.LibsndfileError, RuntimeError) as error:
                if not given:
                    raise NotSound(tr("This file has no audio that Rialto can play.")) from error
                return  # it ends in the middle
            if not len(block):
                return
            mono = block[:, 0] if block.shape[1] == 1 else block.mean(axis=1)
            given += len(mono)
            yield Block(mono.astype(np.int16), int(sound.samplerate))
