"""Sound as numbers: reading every container people upload, and writing the six formats of speech.

libsndfile (through soundfile) does WAV, FLAC, MP3, OGG and Opus; FFmpeg (through PyAV) does AAC, M4A, MP4 and WEBM.
"""

from __future__ import annotations

import io
import itertools
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import soundfile
from numpy.typing import NDArray

if TYPE_CHECKING:
    from av.audio.stream import AudioStream

Samples = NDArray[np.int16]

FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
CONTENT_TYPES = {name: f"audio/{'mpeg' if name == 'mp3' else name}" for name in FORMATS}
BLOCK_FRAMES = 1 << 18
LONGEST_S = 3600.0  # a small file can hold days of silence; what is longer is not decoded to the end
# In the files themselves, where a format has a place for words: AAC in ADTS frames, PCM and a streamed WAV have none.
MADE_BY = "Spoken by the Rialto Sandbox; a synthesiser, not a person"
UNKNOWN_LENGTH = 0xFFFFFFFF  # what a WAV says about itself while it is still being written
_SNDFILE = {"mp3": ("MP3", "MPEG_LAYER_III"), "opus": ("OGG", "OPUS"), "flac": ("FLAC", "PCM_16")}


class NotSound(Exception):
    """The bytes hold no sound that can be decoded."""


@dataclass(frozen=True, slots=True)
class Sound:
    """One channel. `samples` has shape (frames,)."""

    samples: Samples
    rate_hz: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz


def decode(data: bytes) -> Sound:
    """Return the sound in a file of any listed container, mixed down to one channel. Raises `NotSound`."""
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            pieces = _SoundBuffer(int(file.samplerate))
            # Block by block: a file that was streamed does not know its length.
            while len(block := file.read(BLOCK_FRAMES, dtype="float32", always_2d=True)):
                pieces.add(_to_int16(block.mean(axis=1)))
    except (soundfile.LibsndfileError, RuntimeError):
        return _decode_with_ffmpeg(data)
    return pieces.sound()


def _decode_with_ffmpeg(data: bytes) -> Sound:
    try:
        import av
    except ImportError:
        raise NotSound("no decoder for this container is installed") from None
    try:
        with av.open(io.BytesIO(data), mode="r") as container:
            if not container.streams.audio:
                raise NotSound("there is no sound in this file")
            stream = container.streams.audio[0]
            rate_hz = int(stream.rate or 0)
            pieces = _SoundBuffer(rate_hz)
            resampler = av.AudioResampler(format="s16", layout="mono", rate=rate_hz)
            for frame in itertools.chain(container.decode(stream), (None,)):
                for one in resampler.resample(frame):
                    pieces.add(one.to_ndarray()[0].astype(np.int16))
    except (av.FFmpegError, ValueError) as error:
        raise NotSound(str(error)) from None
    sound = pieces.sound()
    if not len(sound.samples):
        raise NotSound("there is no sound in this file")
    return sound


