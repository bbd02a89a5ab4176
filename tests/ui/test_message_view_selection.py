"""Selecting and copying: by mouse and key, in one paragraph or over many messages."""

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.conversation.selection import Selection, selected_text
from app.ui.conversation.units import BODY, THOUGHT
from app.ui.conversation.view import MessageView
from app.ui.kit.markdown.citations import in_numbers
from app.ui.kit.theme import Theme
from tests.kit.message_view import RICH, SOURCES, answer, click, drag, mouse, plain_theme, question, settle, shown


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Theme:
    return plain_theme(qapp)


def copied(view: MessageView) -> str:
    """Copy by key and return what the clipboard holds then."""
    QGuiApplication.clipboard().setText("nothing")
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QGuiApplication.clipboard().text()


def at_text(view: MessageView, words: str, *, after: bool = False) -> QPointF:
    """Return the point in the middle of the line right before (or after) `words`."""
    for placed in view.stack.placed:
        for box in placed.unit.boxes:
            raw = box.document.toRawText() if hasattr(box, "document") else ""
            if words in raw:
                position = raw.index(words) + (len(words) if after else 0)
                band = box.bands(position, position + 1)[0]
                return view.pointer.origin_of(placed, box) + QPointF(band.left(), band.center().y())
    raise AssertionError(words)


def test_a_drag_selects_from_letter_to_letter(theme: Theme) -> None:
    view = shown(theme, [answer("One two three four five.", actions=())])
    drag(view, at_text(view, "two"), at_text(view, "five"))
    assert copied(view) == "two three four "


def test_a_drag_backwards_selects_the_same(theme: Theme) -> None:
    view = shown(theme, [answer("One two three four five.", actions=())])
    drag(view, at_text(view, "five"), at_text(view, "two"))
    assert copied(view) == "two three four "


def test_a_selection_runs_over_paragraphs_code_and_lists(theme: Theme) -> None:
    text = "First **paragraph**.\n\n```py\nx = 1\n```\n\n1. one\n2. two `code`\n\nThe end."
    view = shown(theme, [answer(text, actions=())])
    drag(view, at_text(view, "paragraph"), at_text(view, "end"))
    assert copied(view) == "paragraph.\n\nx = 1\n\n1. one\n2. two code\n\nThe "


def test_whole_messages_are_copied_as_they_came(theme: Theme) -> None:
    view = shown(
        theme,
        [question("Why **so**?", "q1"), answer(RICH, citations=True, reasoning="secret"), question("Thanks", "q2")],
    )
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert copied(view) == f"**You**\n\nWhy **so**?\n\n**Answer**\n\n{in_numbers(RICH.strip())}\n\n**You**\n\nThanks"


def test_selecting_everything_takes_nothing_apart(theme: Theme) -> None:
    rows = [answer(f"Answer {number}", f"a{number}") for number in range(500)]
    view = shown(theme, rows)
    before = len(view.stack.known_models())
    view.select_all()
    assert copied(view).count("**Answer**") == 500
    assert len(view.stack.known_models()) <= before + 2


def test_one_whole_message_has_no_heading(theme: Theme) -> None:
    view = shown(theme, [answer("Only *this*.", actions=())])
    view.select_all()
    assert copied(view) == "Only *this*."


def test_a_double_click_selects_a_word_and_a_third_the_paragraph(theme: Theme) -> None:
    view = shown(theme, [answer("One two-three four.\n\nOther.", actions=())])
    at = at_text(view, "four") + QPointF(4, 0)
    press = QEvent.Type.MouseButtonPress
    release = QEvent.Type.MouseButtonRelease
    mouse(view, press, at)
    mouse(view, release, at)
    mouse(view, QEvent.Type.MouseButtonDblClick, at)
    mouse(view, release, at)
    assert copied(view) == "four"
    mouse(view, press, at)
    mouse(view, release, at)
    assert copied(view) == "One two-three four."


def test_words_are_selected_whole_when_a_double_click_is_drawn_on(theme: Theme) -> None:
    view = shown(theme, [answer("One two three four five.", actions=())])
    at = at_text(view, "two") + QPointF(4, 0)
    mouse(view, QEvent.Type.MouseButtonPress, at)
    mouse(view, QEvent.Type.MouseButtonRelease, at)
    mouse(view, QEvent.Type.MouseButtonDblClick, at)
    mouse(view, QEvent.Type.MouseMove, at_text(view, "four") + QPointF(9, 0))
    mouse(view, QEvent.Type.MouseButtonRelease, at_text(view, "four") + QPointF(9, 0))
    assert copied(view) == "two three four"


