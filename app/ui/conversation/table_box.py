"""Tables in an answer: real rows and columns, as wide as their text, in parts of a dozen rows with the same columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.ui.conversation.boxes import Control, PaintState, paint_focus_ring, paint_frame, whole
from app.ui.conversation.horizontal_scroll import BAR, HorizontalScroll, HorizontalScrollBox
from app.ui.conversation.links_and_chips import chips_of, paint_chips, span_controls
from app.ui.kit.markdown.inline import InlineWriter, Span, chip_count, visible_text
from app.ui.kit.markdown.renderer import let_lines_grow, new_document

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.conversation.rows import RowSource
    from app.ui.kit.markdown.renderer import Table
    from app.ui.kit.markdown.style import MarkdownStyle

PAD_X, PAD_Y = 12, 8  # px around a cell's text at 100 %
HEAD_PAD_Y = 6
SMALLEST_COLUMN = 96  # px that a column keeps before the table scrolls sideways
CHIP_AIR = 24  # px that a chip takes beyond its text
MAX_COLUMNS = 40  # a row with more is data that nobody reads in a chat

_ALIGN = {"right": Qt.AlignmentFlag.AlignRight, "center": Qt.AlignmentFlag.AlignHCenter}


@dataclass(slots=True)
class TableGroup:
    """What the parts of one table share. `naturals` are the columns' widths without wrapping, taken from part one."""

    naturals: list[float] = field(default_factory=list)
    sideways: HorizontalScroll = field(default_factory=HorizontalScroll)


