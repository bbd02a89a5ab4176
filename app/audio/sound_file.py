"""Opens sound files: to read from front to back, which is all that anybody here does, and to write.

`soundfile` goes to the place behind each block that it has read, although it is there already. For MP3 that throws away
what the next frame needs of those before it: a few milliseconds of every block are wrong, and libmpg123 says so on the
terminal. So these files claim that they cannot seek; `seek` itself still works.

libsndfile calls everything that a disk refuses a system error. So it writes through a file of ours, which knows better.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import soundfile


def open_forwards(source: Path | BinaryIO) -> soundfile.SoundFile:
    """Return an open sound file. Raises what `soundfile.SoundFile` raises."""
    import soundfile

    file = soundfile.SoundFile(str(source) if isinstance(source, Path) else source)
    file.seekable = lambda: False
    return file


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
