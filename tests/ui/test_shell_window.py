"""The window: tabs, panes by effective width, keys, focus, the place it remembers, and how it closes."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt, QThreadPool
from PySide6.QtGui import QAccessible, QCloseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QLineEdit,
    QPushButton,
    QSplitterHandle,
    QVBoxLayout,
    QWidget,
)

from app.core.problems import ActionSpec
from app.core.undo import UndoCommand
from app.storage.atomic_files import StoredFile
from app.storage.settings import SettingsStore
from app.ui.kit.tab import Zones
from app.ui.kit.widgets.banner import BannerSpec
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.shell.focus_cycle import FocusCycle
from tests.kit.settings import change_settings
from tests.kit.shell import ShellHarness, make_shell
from tests.kit.waiting import until
from tests.kit.widgets import words


def resize(harness: ShellHarness, width: int, height: int = 800) -> Zones:
    harness.window.resize(width, height)
    QApplication.processEvents()
    return harness.chat.zones[-1]


def show(harness: ShellHarness) -> None:
    """Keys go to the active window only."""
    harness.window.show()
    harness.window.activateWindow()
    QApplication.processEvents()


@pytest.mark.parametrize(
    ("width", "list_over", "inspector_over"),
    [(1240, False, False), (1239, False, True), (1000, False, True), (999, True, True)],
)
async def test_panes_leave_their_place_by_the_effective_width(harness, width, list_over, inspector_over):
    zones = resize(harness, width)
    assert (zones.list_overlay, zones.inspector_overlay) == (list_over, inspector_over)


async def test_large_text_leaves_as_little_room_as_a_narrow_window(harness):
    harness.theme.set_text_percent(150)
    assert resize(harness, 1440).list_overlay  # 1440 / 1.5 = 960


async def test_panes_keep_their_width_and_the_canvas_takes_the_rest(harness):
    frame = harness.window.tab_frames.by_name["chat"]
    assert (frame.list_zone.width(), frame.inspector_zone.width()) == (264, 312)
    resize(harness, 1800)
    assert (frame.list_zone.width(), frame.inspector_zone.width()) == (320, 360)
    assert frame.canvas_zone.width() == 1800 - harness.window.rail.width() - 320 - 360 - 2


async def test_an_overlay_takes_the_focus_and_esc_gives_it_back(harness):
    resize(harness, 900)
    harness.chat.input.setFocus()
    QTest.keyClick(harness.window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert harness.chat.zones[-1].list_open
    assert harness.window.focusWidget() is harness.chat.filter
    QTest.keyClick(harness.chat.filter, Qt.Key.Key_Escape)
    assert not harness.chat.zones[-1].list_open
    assert harness.window.focusWidget() is harness.chat.input


async def test_over_the_canvas_a_pane_grows_with_the_text(harness):
    resize(harness, 1440)
    frame = harness.window.tab_frames.by_name["chat"]
    beside = frame.list_zone.width()
    harness.theme.set_text_percent(200)
    harness.window.toggle_list()
    assert frame.list_zone.width() > 1.5 * beside, "not held to the width that it had beside the canvas"
    frame.close_overlay()


async def test_an_overlay_goes_when_the_focus_goes_to_what_it_covers(harness):
    resize(harness, 900)
    harness.window.toggle_list()
    overlay = harness.window.tab_frames.by_name["chat"].overlay
    assert overlay.isVisible()
    harness.window.rail.logo.setFocus()
    assert overlay.isVisible(), "the rail is not covered"
    harness.chat.input.setFocus()
    assert not overlay.isVisible()
    assert harness.window.focusWidget() is harness.chat.input


async def test_a_press_beside_an_overlay_closes_it(harness):
    resize(harness, 900)
    harness.window.toggle_inspector()
    overlay = harness.window.tab_frames.by_name["chat"].overlay
    assert overlay.isVisible()
    QTest.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=overlay.rect().topLeft())
    assert not overlay.isVisible()


async def test_an_open_overlay_takes_its_place_when_the_window_grows(harness):
    resize(harness, 900)
    harness.window.toggle_list()
    zones = resize(harness, 1440)
    assert zones == Zones()
    assert not harness.window.tab_frames.by_name["chat"].overlay.isVisible()
    assert harness.chat.filter.isVisible()


async def test_motion_slides_and_reduced_motion_does_not(harness):
    resize(harness, 900)
    harness.theme.set_reduced_motion(False)
    harness.window.toggle_list()
    pane = harness.window.tab_frames.by_name["chat"].list_zone
    assert pane.x() < 0
    await until(lambda: pane.x() == 0)
    harness.window.tab_frames.by_name["chat"].close_overlay()
    await until(lambda: not pane.isVisible())


async def test_hidden_panes_and_widths_are_remembered_for_each_tab(theme, tasks, tmp_path: Path):
    first = make_shell(tmp_path, tasks, theme, second_tab=True)
    first.window.resize(1440, 900)
    show(first)
    first.window.show_tab("chat")
    QTest.keyClick(first.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    splitter = first.window.tab_frames.by_name["chat"].splitter
    splitter.moveSplitter(300, 1)
    first.window.show_tab("notes")
    first.window.close()
    QThreadPool.globalInstance().waitForDone()
    again = make_shell(tmp_path, tasks, theme, second_tab=True)
    again.window.resize(1440, 900)
    show(again)
    again.window.show_tab("chat")
    again.window.show_tab("notes")
    assert not again.chat.zones[-1].inspector_open
    assert again.tabs["notes"].zones[-1].inspector_open
    assert again.window.tab_frames.by_name["chat"].list_zone.width() == 300
    again.window.close()


async def test_the_window_comes_back_where_it_was(theme, tasks, tmp_path: Path):
    first = make_shell(tmp_path, tasks, theme)
    first.window.resize(880, 600)  # the screen of these tests is 800 × 800
    first.window.show()
    first.window.close()
    QThreadPool.globalInstance().waitForDone()
    again = make_shell(tmp_path, tasks, theme)
    assert (again.window.width(), again.window.height()) == (880, 600)


async def test_a_window_opens_with_the_keyboard_in_the_main_field_of_its_tab(theme, tasks, tmp_path: Path):
    opening = make_shell(tmp_path, tasks, theme)
    opening.window.show_tab("chat")
    show(opening)
    assert opening.window.focusWidget() is opening.chat.main_input()
    opening.window.close()


async def test_no_setting_is_written_by_the_thread_of_the_window(harness, monkeypatch):
    """A disk is slow at times, and Windows' virus scanners hold a fresh file."""
    writers: list[int] = []
    save = StoredFile.save

    def noted(self: StoredFile, data: bytes) -> None:
        writers.append(threading.get_ident())
        save(self, data)

    monkeypatch.setattr(StoredFile, "save", noted)
    harness.store.remember(favourite_models=("one",))
    await until(lambda: SettingsStore(harness.store.path).value.favourite_models == ("one",))
    harness.window.show()
    harness.window.close()
    await until(lambda: len(writers) == 2)
    assert threading.get_ident() not in writers


