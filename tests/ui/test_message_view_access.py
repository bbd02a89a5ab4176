"""What a screen reader finds: messages in order, their words, and what can be pressed in them."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.kit.message_view import RECEIPT, SOURCES, answer, controls, question, settle, shown

NAME, VALUE, DESCRIPTION = QAccessible.Text.Name, QAccessible.Text.Value, QAccessible.Text.Description


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
        "Answer: Because **of** this.[REF]0[/REF] ```py x = 1 ```",
        "Answer: Stopped early. Half",
    ]


def test_a_message_tells_its_text_and_its_receipt(view: MessageView) -> None:
    message = QAccessible.queryAccessibleInterface(view).child(1)
    assert message.text(VALUE).startswith("Because **of** this.")
    assert message.text(DESCRIPTION) == "$0.0007 · in 812 · out 164 · 3.1 s"
    assert message.role() == QAccessible.Role.ListItem


def test_everything_that_can_be_pressed_has_a_name_a_role_and_a_place(view: MessageView) -> None:
    settle(view)
    root = QAccessible.queryAccessibleInterface(view)
    found = [
        (number, message.child(index))
        for number in range(3)
        for message in [root.child(number)]
        for index in range(message.childCount())
    ]
    assert len(found) >= 12
    for _, each in found:
        assert each.text(NAME)
        assert each.role() in (QAccessible.Role.PushButton, QAccessible.Role.Link, QAccessible.Role.CheckBox)
        assert not each.rect().isEmpty()
        assert each.parent() is not None


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


def test_a_message_off_screen_says_so(qapp: QApplication) -> None:
    view = shown(Theme(), [answer("words " * 2000, f"a{number}") for number in range(5)])
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.child(0).state().offscreen
    assert not interface.child(4).state().offscreen
    assert interface.childAt(*interface.child(4).rect().center().toTuple()) is interface.child(4)
