"""Times on screen stay true while they are seen, and nothing wakes for those that are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.wallet.list_pane import WalletListPane
from app.ui.wallet.state import AccountCard


def test_a_ticker_runs_only_while_its_widget_is_on_screen_and_it_is_wanted(window: QWidget, qtbot: QtBot) -> None:
    part = QWidget(window)
    told: list[bool] = []
    wanted = [True]
    ticker = Ticker(part, lambda: told.append(True), 10, lambda: wanted[0])
    assert not ticker.timer.isActive()
    part.show()
    assert told == [True], "what was hidden is told at once"
    qtbot.waitUntil(lambda: len(told) > 3, timeout=60_000)
    window.hide()
    assert not ticker.timer.isActive()
    window.show()
    assert ticker.timer.isActive()
    wanted[0] = False
    ticker.look()
    assert not ticker.timer.isActive()


def test_the_age_of_a_balance_is_the_same_in_the_header_and_on_its_card_and_goes_on(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = datetime.now(UTC)
    card = AccountCard("box", "Sandbox", "sandbox", "127.0.0.1", True, True)
    pane = WalletListPane(theme, str)
    pane.show_accounts((replace(card, checked_at=checked),))
    pane.show()
    assert pane.updated.text() == "Updated just now"

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return checked + timedelta(minutes=5)

    for module in ("list_pane", "account_card"):
        monkeypatch.setattr(f"app.ui.wallet.{module}.datetime", Later)
    (ticker,) = pane.findChildren(Ticker)
    ticker.timer.timeout.emit()
    assert pane.updated.text() == "Updated 5 min ago"
    texts = [label.text() for label in pane.view_of("box").findChildren(QLabel)]
    assert "Play money. Updated 5 min ago." in texts