def test_settings_are_never_saved_where_the_window_would_wait():
    """`save` is handed to a thread; the one call of it runs there."""
    app = Path(__file__).resolve().parents[2] / "app"
    saved = re.compile(r"(settings|store|settings_store)\.save\(\)")
    callers = [
        path.name
        for folder in ("bootstrap", "core", "ui")
        for path in (app / folder).rglob("*.py")
        if saved.search(path.read_text(encoding="utf-8"))
    ]
    assert callers == ["settings_saver.py"]


async def test_a_broken_geometry_is_no_harm(theme, tasks, tmp_path: Path):
    harness = make_shell(tmp_path, tasks, theme)
    change_settings(harness.store, window_geometry="not base64 at all")
    again = make_shell(tmp_path, tasks, theme)
    assert again.window.width() >= 880


async def test_the_window_does_not_get_smaller_than_it_works(harness):
    assert (harness.window.minimumWidth(), harness.window.minimumHeight()) == (880, 560)


async def test_f6_goes_round_the_parts_and_remembers_where_it_was(harness):
    harness.chat.input.setFocus()
    visited = []
    for _ in range(5):
        QTest.keyClick(harness.window, Qt.Key.Key_F6)
        focused = harness.window.focusWidget()
        visited.append(
            focused if focused in (harness.chat.detail, harness.chat.filter, harness.chat.input) else type(focused)
        )
    status, rail = visited[1], visited[2]
    assert visited[0] is harness.chat.detail
    assert (status.__name__, rail.__name__) == ("AccountChip", "RailButton")
    assert visited[3:] == [harness.chat.filter, harness.chat.input]


