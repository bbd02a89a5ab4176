"""The shape of a sound: its lowest and highest value in every 20 ms, kept on disk, drawn as bars.

A pair of signed bytes for 20 ms is 360 kB an hour. `load` reads them from the cache or makes them in one pass over the
file, block by block, so that memory does not grow with the sound. Call it in a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from app import files
from app.audio.decoding import blocks_of
from app.audio.formats import DEFAULT_PCM_RATE_HZ

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]
    Pairs = np.ndarray[tuple[int, int], np.dtype[np.int8]]  # (buckets, 2): low, high

PER_SECOND = 50
SUFFIX = ".peaks"
Bars = tuple[float, ...]  # how loud, 0 to 1


class PeakCounter:
    """Takes samples as they come and gives pairs; what does not fill a bucket yet waits for more."""

    def __init__(self, rate_hz: int) -> None:
        self._bucket = max(1, rate_hz // PER_SECOND)
        self._rest: Samples | None = None

    def add(self, samples: Samples) -> Pairs:
        """Return the pairs that these samples completed, shape (n, 2)."""
        import numpy as np

        if self._rest is not None and len(self._rest):
            samples = np.concatenate((self._rest, samples))
        whole = len(samples) // self._bucket
        self._rest = samples[whole * self._bucket :].copy()
        buckets = samples[: whole * self._bucket].reshape(whole, self._bucket)
        if not whole:
            return np.zeros((0, 2), np.int8)
        low, high = buckets.min(axis=1), buckets.max(axis=1)
        return (np.stack((low, high), axis=1) >> 8).astype(np.int8)


def bars_of(pairs: Pairs, count: int) -> Bars:
    """Return `count` loudnesses from 0 to 1 over the whole length; fewer when there are fewer pairs."""
    import numpy as np

    count = min(count, len(pairs))
    if count < 1:
        return ()
    edges = (np.arange(count, dtype=np.int64) * len(pairs)) // count
    loud = np.maximum(
        np.maximum.reduceat(pairs[:, 1], edges).astype(np.int16),
        -np.minimum.reduceat(pairs[:, 0], edges).astype(np.int16),
    )
    return tuple((loud / 128).tolist())


def cache_path(cache: Path, sound: Path) -> Path:
    """Return where the peaks of a file are cached: under its path, size and time, so that another file is another."""
    told = sound.stat()
    key = hashlib.sha256(f"{sound.absolute()}\0{told.st_size}\0{told.st_mtime_ns}".encode()).hexdigest()[:32]
    return cache / "waveforms" / f"{key}{SUFFIX}"


def load(
    sound: Path,
    cache: Path | None,
    *,
    kind: str = "",
    pcm_rate_hz: int = DEFAULT_PCM_RATE_HZ,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Pairs:
    """Return the peaks of a file, from the cache where they are. Raises `NotSound`, and `OSError` for a missing file.

    `is_wanted` is asked between blocks; without an answer of True what has been counted so far is returned, uncached.
    """
    import numpy as np

    kept = cache_path(cache, sound) if cache is not None else None
    if kept is not None:
        with contextlib.suppress(OSError):
            return np.fromfile(kept, np.int8).reshape(-1, 2)
    counter: PeakCounter | None = None
    found = bytearray()
    for block in blocks_of(sound, kind=kind, pcm_rate_hz=pcm_rate_hz):
        counter = counter or PeakCounter(block.rate_hz)
        found += counter.add(block.samples).tobytes()
        if not is_wanted():
            kept = None
            break
    if kept is not None:
        _keep(kept, bytes(found))
    return np.frombuffer(bytes(found), np.int8).reshape(-1, 2)


def _keep(path: Path, data: bytes) -> None:
    """A cache that cannot be written costs time at the next look, nothing else."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.new")
        temporary.write_bytes(data)
        files.replace(temporary, path)
