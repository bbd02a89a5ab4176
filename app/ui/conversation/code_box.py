"""Code in an answer: a framed block with its own header, in parts of a few dozen lines that act as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QTextCharFormat, QTextCursor, QTextLayout, QTextOption

from app.translation import tr
from app.ui.conversation.boxes import Control, PaintState, paint_frame, whole
from app.ui.conversation.controls import button_width, paint_control, place_right
from app.ui.conversation.horizontal_scroll import HorizontalScroll, HorizontalScrollBox
from app.ui.kit.markdown.code import Stretch, label_of
from app.ui.kit.markdown.inline import clean
from app.ui.kit.markdown.renderer import new_document

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.kit.markdown.style import MarkdownStyle

PAD_X, PAD_Y = 14, 10  # px between frame and code at 100 %
TAB_COLUMNS = 4


@dataclass(slots=True)
class CodeGroup:
    """What the parts of one code block share. `colors` are per line of the whole block, None until it was read."""

    language: str
    wrap: bool = False
    sideways: HorizontalScroll = field(default_factory=HorizontalScroll)
    colors: list[list[Stretch]] | None = None


class CodeBox(HorizontalScrollBox):
    """One part. `part` 0 has the header; `first_line` is where this part begins in the block."""

    above = below = "code"

    def __init__(
        self, style: MarkdownStyle, group: CodeGroup, text: str, *, part: int, first_line: int, last: bool, indent: int
    ) -> None:
        document = new_document(style)
        document.setDefaultFont(style.theme.font("code"))
        super().__init__(style, document, group.sideways)
        self.group: CodeGroup = group
        self.part = part
        self.is_last = last
        self._first_line = first_line
        self._indent = indent
        self.source = ""
        self._line_px = style.theme.line_px("code")
        self._controls: list[Control] = []
        self._format = QTextCharFormat()
        self._format.setForeground(style.theme.color("text"))
        self._wrapped: bool | None = None
        cursor = QTextCursor(document)
        cursor.setBlockFormat(style.block(self._line_px, 0, 0))
        self.append(text)
        self._colored = False

    def append(self, text: str) -> None:
        """Add text at the end of a block that is still being written."""
        self.source += text
        self._end = None
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        cursor.insertText("\n".join(clean(line) for line in text.split("\n")), self._format)
        cursor.endEditBlock()

    # -- layout -------------------------------------------------------------------------------------------------------

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        self._set_wrapping()
        self.left = self._indent + theme.px(PAD_X)
        self.view_width = max(40.0, width - self.left - theme.px(PAD_X))
        self.document.setTextWidth(self.view_width if self.group.wrap else -1)
        if self.group.wrap:
            self.sideways.content = self.view_width
        else:
            self.sideways.content = max(self.sideways.content, self.document.idealWidth())
        top = self._header_px() + theme.px(PAD_Y) if self.part == 0 else 0
        self.origin = QPointF(self.left, top)
        self.settle()
        self._end = None
        bottom = theme.px(PAD_Y) if self.is_last else 0
        self._place_controls()
        if self.group.colors is not None and not self._colored:
            self._color(self.group.colors)
        self.height = whole(top + self.document.size().height() + bottom)
        return self.height

    def _header_px(self) -> int:
        return self.theme.height_px(32, 17)

    def _set_wrapping(self) -> None:
        if self._wrapped == self.group.wrap:
            return
        self._wrapped = self.group.wrap
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setTabStopDistance(TAB_COLUMNS * self.document_font_width())
        option.setWrapMode(
            QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if self.group.wrap else QTextOption.WrapMode.NoWrap
        )
        self.document.setDefaultTextOption(option)
        self.sideways.content = 0.0

    def document_font_width(self) -> float:
        return QFontMetricsF(self.document.defaultFont()).horizontalAdvance(" ")

    def _place_controls(self) -> None:
        self._controls = []
        if self.part != 0:
            return
        theme = self.theme
        named = [("wrap", tr("Wrap"), "wrap"), ("save", tr("Save"), "download"), ("copy", tr("Copy"), "copy")]
        room = self.width - self._indent - theme.px(16) - 80 * theme.scale
        full = sum(button_width(theme, "quiet", label, icon) for _, label, icon in named)
        for name, label, icon in named:
            short = full > room and name != "copy"
            spoken = {"wrap": tr("Wrap long lines"), "save": tr("Save code"), "copy": tr("Copy code")}[name]
            self._controls.append(
                Control(
                    name,
                    QRectF(),
                    spoken,
                    (f"code-{name}",),
                    role="toggle" if name == "wrap" else "button",
                    look="icon" if short else "quiet",
                    label="" if short else label,
                    icon=icon,
                    tooltip=spoken if short else "",
                    checked=name == "wrap" and self.group.wrap,
                )
            )
        place_right(theme, self._controls, self.width - theme.px(4), self._header_px() / 2)

    def controls(self) -> list[Control]:
        return self._controls

    # -- colors ------------------------------------------------------------------------------------------------------

    def _color(self, lines: list[list[Stretch]]) -> None:
        """Lay the colors over the text; the document itself does not change."""
        self._colored = True
        formats: dict[str, QTextCharFormat] = {}
        block = self.document.begin()
        number = self._first_line
        while block.isValid() and number < len(lines):
            ranges = []
            for start, length, role in lines[number]:
                made = QTextLayout.FormatRange()
                made.start = start
                made.length = length
                if role not in formats:
                    formats[role] = QTextCharFormat()
                    formats[role].setForeground(self.theme.color(role))
                made.format = formats[role]
                ranges.append(made)
            if ranges:
                block.layout().setFormats(ranges)
            block = block.next()
            number += 1
        self.document.markContentsDirty(0, self.document.characterCount())

    # -- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        line = theme.color("line")
        frame = QRectF(self._indent, 0, self.width - self._indent, self.height)
        paint_frame(painter, frame, 8, theme.color("sunken"), line, self.part == 0, self.is_last)
        high = self._header_px()
        if self.part == 0 and state.clip.top() < high:
            painter.fillRect(QRectF(self._indent + 1, high - 1, self.width - self._indent - 2, 1), line)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text2"))
            room = QRectF(self._indent + theme.px(12), 0, 60 + 0.4 * self.width, high)
            painter.drawText(
                room,
                int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value),
                label_of(self.group.language),
            )
            for control in self._controls:
                paint_control(painter, theme, control, state)
        painter.save()
        window = QRectF(self._indent + 1, self.origin.y() - 4, self.width - self._indent - 2, self.height)
        painter.setClipRect(window, Qt.ClipOperation.IntersectClip)
        self.settle()
        self.paint_selection(painter, state)
        self.paint_document(painter, state, self._code_shift())
        painter.restore()
        self.paint_bar(painter)

    def _code_shift(self) -> float:
        metrics = QFontMetricsF(self.document.defaultFont())
        return (self._line_px - metrics.height()) / 2 + metrics.ascent() - self._line_px * 0.8

    def text(self, start: int, end: int) -> str:
        return self.source[start:end]
