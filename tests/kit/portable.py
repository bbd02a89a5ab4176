"""What tests ask of the system, in a form that every system answers."""

import signal
import stat
import sys
from pathlib import Path

import pytest

# Windows ends a process at once, whatever the signal.
KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files, sockets or scripts")


def has_mode(path: Path, mode: int) -> bool:
    """Whether a file or folder has these permissions. Windows has none: its profile folder is private."""
    return sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == mode
