"""Makes a sound file fit for upload: one channel at 16 kHz, whole or in parts, without loss or down to a stated size.

Speech recognizers use one channel at 16 kHz, so nothing is lost that they would use. Files are read as they are
played, by `decoding.blocks_of`, so what is sent is what is heard and priced.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.audio.decoding import NotSound, blocks_of
from app.audio.duration import length_of
from app.audio.resampling import Resampler
from app.audio.silence import LevelCounter, cuts
from app.audio.sound_file import new_sound_file
from app.formats import format_number
from app.translation import tr

if TYPE_CHECKING:
    import numpy as np

    from app.audio.decoding import Samples

    Signal = np.ndarray[tuple[int], np.dtype[np.float32]]

RATE_HZ = 16_000
BLOCK_S = 10
_FULL_SCALE = 32_768
_LEAST_SHARE = 0.99  # of the counted length; with less, and a second, something in the middle was lost
WORST_BYTES_PER_S = RATE_HZ * 2 * 1.02  # FLAC of noise: no smaller than the samples themselves
# libsndfile turns its compression level c (0 to 1) into bits per second of one Opus channel
OPUS_MOST_BPS, OPUS_LEAST_BPS = 256_000, 6_000
FULL_QUALITY_BPS = 48_000  # of speech at 16 kHz; more is not heard
CONTAINER_SHARE = 0.93  # of the target that the sound itself may take; the rest is the container's
TRIES = 4

OnShare = Callable[[float], None]  # 0 to 1
ShouldStop = Callable[[], bool]


class Stopped(Exception):
    """The person did not want it any more; what was written is deleted."""


class CannotPrepare(Exception):
    """Why a file cannot be made fit. `sentence` is ready to be shown."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a longer recording. Times in seconds of the whole."""

    path: Path
    start_s: float
    end_s: float


def longest_part_s(limit_bytes: int) -> float:
    """Return how many seconds of any sound surely fit into `limit_bytes` as FLAC, one channel at 16 kHz."""
    return float(int((limit_bytes - 100_000) / WORST_BYTES_PER_S))


def to_flac(source: Path, target: Path, on_share: OnShare = lambda _: None, stop: ShouldStop = lambda: False) -> float:
    """Write the whole file as FLAC; return its length in seconds. Raises `CannotPrepare`, `Stopped`, `OSError`."""
    with new_sound_file(target, RATE_HZ, "FLAC", "PCM_16") as out:
        return _copy(_signal(source, on_share, stop), out) / RATE_HZ


def bitrate_for(seconds: float, target_bytes: int) -> int:
    """Return the bits a second that bring `seconds` of sound to `target_bytes`, at most the full quality."""
    if seconds <= 0:
        return FULL_QUALITY_BPS
    return min(FULL_QUALITY_BPS, int(target_bytes * CONTAINER_SHARE * 8 / seconds))


def compress(
    source: Path,
    target: Path,
    target_bytes: int,
    on_share: OnShare = lambda _: None,
    stop: ShouldStop = lambda: False,
) -> int:
    """Write the file as Opus in OGG of at most `target_bytes`; return its size.

    Raises `CannotPrepare` when even the least quality is too much, which for 25 MB is after nine hours.
    """
    seconds = _seconds(source)
    bps = bitrate_for(seconds, target_bytes)
    for _ in range(TRIES):
        if bps < OPUS_LEAST_BPS:
            break
        level = (OPUS_MOST_BPS - bps) / (OPUS_MOST_BPS - OPUS_LEAST_BPS)
        with new_sound_file(target, RATE_HZ, "OGG", "OPUS", level) as out:
            _copy(_signal(source, on_share, stop), out)
        size = target.stat().st_size
        if size <= target_bytes:
            return size
        bps = int(bps * target_bytes / size * 0.97)  # the encoder spends more on difficult sound
    target.unlink(missing_ok=True)
    raise CannotPrepare(tr("This recording is too long for that size. Split it on silence instead."))


