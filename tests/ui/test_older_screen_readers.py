"""Sentences for readers without announcements; `tests/accessibility/test_older_readers.py` hears them on a bus."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QWidget

from app.ui.kit import older_screen_readers


@pytest.mark.parametrize("is_older", [True, False])
def test_sentences_wait_for_what_the_window_shows_with_them(
    qtbot, monkeypatch: pytest.MonkeyPatch, is_older: bool
) -> None:
    window, shown = QWidget(), []
    qtbot.addWidget(window)

    def hear(event: QAccessibleEvent) -> None:
        if event.type() == QAccessible.Event.ObjectShow:
            shown.append(event.object().accessibleName())

    monkeypatch.setattr(older_screen_readers, "add_announcement_listener", lambda _tell: None)
    monkeypatch.setattr(older_screen_readers, "run_in_pool", lambda _owner, _asked, tell: tell(is_older))
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    readers = older_screen_readers.OlderScreenReaders(window)
    readers.say("Step 2 of 4: Payment")
    readers.say("This wallet holds 0.00 USDC.")
    assert shown == []
    if is_older:
        qtbot.waitUntil(lambda: bool(shown))
        assert shown == ["Step 2 of 4: Payment This wallet holds 0.00 USDC."]
    monkeypatch.setattr(older_screen_readers, "run_in_pool", lambda _owner, _asked, tell: tell(True))
    readers.say("Step 3 of 4")
    qtbot.waitUntil(lambda: shown[-1:] == ["Step 3 of 4"])
