"""Every action has one key where it works, and a key that means something already is refused by name."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from app.ui.kit.shortcut_map import ShortcutRefused
from app.ui.kit.tab import TabAction
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu
from app.ui.shell.actions import ActionRegistry, key_parts


def action(action_id: str, shortcut: str = "", **rest: object) -> TabAction:
    return TabAction(action_id, action_id.title(), lambda: None, shortcut, **rest)  # type: ignore[arg-type]  # test values


@pytest.fixture
def window(qtbot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_a_taken_key_is_refused_and_the_other_action_is_named(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("open", "Ctrl+O"), action("palette", "Ctrl+K")])
    with pytest.raises(ShortcutRefused, match="Palette"):
        registry.set_shortcut("open", "Ctrl+K")
    assert registry.entry("open").shortcut == "Ctrl+O"


def test_two_tabs_may_share_a_key_but_not_with_the_window(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("quit", "Ctrl+Q")])
    registry.add([action("chat.new", "Ctrl+N")], scope="chat")
    registry.add([action("video.new", "Ctrl+N"), action("video.cut")], scope="video")
    registry.set_shortcut("video.new", "Ctrl+J")
    registry.set_shortcut("chat.new", "Ctrl+J")
    with pytest.raises(ShortcutRefused):
        registry.set_shortcut("video.cut", "Ctrl+Q")


def test_only_the_shown_tab_hears_its_keys(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("chat.new", "Ctrl+N")], scope="chat")
    registry.add([action("video.new", "Ctrl+N")], scope="video")
    registry.set_scope("video")
    assert not registry.entry("chat.new").q_action.isEnabled()
    assert registry.entry("video.new").q_action.isEnabled()


@pytest.mark.parametrize(
    "keys",
    ["Ctrl+Alt+K", "Ctrl+H", "Ctrl+M", "Ctrl+Space", "Ctrl+Shift+Q", "Ctrl+Shift+U", "Ctrl+Shift+4", "K", "Shift+K"],
)
def test_keys_that_systems_take_or_that_type_are_refused(window: QWidget, keys: str) -> None:
    registry = ActionRegistry(window)
    registry.add([action("open", "Ctrl+O")])
    with pytest.raises(ShortcutRefused):
        registry.set_shortcut("open", keys)


@pytest.mark.parametrize("keys", ["Ctrl+J", "F7", "Ctrl+Shift+Y", "Del", "Alt+Up"])
def test_other_keys_are_taken(window: QWidget, keys: str) -> None:
    registry = ActionRegistry(window)
    registry.add([action("open", "Ctrl+O")])
    registry.set_shortcut("open", keys)
    assert registry.entry("open").shortcut == keys


def test_changed_keys_are_saved_and_hold_after_the_next_start(window: QWidget) -> None:
    saved: list[dict[str, str]] = []
    registry = ActionRegistry(window, save=saved.append)
    registry.add([action("open", "Ctrl+O"), action("close", "Ctrl+W")])
    registry.set_shortcut("open", "Ctrl+J")
    registry.set_shortcut("close", "")
    assert saved[-1] == {"open": "Ctrl+J", "close": ""}
    again = ActionRegistry(window, overrides=saved[-1])
    again.add([action("open", "Ctrl+O"), action("close", "Ctrl+W")])
    assert [row.shortcut for row in again.rows()] == ["Ctrl+J", ""]
    assert [row.is_changed for row in again.rows()] == [True, True]


def test_the_usual_key_comes_back_unless_another_action_took_it(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("open", "Ctrl+O"), action("close", "Ctrl+W")])
    registry.set_shortcut("open", "Ctrl+J")
    registry.set_shortcut("close", "Ctrl+O")
    with pytest.raises(ShortcutRefused, match="Close"):
        registry.reset_shortcut("open")
    registry.reset_all()
    assert [row.shortcut for row in registry.rows()] == ["Ctrl+O", "Ctrl+W"]


def test_a_second_fixed_key_counts_as_taken(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("larger", "Ctrl+=", also=("Ctrl++",)), action("open", "Ctrl+O")])
    with pytest.raises(ShortcutRefused, match="Larger"):
        registry.set_shortcut("open", "Ctrl++")


def test_an_action_that_cannot_run_now_does_not_run(window: QWidget) -> None:
    ran: list[str] = []
    registry = ActionRegistry(window)
    registry.add([TabAction("send", "Send", lambda: ran.append("send"), enabled=lambda: False)])
    assert not registry.run("send")
    assert ran == []


def test_running_a_tabs_action_from_elsewhere_goes_to_the_tab_first(window: QWidget) -> None:
    visited: list[str] = []
    registry = ActionRegistry(window, go_to_scope=visited.append)
    registry.add([action("video.new")], scope="video")
    registry.set_scope("chat")
    assert registry.run("video.new")
    assert visited == ["video"]


def test_a_shortcut_is_cut_into_its_keys() -> None:
    assert key_parts("Ctrl+Shift+R") == ("Ctrl", "Shift", "R")
    assert key_parts("Ctrl++") == ("Ctrl", "+")
    assert key_parts("F6") == ("F6",)
    assert key_parts("Ctrl+Return") == ("Ctrl", "Enter"), "the large key is Enter to people"
    assert key_parts("") == ()


def test_both_enter_keys_do_the_same(window: QWidget) -> None:
    registry = ActionRegistry(window)
    registry.add([action("queue", "Ctrl+Return")])
    assert [keys.toString() for keys in registry.entry("queue").q_action.shortcuts()] == ["Ctrl+Return", "Ctrl+Enter"]
    assert Menu(Theme(), window).add("Open", shortcut="Return").shortcut().toString() == "Enter"
