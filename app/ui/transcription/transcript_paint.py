"""Paints one row of a transcript: its time, its words, the word that is spoken, what a search found, a mark's flag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextCharFormat, QTextLayout

from app.ui.kit.icons import paint
from app.ui.transcription.session.editing import Match
from app.ui.transcription.transcript_rows import SIDE, RowSheet

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowLook:
    """What a row shows besides its words; `spoken` only when the word is in this row."""

    spoken: Place | None = None
    chosen: Place | None = None
    has_focus: bool = False
    is_marked: bool = False
    found: Sequence[tuple[Match, bool]] = ()


def paint_row(
    painter: QPainter, theme: Theme, sheet: RowSheet, number: int, top: int, width: int, look: RowLook
) -> None:
    """Draw row `number` with its upper edge at `top`, in a view that is `width` px wide."""
    row, height = sheet.rows[number], sheet.row_height(number)
    is_spoken = look.spoken is not None
    if is_spoken and sheet.mode != "text":
        painter.fillRect(QRect(0, top, width, height), theme.color("accent_tint"))
    if look.has_focus:
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        ring = QRectF(theme.px(10), top + 1, width - theme.px(20), height - 2)
        painter.drawRoundedRect(ring, theme.px(6), theme.px(6))
    if row.label:
        painter.setFont(theme.font("code" if sheet.mode == "segments" else "small", mono=True))
        painter.setPen(theme.color("accent" if is_spoken else "text3"))
        label = QRectF(theme.px(SIDE), top + sheet.above, sheet.text_left - theme.px(SIDE), sheet.line)
        painter.drawText(label, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), row.label)
    _paint_found(painter, theme, sheet, number, top, look.found)
    if look.is_marked:
        side = theme.icon_px(14)
        paint(painter, theme, "flag", QRectF(width - theme.px(SIDE) - side, top + sheet.above + 3, side, side), "warn")
    formats = _paint_words(painter, theme, sheet, number, top, look)
    painter.setPen(theme.color("text"))
    sheet.layout(number).draw(painter, QPointF(sheet.text_left, top + sheet.above), formats)


def _paint_found(
    painter: QPainter, theme: Theme, sheet: RowSheet, number: int, top: int, found: Sequence[tuple[Match, bool]]
) -> None:
    for match, is_current in found:
        for rect in sheet.rects(number, match.start, match.end):
            painter.setBrush(theme.color("warn_tint"))
            painter.setPen(QPen(theme.color("warn"), 1.5) if is_current else Qt.PenStyle.NoPen)
            painter.drawRoundedRect(rect.translated(0, top).adjusted(-2, 2, 2, -2), 3, 3)


def _paint_words(
    painter: QPainter, theme: Theme, sheet: RowSheet, number: int, top: int, look: RowLook
) -> list[QTextLayout.FormatRange]:
    """The spoken word on its fill, the chosen one underlined."""
    formats: list[QTextLayout.FormatRange] = []
    row = sheet.rows[number]
    if look.spoken is not None and (span := row.span_of(*look.spoken)) is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        for rect in sheet.rects(number, *span):
            painter.drawRoundedRect(rect.translated(0, top).adjusted(-3, 1, 3, -1), 3, 3)
        piece = QTextLayout.FormatRange()
        words = QTextCharFormat()
        words.setForeground(theme.color("on_accent"))
        piece.start, piece.length, piece.format = span[0], span[1] - span[0], words
        formats.append(piece)
    if look.chosen is not None and look.chosen != look.spoken and (span := row.span_of(*look.chosen)) is not None:
        painter.setPen(QPen(theme.color("accent"), 1.5))
        for rect in sheet.rects(number, *span):
            line = rect.translated(0, top)
            painter.drawLine(line.bottomLeft(), line.bottomRight())
    return formats
