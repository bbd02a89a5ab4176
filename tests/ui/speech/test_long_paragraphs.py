"""A paragraph that is too long to be written in: shown in pieces, never changed unasked, spoken and copied as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.service.speech_text import sentences
from app.ui.kit.theme import Theme
from app.ui.speech.editor import SpeechEditor
from app.ui.speech.long_paragraphs import LINE, LONGEST, PARAGRAPH, breaks, broken, has_long, shown
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until
from tests.ui.speech.test_editor import made, marked, paste

SENTENCE = "The harbour 🎉 lies still in the morning. "
LONG = "Short.\n" + SENTENCE * 2_500 + "\nThe end."  # 100,000 characters without a line break


def in_place(editor: SpeechEditor, qtbot: QtBot) -> None:
    """Wait until all of a text has come."""
    qtbot.waitUntil(lambda: not editor.is_filling, timeout=60_000)


def test_a_long_paragraph_is_shown_in_blocks_and_its_text_is_what_it_was(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    told: list[str] = []
    editor.edited.connect(told.append)
    editor.set_text(LONG)
    in_place(editor, qtbot)
    block, lengths = editor.document().firstBlock(), []
    while block.isValid():
        lengths.append(block.length())
        block = block.next()
    assert max(lengths) <= LINE * 1.1, "Qt counts an emoji as two"
    assert editor.text() == LONG and editor.isReadOnly()
    editor.flush()
    assert told == []
    for sentence in (sentences(LONG)[0], sentences(LONG)[1234], sentences(LONG)[-1]):
        editor.show_spoken(sentence)
        assert marked(editor) == sentence.of(LONG)
        assert editor.character_at(editor._place_of(sentence.start)) == sentence.start
    editor.selectAll()
    editor.copy()
    assert QGuiApplication.clipboard().text() == LONG, "no break that is not there is copied"
    editor.set_text("Short again.")
    assert editor.toPlainText() == "Short again." and not editor.isReadOnly()


def test_a_long_paste_is_taken_back_by_undo_and_can_be_broken_and_written_in(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    told: list[str] = []
    editor.edited.connect(told.append)
    QTest.keyClicks(editor, "Before ")
    paste(editor, LONG)
    in_place(editor, qtbot)
    assert told[-1] == editor.text() == "Before " + LONG
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert told[-1] == editor.text() == editor.toPlainText() == "Before " and not editor.isReadOnly()
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    in_place(editor, qtbot)
    assert editor.text() == "Before " + LONG, "and undone once more it is there again"
    editor.break_lines()
    in_place(editor, qtbot)
    assert told[-1] == editor.text() and not editor.isReadOnly()
    assert told[-1].split() == ("Before " + LONG).split()
    assert max(map(len, told[-1].split("\n"))) <= PARAGRAPH
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    in_place(editor, qtbot)
    assert editor.text() == "Before " + LONG


async def test_writing_in_a_text_that_is_only_shown_says_why_and_its_button_breaks_it(speech: SpeechHarness) -> None:
    main = speech.page.main
    speech.presenter.replace_text(LONG)
    await until(lambda: not main.editor.is_filling)
    assert main.long_note.isVisible()
    await until(lambda: len(speech.presenter.meter.parts) > 20)
    for key in ("x", Qt.Key.Key_Backspace, Qt.Key.Key_Return):
        QTest.keyClick(main.editor, key)
        assert speech.toasts.pop()[0].startswith("One paragraph has more than 16,000 characters.")
    data = QMimeData()
    data.setText("pasted")
    QGuiApplication.clipboard().setMimeData(data)
    QTest.keyClick(main.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert speech.toasts.pop()[0].startswith("One paragraph")
    assert main.editor.text() == LONG == speech.presenter.text
    main.long_note.findChild(QPushButton, "break").click()
    await until(lambda: not main.editor.is_filling)
    assert not main.long_note.isVisible()
    assert speech.presenter.text == main.editor.toPlainText() != LONG
    main.editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(main.editor, " And more.")
    main.editor.flush()
    assert speech.presenter.text.endswith("The end. And more.")


@pytest.mark.parametrize("key", ["paste", "letter", "cut"])
def test_all_of_a_long_text_is_written_over_by_what_comes_in_its_place(theme: Theme, qtbot: QtBot, key: str) -> None:
    editor = made(theme, qtbot)
    editor.set_text(LONG)
    in_place(editor, qtbot)
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    if key == "paste":
        QGuiApplication.clipboard().setText("Another text.")
        QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    elif key == "letter":
        QTest.keyClicks(editor, "Another text.")
    else:
        QTest.keyClick(editor, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == LONG
        QTest.keyClicks(editor, "Another text.")
    assert editor.text() == editor.toPlainText() == "Another text."


SIGNS = st.text(st.sampled_from("ab .!?。\n”🎉"), min_size=1, max_size=60)


@settings(max_examples=30, deadline=None)
@given(SIGNS, st.integers(-LINE, 2 * LINE))
def test_whatever_is_written_breaks_lie_between_characters_and_change_none(words: str, more: int) -> None:
    text = (words * (LONGEST + more))[: LONGEST + more]
    places = breaks(text)
    assert list(places) == sorted(set(places))
    assert all(0 < place < len(text) for place in places)
    parts = [text[a:b] for a, b in zip((0, *places), (*places, len(text)), strict=True)]
    assert shown(text, places) == "\n".join(parts)
    assert not has_long(shown(text, places))
    assert "".join(broken(text).split()) == "".join(text.split())
