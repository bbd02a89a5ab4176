"""A label is read as it stands: no name for screen readers ever leaves its text out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from app.ui.kit.key_text import key_text
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.key_hint import key_words
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.receipt_line import ReceiptLine, Run
from app.ui.transcription.level_meter import RecordingClock

APP = Path(__file__).resolve().parents[2] / "app"


def clock(theme: Theme) -> QLabel:
    made = RecordingClock(theme)
    made.set_seconds(65)
    return made


# Every class of labels with words, made with a text. `Label` makes it true for each that is made of it.
KINDS: dict[str, Callable[[Theme], QLabel]] = {
    "Badge": lambda theme: Badge(theme, "Preview"),
    "Label": lambda theme: Label(theme, "Preview"),
    "ReceiptLine": lambda theme: ReceiptLine(theme, (Run("$0.0019"), Run("6.9 s"))),
    "RecordingClock": clock,
}
PICTURES = {"IconLabel"}


def name_of(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def base_names(node: ast.ClassDef) -> set[str]:
    return {base.id for base in node.bases if isinstance(base, ast.Name)}


def test_every_class_of_labels_is_looked_at_here() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in APP.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef) and "QLabel" in base_names(node)}
    assert classes == set(KINDS) | PICTURES
    plain = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "QLabel"]
    assert [ast.unparse(node) for node in plain if node.args] == []  # words stand in a Label


@pytest.mark.parametrize("kind", KINDS)
def test_the_name_of_a_label_says_its_text(qtbot, theme: Theme, kind: str) -> None:
    label = KINDS[kind](theme)
    qtbot.addWidget(label)
    assert label.text() and label.text() in name_of(label)


def test_a_name_comes_before_the_text_and_never_instead_of_it(qtbot, theme: Theme) -> None:
    label = Label(theme, "$12.40")
    qtbot.addWidget(label)
    label.setAccessibleName("Balance of Marlow")
    assert name_of(label) == "Balance of Marlow: $12.40"
    label.set_text("$11.00")
    assert name_of(label) == "Balance of Marlow: $11.00"


def test_a_name_that_holds_the_text_is_said_alone(qtbot, theme: Theme) -> None:
    label = Label(theme, "0x19E7…AFF2A")
    qtbot.addWidget(label)
    label.setAccessibleName("Address 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAFF2A")
    assert name_of(label) == "Address 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAFF2A"


def test_a_label_without_text_is_no_part_of_a_dialogs_description(qtbot, theme: Theme) -> None:
    label = Label(theme)
    qtbot.addWidget(label)
    label.setAccessibleName("Problem")
    assert name_of(label) == ""
    label.set_text("The words do not match.")
    assert name_of(label) == "Problem: The words do not match."
    label.set_text("")
    assert name_of(label) == ""


def test_a_problem_is_said_once_when_it_comes(qtbot, theme: Theme, heard: list[str]) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    problem = ProblemLabel(theme)
    QVBoxLayout(page).addWidget(problem)
    problem.set_text("Hidden pages are silent.")
    page.show()
    for words in ("Enter a date.", "Enter a date.", "", "Enter a date."):
        problem.set_text(words)
    assert heard == ["Enter a date.", "Enter a date."]


def test_a_problem_is_said_once_with_the_field_that_the_keyboard_goes_to(qtbot, theme: Theme, heard: list[str]) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    problem, field, other = ProblemLabel(theme), QLineEdit(), QLineEdit()
    layout = QVBoxLayout(page)
    for widget in (field, other, problem):
        layout.addWidget(widget)
    page.show()
    other.setFocus()
    problem.show_field_error(field, "Enter a date.")
    assert (page.focusWidget(), field.accessibleDescription()) == (field, "Enter a date."), "said with the field"
    assert heard == []
    problem.set_text("")
    problem.show_field_error(field, "Enter a date.")
    assert heard == ["Enter a date."], "the keyboard stays, and no field is said"


def test_what_a_key_does_is_said_with_the_key(qtbot, theme: Theme) -> None:
    """A reader says the labels of a popover that opens; what a key does means nothing without it."""
    label = key_words(theme, "Ctrl+Return", "Use for new chats")
    qtbot.addWidget(label)
    assert name_of(label) == f"{key_text('Ctrl+Return')}: Use for new chats"
