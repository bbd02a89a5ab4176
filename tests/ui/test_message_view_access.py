"""What a screen reader finds: messages in order, their words, and what can be pressed in them."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QFocusEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.ui.conversation.view import MessageView
from app.ui.kit.accessible_document import BlockInterface
from app.ui.kit.markdown.spoken import Place
from app.ui.kit.theme import Theme
from tests.kit.message_view import RECEIPT, SOURCES, answer, controls, question, settle, shown

NAME = QAccessible.Text.Name
ROLE = QAccessible.Role
Key = Qt.Key


def blocks_of(message: QAccessibleInterface) -> list[BlockInterface]:
    children = [message.child(number) for number in range(message.childCount())]
    return [child for child in children if isinstance(child, BlockInterface)]


@pytest.fixture
def focused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what the focus events name, as if a reader listened."""
    found: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    event = QAccessible.updateAccessibility
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda each: found.append(named(each)) or event(each))
    return found


def named(event: QAccessibleEvent) -> str:
    return event.accessibleInterface().text(NAME)


@pytest.fixture
def view(qapp: QApplication) -> MessageView:
    rows = [
        question("Why is it so?"),
        answer(
            "Because **of** this.[REF]0[/REF]\n\n```py\nx = 1\n```\n",
            citations=True,
            sources=SOURCES,
            receipt=RECEIPT,
            reasoning="Ideas",
            reasoning_s=2.0,
        ),
        answer("Half", "half", state="interrupted"),
    ]
    return shown(Theme(), rows, height=1000)


def test_the_view_is_a_list_of_messages(view: MessageView) -> None:
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.role() == QAccessible.Role.List
    assert interface.text(NAME) == "Conversation"
    assert interface.childCount() == 3
    names = [interface.child(number).text(NAME) for number in range(3)]
    assert names == [
        "You: Why is it so?",
        "Answer: Because of this. (source 1) x = 1 3 sources $0.0007 · in 812 · out 164 · 3.1 s",
        "Answer: Stopped early. Half",
    ]


def test_a_message_is_a_document_of_blocks_with_their_whole_text(view: MessageView) -> None:
    message = QAccessible.queryAccessibleInterface(view).child(1)
    assert message.role() == QAccessible.Role.ListItem
    assert message.text(QAccessible.Text.Value).startswith("Because of this. (source 1)\nx = 1\n3 sources")
    assert message.textInterface() is None, "Orca 48 leaves the first letter out of a text from Python"
    found = [(block.role(), block.text(NAME)) for block in blocks_of(message)]
    assert found == [
        (ROLE.Paragraph, "Because of this. (source 1)"),
        (ROLE.Section, "py code, 1 line"),
        (ROLE.Section, "3 sources"),
        (ROLE.Paragraph, "$0.0007 · in 812 · out 164 · 3.1 s"),
    ]
    code = message.child(1)
    assert [(line.role(), line.text(NAME)) for line in blocks_of(code)] == [(ROLE.StaticText, "x = 1")]
    assert code.child(0).parent() is code
    assert code.parent() is message
    assert message.indexOfChild(code) == 1
    assert blocks_of(message.child(2))[1].text(NAME) == "2. Backoff and jitter. example.org"


def test_no_button_of_a_message_is_described_by_its_own_name(view: MessageView) -> None:
    message = QAccessible.queryAccessibleInterface(view).child(1)
    parts = [message.child(number) for number in range(message.childCount())]
    buttons = [part for part in parts if not isinstance(part, BlockInterface)]
    assert "Copy message" in [button.text(NAME) for button in buttons]
    assert [each.text(NAME) for each in buttons if each.text(NAME) == each.text(QAccessible.Text.Description)] == []


def test_headings_have_a_level_and_cells_their_column(qapp: QApplication) -> None:
    view = shown(Theme(), [answer("### Where\n\n| System | Chats |\n|---|---|\n| Linux | ~/.config |\n\n$$a+b$$")])
    heading, table, formula = blocks_of(QAccessible.queryAccessibleInterface(view).child(0))
    levels = heading.attributesInterface()
    assert [levels.attributeValue(key) for key in levels.attributeKeys()] == [3]
    assert table.attributesInterface() is None
    assert (table.role(), table.text(NAME)) == (ROLE.Table, "Table, 1 row: System, Chats")
    assert [row.role() for row in blocks_of(table)] == [ROLE.Row, ROLE.Row]
    assert [cell.text(NAME) for cell in blocks_of(table.child(1))] == ["System: Linux", "Chats: ~/.config"]
    assert (formula.role(), formula.text(NAME)) == (ROLE.Equation, "Formula: $$a+b$$")


