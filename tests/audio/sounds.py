"""Sounds for tests, and what a recording of one says."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import soundfile

from app.audio.decoding import Block

SNDFILE = {"mp3": ("MP3", "MPEG_LAYER_III"), "opus": ("OGG", "OPUS"), "flac": ("FLAC", "PCM_16")}


def tone(seconds: float, hz: float = 440.0, rate_hz: int = 24_000, level: float = 0.5) -> np.ndarray:
    """Return a sine of 16 bits."""
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    return (level * 32767 * np.sin(2 * np.pi * hz * times)).astype(np.int16)


def is_loud(recording: Path, level: float = 0.05) -> bool:
    """Whether anything is heard in what is being recorded."""
    return bool((np.abs(np.fromfile(recording, np.float32)) > level).any())


def block(seconds: float, hz: float = 440.0, rate_hz: int = 24_000) -> Block:
    return Block(tone(seconds, hz, rate_hz), rate_hz)


def encoded(samples: np.ndarray, kind: str, rate_hz: int = 24_000) -> bytes:
    """Return a file as the service streams it: a WAV and a FLAC that do not know their length."""
    if kind == "pcm":
        return samples.astype("<i2").tobytes()
    if kind == "wav":
        form = struct.pack("<IHHIIHH", 16, 1, 1, rate_hz, rate_hz * 2, 2, 16)
        return b"RIFF\xff\xff\xff\xffWAVEfmt " + form + b"data\xff\xff\xff\xff" + samples.astype("<i2").tobytes()
    if kind == "aac":
        return _aac(samples, rate_hz)
    container, subtype = SNDFILE[kind]
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate_hz, format=container, subtype=subtype)
    data = bytearray(buffer.getvalue())
    if kind == "flac":
        data[21] &= 0xF0
        data[22:26] = b"\0\0\0\0"
    return bytes(data)


def _aac(samples: np.ndarray, rate_hz: int) -> bytes:
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="adts") as container:
        stream = container.add_stream("aac", rate=rate_hz, layout="mono")
        for at in range(0, len(samples) - 1023, 1024):
            frame = av.AudioFrame.from_ndarray(samples[None, at : at + 1024], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate_hz, at
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def heard(path: Path, threshold: float = 0.02) -> np.ndarray:
    """Return what was recorded from the first loud sample to the last, float32."""
    samples = np.fromfile(path, np.float32)
    loud = np.flatnonzero(np.abs(samples) > threshold)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


def frequency_of(samples: np.ndarray, rate_hz: int = 48_000) -> float:
    """Return the strongest frequency, finer than the transform's own steps."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    peak = 1 + int(np.argmax(spectrum[1:-1]))  # the outermost have one neighbor: a tone is not there, a click may be
    left, middle, right = (np.log(spectrum[peak + step] + 1e-12) for step in (-1, 0, 1))
    return float((peak + 0.5 * (left - right) / (left - 2 * middle + right)) * rate_hz / len(samples))


def level_of(samples: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(samples.astype(np.float64)))))


def steadiest(samples: np.ndarray, hz: float, rate_hz: int = 48_000, piece_s: float = 0.25) -> tuple[float, float]:
    """Return pitch and level of the piece that is nearest to `hz`: a busy machine drops a block here and there."""
    piece = min(round(piece_s * rate_hz), len(samples))
    pieces = [samples[at : at + piece] for at in range(0, len(samples) - piece + 1, max(1, piece // 4))]
    found = [(frequency_of(one, rate_hz), level_of(one)) for one in pieces if level_of(one) > 1e-4]  # silence has none
    return min(found, key=lambda each: abs(each[0] - hz))


def loud_s(samples: np.ndarray, rate_hz: int = 48_000, threshold: float = 0.02) -> float:
    """Return for how long a tone sounds; the pauses that a busy machine puts into it do not count."""
    return float((np.abs(samples) > threshold).sum()) / rate_hz
