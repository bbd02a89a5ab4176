"""What a person does in the Console besides sending, by keyboard alone: networks, help, finding, menus, dialogs."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.core.tasks import TaskScope
from app.ui.crypto_rpc.page import MethodHelp
from app.ui.crypto_rpc.picker_rows import PickRow
from app.ui.crypto_rpc.state import CapsView
from app.ui.kit.lists.grouped_list import Heading
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.ui.test_crypto_rpc_window import shown

DIALOGS = (
    "Call a contract…",
    "Search logs over many blocks…",
    "Balances of many addresses…",
    "Watch chain heads…",
    "Repeat request…",
    "Save to a collection…",
    "Variables…",
)
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        yield window


async def test_networks_used_lately_stand_before_the_families_the_last_one_first(window: ConsoleHarness) -> None:
    for slug in ("polygon-mainnet", "base-mainnet"):
        window.presenter.use_network(slug)
        await window.send()
    window.key("Ctrl+Shift+L")
    rows = shown(window.networks)
    assert rows[0] == Heading("Recently used")
    lately = [row for row in rows[1:3] if isinstance(row, PickRow)]
    assert [row.key for row in lately] == ["base-mainnet", "polygon-mainnet"]
    assert lately[0].current
    assert lately[0].columns == ("base-mainnet", "8453")
    assert "in use" in lately[0].spoken
    assert rows[3] == Heading("EVM networks")
    zksync = next(row for row in rows if isinstance(row, PickRow) and row.key == "zksync-mainnet")
    assert zksync.badge == "30"  # more than usual is marked
    window.networks.close()


async def test_favourites_and_methods_used_before_are_there_after_a_restart(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+L")
    QTest.keyClicks(window.networks.search, "linea mainnet")
    QTest.keyClick(window.networks.search, Qt.Key.Key_D, CONTROL)
    window.networks.close()
    window.key("Ctrl+Shift+M")
    QTest.keyClicks(window.methods.search, "eth_gasPrice")
    QTest.keyClick(window.methods.search, Qt.Key.Key_Return)
    await window.settle()
    again = await window.restart()
    assert again.networks()[0].slug == "linea-mainnet"
    assert again.networks()[0].is_favorite
    assert again.keeper.used == ("eth_gasPrice",)
    window.key("Ctrl+Shift+M")
    QTest.keyClick(window.methods.pills["Used before"], Qt.Key.Key_Space)
    assert [row.key for row in shown(window.methods) if isinstance(row, PickRow)] == ["eth_gasPrice"]
    window.methods.close()


async def test_without_the_service_the_saved_list_of_networks_serves(window: ConsoleHarness) -> None:
    slugs = {row.slug for row in window.presenter.networks()}
    window.current_account.use(window.current_account.account, None)
    again = await window.restart()
    assert {row.slug for row in again.networks()} == slugs
    assert again.network_list.age_words() == "Saved list"
    assert not again.view().can_send


async def test_a_methods_name_is_completed_while_it_is_typed(window: ConsoleHarness) -> None:
    field = window.request.method
    field.setFocus()
    field.clear()
    QTest.keyClicks(field, "getbal")
    completer = field.completer()
    model = completer.completionModel()
    offered = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert "eth_getBalance" in offered
    assert all("getbal" in name.lower() for name in offered)
    popup = completer.popup()
    assert popup is not None
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    QTest.keyClick(field, Qt.Key.Key_Tab)
    assert window.calls[0].method == "eth_getBalance"


async def test_help_of_a_method_is_one_key_away_in_the_picker_and_beside_the_call(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+M")
    QTest.keyClicks(window.methods.search, "eth_getLogs")
    QTest.keyClick(window.methods.search, Qt.Key.Key_F1)
    from_picker = next(each for each in window.main.findChildren(MethodHelp) if each.isVisible())
    assert "eth_getLogs" in from_picker.accessibleName()
    from_picker.close()
    QTest.keyClick(window.request.help, Qt.Key.Key_Space)
    beside = next(each for each in window.main.findChildren(MethodHelp) if each.isVisible())
    assert "eth_blockNumber" in beside.accessibleName()
    beside.close()


async def test_r_rpc_13_every_refused_method_is_named_at_once_with_what_to_use_instead(window: ConsoleHarness) -> None:
    window.type_json([call("eth_newFilter", {}), call("eth_sign"), call("eth_chainId"), call("eth_subscribe")])
    words = window.request.fault.text()
    assert all(name in words for name in ("eth_newFilter", "eth_sign", "eth_subscribe"))
    assert "Use eth_getLogs" in words
    await window.send()
    assert window.entries == []
    assert window.request.key_fault.isHidden()  # the key has no part in it


async def test_finding_says_how_many_places_there_are_and_where_one_is(window: ConsoleHarness) -> None:
    window.type_json(call("eth_getBlockByNumber", "latest", False))
    await window.send()
    finder, places = window.response.finder, window.response.places
    finder.setFocus()
    QTest.keyClicks(finder, "hash")
    QTest.keyClick(finder, Qt.Key.Key_Return)
    await window.settle()
    here, many = re.fullmatch(r"(\d+) of (\d+)", places.text()).groups()  # type: ignore[union-attr]  # it must match
    assert int(many) > 1
    window.key("Ctrl+G")
    assert places.text() == f"{int(here) % int(many) + 1} of {many}"
    finder.selectAll()
    QTest.keyClicks(finder, "nowhere at all")
    QTest.keyClick(finder, Qt.Key.Key_Return)
    await window.settle()
    assert places.text() == "Nothing found"


async def test_a_rows_menu_copies_and_its_key_for_the_path_comes_before_the_tabs(window: ConsoleHarness) -> None:
    window.type_json(call("eth_getBlockByNumber", "latest", False))
    await window.send()
    taken: list[str] = []
    shortcut = QShortcut(QKeySequence("Ctrl+Shift+C"), window.window)
    shortcut.activated.connect(lambda: taken.append("the whole answer"))
    tree = window.response.tree
    tree.reveal((0, "parentHash"))
    tree.setFocus()
    both = CONTROL | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(tree, Qt.Key.Key_C, both)
    assert QGuiApplication.clipboard().text() == "parentHash"
    assert taken == []
    QTest.keyClick(window.response.finder, Qt.Key.Key_C, both)
    assert taken == ["the whole answer"]
    where = tree.visualRect(tree.currentIndex()).center()
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, where, tree.mapToGlobal(where))
    QApplication.sendEvent(tree.viewport(), asked)
    menu = next(each for each in tree.findChildren(Menu) if each.isVisible())
    assert [action.text() for action in menu.actions()] == [
        "Copy value",
        "Copy path",
        "Copy request as curl",
    ]
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(menu, key)
    assert "eth_getBlockByNumber" in QGuiApplication.clipboard().text()


async def test_r_rpc_33_the_time_that_a_key_is_left_runs_down(window: ConsoleHarness) -> None:
    window.presenter.set_key("my-key")  # a generated key is replaced once it was answered
    await window.send()
    assert window.request.key_note.text() in ("Repeats are free for 24 h", "Repeats are free for 23 h")
    now = window.presenter._now
    window.presenter._now = lambda: now() + timedelta(hours=5)
    assert window.presenter._minute.isActive()
    window.presenter._minute.timeout.emit()
    await window.settle()
    assert window.request.key_note.text() in ("Repeats are free for 19 h", "Repeats are free for 18 h")


async def test_the_gauge_says_in_another_colour_that_little_is_left(window: ConsoleHarness) -> None:
    window.list_foot.show_caps(CapsView(requests=95, credits=9_400_000))
    assert window.credits_text() == "9.4M / 10M"
    assert window.list_foot.meter.property("tone") == "warn" or window.list_foot.meter._tone == "warn"


async def test_in_every_dialog_each_widget_has_a_name_and_escape_leaves(window: ConsoleHarness) -> None:
    for title in DIALOGS:
        window.run(title)
        dialog = await window.dialog()
        assert _nameless(dialog) == [], title
        assert dialog.isAncestorOf(dialog.focusWidget())
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await window.settle()
        assert not window.dialogs()
    assert window.entries == []


def _nameless(dialog: QWidget) -> list[str]:
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QAbstractItemView, QComboBox)
    return [
        type(each).__name__
        for each in dialog.findChildren(QWidget)
        if isinstance(each, kinds)
        and not isinstance(each.parentWidget(), QComboBox)
        and not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]


async def test_a_longer_piece_of_work_shows_its_price_beside_the_button_that_begins_it(window: ConsoleHarness) -> None:
    window.resize(1024, 612)
    window.run("Watch chain heads…")
    dialog = await window.dialog()
    begin = next(each for each in dialog.findChildren(QAbstractButton) if each.text() == "Watch")
    price = dialog.price  # type: ignore[attr-defined]  # a ToolDialog
    assert price.text().startswith("At most 20 requests, 400 credits")
    assert price.parentWidget().parentWidget() is begin.parentWidget()  # in the footer, which does not scroll
    press(dialog, "Cancel")
    await window.settle()
