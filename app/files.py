"""Replacing and removing files that another program may hold open for a moment. Standard library only.

On Windows a file that is open cannot be replaced or removed, and virus scanners and search indexers open every new
file. Both functions wait there, so they do not belong on the UI thread. An architecture test refuses `Path.replace`
elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

_REFUSES_OPEN_FILES = sys.platform == "win32"
_LONGEST_WAIT_S = 2.0
_PAUSE_S = 0.02


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
