"""Opens sound files: to read from front to back, which is all that anybody here does, and to write.

`soundfile` goes to the place behind each block that it has read, although it is there already. For MP3 that throws away
what the next frame needs of those before it: a few milliseconds of every block are wrong, and libmpg123 says so on the
terminal. So these files claim that they cannot seek; `seek` itself still works.

libsndfile calls everything that a disk refuses a system error. So it writes through a file of ours, which knows better.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import soundfile

    from app.audio.probe import Link


def open_forwards(source: Path | BinaryIO | io.RawIOBase) -> soundfile.SoundFile:
    """Return an open sound file. Raises what `soundfile.SoundFile` raises."""
    import soundfile

    file = soundfile.SoundFile(str(source) if isinstance(source, Path) else source)
    file.seekable = lambda: False
    return file


class LinkedFile(io.RawIOBase):
    """A link of a file, readable as if it were a file of its own. The file stays open."""

    def __init__(self, file: BinaryIO, link: Link) -> None:
        super().__init__()
        self._file = file
        self._link = link
        self._at = 0
        self._size = len(link.prefix) + link.end - link.begin

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + place)
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), max(0, self._size - self._at))
        prefix = self._link.prefix[self._at : self._at + wanted]
        data = prefix
        if len(prefix) < wanted:
            self._file.seek(self._link.begin + self._at + len(prefix) - len(self._link.prefix))
            data = prefix + self._file.read(wanted - len(prefix))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


@contextlib.contextmanager
def new_sound_file(
    path: Path, rate_hz: int, container: str, subtype: str, level: float | None = None
) -> Iterator[soundfile.SoundFile]:
    """A new file of one channel, deleted again when the block fails. `level`: 0 to 1, how much it is compressed.

    Raises `OSError` with the system's reason when the disk refuses, else what `soundfile.SoundFile` raises.
    """
    import soundfile

    disk = _Disk(path, "w+")
    try:
        with (
            disk,
            soundfile.SoundFile(
                disk, "w", rate_hz, 1, format=container, subtype=subtype, compression_level=level
            ) as file,
        ):
            yield file
        if disk.refused is not None:
            raise disk.refused
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        if disk.refused is not None and error is not disk.refused:
            raise disk.refused from error
        raise


class _Disk(io.FileIO):
    """Keeps the reason for which it took no more: libsndfile, which calls this, hears of a number of bytes only."""

    refused: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.refused = OSError(error.errno, error.strerror, str(self.name))
        return len(data) - len(rest)
