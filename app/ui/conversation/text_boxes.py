"""Boxes of running text: a small document, with its bullets, quote bars, chips and links painted around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetricsF,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)

from app.ui.conversation.boxes import Box, Control, PaintState, paint_focus_ring, selection_color, whole
from app.ui.conversation.links_and_chips import Chip, chips_of, paint_chips, span_controls
from app.ui.kit.markdown.inline import clean

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.conversation.rows import RowSource
    from app.ui.kit.markdown.renderer import Prose
    from app.ui.kit.markdown.style import MarkdownStyle

_GROWING = QTextBlockFormat.LineHeightTypes.MinimumHeight.value
MANY_SPANS = 20
LONG_PARAGRAPH = 1_000  # characters; Qt keeps the glyphs of a longer one, else it looks for them again at every paint
_AIR = re.compile("[\u2028\u2029\u00a0]")


class DocumentBox(Box):
    """A box around one `QTextDocument`: hit tests, selection bands, words. `origin` is where the document is drawn."""

    def __init__(self, style: MarkdownStyle, document: QTextDocument) -> None:
        super().__init__(style.theme)
        self.style = style
        self.document = document
        self.origin = QPointF(0, 0)
        self._line_px = style.line
        self._end: QRectF | None = None  # where the last character ends; None when that is to be found out

    @property
    def length(self) -> int:
        return max(1, self.document.characterCount() - 1)

    def position_at(self, point: QPointF) -> int:
        inside = point - self.origin
        if inside.y() < 0:
            return 0
        if inside.y() > self.document.size().height():
            return self.document.characterCount() - 1
        layout = self.document.documentLayout()
        return max(0, layout.hitTest(inside, Qt.HitTestAccuracy.FuzzyHit))

    def word_at(self, position: int) -> tuple[int, int]:
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(position, self.document.characterCount() - 1))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return cursor.selectionStart(), cursor.selectionEnd()

    def text(self, start: int, end: int) -> str:
        return self.document.toPlainText()[start:end]

    def line_px_of(self, block: QTextBlock) -> float:
        """Return the height of the block's lines, the least one where lines grow with what stands in them."""
        return block.blockFormat().lineHeight() or self._line_px

    def line_box(self, block: QTextBlock, index: int) -> tuple[float, float]:
        """Return top and height of a line in its block."""
        line_px = self.line_px_of(block)
        if block.blockFormat().lineHeightType() != _GROWING:
            return index * line_px, line_px
        line = block.layout().lineAt(index)
        bottom = line.y() + line.height()
        top = min(line.y(), bottom - line_px)
        return top, bottom - top

    def type_box(self, block: QTextBlock, index: int) -> tuple[float, float]:
        """Return top and height of what a line without figures would take at the place of its type."""
        if block.blockFormat().lineHeightType() != _GROWING:
            return self.line_box(block, index)
        line, line_px = block.layout().lineAt(index), self.line_px_of(block)
        metrics = QFontMetricsF(self.style.font)
        return line.y() + line.ascent() - metrics.ascent() - line_px + metrics.height(), line_px

    def bands(self, start: int, end: int, *, of_type: bool = False) -> list[QRectF]:
        """Return a rectangle per line under the text between two positions: of the line, or of its type alone."""
        found: list[QRectF] = []
        block = self.document.findBlock(start)
        layouts = self.document.documentLayout()
        while block.isValid() and block.position() < end:
            layout = block.layout()
            top_left = layouts.blockBoundingRect(block).topLeft() + self.origin
            first, last = start - block.position(), end - block.position()
            at = layout.lineForTextPosition(max(0, first))
            for index in range(max(0, at.lineNumber() - 1) if at.isValid() else 0, layout.lineCount()):
                line = layout.lineAt(index)
                line_start, line_end = line.textStart(), line.textStart() + line.textLength()
                if line_start > last:
                    break
                if line_end < first or (line_end == first and index + 1 < layout.lineCount()):
                    continue
                if line_start == last and last > 0 and line_start > 0:
                    continue
                left = _x_of(line.cursorToX(max(first, line_start)))
                right = _x_of(line.cursorToX(min(last, line_end)))
                top, high = self.type_box(block, index) if of_type else self.line_box(block, index)
                found.append(QRectF(top_left.x() + min(left, right), top_left.y() + top, abs(right - left), high))
            block = block.next()
        return found

    def end_rect(self) -> QRectF | None:
        if self._end is None:
            self._end = self._find_end()
        return self._end

    def _find_end(self) -> QRectF | None:
        block = self.document.lastBlock()
        layout = block.layout()
        count = layout.lineCount()
        if not count:
            return None
        line = layout.lineAt(count - 1)
        block_format = block.blockFormat()  # asked for once: this is done at every image of an answer that comes
        line_px = block_format.lineHeight() or self._line_px
        grows = block_format.lineHeightType() == _GROWING
        bottom = line.y() + line.height() if grows else count * line_px
        corner = self.document.documentLayout().blockBoundingRect(block)
        x = corner.x() + self.origin.x() + _x_of(line.cursorToX(max(0, block.length() - 1)))
        return QRectF(x, corner.y() + self.origin.y() + bottom - line_px, 1, line_px)

    def paint_selection(self, painter: QPainter, state: PaintState) -> None:
        """Fill the bands of found words and of the selected text."""
        for start, end in state.found:
            role = "warn" if (start, end) == state.shown else "warn_tint"
            color = self.theme.color(role)
            if role == "warn":
                color.setAlphaF(0.45)
            for band in self.bands(start, min(end, self.document.characterCount() - 1)):
                if band.intersects(state.clip):
                    painter.fillRect(band, color)
        if state.selection is None:
            return
        start, end = state.selection
        color = selection_color(self.theme)
        for band in self.bands(start, min(end, self.document.characterCount() - 1)):
            if band.intersects(state.clip):
                painter.fillRect(band.adjusted(0, 0, 0 if band.width() else 4, 0), color)

    def paint_document(self, painter: QPainter, state: PaintState, shift: float = 0.0) -> None:
        """Draw the document, moved down by `shift` px so that type stands in the middle of its lines."""
        context = QAbstractTextDocumentLayout.PaintContext()
        at = self.origin + QPointF(0, shift)
        context.clip = state.clip.translated(-at)
        painter.translate(at)
        self.document.documentLayout().draw(painter, context)
        painter.translate(-at)


