"""What a transcript looks like as rows: one segment each, one word each, or running paragraphs. Measured when seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextOption

from app.core.number_format import or_dash
from app.core.time_format import position
from app.service.http.sanitize import sanitize_text
from app.translation import tr
from app.ui.kit.scripts import join, spans_of
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.editing import Match, word_spans
from app.ui.transcription.session.exporting import PARAGRAPH_PAUSE_S

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MODES = ("segments", "words", "text")
LABEL_WIDTH = {"segments": 50, "words": 150, "text": 0}
SIDE, GAP_ABOVE = 24, 8


@dataclass(frozen=True, slots=True)
class Row:
    """`spans` are (first character, behind the last, segment, word), in order."""

    label: str
    text: str
    segment: int
    spans: tuple[tuple[int, int, int, int], ...]

    def word_at(self, character: int) -> tuple[int, int] | None:
        """The (segment, word) that a character belongs to; the nearest before it between two words."""
        number = bisect_right([span[0] for span in self.spans], character) - 1
        return (self.spans[number][2], self.spans[number][3]) if number >= 0 else None

    def span_of(self, segment: int, word: int) -> tuple[int, int] | None:
        return next(((span[0], span[1]) for span in self.spans if span[2:] == (segment, word)), None)


def rows_of(document: Document, mode: str) -> tuple[Row, ...]:
    """Return the rows of a document in one of `MODES`."""
    if mode == "words":
        return tuple(
            Row(
                f"{_exact(word.start)}–{_exact(word.end)}",
                word.text,
                s,
                ((0, len(word.text), s, w),),
            )
            for s, segment in enumerate(document.segments)
            for w, word in enumerate(segment.words)
        )
    if mode == "text":
        return _paragraphs(document)
    return tuple(_row(document, [number], position(segment.start)) for number, segment in enumerate(document.segments))


Found = dict[int, list[tuple[Match, bool]]]  # segment → what a search found in it, and whether it stands there


def found_in_row(document: Document, row: Row, mode: str, found: Found) -> list[tuple[Match, bool]]:
    """Return what a search found, with characters counted in the row's own text."""
    if mode == "segments":
        return found.get(row.segment, [])
    told: list[tuple[Match, bool]] = []
    if mode == "words":
        begin, end = word_spans(document.segments[row.segment])[row.spans[0][3]]
        for match, is_current in found.get(row.segment, []):
            if match.start < end and begin < match.end:
                inside = Match(row.segment, max(match.start, begin) - begin, min(match.end, end) - begin)
                told.append((inside, is_current))
        return told
    for first, _, segment, word in row.spans:
        if word == 0:
            for match, is_current in found.get(segment, []):
                told.append((Match(segment, first + match.start, first + match.end), is_current))
    return told


@or_dash
def _exact(seconds: float) -> str:
    """`0:08.42`: a hundredth of a second is as fine as any model says."""
    minutes, rest = divmod(round(seconds * 100), 6000)
    return f"{minutes}:{rest // 100:02d}.{rest % 100:02d}"


def _paragraphs(document: Document) -> tuple[Row, ...]:
    groups: list[list[int]] = []
    for number, segment in enumerate(document.segments):
        if not groups or segment.start - document.segments[number - 1].end >= PARAGRAPH_PAUSE_S:
            groups.append([])
        groups[-1].append(number)
    return tuple(_row(document, group, "") for group in groups)


def _row(document: Document, numbers: Sequence[int], label: str) -> Row:
    named = [
        (number, place, word.text) for number in numbers for place, word in enumerate(document.segments[number].words)
    ]
    texts = [text for _, _, text in named]
    spans = tuple(
        (start, end, number, place) for (number, place, _), (start, end) in zip(named, spans_of(texts), strict=True)
    )
    return Row(label, join(texts), numbers[0], spans)


class RowSheet:
    """The rows of one document at one width: where each stands, measured exactly once it has been looked at.

    Rows that nobody has seen have an estimated height, so that two hours open as fast as two minutes.
    """

    def __init__(self, theme: Theme, rows: tuple[Row, ...], mode: str, width: int) -> None:
        self._theme = theme
        self.rows = rows
        self.mode = mode
        self.width = width
        self.text_left = theme.px(SIDE) + (theme.type_px(LABEL_WIDTH[mode]) if LABEL_WIDTH[mode] else 0)
        self.text_width = max(theme.type_px(80), width - self.text_left - theme.px(SIDE) - theme.px(24))
        self.line = theme.line_px("reading")
        self.above = theme.px(2) if mode == "words" else theme.px(GAP_ABOVE)
        self._font = theme.font("reading")
        self._layouts: dict[int, QTextLayout] = {}
        average = QFontMetricsF(self._font).horizontalAdvance(tr("the water runs through it")) / 25
        per_line = max(8, int(self.text_width / average))
        self._heights = [2 * self.above + self.line * max(1, -(-len(row.text) // per_line)) for row in rows]
        self._tops: list[int] = []

    # Where rows stand

    @property
    def tops(self) -> list[int]:
        """The top of each row and, last, the end of all."""
        if not self._tops:
            self._tops = list(accumulate(self._heights, initial=0))
        return self._tops

    @property
    def height(self) -> int:
        return self.tops[-1]

    def row_at(self, y: float) -> int:
        """The row at a height, the last one below the end."""
        return max(0, min(len(self.rows) - 1, bisect_right(self.tops, y) - 1))

    def row_height(self, number: int) -> int:
        return self._heights[number]

    def layout(self, number: int) -> QTextLayout:
        """The measured text of a row; its height may move the rows below it."""
        found = self._layouts.get(number)
        if found is None:
            found = self._layouts[number] = self._measure(number)
        return found

    def _measure(self, number: int) -> QTextLayout:
        layout = QTextLayout(sanitize_text(self.rows[number].text), self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setCacheEnabled(True)
        layout.beginLayout()
        top = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.text_width)
            line.setPosition(QPointF(0, top + (self.line - line.height()) / 2))
            top += self.line
        layout.endLayout()
        height = 2 * self.above + max(top, self.line)
        if height != self._heights[number]:
            self._heights[number] = height
            self._tops = []
        return layout

    # Where characters stand

    def rects(self, number: int, start: int, end: int) -> list[QRectF]:
        """Where characters of a row are, one rectangle a line, relative to the row's top."""
        layout = self.layout(number)
        found: list[QRectF] = []
        for place in range(layout.lineCount()):
            line = layout.lineAt(place)
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            if first >= last:
                continue
            left, right = _x(line, first), _x(line, last)
            found.append(
                QRectF(self.text_left + min(left, right), self.above + place * self.line, abs(right - left), self.line)
            )
        return found

    def character_at(self, number: int, x: float, y: float) -> int | None:
        """The character under a point relative to the row's top; None beside the text."""
        layout = self.layout(number)
        place = int((y - self.above) // self.line)
        if not 0 <= place < layout.lineCount():
            return None
        line = layout.lineAt(place)
        inside = x - self.text_left
        if inside < -4 or inside > line.naturalTextWidth() + 8:
            return None
        return int(line.xToCursor(inside, line.CursorPosition.CursorOnCharacter))

    def forget(self, number: int) -> None:
        self._layouts.pop(number, None)


def _x(line: object, character: int) -> float:
    """`QTextLine.cursorToX` gives the place alone or with the character, by binding."""
    told = line.cursorToX(character)  # type: ignore[attr-defined]  # a QTextLine
    return float(told[0] if isinstance(told, tuple) else told)
