"""The window: tabs, panes by effective width, keys, focus, the place it remembers, and how it closes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QCloseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QPushButton, QSplitterHandle, QWidget

from app.core.problems import ActionSpec
from app.core.undo import UndoCommand
from app.ui.kit.tab import Zones
from app.ui.kit.widgets.banner import BannerSpec
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.shell import ShellHarness, make_shell
from tests.kit.waiting import until


def resize(desk: ShellHarness, width: int, height: int = 800) -> Zones:
    desk.window.resize(width, height)
    QApplication.processEvents()
    return desk.chat.zones[-1]


def show(desk: ShellHarness) -> None:
    """Keys go to the active window only."""
    desk.window.show()
    desk.window.activateWindow()
    QApplication.processEvents()


@pytest.mark.parametrize(
    ("width", "list_over", "inspector_over"),
    [(1240, False, False), (1239, False, True), (1000, False, True), (999, True, True)],
)
async def test_panes_leave_their_place_by_the_effective_width(desk, width, list_over, inspector_over):
    zones = resize(desk, width)
    assert (zones.list_overlay, zones.inspector_overlay) == (list_over, inspector_over)


async def test_large_text_leaves_as_little_room_as_a_narrow_window(desk):
    desk.theme.set_text_percent(150)
    assert resize(desk, 1440).list_overlay  # 1440 / 1.5 = 960


async def test_panes_keep_their_width_and_the_canvas_takes_the_rest(desk):
    frame = desk.window.tab_frames.by_name["chat"]
    assert (frame.list_zone.width(), frame.inspector_zone.width()) == (264, 312)
    resize(desk, 1800)
    assert (frame.list_zone.width(), frame.inspector_zone.width()) == (320, 360)
    assert frame.canvas_zone.width() == 1800 - desk.window.rail.width() - 320 - 360 - 2


async def test_an_overlay_takes_the_focus_and_esc_gives_it_back(desk):
    resize(desk, 900)
    desk.chat.input.setFocus()
    QTest.keyClick(desk.window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert desk.chat.zones[-1].list_open
    assert desk.window.focusWidget() is desk.chat.filter
    QTest.keyClick(desk.chat.filter, Qt.Key.Key_Escape)
    assert not desk.chat.zones[-1].list_open
    assert desk.window.focusWidget() is desk.chat.input


async def test_over_the_canvas_a_pane_grows_with_the_text(desk):
    resize(desk, 1440)
    frame = desk.window.tab_frames.by_name["chat"]
    beside = frame.list_zone.width()
    desk.theme.set_text_percent(200)
    desk.window.toggle_list()
    assert frame.list_zone.width() > 1.5 * beside, "not held to the width that it had beside the canvas"
    frame.close_overlay()


async def test_an_overlay_goes_when_the_focus_goes_to_what_it_covers(desk):
    resize(desk, 900)
    desk.window.toggle_list()
    overlay = desk.window.tab_frames.by_name["chat"].overlay
    assert overlay.isVisible()
    desk.window.rail.logo.setFocus()
    assert overlay.isVisible(), "the rail is not covered"
    desk.chat.input.setFocus()
    assert not overlay.isVisible()
    assert desk.window.focusWidget() is desk.chat.input


async def test_a_press_beside_an_overlay_closes_it(desk):
    resize(desk, 900)
    desk.window.toggle_inspector()
    overlay = desk.window.tab_frames.by_name["chat"].overlay
    assert overlay.isVisible()
    QTest.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=overlay.rect().topLeft())
    assert not overlay.isVisible()


async def test_an_open_overlay_takes_its_place_when_the_window_grows(desk):
    resize(desk, 900)
    desk.window.toggle_list()
    zones = resize(desk, 1440)
    assert zones == Zones()
    assert not desk.window.tab_frames.by_name["chat"].overlay.isVisible()
    assert desk.chat.filter.isVisible()


async def test_motion_slides_and_reduced_motion_does_not(desk):
    resize(desk, 900)
    desk.theme.set_reduced_motion(False)
    desk.window.toggle_list()
    pane = desk.window.tab_frames.by_name["chat"].list_zone
    assert pane.x() < 0
    await until(lambda: pane.x() == 0)
    desk.window.tab_frames.by_name["chat"].close_overlay()
    await until(lambda: not pane.isVisible())


async def test_hidden_panes_and_widths_are_remembered_for_each_tab(theme, tasks, tmp_path: Path):
    first = make_shell(tmp_path, tasks, theme, second_tab=True)
    first.window.resize(1440, 900)
    show(first)
    first.window.show_tab("chat")
    QTest.keyClick(first.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    splitter = first.window.tab_frames.by_name["chat"]._splitter
    splitter.moveSplitter(300, 1)
    first.window.show_tab("notes")
    first.window.close()
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
    again = make_shell(tmp_path, tasks, theme)
    assert (again.window.width(), again.window.height()) == (880, 600)


async def test_a_broken_geometry_is_no_harm(theme, tasks, tmp_path: Path):
    desk = make_shell(tmp_path, tasks, theme)
    desk.store.change(window_geometry="not base64 at all")
    again = make_shell(tmp_path, tasks, theme)
    assert again.window.width() >= 880


async def test_the_window_does_not_get_smaller_than_it_works(desk):
    assert (desk.window.minimumWidth(), desk.window.minimumHeight()) == (880, 560)


async def test_f6_goes_round_the_parts_and_remembers_where_it_was(desk):
    desk.chat.input.setFocus()
    visited = []
    for _ in range(5):
        QTest.keyClick(desk.window, Qt.Key.Key_F6)
        focused = desk.window.focusWidget()
        visited.append(focused if focused in (desk.chat.detail, desk.chat.filter, desk.chat.input) else type(focused))
    status, rail = visited[1], visited[2]
    assert visited[0] is desk.chat.detail
    assert (status.__name__, rail.__name__) == ("AccountChip", "RailButton")
    assert visited[3:] == [desk.chat.filter, desk.chat.input]


async def test_f6_leads_to_the_news_first_and_to_every_toast_and_banner_on_its_way_round(desk):
    over = desk.window.overlays
    over.banner.show_banner("x", BannerSpec("warn", "Careful.", "", "warning", (ActionSpec("look", "Look"),)))
    older = over.toasts.show_toast("Older", actions=(ActionSpec("undo", "Undo"),))
    newer = over.toasts.show_toast("Newer", actions=(ActionSpec("undo", "Undo"),))
    desk.chat.input.setFocus()
    reached = []
    for _ in range(5):
        QTest.keyClick(desk.window, Qt.Key.Key_F6)
        reached.append(desk.window.focusWidget())
    assert newer.isAncestorOf(reached[0])
    assert older.isAncestorOf(reached[1])
    assert over.banner.isAncestorOf(reached[2])
    assert reached[4] is desk.chat.filter
    QTest.keyClick(desk.window, Qt.Key.Key_F6)
    assert desk.window.focusWidget() is desk.chat.input, "what was seen does not come first again"
    QTest.keyClick(desk.window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert desk.window.focusWidget() is desk.chat.filter


@pytest.mark.parametrize(("key", "expected"), [(Qt.Key.Key_Space, ["undo"]), (Qt.Key.Key_Escape, [])])
async def test_the_keyboard_comes_back_from_a_toast_to_where_it_was(desk, key, expected):
    toast = desk.window.overlays.toasts.show_toast("News", actions=(ActionSpec("undo", "Undo"),))
    pressed: list[str] = []
    toast.action.connect(pressed.append)
    desk.chat.input.setFocus()
    QTest.keyClick(desk.window, Qt.Key.Key_F6)
    QTest.keyClick(desk.window.focusWidget(), key)
    assert pressed == expected
    assert desk.window.focusWidget() is desk.chat.input
    assert desk.window.overlays.toasts.toasts == ()


async def test_the_rail_is_one_tab_stop_and_arrows_move_in_it(theme, tasks, tmp_path: Path):
    desk = make_shell(tmp_path, tasks, theme, second_tab=True)
    show(desk)
    desk.window.show_tab("chat")
    desk.window.rail.first_target().setFocus()
    stops = [b for b in desk.window.rail._buttons.values() if b.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [button.info.name for button in stops] == ["chat"]
    QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Down)
    assert desk.window.current_tab == "notes"
    desk.window.close()


async def test_tabs_are_reached_by_number_and_by_neighbourhood(theme, tasks, tmp_path: Path):
    desk = make_shell(tmp_path, tasks, theme, second_tab=True)
    show(desk)
    desk.window.show_tab("notes")
    QTest.keyClick(desk.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.current_tab == "chat"
    QTest.keyClick(desk.window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.current_tab == "notes"
    QTest.keyClick(desk.window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.current_tab == "chat"
    desk.window.close()


@pytest.mark.parametrize(
    ("key", "expected"),
    [(Qt.Key.Key_K, "palette"), (Qt.Key.Key_L, "input"), (Qt.Key.Key_N, "new"), (Qt.Key.Key_F, "filter")],
)
async def test_keys_of_the_window_work_while_a_message_is_being_typed(desk, key, expected):
    desk.chat.input.setFocus()
    desk.chat.input.setPlainText("Half a sentence")
    QTest.keyClick(desk.chat.input, key, Qt.KeyboardModifier.ControlModifier)
    focused = desk.window.focusWidget()
    seen = {
        desk.chat.input: "new" if "new" in desk.chat.ran else "input",
        desk.chat.filter: "filter",
        desk.window.overlays.palette.field: "palette",
    }
    assert seen[focused] == expected
    assert desk.chat.input.toPlainText() == "Half a sentence"


async def test_esc_stops_before_it_leaves_the_field(desk):
    desk.chat.input.setFocus()
    desk.chat.stoppable = True
    QTest.keyClick(desk.chat.input, Qt.Key.Key_Escape)
    assert (desk.chat.stops, desk.chat.input.hasFocus()) == (1, True)
    desk.chat.stoppable = False
    QTest.keyClick(desk.chat.input, Qt.Key.Key_Escape)
    assert not desk.chat.input.hasFocus()


async def test_text_size_and_theme_have_keys_and_are_remembered(desk):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(desk.window, Qt.Key.Key_Equal, control)
    QTest.keyClick(desk.window, Qt.Key.Key_Plus, control)
    QTest.keyClick(desk.window, Qt.Key.Key_H, control | shift)
    assert (desk.theme.text_percent, desk.theme.mode) == (120, "dark")
    assert (desk.store.value.text_percent, desk.store.value.theme) == (120, "dark")
    QTest.keyClick(desk.window, Qt.Key.Key_0, control)
    assert desk.theme.text_percent == 100


async def test_running_work_shows_on_the_rail_and_in_the_status_bar(desk):
    desk.chat.work = ["An answer in “Release notes”"]
    desk.chat.changed.emit()
    assert desk.window.rail.button("chat").accessibleName() == "Chat, 1 running"
    assert desk.window.status.work.text() == "An answer in “Release notes”"


async def test_closing_with_nothing_running_ends_at_once(desk):
    closed: list[bool] = []
    desk.window.closed.connect(lambda: closed.append(True))
    desk.window.close()
    await until(lambda: closed == [True])


async def test_closing_while_work_runs_asks_first(desk, tasks):
    closed: list[bool] = []
    desk.window.closed.connect(lambda: closed.append(True))
    desk.chat.work = ["An answer in “Release notes”"]
    event = QCloseEvent()
    desk.window.closeEvent(event)
    assert not event.isAccepted()
    await wait_for_dialog(desk.window)
    dialog = open_dialog(desk.window)
    press(dialog, "Keep working")
    await tasks.idle()
    assert desk.window.isVisible()
    desk.window.close()
    await wait_for_dialog(desk.window)
    press(open_dialog(desk.window), "Quit")
    await until(lambda: closed == [True])


async def test_a_hidden_tab_is_not_built(theme, tasks, tmp_path: Path):
    desk = make_shell(tmp_path, tasks, theme, second_tab=True)
    desk.window.show_tab("chat")
    assert list(desk.tabs) == ["chat"]


async def test_menus_list_every_action_with_its_key(desk):
    menu = desk.window.overlays.main_menu.popup(desk.window.pos())
    listed = {item.text() for part in menu.actions() if part.menu() for item in part.menu().actions()}
    listed.discard("")
    assert listed == {row.text for row in desk.window.registry.rows()}
    menu.close()


async def test_the_account_menu_lists_accounts_and_tells_the_choice(desk):
    from app.ui.shell.overlays import AccountChoice

    desk.window.overlays.accounts = lambda: (
        AccountChoice("a", "Main account", "api_key", True),
        AccountChoice("b", "Sandbox", "sandbox", False),
    )
    menu = desk.window.overlays.open_account_menu()
    items = {item.text(): item for item in menu.actions()}
    assert items["Main account"].isChecked()
    chosen: list[str] = []
    desk.window.account_chosen.connect(chosen.append)
    items["Sandbox"].trigger()
    assert chosen == ["b"]
    menu.close()


async def test_a_held_failure_budget_is_said_in_a_banner(desk):
    from app.service.retry import BudgetState

    desk.current_account.set_budget(BudgetState(failures=18, holding=True, resumes_in_s=18.0))
    banner = desk.window.overlays.banner
    assert banner.isVisible()
    assert banner.banner.accessibleName().startswith("Paused for 0:18.")
    desk.current_account.set_budget(BudgetState(failures=3, holding=False, resumes_in_s=0.0))
    assert not banner.isVisible()


async def test_everything_in_the_window_has_a_name(desk):
    desk.window.open_shortcuts()
    desk.window.overlays.close_layer()
    desk.window.open_help()
    desk.window.overlays.close_layer()
    desk.window.open_palette()
    assert nameless(desk.window) == []


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
    desk = make_shell(tmp_path, tasks, theme, second_tab=True)
    desk.window.show_tab("notes")
    desk.window.show_tab("chat")
    show(desk)
    undone: list[str] = []
    for tab in ("chat", "notes"):
        command = UndoCommand(tab, f"“{tab}” moved to trash", lambda ids: undone.extend(ids), (f"row of {tab}",))
        desk.window.undo_stack.push(command)
    desk.chat.input.setFocus()
    QTest.keyClicks(desk.chat.input, "typed")
    QTest.keyClick(desk.chat.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert desk.chat.input.toPlainText() == "" and undone == []
    offered = [each for each in desk.window.overlays.candidates("undo") if each.title.startswith("Undo: ")]
    assert [each.title for each in offered] == ["Undo: “chat” moved to trash"]
    desk.window.status.chip.setFocus()
    QTest.keyClick(desk.window.status.chip, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert undone == ["row of chat"]
    assert [toast.accessibleName() for toast in desk.window.overlays.toasts.toasts] == ["“notes” moved to trash."]
    (offered,) = [each for each in desk.window.overlays.candidates("undo") if each.title.startswith("Undo: ")]
    assert offered.hint == "Notes"
    offered.run()
    assert undone == ["row of chat", "row of notes"] and desk.window.current_tab == "notes"
    assert desk.window.overlays.toasts.toasts == ()
    desk.window.close()
