"""What the Wallet tab says about time: when a limit is whole again, how old a balance is, which step is at hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pytestqt.qtbot import QtBot

from app.ui.kit.theme import Theme
from app.ui.wallet.account_card import age_words
from app.ui.wallet.gauge_list import GaugeRow
from app.ui.wallet.state import AccountCard, Gauge
from app.ui.wallet.steps import Steps

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NAMES = ("Amount", "Payment", "Review and sign", "Done")


@pytest.mark.parametrize(
    ("gauge", "left", "resets"),
    [
        (Gauge("Text requests, tier S", 68, 75, NOW + timedelta(seconds=21.4)), "68 of 75 left", "in 22 s"),
        (Gauge("Images", 3, 20, NOW + timedelta(seconds=250)), "3 of 20 left", "in 4:10"),
        (Gauge("Text tokens, tier S", 741_000, 750_000, NOW - timedelta(seconds=1)), "741K of 750K left", "full"),
        (Gauge("Blockchain credits, 24 h", 9_600_000, 10_000_000, rolls=True), "9.6M of 10M left", "rolling"),
    ],
)
def test_each_limit_says_what_is_left_and_when_it_is_whole_again_in_its_own_unit(
    qtbot: QtBot, theme: Theme, gauge: Gauge, left: str, resets: str
) -> None:
    row = GaugeRow(theme, gauge.name)
    qtbot.addWidget(row)
    row.show_gauge(gauge, NOW)
    assert f"{row.left.text()} {row.of.text()}" == left
    assert row.resets.text() == resets
    assert row.bar.accessibleName() == gauge.name


def test_a_balance_says_how_old_it_is() -> None:
    never = AccountCard("a", "Main", "api_key", "api.example.com", in_use=True, is_play=False)
    assert age_words(never, NOW) == "Balance not checked yet"
    asked = AccountCard(
        "a", "Main", "api_key", "api.example.com", in_use=True, is_play=False, checked_at=NOW - timedelta(seconds=12)
    )
    assert age_words(asked, NOW) == "Updated just now"


def test_the_steps_name_the_one_at_hand_and_drop_the_other_words_where_there_is_no_room(
    qtbot: QtBot, theme: Theme
) -> None:
    steps = Steps(theme)
    qtbot.addWidget(steps)
    steps.show_step(NAMES, 2)
    assert steps.accessibleName() == "Step 3 of 4: Review and sign"
    steps.resize(steps.sizeHint())
    assert steps.words_shown() == NAMES
    assert steps.minimumSizeHint().width() < steps.sizeHint().width()
    steps.resize(steps.minimumSizeHint())
    assert steps.words_shown() == ("", "", "Review and sign", "")
    assert not steps.grab().isNull()
