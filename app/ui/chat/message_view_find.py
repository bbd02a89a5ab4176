"""Words looked for in the conversation: marked where they are on screen, gone to where they are not.

Hits are counted in the messages as they were written, so that nothing is laid out for it; what is on screen is marked
in the text as it is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.ui.chat.message_text import DocumentBox
from app.ui.chat.message_units import BODY

if TYPE_CHECKING:
    from app.ui.chat.message_boxes import Box
    from app.ui.chat.message_units import Key, Unit
    from app.ui.chat.message_view import MessageView

Ranges = list[tuple[int, int]]
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Hit:
    row_id: str
    number: int  # which of the row's places, from 0


class Finder:
    """One per view. While it looks for something, the view's picture asks it for the marks of each box."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self._pattern = _NOTHING
        self._hits: list[_Hit] = []
        self._at = -1
        self._current: tuple[str, Key, int] | None = None  # row, unit, which place in the unit
        self.text = ""
        view.picture.finder = self

    @property
    def count(self) -> int:
        return len(self._hits)

    @property
    def place(self) -> int:
        """Which hit is shown, from 1; 0 for none."""
        return self._at + 1

    def look_for(self, text: str, start_at: str = "") -> None:
        """Mark `text`, in any case, and go to its first place from a message on: `start_at`, else what is on screen."""
        self.text = text
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if text.strip() else _NOTHING
        self._count()
        self._at = -1
        self._current = None
        if self._hits:
            stack = self._view.stack
            placed = stack.placed[0].row if stack.placed else 0
            wanted = stack.number_of(start_at) if start_at else placed
            places = (stack.number_of(hit.row_id) or 0 for hit in self._hits)
            self._at = next((place for place, row in enumerate(places) if wanted is not None and row >= wanted), 0)
            self._show()
        self._view.refresh(full=True)

    def recount(self) -> None:
        """The messages are others now; what was shown stays shown."""
        if not self.text:
            return
        shown = self._hits[self._at] if 0 <= self._at < len(self._hits) else None
        self._count()
        self._at = self._hits.index(shown) if shown in self._hits else min(self._at, len(self._hits) - 1)
        self._view.refresh(full=True)

    def step(self, by: int) -> None:
        """Go to the next place (1) or the one before (-1), round the ends."""
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
            self._show()
            self._view.refresh(full=True)

    def stop(self) -> None:
        self.look_for("")

    def _count(self) -> None:
        find = self._pattern.finditer
        self._hits = [
            _Hit(row.id, number) for row in self._view.stack.rows if row.text for number, _ in enumerate(find(row.text))
        ]

    def _show(self) -> None:
        hit = self._hits[self._at]
        number = self._view.stack.number_of(hit.row_id)
        if number is None:
            return
        model = self._view.stack.model(number)
        model.advance(len(model.row.text))  # a long message is read as far as it is needed
        left = hit.number
        key: Key = model.first_key() or (BODY, 0)
        for index, unit in enumerate(model.sections[BODY]):
            places = len(self._pattern.findall(_source_of(unit)))
            if left < places:
                self._current = (hit.row_id, (BODY, index), left)
                self._view.show_unit(number, (BODY, index))
                return
            left -= places
        self._current = None
        self._view.show_unit(number, key)

    def marks(self, row_id: str, key: Key, unit: Unit, number: int, box: Box) -> tuple[Ranges, tuple[int, int] | None]:
        """The places in a box, and the one that is shown now if it is here."""
        if not self.text or key[0] != BODY:
            return [], None
        found = self._ranges(box)
        if self._current is None or self._current[:2] != (row_id, key):
            return found, None
        before = sum(len(self._ranges(each)) for each in unit.boxes[:number])
        place = self._current[2] - before
        return found, found[place] if 0 <= place < len(found) else None

    def _ranges(self, box: Box) -> Ranges:
        if not isinstance(box, DocumentBox):
            return []
        plain = box.document.toPlainText()
        return [found.span() for found in self._pattern.finditer(plain)]


def _source_of(unit: Unit) -> str:
    if unit.segment is not None:
        return unit.segment.source
    return "\n".join(box.text(0, box.length) for box in unit.boxes if box.length)
