"""Text that comes: gathered, shown in order, followed or not, ended, interrupted, gone on with."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication

from app.ui.conversation.announcer import Announcer
from app.ui.conversation.text_boxes import ProseBox
from app.ui.conversation.units import BODY, FOOTER, HEAD, THOUGHT
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.kit.message_view import (
    RECEIPT,
    RICH,
    SOURCES,
    answer,
    click,
    described,
    question,
    settle,
    shown,
    visible_text,
)


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Theme:
    theme = Theme()
    theme.apply(qapp)
    return theme


@pytest.fixture
def live(theme: Theme) -> MessageView:
    return shown(theme, [question(), answer(state="streaming", citations=True)])


def sections(view: MessageView) -> list[int]:
    return [placed.key[0] for placed in view.stack.placed if placed.row == len(view.stack.rows) - 1]


def feed(view: MessageView, text: str, size: int = 5) -> None:
    for at in range(0, len(text), size):
        view.append_text("a", text[at : at + size])


def test_an_answer_that_has_not_begun_shows_its_caret(live: MessageView) -> None:
    assert live.picture.caret is not None


def test_text_is_gathered_and_shown_together(live: MessageView) -> None:
    feed(live, "Some words.")
    assert "Some words." not in visible_text(live)
    settle(live)
    assert "Some words." in visible_text(live)


def test_a_row_knows_its_text_before_it_is_shown(live: MessageView) -> None:
    feed(live, "At once.")
    assert live.row("a").text == "At once."


def test_a_streamed_answer_ends_as_the_same_answer_opened(theme: Theme, live: MessageView) -> None:
    live.resize(800, 2400)
    for at in range(0, len(RICH), 11):
        live.append_text("a", RICH[at : at + 11])
        live.stream.flush()
        QApplication.processEvents()
    live.update_row("a", sources=SOURCES)
    live.end_stream("a")
    settle(live)
    other = shown(theme, [question(), answer(RICH, citations=True, sources=SOURCES)], height=2400)
    settle(other)
    assert drawn(live) == drawn(other)
    assert live.grab().toImage() == other.grab().toImage()


def test_copied_pixels_and_painted_strips_add_up_to_a_whole_paint(qapp: QApplication) -> None:
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    view = shown(theme, [question(), answer(state="streaming", citations=True)], width=700, height=300)
    for number, at in enumerate(range(0, len(RICH), 23)):
        view.append_text("a", RICH[at : at + 23])
        settle(view)
        if number % 4 == 1:
            view.scroll_px(-37 * number)
            settle(view)
        elif number % 4 == 3:
            view.scroll_to_end()
            settle(view)
        on_screen = view.screen().grabWindow(view.winId()).toImage()
        assert on_screen == view.grab().toImage().convertToFormat(on_screen.format()), number


def test_the_view_follows_while_its_end_is_on_screen(live: MessageView) -> None:
    for number in range(40):
        feed(live, f"Paragraph {number} of the answer.\n\n")
        settle(live)
        assert live.at_end


def test_scrolling_up_freezes_the_place_and_says_what_comes_below(live: MessageView) -> None:
    feed(live, "Many words of an answer.\n\n" * 60)
    settle(live)
    spy = QSignalSpy(live.new_text_below)
    live.scroll_px(-200)
    settle(live)
    before = [(placed.key, placed.y) for placed in live.stack.placed]
    feed(live, "More words.\n\n" * 30)
    settle(live)
    assert [(placed.key, placed.y) for placed in live.stack.placed] == before
    assert [spy.at(i)[0] for i in range(spy.count())] == [True]
    live.scroll_to_end()
    settle(live)
    assert [spy.at(i)[0] for i in range(spy.count())] == [True, False]
    feed(live, "Last.")
    settle(live)
    assert live.at_end


def test_no_half_of_a_marker_is_ever_drawn(live: MessageView) -> None:
    """R-EXT-19: the marker may come in any pieces."""
    live.update_row("a", sources=SOURCES)
    for character in "A fact.[REF]0, 2[/REF] Another.^2^ And **bold** `code` [link](https://example.org/x).":
        live.append_text("a", character)
        live.stream.flush()
        text = visible_text(live)
        assert not any(part in text for part in ("[R", "REF", "[/", "^", "**", "`", "](", "[ ")), text
    live.end_stream("a")
    settle(live)
    assert "A fact. [1] [3] Another. [2] And bold code link." in visible_text(live)


def test_markers_are_left_alone_without_search(theme: Theme) -> None:
    view = shown(theme, [answer(state="streaming")])
    view.append_text("a", "two squared is 2^2")
    settle(view)
    assert "2^2" in visible_text(view)


def test_an_ended_answer_holds_nothing_back(live: MessageView) -> None:
    feed(live, "An open [REF]0")
    live.end_stream("a")
    settle(live)
    assert "[REF]0" in visible_text(live)
    assert live.picture.caret is None


def test_buttons_come_when_the_answer_has_ended(live: MessageView) -> None:
    feed(live, "Words.")
    settle(live)
    assert FOOTER not in sections(live)
    live.end_stream("a")
    live.update_row("a", receipt=RECEIPT)
    settle(live)
    assert FOOTER in sections(live)


def test_a_receipt_that_grows_leaves_the_text_alone(live: MessageView) -> None:
    feed(live, "First paragraph.\n\nThe second paragraph")
    settle(live)
    boxes = [box for placed in live.stack.placed if placed.key[0] == BODY for box in placed.unit.boxes]
    feed(live, " goes on")
    live.update_row("a", receipt=RECEIPT)
    settle(live)
    assert boxes == [box for placed in live.stack.placed if placed.key[0] == BODY for box in placed.unit.boxes]
    assert "The second paragraph goes on" in visible_text(live)


def test_text_that_comes_right_before_the_end_is_not_lost(live: MessageView) -> None:
    feed(live, "x " * 20_000)
    live.update_row("a", state="complete")
    assert live.row("a").text == "x " * 20_000
    settle(live)
    model = live.stack.model(1)
    assert model.answer.is_finished
    assert model.answer.text == "x " * 20_000


def test_an_interrupted_answer_can_go_on(live: MessageView) -> None:
    feed(live, "Half a sent")
    live.update_row("a", state="interrupted", state_text="3 tokens kept.")
    settle(live)
    live.begin_stream("a")
    feed(live, "ence, now whole.")
    settle(live)
    assert "Half a sentence, now whole." in visible_text(live)
    live.end_stream("a")
    settle(live)
    assert live.row("a").state == "complete"


def test_an_answer_can_be_replaced(live: MessageView) -> None:
    feed(live, "Wrong")
    settle(live)
    live.update_row("a", text="Right", state="complete")
    settle(live)
    assert "Right" in visible_text(live)
    assert "Wrong" not in visible_text(live)


def test_text_for_a_row_that_is_not_there_is_an_error(live: MessageView) -> None:
    with pytest.raises(KeyError):
        live.append_text("nobody", "x")
    live.end_stream("nobody")


def test_another_chat_in_the_middle_of_a_stream_starts_clean(live: MessageView) -> None:
    feed(live, "Old text that has not been shown")
    live.set_messages([question("New", "n"), answer("Other", "o")])
    settle(live)
    assert visible_text(live).split("\n") == ["New", "Other"]


# -- thoughts ---------------------------------------------------------------------------------------------------------


def test_thoughts_are_open_while_they_come_and_fold_when_the_answer_starts(live: MessageView) -> None:
    live.append_reasoning("a", "Let me think about it.")
    settle(live)
    assert sections(live) == [HEAD, THOUGHT]
    assert "Let me think" in visible_text(live)
    live.append_text("a", "The answer.")
    settle(live)
    assert sections(live) == [HEAD, BODY]


def test_the_persons_choice_about_thoughts_wins(live: MessageView) -> None:
    live.append_reasoning("a", "Thinking aloud.")
    settle(live)
    click(live, "Thinking")
    settle(live)
    assert sections(live)[:2] == [HEAD, BODY]
    click(live, "Thinking")
    live.append_text("a", "The answer.")
    settle(live)
    assert sections(live) == [HEAD, THOUGHT, BODY]


def test_thoughts_are_timed_when_nobody_else_did(live: MessageView) -> None:
    live.append_reasoning("a", "Hm.")
    settle(live)
    live.append_text("a", "So.")
    settle(live)
    memory = live.stack.memory("a")
    assert memory.thought_s is not None
    assert memory.thought_s >= 0


# -- nothing moves when nothing happens -------------------------------------------------------------------------------


def test_no_timer_runs_when_nothing_comes(theme: Theme, live: MessageView) -> None:
    feed(live, "Words and\n\n```py\ncode\n```\n")
    live.end_stream("a")
    settle(live)
    assert [timer.interval() for timer in live.findChildren(QTimer) if timer.isActive()] == []


def test_a_hidden_view_has_no_blinking_caret(live: MessageView) -> None:
    assert any(timer.isActive() for timer in live.findChildren(QTimer))
    live.hide()
    assert not any(timer.isActive() for timer in live.findChildren(QTimer))


def test_the_caret_rests_with_reduced_motion(qapp: QApplication) -> None:
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    view = shown(theme, [answer("x", state="streaming")])
    settle(view)
    assert view.picture.caret is not None
    assert not any(timer.isActive() for timer in view.findChildren(QTimer))


# -- screen readers ---------------------------------------------------------------------------------------------------


def test_every_sentence_is_announced_once(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    view = MessageView(theme)
    monkeypatch.setattr(QAccessible, "isActive", lambda: False)
    announcer = Announcer(view)
    said: list[str] = []
    for piece in (
        "The **fir",
        "st** sentence.[REF]0[/REF] The sec",
        "ond one! And `code`",
        " in it.\n```py\nx = 1.0\n",
        "```\nLast",
    ):
        said += announcer.add(piece)
    said += announcer.finish()
    assert said == ["The first sentence.", "The second one!", "And code in it.", "Code.", "Last"]


def drawn(view: MessageView) -> list[object]:
    found: list[object] = []
    for placed in view.stack.placed:
        found.append((placed.key, placed.y, placed.unit.height))
        found += [described(box) for box in placed.unit.boxes if isinstance(box, ProseBox)]
    return found
