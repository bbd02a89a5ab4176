"""The conversation: a scroll area of its own that lays out, paints and keeps only what is on screen.

What a person reads is never laid out twice: a message is cut into units (`message_flow`), only units on screen have
documents, text that comes is added to the last one, and scrolling copies pixels. The truth about where we are is one
anchor (`message_stack`), so opening a chat of any length costs one screen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.translation import tr
from app.ui.conversation import keyboard
from app.ui.conversation.accessible import ViewInterface, announce_focus
from app.ui.conversation.actions import Actions
from app.ui.conversation.boxes import paint_focus_ring
from app.ui.conversation.highlighter import Highlighter
from app.ui.conversation.message_walk import MessageWalk
from app.ui.conversation.mouse import MouseHandler
from app.ui.conversation.rows import MessageRow
from app.ui.conversation.scheduler import COLUMN_PX, PADDING_PX, ViewScheduler
from app.ui.conversation.scroll_bar import NOTCH_PX, Bar, OpaqueBar
from app.ui.conversation.selection import Selection, select_all
from app.ui.conversation.stream import Stream
from app.ui.conversation.units import Styles
from app.ui.conversation.viewport_painter import ViewportPainter
from app.ui.conversation.virtual_list import BOTTOM_PX, VirtualList
from app.ui.kit.accessible_document import show_document
from app.ui.kit.markdown.figures import Figures
from app.ui.kit.markdown.parser import parser
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool
from app.ui.kit.widgets.announce import spoken_problem

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Box, Control
    from app.ui.conversation.code_box import CodeGroup
    from app.ui.conversation.units import ControlReference, Key
    from app.ui.conversation.virtual_list import PlacedUnit
    from app.ui.kit.theme import Theme

DONE_MS = 1200  # how long a copy button shows that it has copied


class MessageView(QAbstractScrollArea):
    """Shows rows and reports what is pressed in them; it fetches and opens nothing by itself."""

    action = Signal(str, str)  # row id; "copy", "retry", "branch", "more", "continue", "start-over" or a problem's id
    link_activated = Signal(str)  # the address, as it stands in the message
    source_activated = Signal(str, int)  # row id, index of the source from 0
    attachment_activated = Signal(str, int)  # row id, index of the attachment
    attachment_action = Signal(str, int, str)  # the same, and "copy" or "save"
    save_requested = Signal(str, str)  # code, a name to offer for the file
    reasoning_folded = Signal(str, bool)  # row id, whether they are hidden now
    new_text_below = Signal(bool)  # text has come below what is on screen; False when it has been reached
    at_end_changed = Signal(bool)
    menu_opening = Signal(object, str)  # Menu, row id: whoever shows the view adds what it can do with the row
    typed = Signal(object)  # QKeyEvent: text or Paste, which means the field where a message is typed

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.figures = Figures(self)
        self.stack = VirtualList(Styles(theme, self.figures))
        self.selection = Selection()
        self.picture = ViewportPainter(self.viewport(), self.stack, self.selection, theme)
        self.pointer = MouseHandler(self)
        self._actions = Actions(self)
        self.setVerticalScrollBar(OpaqueBar(theme))
        self.bar = Bar(self)
        self.stream = Stream(self)
        self.highlighter = Highlighter(self)
        self.walk = MessageWalk(self)
        self._showing = ViewScheduler(self, theme)
        self._done = QTimer(self)
        self._done.setSingleShot(True)
        self._done.setInterval(DONE_MS)
        self._done.timeout.connect(lambda: self.show_done(None))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Conversation"))
        viewport = self.viewport()
        viewport.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        viewport.setMouseTracking(True)
        self.highlighter.colored.connect(self._show_highlighting)
        self.stream.follow(self.figures)
        theme.changed.connect(self._restyle)
        show_document(self, lambda: ViewInterface(self))

    @property
    def theme(self) -> Theme:
        return self._theme

    def sizeHint(self) -> QSize:
        return QSize(COLUMN_PX + 2 * PADDING_PX, 600)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def set_messages(self, rows: Iterable[MessageRow]) -> None:
        """Show another conversation from its end, or the same one with other rows in it, staying where we are."""
        rows = list(rows)
        if self.selection.range is not None:
            self.selection_moved()
        self.selection.clear()
        self.stream.stop_all()
        self.walk.forget()
        top = "" if self.stack.following else self._top_row_id()
        same = self.stack.set_rows(rows)
        number = self.stack.number_of(top) if same and top else None
        if number is None:
            self.stack.following = True
        else:
            self.stack.anchor.row = number
        for row in rows:
            if row.state == "streaming":
                self.stream.begin(row.id)
        self._showing.set_new_below(False)
        self.refresh(full=not same, in_steps=True)

    def append(self, row: MessageRow) -> None:
        """Add a message below; the view moves along when its end is on screen, or when the person wrote it."""
        self.stack.add(row)
        if row.role == "user":
            self.stack.following = True
        if row.state == "streaming":
            self.stream.begin(row.id)
        self._showing.note_below()
        self.refresh()

    def update(self, *args: Any, **changes: Any) -> None:
        """Replace fields of a row: `update("id", receipt=…)`. Without a row id it is `QWidget.update`.

        Raises `KeyError` for a row that is not there.
        """
        if not args or not isinstance(args[0], str):
            super().update(*args)
            return
        self.update_row(args[0], **changes)

    def update_row(self, row_id: str, **changes: Any) -> None:
        """Replace fields of a row. Raises `KeyError` for a row that is not there."""
        if self.stream.hand_over(row_id) is not None:
            self._showing.note_below()
        row = self.stack.change(row_id, changes)
        if "state" in changes:
            if row.state == "streaming":
                self.stream.begin(row_id)
            else:
                self.stream.end(row)
        if changes.get("problem") is not None and row.problem is not None:
            self.stream.say(spoken_problem(row.problem))
        self.refresh(in_steps="state" in changes)  # all that still waited is in it then

    def row(self, row_id: str) -> MessageRow:
        """Return a row with all text that has come for it. Raises `KeyError`."""
        number = self.stack.number_of(row_id)
        if number is None:
            raise KeyError(row_id)
        row = self.stack.rows[number]
        model = self.stack.known_model(row_id)
        if model is None or row.role != "assistant":
            return row
        return self.stream.with_text(row, model)

    # -- streaming ----------------------------------------------------------------------------------------------------

    def begin_stream(self, row_id: str) -> None:
        """Say that text will come for a row."""
        self.update_row(row_id, state="streaming")

    def append_text(self, row_id: str, delta: str) -> None:
        """Take text of an answer; it is shown at most 30 times a second."""
        self.stream.append(row_id, text=delta)

    def append_reasoning(self, row_id: str, delta: str) -> None:
        """Take a piece of the model's thoughts."""
        self.stream.append(row_id, reasoning=delta)

    def replace_texts(self, row_id: str, text: str, reasoning: str) -> None:
        """Show other texts of an answer that is streamed, such as one that turned out to be reasoning."""
        if self.stack.number_of(row_id) is not None:
            self.update_row(row_id, text=text, reasoning=reasoning)

    def end_stream(self, row_id: str) -> None:
        """Say that a row's text is complete. What is not on screen yet follows within moments."""
        number = self.stack.number_of(row_id)
        if number is not None and self.stack.rows[number].state == "streaming":
            self.update_row(row_id, state="complete")

    # -- place --------------------------------------------------------------------------------------------------------

    @property
    def at_end(self) -> bool:
        """Whether the end of the conversation is on screen."""
        return self.stack.at_end(self.bottom_px)

    def scroll_to_end(self) -> None:
        """Go to the end and stay there while text comes."""
        self.stack.following = True
        self._showing.set_new_below(False)
        self.refresh(in_steps=True)

    def scroll_to_start(self) -> None:
        if self.stack.rows:
            self.stack.show(0)
            self._showing.jumped()
            self.refresh()

    def scroll_to_row(self, row_id: str) -> None:
        """Bring the beginning of a row to the upper edge. Raises `KeyError`."""
        number = self.stack.number_of(row_id)
        if number is None:
            raise KeyError(row_id)
        self.stack.show(number)
        self._showing.jumped()
        self.refresh()

    def step_question(self, by: int) -> None:
        """Bring the question below (1) or above (-1) the upper edge to it; below the last one is the end."""
        stack = self.stack
        first = next((placed for placed in stack.placed if placed.y + placed.unit.height > 0), None)
        if first is None:
            return
        is_at_its_start = first.y >= 0 and not any(each.row == first.row and each.y < first.y for each in stack.placed)
        last_above = first.row - 1 if is_at_its_start else first.row
        numbers = range(first.row + 1, len(stack.rows)) if by > 0 else range(last_above, -1, -1)
        number = next((each for each in numbers if stack.rows[each].role == "user"), None)
        if number is not None:
            self.scroll_to_row(stack.rows[number].id)
        elif by > 0:
            self.scroll_to_end()
        else:
            self.scroll_to_start()

    def show_unit(self, number: int, key: Key) -> None:
        """Bring a unit on screen, a third of the way down."""
        self.stack.show(number, key, -self.viewport().height() / 3)
        self._showing.jumped()
        self.refresh()

    def scroll_px(self, px: float) -> None:
        """Scroll by `px`, downwards when positive."""
        self._showing.scroll(px)

    def _top_row_id(self) -> str:
        anchor = self.stack.anchor
        return self.stack.rows[anchor.row].id if anchor.row < len(self.stack.rows) else ""

    @property
    def bottom_px(self) -> int:
        """The air below the last message."""
        return self._theme.px(BOTTOM_PX)

    @property
    def line_px(self) -> int:
        """The height of a line of an answer."""
        return self._theme.line_px("reading")

    # -- showing ------------------------------------------------------------------------------------------------------

    def refresh(self, *, full: bool = False, in_steps: bool = False) -> None:
        """Make the screen agree with the rows. `full` paints all of it; `in_steps` may take a few turns of the loop."""
        self._showing.refresh(full=full, in_steps=in_steps)

    @property
    def is_settled(self) -> bool:
        """Whether the screen shows what it is to show, as far as that has come."""
        return self._showing.is_settled

    def text_came(self) -> None:
        """Called by the stream when a row has grown."""
        self._showing.text_came()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bar is only told where we are; see `Bar`."""

    def _restyle(self) -> None:
        self.stack.restyle(Styles(self._theme, self.figures))
        self.refresh(full=True)

    def _show_highlighting(self, group: CodeGroup) -> None:
        for placed in self.stack.placed:
            if any(box.group is group for box in placed.unit.boxes):
                placed.unit.stale()
        self.refresh(in_steps=True)

    # -- pointing, pressing, selecting --------------------------------------------------------------------------------

    def activate(self, spot: ControlReference, control: Control) -> None:
        """Do what a control is there for."""
        self._actions.run(spot, control)

    def set_hovered(self, spot: ControlReference | None, row_id: str) -> None:
        self.picture.mark("hovered", spot)
        self.picture.set_hovered_message(row_id)

    def set_pressed(self, spot: ControlReference | None) -> None:
        self.picture.mark("pressed", spot)

    def set_focused(self, spot: ControlReference | None) -> None:
        """Move the keyboard's focus to a control, or take it back to the view itself."""
        if self.picture.mark("focused", spot):
            self.walk.leave()
            announce_focus(self, spot)

    def show_done(self, spot: ControlReference | None) -> None:
        """Show for a moment that a copy button has copied."""
        self.picture.mark("done", spot)
        if spot is not None:
            self._done.start()

    def control_rect(self, placed: PlacedUnit, spot: ControlReference, control: Control) -> QRectF:
        """Return where a control is in the viewport."""
        origin = self.pointer.origin_of(placed, placed.unit.boxes[spot.box])
        return control.rect.translated(origin)

    def selection_moved(self) -> None:
        self.viewport().update()

    def sideways_moved(self, box: Box) -> None:
        """Paint all parts of a block that was scrolled sideways."""
        for placed in self.stack.placed:
            if any(each.sideways is box.sideways for each in placed.unit.boxes):
                self.picture.update_unit(placed)

    def select_all(self) -> None:
        select_all(self.stack, self.selection)
        self.selection_moved()

    def copy_message(self, row_id: str) -> None:
        """Copy a message as its button does: to be read, and as HTML."""
        self._actions.copy_row(row_id)

    def copy(self) -> bool:
        """Copy the selection, else what the keyboard is on; False when there is neither."""
        return self._actions.copy_selection() or self._actions.copy_plain(self.walk.text())

    # -- events -------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self.picture.paint(painter, event.region())
        at = QRectF(self.walk.rect(self.walk.place)) if self.walk.place is not None else QRectF()
        if not at.isEmpty():
            paint_focus_ring(painter, self._theme, at.adjusted(-10, -4, 10, 4))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh(full=True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh(full=True)
        if "markdown_it" not in sys.modules:
            run_in_pool(self, _warm_up, lambda _nothing: None)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.stream.update_timers()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels, angle = event.pixelDelta(), event.angleDelta()
        delta = QPointF(pixels) if not pixels.isNull() else QPointF(angle) * (NOTCH_PX / 120)
        sideways = delta.x() or (delta.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if sideways and abs(delta.x()) >= abs(delta.y()) * (0 if delta.x() == 0 else 1):
            found = self.pointer.box_at(event.position())
            if found is not None and found[2].scrolled_by(-sideways):
                self.sideways_moved(found[2])
                event.accept()
                return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or not delta.y():
            event.ignore()
            return
        self.scroll_px(-delta.y())
        self.pointer.hover(event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.walk.leave()
        self.walk.by_keys = False
        self.pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pointer.release(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.pointer.leave()
        elif event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self.pointer.show_tooltip(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            at = keyboard.menu_place(self)
        self._actions.open_menu(at, self.viewport().mapToGlobal(at))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if keyboard.press(self, event):
            return
        if keyboard.is_typing(event):
            self.typed.emit(event)
        else:
            event.ignore()  # the window's own shortcuts come next, not the scroll area's idea of the arrow keys

    def focusNextPrevChild(self, forward: bool) -> bool:
        return keyboard.walk(self, forward) or super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.walk.by_keys = event.reason() != Qt.FocusReason.MouseFocusReason
        if event.reason() == Qt.FocusReason.BacktabFocusReason and self.stack.placed:
            # Qt tells readers of the view itself after this: they are to hear of the message last
            QTimer.singleShot(0, self, lambda: self.walk.enter() if self.hasFocus() else None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() == Qt.FocusReason.PopupFocusReason:
            return
        if event.reason() != Qt.FocusReason.ActiveWindowFocusReason:  # who comes back to the window goes on there
            self.walk.leave()
        self.set_focused(None)


def _warm_up() -> None:
    """Load what draws answers in a thread, so that the first one does not wait for it."""
    import app.ui.conversation.layout  # noqa: F401  # that it is loaded is all that is wanted

    parser()
