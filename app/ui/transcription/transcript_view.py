"""The transcript: click a word to hear it, see which word is spoken, correct it in place. Two hours open at once.

Paints what is on screen and nothing else; while it plays, only the word that ends and the word that begins.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.translation import tr
from app.ui.kit.accessible_document import ListInterface, interface_of, show_document, tell_focus
from app.ui.kit.widgets.announce import is_heard
from app.ui.kit.widgets.menu import Menu
from app.ui.transcription.segment_editor import SegmentEditor
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.editing import NUDGE_S, Match
from app.ui.transcription.spoken_transcript import SpokenTranscript
from app.ui.transcription.state import Mark
from app.ui.transcription.transcript_paint import RowLook, paint_row
from app.ui.transcription.transcript_rows import Found, Row, RowSheet, found_in_row, rows_of

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Place = tuple[int, int]
HEAR_AFTER_MS = 250


class TranscriptView(QAbstractScrollArea):
    """`listen_requested` tells a second; edits name a segment. `handle_key` may be given keys that the player
    understands."""

    listen_requested = Signal(float)
    edited = Signal(int, str)
    edit_begun = Signal()  # by a double click, whose first click would else be heard
    nudge_requested = Signal(int, str, float)  # segment, "start", "end" or "both", seconds
    split_requested = Signal(int, int)  # segment, word
    merge_requested = Signal(int)  # with the one after it

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.document = Document()
        self._mode = "segments"
        self._sheet: RowSheet | None = None
        self._row_of: dict[Place, int] = {}
        self._first_row: list[int] = []
        self.spoken: Place | None = None
        self.current = 0  # the row of the keyboard
        self.chosen: Place | None = None  # the word that was clicked last
        self.follow = True
        self._found: tuple[Match, ...] = ()
        self._found_at = -1
        self._marked: frozenset[int] = frozenset()
        self._hear_at = 0.0
        self._hear = QTimer(self)  # a click is heard when it is no double click
        self._hear.setSingleShot(True)
        self._hear.setInterval(min(HEAR_AFTER_MS, QGuiApplication.styleHints().mouseDoubleClickInterval()))
        self._hear.timeout.connect(lambda: self.listen_requested.emit(self._hear_at))
        self.handle_key: Callable[[QKeyEvent], bool] = lambda _event: False
        self.editor = SegmentEditor(theme, self.viewport())
        self.editor.committed.connect(self.edited)
        self.editor.left.connect(self.setFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.ring_widget = None  # the row that the keyboard is on shows it
        self.setAccessibleName(tr("Transcript"))
        spoken = SpokenTranscript(self)
        show_document(self, lambda: ListInterface(self, spoken))
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        theme.changed.connect(self._rebuild)

    # What is shown

    def show_document(self, document: Document) -> None:
        """Show a document; after an edit the place stays."""
        self.document = document
        if self.spoken is not None and not self._exists(self.spoken):
            self.spoken = None
        if self.chosen is not None and not self._exists(self.chosen):
            self.chosen = None
        self._rebuild()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Put a flag beside the segments that hold a mark."""
        starts = [segment.start for segment in self.document.segments]
        self._marked = frozenset(max(0, bisect_right(starts, mark.at) - 1) for mark in marks) if starts else frozenset()
        self.viewport().update()

    def set_mode(self, mode: str) -> None:
        """Segments, words or running text; the place stays."""
        if mode != self._mode:
            segment = self.segment
            self._mode = mode
            self._rebuild()
            self.go_to(segment)

    @property
    def mode(self) -> str:
        return self._mode

    @property
    def segment(self) -> int:
        """The segment the keyboard is on."""
        if self.chosen is not None:
            return self.chosen[0]
        sheet = self._sheet
        return sheet.rows[self.current].segment if sheet is not None and self.current < len(sheet.rows) else 0

    def show_found(self, found: Sequence[Match], at: int) -> None:
        """Mark what a search found, the one it stands on with a frame, and scroll there."""
        self._found, self._found_at = tuple(found), at
        self.viewport().update()
        if 0 <= at < len(self._found):
            self.go_to(self._found[at].segment, select=False)

    def refresh_found(self, found: Sequence[Match], at: int) -> None:
        """The same after an edit: nothing scrolls."""
        self._found, self._found_at = tuple(found), at
        self.viewport().update()

    def set_position(self, seconds: float) -> None:
        """Mark the word that is spoken; paints two words, and scrolls when it follows."""
        place = self.document.word_at(seconds)
        if place == self.spoken:
            return
        before, self.spoken = self.spoken, place
        self._update_place(before)
        self._update_place(place)
        if place is not None and self.follow and not self.editor.isVisible():
            self._keep_visible(self._row_of[place])

    def clear_position(self) -> None:
        self.spoken = None
        self.viewport().update()

    # Measures

    def _exists(self, place: Place) -> bool:
        return place[0] < len(self.document.segments) and place[1] < len(self.document.segments[place[0]].words)

    def _rebuild(self) -> None:
        rows = rows_of(self.document, self._mode)
        self._row_of = {(span[2], span[3]): number for number, row in enumerate(rows) for span in row.spans}
        self._first_row = [row.segment for row in rows]
        self._sheet = RowSheet(self._theme, rows, self._mode, self.viewport().width())
        self.current = max(0, min(self.current, len(rows) - 1))
        self._place_bar()
        self._tell()
        self.viewport().update()

    def _place_bar(self) -> None:
        sheet = self._sheet
        if sheet is None:
            return
        page = self.viewport().height()
        self.verticalScrollBar().setRange(0, max(0, sheet.height + self._theme.px(16) - page))
        self.verticalScrollBar().setPageStep(page)
        self.verticalScrollBar().setSingleStep(sheet.line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._sheet is None or self._sheet.width != self.viewport().width():
            anchor = self._sheet.row_at(self.verticalScrollBar().value()) if self._sheet is not None else 0
            self._rebuild()
            if self._sheet is not None and self._sheet.rows:
                self.verticalScrollBar().setValue(self._sheet.tops[min(anchor, len(self._sheet.rows) - 1)])
        else:
            self._place_bar()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()
        if self.editor.isVisible():
            self.editor.move(self.editor.x(), self.editor.y() + dy)

    def _top(self, row: int) -> int:
        assert self._sheet is not None
        return self._sheet.tops[row] - self.verticalScrollBar().value() + self._theme.px(8)

    def word_rects(self, place: Place) -> list[QRectF]:
        """Where a word is on screen."""
        sheet, row = self._sheet, self._row_of.get(place)
        if sheet is None or row is None:
            return []
        span = sheet.rows[row].span_of(*place)
        if span is None:
            return []
        top = self._top(row)
        return [rect.translated(0, top) for rect in sheet.rects(row, *span)]

    def _update_place(self, place: Place | None) -> None:
        """Repaint a word; its whole row where the segment's color changes as well."""
        sheet = self._sheet
        row = self._row_of.get(place) if place is not None else None
        if sheet is None or row is None:
            return
        top = self._top(row)
        if top < self.viewport().height() and top + sheet.row_height(row) > 0:
            self.viewport().update(0, top, self.viewport().width(), sheet.row_height(row))

    def _keep_visible(self, row: int) -> None:
        sheet = self._sheet
        assert sheet is not None
        top, height = self._top(row), sheet.row_height(row)
        if top < 0 or top + height > self.viewport().height():
            self.verticalScrollBar().setValue(sheet.tops[row] - self.viewport().height() // 3)

    def go_to(self, segment: int, *, select: bool = True) -> None:
        """Bring a segment on screen; with `select` the keyboard goes there."""
        if self._sheet is None or not self._sheet.rows:
            return
        row = max(0, bisect_right(self._first_row, segment) - 1)
        if self._mode == "words":
            row = bisect_left(self._first_row, segment)
        row = min(row, len(self._sheet.rows) - 1)
        if select:
            self.current = row
            self._tell()
        self._keep_visible(row)
        self.viewport().update()

    def _tell(self) -> None:
        """Say the row or the word that the keyboard is on now."""
        if self.hasFocus() and is_heard():
            whole = interface_of(self)
            tell_focus(whole.focusChild() or whole)

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown, a line of the mode each."""
        return self._sheet.rows if self._sheet is not None else ()

    def row_at(self, y: int) -> int | None:
        """The row at a height of the viewport."""
        row, _ = self._hit(QPoint(0, y))
        return row if row >= 0 else None

    def row_rect(self, number: int) -> QRect:
        """Where a row is in the viewport."""
        assert self._sheet is not None
        return QRect(0, self._top(number), self.viewport().width(), self._sheet.row_height(number))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        sheet = self._sheet
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), self._theme.color("canvas"))
        if sheet is None or not sheet.rows:
            return
        height_before = sheet.height
        row = sheet.row_at(self.verticalScrollBar().value())
        found = self._found_by_segment()
        while row < len(sheet.rows):
            sheet.layout(row)
            top = self._top(row)
            if top > event.rect().bottom():
                break
            if top + sheet.row_height(row) >= event.rect().top():
                self._paint_row(painter, row, top, found)
            row += 1
        if sheet.height != height_before:
            self._place_bar()

    def _found_by_segment(self) -> Found:
        found: Found = {}
        for number, match in enumerate(self._found):
            found.setdefault(match.segment, []).append((match, number == self._found_at))
        return found

    def _paint_row(self, painter: QPainter, number: int, top: int, found: Found) -> None:
        sheet = self._sheet
        assert sheet is not None
        row = sheet.rows[number]
        look = RowLook(
            spoken=self.spoken if self.spoken is not None and self._row_of.get(self.spoken) == number else None,
            chosen=self.chosen,
            has_focus=self.hasFocus() and number == self.current,
            is_marked=self._mode == "segments" and row.segment in self._marked,
            found=found_in_row(self.document, row, self._mode, found) if found else (),
        )
        paint_row(painter, self._theme, sheet, number, top, self.viewport().width(), look)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Qt tells readers of the view itself after this: they are to hear of the row last
        QTimer.singleShot(0, self, self._tell)

    # Hands

    def _hit(self, at: QPoint) -> tuple[int, Place | None]:
        """The row under a point, and the word when there is one."""
        sheet = self._sheet
        if sheet is None or not sheet.rows:
            return -1, None
        y = at.y() + self.verticalScrollBar().value() - self._theme.px(8)
        if y >= sheet.height:
            return -1, None
        row = sheet.row_at(y)
        character = sheet.character_at(row, at.x(), y - sheet.tops[row])
        return row, sheet.rows[row].word_at(character) if character is not None else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        row, place = self._hit(event.position().toPoint())
        if row < 0:
            return
        self.current = row
        self.chosen = place
        self._tell()
        self.viewport().update()
        sheet = self._sheet
        assert sheet is not None
        in_label = event.position().x() < sheet.text_left and bool(sheet.rows[row].label)
        if place is not None:
            self._hear_at = self.document.word(place).start
            self._hear.start()
        elif in_label:
            self._hear_at = self.document.segments[sheet.rows[row].segment].start
            self._hear.start()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row, _ = self._hit(event.position().toPoint())
        if row >= 0:
            self._hear.stop()
            self.edit_begun.emit()
            self.current = row
            self.begin_edit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.document.segments:
            super().keyPressEvent(event)
            return
        if not self._own_key(event) and not self.handle_key(event):
            super().keyPressEvent(event)

    def _own_key(self, event: QKeyEvent) -> bool:
        key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        arrows = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        edges = {
            Qt.KeyboardModifier.ShiftModifier: "both",
            Qt.KeyboardModifier.AltModifier: "start",
            Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier: "end",
        }
        if key in arrows and held in edges:
            self.nudge_requested.emit(self.segment, edges[held], arrows[Qt.Key(key)] * NUDGE_S)
        elif key in arrows and held == Qt.KeyboardModifier.ControlModifier:
            self._step_word(arrows[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not held:
            self.hear()
        elif held:
            return False
        elif key == Qt.Key.Key_F2:
            self.begin_edit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_row(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_S:
            self.split()
        elif key == Qt.Key.Key_Backspace:
            self.merge_before()
        else:
            return False
        return True

    def _place_of_keyboard(self) -> float:
        if self.chosen is not None:
            return self.document.word(self.chosen).start
        return self.document.segments[self.segment].start

    def _step_row(self, by: int) -> None:
        assert self._sheet is not None
        self.current = max(0, min(len(self._sheet.rows) - 1, self.current + by))
        self.chosen = None
        self._keep_visible(self.current)
        self._tell()
        self.viewport().update()

    def _step_word(self, by: int) -> None:
        places = self.document.places
        before = self.chosen or self.spoken or (self.segment, 0)
        number = max(0, min(len(places) - 1, bisect_left(places, before) + (by if self.chosen is not None else 0)))
        self.chosen = places[number]
        self.current = self._row_of[self.chosen]
        self._keep_visible(self.current)
        self._tell()
        self.viewport().update()

    def split(self) -> None:
        """Begin a new segment with the chosen word, or with the one that is spoken."""
        place = self.chosen or self.spoken
        if place is not None:
            self.split_requested.emit(*place)

    def merge_before(self) -> None:
        if self.segment > 0:
            self.merge_requested.emit(self.segment - 1)

    def begin_edit(self) -> None:
        """Turn the segment of the keyboard into a field. In the other modes, go to its segment first."""
        if not self.document.segments:
            return
        segment = self.segment
        if self._mode != "segments":
            self.set_mode("segments")
        self.go_to(segment)
        sheet = self._sheet
        assert sheet is not None
        sheet.layout(segment)
        area = QRect(sheet.text_left, self._top(segment), sheet.text_width, sheet.row_height(segment))
        self.editor.open(segment, self.document.segments[segment].text, area)

    def copy_segment(self) -> None:
        if self.document.segments:
            QGuiApplication.clipboard().setText(self.document.segments[self.segment].text)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            if self._sheet is not None and self._sheet.rows:
                row = self.current if self.chosen is None else self._row_of.get(self.chosen, self.current)
                at = QPoint(self._sheet.text_left, self._top(row) + self._sheet.row_height(row))
                self.open_menu().popup(self.viewport().mapToGlobal(at))
            return
        row, place = self._hit(event.pos())
        if row >= 0:
            self.current, self.chosen = row, place
            self.viewport().update()
            self.open_menu().popup(event.globalPos())

    def open_menu(self) -> Menu:
        """What can be done with the segment of the keyboard."""
        return segment_menu(self, self._theme)

    def hear(self) -> None:
        """From the chosen word, or from the beginning of the segment."""
        self.listen_requested.emit(self._place_of_keyboard())


def segment_menu(view: TranscriptView, theme: Theme) -> Menu:
    """Return the menu for the segment that the keyboard is on."""
    menu = Menu(theme, view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    segment = view.segment
    menu.add(tr("Play from here"), "play", shortcut="Return").triggered.connect(view.hear)
    menu.add(tr("Edit segment"), "pencil", shortcut="F2").triggered.connect(view.begin_edit)
    menu.add(tr("Copy segment"), "copy").triggered.connect(view.copy_segment)
    menu.addSeparator()
    for words, edge, by, keys in (
        (tr("Move 0.1 s earlier"), "both", -NUDGE_S, "Shift+Left"),
        (tr("Move 0.1 s later"), "both", NUDGE_S, "Shift+Right"),
        (tr("Start 0.1 s earlier"), "start", -NUDGE_S, "Alt+Left"),
        (tr("Start 0.1 s later"), "start", NUDGE_S, "Alt+Right"),
        (tr("End 0.1 s earlier"), "end", -NUDGE_S, "Alt+Shift+Left"),
        (tr("End 0.1 s later"), "end", NUDGE_S, "Alt+Shift+Right"),
    ):
        menu.add(words, shortcut=keys).triggered.connect(
            lambda _on=False, edge=edge, by=by: view.nudge_requested.emit(segment, edge, by)
        )
    menu.addSeparator()
    can_split = (view.chosen or view.spoken) is not None
    menu.add(tr("Split before this word"), "scissors", shortcut="S", enabled=can_split).triggered.connect(view.split)
    menu.add(tr("Merge with previous segment"), shortcut="Backspace", enabled=segment > 0).triggered.connect(
        view.merge_before
    )
    return menu
