"""Decoded sound on disk while it grows: what a player reads from, at any place, with its peaks and its seams.

One channel of 16 bits. A writer appends, any number of readers read and wait; memory holds the peaks only, 100 bytes a
second.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.resampling import Resampler
from app.audio.waveform import PeakCounter

if TYPE_CHECKING:
    import numpy as np

    from app.audio.decoding import Block
    from app.audio.resampling import Signal
    from app.audio.waveform import Pairs

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

FADE_S = 0.004  # at a seam: too short to hear, long enough not to click


class Spool:
    """`rate_hz` is 0 until the first sound; what comes at another rate later is brought to it. Safe over threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rate_hz = 0
        self.frames = 0
        self.is_finished = False
        self._peaks = bytearray()
        self._counter: PeakCounter | None = None
        self._seams: list[int] = []
        self._at_seam = True
        self._rate: RateChange | None = None  # of the part that comes at another rate than the clip's
        self._changed = threading.Condition()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        self._file = os.fdopen(descriptor, "w+b", buffering=0)

    # -- writing --------------------------------------------------------------------------------------------------

    def add(self, block: Block) -> None:
        """Append a block. Raises `OSError` when the disk is full; a closed spool takes nothing."""
        samples = block.samples
        if not self.rate_hz:
            self.rate_hz = block.rate_hz
        elif block.rate_hz != self.rate_hz:
            if self._rate is None or self._rate.from_hz != block.rate_hz:
                self._end_rate()
                self._rate = RateChange(block.rate_hz, self.rate_hz)
            samples = self._rate.feed(samples)
        self._append(samples)

    def _append(self, samples: Samples) -> None:
        if not len(samples):
            return
        if self._at_seam:
            samples = faded_in(samples, int(self.rate_hz * FADE_S))
            self._at_seam = False
        self._write(samples)

    def _end_rate(self) -> None:
        """What another rate still holds back belongs to the part before."""
        change, self._rate = self._rate, None
        if change is not None:
            self._append(change.flush())

    def _write(self, samples: Samples) -> None:
        with self._changed:
            if self._file.closed:
                return
            self._file.seek(0, os.SEEK_END)
            self._file.write(samples.astype("<i2").tobytes())
            self._counter = self._counter or PeakCounter(self.rate_hz)
            self._peaks += self._counter.add(samples).tobytes()
            self.frames += len(samples)
            self._changed.notify_all()

    def seam(self) -> None:
        """Begin another part: the end of what there is fades out, what comes next fades in."""
        self._end_rate()
        with self._changed:
            if self._at_seam or self._file.closed:
                return
            self._at_seam = True
            count = min(self.frames, int(self.rate_hz * FADE_S))
            tail = self.read(self.frames - count, count)
            self._file.seek((self.frames - count) * 2)
            self._file.write(faded_in(tail[::-1], count)[::-1].astype("<i2").tobytes())
            self._seams.append(self.frames)

    def finish(self) -> None:
        """Nothing more will come."""
        self._end_rate()
        with self._changed:
            self.is_finished = True
            self._changed.notify_all()

    def reopen(self) -> None:
        """More will come after all: a part is asked for again."""
        self.is_finished = False

    def close(self) -> None:
        """Let the file go and delete it: it can be made again from what the service sent."""
        with self._changed:
            self.is_finished = True
            self._file.close()
            self._changed.notify_all()
        self.path.unlink(missing_ok=True)

    # -- reading --------------------------------------------------------------------------------------------------

    def read(self, start: int, count: int) -> Samples:
        """Return up to `count` frames from `start`; fewer at the end of what there is."""
        import numpy as np

        with self._changed:
            start = max(0, start)
            count = max(0, min(count, self.frames - start))
            if not count or self._file.closed:
                return np.zeros(0, np.int16)
            self._file.seek(start * 2)
            return np.frombuffer(self._file.read(count * 2), "<i2").astype(np.int16)

    def wait(self, beyond: int, timeout_s: float) -> bool:
        """Wait until there is sound beyond a frame, or no more will come; False when the time is up first."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_finished or self.frames > beyond, timeout_s)

    @property
    def duration_s(self) -> float:
        return self.frames / self.rate_hz if self.rate_hz else 0.0

    @property
    def seams_s(self) -> tuple[float, ...]:
        """Where parts meet."""
        return tuple(frame / self.rate_hz for frame in self._seams) if self.rate_hz else ()

    def peaks(self) -> Pairs:
        """Return the peaks so far, shape (n, 2), for `WaveformView.set_sound`."""
        import numpy as np

        with self._changed:
            return np.frombuffer(bytes(self._peaks), np.int8).reshape(-1, 2)


def faded_in(samples: Samples, frames: int) -> Samples:
    """Return a copy whose first `frames` rise from silence."""
    import numpy as np

    count = min(frames, len(samples))
    faded = samples.copy()
    if count:
        faded[:count] = (samples[:count] * np.linspace(0.0, 1.0, count, endpoint=False)).astype(np.int16)
    return faded


class RateChange:
    """Brings blocks of 16 bits from one rate to another without a step between them. End with `flush`."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        self.from_hz = from_hz
        self._resampler = Resampler(from_hz, to_hz)

    def feed(self, samples: Samples) -> Samples:
        return _in_16_bits(self._resampler.feed(samples.astype("float32")))

    def flush(self) -> Samples:
        return _in_16_bits(self._resampler.flush())


def _in_16_bits(signal: Signal) -> Samples:
    import numpy as np

    return np.clip(np.rint(signal), -32768, 32767).astype(np.int16)
