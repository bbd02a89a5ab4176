"""A change of tab moves the focus once, to where a person goes on, and Tab walks the panes as they are seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.ui.kit.tab_order import as_seen, tab_stops
from app.ui.kit.theme import Theme
from app.ui.settings.sections import SECTIONS
from tests.kit.shell import make_shell
from tests.ui.test_shell_window import show

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def focused(qapp: QApplication) -> Iterator[list[QWidget]]:
    """Every widget that got the focus, in order."""
    seen: list[QWidget] = []

    def follow(_old: QWidget | None, new: QWidget | None) -> None:
        if new is not None:
            seen.append(new)

    qapp.focusChanged.connect(follow)
    yield seen
    qapp.focusChanged.disconnect(follow)


async def test_a_change_of_tab_gives_the_focus_once_and_back_to_where_it_was(
    theme: Theme, tasks, tmp_path: Path, focused: list[QWidget]
) -> None:
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    show(harness)
    window = harness.window
    window.resize(1440, 900)
    window.show_tab("chat")
    chat = harness.chat
    chat.filter.setFocus()
    focused.clear()
    window.show_tab("notes")
    assert focused == [window.tab("notes").main_input()]
    QTest.keyClick(window, Qt.Key.Key_1, CONTROL)
    assert focused[1:] == [chat.filter]
    window.close()


async def test_the_key_of_a_tab_enters_it_from_wherever_the_focus_is(theme: Theme, tasks, tmp_path: Path) -> None:
    harness = make_shell(tmp_path, tasks, theme)
    show(harness)
    window = harness.window
    for outside in (tab_stops(window.status)[0], window.rail.button("chat")):
        window.show_tab("chat")
        outside.setFocus()
        assert window.focusWidget() is outside
        QTest.keyClick(window, Qt.Key.Key_1, CONTROL)
        assert window.focusWidget() is harness.chat.input
    window.close()


async def test_a_keyboard_without_a_menu_key_opens_the_menu_of_what_has_the_focus(
    theme: Theme, tasks, tmp_path: Path
) -> None:
    harness = make_shell(tmp_path, tasks, theme)
    show(harness)
    harness.window.show_tab("chat")
    for field in (harness.chat.filter, QPlainTextEdit(harness.chat.filter.parentWidget())):
        asked: list[QPoint] = []
        field.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        field.customContextMenuRequested.connect(asked.append)
        field.show()
        field.setFocus()
        QTest.keyClick(harness.window, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
        assert len(asked) == 1 and field.rect().contains(asked[0])
    harness.window.close()


async def test_escape_goes_to_the_main_field_and_leaves_the_keyboard_there(theme: Theme, tasks, tmp_path: Path) -> None:
    harness = make_shell(tmp_path, tasks, theme)
    show(harness)
    window = harness.window
    window.show_tab("chat")
    harness.chat.filter.setFocus()
    for _ in range(3):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
        assert window.focusWidget() is harness.chat.input
    window.close()


async def test_screen_readers_list_the_panes_as_they_are_seen(theme: Theme, tasks, tmp_path: Path) -> None:
    harness = make_shell(tmp_path, tasks, theme)
    show(harness)
    harness.window.show_tab("chat")
    frame = harness.window.tab_frames.by_name["chat"]
    for width in (1440, 900, 1440):
        harness.window.resize(width, 900)
        beside = [zone for zone in frame.parts() if frame.splitter.indexOf(zone) >= 0]
        assert [child for child in frame.splitter.children() if child in frame.parts()] == beside
    harness.window.close()


@pytest.mark.parametrize("key", [section.key for section in SECTIONS])
async def test_tab_walks_settings_from_the_list_through_the_page_to_the_inspector(
    harness, settings, tasks, key
) -> None:
    settings.show_section(key)
    await tasks.idle()
    frame = harness.window.tab_frames.by_name["settings"]
    settings.places.setFocus()
    walked = [settings.places]
    while len(walked) < 400:
        QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Tab)
        now = harness.window.focusWidget()
        if now is walked[-1] or not frame.isAncestorOf(now):
            break
        walked.append(now)
    panes = [next(at for at, zone in enumerate(frame.parts()) if zone.isAncestorOf(stop)) for stop in walked]
    assert panes == sorted(panes)
    page = [stop for stop in walked if settings.page(key).isAncestorOf(stop)]
    assert page == as_seen(settings.page(key))
