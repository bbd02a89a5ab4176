"""The mouse in the message view: hovering, pressing, selecting by drag, double and triple click, tooltips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QToolTip

from app.ui.conversation.units import ControlReference
from app.ui.kit.plain_tooltip import plain_tip

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Box, Control
    from app.ui.conversation.selection import Place
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit

_EDGE_MS = 30  # how often a drag beyond the edge scrolls on


class MouseHandler:
    """Turns mouse events into spots, places and calls of the view."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self._press_at: QPointF | None = None
        self._press_control: Control | None = None
        self._selecting = False
        self._by_words = False
        self._bar: Box | None = None
        self._clicks = 0
        self._last_click = QPointF()
        self._since_click = QElapsedTimer()
        self._edge = QTimer(view)
        self._edge.setInterval(_EDGE_MS)
        self._edge.timeout.connect(self._scroll_at_edge)
        self._at = QPointF()

    # -- finding ------------------------------------------------------------------------------------------------------

    def placed_at(self, y: float) -> PlacedUnit | None:
        """Return the unit at height `y`, the nearest one outside."""
        placed = self._view.stack.placed
        for each in placed:
            if y < each.bottom:
                return each
        return placed[-1] if placed else None

    def box_at(self, at: QPointF) -> tuple[PlacedUnit, int, Box, QPointF] | None:
        """Return unit, box number, box and the point in the box under (or nearest to) `at`."""
        placed = self.placed_at(at.y())
        if placed is None:
            return None
        number = placed.unit.box_at(at.y() - placed.y)
        if number < 0:
            return None
        box = placed.unit.boxes[number]
        origin = self.origin_of(placed, box)
        return placed, number, box, at - origin

    def origin_of(self, placed: PlacedUnit, box: Box) -> QPointF:
        return QPointF(self._view.picture.left + placed.unit.left, placed.y + box.y)

    def control_at(self, at: QPointF) -> tuple[ControlReference, Control, PlacedUnit] | None:
        """Return what can be pressed at `at`."""
        found = self.box_at(at)
        if found is None:
            return None
        placed, number, box, inside = found
        for control in box.controls():
            if control.role != "label" and control.contains(inside):
                row_id = self._view.stack.rows[placed.row].id
                return ControlReference(row_id, placed.key, number, control.id), control, placed
        return None

    def place_at(self, at: QPointF) -> Place | None:
        """Return the text position nearest to `at`."""
        found = self.box_at(at)
        if found is None:
            return None
        placed, number, box, inside = found
        return (placed.row, *placed.key, number, box.position_at(inside))

    def _word_at(self, at: QPointF) -> tuple[Place, Place] | None:
        found = self.box_at(at)
        if found is None:
            return None
        placed, number, box, inside = found
        start, end = box.word_at(box.position_at(inside))
        return (placed.row, *placed.key, number, start), (placed.row, *placed.key, number, end)

    # -- events -------------------------------------------------------------------------------------------------------

    def press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        at = event.position()
        view = self._view
        bar = self._bar_at(at)
        if bar is not None:
            self._bar = bar
            self._drag_bar(at)
            return
        self._count_click(event)
        found = self.control_at(at)
        self._press_at = at
        self._press_control = found[1] if found else None
        view.set_focused(None)
        if found is not None and (self._clicks == 1 or not _is_text(found[1])):
            view.set_pressed(found[0])
            if not _is_text(found[1]):
                return
        self._begin_selection(at, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def _count_click(self, event: QMouseEvent) -> None:
        """One click sets a place, two select a word, three a paragraph."""
        at = event.position()
        near = (at - self._last_click).manhattanLength() < QApplication.startDragDistance()
        soon = self._since_click.isValid() and self._since_click.elapsed() < QApplication.doubleClickInterval()
        if event.type() == QMouseEvent.Type.MouseButtonDblClick:
            self._clicks = 2
        else:
            self._clicks = 3 if self._clicks == 2 and near and soon else 1
        self._last_click = at
        self._since_click.start()

    def _begin_selection(self, at: QPointF, *, extend: bool) -> None:
        view = self._view
        selection = view.selection
        place = self.place_at(at)
        if place is None:
            return
        self._selecting = True
        self._by_words = self._clicks == 2
        if self._clicks == 3:
            first, last = (*place[:4], 0), (*place[:4], 1 << 30)
            found = self.box_at(at)
            selection.start(first, (*last[:4], found[2].length if found else 0))
        elif self._clicks == 2:
            word = self._word_at(at)
            if word is not None:
                selection.start(*word)
        elif extend:
            selection.extend(place)
        else:
            selection.start(place)
        view.selection_moved()

    def move(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._bar is not None:
            self._drag_bar(at)
            return
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self.hover(at)
            return
        if not self._selecting or self._press_at is None:
            return
        if (at - self._press_at).manhattanLength() >= QApplication.startDragDistance():
            self._view.set_pressed(None)
            self._press_control = None
        self._at = at
        self._extend_to(at)
        outside = not self._view.viewport().rect().contains(at.toPoint())
        if outside and not self._edge.isActive():
            self._edge.start()
        elif not outside:
            self._edge.stop()

    def _extend_to(self, at: QPointF) -> None:
        selection = self._view.selection
        if self._by_words:
            word = self._word_at(at)
            if word is not None:
                selection.extend(*word)
        else:
            place = self.place_at(at)
            if place is not None and self._clicks != 3:
                selection.extend(place)
        self._view.selection_moved()

    def _scroll_at_edge(self) -> None:
        height = self._view.viewport().height()
        beyond = self._at.y() if self._at.y() < 0 else max(0.0, self._at.y() - height)
        if beyond:
            self._view.scroll_px(max(-60.0, min(60.0, beyond * 0.6)))
            self._extend_to(QPointF(self._at.x(), max(0.0, min(height - 1.0, self._at.y()))))

    def release(self, event: QMouseEvent) -> None:
        self._edge.stop()
        self._bar = None
        self._selecting = False
        view = self._view
        pressed = view.picture.pressed
        view.set_pressed(None)
        if event.button() != Qt.MouseButton.LeftButton or pressed is None or self._press_control is None:
            return
        found = self.control_at(event.position())
        if found is not None and found[0] == pressed and (view.selection.range is None or not _is_text(found[1])):
            view.activate(found[0], found[1])

    def leave(self) -> None:
        self._view.set_hovered(None, "")

    def hover(self, at: QPointF) -> None:
        """Say what is under the pointer, and shape it accordingly."""
        found = self.control_at(at)
        view = self._view
        over = self.box_at(at)
        row_id = ""
        shape = Qt.CursorShape.ArrowCursor
        if over is not None and over[0].y <= at.y() < over[0].bottom:
            row_id = view.stack.rows[over[0].row].id
            inside = QRectF(0, 0, over[2].width, over[2].height).contains(over[3])
            if over[2].length and inside:
                shape = Qt.CursorShape.IBeamCursor
        if found is not None:
            shape = Qt.CursorShape.PointingHandCursor if found[1].role == "link" else Qt.CursorShape.ArrowCursor
            if found[1].action == ("none",):
                shape = Qt.CursorShape.ArrowCursor
        if view.viewport().cursor().shape() != shape:
            view.viewport().setCursor(shape)
        view.set_hovered(found[0] if found else None, row_id)

    def _bar_at(self, at: QPointF) -> Box | None:
        found = self.box_at(at)
        bar = found[2].bar_rect() if found is not None else QRectF()
        if found is None or bar.isEmpty() or not bar.adjusted(0, -3, 0, 3).contains(found[3]):
            return None
        return found[2]

    def _drag_bar(self, at: QPointF) -> None:
        if self._bar is not None:
            for placed in self._view.stack.placed:
                if self._bar in placed.unit.boxes:
                    self._bar.drag_bar_to(at.x() - self.origin_of(placed, self._bar).x())
                    self._view.sideways_moved(self._bar)
                    return

    # -- tooltips -----------------------------------------------------------------------------------------------------

    def show_tooltip(self, at: QPoint, global_at: QPoint) -> None:
        found = self.control_at(QPointF(at))
        if found is None or not found[1].tooltip:
            QToolTip.hideText()
            return
        _, control, placed = found
        spot_rect = self._view.control_rect(placed, found[0], control)
        QToolTip.showText(global_at, plain_tip(control.tooltip), self._view.viewport(), spot_rect.toAlignedRect())


def _is_text(control: Control) -> bool:
    """Tell links and chips, on which a selection may begin, from buttons."""
    return control.role == "link" and control.look == "none"
