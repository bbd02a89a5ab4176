"""The pages of one question about characters. Showing adult ones among the others takes two lists, merged into one.

The service's filter knows "without" and "only" (R-CHAR-26): who wants both is asked for both, and the rows are put in
the order of the question. Each list keeps the order in which the service sent it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.ui.characters.state import PAGE_ROWS, Filters

if TYPE_CHECKING:
    from app.service.characters import Character, CharactersResource

_LONG_AGO = datetime.min.replace(tzinfo=UTC)

# What the service orders by, as far as a row tells it; only used to put two lists into one.
_RANKS: Mapping[str, Callable[[Character], Any]] = {
    "featured": lambda one: (one.featured, one.stats.imports),
    "highestRating": lambda one: one.stats.average_rating,
    "highlyRated": lambda one: one.stats.average_rating,
    "highlyRatedAndRecent": lambda one: (round(one.stats.average_rating, 1), one.updated_at or _LONG_AGO),
    "imports": lambda one: one.stats.imports,
    "mostRecent": lambda one: one.created_at or _LONG_AGO,
    "ratingCount": lambda one: one.stats.rating_count,
}


@dataclass(slots=True)
class _List:
    """One of the service's lists: what has come of it and was not shown yet."""

    is_adult: bool
    offset: int = 0
    is_over: bool = False
    waiting: deque[Character] = field(default_factory=deque)


class Pages:
    """Asks for one question page by page. Not safe to ask twice at a time: its caller has one task for it."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        wanted = {"hide": (False,), "only": (True,), "show": (False, True)}[filters.adult]
        self._lists = [_List(is_adult) for is_adult in wanted]

    @property
    def is_complete(self) -> bool:
        """True when everything that the service has was handed out."""
        return all(each.is_over and not each.waiting for each in self._lists)

    async def next(self, characters: CharactersResource) -> tuple[Character, ...]:
        """Return the next rows, () at the end. Raises `ServiceError`; what came before it is not lost."""
        for each in self._lists:
            if not each.waiting and not each.is_over:
                page = await characters.page(self._filters.query(each.offset, is_adult=each.is_adult))
                arrived = len(page.data) + page.broken
                each.offset += arrived
                each.is_over = arrived < PAGE_ROWS
                each.waiting.extend(page.data)
        return tuple(self._merged())

    def _merged(self) -> list[Character]:
        """As many rows as are in their final order: up to where a list may go on with something better."""
        rank = _RANKS[self._filters.sort]
        rows: list[Character] = []
        while all(each.waiting or each.is_over for each in self._lists):
            full = [each for each in self._lists if each.waiting]
            if not full:
                break
            pick = min if self._filters.ascending else max
            rows.append(pick(full, key=lambda each: rank(each.waiting[0])).waiting.popleft())
        return rows
