"""A countdown is said aloud at 30, 10 and 0 s and at no other moment."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtWidgets import QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets import announce
from app.ui.kit.widgets.announce import SpokenCountdown
from app.ui.kit.widgets.spinner import CountdownRing


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(announce, "announce", lambda _widget, text, **_more: said.append(text))
    return said


def test_it_is_said_at_thirty_ten_and_nothing(qtbot, said: list[str]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    countdown = SpokenCountdown(widget)
    countdown.begin(45)
    for left in range(45, -1, -1):
        countdown.pass_to(left)
    assert said == ["30 seconds left", "10 seconds left", "The wait is over"]


def test_a_short_one_does_not_say_what_was_past_before_it_began(qtbot, said: list[str]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    countdown = SpokenCountdown(widget)
    countdown.begin(8)
    for left in (8, 4.5, 0.0, 0.0):
        countdown.pass_to(left)
    assert said == ["The wait is over"]


def test_a_computer_that_slept_is_told_the_present_only(qtbot, said: list[str]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    countdown = SpokenCountdown(widget)
    countdown.begin(60)
    countdown.pass_to(4)
    assert said == ["4 seconds left"]


def test_the_ring_of_an_error_card_speaks(qtbot, said: list[str]) -> None:
    ring = CountdownRing(Theme())
    qtbot.addWidget(ring)
    ring.start(datetime.now(UTC) + timedelta(seconds=0.2))
    qtbot.waitUntil(lambda: said == ["The wait is over"], timeout=60_000)
