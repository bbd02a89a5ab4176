"""A transcript as a document for screen readers: its rows, and in each the words with their times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect

from app.core.time_format import position
from app.ui.kit.markdown.spoken import Place, SpokenBlock

if TYPE_CHECKING:
    from app.ui.transcription.transcript_view import TranscriptView


class SpokenTranscript:
    """One per view. The path of a place is the word in its row."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view

    @property
    def place(self) -> Place | None:
        view = self._view
        if not view.rows:
            return None
        words = [span[2:] for span in view.rows[view.current].spans]
        inside = (words.index(view.chosen),) if view.chosen in words and len(words) > 1 else ()
        return Place(self.row_id(view.current), inside)

    def count(self) -> int:
        return len(self._view.rows)

    def row_id(self, number: int) -> str:
        return str(number)

    def number_of(self, row_id: str) -> int | None:
        return int(row_id) if int(row_id) < self.count() else None

    def row_at(self, y: int) -> int | None:
        return self._view.row_at(y)

    def blocks(self, row_id: str) -> tuple[SpokenBlock, ...]:
        number = self.number_of(row_id)
        if number is None or len(self._view.rows[number].spans) < 2:
            return ()
        words = (self._view.document.word(span[2:]) for span in self._view.rows[number].spans)
        return tuple(SpokenBlock("line", f"{word.text}, {position(word.start)}") for word in words)

    def block(self, place: Place) -> SpokenBlock | None:
        number = self.number_of(place.row_id)
        if number is None:
            return None
        inside = self.blocks(place.row_id)
        if place.path:
            return inside[place.path[0]] if place.path[0] < len(inside) else None
        row = self._view.rows[number]
        return SpokenBlock("item", f"{row.label} {row.text}".strip(), children=inside)

    def rect(self, place: Place) -> QRect:
        number = self.number_of(place.row_id)
        if number is None:
            return QRect()
        if not place.path:
            return self._view.row_rect(number)
        rects = self._view.word_rects(self._view.rows[number].spans[place.path[0]][2:])
        return rects[0].toAlignedRect() if rects else QRect()
