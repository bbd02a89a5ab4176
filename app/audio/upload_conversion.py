"""Makes a sound file fit for upload: one channel at 16 kHz, whole or in parts, without loss or down to a stated size.

Speech recognisers hear one channel at 16 kHz, so nothing is lost that they would use. Files are read and written in
blocks of ten seconds. What soundfile cannot read (AAC, M4A, MP4, WEBM) becomes a WAV file first: `readable`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.audio.decoding import NotSound, blocks_of
from app.audio.resampling import Resampler
from app.audio.silence import cuts, levels_of
from app.audio.sound_file import new_sound_file, open_forwards
from app.audio.wav_file import WavWriter
from app.translation import tr

if TYPE_CHECKING:
    import numpy as np

    Signal = np.ndarray[tuple[int], np.dtype[np.float32]]

RATE_HZ = 16_000
BLOCK_S = 10
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


def readable(
    source: Path, scratch: Path, on_share: OnShare = lambda _: None, stop: ShouldStop = lambda: False
) -> tuple[Path, bool]:
    """Return a file that soundfile reads: the source itself, or `scratch`, a WAV file decoded from it (then True).

    Raises `CannotPrepare` when nothing here can decode it, `Stopped`, `OSError`.
    """
    try:
        with _opened(source):
            pass
    except CannotPrepare:
        decode_to_wav(source, scratch, stop)
        return scratch, True
    return source, False


def decode_to_wav(source: Path, target: Path, stop: ShouldStop = lambda: False) -> float:
    """Write any sound, such as the one of a video, as 16-bit WAV; return its length in seconds."""
    target.unlink(missing_ok=True)
    writer: WavWriter | None = None
    try:
        for block in blocks_of(source):
            if stop():
                raise Stopped
            writer = writer or WavWriter(target, block.rate_hz)
            writer.write(block.samples.astype("<i2", copy=False).tobytes())
        if writer is None:
            raise NotSound(tr("{name} has no audio.", name=source.name))
    except BaseException as error:
        if writer is not None:
            writer.close()
        target.unlink(missing_ok=True)
        if isinstance(error, NotSound):
            raise CannotPrepare(error.sentence) from None
        raise
    seconds = writer.seconds
    writer.close()
    return seconds


def longest_part_s(limit_bytes: int) -> float:
    """Return how many seconds of any sound surely fit into `limit_bytes` as FLAC, one channel at 16 kHz."""
    return float(int((limit_bytes - 100_000) / WORST_BYTES_PER_S))


def to_flac(source: Path, target: Path, on_share: OnShare = lambda _: None, stop: ShouldStop = lambda: False) -> float:
    """Write the whole file as FLAC; return its length in seconds. Raises `CannotPrepare`, `Stopped`, `OSError`."""
    with _opened(source) as file, new_sound_file(target, RATE_HZ, "FLAC", "PCM_16") as out:
        return _copy(file, out, 0, file.frames, on_share, stop)


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
    with _opened(source) as file:
        seconds = file.frames / file.samplerate
    bps = bitrate_for(seconds, target_bytes)
    for _ in range(TRIES):
        if bps < OPUS_LEAST_BPS:
            break
        level = (OPUS_MOST_BPS - bps) / (OPUS_MOST_BPS - OPUS_LEAST_BPS)
        with _opened(source) as file, new_sound_file(target, RATE_HZ, "OGG", "OPUS", level) as out:
            _copy(file, out, 0, file.frames, on_share, stop)
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
    with _opened(source) as file:
        edges = [0.0, *cuts(levels_of(source), longest_s), file.frames / file.samplerate]
        parts: list[Part] = []
        for number, (begin, end) in enumerate(itertools.pairwise(edges), 1):
            path = folder / f"{source.stem[:60]} part {number:02d}.flac"
            first, last = round(begin * file.samplerate), round(end * file.samplerate)
            done = begin / edges[-1] if edges[-1] else 0.0
            share = (end - begin) / edges[-1] if edges[-1] else 1.0

            def tell(inner: float, done: float = done, share: float = share) -> None:
                on_share(done + inner * share)

            with new_sound_file(path, RATE_HZ, "FLAC", "PCM_16") as out:
                _copy(file, out, first, last, tell, stop)
            parts.append(Part(path, begin, end))
    return tuple(parts)


def _copy(file: Any, out: Any, first: int, last: int, on_share: OnShare, stop: ShouldStop) -> float:
    resampler = Resampler(file.samplerate, RATE_HZ)
    total = max(1, last - first)
    done = 0
    if file.tell() != first:  # parts follow one another; going to a place in an MP3 costs its first milliseconds
        file.seek(first)
    for block in _mono_blocks(file, total):
        if stop():
            raise Stopped
        out.write(resampler.feed(block))
        done += len(block)
        on_share(min(1.0, done / total))
    out.write(resampler.flush())
    return done / float(file.samplerate)


def _mono_blocks(file: Any, frames: int) -> Iterator[Signal]:
    left = frames
    while left > 0:
        block = file.read(min(left, file.samplerate * BLOCK_S), dtype="float32", always_2d=True)
        if not len(block):
            return
        left -= len(block)
        yield block.mean(axis=1) if block.shape[1] > 1 else block[:, 0]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A sound file to read. What is wrong with it, at its beginning or in its middle, is `CannotPrepare`."""
    import soundfile

    try:
        with open_forwards(path) as file:
            yield file
    except soundfile.LibsndfileError as error:
        raise CannotPrepare(
            tr("{name} cannot be read as audio: {error_string}", name=path.name, error_string=error.error_string)
        ) from None
