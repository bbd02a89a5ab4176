"""Lists show every row that can be shown: one that fails is reported like any crash, and the others are there.

What a row says is harmless to read: nothing in it turns the names of strangers round. Of a list of thousands only the
rows that are looked at are built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, cast, overload

from app.service.http.sanitize import sanitize_text
from app.ui.kit.qt_workarounds.qt_exception_guard import report

if TYPE_CHECKING:
    from app.ui.kit.lists.search_terms import SearchTerms

_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


def build_rows(items: Iterable[_Item], build: Callable[[_Item], _Row]) -> list[_Row]:
    """Return what `build` makes of each item, without those it fails at."""
    rows = []
    for item in items:
        try:
            rows.append(build(item))
        except Exception as error:
            report(error)
    return rows


class LazyRows(Sequence[_Row], Generic[_Item, _Row]):
    """The rows of `items`, each built when it is first asked for. `len` also counts those that will fail.

    `texts` returns what a filter looks at, in folded case, where that is cheaper to know than the rows themselves.
    """

    def __init__(
        self,
        items: Sequence[_Item],
        build: Callable[[_Item], _Row],
        texts: Callable[[Sequence[_Item]], Sequence[str]] | None = None,
    ) -> None:
        self._items = items
        self._build = build
        self._texts = texts
        self._known: Sequence[str] | None = None  # of `texts`, once it was asked for

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> _Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[_Row]: ...

    def __getitem__(self, place: int | slice) -> _Row | list[_Row]:
        if isinstance(place, slice):
            return build_rows(self._items[place], self._build)
        return self._build(self._items[place])

    def __iter__(self) -> Iterator[_Row]:
        for item in self._items:
            yield from build_rows((item,), self._build)

    def matching(self, words: SearchTerms) -> LazyRows[_Item, _Row] | None:
        """Return the rows that hold every word, None where only the rows themselves can tell."""
        if self._texts is None:
            return None
        if self._known is None:
            self._known = self._texts(self._items)
        return LazyRows(words.among(self._items, self._known), self._build)


def matching(rows: Sequence[_Row], words: SearchTerms, texts: Callable[[_Row], tuple[str, ...]]) -> Iterable[_Row]:
    """Return the rows that hold every typed word in their `texts`; `rows` themselves while none is typed."""
    if not words:
        return rows
    found = rows.matching(words) if isinstance(rows, LazyRows) else None
    return found if found is not None else (row for row in rows if words.are_in(*texts(row)))


def sanitized_row(row: _Row) -> _Row:
    """Return a frozen row whose texts hold nothing that deceives; itself where they hold nothing.

    A row is a named tuple or a dataclass.
    """
    names: Iterable[str] = getattr(row, "_fields", getattr(row, "__dataclass_fields__", ()))
    changes: dict[str, str] = {}
    for name in names:
        value = getattr(row, name)
        if isinstance(value, str) and name not in ("id", "key", "path", "file"):
            shown = sanitize_text(value)
            if shown is not value:
                changes[name] = shown
    if not changes:
        return row
    if isinstance(row, tuple):
        return cast("_Row", row._replace(**changes))  # type: ignore[attr-defined]
    from dataclasses import replace  # 1 ms of the start

    return replace(row, **changes)  # type: ignore[type-var]