def test_arrows_walk_messages_and_blocks_with_one_focus_event_each(view: MessageView, focused: list[str]) -> None:
    QApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.BacktabFocusReason))
    settle(view)
    walked = [Key.Key_Up, Key.Key_Right, Key.Key_Down, Key.Key_Right, Key.Key_Left, Key.Key_Up, Key.Key_Up, Key.Key_Up]
    for key in walked:
        QTest.keyClick(view, key)
    assert [name[:30] for name in focused] == [
        "Answer: Stopped early. Half",
        "Answer: Because of this. (sour",
        "Because of this. (source 1)",
        "py code, 1 line",
        "x = 1",
        "py code, 1 line",
        "Because of this. (source 1)",
        "Answer: Because of this. (sour",
        "You: Why is it so?",
    ]
    assert QAccessible.queryAccessibleInterface(view).focusChild().text(NAME) == "You: Why is it so?"
    assert view.copy()
    assert QApplication.clipboard().text() == "Why is it so?"


def test_tab_goes_on_to_the_controls_of_the_message_that_the_keyboard_is_on(view: MessageView) -> None:
    view.setFocus(Qt.FocusReason.TabFocusReason)
    view.walk.go_to_row(1)
    QTest.keyClick(view, Key.Key_Tab)
    assert view.picture.focused is not None
    assert view.picture.focused.row_id == view.stack.rows[1].id
    assert view.walk.place is None
    QTest.keyClick(view, Key.Key_Down)
    assert view.walk.place == Place(view.stack.rows[1].id)


def test_what_is_walked_to_comes_on_screen(qapp: QApplication) -> None:
    view = shown(Theme(), [answer("words\n\n" * 300, f"a{number}") for number in range(5)])
    view.setFocus(Qt.FocusReason.TabFocusReason)
    view.walk.go(Place("a0", (150,)))
    settle(view)
    seen = view.viewport().rect()
    assert seen.contains(view.walk.rect(Place("a0", (150,))))
    assert not seen.intersects(view.walk.rect(Place("a0", (2,))))
    assert view.walk.rect(Place("a4", (3,))).isEmpty()


def test_a_structured_answer_and_a_question_are_read_line_by_line(qapp: QApplication) -> None:
    view = shown(Theme(), [question("One\n\n*two*"), answer('{\n"a": 1\n}', structured=True)])
    root = QAccessible.queryAccessibleInterface(view)
    assert [block.text(NAME) for block in blocks_of(root.child(0))] == ["One", "*two*"]
    code = root.child(1).child(0)
    assert code.text(NAME) == "JSON code, 3 lines"
    assert [line.text(NAME) for line in blocks_of(code)] == ["{", '"a": 1', "}"]


def test_everything_that_can_be_pressed_has_a_name_a_role_and_a_place(view: MessageView) -> None:
    settle(view)
    root = QAccessible.queryAccessibleInterface(view)
    messages = [root.child(number) for number in range(3)]
    found = [
        message.child(index) for message in messages for index in range(len(blocks_of(message)), message.childCount())
    ]
    assert len(found) >= 12
    for each in found:
        assert each.text(NAME)
        assert each.role() in (ROLE.PushButton, ROLE.Link, ROLE.CheckBox)
        assert not each.rect().isEmpty()
        assert each.parent() in messages


@pytest.mark.parametrize("percent", [80, 100, 200])
def test_every_target_is_large_enough(qapp: QApplication, percent: int) -> None:
    theme = Theme()
    theme.configure(mode="light", text_percent=percent)
    view = shown(
        theme, [answer("Text", sources=SOURCES, receipt=RECEIPT, state="interrupted", actions=("copy", "more"))]
    )
    for _, each, _ in controls(view):
        if each.look != "none":
            assert min(each.rect.width(), each.rect.height()) >= 24, each


def test_the_focused_control_is_the_focused_child(view: MessageView) -> None:
    spot = next(controls(view))[0]
    view.set_focused(spot)
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.focusChild() is not None
    assert interface.focusChild().text(NAME)
    view.set_focused(None)
    assert interface.focusChild() is None


def test_a_message_that_is_gone_is_not_valid(view: MessageView) -> None:
    message = QAccessible.queryAccessibleInterface(view).child(2)
    assert message.isValid()
    view.set_messages([question("Other", "other")])
    assert not message.isValid()
    assert message.text(NAME) == ""


def test_a_message_off_screen_can_be_read_and_counts(qapp: QApplication) -> None:
    view = shown(Theme(), [answer("words " * 2000, f"a{number}") for number in range(5)])
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.childCount() == 5
    assert not interface.child(0).state().offscreen  # readers leave what is off screen out of their count
    assert len(interface.child(0).child(0).text(NAME)) > 10_000
    assert interface.childAt(*interface.child(4).rect().center().toTuple()) is interface.child(4)