class TableBox(HorizontalScrollBox):
    """One part of a table. `first` has the head row."""

    above = below = "table"

    def __init__(
        self,
        style: MarkdownStyle,
        table: Table,
        group: TableGroup,
        sources: tuple[RowSource, ...],
        bound: int | None,
        *,
        last: bool,
        indent: int,
    ) -> None:
        self._figures = new_document(style)
        super().__init__(style, self._figures, group.sideways)
        self._grows = False
        self.columns = group
        self.is_last = last
        self._first = not table.headless
        self._indent = indent
        self._sources = sources
        self._spans: list[Span] = []
        self._pads: list[int] = []
        self._lines: list[float] = []
        self._areas: list[list[QRectF]] | None = None
        self._columns = min(MAX_COLUMNS, max([len(row) for row in table.rows] + [len(table.aligns), 1]))
        self._rows = max(1, len(table.rows))
        self._aligns = [_ALIGN.get(align, Qt.AlignmentFlag.AlignLeft) for align in table.aligns]
        self._aligns += [Qt.AlignmentFlag.AlignLeft] * (self._columns - len(self._aligns))
        if self._first or not group.naturals:
            group.naturals = self._measure(table)
        self._table = self._write(table, bound)

    # -- building -----------------------------------------------------------------------------------------------------

    def _measure(self, table: Table) -> list[float]:
        """Return how wide each column would like to be, air included."""
        metrics = QFontMetricsF(self.style.text(strong=True).font())
        air = 2 * self.theme.px(PAD_X) + 2
        widths = [0.0] * self._columns
        for row in table.rows:
            for column, cell in enumerate(row[: self._columns]):
                widest = max(metrics.horizontalAdvance(line) for line in visible_text(cell).split("\n"))
                widths[column] = max(widths[column], widest + CHIP_AIR * chip_count(cell))
        return [width + air for width in widths]

    def _write(self, table: Table, bound: int | None) -> QTextTable:
        style, theme = self.style, self.theme
        cursor = QTextCursor(self.document)
        cursor.beginEditBlock()
        frame = QTextTableFormat()
        frame.setBorder(0)
        frame.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
        frame.setCellSpacing(0)
        frame.setCellPadding(0)
        made = cursor.insertTable(self._rows, self._columns, frame)
        head, body = QTextTableCellFormat(), QTextTableCellFormat()
        for cell_format, pad_y in ((head, HEAD_PAD_Y), (body, PAD_Y)):
            cell_format.setLeftPadding(theme.px(PAD_X))
            cell_format.setRightPadding(theme.px(PAD_X))
            cell_format.setTopPadding(theme.px(pad_y))
            cell_format.setBottomPadding(theme.px(pad_y) + 1)
        for number, row in enumerate(table.rows):
            is_head = self._first and number == 0
            for column in range(self._columns):
                cell = made.cellAt(number, column)
                cell.setFormat(head if is_head else body)
                inside = cell.firstCursorPosition()
                block = style.block(style.small_line if is_head else style.line, 0, 0)
                block.setAlignment(self._aligns[column])
                inside.setBlockFormat(block)
                if column < len(row):
                    writer = InlineWriter(inside, style, self._spans, self._pads, bound)
                    if is_head:
                        writer.write(row[column], "small", "text2", strong=True)
                    else:
                        writer.write(row[column])
        self._grows = let_lines_grow(self._figures)
        cursor.endEditBlock()
        return made

    # -- layout -------------------------------------------------------------------------------------------------------

    def layout(self, width: int) -> int:
        self.width = width
        self.left = self._indent + 1.0
        self.view_width = max(60.0, width - self._indent - 2.0)
        widths = column_widths(self.columns.naturals, self.view_width, SMALLEST_COLUMN * self.theme.scale)
        widths += [SMALLEST_COLUMN * self.theme.scale] * (self._columns - len(widths))
        total = sum(widths)
        self.sideways.content = total
        frame = self._table.format().toTableFormat()
        frame.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, each) for each in widths])
        frame.setWidth(QTextLength(QTextLength.Type.FixedLength, total))
        self._table.setFormat(frame)
        self.document.setTextWidth(total + 1)
        self.origin = QPointF(self.left, 1 if self._first else 0)
        self.settle()
        self._areas = None
        self._find_lines()
        bottom = self._lines[-1] if self._lines else 0.0
        self.height = whole(self.origin.y() + bottom) + (BAR + 4 if self.is_last and self.overflow else 0)
        return self.height

    def _find_lines(self) -> None:
        """Remember where the rows end: the next row begins one padding above its text."""
        layouts = self.document.documentLayout()
        self._lines = []
        for number in range(1, self._rows):
            block = self._table.cellAt(number, 0).firstCursorPosition().block()
            self._lines.append(layouts.blockBoundingRect(block).top() - self.theme.px(PAD_Y))
        self._lines.append(self.document.size().height())  # Qt tells the table itself lower, by a cell's padding

    # -- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        line = theme.color("line")
        wide = min(self.width - self._indent, self.sideways.content + 2)
        frame = QRectF(self._indent, 0, wide, self.height)
        paint_frame(painter, frame, 8, theme.color("canvas"), line, self._first, self.is_last)
        painter.save()
        painter.setClipRect(frame.adjusted(1, 0, -1, 0), Qt.ClipOperation.IntersectClip)
        self.settle()
        for number, bottom in enumerate(self._lines):
            if number + 1 < len(self._lines) or not self.is_last:
                y = round(self.origin.y() + bottom) - 1
                painter.fillRect(QRectF(self._indent, y, wide, 1), line)
        paint_chips(painter, theme, chips_of(theme, self._spans, self._span_areas()), state.clip)
        self.paint_selection(painter, state)
        shift = self.style.growing_shift if self._grows else self.style.baseline_shift
        self.paint_document(painter, state, shift)
        for control in self.controls() if state.focused else ():
            if control.id == state.focused:
                paint_focus_ring(painter, theme, control.rect.adjusted(0, 2, 0, -2), 4)
        painter.restore()
        self.paint_bar(painter)

    def _span_areas(self) -> list[list[QRectF]]:
        """Return the places of the spans in the document, wherever that is scrolled to now."""
        if self._areas is None:
            at = self.origin
            self.origin = QPointF(0, 0)
            self._areas = [
                [] if span.kind == "drawn" else self.bands(span.start, span.end, of_type=True) for span in self._spans
            ]
            self.origin = at
        return [[area.translated(self.origin) for area in areas] for areas in self._areas]

    def controls(self) -> list[Control]:
        return span_controls(self.theme, self._spans, self._span_areas(), self._sources, self.document)

    def end_rect(self) -> QRectF | None:
        """Tables grow by rows: there is no place for a caret."""
        return None

    # -- text ---------------------------------------------------------------------------------------------------------

    def text(self, start: int, end: int) -> str:
        """Return the cells between two positions, tabs between columns and a line for each row."""
        parts: list[str] = []
        last_row = -1
        for number in range(self._rows):
            for column in range(self._columns):
                cell = self._table.cellAt(number, column)
                first, last = cell.firstPosition(), cell.lastPosition()
                if last < start or first >= end:
                    continue
                if parts:
                    parts.append("\n" if number != last_row else "\t")
                last_row = number
                cursor = QTextCursor(self.document)
                cursor.setPosition(max(first, start))
                cursor.setPosition(min(last, end), QTextCursor.MoveMode.KeepAnchor)
                parts.append(" ".join(cursor.selectedText().replace("\u00a0", " ").split()))
        return "".join(parts)


def column_widths(naturals: list[float], room: float, smallest: float) -> list[float]:
    """Share `room` among columns that would like `naturals` px.

    Everything fits: the rest is shared out in proportion when the table is nearly as wide as the column, else it stays
    narrow. Too wide: the widest columns wrap first, none below `smallest`; then the table is wider than the room.
    """
    total = sum(naturals)
    if total <= room:
        spare = room - total if total > room * 0.7 else 0.0
        return [width + spare * width / total for width in naturals] if total else list(naturals)
    floors = [min(width, smallest) for width in naturals]
    if sum(floors) >= room:
        return floors
    widths = list(naturals)
    low, high = smallest, max(naturals)
    for _ in range(24):  # the cap at which all columns together fill the room
        cap = (low + high) / 2
        widths = [max(floor, min(width, cap)) for width, floor in zip(naturals, floors, strict=True)]
        low, high = (cap, high) if sum(widths) <= room else (low, cap)
    return [max(floor, min(width, low)) for width, floor in zip(naturals, floors, strict=True)]
