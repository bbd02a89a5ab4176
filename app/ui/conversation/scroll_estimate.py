"""How long each row is likely to be, for the scroll bar only: nothing is laid out to find that out."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from app.ui.conversation.rows import LINE_CHARS, likely_lines

if TYPE_CHECKING:
    from app.ui.conversation.rows import MessageRow

STEPS = 16  # bar units in one line of text, so that a slow drag is smooth


def _lines(row: MessageRow) -> int:
    return row.lines or likely_lines(row.text)


class ScrollEstimate:
    """Running totals of the rows' weights; only what follows a change is added up again, when asked."""

    def __init__(self) -> None:
        self._weights: list[int] = []
        self._ends: list[int] = []
        self._valid = 0  # how many of `_ends` are right

    def set_rows(self, rows: list[MessageRow]) -> None:
        self._weights = [_lines(row) for row in rows]
        self._valid = 0

    def add(self, row: MessageRow) -> None:
        self._weights.append(_lines(row))

    def change(self, number: int, row: MessageRow) -> None:
        self._weights[number] = _lines(row)
        self._valid = min(self._valid, number)

    def grow(self, number: int, text: str) -> None:
        """Take into account text that was added to a row."""
        self._weights[number] += len(text) // LINE_CHARS + text.count("\n")
        self._valid = min(self._valid, number)

    def _sum_up(self) -> None:
        if self._valid < len(self._weights):
            base = self._ends[self._valid - 1] if self._valid else 0
            del self._ends[self._valid :]
            self._ends += [base + total for total in accumulate(self._weights[self._valid :])]
            self._valid = len(self._weights)

    @property
    def total(self) -> int:
        """The length of the scroll bar's range."""
        self._sum_up()
        return self._ends[-1] * STEPS if self._ends else 0

    def value(self, number: int, share: float) -> int:
        """Return the bar value of a place `share` (0 to 1) down in row `number`."""
        self._sum_up()
        end = self._ends[number]
        return round((end - self._weights[number] * (1 - share)) * STEPS)

    def place(self, value: int) -> tuple[int, float]:
        """Return the row that a bar value is in, and how far down."""
        self._sum_up()
        number = min(bisect_right(self._ends, value / STEPS), len(self._ends) - 1)
        weight = self._weights[number]
        share = (value / STEPS - (self._ends[number] - weight)) / weight
        return number, max(0.0, min(0.999, share))
