"""Answers in a schema and function calls inside a message: a tree to walk in, by mouse and by key."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication

from app.ui.conversation.json_lines import Branch, JsonViewState, fold, lines_of, show_more, step_of
from app.ui.conversation.rows import MessageRow, RowCall
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.kit.message_view import answer, click, control, controls, key_event, plain_theme, question, shown

PLACE = {"city": "Oslo", "rivers": ["Akerselva", "Lysakerelva"], "inside": {"a b": None, "big": 12345678901234567890}}


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Theme:
    return plain_theme(qapp)


def structured(value: object = PLACE, schema_violation: str = "") -> MessageRow:
    return answer(
        value if isinstance(value, str) else json.dumps(value), structured=True, schema_violation=schema_violation
    )


def lines(view: MessageView) -> list[str]:
    return [each.name for _, each, _ in controls(view) if each.id.startswith("line:")]


def press(view: MessageView, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    view.keyPressEvent(key_event(key, held))
    QApplication.processEvents()


def focused(view: MessageView) -> str:
    spot = view.picture.focused
    return next((each.name for found, each, _ in controls(view) if found == spot), "")


def test_a_short_answer_in_a_schema_is_an_open_tree(theme: Theme) -> None:
    view = shown(theme, [question(), structured()])
    assert lines(view) == [
        'city: "Oslo"',
        "rivers: 2 items",
        '0: "Akerselva"',
        '1: "Lysakerelva"',
        "inside: 2 entries",
        "a b: null",
        "big: 12345678901234567890",
    ]


def test_pressing_a_branch_folds_it_and_a_value_is_copied(theme: Theme) -> None:
    view = shown(theme, [structured()])
    click(view, "rivers")
    assert '0: "Akerselva"' not in lines(view)
    click(view, "rivers")
    click(view, "0:")
    assert QGuiApplication.clipboard().text() == "Akerselva"
    click(view, "Copy JSON")
    assert json.loads(QGuiApplication.clipboard().text()) == PLACE


def test_raw_shows_the_text_as_it_came_and_back(theme: Theme) -> None:
    view = shown(theme, [structured()])
    click(view, "Show original text")
    assert lines(view) == []
    click(view, "Show original text")
    assert len(lines(view)) == 7


def test_the_tree_is_walked_by_the_keyboard_alone(theme: Theme) -> None:
    view = shown(theme, [structured(), question("later")])
    view.setFocus()
    names = []
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        names.append(focused(view))
    assert names == ["Show original text", "Copy JSON", 'city: "Oslo"']
    press(view, Qt.Key.Key_Down)
    assert focused(view) == "rivers: 2 items"
    press(view, Qt.Key.Key_Left)
    assert '0: "Akerselva"' not in lines(view)
    press(view, Qt.Key.Key_Right)
    press(view, Qt.Key.Key_Down)
    press(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Akerselva"
    press(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text() == "$.rivers[0]"
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert not focused(view).startswith("1:")  # all lines are one stop


def test_walking_down_a_long_tree_scrolls_along(theme: Theme) -> None:
    view = shown(theme, [structured({f"key{number}": number for number in range(90)})], height=300)
    view.scroll_to_start()
    view.setFocus()
    spot = control(view, "key0:")[0]
    view.set_focused(spot)
    for _ in range(40):
        press(view, Qt.Key.Key_Down)
    assert focused(view) == "key40: 40"


def test_where_an_answer_leaves_its_schema_is_said_and_no_tree_is_made_of_what_is_none(theme: Theme) -> None:
    view = shown(theme, [structured(schema_violation="$.city is missing")])
    assert "Does not match the schema: $.city is missing" in notes(view)
    view = shown(theme, [structured("I would rather not.")])
    assert "Not JSON" in notes(view)
    assert lines(view) == []


def notes(view: MessageView) -> str:
    from app.ui.conversation.json_box import JsonBox

    boxes = [box for placed in view.stack.placed for box in placed.unit.boxes if isinstance(box, JsonBox)]
    return " ".join(box.note for box in boxes)


def test_a_function_call_shows_its_arguments_and_asks_for_an_answer(theme: Theme) -> None:
    calls = (RowCall("c1", "get_weather", '{"city": "Oslo"}'), RowCall("c2", "get_time", '{"zone": "Oslo"}'))
    view = shown(theme, [question(), answer("", calls=calls)])
    spy = QSignalSpy(view.action)
    assert lines(view) == ['city: "Oslo"', 'zone: "Oslo"']
    click(view, "Enter the results…")
    assert spy.at(0) == ["a", "answer-calls"]
    view.update_row("a", calls=tuple(RowCall(each.id, each.name, each.arguments, True) for each in calls))
    assert "Answered by you" in notes(view)
    assert not [each for _, each, _ in controls(view) if each.name.startswith("Enter the result")]


def test_what_was_answered_for_a_function_stands_as_a_turn_of_its_own(theme: Theme) -> None:
    row = MessageRow("t", "tool", "12 degrees", caption="Your result for get_weather", actions=("copy", "edit"))
    view = shown(theme, [row])
    click(view, "Copy message")
    assert QGuiApplication.clipboard().text() == "12 degrees"


def test_long_branches_come_in_hundreds_and_only_open_ones_are_walked() -> None:
    branch, memory = Branch(json.dumps({"many": list(range(1000)), "deep": {"x": [1] * 1000}})), JsonViewState()
    assert [line.key for line in lines_of(branch, memory)] == ["many", "deep"]
    fold(branch, memory, "$.many")
    found = lines_of(branch, memory)
    assert len(found) == 103
    assert found[101].value == "Show 100 of 900 more"
    show_more(memory, "$.many")
    assert len(lines_of(branch, memory)) == 203
    fold(branch, memory, "$.many")
    assert len(lines_of(branch, memory)) == 2


def test_paths_name_odd_keys_and_lead_to_their_values() -> None:
    assert step_of("a b") == '["a b"]'
    branch = Branch(json.dumps({"a": {"b.c": [0, {"d": "x"}]}, "a.b": 1}))
    assert branch.copied('$.a["b.c"][1].d') == "x"
    assert branch.copied('$["a.b"]') == "1"
    with pytest.raises(KeyError):
        branch.at("$.b")