class _SoundBuffer:
    """Gathers decoded sound, and stops when there is too much of it."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._frames = 0
        self._pieces: list[Samples] = []

    def add(self, piece: Samples) -> None:
        self._frames += len(piece)
        if self._frames > LONGEST_S * self._rate_hz:
            raise NotSound(f"it is longer than {LONGEST_S / 60:.0f} minutes")
        self._pieces.append(piece)

    def sound(self) -> Sound:
        samples = np.concatenate(self._pieces) if self._pieces else np.zeros(0, np.int16)
        return Sound(samples, self._rate_hz)


def _to_int16(samples: NDArray[np.float32]) -> Samples:
    clipped: Samples = np.clip(samples * 32768.0, -32768, 32767).astype(np.int16)
    return clipped


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Return the same sound at another rate, through its spectrum: no aliases, no dullness.

    Meant for pieces of up to a few minutes, because a piece is transformed as a whole.
    """
    if from_hz == to_hz or not len(samples):
        return samples
    step = from_hz // np.gcd(from_hz, to_hz)
    whole = -(-len(samples) // step) * step  # lengths that map to a whole number of frames
    target = whole * to_hz // from_hz
    spectrum = np.fft.rfft(samples.astype(np.float64), whole)
    resized = np.zeros(target // 2 + 1, dtype=complex)
    shared = min(len(spectrum), len(resized))
    resized[:shared] = spectrum[:shared]
    waves = np.fft.irfft(resized, target) * (target / whole)
    length = round(len(samples) * to_hz / from_hz)
    clipped: Samples = np.clip(waves[:length], -32768, 32767).astype(np.int16)
    return clipped


def _wav_words() -> bytes:
    """Return the chunk that says who made a file; it goes behind the sound, because some readers skip 44 bytes."""
    text = MADE_BY.encode() + b"\0"
    text += b"\0" * (len(text) % 2)
    inside = b"INFOICMT" + struct.pack("<I", len(text)) + text
    return b"LIST" + struct.pack("<I", len(inside)) + inside


def wav_header(rate_hz: int, data_bytes: int = UNKNOWN_LENGTH, more_bytes: int = 0) -> bytes:
    """Return the 44 bytes before the sound. `more_bytes`: chunks that follow it."""
    riff_bytes = UNKNOWN_LENGTH if data_bytes == UNKNOWN_LENGTH else 36 + data_bytes + more_bytes
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate_hz, rate_hz * 2, 2, 16)
    return b"RIFF" + struct.pack("<I", riff_bytes) + b"WAVEfmt " + form + b"data" + struct.pack("<I", data_bytes)


class Encoder(Protocol):
    """Takes sound piece by piece and gives bytes as soon as there are any."""

    def feed(self, samples: Samples) -> bytes: ...

    def finish(self) -> bytes: ...


def encoder(name: str, rate_hz: int) -> Encoder:
    """Return a writer of one of `FORMATS`, one channel."""
    if name in _SNDFILE:
        return _SndfileEncoder(name, rate_hz)
    if name == "aac":
        return _AacEncoder(rate_hz)
    return _RawEncoder(wav_header(rate_hz) if name == "wav" else b"")


def encode(samples: Samples, rate_hz: int, name: str) -> bytes:
    """Return a whole file. A WAV states its true length."""
    if name == "wav":
        data = samples.astype("<i2").tobytes()
        words = _wav_words()
        return wav_header(rate_hz, len(data), len(words)) + data + words
    if name in _SNDFILE:
        buffer = io.BytesIO()
        with _sndfile(buffer, name, rate_hz) as file:
            file.write(samples)
        return buffer.getvalue()
    writer = encoder(name, rate_hz)
    return writer.feed(samples) + writer.finish()


def _sndfile(buffer: io.BytesIO, name: str, rate_hz: int) -> soundfile.SoundFile:
    container, kind = _SNDFILE[name]
    file = soundfile.SoundFile(buffer, "w", rate_hz, 1, format=container, subtype=kind)
    file.comment = MADE_BY
    return file


class _RawEncoder:
    def __init__(self, head: bytes) -> None:
        self._head = head

    def feed(self, samples: Samples) -> bytes:
        head, self._head = self._head, b""
        return head + samples.astype("<i2").tobytes()

    def finish(self) -> bytes:
        head, self._head = self._head, b""
        return head


class _SndfileEncoder:
    """Headers that libsndfile would go back and correct at the end are long gone; players do without."""

    def __init__(self, name: str, rate_hz: int) -> None:
        self._buffer = io.BytesIO()
        self._file = _sndfile(self._buffer, name, rate_hz)
        self._sent = 0

    def feed(self, samples: Samples) -> bytes:
        self._file.write(samples)
        self._file.flush()
        return self._new_bytes()

    def finish(self) -> bytes:
        self._file.close()
        return self._new_bytes()

    def _new_bytes(self) -> bytes:
        data = self._buffer.getvalue()[self._sent :]
        self._sent += len(data)
        return data


class _AacEncoder:
    """AAC in ADTS frames, which can be cut and joined anywhere."""

    def __init__(self, rate_hz: int) -> None:
        import av

        self._buffer = io.BytesIO()
        self._container = av.open(self._buffer, "w", format="adts")
        self._stream: AudioStream = self._container.add_stream("aac", rate=rate_hz, layout="mono")
        self._rate_hz = rate_hz
        self._frames = 0

    def feed(self, samples: Samples) -> bytes:
        import av

        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        frame.pts = self._frames
        self._frames += len(samples)
        self._container.mux(self._stream.encode(frame))
        return self._new_bytes()

    def finish(self) -> bytes:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._new_bytes()

    def _new_bytes(self) -> bytes:
        data = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return data
