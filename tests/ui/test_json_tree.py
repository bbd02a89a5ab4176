"""The tree of a JSON value: made while it is looked at, found, copied whole, and said in words."""

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.storage.paths import resources
from app.ui.conversation.json_lines import Branch, JsonViewState, lines_of
from app.ui.kit.json.node import GROUP, TreeRoot
from app.ui.kit.json.tree import JsonTree
from app.ui.kit.json.tree_model import MAX_SHOWN_CHARS, NODE, JsonTreeModel, find, path_text, summary
from app.ui.kit.json.view import JsonWriter
from app.ui.kit.theme import Theme

VALUE = {"type": "CALL", "calls": [{"to": "0x1", "odd key": None}, True, 5], "gasUsed": "0x2b1f4", "empty": {}}
ROOTS = (
    TreeRoot("eth_call", {"code": 3, "message": "paused"}, "1", "Error", "5 cr", "bad"),
    TreeRoot("trace", VALUE, "2"),
)


@pytest.fixture
def tree(qtbot: QtBot) -> Iterator[JsonTree]:
    tree = JsonTree(Theme(resources()), "Answer", lambda name, _value: "176,628" if name == "gasUsed" else "")
    qtbot.addWidget(tree)
    tree.set_roots(ROOTS)
    tree.resize(500, 300)
    yield tree


def row_texts(tree: JsonTree, index: QModelIndex) -> list[str]:
    return [tree.rows.index(row, 0, index).data() for row in range(tree.rows.rowCount(index))]


def test_qts_own_tester_finds_no_fault_with_the_model(qtbot: QtBot) -> None:
    model = JsonTreeModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    tester.setUseFetchMore(False)  # it would fetch inside the reset itself, and complain of that
    model.set_roots((TreeRoot("long", list(range(GROUP * 2 + 7))), *ROOTS))
    first = model.index(0, 0)
    model.fetchMore(first)
    assert model.rowCount(first) == 3
    last = model.index(2, 0, first)
    model.fetchMore(last)
    assert model.rowCount(last) == 7
    model.set_roots(())
    assert tester.model() is model


def test_only_what_is_looked_at_is_made(tree: JsonTree) -> None:
    second = tree.rows.index(1, 0)
    assert tree.rows.hasChildren(second)
    assert tree.rows.rowCount(second) == 0
    tree.expand(second)
    assert row_texts(tree, second)[:2] == ['type: "CALL"', "calls: Array, 3 items"]
    assert not tree.rows.hasChildren(tree.rows.index(3, 0, second))  # an empty object has nothing to unfold


def test_what_went_wrong_is_unfolded_at_once_and_says_so(tree: JsonTree) -> None:
    first = tree.rows.index(0, 0)
    assert tree.isExpanded(first)
    assert first.data() == "1 eth_call: Object, 2 keys Error 5 cr"
    assert not tree.isExpanded(tree.rows.index(1, 0))


def test_a_place_far_inside_is_revealed(tree: JsonTree) -> None:
    tree.set_roots((TreeRoot("long", [{"n": [number]} for number in range(GROUP * 3)]),))
    assert tree.reveal((0, GROUP * 2 + 1, "n", 0))
    assert tree.current_value() == GROUP * 2 + 1
    assert tree.rows.node(tree.currentIndex()).path == (0, GROUP * 2 + 1, "n", 0)
    assert not tree.reveal((0, GROUP * 9, "n"))


def test_a_long_list_is_shown_in_parts_and_the_first_of_them_at_once(tree: JsonTree) -> None:
    number = GROUP * GROUP + GROUP + 3
    tree.set_roots((TreeRoot("long", list(range(number))),))
    top = tree.rows.index(0, 0)
    assert row_texts(tree, top) == ["Entries 0 to 249,999", "Entries 250,000 to 250,502"]
    part = tree.rows.index(0, 0, tree.rows.index(0, 0, top))
    assert part.data() == "Entries 0 to 499"
    assert tree.isExpanded(part)
    assert tree.rows.index(2, 0, part).data() == "2: 2"
    assert tree.reveal((0, number - 1))
    assert tree.current_value() == number - 1
    most = max(tree.rows.rowCount(index) for index in (top, part, tree.currentIndex().parent()))
    assert most <= GROUP
    tree.setCurrentIndex(tree.rows.index(1, 0, tree.rows.index(1, 0, top)))
    assert tree.current_value() == [number - 3, number - 2, number - 1]


