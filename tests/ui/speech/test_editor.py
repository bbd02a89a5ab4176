"""The editor: what is marked is what is heard, whatever is written in it, and a long text does not stop the window."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.service.speech_text import Span, parts, sentences
from app.ui.kit.theme import Theme
from app.ui.speech.editor import NOTHING_YET, PIECE, SpeechEditor


def made(theme: Theme, qtbot: QtBot) -> SpeechEditor:
    editor = SpeechEditor(theme)
    qtbot.addWidget(editor)
    editor.resize(700, 400)
    editor.show()
    return editor


def marked(editor: SpeechEditor) -> str:
    (mark,) = editor.extraSelections()
    return mark.cursor.selectedText()


def test_a_sentence_behind_emoji_is_marked_and_found_again(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    text = "Hello 👋🏽 there! 🎉 It is quiet. 你好。Good night."
    editor.set_text(text)
    for span in sentences(text):
        editor.show_spoken(span)
        assert marked(editor) == span.of(text)
        (mark,) = editor.extraSelections()
        assert editor.character_at(mark.cursor.selectionStart()) == span.start
    editor.show_spoken(None)
    assert editor.extraSelections() == []


def test_what_is_spoken_stays_in_view_after_speak_until_somebody_writes(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    text = "It is quiet here. " * 400
    editor.set_text(text)
    editor.activateWindow()
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus, timeout=60_000)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    bar = editor.verticalScrollBar()
    assert bar.value() > 0
    editor.follow()
    editor.show_spoken(Span(0, 17))
    assert bar.value() == 0
    QTest.keyClicks(editor, "x")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    below = bar.value()
    editor.show_spoken(Span(18, 35))
    assert bar.value() == below, "who writes is not carried off"


def test_whoever_scrolls_away_from_what_is_heard_is_left_there(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)  # without the keyboard, as after a press on Play
    editor.set_text("It is quiet here. " * 400)
    bar = editor.verticalScrollBar()
    editor.show_spoken(Span(0, 17))
    wheel(editor)
    away = bar.value()
    assert away > 0
    editor.show_spoken(Span(18, 35))
    assert bar.value() == away
    editor.show_spoken(None)
    editor.show_spoken(Span(0, 17))
    assert bar.value() == 0, "the next time it is followed again"


def wheel(editor: SpeechEditor) -> None:
    """Turn the wheel a long way down over the text."""
    middle, down = editor.viewport().rect().center(), QPoint(0, -120 * 60)
    there = editor.viewport().mapToGlobal(middle)
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    event = QWheelEvent(middle, there, QPoint(), down, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(editor.viewport(), event)


def test_the_mark_follows_what_is_written_before_it(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    told: list[str] = []
    editor.edited.connect(told.append)
    editor.set_text("It is quiet.")
    assert told == []
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    editor.insertPlainText("🎉 ")
    editor.flush()
    assert told == ["🎉 It is quiet."]
    editor.show_spoken(Span(2, 14))
    assert marked(editor) == "It is quiet."


def test_a_long_text_comes_piece_by_piece_and_is_whole_in_the_end(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    told: list[str] = []
    editor.edited.connect(told.append)
    text = ("The harbour lies still in the morning. 🎉 Nobody is there.\n" * (5 * PIECE // 58)).rstrip("\n")
    editor.set_text(text)
    assert editor.isReadOnly() and editor.document().characterCount() < PIECE * 1.2
    editor.flush()
    assert told == [], "half a text is never taken for the whole"
    editor.show_parts(parts(text))
    qtbot.waitUntil(lambda: not editor.isReadOnly(), timeout=60_000)
    assert editor.toPlainText() == text
    last = sentences(text)[-1]
    editor.show_spoken(last)
    assert marked(editor) == "🎉 Nobody is there."
    editor.flush()
    assert told == []
    first = editor.document().firstBlock().blockFormat().lineHeight()
    assert editor.document().lastBlock().blockFormat().lineHeight() == first


def test_the_hint_is_said_while_it_is_shown(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    assert editor.accessibleDescription() == NOTHING_YET
    editor.set_text("Good morning")
    assert editor.accessibleDescription() == ""
    editor.set_text("")
    assert editor.accessibleDescription() == NOTHING_YET


def paste(editor: SpeechEditor, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    editor.insertFromMimeData(data)


def test_a_long_paste_comes_piece_by_piece_is_told_at_once_and_undone_in_one_step(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    editor.insertPlainText("Before 🎉 and after")
    editor.flush()
    told: list[str] = []
    editor.edited.connect(told.append)
    cursor = editor.textCursor()
    cursor.setPosition(len("Before 🎉 ") + 1)  # Qt counts the emoji as two
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    long = "The harbour lies still in the morning. 🎉 Nobody is there.\r\n" * (5 * PIECE // 58)
    paste(editor, long)
    whole = "Before 🎉 " + long.replace("\r\n", "\n") + " after"
    assert told == [whole], "the price and the disk need not wait for the layout"
    assert editor.isReadOnly() and editor.document().characterCount() < PIECE * 1.2
    qtbot.waitUntil(lambda: not editor.isReadOnly(), timeout=60_000)
    assert editor.toPlainText() == whole and told == [whole]
    assert editor.textCursor().position() == editor.document().characterCount() - 1 - len(" after")
    heights = {editor.document().findBlockByNumber(n).blockFormat().lineHeight() for n in range(0, 500, 50)}
    assert len(heights) == 1
    editor.undo()
    assert editor.toPlainText() == "Before 🎉 and after"
    editor.redo()
    assert editor.toPlainText() == whole


def test_a_short_paste_goes_in_whole(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    paste(editor, "It is quiet.\nNobody is there.")
    assert editor.toPlainText() == "It is quiet.\nNobody is there." and not editor.isReadOnly()


def test_a_paragraph_that_is_longer_than_a_piece_is_laid_out_once(theme: Theme, qtbot: QtBot) -> None:
    editor = made(theme, qtbot)
    long = "word " * (PIECE // 4)
    paste(editor, f"{long}\n{long}")
    qtbot.waitUntil(lambda: not editor.isReadOnly(), timeout=60_000)
    assert editor.toPlainText() == f"{long}\n{long}"
