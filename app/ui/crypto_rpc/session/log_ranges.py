"""A search for logs that is too wide for a node, cut into ranges that follow each other without gap or overlap.

Nodes refuse wide ranges in their own words; the cut begins with what is allowed and halves what is refused. Nothing is
asked beyond the budget that was agreed before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TOO_WIDE = re.compile(
    r"(block|range|result|response|log).{0,60}(limit|exceed|too (many|large|wide|big)|more than|max)"
    r"|(limit|exceed|too (many|large|wide|big)|more than|max).{0,60}(block|range|result|log)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class BlockRange:
    """Blocks `first` to `last`, both included."""

    first: int
    last: int

    @property
    def blocks(self) -> int:
        return self.last - self.first + 1

    def halves(self) -> tuple[BlockRange, BlockRange] | None:
        """The two halves; None for a single block, which cannot be cut."""
        if self.blocks < 2:
            return None
        middle = (self.first + self.last) // 2
        return BlockRange(self.first, middle), BlockRange(middle + 1, self.last)


def cut(whole: BlockRange, most_blocks: int) -> tuple[BlockRange, ...]:
    """The whole in ranges of at most `most_blocks`, in order. Raises `ValueError` for less than one block each."""
    if most_blocks < 1 or whole.blocks < 1:
        raise ValueError("a range holds at least one block")
    return tuple(
        BlockRange(first, min(first + most_blocks - 1, whole.last))
        for first in range(whole.first, whole.last + 1, most_blocks)
    )


def is_too_wide(message: str) -> bool:
    """True when a node's refusal is about the width of the search or the number of its results."""
    return TOO_WIDE.search(message[:2000]) is not None


class LogSearch:
    """Which ranges are still to be asked. `calls_left` is the budget: every question counts, refused ones too."""

    def __init__(self, whole: BlockRange, *, most_blocks: int, most_calls: int) -> None:
        self._waiting = list(reversed(cut(whole, most_blocks)))
        self.calls_left = most_calls
        self.whole = whole

    @property
    def is_over(self) -> bool:
        return not self._waiting or self.calls_left < 1

    @property
    def is_complete(self) -> bool:
        return not self._waiting

    @property
    def next_block(self) -> int:
        """The first block that was not searched."""
        return self._waiting[-1].first if self._waiting else self.whole.last + 1

    def next_range(self) -> BlockRange:
        """The range to ask next; it counts. Raises `LookupError` when the search is over."""
        if self.is_over:
            raise LookupError("the search is over")
        self.calls_left -= 1
        return self._waiting.pop()

    def refused(self, asked: BlockRange) -> bool:
        """The node found `asked` too wide: ask its halves. False when it is a single block."""
        halves = asked.halves()
        if halves is None:
            self._waiting.append(asked)
            return False
        self._waiting += reversed(halves)
        return True

    def not_answered(self, asked: BlockRange) -> None:
        """`asked` failed for another reason and is to be asked again."""
        self._waiting.append(asked)
