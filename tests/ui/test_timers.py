"""Timers that wait until a wall-clock time accept every span."""

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.ui.kit.timers import LONGEST_S, start_in


@pytest.mark.parametrize(
    ("seconds", "waits_s"),
    [(-5.0, 0.0), (0.0, 0.0), (1.5, 1.5), (LONGEST_S, LONGEST_S), (40 * 86_400.0, LONGEST_S), (1e300, LONGEST_S)],
)
def test_every_span_is_one_that_a_timer_can_wait(qtbot: QtBot, seconds: float, waits_s: float) -> None:
    timer = QTimer(singleShot=True)
    start_in(timer, seconds)
    assert timer.interval() == round(waits_s * 1000)
