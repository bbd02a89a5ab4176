"""The words of a long recording on screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.theme import Theme
from app.ui.transcription.result_view import NO_SPEECH, ResultView
from app.ui.transcription.segment_editor import SegmentEditor
from app.ui.transcription.session.document import Document, segment_of
from app.ui.transcription.state import TranscriptState
from app.ui.transcription.transcript_view import TranscriptView

NAME = QAccessible.Text.Name
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


def test_two_hours_of_words_are_laid_out_only_where_they_are_seen(theme: Theme, qtbot: object) -> None:
    segments = [
        segment_of(f"this is what was said in sentence number {n} of the talk", n * 4.0, n * 4.0 + 3.5)
        for n in range(1_000)
    ]
    document = Document.of(segments, "", 4_000.0)
    assert document.word_count > 10_000
    view = TranscriptView(theme)
    view.resize(800, 600)
    view.show()
    view.show_document(document)
    QApplication.processEvents()
    assert view._sheet is not None
    assert len(view._sheet._layouts) < 60
    view.set_position(3_999.45)
    QApplication.processEvents()
    assert view.spoken == (999, document.places[-1][1])
    assert view.verticalScrollBar().value() > 10_000
    assert len(view._sheet._layouts) < 120
    row, place = view._hit(view.word_rects(view.spoken)[0].center().toPoint())
    assert (row, place) == (999, view.spoken)
    view.deleteLater()


def test_a_transcript_is_a_document_whose_words_have_their_times(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = TranscriptView(theme)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show_document(Document.of([segment_of("good morning", 3.0, 5.0), segment_of("Ada", 5.0, 6.0)], "", 6.0))
    view.show()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    told: list[str] = []
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: told.append(event.accessibleInterface().text(NAME))
    )
    for key, held in ((Qt.Key.Key_Down, PLAIN), (Qt.Key.Key_Up, PLAIN), *[(Qt.Key.Key_Right, CONTROL)] * 3):
        QTest.keyClick(view, key, held)
    assert told == ["0:05 Ada", "0:03 good morning", "good, 0:03", "morning, 0:03", "0:05 Ada"]
    whole = QAccessible.queryAccessibleInterface(view)
    assert (whole.role(), whole.childCount()) == (QAccessible.Role.List, 2)
    row = whole.child(0)
    assert (row.role(), row.text(QAccessible.Text.Name)) == (QAccessible.Role.ListItem, "0:03 good morning")
    assert [row.child(number).text(NAME) for number in range(row.childCount())] == ["good, 0:03", "morning, 0:03"]
    assert whole.focusChild().text(NAME) == told[-1]
    inside = row.child(1).rect()
    assert row.rect().contains(inside) and inside.left() > row.child(0).rect().left()
    view.show_document(Document.of([segment_of("Grace", 0.0, 1.0)], "", 1.0))
    assert not whole.child(1) and whole.child(0).text(NAME) == told[-1] == "0:00 Grace"


def test_the_field_of_a_segment_has_one_height_for_a_text_size(qtbot: QtBot, theme: Theme) -> None:
    """Also if its text changed while it was hidden: the viewport of a hidden field is laid out later."""
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(800, 600)
    over.show()
    editor = SegmentEditor(theme, over)
    editor.open(0, "short", QRect(10, 10, 500, 40))
    QApplication.processEvents()
    right = editor.height()
    assert editor.viewport().height() >= editor.fontMetrics().lineSpacing()

    editor.open(0, "long " * 300, QRect(10, 10, 500, 40))
    QApplication.processEvents()
    editor.hide()
    for text in ("short", "two\nlines", "short"):
        editor.setPlainText(text)

    assert editor.height() == right


@pytest.mark.parametrize(("texts", "said"), [((), True), (("Hello",), False)])
def test_a_transcript_without_a_word_says_that_nothing_was_heard(
    qtbot: QtBot, theme: Theme, texts: tuple[str, ...], said: bool
) -> None:
    view = ResultView(theme)
    qtbot.addWidget(view)
    view.show_reading(TranscriptState(Document.of(segment_of(text, 0.0, 1.0) for text in texts)))
    assert (view.notice.text() == NO_SPEECH) is said
