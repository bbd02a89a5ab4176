"""Sentences for readers without announcements; `tests/accessibility/test_older_readers.py` hears them on a bus."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jeepney import Message, new_method_return
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


class Bus:
    """Answers with those who listen, and counts how often it was asked."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.asked = 0
        self.news: list[Callable[[], None]] = []

    def send_and_get_reply(self, asked: Message, *, timeout: float) -> Message:
        self.asked += 1
        return new_method_return(asked, "a(ss)", ([(":1.1", kind) for kind in self.kinds],))

    def receive(self, *, timeout: float) -> None:
        if not self.news:
            raise TimeoutError
        self.news.pop()()


def test_who_listens_is_asked_again_once_that_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> None:
        pass

    def lost() -> None:
        raise ConnectionResetError

    bus, listeners = Bus(), older_screen_readers.Listeners()
    monkeypatch.setattr(older_screen_readers, "_accessibility_bus", lambda: bus)
    bus.kinds = ["object:state-changed:focused"]
    assert [listeners.hear_no_announcements() for _ in range(3)] == [True] * 3
    assert bus.asked == 1
    bus.kinds, bus.news = ["object:announcement:"], [nothing, nothing]
    assert [listeners.hear_no_announcements() for _ in range(3)] == [False] * 3
    assert bus.asked == 2
    bus.kinds, bus.news = ["focus:"], [lost]
    assert [listeners.hear_no_announcements() for _ in range(3)] == [False, True, True]
