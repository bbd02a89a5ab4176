"""Boxes whose text may be wider than the column: they scroll sideways together with the other parts of their block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt

from app.ui.conversation.text_boxes import DocumentBox

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter, QTextDocument

    from app.ui.kit.markdown.style import MarkdownStyle

BAR = 6  # px, as the window's own scroll bars


@dataclass(slots=True)
class HorizontalScroll:
    """What all parts of one code block or table share: how far it is scrolled, how wide its widest part is."""

    offset: float = 0.0
    content: float = 0.0


class HorizontalScrollBox(DocumentBox):
    """A document seen through a window of `view_width` px that starts at `left`."""

    def __init__(self, style: MarkdownStyle, document: QTextDocument, sideways: HorizontalScroll) -> None:
        super().__init__(style, document)
        self.sideways: HorizontalScroll = sideways
        self.left = 0.0
        self.view_width = 0.0
        self.is_last = True

    @property
    def overflow(self) -> float:
        """How many px do not fit."""
        return max(0.0, self.sideways.content - self.view_width)

    def scrolled_by(self, delta: float) -> bool:
        if not self.overflow:
            return False
        self.sideways.offset = max(0.0, min(self.overflow, self.sideways.offset + delta))
        return True

    def drag_bar_to(self, x: float) -> None:
        """Scroll so that the middle of the bar comes under `x`."""
        share = (x - self.left) / max(1.0, self.view_width)
        self.sideways.offset = max(0.0, min(self.overflow, share * self.sideways.content - self.view_width / 2))

    def bar_rect(self) -> QRectF:
        """Return the track of the bar, empty where nothing scrolls or the block goes on below."""
        if not self.overflow or not self.is_last:
            return QRectF()
        return QRectF(self.left, self.height - BAR - 2, self.view_width, BAR)

    def settle(self) -> None:
        """Put the document where the shared offset has it."""
        self.sideways.offset = max(0.0, min(self.overflow, self.sideways.offset))
        if self.origin.x() != self.left - self.sideways.offset:
            self.origin.setX(self.left - self.sideways.offset)
            self._end = None

    def paint_bar(self, painter: QPainter) -> None:
        track = self.bar_rect()
        if track.isEmpty():
            return
        wide = max(24.0, track.width() * self.view_width / self.sideways.content)
        x = track.left() + (track.width() - wide) * self.sideways.offset / self.overflow
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("line2"))
        painter.drawRoundedRect(QRectF(x, track.top(), wide, track.height()), BAR / 2, BAR / 2)
