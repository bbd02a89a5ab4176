"""An editor for JSON: line numbers, the colors of code, the line where a fault is. Never changes what is typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MAX_HIGHLIGHTED_CHARS = 20_000  # of one line; a pasted transaction is one word
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b')
_VARIABLE = re.compile(r"\{\{\s*\w+\s*\}\}")


class JsonEditor(TextArea):
    """A `TextArea` with line numbers and colors. Another text leaves the caret where it is, as far as there is text."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, name=name)
        self._theme = theme
        self._fault = 0  # line from 1, 0 for none
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("bare", True)
        self.setLineWrapMode(TextArea.LineWrapMode.NoWrap)
        self._colors = _JsonColors(theme, self.document())
        self._gutter = _Gutter(theme, self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._follow)
        self.cursorPositionChanged.connect(self._mark)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def caret_after(self, text: str) -> int:
        return self.textCursor().position()

    def set_fault(self, line: int) -> None:
        """Mark the line where a fault is, from 1; 0 for none."""
        self._fault = line
        self._mark()

    def go_to(self, line: int) -> None:
        """Put the cursor at the beginning of a line, from 1."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def gutter_width(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9" * digits) + self._theme.px(20)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(QRect(area.left(), area.top(), self.gutter_width(), area.height()))

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def _follow(self, rect: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _mark(self) -> None:
        """The line of the cursor, quietly, and the line of the fault."""
        marks = [self._line_mark(self.textCursor(), self._theme.color("hover"))] if self.hasFocus() else []
        if self._fault:
            block = self.document().findBlockByNumber(self._fault - 1)
            if block.isValid():
                mark = self._line_mark(QTextCursor(block), self._theme.color("bad_tint"))
                marks.append(mark)
        self.setExtraSelections(marks)
        self._gutter.update()

    @property
    def fault(self) -> int:
        return self._fault

    def _line_mark(self, cursor: QTextCursor, color: QColor) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(color)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = cursor
        mark.cursor.clearSelection()
        return mark

    def _apply_theme(self) -> None:
        self.setFont(self._theme.font("code"))
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance("  "))
        self._colors.apply_theme()
        self._make_room()
        self._mark()


class _Gutter(QWidget):
    """The numbers of the lines."""

    def __init__(self, theme: Theme, editor: JsonEditor) -> None:
        super().__init__(editor)
        self._theme = theme
        self._editor = editor
        self.setAccessibleName(tr("Line numbers"))

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        editor, theme = self._editor, self._theme
        painter = QPainter(self)
        painter.setFont(theme.font("code"))
        block = editor.firstVisibleBlock()
        while block.isValid():
            place = editor.blockBoundingGeometry(block).translated(editor.contentOffset())
            if place.top() > event.rect().bottom():
                return
            number = block.blockNumber() + 1
            painter.setPen(theme.color("bad" if number == editor.fault else "text3"))
            box = QRect(0, round(place.top()), self.width() - theme.px(12), round(place.height()))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), str(number))
            block = block.next()


class _JsonColors(QSyntaxHighlighter):
    def __init__(self, theme: Theme, document: QTextDocument) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}

    def apply_theme(self) -> None:
        for name in ("name", "string", "number", "keyword"):
            form = QTextCharFormat()
            form.setForeground(self._theme.color(f"syntax_{name}"))
            self._formats[name] = form
        variable = QTextCharFormat()
        variable.setForeground(self._theme.color("accent"))
        variable.setBackground(self._theme.color("accent_tint"))
        self._formats["variable"] = variable
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        for found in _TOKEN.finditer(text[:MAX_HIGHLIGHTED_CHARS]):
            kind = "keyword" if found[4] else "number" if found[3] else "name" if found[2] else "string"
            group = 1 if kind in ("name", "string") else 0
            self.setFormat(found.start(group), found.end(group) - found.start(group), self._formats[kind])
        for found in _VARIABLE.finditer(text[:MAX_HIGHLIGHTED_CHARS]):
            self.setFormat(found.start(), found.end() - found.start(), self._formats["variable"])
