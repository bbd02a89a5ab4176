"""Opening, replacing and removing files.

A path that a person names may be a pipe, a device, or a file of a network drive that went away; a thread that opens one
could wait forever. `open_regular` never does.

On Windows a file that is open cannot be replaced or removed, and virus scanners and search indexers open every new
file. `replace` and `remove` wait there, so they do not belong on the UI thread. An architecture test refuses
`Path.replace` elsewhere.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from app.translation import tr

_REFUSES_OPEN_FILES = sys.platform == "win32"
_LONGEST_WAIT_S = 2.0
_PAUSE_S = 0.02


class NotRegular(OSError):
    """The path is a folder, a pipe, a socket or a device."""


class TooLarge(OSError):
    """The file is larger than what the caller reads."""


def open_regular(path: Path | str, most_bytes: int | None = None) -> io.BufferedReader:
    """Open a file for reading. Raises `NotRegular`, `TooLarge` above `most_bytes`, and `OSError`."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        os.close(descriptor)
        is_folder = stat.S_ISDIR(about.st_mode)
        reason = tr("it is a folder") if is_folder else tr("it is not a file")
        raise NotRegular(errno.EISDIR if is_folder else errno.EINVAL, reason)
    if most_bytes is not None and about.st_size > most_bytes:
        os.close(descriptor)
        raise TooLarge(errno.EFBIG, tr("it is too large"))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path | str, most_bytes: int | None = None) -> bytes:
    """Return the content of a regular file. Raises as `open_regular`, also for a file that grows meanwhile."""
    with open_regular(path, most_bytes) as file:
        if most_bytes is None:
            return file.read()
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise TooLarge(errno.EFBIG, tr("it is too large"))
    return data


def replace(source: Path, target: Path) -> None:
    """Move `source` to `target`, replacing what is there. Raises `OSError`, on Windows after up to 2 seconds."""
    _when_released(lambda: source.replace(target))


def remove(path: Path) -> None:
    """Delete a file if it exists. Raises `OSError`, on Windows after up to 2 seconds."""
    _when_released(lambda: path.unlink(missing_ok=True))


def _when_released(work: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + _LONGEST_WAIT_S
    while True:
        try:
            work()
            return
        except PermissionError:
            if not _REFUSES_OPEN_FILES or time.monotonic() >= give_up_at:
                raise
        time.sleep(_PAUSE_S)