class _SharedLine:
    """The line that a place is in, looked up once for all that stands in it: a hostile text has a thousand chips."""

    def __init__(self, box: DocumentBox, place: int) -> None:
        block = box.document.findBlock(place)
        self._start = block.position()
        self._line = block.layout().lineForTextPosition(place - self._start)
        self._from = self._to = -1
        self._last, self._last_x = -1, 0.0  # where the band before ended
        if self._line.isValid():
            self._from = self._start + self._line.textStart()
            self._to = self._from + self._line.textLength()
            corner = box.document.documentLayout().blockBoundingRect(block).topLeft() + box.origin
            top, self._high = box.type_box(block, self._line.lineNumber())
            self._x, self._y = corner.x(), corner.y() + top

    def holds(self, start: int, end: int) -> bool:
        return self._from <= start < end < self._to

    def band(self, start: int, end: int) -> QRectF:
        left = self._last_x if start == self._last else _x_of(self._line.cursorToX(start - self._start))
        right = _x_of(self._line.cursorToX(end - self._start))
        self._last, self._last_x = end, right
        return QRectF(self._x + min(left, right), self._y, abs(right - left), self._high)


class ProseBox(DocumentBox):
    """Paragraphs, headings, lists and quotes of an answer."""

    def __init__(self, style: MarkdownStyle, prose: Prose, sources: tuple[RowSource, ...]) -> None:
        super().__init__(style, prose.document)
        self.prose = prose
        self._sources = sources
        self.above = prose.above
        self.below = prose.below
        self._areas: list[list[QRectF]] | None = None
        self._chips: list[Chip] | None = None

    def layout(self, width: int) -> int:
        if width != self.width:
            self._keep_glyphs()
            self.document.setTextWidth(width)
            self.width = width
        self._areas = self._chips = None
        self._end = None
        self.height = whole(self.document.size().height())
        if len(self.prose.spans) > MANY_SPANS:  # finding them is work for the steps of laying out, not for a paint
            self._chips = chips_of(self.theme, self.prose.spans, self.areas())
        return self.height

    def _keep_glyphs(self) -> None:
        """Have long paragraphs painted from what laying them out has found: brackets alone take five times as long."""
        if self.document.characterCount() < LONG_PARAGRAPH:
            return
        block = self.document.begin()
        while block.isValid():
            if block.length() >= LONG_PARAGRAPH:
                block.layout().setCacheEnabled(True)
            block = block.next()

    def append(self, text: str) -> None:
        """Add plain text at the end, in the format of what is there. Lay out again afterwards."""
        tail = self.prose.tail
        assert tail is not None
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(clean(text), tail)
        self._areas = self._chips = None
        self._end = None

    @property
    def shift(self) -> float:
        """How far down type is painted, so that it stands in the middle of its lines."""
        return self.style.growing_shift if self.prose.grows else self.style.baseline_shift

    def areas(self) -> list[list[QRectF]]:
        """Return for each span the rectangles that it covers, one per line."""
        if self._areas is None:
            self._areas = []
            line: _SharedLine | None = None
            for span in self.prose.spans:
                if span.kind == "drawn":  # Qt measures every figure of a paragraph again for each place asked for
                    self._areas.append([])
                    continue
                if line is None or not line.holds(span.start, span.end):
                    line = _SharedLine(self, span.start)
                if line.holds(span.start, span.end):
                    self._areas.append([line.band(span.start, span.end)])
                else:
                    self._areas.append(self.bands(span.start, span.end, of_type=True))
        return self._areas

    # -- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, state: PaintState) -> None:
        prose = self.prose
        if prose.spans:
            if self._chips is None:
                self._chips = chips_of(self.theme, prose.spans, self.areas())
            paint_chips(painter, self.theme, self._chips, state.clip)
        self.paint_selection(painter, state)
        if prose.bars:
            self._paint_bars(painter)
        self.paint_document(painter, state, self.shift)
        if prose.marks:
            self._paint_marks(painter, state)
        if state.hovered or state.focused:
            self._paint_pointed(painter, state)

    def _paint_bars(self, painter: QPainter) -> None:
        layouts = self.document.documentLayout()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("line2"))
        for bar in self.prose.bars:
            first = self.document.findBlockByNumber(bar.first)
            last = self.document.findBlockByNumber(bar.last)
            top = layouts.blockBoundingRect(first).top()
            last_top = layouts.blockBoundingRect(last).top()
            lines = last.layout().lineCount()
            bottom = last_top + (sum(self.line_box(last, lines - 1)) if lines else 0.0)
            x = bar.level * self.style.indent + 4 * self.theme.scale
            if first.textDirection() == Qt.LayoutDirection.RightToLeft:
                x = self.width - x - 3
            painter.drawRoundedRect(QRectF(x, top + 1, 3, bottom - top - 2), 1.5, 1.5)

    def _paint_marks(self, painter: QPainter, state: PaintState) -> None:
        layouts = self.document.documentLayout()
        quiet = self.prose.below == "footnote"
        font = self.theme.font("small") if quiet else self.style.font
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        for mark in self.prose.marks:
            block = self.document.findBlockByNumber(mark.block)
            top = layouts.blockBoundingRect(block).top()
            line_px = self.line_px_of(block)
            if top > state.clip.bottom() or top + line_px < state.clip.top():
                continue
            right_to_left = block.textDirection() == Qt.LayoutDirection.RightToLeft
            step = block.blockFormat().indent() * self.style.indent
            if mark.text in ("task", "done"):
                self._paint_task(painter, mark.text == "done", step, top, line_px, right_to_left)
                continue
            wide = metrics.horizontalAdvance(mark.text)
            air = (7.0 if mark.text == "•" else 4.0) * self.theme.scale
            x = self.width - step + air if right_to_left else step - air - wide
            first = block.layout().lineAt(0)
            stands = first.y() + first.ascent() if self.prose.grows and first.isValid() else line_px * 0.8
            baseline = top + stands + self.shift
            painter.setPen(self.theme.color("text2" if quiet or mark.text == "•" else self.style.role))
            painter.drawText(QPointF(x, baseline), mark.text)

    def _paint_task(
        self, painter: QPainter, done: bool, step: float, top: float, line_px: float, right_to_left: bool
    ) -> None:
        theme = self.theme
        side = 14 * min(theme.scale, 1.6)
        x = self.width - step + 4 if right_to_left else step - side - 5 * theme.scale
        box = QRectF(x, top + (line_px - side) / 2, side, side)
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent" if done else "control"), 1.5))
        painter.setBrush(theme.color("accent") if done else theme.color("surface"))
        painter.drawRoundedRect(box.adjusted(0.75, 0.75, -0.75, -0.75), 3, 3)
        if done:
            pen = QPen(theme.color("on_accent"), 1.6 * side / 14)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            unit = side / 14
            points = [QPointF(3.7, 7.3), QPointF(6.1, 9.7), QPointF(10.4, 4.7)]
            painter.drawPolyline([box.topLeft() + point * unit for point in points])

    def _paint_pointed(self, painter: QPainter, state: PaintState) -> None:
        for control in self.controls():
            if control.id == state.focused:
                for area in control.areas:
                    paint_focus_ring(painter, self.theme, area.adjusted(0, 2, 0, -2), 4)
            if control.id == state.hovered and control.role == "link" and control.action[0] == "link":
                painter.setPen(QPen(self.theme.color("accent"), 1))
                for area in control.areas:
                    y = round(area.bottom() - area.height() * 0.16) + 0.5
                    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

    # -- what can be pressed ------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        if not self.prose.spans:
            return []
        return span_controls(self.theme, self.prose.spans, self.areas(), self._sources, self.document)

    # -- text ---------------------------------------------------------------------------------------------------------

    def text(self, start: int, end: int) -> str:
        """Return the text as read: chips without their air, citations in brackets, bullets where a line begins."""
        plain = self.document.toRawText()
        air = {pad for pad in self.prose.pads if start <= pad < end}
        insert: dict[int, str] = {}
        for mark in self.prose.marks:
            block = self.document.findBlockByNumber(mark.block)
            at = block.position()
            if start <= at < end:
                steps = "  " * max(0, block.blockFormat().indent() - 1)
                word = {"•": "-", "task": "- [ ]", "done": "- [x]"}.get(mark.text, mark.text)
                insert[at] = f"{steps}{word} "
        for span in self.prose.spans:
            if span.kind == "drawn" and start <= span.start and span.end <= end:
                insert[span.start] = insert.get(span.start, "") + span.raw
            if span.kind in ("cite", "unbound") and start <= span.start and span.end <= end:
                air.update(range(span.start, span.end))
                insert[span.start] = f" [{span.source + 1}]"
        parts = []
        for at in range(start, min(end, len(plain))):
            parts.append(insert.get(at, ""))
            if at not in air:
                parts.append(plain[at])
        return _AIR.sub(lambda found: " " if found[0] == "\u00a0" else "\n", "".join(parts))


def _x_of(found: object) -> float:
    """Return the x of `QTextLine.cursorToX`, which also hands back the position."""
    return float(found[0]) if isinstance(found, tuple) else float(found)  # type: ignore[arg-type]  # stubs say object