def split(
    source: Path,
    folder: Path,
    limit_bytes: int,
    on_share: OnShare = lambda _: None,
    stop: ShouldStop = lambda: False,
    longest_s: float | None = None,
) -> tuple[Part, ...]:
    """Cut the file at silences into FLAC parts that fit into `limit_bytes`, in order, without a gap or an overlap.

    `longest_s` makes parts shorter than the limit demands. Raises as `to_flac` does.
    """
    longest_s = min(longest_s or longest_part_s(limit_bytes), longest_part_s(limit_bytes))
    folder.mkdir(parents=True, exist_ok=True)
    levels = LevelCounter(RATE_HZ)
    total = 0
    for block in _signal(source, lambda share: on_share(share / 2), stop):
        levels.add(block)
        total += len(block)
    edges = [0, *(round(at * RATE_HZ) for at in cuts(levels.levels(), longest_s)), total]
    signal = _Taker(_signal(source, lambda share: on_share(0.5 + share / 2), stop))
    parts: list[Part] = []
    for number, (first, last) in enumerate(itertools.pairwise(edges), 1):
        path = folder / f"{source.stem[:60]} part {number:02d}.flac"
        with new_sound_file(path, RATE_HZ, "FLAC", "PCM_16") as out:
            _copy(signal.take(last - first), out)
        parts.append(Part(path, first / RATE_HZ, last / RATE_HZ))
    return tuple(parts)


def _copy(signal: Iterator[Signal], out: Any) -> int:
    samples = 0
    for block in signal:
        out.write(block)
        samples += len(block)
    return samples


class _Taker:
    """Gives a signal in pieces of exact lengths."""

    def __init__(self, signal: Iterator[Signal]) -> None:
        self._signal = signal
        self._rest: Signal | None = None

    def take(self, samples: int) -> Iterator[Signal]:
        """Give the next samples; fewer only at the end."""
        while samples > 0:
            block = self._rest if self._rest is not None else next(self._signal, None)
            if block is None:
                return
            self._rest = block[samples:] if len(block) > samples else None
            block = block[:samples]
            samples -= len(block)
            yield block


def _seconds(source: Path) -> float:
    return length_of(source, "") or 0.0


def _long_blocks(source: Path) -> Iterator[tuple[Samples, int]]:
    """Give a file's sound in blocks of ten seconds, each with its rate."""
    import numpy as np

    held: list[Samples] = []
    size = rate_hz = 0
    for block in blocks_of(source):
        if held and (block.rate_hz != rate_hz or size >= rate_hz * BLOCK_S):
            yield np.concatenate(held), rate_hz
            held, size = [], 0
        rate_hz = block.rate_hz
        held.append(block.samples)
        size += len(block.samples)
    if held:
        yield np.concatenate(held), rate_hz


def _signal(source: Path, on_share: OnShare, stop: ShouldStop) -> Iterator[Signal]:
    """Give a file's sound as one channel at 16 kHz, -1 to 1. Raises `CannotPrepare`, `Stopped`."""
    import numpy as np

    total = max(1.0, _seconds(source) * RATE_HZ)
    resampler, rate_hz, done, heard = Resampler(RATE_HZ, RATE_HZ), RATE_HZ, 0, 0
    try:
        for samples, block_hz in _long_blocks(source):
            if stop():
                raise Stopped
            if block_hz != rate_hz:  # of the next of several files that were joined
                yield resampler.flush()
                resampler, rate_hz = Resampler(block_hz, RATE_HZ), block_hz
            heard += len(samples)
            signal = resampler.feed((samples / _FULL_SCALE).astype(np.float32))
            done += len(signal)
            yield signal
            on_share(min(1.0, done / total))
        yield resampler.flush()
    except NotSound as error:
        raise CannotPrepare(
            tr("{name} cannot be read as audio: {reason}", name=source.name, reason=error.sentence)
        ) from None
    if done < total * _LEAST_SHARE - RATE_HZ:
        raise CannotPrepare(
            tr(
                "{name} cannot be read as audio: it is damaged after {seconds} s.",
                name=source.name,
                seconds=format_number(done / RATE_HZ, 1),
            )
        )
    if not heard:
        raise CannotPrepare(tr("{name} has no audio.", name=source.name))
