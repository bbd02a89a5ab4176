"""The text to be spoken: plain, with the sentence that sounds now marked and the places shown where parts begin."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextEdit

from app.service.speech_text import Span
from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.speech import long_paragraphs

LINE_PX = 25
_WIDE = re.compile("[\U00010000-\U0010ffff]")
TELL_AFTER_MS = 60
NOTHING_YET = tr("Write or paste what you want to hear, or drop a text file here.")
PIECE = 8_000  # characters that are put into the document at a time; laying out more of them would be felt
MAX_FILE_BYTES = 4_000_000
MOVING = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
WRITING = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_Enter)
NO_TEXT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier


class SpeechEditor(QTextEdit):
    """`edited` tells the text a moment after the last key; `sentence_requested` where Ctrl double-clicked it."""

    edited = Signal(str)
    sentence_requested = Signal(int)
    file_dropped = Signal(Path)
    long_changed = Signal(bool)  # whether the text is only shown, for a paragraph of it is too long to be written in
    refused = Signal()  # somebody wrote in such a text

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._spoken: Span | None = None
        self._follows = False
        self._looks_elsewhere = False  # scrolled away from what is heard
        self._begins: tuple[int, ...] = ()
        self._told = ""
        self._rest = ""  # of a long text: what is still to be put into the document
        self._pour_at: QTextCursor | None = None  # where it goes: a place in what was pasted into, or None for the end
        self._wide: list[int] = []  # characters that Qt counts as two
        self._long: str | None = None  # the text, where what is shown has breaks that it does not have
        self._breaks: tuple[int, ...] = ()  # where those are
        self._before: str | None = None  # what was there before a text that cannot be undone key by key
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Text to speak"))
        self._describe()
        self.setTabChangesFocus(True)
        self.setProperty("bare", True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TELL_AFTER_MS)
        self._timer.timeout.connect(self.flush)
        self._pourer = QTimer(self)
        self._pourer.setInterval(0)
        self._pourer.timeout.connect(self._pour)
        self.textChanged.connect(self._timer.start)
        self.textChanged.connect(self._describe)
        FileDrop(theme, self.viewport()).dropped.connect(lambda paths: self.file_dropped.emit(paths[0]))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _describe(self) -> None:
        """Screen readers hear the hint for as long as it is painted."""
        words = NOTHING_YET if self.document().isEmpty() else ""
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)

    def _apply_theme(self) -> None:
        theme = self._theme
        font = theme.font("reading")
        font.setPixelSize(theme.type_px(15))
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.document().setDocumentMargin(theme.px(4))
        self.setViewportMargins(theme.px(20), theme.px(14), theme.px(20), 0)
        self._format_lines()
        self._show_marks()

    def _format_lines(self) -> None:
        """Every paragraph gets the line height and the gap of the design; not a step of undo."""
        line = QTextBlockFormat()
        line.setLineHeight(float(self._theme.type_px(LINE_PX)), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        line.setBottomMargin(float(self._theme.px(2)))
        was = self.document().isUndoRedoEnabled()
        blocked = self.blockSignals(True)
        self.document().setUndoRedoEnabled(False)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(line)
        self.document().setUndoRedoEnabled(was)
        self.blockSignals(blocked)

    # -- text -----------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """What is written; of a long text that is still coming, what has come."""
        return self.toPlainText() if self._long is None else self._long

    def set_text(self, text: str) -> None:
        """Replace the text without telling anybody. A long one comes piece by piece, and can be written in when it is
        all there; one with a paragraph that is too long is only shown."""
        if text == self.text() and not self._rest:
            return
        self._before = None
        self._take(text)

    def setPlainText(self, text: str) -> None:
        self._show_long(None)
        super().setPlainText(text)

    def _take(self, text: str) -> None:
        goes_on = bool(self.toPlainText()) and text.startswith(self.toPlainText())
        caret = self.textCursor().position() if goes_on else 0
        self._pourer.stop()
        self._timer.stop()
        blocked = self.blockSignals(True)
        super().setPlainText("")
        self.blockSignals(blocked)
        self._show_long(text if long_paragraphs.has_long(text) else None)
        whole = text if self._long is None else long_paragraphs.shown(text, self._breaks)
        self._note(text)
        self._format_lines()  # of the first paragraph; those that follow are like it
        first = _piece_of(whole)
        self._append(first)
        self._describe()
        cursor = self.textCursor()
        cursor.setPosition(min(caret, max(0, self.document().characterCount() - 1)))
        self.setTextCursor(cursor)
        self._begin_pouring(whole[len(first) :], None)

    def _show_long(self, text: str | None) -> None:
        was = self._long is not None
        self._long = text
        self._breaks = long_paragraphs.breaks(text) if text is not None else ()
        if was != (text is not None):
            self._set_writable(text is None)
            self.long_changed.emit(text is not None)

    def _set_writable(self, on: bool) -> None:
        """What cannot be written in can still be walked, selected and copied with the keyboard."""
        flags = Qt.TextInteractionFlag
        only_read = flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags.TextEditorInteraction if on else only_read)

    def break_lines(self) -> None:
        """Put line breaks into paragraphs that are too long, at sentence ends; undone it is in one step."""
        if self._long is not None:
            self._replace(long_paragraphs.broken(self._long))

    def _replace(self, text: str) -> None:
        """Take another text and tell it; `go_back` brings this one back."""
        before = self.text()
        self._take(text)
        self._before = before
        self.edited.emit(text)

    @property
    def can_go_back(self) -> bool:
        return self._before is not None and not self.document().isUndoAvailable()

    def go_back(self) -> None:
        """Undo what was too much for Qt's own steps: a long paste, or the line breaks put into it."""
        if self._before is not None:
            self._replace(self._before)

    def _append(self, piece: str) -> None:
        """Put text behind all that is there; not a step of undo."""
        blocked = self.blockSignals(True)
        self.document().setUndoRedoEnabled(False)
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(piece)
        self.document().setUndoRedoEnabled(True)
        self.blockSignals(blocked)

    def _begin_pouring(self, rest: str, at: QTextCursor | None) -> None:
        """Put what is left of a long text into the document, a piece at each turn of the event loop."""
        self._rest, self._pour_at = rest, at
        self._set_writable(not rest and self._long is None)
        if rest:
            self._pourer.start()
        self.viewport().update()

    def _pour(self) -> None:
        piece = _piece_of(self._rest)
        self._rest = self._rest[len(piece) :]
        if self._pour_at is None:
            self._append(piece)
        else:
            blocked = self.blockSignals(True)
            _insert(self._pour_at, piece, goes_on=True)
            self.blockSignals(blocked)
        if not self._rest:
            self._pourer.stop()
            self._set_writable(self._long is None)
            self._show_marks()
            if self._pour_at is not None:
                self.setTextCursor(self._pour_at)
                self._pour_at = None
                self.ensureCursorVisible()
                self.flush()

    def _note(self, text: str) -> None:
        self._told = text
        self._wide = [] if text.isascii() else [match.start() for match in _WIDE.finditer(text)]

    @property
    def is_filling(self) -> bool:
        """Whether a part of a long text is still to be put into the document."""
        return bool(self._rest)

    def flush(self) -> None:
        """Tell now what is written."""
        self._timer.stop()
        if self._rest:
            return
        text = self.text()
        if text != self._told:
            self._note(text)
            self.edited.emit(text)

    def _place_of(self, character: int) -> int:
        """Return where Qt has a character of the text."""
        return min(self._counted(character), max(0, self.document().characterCount() - 1))

    def _counted(self, character: int) -> int:
        """Emoji are two of Qt's places; a line break that the text does not have is one."""
        return character + bisect.bisect_left(self._wide, character) + bisect.bisect_right(self._breaks, character)

    def character_at(self, place: int) -> int:
        """Return the character of the text at one of Qt's places."""
        return max(0, bisect.bisect_right(range(place + 1), place, key=self._counted) - 1)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste. Much text comes piece by piece and is told at once; undone it is in one step."""
        text = source.text().replace("\r\n", "\n").replace("\r", "\n")
        cursor = self.textCursor()
        if self._long is not None and not self._rest:
            if self._is_all_selected():
                self._replace(text)
            else:
                self.refused.emit()
            return
        if self.isReadOnly():
            return
        if len(text) <= PIECE and cursor.block().length() + len(text) <= long_paragraphs.LONGEST:
            super().insertFromMimeData(source)
            self._format_lines()
            return
        self.flush()
        before = self.toPlainText()
        start, end = (self.character_at(place) for place in (cursor.selectionStart(), cursor.selectionEnd()))
        whole = before[:start] + text + before[end:]
        if long_paragraphs.has_long(whole):
            self._replace(whole)
            return
        first = _piece_of(text)
        blocked = self.blockSignals(True)
        _insert(cursor, first)
        self.blockSignals(blocked)
        self._begin_pouring(text[len(first) :], cursor)
        self._timer.stop()
        self._note(whole)
        self.edited.emit(whole)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the text, without the line breaks that it does not have."""
        if self._long is None:
            return super().createMimeDataFromSelection()
        cursor, data = self.textCursor(), QMimeData()
        start, end = (self.character_at(place) for place in (cursor.selectionStart(), cursor.selectionEnd()))
        data.setText(self._long[start:end])
        return data

    def _is_all_selected(self) -> bool:
        cursor = self.textCursor()
        return cursor.selectionEnd() - cursor.selectionStart() >= self.document().characterCount() - 1

    # -- marks ----------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Keep what is heard in view until the person writes, clicks or scrolls here."""
        self._follows, self._looks_elsewhere = True, False

    def show_spoken(self, span: Span | None) -> None:
        """Mark the sentence that is heard, and keep it in view unless the person is writing."""
        self._spoken = span
        self._show_marks()
        self._looks_elsewhere &= span is not None
        if span is not None and not self._looks_elsewhere and (self._follows or not self.hasFocus()):
            cursor = QTextCursor(self.document())
            cursor.setPosition(self._place_of(span.start))
            place = self.cursorRect(cursor)
            if place.top() < 0 or place.bottom() > self.viewport().height():
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + place.top() - self.viewport().height() // 3)

    def _show_marks(self) -> None:
        self.setExtraSelections([self._selection(self._spoken)] if self._spoken is not None else [])

    def _selection(self, span: Span) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._place_of(span.start))
        cursor.setPosition(self._place_of(span.end), QTextCursor.MoveMode.KeepAnchor)
        mark.cursor = cursor
        mark.format.setBackground(QColor(self._theme.color("accent_tint")))
        mark.format.setForeground(QColor(self._theme.color("text")))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection.value, False)
        return mark

    def show_parts(self, parts: Sequence[Span]) -> None:
        """Show where each part after the first begins."""
        begins = tuple(part.start for part in parts[1:])
        if begins != self._begins:
            self._begins = begins
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.document().isEmpty() and not self.textCursor().block().layout().preeditAreaText():
            self._paint_hint()
        if not self._begins:
            return
        painter = QPainter(self.viewport())
        theme = self._theme
        font = theme.font("small", tabular=True)
        painter.setFont(font)
        top = self.character_at(self.cursorForPosition(QPoint(0, 0)).position())
        first = max(0, bisect.bisect_left(self._begins, top) - 1)
        for number, begin in enumerate(self._begins[first:], first + 2):
            cursor = QTextCursor(self.document())
            cursor.setPosition(self._place_of(begin))
            place = self.cursorRect(cursor)
            if place.bottom() < 0:
                continue
            if place.top() > self.viewport().height():
                break  # asking for the place of the next ones would have all of the text laid out
            y = place.top() - (theme.px(5) if cursor.atBlockStart() else 1)
            words = (
                tr("Part {number} starts here, at a sentence end", number=number)
                if cursor.atBlockStart()
                else tr("Part {number}", number=number)
            )
            wide = QFontMetricsF(font).horizontalAdvance(words) + theme.icon_px(14) + theme.px(12)
            left = self.viewport().width() - wide if not cursor.atBlockStart() else (self.viewport().width() - wide) / 2
            pen = QPen(theme.color("control"), 1, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawLine(QPointF(place.left() if not cursor.atBlockStart() else 0, y), QPointF(left, y))
            painter.drawLine(QPointF(left + wide, y), QPointF(self.viewport().width(), y))
            side = theme.icon_px(14)
            icons.paint(painter, theme, "scissors", QRectF(left + theme.px(4), y - side / 2, side, side), "text2")
            painter.setPen(theme.color("text2"))
            box = QRectF(left + side + theme.px(8), y - theme.line_px("small") / 2, wide, theme.line_px("small"))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), words)

    def _paint_hint(self) -> None:
        """In the line that the caret stands in: Qt's own placeholder knows nothing of the height of lines."""
        painter = QPainter(self.viewport())
        painter.setFont(self.font())
        painter.setPen(self._theme.color("text3"))
        caret, margin = self.cursorRect(), self.document().documentMargin()
        area = QRectF(margin, caret.top(), self.viewport().width() - 2 * margin, self.viewport().height() - caret.top())
        painter.drawText(area, int(Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextWordWrap), NOTHING_YET)

    # -- hands ----------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._follows, self._looks_elsewhere = False, True
        super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._follows = False
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() or event.key() in MOVING:
            self._follows = False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (
            event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            event.ignore()  # the tab's main action
        elif event.matches(QKeySequence.StandardKey.Undo) and self.can_go_back:
            self.go_back()
        elif self._long is None or self._rest or not self._wrote_over(event):
            super().keyPressEvent(event)

    def _wrote_over(self, event: QKeyEvent) -> bool:
        """Take a key that writes while the text is only shown: what is selected as a whole can be written over."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.insertFromMimeData(QGuiApplication.clipboard().mimeData())
            return True
        cuts = event.matches(QKeySequence.StandardKey.Cut)
        written = event.text() if event.text().isprintable() and not event.modifiers() & NO_TEXT else ""
        if not (written or cuts or event.key() in WRITING):
            return False
        if not self._is_all_selected():
            self.refused.emit()
            return True
        if cuts:
            self.copy()
        self._replace(written)
        self.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            place = self.cursorForPosition(event.position().toPoint()).position()
            self.sentence_requested.emit(self.character_at(place))
            return
        super().mouseDoubleClickEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.viewport().update()


def _piece_of(text: str) -> str:
    """Return what of a text is put into the document next: whole paragraphs, or one that is longer than a piece.

    A paragraph is laid out as one, so half of it would only be laid out twice.
    """
    end = text.rfind("\n", 0, PIECE) + 1 or text.find("\n", PIECE) + 1
    return text[:end] if end and len(text) > PIECE else text


def _insert(cursor: QTextCursor, text: str, *, goes_on: bool = False) -> None:
    """Put text where the cursor is; with `goes_on` it belongs to the step of undo before it."""
    if goes_on:
        cursor.joinPreviousEditBlock()
    else:
        cursor.beginEditBlock()
    cursor.insertText(text)
    cursor.endEditBlock()
