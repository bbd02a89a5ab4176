"""Opens sound for reading from front to back, which is all that anybody here does.

`soundfile` goes to the place behind each block that it has read, although it is there already. For MP3 that throws away
what the next frame needs of those before it: a few milliseconds of every block are wrong, and libmpg123 says so on the
terminal. So these files claim that they cannot seek; `seek` itself still works.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import soundfile


def open_forwards(source: Path | BinaryIO) -> soundfile.SoundFile:
    """Return an open sound file. Raises what `soundfile.SoundFile` raises."""
    import soundfile

    file = soundfile.SoundFile(str(source) if isinstance(source, Path) else source)
    file.seekable = lambda: False
    return file
