"""The walk through messages by keys: Up and Down from one to the next, Right into its blocks, Left out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt

from app.ui.conversation.accessible import announce_focus
from app.ui.conversation.spoken_message import message_blocks
from app.ui.conversation.units import BODY
from app.ui.kit.markdown.spoken import Place, block_text, plain_text

if TYPE_CHECKING:
    from app.ui.conversation.rows import MessageRow
    from app.ui.conversation.units import Key
    from app.ui.conversation.view import MessageView
    from app.ui.kit.markdown.spoken import SpokenBlock


class MessageWalk:
    """One per view. `place` is None while the keyboard is on a control, or only scrolls."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self.place: Place | None = None
        self.by_keys = False  # else arrows scroll: who came with the mouse reads line by line
        self._known: dict[str, tuple[tuple[MessageRow, bool], tuple[SpokenBlock, ...]]] = {}

    # -- what there is ------------------------------------------------------------------------------------------------

    def count(self) -> int:
        return len(self._view.stack.rows)

    def row_id(self, number: int) -> str:
        return self._view.stack.rows[number].id

    def number_of(self, row_id: str) -> int | None:
        return self._view.stack.number_of(row_id)

    def row_at(self, y: int) -> int | None:
        placed = self._view.pointer.placed_at(y)
        return placed.row if placed is not None else None

    def blocks(self, row_id: str) -> tuple[SpokenBlock, ...]:
        """Return the blocks of a message; none for one that is gone."""
        stack = self._view.stack
        if stack.number_of(row_id) is None:
            self._known.pop(row_id, None)
            return ()
        model = stack.known_model(row_id)
        state = (self._view.row(row_id), model is not None and model.reasoning_open)
        known = self._known.get(row_id)
        if known is None or known[0] != state:
            known = self._known[row_id] = (state, message_blocks(state[0], reasoning_open=state[1]))
        return known[1]

    def block(self, place: Place) -> SpokenBlock | None:
        """Return the block at a place; None for a whole message, and where there is none any more."""
        found = None
        below = self.blocks(place.row_id)
        for number in place.path:
            if not 0 <= number < len(below):
                return None
            found = below[number]
            below = found.children
        return found

    def text(self) -> str:
        """The whole text of what the keyboard is on."""
        if self.place is None:
            return ""
        block = self.block(self.place)
        return block_text(block) if block is not None else plain_text(self.blocks(self.place.row_id))

    # -- moving -------------------------------------------------------------------------------------------------------

    def go(self, place: Place, *, scroll: bool = True) -> None:
        """Take the keyboard to a place, bring it on screen, and say so."""
        self.place = place
        self._view.picture.mark("focused", None)
        if scroll:
            self._bring_on_screen(place)
        announce_focus(self._view, place)
        self._view.viewport().update()

    def go_to_row(self, number: int) -> None:
        self.go(Place(self._view.stack.rows[number].id))

    def enter(self) -> None:
        """Come in from below: the last message on screen."""
        placed = self._view.stack.placed
        if placed:
            self.go(Place(self._view.stack.rows[placed[-1].row].id), scroll=False)

    def leave(self) -> None:
        if self.place is not None:
            self.place = None
            self._view.viewport().update()

    def forget(self) -> None:
        """Other messages are shown."""
        self._known.clear()
        self.leave()

    def press(self, key: int) -> bool:
        """Do what an arrow key means; False where it means nothing."""
        place = self.place
        if place is None:
            focused = self._view.picture.focused
            if not self.by_keys or key not in (Qt.Key.Key_Up, Qt.Key.Key_Down) or not self._view.stack.rows:
                return False
            if focused is not None:
                self.go(Place(focused.row_id))
            else:
                placed = self._view.stack.placed
                self.go_to_row(placed[-1 if key == Qt.Key.Key_Up else 0].row if placed else 0)
            return True
        number = self._view.stack.number_of(place.row_id)
        if number is None:
            self.leave()
            return self.press(key)
        match key:
            case Qt.Key.Key_Right:
                inside = Place(place.row_id, (*place.path, 0))
                if self.block(inside) is not None:
                    self.go(inside)
            case Qt.Key.Key_Left:
                if place.path:
                    self.go(Place(place.row_id, place.path[:-1]))
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._step(place, number, 1 if key == Qt.Key.Key_Down else -1)
            case _:
                return False
        return True

    def _step(self, place: Place, number: int, by: int) -> None:
        """Go to the next of the same level; where there is none, out to the next of the level above."""
        path = place.path
        while path:
            beside = Place(place.row_id, (*path[:-1], path[-1] + by))
            if path[-1] + by >= 0 and self.block(beside) is not None:
                self.go(beside)
                return
            path = path[:-1]
            if by < 0:
                self.go(Place(place.row_id, path))
                return
        if 0 <= number + by < len(self._view.stack.rows):
            self.go_to_row(number + by)

    # -- on screen ----------------------------------------------------------------------------------------------------

    def key_of(self, place: Place) -> Key | None:
        """Return the unit in which a block is drawn; None for a whole message."""
        number = self._view.stack.number_of(place.row_id)
        block = self.block(Place(place.row_id, place.path[:1])) if place.path else None
        if block is None or number is None:
            return None
        model = self._view.stack.model(number)
        keys = [key for key, _ in model.units()]
        if block.source_line < 0:  # thoughts come first; sources, notes and receipt last
            return keys[0 if block.kind == "group" and place.path[0] == 0 else -1] if keys else None
        inner = self.block(place) or block
        offset = _offset_of(model.row.text, max(inner.source_line, block.source_line))
        units = model.sections[BODY]
        starts = (index for index, unit in enumerate(units) if unit.segment is None or unit.segment.start <= offset)
        return BODY, max(starts, default=0)

    def rect(self, place: Place) -> QRect:
        """Return where a place is in the viewport, empty when it is off screen."""
        stack = self._view.stack
        number = stack.number_of(place.row_id)
        key = self.key_of(place)
        found = QRect()
        for placed in stack.placed:
            if placed.row == number and key in (None, placed.key):
                gap = placed.unit.gap
                found |= QRect(self._view.picture.left, placed.y + gap, stack.width, placed.unit.height - gap)
        return found

    def _bring_on_screen(self, place: Place) -> None:
        """Scroll only where the beginning is not on screen."""
        view = self._view
        number = view.stack.number_of(place.row_id)
        if number is None:
            return
        key = self.key_of(place)
        first = key or view.stack.model(number).first_key()
        height = view.viewport().height()
        at = next((each for each in view.stack.placed if each.row == number and each.key == first), None)
        if at is None or at.y < 0 or min(at.bottom, at.y + height // 3) > height:
            if key is None:
                view.scroll_to_row(place.row_id)
            else:
                view.show_unit(number, key)


def _offset_of(text: str, line: int) -> int:
    """Return where a line begins, counted from 0."""
    offset = 0
    for _ in range(line):
        offset = text.find("\n", offset) + 1
        if not offset:
            return len(text)
    return offset
