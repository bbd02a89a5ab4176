"""What the person wrote: the text as typed, in a bubble at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath, QPen, QTextCursor

from app.ui.conversation.boxes import Control, PaintState, whole
from app.ui.conversation.controls import button_height, button_width
from app.ui.conversation.line_boxes import action_controls, paint_action
from app.ui.conversation.text_boxes import DocumentBox
from app.ui.kit.markdown.inline import clean
from app.ui.kit.markdown.renderer import new_document
from app.ui.kit.markdown.segments import fence_of

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.markdown.style import MarkdownStyle

MAX_WIDTH = 560
PAD_X, PAD_Y = 14, 9
LINE = 21
PART_CHARS = 3000  # a longer text is a bubble of several parts


class BubblePart(DocumentBox):
    """One part of a bubble; most have one. The last part carries the buttons, which stand at its left."""

    above = below = "bubble"

    def __init__(
        self, style: MarkdownStyle, text: str, row: MessageRow, *, first: bool, last: bool, in_code: bool
    ) -> None:
        super().__init__(style, new_document(style))
        self._first = first
        self._last = last
        self._alone = first and last
        self._controls = action_controls(row) if last else []
        self._bubble = QRectF()
        self._line_px = style.theme.type_px(LINE)
        self._write(text, in_code)

    def _write(self, text: str, in_code: bool) -> None:
        """Insert the lines as they are; only what stands between fences is set as code."""
        style = self.style
        cursor = QTextCursor(self.document)
        cursor.beginEditBlock()
        cursor.setBlockFormat(style.block(self._line_px, 0, 0))
        for number, line in enumerate(text.split("\n")):
            if number:
                cursor.insertBlock()
            fence = fence_of(line) is not None
            role = "text3" if fence else "text"
            cursor.insertText(clean(line), style.text("code" if in_code or fence else "", role=role))
            in_code = in_code != fence
        cursor.endEditBlock()

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        pad_x, pad_y = theme.px(PAD_X), theme.px(PAD_Y)
        gap = theme.px(2)
        buttons = sum(button_width(theme, each.look, each.label, each.icon) + gap for each in self._controls)
        room = min(float(theme.type_px(MAX_WIDTH)), width - buttons - theme.px(8)) - 2 * pad_x - 2
        self.document.setTextWidth(room)
        wide = room
        if self._alone:
            wide = min(room, whole(self.document.idealWidth()) + 1.0)
            self.document.setTextWidth(wide)
        top = pad_y + 1 if self._first else 0
        bottom = pad_y + 1 if self._last else 0
        self.height = whole(top + self.document.size().height() + bottom)
        outer = wide + 2 * pad_x + 2
        self._bubble = QRectF(width - outer, 0, outer, self.height)
        self.origin = QPointF(self._bubble.left() + pad_x + 1, top)
        x = self._bubble.left() - theme.px(6)
        for control in reversed(self._controls):
            high = button_height(theme)
            each = button_width(theme, control.look, control.label, control.icon)
            control.rect = QRectF(x - each, self.height - high - 2 if self.height > high else 0, each, high)
            x -= each + gap
        return self.height

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.setBrush(theme.color("sunken"))
        painter.save()
        painter.setClipRect(self._bubble)
        painter.drawPath(self._shape())
        painter.restore()
        self.paint_selection(painter, state)
        self.paint_document(painter, state, self._shift())
        for control in self._controls:
            if state.lively or control.id in ("previous", "place", "next"):
                paint_action(painter, theme, control, state)

    def _shift(self) -> float:
        return self.style.baseline_shift + (self.style.line - self._line_px) * 0.3

    def _shape(self) -> QPainterPath:
        """Return the bubble: corners of 12, the lower right one of 4; open ends where it goes on."""
        rect = self._bubble.adjusted(0.5, 0.5, -0.5, -0.5)
        if not self._first:
            rect.setTop(rect.top() - 30)
        if not self._last:
            rect.setBottom(rect.bottom() + 30)
        path = QPainterPath()
        radius, small = 12.0, 4.0
        path.moveTo(rect.left() + radius, rect.top())
        path.lineTo(rect.right() - radius, rect.top())
        path.quadTo(rect.topRight(), QPointF(rect.right(), rect.top() + radius))
        path.lineTo(rect.right(), rect.bottom() - small)
        path.quadTo(rect.bottomRight(), QPointF(rect.right() - small, rect.bottom()))
        path.lineTo(rect.left() + radius, rect.bottom())
        path.quadTo(rect.bottomLeft(), QPointF(rect.left(), rect.bottom() - radius))
        path.lineTo(rect.left(), rect.top() + radius)
        path.quadTo(rect.topLeft(), QPointF(rect.left() + radius, rect.top()))
        return path

    def text(self, start: int, end: int) -> str:
        return self.document.toPlainText()[start:end]


def bubble_parts(text: str) -> list[tuple[str, bool]]:
    """Cut a long text at line ends (or anywhere, in a line without end): (part, whether it begins inside a fence)."""
    parts: list[tuple[str, bool]] = []
    in_code = False
    at = 0
    while at < len(text) or not parts:
        end = len(text)
        if end - at > PART_CHARS:
            end = text.rfind("\n", at + 1, at + PART_CHARS)
            end = end if end > at else at + PART_CHARS
        part = text[at:end]
        parts.append((part, in_code))
        in_code ^= sum(fence_of(line) is not None for line in part.split("\n")) % 2 == 1
        at = end + (1 if text[end : end + 1] == "\n" else 0)
        if end >= len(text):
            break
    return parts
