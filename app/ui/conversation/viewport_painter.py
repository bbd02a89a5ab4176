"""Paints what is on screen, and finds out how little of it has to be painted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QRegion

from app.ui.conversation.boxes import Box, PaintState
from app.ui.conversation.caret_line import caret_rect
from app.ui.kit.qt_workarounds.alive import alive

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.ui.conversation.find import Finder
    from app.ui.conversation.selection import Selection
    from app.ui.conversation.units import ControlReference, Unit
    from app.ui.conversation.virtual_list import PlacedUnit, VirtualList
    from app.ui.kit.theme import Theme


class ViewportPainter:
    """What the viewport shows, remembered from one paint to the next."""

    def __init__(self, viewport: QWidget, stack: VirtualList, selection: Selection, theme: Theme) -> None:
        self.hovered: ControlReference | None = None
        self.pressed: ControlReference | None = None
        self.focused: ControlReference | None = None
        self.done: ControlReference | None = None
        self.finder: Finder | None = None
        self.lively_row = ""
        self.caret_on = True
        self.caret: QRect | None = None
        self._viewport = viewport
        self._stack = stack
        self._selection = selection
        self._theme = theme
        self._shown: dict[Unit, tuple[int, int]] = {}  # as painted: y and height
        self._end = 0  # as painted: where the last unit ends
        self.left = 0

    def forget(self) -> None:
        """Paint everything next time."""
        self._shown = {}
        self._viewport.update()

    # -- damage -------------------------------------------------------------------------------------------------------

    def present(self, caret: QRect | None) -> None:
        """Move the pixels that only moved, and ask for a paint of the rest."""
        placed = self._stack.placed
        bounds = self._viewport.rect()
        shift = self._shift(placed, bounds.height())
        if shift:
            self._viewport.scroll(0, shift, bounds)
        damage = QRegion(bounds)
        clean_from = clean_to = 0
        for each in placed:
            clean = self._clean_px(each, shift or 0) if shift is not None else 0
            if clean > 0 and each.y == clean_to:
                clean_to += clean
            elif clean > 0:
                damage -= QRegion(0, clean_from, bounds.width(), clean_to - clean_from)
                clean_from, clean_to = each.y, each.y + clean
            each.unit.dirty_from = None
        damage -= QRegion(0, clean_from, bounds.width(), clean_to - clean_from)
        end = placed[-1].bottom if placed else 0
        if shift == 0 and end == self._end:  # nothing stands below, as before
            damage -= QRegion(0, end, bounds.width(), max(0, bounds.height() - end))
        self._end = end
        if self.caret != caret or shift:
            if self.caret is not None:
                damage += QRegion(self.caret.translated(0, shift or 0))
            if caret is not None:
                damage += QRegion(caret)
        self.caret = caret
        self._shown = {each.unit: (each.y, each.unit.height) for each in placed}
        if not damage.isEmpty():
            self._viewport.update(damage)

    def _shift(self, placed: list[PlacedUnit], height: int) -> int | None:
        """Return how far the image has moved, None when nothing of it can be used again."""
        exact = self._viewport.devicePixelRatioF().is_integer()
        for each in placed:
            old = self._shown.get(each.unit)
            if old is not None and (each.unit.dirty_from is None or each.unit.dirty_from > 0):
                shift = each.y - old[0]
                # at a scale of 150 % an odd shift is no whole number of the screen's pixels
                return shift if abs(shift) < height and (exact or not shift) else None
        return None

    def _clean_px(self, placed: PlacedUnit, shift: int) -> int:
        """Return how many px from the unit's top look as before."""
        old = self._shown.get(placed.unit)
        if old is None or placed.y != old[0] + shift:
            return 0
        dirty_from = placed.unit.dirty_from
        return old[1] if dirty_from is None else int(dirty_from)

    def mark(self, name: str, spot: ControlReference | None) -> bool:
        """Say which control is `hovered`, `pressed`, `focused` or `done` now; False when it was before."""
        old: ControlReference | None = getattr(self, name)
        if old == spot or not alive(self._viewport):  # a window that is taken down still loses its focus
            return False
        setattr(self, name, spot)
        self._repaint_rows({each.row_id for each in (old, spot) if each is not None})
        return True

    def set_hovered_message(self, row_id: str) -> None:
        """Say which message the pointer is in; bubbles show their buttons then."""
        if row_id != self.lively_row:
            old, self.lively_row = self.lively_row, row_id
            self._repaint_rows({old, row_id})

    def _repaint_rows(self, row_ids: set[str]) -> None:
        for placed in self._stack.placed:
            if self._stack.rows[placed.row].id in row_ids and any(box.controls() for box in placed.unit.boxes):
                self.update_unit(placed)

    def update_unit(self, placed: PlacedUnit) -> None:
        """Ask for a paint of one unit, with room for focus rings."""
        self._viewport.update(QRect(0, placed.y - 6, self._viewport.width(), placed.unit.height + 12))

    # -- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, region: QRegion) -> None:
        """Draw what is on screen in the stripes of `region`."""
        for rect in region:  # type: ignore[attr-defined]  # it can be walked; the stubs do not say so
            self._paint_stripe(painter, rect)

    def _paint_stripe(self, painter: QPainter, rect: QRect) -> None:
        theme = self._theme
        painter.fillRect(rect, theme.color("canvas"))
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        first, last = rect.top() - 6, rect.bottom() + 6  # with room for focus rings
        for placed in self._stack.placed:
            if placed.y > last or placed.bottom < first:
                continue
            if not placed.unit.can_be_painted:
                continue  # it is about to be laid out and shown anew
            painter.save()
            painter.translate(self.left, placed.y)
            clip = QRectF(rect.translated(-self.left, -placed.y))
            painter.setClipRect(clip.intersected(QRectF(-self.left, -6, 1e5, placed.unit.height + 12)))
            placed.unit.paint(painter, clip, theme, lambda number, box, at=placed: self._state(at, number, box))  # type: ignore[misc]  # a default binds the loop's value
            painter.restore()
        if self.caret is not None and self.caret_on and self.caret.intersects(rect):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            painter.drawRoundedRect(QRectF(self.caret), 1, 1)

    def _state(self, placed: PlacedUnit, number: int, box: Box) -> PaintState:
        row_id = self._stack.rows[placed.row].id
        state = PaintState(lively=row_id == self.lively_row)
        for name in ("hovered", "pressed", "focused", "done"):
            spot: ControlReference | None = getattr(self, name)
            if spot is not None and spot.row_id == row_id and spot.key == placed.key and spot.box == number:
                setattr(state, name, spot.control)
        if self.focused is not None and self.focused.row_id == row_id:
            state.lively = True
        if self.finder is not None:
            state.found, state.shown = self.finder.marks(row_id, placed.key, placed.unit, number, box)
        state.selection = self._selection.in_box(placed.row, placed.key, number, box)
        return state

    def caret_of(self, placed: PlacedUnit) -> QRect | None:
        """Return where the caret of a streaming answer is when `placed` is its last unit."""
        boxes = placed.unit.boxes
        if not boxes:
            return None
        end = boxes[-1].end_rect()
        if end is None:
            return None
        caret = caret_rect(end, self._theme.scale)
        return caret.translated(self.left + placed.unit.left, placed.y + boxes[-1].y).toAlignedRect()
