"""The words of a long recording on screen."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from app.ui.kit.theme import Theme
from app.ui.transcription.session.document import Document


def test_two_hours_of_words_are_laid_out_only_where_they_are_seen(theme: Theme, qtbot: object) -> None:
    from app.ui.transcription.session.document import segment_of
    from app.ui.transcription.transcript_view import TranscriptView

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