def add_button(pane: QWidget, text: str = "Go") -> QPushButton:
    button = QPushButton(text)
    layout = pane.layout()
    assert layout is not None
    layout.addWidget(button)
    button.show()
    return button


@pytest.mark.parametrize("by", ["mouse", "keys"])
@pytest.mark.parametrize("lost", ["hidden", "disabled", "with its pane disabled"])
@pytest.mark.parametrize("width", [1440, 900])
async def test_the_keyboard_goes_where_one_types_when_what_was_pressed_is_hidden_or_disabled(harness, by, lost, width):
    resize(harness, width)
    show(harness)
    holder = QWidget()
    harness.chat.canvas().layout().addWidget(holder)
    QVBoxLayout(holder)
    button = add_button(holder)

    def pressed() -> None:
        if lost == "hidden":
            button.hide()
        else:
            (button if lost == "disabled" else holder).setEnabled(False)

    button.clicked.connect(pressed)
    QApplication.processEvents()
    if by == "mouse":
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    else:
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is harness.chat.input


async def test_the_keyboard_stays_in_a_side_pane_when_what_was_pressed_there_is_disabled(harness):
    resize(harness, 1440)
    show(harness)
    button = add_button(harness.chat.inspector())
    button.clicked.connect(lambda: button.setEnabled(False))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is harness.chat.detail


async def test_with_no_room_for_the_main_input_the_keyboard_goes_to_the_work_and_ctrl_l_shows_it(harness, monkeypatch):
    monkeypatch.setattr(harness.chat, "main_input", lambda: harness.chat.filter)  # as the forms of Images and Video
    resize(harness, 900)
    show(harness)
    button = add_button(harness.chat.canvas())
    button.clicked.connect(button.hide)
    QApplication.processEvents()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is harness.chat.input
    QTest.keyClick(harness.chat.input, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is harness.chat.filter
    assert harness.chat.filter.isVisible()


def test_a_window_that_is_deleted_takes_the_focus_with_it_in_silence(qapp: QApplication, monkeypatch) -> None:
    raised: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: raised.append(error))
    window = QWidget()
    field = QLineEdit(window)
    FocusCycle(window).watch(qapp)
    window.show()
    window.activateWindow()
    field.setFocus()
    QTest.qWaitForWindowActive(window)
    assert qapp.focusWidget() is field
    shiboken6.delete(window)
    assert (raised, qapp.focusWidget()) == ([], None)


