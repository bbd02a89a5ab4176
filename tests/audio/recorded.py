"""Sound made in the test, and a microphone without a plug."""

from __future__ import annotations

import queue
from pathlib import Path

import numpy as np
import soundfile

RATE_HZ = 16_000


def tone(hz: float, seconds: float, amplitude: float = 0.5, rate_hz: int = RATE_HZ) -> np.ndarray:
    """A sine from −1 to 1, as float32."""
    at = np.arange(round(seconds * rate_hz)) / rate_hz
    return (amplitude * np.sin(2 * np.pi * hz * at)).astype(np.float32)


def pauses(speech_s: float, pause_s: float, total_s: float, rate_hz: int = RATE_HZ) -> np.ndarray:
    """Noise that stops regularly, as speech does."""
    count = round(total_s * rate_hz)
    noise = np.random.default_rng(7).normal(0, 0.1, count)
    at = np.arange(count) / rate_hz
    return (noise * ((at % (speech_s + pause_s)) < speech_s)).astype(np.float32)


def write_wav(path: Path, samples: np.ndarray, rate_hz: int = RATE_HZ) -> Path:
    soundfile.write(path, samples, rate_hz, subtype="PCM_16")
    return path


def pcm(samples: np.ndarray) -> bytes:
    """Floats as 16-bit bytes."""
    return np.clip(np.rint(samples * 32767), -32768, 32767).astype("<i2").tobytes()


def pitch_hz(samples: np.ndarray, rate_hz: int) -> float:
    """The strongest frequency, between the bins of the transform."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    top = int(np.argmax(spectrum[1:-1])) + 1
    left, middle, right = (float(np.log(spectrum[top + step] + 1e-12)) for step in (-1, 0, 1))
    shift = 0.5 * (left - right) / (left - 2 * middle + right)
    return (top + shift) * rate_hz / len(samples)


class FakeBlocks:
    """A microphone that delivers what a test puts in. `end` is the device going away."""

    def __init__(self, rate_hz: int = RATE_HZ, channels: int = 1) -> None:
        self.rate_hz = rate_hz
        self.channels = channels
        self.lost_blocks = 0
        self.is_alive = True
        self.is_closed = False
        self._blocks: queue.Queue[bytes | None] = queue.Queue()

    def say(self, samples: np.ndarray) -> None:
        """Deliver samples in blocks of 20 ms."""
        data = pcm(samples)
        step = self.rate_hz // 50 * self.channels * 2
        for at in range(0, len(data), step):
            self._blocks.put(data[at : at + step])

    def end(self) -> None:
        self.is_alive = False
        self._blocks.put(None)

    @property
    def is_heard(self) -> bool:
        """Whether everything that was said has been taken."""
        return self._blocks.empty()

    def read(self, timeout_s: float) -> bytes | None:
        try:
            return self._blocks.get(timeout=timeout_s) if timeout_s > 0 else self._blocks.get_nowait()
        except queue.Empty:
            return None

    def is_gone(self) -> bool:
        return False

    def close(self) -> None:
        self.is_closed = True