def test_a_long_object_is_shown_in_parts_and_its_names_are_found(tree: JsonTree) -> None:
    tree.set_roots((TreeRoot("long", {f"n{place}": place for place in range(GROUP + 5)}),))
    assert tree.reveal((0, f"n{GROUP + 4}"))
    assert tree.current_value() == GROUP + 4
    tree.setCurrentIndex(tree.currentIndex().parent())
    assert tree.current_value() == {f"n{place}": place for place in range(GROUP, GROUP + 5)}


def test_copying_gives_the_whole_value_and_the_path(tree: JsonTree, qtbot: QtBot) -> None:
    long_text = "x" * (MAX_SHOWN_CHARS * 2)
    tree.set_roots((TreeRoot("r", {"a b": [long_text, {"k": 1}]}),))
    tree.reveal((0, "a b", 0))
    assert len(tree.currentIndex().data()) < len(long_text)
    tree.copy_value()
    assert QGuiApplication.clipboard().text() == long_text
    qtbot.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text() == '["a b"][0]'
    tree.reveal((0, "a b", 1))
    qtbot.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert json.loads(QGuiApplication.clipboard().text()) == {"k": 1}


def test_a_star_unfolds_everything_below(tree: JsonTree, qtbot: QtBot) -> None:
    tree.setCurrentIndex(tree.rows.index(1, 0))
    qtbot.keyClick(tree, Qt.Key.Key_Asterisk)
    calls = tree.rows.index(1, 0, tree.rows.index(1, 0))
    assert tree.isExpanded(calls)
    assert tree.isExpanded(tree.rows.index(0, 0, calls))


def test_finding_looks_at_names_and_values_in_order(tree: JsonTree) -> None:
    assert find(ROOTS, "PAUSED", 10) == [(0, "message")]
    assert find(ROOTS, "gas", 10) == [(1, "gasUsed")]
    assert find(ROOTS, "call", 10) == [(0,), (1, "type"), (1, "calls")]
    assert find(ROOTS, "call", 2) == [(0,), (1, "type")]
    assert find(ROOTS, "", 10) == []
    for path in find(ROOTS, "o", 50):
        assert tree.reveal(path)
        assert tree.rows.node(tree.currentIndex()).path == path


def test_values_are_said_as_json_writes_them() -> None:
    assert [summary(value) for value in (None, True, 5, "a\n", [1], {})] == [
        "null",
        "true",
        "5",
        '"a\\n"',
        "Array, 1 item",
        "Object, 0 keys",
    ]
    assert path_text((0, "logs", 3, "topics", 0)) == "logs[3].topics[0]"


def test_it_is_drawn_in_both_themes_at_every_size(tree: JsonTree, qtbot: QtBot) -> None:
    theme = Theme(resources())
    tree = JsonTree(theme, "Answer", lambda name, _value: "words " * 50 if name == "type" else "")
    qtbot.addWidget(tree)
    tree.set_roots((*ROOTS, TreeRoot("text", "y" * 1_000_000)))
    tree.unfold_below(tree.rows.index(1, 0))
    for mode in ("light", "dark"):
        for percent in (80, 200):
            theme.configure(mode=mode, text_percent=percent, system_font=False, reduced_motion=True)
            tree.resize(90 if percent == 200 else 700, 300)
            assert not tree.grab().isNull()
    assert tree.model().index(0, 0).data(NODE).key == "eth_call"


def test_a_key_is_not_read_backwards_in_any_view_of_json(tree: JsonTree) -> None:
    deceiving = {"ev\u202egpj.exe": "ok\u202e"}
    tree.set_roots((TreeRoot("eth_\u202ecall", deceiving, "1", "No\u202e", "\u202e5 cr", "bad"),))
    top = tree.rows.index(0, 0)
    tree.rows.fetchMore(top)
    shown = [str(top.data()), *row_texts(tree, top)]
    shown += [line.key + line.value for line in lines_of(Branch(json.dumps(deceiving)), JsonViewState())]
    shown += JsonWriter(dict.fromkeys(("keyword", "string", "number", "name", "comment"), "#000"), "#000", ()).lines(
        deceiving
    )
    assert len(shown) >= 4
    assert not [each for each in shown if "\u202e" in each]
    assert [each for each in shown if "ev\ufffdgpj.exe" in each]