async def test_f6_leads_to_the_news_first_and_to_every_toast_and_banner_on_its_way_round(harness):
    over = harness.window.overlays
    over.banner.show_banner("x", BannerSpec("warn", "Careful.", "", "warning", (ActionSpec("look", "Look"),)))
    older = over.toasts.show_toast("Older", actions=(ActionSpec("undo", "Undo"),))
    newer = over.toasts.show_toast("Newer", actions=(ActionSpec("undo", "Undo"),))
    harness.chat.input.setFocus()
    reached = []
    for _ in range(5):
        QTest.keyClick(harness.window, Qt.Key.Key_F6)
        reached.append(harness.window.focusWidget())
    assert newer.isAncestorOf(reached[0])
    assert older.isAncestorOf(reached[1])
    assert over.banner.isAncestorOf(reached[2])
    assert reached[4] is harness.chat.filter
    QTest.keyClick(harness.window, Qt.Key.Key_F6)
    assert harness.window.focusWidget() is harness.chat.input, "what was seen does not come first again"
    QTest.keyClick(harness.window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert harness.window.focusWidget() is harness.chat.filter


@pytest.mark.parametrize(("key", "expected"), [(Qt.Key.Key_Space, ["undo"]), (Qt.Key.Key_Escape, [])])
async def test_the_keyboard_comes_back_from_a_toast_to_where_it_was(harness, key, expected):
    toast = harness.window.overlays.toasts.show_toast("News", actions=(ActionSpec("undo", "Undo"),))
    pressed: list[str] = []
    toast.action.connect(pressed.append)
    harness.chat.input.setFocus()
    QTest.keyClick(harness.window, Qt.Key.Key_F6)
    QTest.keyClick(harness.window.focusWidget(), key)
    assert pressed == expected
    assert harness.window.focusWidget() is harness.chat.input
    assert harness.window.overlays.toasts.toasts == ()


async def test_the_rail_is_one_tab_stop_and_arrows_move_in_it(theme, tasks, tmp_path: Path):
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    show(harness)
    harness.window.show_tab("chat")
    harness.window.rail.first_target().setFocus()
    stops = [b for b in harness.window.rail._buttons.values() if b.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [button.info.name for button in stops] == ["chat"]
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Down)
    assert harness.window.current_tab == "notes"
    harness.window.close()


async def test_tabs_are_reached_by_number_and_by_neighbourhood(theme, tasks, tmp_path: Path):
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    show(harness)
    harness.window.show_tab("notes")
    QTest.keyClick(harness.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert harness.window.current_tab == "chat"
    QTest.keyClick(harness.window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert harness.window.current_tab == "notes"
    QTest.keyClick(harness.window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert harness.window.current_tab == "chat"
    harness.window.close()


@pytest.mark.parametrize(
    ("key", "expected"),
    [(Qt.Key.Key_K, "palette"), (Qt.Key.Key_L, "input"), (Qt.Key.Key_N, "new"), (Qt.Key.Key_F, "filter")],
)
async def test_keys_of_the_window_work_while_a_message_is_being_typed(harness, key, expected):
    harness.chat.input.setFocus()
    harness.chat.input.setPlainText("Half a sentence")
    QTest.keyClick(harness.chat.input, key, Qt.KeyboardModifier.ControlModifier)
    focused = harness.window.focusWidget()
    seen = {
        harness.chat.input: "new" if "new" in harness.chat.ran else "input",
        harness.chat.filter: "filter",
        harness.window.overlays.palette.field: "palette",
    }
    assert seen[focused] == expected
    assert harness.chat.input.toPlainText() == "Half a sentence"


async def test_esc_stops_before_it_leaves_the_field(harness):
    harness.chat.filter.setFocus()
    harness.chat.stoppable = True
    QTest.keyClick(harness.chat.filter, Qt.Key.Key_Escape)
    assert (harness.chat.stops, harness.chat.filter.hasFocus()) == (1, True)
    harness.chat.stoppable = False
    QTest.keyClick(harness.chat.filter, Qt.Key.Key_Escape)
    assert harness.chat.input.hasFocus()


async def test_text_size_and_theme_have_keys_and_are_remembered(harness):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(harness.window, Qt.Key.Key_Equal, control)
    QTest.keyClick(harness.window, Qt.Key.Key_Plus, control)
    QTest.keyClick(harness.window, Qt.Key.Key_H, control | shift)
    assert (harness.theme.text_percent, harness.theme.mode) == (120, "dark")
    assert (harness.store.value.text_percent, harness.store.value.theme) == (120, "dark")
    QTest.keyClick(harness.window, Qt.Key.Key_0, control)
    assert harness.theme.text_percent == 100


async def test_running_work_shows_on_the_rail_and_in_the_status_bar(harness):
    harness.chat.work = ["An answer in “Release notes”"]
    harness.chat.changed.emit()
    assert harness.window.rail.button("chat").accessibleName() == "Chat, 1 running"
    assert harness.window.status.work.text() == "An answer in “Release notes”"


async def test_closing_with_nothing_running_ends_at_once(harness):
    closed: list[bool] = []
    harness.window.closed.connect(lambda: closed.append(True))
    harness.window.close()
    await until(lambda: closed == [True])


async def test_closing_while_work_runs_asks_first(harness, tasks):
    closed: list[bool] = []
    harness.window.closed.connect(lambda: closed.append(True))
    harness.chat.work = ["An answer in “Release notes”"]
    event = QCloseEvent()
    harness.window.closeEvent(event)
    assert not event.isAccepted()
    await wait_for_dialog(harness.window)
    dialog = open_dialog(harness.window)
    press(dialog, "Keep working")
    await tasks.idle()
    assert harness.window.isVisible()
    harness.window.close()
    await wait_for_dialog(harness.window)
    press(open_dialog(harness.window), "Quit")
    await until(lambda: closed == [True])


async def test_a_hidden_tab_is_not_built(theme, tasks, tmp_path: Path):
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    harness.window.show_tab("chat")
    assert list(harness.tabs) == ["chat"]


async def test_menus_list_every_action_with_its_key(harness):
    menu = harness.window.overlays.main_menu.popup(harness.window.pos())
    listed = {item.text() for part in menu.actions() if part.menu() for item in part.menu().actions()}
    listed.discard("")
    assert listed == {row.text for row in harness.window.registry.rows()}
    menu.close()


async def test_the_account_menu_lists_accounts_and_tells_the_choice(harness):
    from app.ui.shell.overlays import AccountChoice

    harness.window.overlays.accounts = lambda: (
        AccountChoice("a", "Main account", "api_key", True),
        AccountChoice("b", "Sandbox", "sandbox", False),
    )
    menu = harness.window.overlays.open_account_menu()
    items = {item.text(): item for item in menu.actions()}
    assert items["Main account"].isChecked()
    chosen: list[str] = []
    harness.window.account_chosen.connect(chosen.append)
    items["Sandbox"].trigger()
    assert chosen == ["b"]
    menu.close()


async def test_a_held_failure_budget_is_said_in_a_banner(harness):
    from app.service.retry import BudgetState

    harness.current_account.set_budget(BudgetState(failures=18, holding=True, resumes_in_s=18.0))
    banner = harness.window.overlays.banner
    assert banner.isVisible()
    assert banner.banner.accessibleName().startswith("Paused for 0:18.")
    harness.current_account.set_budget(BudgetState(failures=3, holding=False, resumes_in_s=0.0))
    assert not banner.isVisible()


async def test_the_sheet_of_shortcuts_is_searched_by_action_and_key(harness):
    harness.window.open_shortcuts()
    sheet = harness.window.overlays._shortcuts
    rows = sheet.sheet_pane
    assert harness.window.focusWidget() is sheet.search
    assert "Full screen" in words(sheet)
    height = sheet.panel.height()
    QTest.keyClicks(sheet.search, "ctrl+k")
    QTest.keyClick(sheet.search, Qt.Key.Key_Return)
    assert "Commands…" in words(rows)
    assert "Full screen" not in words(rows)
    assert sheet.panel.height() == height
    QTest.keyClick(sheet.search, Qt.Key.Key_Escape)
    assert "Full screen" in words(rows)
    QTest.keyClick(sheet.search, Qt.Key.Key_Escape)
    assert not sheet.isVisible()


async def test_the_sheet_of_shortcuts_begins_with_the_open_tab_and_rests_while_hidden(harness):
    harness.window.open_shortcuts()
    sheet = harness.window.overlays._shortcuts
    title = harness.window.current_title()
    groups = [group for part in sheet.columns() for group, row in part if row is None]
    assert title and groups[0] == title
    made = sheet.sheet_pane.widget()
    sheet.close_layer()
    harness.window.theme.set_text_percent(110)
    assert sheet.sheet_pane.widget() is made
    harness.window.open_shortcuts()
    assert sheet.sheet_pane.widget() is not made


async def test_everything_in_the_window_has_a_name(harness):
    harness.window.open_shortcuts()
    harness.window.overlays.close_layer()
    harness.window.open_help()
    harness.window.overlays.close_layer()
    harness.window.open_palette()
    assert nameless(harness.window) == []


def nameless(root: QWidget) -> list[str]:
    """Everything the keyboard reaches that a screen reader could not name."""
    found = []
    for widget in root.findChildren(QWidget):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or isinstance(widget, QSplitterHandle):
            continue
        if isinstance(widget, QAbstractScrollArea) and widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is not None and not interface.text(QAccessible.Text.Name).strip():
            parent = widget.parentWidget()
            found.append(f"{type(widget).__name__} in {type(parent).__name__}")
    return found


async def wait_for_dialog(window: QWidget) -> None:
    await until(lambda: any(dialog.isVisible() for dialog in window.findChildren(Dialog)))


def open_dialog(window: QWidget) -> Dialog:
    return next(dialog for dialog in window.findChildren(Dialog) if dialog.isVisible())


def press(dialog: Dialog, text: str) -> None:
    next(button for button in dialog.findChildren(QPushButton) if button.text() == text).click()


async def test_a_text_field_keeps_ctrl_z_and_elsewhere_it_undoes_the_last_thing_of_the_tab(tmp_path, tasks, theme):
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    harness.window.show_tab("notes")
    harness.window.show_tab("chat")
    show(harness)
    undone: list[str] = []

    async def undo(ids: tuple[str, ...]) -> None:
        undone.extend(ids)

    for tab in ("chat", "notes"):
        command = UndoCommand(tab, f"“{tab}” moved to trash", undo, (f"row of {tab}",))
        harness.window.undo_stack.push(command)
    harness.chat.input.setFocus()
    QTest.keyClicks(harness.chat.input, "typed")
    QTest.keyClick(harness.chat.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert harness.chat.input.toPlainText() == "" and undone == []
    offered = [each for each in harness.window.overlays.candidates("undo") if each.title.startswith("Undo: ")]
    assert [each.title for each in offered] == ["Undo: “chat” moved to trash"]
    harness.window.status.chip.setFocus()
    QTest.keyClick(harness.window.status.chip, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await tasks.idle()
    assert undone == ["row of chat"]
    assert [toast.accessibleName() for toast in harness.window.overlays.toasts.toasts] == ["“notes” moved to trash."]
    (offered,) = [each for each in harness.window.overlays.candidates("undo") if each.title.startswith("Undo: ")]
    assert offered.hint == "Notes"
    offered.run()
    await tasks.idle()
    assert undone == ["row of chat", "row of notes"] and harness.window.current_tab == "notes"
    assert harness.window.overlays.toasts.toasts == ()
    harness.window.close()


async def test_each_switch_of_the_theme_says_which_it_is_now(harness):
    said = []
    for _ in range(3):
        assert harness.window.registry.run("window.theme")
        (toast,) = harness.window.overlays.toasts.toasts
        said.append(toast.accessibleName())
    assert sorted(said) == ["Theme: Dark.", "Theme: Light.", "Theme: System."]


async def test_a_pane_that_slides_in_with_the_main_field_gives_it_the_keyboard(harness):
    """Not the first button above it: Enter on that may empty the form."""
    frame = harness.window.tab_frames.by_name["chat"]
    overlay, pane = frame.overlay, QWidget()
    column = QVBoxLayout(pane)
    clear, prompt = QPushButton("Clear"), QLineEdit()
    column.addWidget(clear)
    column.addWidget(prompt)
    overlay.open_pane(pane, 300, from_left=True, main=prompt)
    assert harness.window.focusWidget() is prompt
    overlay.drop_pane()
    overlay.open_pane(pane, 300, from_left=True)
    assert harness.window.focusWidget() is clear
    overlay.drop_pane()
