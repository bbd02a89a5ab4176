"""The Console by keyboard alone: choosing, writing, sending, reading, against the Sandbox's real chains."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.core.tasks import TaskScope
from app.ui.crypto_rpc.batch_list import column_rects
from app.ui.crypto_rpc.picker import Picker
from app.ui.crypto_rpc.picker_rows import PickRow
from app.ui.kit.key_text import key_text
from app.ui.kit.lists.grouped_list import Heading
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.waiting import until


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        yield window


def shown(picker: Picker) -> list[object]:
    rows = picker.rows
    return [rows.row(rows.index(place, 0)) for place in range(rows.rowCount())]


async def test_a_network_is_found_by_its_chain_id_and_chosen_with_enter(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+L")
    QTest.keyClicks(window.networks.search, "8453")
    assert "2 of " in window.networks.count.text()  # and its test network
    QTest.keyClick(window.networks.search, Qt.Key.Key_Return)
    assert window.draft.network == "base-mainnet"
    assert window.main.network.text().startswith("Base mainnet")
    assert not window.networks.isVisible()


async def test_the_pickers_say_the_row_under_the_arrows_and_close_on_escape(
    window: ConsoleHarness, heard: list[str]
) -> None:
    for keys, picker in (("Ctrl+Shift+L", window.networks), ("Ctrl+Shift+M", window.methods)):
        window.key(keys)
        QTest.keyClick(picker.search, Qt.Key.Key_Down)
        place = picker.view.currentIndex()
        row = picker.rows.row(place)
        assert isinstance(row, PickRow)
        await until(lambda row=row: heard and heard[-1].startswith(f"{row.spoken}, "))
        assert heard[-1].endswith(f" of {sum(isinstance(each, PickRow) and each.usable for each in shown(picker))}")
        QTest.keyClick(picker.search, Qt.Key.Key_Escape)
        assert not picker.isVisible()


async def test_a_favourite_network_stands_first(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+L")
    QTest.keyClicks(window.networks.search, "polygon mainnet")
    QTest.keyClick(window.networks.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    window.networks.search.clear()
    rows = shown(window.networks)
    assert rows[0] == Heading("Favorites")
    assert isinstance(rows[1], PickRow)
    assert rows[1].key == "polygon-mainnet"
    assert "from the service" in window.networks.note.text()


async def test_only_test_networks_are_shown_while_their_pill_is_down(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+L")
    QTest.keyClick(window.networks.pills["Test networks"], Qt.Key.Key_Space)
    keys = [row.key for row in shown(window.networks) if isinstance(row, PickRow)]
    assert keys
    assert all("mainnet" not in key for key in keys)
    window.networks.close()


async def test_r_rpc_20_a_refused_method_is_listed_with_its_reason_and_cannot_be_chosen(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+M")
    QTest.keyClicks(window.methods.search, "getFilterLogs")
    refused = next(row for row in shown(window.methods) if isinstance(row, PickRow) and not row.usable)
    assert "Use eth_getLogs" in refused.help
    before = window.calls
    QTest.keyClick(window.methods.search, Qt.Key.Key_Escape)
    assert window.calls == before


async def test_what_came_back_and_what_it_cost_is_said(window: ConsoleHarness, heard: list[str]) -> None:
    window.type_json([call("eth_chainId"), call("eth_gasPrice")])
    await window.send()
    assert heard.count("2 results, 40 credits") == 1


async def test_methods_are_added_and_one_is_sent_alone(window: ConsoleHarness) -> None:
    for name in ("eth_gasPrice", "eth_chainId"):
        window.key("Ctrl+Shift+M")
        QTest.keyClicks(window.methods.search, name)
        QTest.keyClick(window.methods.search, Qt.Key.Key_Return)
    assert [row.method for row in window.calls] == ["eth_gasPrice", "eth_chainId"]
    assert window.request.total.text() == "Total 40"
    window.key("Ctrl+Shift+M")
    QTest.keyClicks(window.methods.search, "eth_blockNumber")
    QTest.keyClick(window.methods.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_blockNumber"]
    assert len(window.calls) == 3


async def test_several_methods_are_added_while_the_picker_stays(window: ConsoleHarness, heard: list[str]) -> None:
    window.key("Ctrl+Shift+M")
    for name in ("eth_gasPrice", "eth_chainId"):
        QTest.keyClicks(window.methods.search, name)
        QTest.keyClick(window.methods.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert [row.method for row in window.calls] == ["eth_gasPrice", "eth_chainId"]
    assert [words for words in heard if words.startswith("Call ")] == ["Call 1: eth_gasPrice", "Call 2: eth_chainId"]
    assert window.methods.isVisible() and window.methods.search.hasFocus()
    QTest.keyClick(window.methods.search, Qt.Key.Key_Return)
    assert window.methods.isHidden() and len(window.calls) == 3
    window.key("Ctrl+Shift+L")
    QTest.keyClick(window.networks.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert window.networks.isHidden(), "there is one network"


async def test_the_button_that_sends_becomes_stop_and_then_shows_the_key_that_stops(window: ConsoleHarness) -> None:
    view = window.presenter.view()
    shown = []
    for sending in (False, True, False):
        window.main.show_draft(replace(view, sending=sending), "")
        empty = window.main.response.empty
        shown.append((window.main.send._hint, empty.title.text(), empty.hint.isVisibleTo(empty)))
    at_rest = (key_text("Ctrl+Enter"), "Nothing sent yet", True)
    assert shown == [at_rest, (key_text("Esc"), "Waiting for the response", False), at_rest]


async def test_the_whole_idempotency_key_is_in_sight(window: ConsoleHarness, theme: Theme) -> None:
    key = window.request.key
    room = key.width() - key.textMargins().left() - key.textMargins().right() - 2 * theme.px(12)
    assert key.fontMetrics().horizontalAdvance(key.text()) <= room


async def test_a_method_nobody_listed_is_added_after_a_warning(window: ConsoleHarness) -> None:
    window.key("Ctrl+Shift+M")
    QTest.keyClicks(window.methods.search, "acme_weather")
    assert "Press Enter to add it anyway" in window.methods.nothing.text()
    QTest.keyClick(window.methods.search, Qt.Key.Key_Return)
    assert "acme_weather is not in the service’s list" in window.request.fault.text()
    assert window.can_send()


async def test_rows_and_json_are_always_in_step(window: ConsoleHarness) -> None:
    window.type_json([call("eth_getBalance", "0x" + "11" * 20, "latest"), call("eth_chainId", id=7)])
    window.key("Ctrl+Shift+J")
    assert [row.method for row in window.calls] == ["eth_getBalance", "eth_chainId"]
    assert window.request.list.model().rowCount() == 2
    window.request.params.setFocus()
    window.request.params.selectAll()
    QTest.keyClicks(window.request.params, '["0x22", "earliest"]')
    window.key("Ctrl+Shift+J")
    written = json.loads(window.request.text.toPlainText())
    assert [item["id"] for item in written] == [1, 7]
    assert written[0]["params"] == ["0x22", "earliest"]


async def test_a_fault_names_its_line_and_nothing_is_sent(window: ConsoleHarness) -> None:
    window.type_json('[\n{"jsonrpc": "2.0",\n"id": 1 "method": "eth_chainId"}]')
    assert window.request.fault.text().startswith("Line 3:")
    assert not window.can_send()
    await window.send()
    assert window.entries == []


async def test_r_rpc_07_a_hundred_and_one_calls_are_refused_with_the_rule(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId", id=n) for n in range(1, 102)])
    assert "This batch has 101 calls. The service accepts up to 100." in window.request.fault.text()
    assert not window.can_send()
    window.type_json([call("eth_chainId", id=n) for n in range(1, 101)])
    assert window.can_send()


@pytest.mark.parametrize(
    ("pasted", "methods"),
    [
        ('{"method": "eth_gasPrice"}', ["eth_gasPrice"]),
        ('[{"method": "eth_gasPrice", "id": 9}, {"method": "eth_chainId", "id": 9}]', ["eth_gasPrice", "eth_chainId"]),
        (
            "curl -X POST https://api.example.com/crypto/rpc/base-mainnet -H 'Authorization: Bearer sk-secret' "
            '-d \'{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}\'',
            ["eth_chainId"],
        ),
    ],
)
async def test_what_is_pasted_becomes_calls(window: ConsoleHarness, pasted: str, methods: list[str]) -> None:
    QGuiApplication.clipboard().setText(pasted)
    window.key("Ctrl+Shift+V")
    assert [row.method for row in window.calls] == methods
    assert [row.id for row in window.calls] == list(range(1, len(methods) + 1))
    assert window.draft.network == ("base-mainnet" if "curl" in pasted else "ethereum-mainnet")
    assert "sk-secret" not in json.dumps(window.draft.kept())


async def test_calls_are_moved_and_removed_by_keyboard(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId"), call("eth_gasPrice"), call("eth_blockNumber")])
    window.key("Ctrl+Shift+J")
    view = window.request.list
    view.setFocus()
    both = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(view, Qt.Key.Key_Down, both)
    assert [row.method for row in window.calls] == ["eth_gasPrice", "eth_chainId", "eth_blockNumber"]
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert [(row.id, row.method) for row in window.calls] == [
        (1, "eth_gasPrice"),
        (2, "eth_blockNumber"),
    ]


async def test_removed_calls_come_back_in_their_places_also_all_of_them(window: ConsoleHarness) -> None:
    methods = ["eth_chainId", "eth_gasPrice", "eth_blockNumber"]
    window.type_json([call(method) for method in methods])
    window.key("Ctrl+Shift+J")
    view = window.request.list
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Delete)
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert window.calls == ()
    window.undo()
    assert [row.method for row in window.calls] == ["eth_chainId", "eth_blockNumber"]
    window.undo()
    assert [(row.id, row.method) for row in window.calls] == list(enumerate(methods, start=1))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    window.key("Ctrl+N")
    window.undo()
    assert [row.method for row in window.calls] == ["eth_chainId", "eth_blockNumber"]
    assert not window.undo_stack.can_undo("crypto_rpc"), "the batch that they belonged to is gone"


async def test_r_rpc_36_the_second_sending_asks_again_and_only_a_typed_key_is_replayed(window: ConsoleHarness) -> None:
    first = window.request.key.text()
    await window.send()
    assert window.request.key.text() != first
    await window.send()
    assert not window.response.replay.isVisible()
    assert window.response.runs.text() == "Run 2 of 2"
    window.request.key.setFocus()
    window.request.key.selectAll()
    QTest.keyClicks(window.request.key, "my-key")
    await window.send()
    assert not window.response.replay.isVisible()
    await window.send()
    assert window.response.replay.isVisible()
    assert window.entries[0].badge == "Replay"
    facts = {label: value for label, value, _ in window.shown_run.facts}
    assert (facts["Charged"], facts["First run"], facts["Cost"]) == ("0 cr", "20 cr", "$0.00")
    assert "Repeats are free" in window.request.key_note.text()
    window.key("Ctrl+Shift+N")
    await window.settle()
    await window.send()
    assert not window.response.replay.isVisible()


async def test_r_rpc_38_another_request_takes_a_key_of_its_own(window: ConsoleHarness) -> None:
    await window.send()
    window.type_json(call("eth_chainId"))
    await window.settle()
    await window.send()
    assert [entry.badge for entry in window.entries] == ["", ""]
    keys = await window.database.fetch("SELECT DISTINCT idempotency_key FROM rpc_calls")
    assert len(keys) == 2


async def test_r_rpc_38_a_key_of_ones_own_that_is_in_use_is_explained_beside_the_field(window: ConsoleHarness) -> None:
    window.request.key.setFocus()
    window.request.key.selectAll()
    QTest.keyClicks(window.request.key, "my-key")
    await window.send()
    window.type_json(call("eth_chainId"))
    await window.settle()
    assert "another request" in window.request.key_fault.text()
    await window.send()
    assert window.error_card.isVisible()
    assert len(window.entries) == 1


async def test_a_malformed_key_is_named_before_sending(window: ConsoleHarness) -> None:
    window.request.key.setFocus()
    window.request.key.selectAll()
    QTest.keyClicks(window.request.key, "with blanks!")
    await window.settle()
    assert "1 to 255 letters, digits" in window.request.key_fault.text()


async def test_the_price_is_a_range_before_and_exact_after(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId"), call("eth_getBalance", "nonsense", "latest")])
    assert window.main.estimate.text().startswith("Estimate 40 cr, $0.000025 to $0.000028")
    await window.send()
    assert window.shown_run is not None
    assert ("Charged", "25 cr", "") in window.shown_run.facts
    assert window.response.errors.text() == "1 error"
    assert window.response.trouble.isVisible()
    QTest.keyClick(window.response.alone, Qt.Key.Key_Space)
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_getBalance", "2 calls in a batch"]


async def test_too_many_calls_are_split_in_two_and_both_parts_can_be_sent(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId", number) for number in range(150)])
    window.key("Ctrl+Shift+J")
    split = window.request.split
    assert (split.text(), split.isVisible()) == ("Split in two", True)
    split.click()
    assert [row.params for row in window.calls] == [[number] for number in range(100)]
    assert window.can_send()
    assert split.text() == "The other 50 calls"
    split.click()
    assert [row.params for row in window.calls] == [[number] for number in range(100, 150)]
    assert split.text() == "The other 100 calls"


async def test_a_refused_batch_leads_to_the_call_it_names_and_sends_the_others(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId"), call("eth_noSuchMethod"), call("eth_blockNumber")])
    window.key("Ctrl+Shift+J")
    warning = "Call 2: eth_noSuchMethod is not in the service’s list, so the whole batch may be refused."
    assert window.request.fault.text() == warning
    await window.send()
    problem = window.response.card.problem
    assert problem is not None
    assert [action.text for action in problem.actions] == ["Edit call 2", "Send the other 2"]
    window.act_on_card("edit:2")
    assert window.draft.selected == 1
    window.act_on_card("others:2")
    await window.settle()
    assert [row.method for row in window.calls] == ["eth_chainId", "eth_blockNumber"]
    assert len(window.entries) == 2
    window.undo()
    assert len(window.calls) == 3


@pytest.mark.parametrize(("button", "methods"), [("Replace", 2), ("Add", 5), ("Cancel", 3)])
async def test_a_batch_pasted_over_a_batch_replaces_it_or_comes_on_top_as_is_chosen(
    window: ConsoleHarness, button: str, methods: int
) -> None:
    window.type_json([call("eth_chainId"), call("eth_gasPrice"), call("eth_blockNumber")])
    window.key("Ctrl+Shift+J")
    QGuiApplication.clipboard().setText(json.dumps([call("eth_chainId"), call("eth_syncing")]))
    window.key("Ctrl+Shift+V")
    dialog = await window.dialog()
    assert dialog.title.text() == "Replace 3 calls, or add to them?"
    press(dialog, button)
    await window.settle()
    assert len(window.calls) == methods


async def test_all_calls_are_selected_and_removed_at_once(window: ConsoleHarness) -> None:
    window.type_json([call("eth_chainId", number) for number in range(5)])
    window.key("Ctrl+Shift+J")
    window.request.list.setFocus()
    QTest.keyClick(window.request.list, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window.request.list, Qt.Key.Key_Delete)
    assert window.calls == ()


def test_three_digits_of_an_id_have_room(theme: Theme) -> None:
    number = column_rects(theme, QRect(0, 0, 600, 34))[0]
    assert QFontMetrics(theme.font("code")).horizontalAdvance("100") <= number.width()


def menu_texts() -> list[str]:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, Menu)
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    menu.close()
    return texts


async def test_tools_and_copies_have_buttons_of_their_own_and_words_that_people_search_for(
    window: ConsoleHarness,
) -> None:
    QTest.mouseClick(window.main.tools, Qt.MouseButton.LeftButton)
    tools = menu_texts()
    assert {"Call a contract…", "Search logs over many blocks…", "Watch chain heads…", "Repeat request…"} <= set(tools)
    QTest.mouseClick(window.request.copy, Qt.MouseButton.LeftButton)
    assert menu_texts() == ["Copy as curl", "Copy as Python (web3)", "Copy as cast"]
    QTest.mouseClick(window.request.more, Qt.MouseButton.LeftButton)
    assert not {*tools, "Copy as curl"} & set(menu_texts())
    hints = {action.text: action.hint for action in window.page.actions()}
    assert hints["Call a contract…"] == "ABI"
    assert "eth_getLogs" in hints["Search logs over many blocks…"]


async def test_r_rpc_09_the_id_that_a_person_sets_is_sent_echoed_and_kept_in_a_collection(
    window: ConsoleHarness,
) -> None:
    window.type_json([{"method": "eth_chainId"}, {"id": "mine", "method": "eth_gasPrice"}])
    window.run("Set call ID…")
    dialog = await window.dialog()
    line = dialog.findChildren(QLineEdit)[0]
    assert line.text() == "1"
    line.selectAll()
    QTest.keyClicks(line, "null")
    press(dialog, "Save")
    await window.settle()
    assert [each["id"] for each in json.loads(window.request.text.toPlainText())] == [None, "mine"]
    await window.send()
    sent = await window.presenter.calls.one(window.shown_run.id)
    assert [each["id"] for each in json.loads(sent.items)] == [None, "mine"]
    assert [outcome.is_error for outcome in window.shown_run.outcomes] == [False, False]
    answers = json.loads(await window.presenter.calls.body(sent.id))
    assert {each["id"] for each in answers} == {None, "mine"}
    file = await window.presenter.collections.save("Ours", "Two", window.draft)
    window.presenter.new_batch()
    window.presenter.edit(window.presenter.collections.changer(file, 0))
    assert [row.rpc_id for row in window.calls] == [None, "mine"]
