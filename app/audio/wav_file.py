"""A recording as a WAV file that is whole after every block: written through, its header true, mended after a crash.

16-bit PCM, little-endian. The two size fields of the header are brought up to date about once a second; a program that
is killed between two of these leaves a file whose header is a little too short, and `mend` puts that right from the
length of the file.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEADER_BYTES = 44
SAMPLE_BYTES = 2
MAX_DATA_BYTES = 0xFFFF_FFFF - HEADER_BYTES  # what the format can count; 37 hours at 16 kHz
HEADER_EVERY_S = 1.0
PRESS_EVERY_S = 5.0  # how often the disk itself is asked to keep it; a killed program needs no such thing

_RIFF_SIZE_AT, _DATA_SIZE_AT = 4, 40


@dataclass(frozen=True, slots=True)
class WavFacts:
    """What a recording's header says, with the data as long as the file really is."""

    rate_hz: int
    channels: int
    data_bytes: int
    is_true: bool  # False: the header said something else

    @property
    def seconds(self) -> float:
        return self.data_bytes / (self.rate_hz * self.channels * SAMPLE_BYTES)


def header(rate_hz: int, channels: int, data_bytes: int) -> bytes:
    """Return the 44 bytes before the samples."""
    frame = channels * SAMPLE_BYTES
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        data_bytes + HEADER_BYTES - 8,
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        rate_hz,
        rate_hz * frame,
        frame,
        8 * SAMPLE_BYTES,
        b"data",
        data_bytes,
    )


class WavWriter:
    """Appends blocks of samples to a new file. Raises `OSError` when the disk refuses; what was written stays."""

    def __init__(
        self, path: Path, rate_hz: int, channels: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = path
        self.rate_hz = rate_hz
        self.channels = channels
        self.data_bytes = 0
        self._clock = clock
        self._header_at = self._pressed_at = clock()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, 0o600)
        os.write(self._file, header(rate_hz, channels, 0))

    @property
    def seconds(self) -> float:
        return self.data_bytes / (self.rate_hz * self.channels * SAMPLE_BYTES)

    @property
    def is_full(self) -> bool:
        """True when the format can count no further block of a second."""
        return self.data_bytes + self.rate_hz * self.channels * SAMPLE_BYTES > MAX_DATA_BYTES

    def write(self, block: bytes) -> None:
        """Append whole frames; they are with the operating system when this returns."""
        view = memoryview(block)
        while view:
            written = os.write(self._file, view)
            self.data_bytes += written
            view = view[written:]
        now = self._clock()
        if now - self._header_at >= HEADER_EVERY_S:
            self._header_at = now
            self._write_sizes()
        if now - self._pressed_at >= PRESS_EVERY_S:
            self._pressed_at = now
            os.fsync(self._file)

    def close(self) -> None:
        """Write the last sizes, press the file to the disk and let it go. A second call does nothing."""
        if self._file < 0:
            return
        file, self._file = self._file, -1
        try:
            _patch(file, self.data_bytes)
            os.fsync(file)
        finally:
            os.close(file)

    def _write_sizes(self) -> None:
        _patch(self._file, self.data_bytes)


def read_facts(path: Path) -> WavFacts | None:
    """Return what a recording is, None for a file that does not begin like one of ours."""
    try:
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return None
    if len(head) < HEADER_BYTES or head[:4] != b"RIFF" or head[8:16] != b"WAVEfmt " or head[36:40] != b"data":
        return None
    channels, rate_hz = struct.unpack_from("<HI", head, 22)
    (bits,) = struct.unpack_from("<H", head, 34)
    if bits != 8 * SAMPLE_BYTES or not channels or not rate_hz:
        return None
    frame = channels * SAMPLE_BYTES
    data = (size - HEADER_BYTES) // frame * frame
    told_riff, told_data = (struct.unpack_from("<I", head, at)[0] for at in (_RIFF_SIZE_AT, _DATA_SIZE_AT))
    return WavFacts(rate_hz, channels, data, told_data == data and told_riff == data + HEADER_BYTES - 8)


def mend(path: Path) -> WavFacts | None:
    """Make a recording that was cut off readable again; return what it is now, None when it is no recording.

    A torn frame at the end is cut off. Raises `OSError` when the file cannot be written.
    """
    facts = read_facts(path)
    if facts is None or facts.is_true:
        return facts
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.ftruncate(file, HEADER_BYTES + facts.data_bytes)
        _patch(file, facts.data_bytes)
        os.fsync(file)
    finally:
        os.close(file)
    return WavFacts(facts.rate_hz, facts.channels, facts.data_bytes, True)


def _patch(file: int, data_bytes: int) -> None:
    """Write both size fields without moving where the next block goes."""
    for at, value in ((_RIFF_SIZE_AT, data_bytes + HEADER_BYTES - 8), (_DATA_SIZE_AT, data_bytes)):
        os.lseek(file, at, os.SEEK_SET)
        os.write(file, struct.pack("<I", value))
    os.lseek(file, 0, os.SEEK_END)
