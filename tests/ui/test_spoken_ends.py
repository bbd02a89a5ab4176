"""What a screen reader is told of an answer: whole sentences without markup, how it ended, how long a wait lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.problems import Problem
from app.ui.chat.find_bar import FindBar
from app.ui.conversation.announcer import Announcer
from app.ui.conversation.rows import ReceiptRun
from app.ui.kit.markdown.spoken import SpokenBlock, flat, spoken_blocks
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.video.inspector import Inspector
from app.ui.video.posters import Posters
from app.ui.video.state import Detail
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
    widget.show()
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
    blocks = spoken_blocks(source)
    assert [(row.text, [cell.text for cell in row.children]) for row in blocks[-1].children] == [
        ("Name, Size", ["Name", "Size"]),
        ("Name: a.txt. It, Size: 2", ["Name: a.txt. It", "Size: 2"]),
    ]
    assert [line.text for line in blocks[4].children] == ["x = 1", "y = 2"]
    assert flat(blocks) == (
        SpokenBlock("heading", "Where", level=2),
        SpokenBlock("paragraph", "In one place."),
        SpokenBlock("item", "a_b"),
        SpokenBlock("item", "two"),
        SpokenBlock("code", "x = 1\ny = 2", language="py"),
        SpokenBlock("row", "Name, Size"),
        SpokenBlock("row", "Name: a.txt. It, Size: 2"),
    )


def test_what_is_not_on_screen_says_nothing(qtbot, heard: list[str]) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    other_tab = QWidget(window)
    other_tab.hide()
    speaker = QWidget(other_tab)
    window.show()
    announce(speaker, "Not available")
    other_tab.show()
    announce(speaker, "Here")
    assert heard == ["Here"]


@pytest.mark.parametrize(("wait_s", "said"), [(20, "20 seconds left"), (75, "1 min 15 s left")])
def test_an_error_that_counts_down_says_for_how_long(
    qtbot, theme: Theme, heard: list[str], wait_s: int, said: str
) -> None:
    card = ErrorCard(theme)
    qtbot.addWidget(card)
    card.show()
    until = datetime.now(UTC) + timedelta(seconds=wait_s - 0.1)
    card.set_problem(Problem("Too many requests", "Tries again.", countdown_until=until))
    assert heard == [f"Too many requests. Tries again. {said}"]


def test_a_search_says_how_much_it_found_after_a_pause_and_once(qtbot, theme: Theme, heard: list[str]) -> None:
    found = {"ann": 2, "anna": 2, "annabel": 0}
    field = SearchField(theme, "Find", results=lambda: results_words(found[field.text()]))
    qtbot.addWidget(field)
    field.show()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus, timeout=60_000)
    QTest.keyClicks(field, "ann")
    qtbot.waitUntil(lambda: heard == ["2 results"], timeout=60_000)
    field.say_results()  # rows came that change nothing
    QTest.keyClicks(field, "abel")
    qtbot.waitUntil(lambda: heard == ["2 results", "No results."], timeout=60_000)


def test_find_in_a_chat_says_the_place_and_its_sentence(qtbot, theme: Theme, heard: list[str]) -> None:
    view = shown(theme, [answer("The **tide** turns. High tide is at six.\n\nNo more.")])
    qtbot.addWidget(view)
    bar = FindBar(theme, view)
    qtbot.addWidget(bar)
    bar.show()
    bar.search_for("tide")
    bar.step(1)
    assert heard == ["2 of 2: High tide is at six."]


def test_a_video_says_how_long_it_takes_once_that_is_known_and_half_way(qtbot, theme: Theme, heard: list[str]) -> None:
    pane = Inspector(theme, Posters())
    qtbot.addWidget(pane)
    pane.show()
    shares = {"Sending.": -1.0, "1 s so far.": -1.0, "9 s left.": 0.1, "6 s left.": 0.4, "4 s left.": 0.55, "1 s": 0.9}
    for words, share in shares.items():
        pane.show_detail(Detail("v1", "a lighthouse", share=share, progress=words))
    pane.show_detail(Detail("v2", "a harbor", share=0.7, progress="3 s left."))
    assert heard == ["9 s left.", "4 s left."]
