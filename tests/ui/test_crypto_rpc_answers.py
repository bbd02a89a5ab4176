"""Answers in the Console: found in, copied, saved, as a table, compared; lists, collections, variables, trash."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.core.tasks import TaskScope
from app.ui.crypto_rpc.response_facts import ResponseFacts
from app.ui.crypto_rpc.response_pane import CHANGES, HEADERS, RAW, TABLE
from app.ui.crypto_rpc.session.differences import MISSING, differences
from app.ui.crypto_rpc.session.outcomes import CallOutcome, tables_in
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.waiting import until
from tests.ui.rpc_contract import ALICE, creation, signed
from tests.ui.test_crypto_rpc_killed import arm

NETWORK = "base-mainnet"
LEFT = Qt.AlignmentFlag.AlignLeft


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        yield window


async def test_what_is_looked_for_is_found_by_keyboard(window: ConsoleHarness) -> None:
    window.type_json(call("eth_getBlockByNumber", "latest", False))
    await window.send()
    window.response.finder.setFocus()
    QTest.keyClicks(window.response.finder, "parentHash")
    QTest.keyClick(window.response.finder, Qt.Key.Key_Return)
    await window.settle()
    tree = window.response.tree
    assert tree.rows.node(tree.currentIndex()).key == "parentHash"
    QTest.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("0x")
    QTest.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text() == "parentHash"


async def test_an_answer_is_copied_and_saved_byte_for_byte(window: ConsoleHarness, tmp_path: Path) -> None:
    await window.send()
    assert window.shown_run is not None
    window.key("Ctrl+Shift+C")
    await window.settle()
    assert QGuiApplication.clipboard().text() == window.shown_run.body.decode()
    window.key("Ctrl+S")
    await until(lambda: bool(window.window.findChildren(QFileDialog)))
    dialog = window.window.findChildren(QFileDialog)[0]
    target = tmp_path / "block.json"
    dialog.setDirectory(str(tmp_path))
    dialog.findChildren(QLineEdit)[0].setText(target.name)
    dialog.accept()
    await window.settle()
    assert target.read_bytes() == window.shown_run.body
    assert window.toasts[-1][0] == "Saved as block.json"


@pytest.mark.parametrize("name", ["curl", "Python (web3)", "cast"])
async def test_a_request_is_copied_for_other_programs_without_a_key(window: ConsoleHarness, name: str) -> None:
    window.run(f"Copy as {name}")
    text = QGuiApplication.clipboard().text()
    assert "eth_blockNumber" in text
    assert "RIALTO_API_KEY" in text
    assert window.sandbox.api_key not in text


async def test_headers_and_the_raw_answer_are_one_key_away(window: ConsoleHarness) -> None:
    await window.send()
    bar = window.response_tabs
    bar.setFocus()
    bar.setCurrentIndex(HEADERS)
    names = [window.header_rows.data(window.header_rows.index(n, 0)) for n in range(3)]
    assert all(names)
    bar.setCurrentIndex(RAW)
    assert '"jsonrpc"' in window.response.raw.toPlainText()


async def test_what_the_bytes_of_one_call_say_is_unfolded(window: ConsoleHarness) -> None:
    read = {"decoded": {"balance": 7}, "result": "0x7"}
    window.response.show_outcomes((CallOutcome(1, "eth_call", read, False, 20),))
    tree = window.response.tree
    assert tree.isExpanded(tree.rows.index(0, 0, tree.rows.index(0, 0)))


async def test_the_four_columns_of_watched_chain_heads_fit_beside_the_request(window: ConsoleHarness) -> None:
    head = {"network": "Ethereum mainnet", "block": 21_930_144, "new blocks": 12, "age in seconds": 1_204}
    window.response.table.show_tables(tables_in((CallOutcome(1, "chain heads", [head], False, 20),)))
    view = window.table_view
    need = view.verticalHeader().sizeHint().width() + view.horizontalHeader().length()
    assert need <= 540, "half of what a window of 1440 px leaves beside its list"


async def test_a_list_of_objects_is_a_table_and_its_cells_go_into_a_spreadsheet(window: ConsoleHarness) -> None:
    rows = [{"address": f"0x{n:040x}", "value": hex(n), "big": 2**70 + n, "note": "a\tb"} for n in range(1_000)]
    outcome = CallOutcome(1, "eth_getLogs", rows, False, 20)
    window.response.table.show_tables(tables_in((outcome,)))
    view = window.table_view
    assert (view.cells.rowCount(), view.cells.columnCount()) == (1_000, 4)
    aligned = [
        int(view.cells.index(0, column).data(Qt.ItemDataRole.TextAlignmentRole)) & int(LEFT) for column in range(4)
    ]
    assert [bool(each) for each in aligned] == [True, False, False, True]
    chosen = QItemSelection(view.cells.index(1, 0), view.cells.index(2, 3))
    view.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert lines == [[f"0x{n:040x}", hex(n), str(2**70 + n), "a b"] for n in (1, 2)]


async def test_an_answer_without_a_list_says_so(window: ConsoleHarness) -> None:
    await window.send()
    window.response_tabs.setCurrentIndex(TABLE)
    await window.settle()
    assert "no list of objects" in window.response.table.nothing.text()


async def test_two_runs_are_compared_from_the_menu_and_by_name(window: ConsoleHarness) -> None:
    window.presenter.use_network(NETWORK)
    window.type_json(call("eth_getTransactionCount", ALICE, "latest"))
    await window.send()
    assert not window.page.answer.run_before
    raw, _ = signed(0, data=creation())
    answer = await window.service.crypto_rpc.call(NETWORK, "eth_sendRawTransaction", [raw])
    assert answer.outcome.error is None
    window.key("Ctrl+Shift+N")
    await window.settle()
    await window.send()
    QTest.keyClick(window.response.runs, Qt.Key.Key_Space)
    menu = next(each for each in window.response.findChildren(Menu) if each.isVisible())
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Right):  # to the last entry, and into it
        QTest.keyClick(menu, key)
    inner = next(each for each in menu.findChildren(Menu) if each.isVisible())
    QTest.keyClick(inner, Qt.Key.Key_Return)
    await window.settle()
    bar, changes = window.response_tabs, window.change_rows
    assert (bar.currentIndex(), bar.tabText(CHANGES)) == (CHANGES, "Changes 1")
    assert changes.node(changes.index(0, 0)).value == {"before": "0x0", "now": "0x1"}
    bar.setCurrentIndex(0)
    window.run("Compare with previous run")
    await window.settle()
    assert bar.currentIndex() == CHANGES


def test_differences_name_every_place() -> None:
    before = {"a": 1, "b": [1, 2, {"c": 3}], "gone": None}
    after = {"a": 1, "b": [1, 5, {"c": "3"}, 4], "new": 0}
    found = {each.path: (each.before, each.after) for each in differences(before, after, ())}
    assert found == {
        ("b", 1): (2, 5),
        ("b", 2, "c"): (3, "3"),
        ("b", 3): (MISSING, 4),
        ("gone",): (None, MISSING),
        ("new",): (MISSING, 0),
    }
    assert differences(before, before, ()) == []


async def test_the_list_is_searched_opened_trashed_and_undone_by_keyboard(window: ConsoleHarness) -> None:
    await window.send()
    window.key("Ctrl+N")
    window.type_json(call("eth_gasPrice"))
    await window.send()
    window.list.filter.setFocus()
    QTest.keyClicks(window.list.filter, "gasprice")
    QTest.keyClick(window.list.filter, Qt.Key.Key_Return)
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_gasPrice"]
    QTest.keyClick(window.list.filter, Qt.Key.Key_Escape)
    await window.settle()
    assert len(window.entries) == 2
    window.key("Alt+Down")
    await window.settle()
    assert window.calls[0].method == "eth_blockNumber"
    view = window.list_view
    view.setFocus()
    view.setCurrentIndex(view.rows.index_of(window.entries[0].id))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_blockNumber"]
    window.undo()
    await window.settle()
    assert len(window.entries) == 2


async def test_calls_are_kept_in_a_collection_without_what_was_signed(window: ConsoleHarness, tmp_path: Path) -> None:
    window.type_json(call("eth_sendRawTransaction", "0xf86c0a"))
    window.run("Save to a collection…")
    for words in ("Team", "Send it"):
        dialog = await window.dialog()
        line = dialog.findChildren(QLineEdit)[0]
        line.selectAll()
        QTest.keyClicks(line, words)
        press(dialog, "Save")
        await until(lambda dialog=dialog: not dialog.isVisible())  # type: ignore[misc]  # the dialog of this turn
    await window.settle()
    text = (tmp_path / "collections" / "team.json").read_text()
    assert "f86c0a" not in text
    assert json.loads(text)["requests"][0]["items"][0]["params"] == ["{{signed_transaction}}"]


async def test_a_variable_without_a_value_is_named_and_then_filled(window: ConsoleHarness) -> None:
    window.type_json(call("eth_getBalance", "{{owner}}", "latest"))
    assert "No value for {{owner}}." in window.request.fault.text()
    assert not window.can_send()
    window.run("Variables…")
    dialog = await window.dialog()
    editor = dialog.findChildren(QPlainTextEdit)[0]
    assert json.loads(editor.toPlainText()) == {"owner": ""}
    editor.selectAll()
    QGuiApplication.clipboard().setText(json.dumps({"owner": "0x" + "35" * 20}))
    QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    press(dialog, "Use")
    await window.settle()
    await window.send()
    assert window.shown_run is not None
    assert window.shown_run.items[0]["params"] == ["0x" + "35" * 20, "latest"]


async def test_in_a_small_window_one_side_is_shown_and_the_answer_comes_by_itself(window: ConsoleHarness) -> None:
    window.resize(1024, 612)
    assert window.request.isVisible()
    assert not window.response.isVisible()
    assert "20 cr, $0.000013 to $0.000014" in window.main.price.text()
    assert window.main.network.width() < window.main.width() // 2
    await window.send()
    assert window.response.isVisible()
    assert not window.request.isVisible()
    window.key("F7")
    assert window.request.isVisible()
    window.resize(1368, 848)
    assert window.request.isVisible()
    assert window.response.isVisible()
    assert abs(window.request.width() - window.response.width()) <= 4


async def test_how_the_canvas_is_divided_is_remembered(window: ConsoleHarness) -> None:
    window.main.splitter.moveSplitter(400, 1)
    await window.settle()
    wanted = window.main._split
    presenter = await window.restart()
    assert presenter.keeper.split == wanted != 500


async def test_the_request_is_made_wider_and_narrower_by_keys_and_says_so(
    window: ConsoleHarness, heard: list[str]
) -> None:
    handle = QAccessible.queryAccessibleInterface(window.main.splitter.handle(1))
    assert (handle.role(), handle.text(QAccessible.Text.Name)) == (QAccessible.Role.Splitter, "Request width")
    before = window.request.width()
    window.run("Wider request")
    assert window.request.width() > before
    assert handle.valueInterface().currentValue() == window.main.splitter.handle(1).x()
    window.run("Narrower request")
    assert window.request.width() == before
    assert heard[-2:] == ["Request width 55 %", "Request width 50 %"]
    for _ in range(9):
        window.run("Narrower request")
    assert heard[-1] == "Request width 25 %"


async def test_the_gauges_count_and_the_status_bar_says_what_is_left(window: ConsoleHarness) -> None:
    assert window.page.status_headroom() is None
    await window.send()
    headroom = window.page.status_headroom()
    assert headroom is not None
    assert (headroom.of, headroom.requests_left, headroom.requests_limit) == ("Blockchain calls", 99, 100)
    assert headroom.resets_at is not None
    assert window.credits_text() == "20 / 10M"


async def test_every_widget_of_the_console_has_a_name(window: ConsoleHarness) -> None:
    await window.send()
    window.run("Parameters as fields")
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QAbstractItemView)
    nameless = [
        f"{type(each).__name__} in {type(each.parentWidget()).__name__}"
        for pane in (window.main, window.list, window.networks, window.methods)
        for each in pane.findChildren(QWidget)
        if isinstance(each, kinds) and not _name(each)
    ]
    assert nameless == [], nameless


def _name(widget: QWidget) -> str:
    if widget.accessibleName():
        return widget.accessibleName()
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


@pytest.mark.parametrize("percent", [100, 200])
def test_the_facts_of_a_response_stand_in_two_lines(qtbot, theme: Theme, percent: int) -> None:
    theme.set_text_percent(percent)
    facts = ResponseFacts(theme)
    qtbot.addWidget(facts)
    facts.show_facts((("Status", "200 OK", "ok"), ("Time", "5.1 s", "")), "05CI1TqRxxxxxxxx_Xgq")
    facts.resize(1200, 120)
    facts.show()
    tops = {label.mapTo(facts, QPoint(0, 0)).y() for label in facts.findChildren(QLabel)}
    assert len(tops) == 2


async def test_a_refused_request_shows_its_headers_and_its_body_now_and_later(window: ConsoleHarness) -> None:
    refusal = {"error": {"message": "No such chain", "hint": "ask for another"}}
    await arm(window, "answer", status=400, body=refusal)
    await window.send()
    run = window.shown_run
    assert run.problem is not None and window.response.card.isVisible()
    for _ in range(2):
        window.response_tabs.setCurrentIndex(HEADERS)
        assert window.response.card.isHidden()
        assert dict(window.shown_run.headers)["content-type"].startswith("application/json")
        assert window.header_rows.rowCount() == len(window.shown_run.headers) > 2
        window.response_tabs.setCurrentIndex(RAW)
        assert json.loads(window.response.raw.toPlainText()) == refusal
        window.key("Ctrl+N")
        window.presenter.open_call(run.id)
        await window.settle()


async def test_a_request_that_was_sent_again_by_itself_says_so(window: ConsoleHarness) -> None:
    await arm(window, "answer", status=500, body={"error": "once"})
    await window.send()
    assert ("Tries", "2", "warn") in window.shown_run.facts
    assert window.shown_run.outcomes


async def test_a_refusal_that_repeats_the_key_is_kept_without_it(window: ConsoleHarness) -> None:
    await arm(window, "answer", status=400, body={"error": f"what is {window.sandbox.api_key}"})
    await window.send()
    assert window.sandbox.api_key.encode() not in window.shown_run.body
    assert b"what is" in window.shown_run.body