def test_shift_and_click_extends(theme: Theme) -> None:
    view = shown(theme, [answer("One two three four five.", actions=())])
    drag(view, at_text(view, "two"), at_text(view, "three"))
    mouse(view, QEvent.Type.MouseButtonPress, at_text(view, "five"), Qt.KeyboardModifier.ShiftModifier)
    mouse(view, QEvent.Type.MouseButtonRelease, at_text(view, "five"), Qt.KeyboardModifier.ShiftModifier)
    assert copied(view) == "two three four "


def test_a_click_clears(theme: Theme) -> None:
    view = shown(theme, [answer("One two three.", actions=())])
    drag(view, at_text(view, "One"), at_text(view, "three"))
    mouse(view, QEvent.Type.MouseButtonPress, at_text(view, "two"))
    mouse(view, QEvent.Type.MouseButtonRelease, at_text(view, "two"))
    assert view.selection.range is None
    assert copied(view) == "nothing"


def test_thoughts_are_never_copied_with_the_answer(theme: Theme) -> None:
    view = shown(
        theme,
        [question("Hm?"), answer("The answer is this.", reasoning="Secret ideas.", reasoning_open=True, actions=())],
    )
    drag(view, at_text(view, "Hm"), at_text(view, "this"))
    assert "Secret" not in copied(view)
    drag(view, at_text(view, "Secret"), at_text(view, "ideas"))
    assert copied(view) == "Secret "
    assert {key[0] for placed in view.stack.placed for key in [placed.key]} >= {THOUGHT, BODY}


def test_citations_are_copied_as_numbers_and_as_source_when_asked(theme: Theme) -> None:
    view = shown(theme, [answer("A fact.[REF]1[/REF] More words.", citations=True, sources=SOURCES, actions=())])
    drag(view, at_text(view, "fact"), at_text(view, "words"))
    assert copied(view) == "fact. [2] More "
    assert selected_text(view.stack, view.selection, as_source=True) == "A fact.[2] More words."


def test_table_cells_are_copied_with_tabs(theme: Theme) -> None:
    view = shown(theme, [answer("Above\n\n| a | b |\n|--|--|\n| one | two |\n| three | four |\n\nBelow", actions=())])
    drag(view, at_text(view, "one"), at_text(view, "Below"))
    assert copied(view) == "one\ttwo\nthree\tfour"


def test_a_drag_beyond_the_edge_scrolls_on(theme: Theme, qtbot: QtBot) -> None:
    view = shown(theme, [answer("Words of a paragraph.\n\n" * 100, actions=())])
    view.scroll_to_start()
    settle(view)
    first = view.stack.placed[0]
    start = QPointF(view.picture.left + 2, first.y + first.unit.gap + 4)
    mouse(view, QEvent.Type.MouseButtonPress, start)
    below = QPointF(start.x() + 40, view.viewport().height() + 80)
    mouse(view, QEvent.Type.MouseMove, below)
    before = view.stack.anchor.key
    qtbot.waitUntil(lambda: view.stack.anchor.key > before and copied(view).count("Words") > 20, timeout=60_000)
    mouse(view, QEvent.Type.MouseButtonRelease, below)
    assert copied(view).count("Words") > 20


def test_what_is_selected_is_seen(theme: Theme) -> None:
    view = shown(theme, [answer(RICH, citations=True)])
    settle(view)
    plain = view.grab().toImage()
    view.select_all()
    assert view.grab().toImage() != plain


def test_a_selection_survives_text_that_comes(theme: Theme) -> None:
    view = shown(theme, [answer("First paragraph here.\n\nSecond", state="streaming")])
    drag(view, at_text(view, "paragraph"), at_text(view, "here"))
    view.append_text("a", " paragraph goes on and on.\n\nAnd a third.")
    settle(view)
    assert copied(view) == "paragraph "


def test_pressing_a_button_keeps_the_selection(theme: Theme) -> None:
    view = shown(theme, [answer("One two three.")])
    drag(view, at_text(view, "One"), at_text(view, "three"))
    click(view, "More")
    assert copied(view) == "One two "


def test_ends_are_kept_in_reading_order() -> None:
    selection = Selection()
    assert selection.range is None
    selection.start((3, 2, 0, 0, 5))
    selection.extend((1, 2, 0, 0, 2))
    assert selection.range == ((1, 2, 0, 0, 2), (3, 2, 0, 0, 5))
    selection.clear()
    assert selection.range is None


def test_a_selection_over_parts_of_two_turns_is_plain_text_throughout(theme: Theme) -> None:
    view = shown(theme, [question("Why **so**?", "q1"), answer("Some *words* and more of them.")])
    boxes = [(placed, box) for placed in view.stack.placed for box in placed.unit.boxes if box.length]
    end = boxes[1]
    view.selection.start((0, *boxes[0][0].key, 0, 4), (1, *end[0].key, 0, 10))
    assert copied(view) == "You\n\n**so**?\n\nAnswer\n\nSome words"
