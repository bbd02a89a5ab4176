"""Words looked for in the conversation: marked where they are on screen, gone to where they are not.

Hits are counted in the messages as they were written, so that nothing is laid out for it; what is on screen is marked
in the text as it is read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from app.ui.conversation.text_boxes import DocumentBox
from app.ui.conversation.units import BODY
from app.ui.kit.markdown.spoken import flat, spoken_blocks

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Box
    from app.ui.conversation.units import Key, Unit
    from app.ui.conversation.view import MessageView

Ranges = list[tuple[int, int]]
MOST_CHARS = 200_000  # of a message that is read at once to go to a place in it
_NOTHING = re.compile(r"(?!)")


class Finder:
    """One per view. While it looks for something, the view's image asks it for the marks of each box."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self._pattern = _NOTHING
        self._rows: list[str] = []  # ids of the messages that hold the words, from the top
        self._ends: list[int] = []  # how many places there are down to the end of each of them
        self._at = -1
        self._current: tuple[str, Key, int] | None = None  # row, unit, which place in the unit
        self.text = ""
        view.picture.finder = self

    @property
    def count(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def place(self) -> int:
        """Which hit is shown, from 1; 0 for none."""
        return self._at + 1

    @property
    def sentence(self) -> str:
        """The line around the hit that is shown, without markup; "" for none."""
        if not 0 <= self._at < self.count:
            return ""
        row_id, left = self._hit()
        text = self._view.row(row_id).text
        hit = next(islice(self._pattern.finditer(text), left, None), None)
        if hit is None:
            return ""
        start = max(text.rfind(end, 0, hit.start()) for end in ("\n", ". ", "? ", "! ")) + 1
        ends = (text.find(end, hit.end()) for end in ("\n", ". ", "? ", "! "))
        line = text[start : min((end + 1 for end in ends if end >= 0), default=len(text))]
        return " ".join(block.text for block in flat(spoken_blocks(line.strip()))) or line.strip()

    def search_for(self, text: str, start_at: str = "") -> None:
        """Mark `text`, in any case, and go to its first place from a message on: `start_at`, else what is on screen."""
        self.text = text
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if text.strip() else _NOTHING
        self._count()
        self._at = -1
        self._current = None
        if self._rows:
            stack = self._view.stack
            on_screen = stack.placed[0].row if stack.placed else 0
            named = stack.number_of(start_at) if start_at else None
            wanted = on_screen if named is None else named
            numbers = (stack.number_of(row_id) or 0 for row_id in self._rows)
            first = next((place for place, number in enumerate(numbers) if number >= wanted), 0)
            self._at = self._ends[first - 1] if first else 0
            self._show()
        self._view.refresh(full=True)

    def recount(self) -> None:
        """The messages are others now; what was shown stays shown."""
        if not self.text:
            return
        shown = self._hit() if 0 <= self._at < self.count else None
        self._count()
        if shown is not None and shown[0] in self._rows:
            row = self._rows.index(shown[0])
            start = self._ends[row - 1] if row else 0
            self._at = min(start + shown[1], self._ends[row] - 1)
        else:
            self._at = min(self._at, self.count - 1)
        self._view.refresh(full=True)

    def step(self, by: int) -> None:
        """Go to the next place (1) or the one before (-1), round the ends."""
        if self.count:
            self._at = (self._at + by) % self.count
            self._show()
            self._view.refresh(full=True)

    def stop(self) -> None:
        self.search_for("")

    def _count(self) -> None:
        wanted = self.text.lower()
        plain = wanted.isascii()
        counts: list[int] = []
        self._rows = []
        if self.text.strip():
            for row in self._view.stack.rows:
                text = row.text
                # a long chat is searched at every letter; lower() is many times quicker where it says the same
                found = text.lower().count(wanted) if plain and text.isascii() else len(self._pattern.findall(text))
                if found:
                    self._rows.append(row.id)
                    counts.append(found)
        self._ends = list(accumulate(counts))

    def _hit(self) -> tuple[str, int]:
        """The row of the place that is shown, and which of the row's places it is, from 0."""
        row = bisect_right(self._ends, self._at)
        return self._rows[row], self._at - (self._ends[row - 1] if row else 0)

    def _show(self) -> None:
        row_id, left = self._hit()
        number = self._view.stack.number_of(row_id)
        if number is None:
            return
        model = self._view.stack.model(number)
        model.advance(min(len(model.row.text), MOST_CHARS))  # a long message is read further than to what is on screen
        key: Key = model.first_key() or (BODY, 0)
        for index, unit in enumerate(model.sections[BODY]):
            places = len(self._pattern.findall(_source_of(unit)))
            if left < places:
                self._current = (row_id, (BODY, index), left)
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
