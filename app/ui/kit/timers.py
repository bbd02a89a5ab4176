"""Timers that wait until a wall-clock time."""

from __future__ import annotations

from PySide6.QtCore import QTimer

LONGEST_S = 3600.0


def start_in(timer: QTimer, seconds: float) -> None:
    """Start a timer that fires in `seconds`, or in an hour if that is sooner; then its receiver looks again.

    A clock that was set back by weeks would give a span that Qt cannot represent, and one that is right again would
    leave the timer waiting.
    """
    timer.start(round(1000 * min(max(seconds, 0.0), LONGEST_S)))
