"""The waveform of a recording while it grows: one pair of bytes for every 20 ms, on disk, the newest minute in memory.

Two hours are 720 kB on disk; memory does not grow with the recording. The file lies beside the recording and is its
waveform later on, so that nothing is read twice.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

PER_SECOND = 50
KEPT_S = 60
SUFFIX = ".peaks"


def peaks_path(recording: Path) -> Path:
    """Return where the peaks of a recording lie."""
    return recording.with_name(recording.name + SUFFIX)


class LivePeaks:
    """Takes samples, keeps the lowest and the highest of every 20 ms as signed bytes (−128 to 127).

    `newest` holds the last minute as (low, high) from −1 to 1, oldest first; `count` all that there were. Losing the
    file loses nothing: the waveform is then made from the recording.
    """

    def __init__(self, path: Path, rate_hz: int) -> None:
        self._bucket = max(1, rate_hz // PER_SECOND)
        self.newest: deque[tuple[float, float]] = deque(maxlen=PER_SECOND * KEPT_S)
        self.count = 0
        self._rest: Samples | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)

    def add(self, samples: Samples) -> None:
        """Take the next samples of the recording."""
        import numpy as np

        if self._rest is not None and len(self._rest):
            samples = np.concatenate((self._rest, samples))
        whole = len(samples) // self._bucket
        self._rest = samples[whole * self._bucket :].copy()
        if not whole:
            return
        buckets = samples[: whole * self._bucket].reshape(whole, self._bucket)
        pairs = np.stack((buckets.min(axis=1), buckets.max(axis=1)), axis=1) >> 8
        os.write(self._file, pairs.astype(np.int8).tobytes())
        self.count += whole
        self.newest.extend((low / 128, high / 128) for low, high in pairs.tolist())

    def close(self) -> None:
        """Let the file go. A second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
