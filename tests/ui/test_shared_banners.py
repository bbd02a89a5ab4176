"""The banner of the window: one at a time, the most serious first."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.core.problems import ActionSpec
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.banner import BannerHost, BannerSpec
from app.ui.kit.widgets.buttons import Button

LEFT = Qt.MouseButton.LeftButton


RETRY = ActionSpec("retry", "Try again")


def spec(tone: str, lead: str, *, closable: bool = False) -> BannerSpec:
    return BannerSpec(tone, lead, "More words.", "info", (RETRY,), closable)


def test_one_banner_at_a_time_the_most_serious_first(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("offline", spec("warn", "You are offline."))
    host.show_banner("keychain", spec("info", "The keychain is locked."))
    assert host.current_key == "offline"
    host.show_banner("blocked", spec("bad", "Paused."))
    assert host.current_key == "blocked"
    host.clear("blocked")
    assert host.current_key == "offline"
    host.clear("offline")
    assert host.current_key == "keychain"
    host.clear("keychain")
    assert host.isHidden()


def test_among_equals_the_newest_banner_shows(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("one", spec("warn", "One."))
    host.show_banner("two", spec("warn", "Two."))
    assert host.current_key == "two"


def test_a_countdown_changes_the_words_of_a_banner_in_place(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("blocked", spec("bad", "Paused for 0:18."))
    before = host.banner
    host.show_banner("blocked", spec("bad", "Paused for 0:17."))
    assert host.banner is before
    assert before is not None
    assert before.label.text().startswith("Paused for 0:17.")


def test_a_banner_tells_its_key_and_button_and_can_be_closed(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("offline", spec("warn", "You are offline.", closable=True))
    told: list[tuple[str, str]] = []
    host.action.connect(lambda key, action: told.append((key, action)))
    banner = host.banner
    assert banner is not None
    qtbot.mouseClick(banner.findChild(Button), LEFT)
    banner.action.emit("close")
    assert told == [("offline", "retry"), ("offline", "close")]
    assert host.current_key == ""
