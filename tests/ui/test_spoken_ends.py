"""What a screen reader is told of an answer: whole sentences without markup, how it ended, how long a wait lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.problems import Problem
from app.ui.conversation.announcer import Announcer
from app.ui.conversation.rows import ReceiptRun
from app.ui.kit.markdown.spoken import SpokenBlock, spoken_blocks
from app.ui.kit.theme import Theme
from app.ui.wallet.steps import Steps
from tests.kit.message_view import answer, shown

TABLE = "| Name | Size |\n|------|:----:|\n| a.txt. It | 2 |\n\n"


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        (TABLE, ["Table: Name, Size", "Name: a.txt. It, Size: 2"]),
        ("It lies in `~/.config/my_app`. \n", ["It lies in ~/.config/my_app."]),
        ("See [Take it: to Chat. Now](http://127.0.0.1:45031/a). \n", ["See Take it: to Chat. Now."]),
        ("~~~py\nx = 1.0\n~~~\nDone. ", ["Code.", "Done."]),
        ("Two **strong words. In two** sentences. ", ["Two strong words.", "In two sentences."]),
    ],
)
def test_sentences_are_said_without_their_markup(qtbot, markdown: str, said: list[str]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    announcer = Announcer(widget)
    heard = [words for letter in markdown for words in announcer.add(letter)]
    assert heard + announcer.finish() == said


def test_sentences_that_come_fast_wait_and_are_said_together_with_the_end(qtbot, heard: list[str]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    announcer = Announcer(widget)
    for text in ("One. ", "Two. ", "Three. ", "Four"):
        announcer.add(text)
    announcer.finish("Answer complete.")
    assert heard == ["One.", "Two. Three. Four Answer complete."]


@pytest.mark.parametrize(
    ("state", "said"),
    [("complete", "Yes Answer complete, $0.0101."), ("stopped", "Yes Stopped. 126 tokens kept.")],
)
def test_the_end_of_an_answer_is_said_once(qtbot, theme: Theme, heard: list[str], state: str, said: str) -> None:
    view = shown(theme, [answer("", state="streaming")])
    qtbot.addWidget(view)
    view.append_text("a", "Yes")
    receipt = (ReceiptRun("$0.0101", strong=True), ReceiptRun("in 12"))
    for _ in range(2):
        view.update_row("a", state=state, receipt=receipt, state_text="126 tokens kept.")
    view.end_stream("a")
    assert heard == [said]


def test_a_wait_in_the_conversation_is_said_at_its_marks(qtbot, theme: Theme, heard: list[str]) -> None:
    until = datetime.now(UTC) + timedelta(seconds=30.5)
    problem = Problem("Too many requests", "Tries again", countdown_until=until)
    view = shown(theme, [answer("", state="failed", problem=problem)])
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: "30 seconds left" in heard, timeout=60_000)
    assert heard.count("30 seconds left") == 1


def test_the_next_step_is_said(qtbot, theme: Theme, heard: list[str]) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    steps = Steps(theme)
    QVBoxLayout(page).addWidget(steps)
    steps.show_step(("Amount", "Payment"), 0)
    page.show()
    for _ in range(2):
        steps.show_step(("Amount", "Payment"), 1)
    assert heard == ["Step 2 of 2: Payment"]


def test_the_blocks_of_a_message_are_plain_text() -> None:
    source = "## Where\n\nIn *one* place.\n\n- `a_b`\n- two\n\n```py\nx = 1\ny = 2\n```\n\n" + TABLE
    assert spoken_blocks(source) == (
        SpokenBlock("heading", "Where", level=2),
        SpokenBlock("paragraph", "In one place."),
        SpokenBlock("item", "a_b"),
        SpokenBlock("item", "two"),
        SpokenBlock("code", "x = 1\ny = 2", language="py"),
        SpokenBlock("row", "Name, Size"),
        SpokenBlock("row", "Name: a.txt. It, Size: 2"),
    )
