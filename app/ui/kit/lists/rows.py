"""Lists show every row that can be shown: one that fails is reported like any crash, and the others are there.

What a row says is harmless to read: nothing in it turns the names of strangers round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from app.service.http.harmless_text import harmless
from app.ui.kit.qt_repairs.qt_exception_guard import report

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


def harmless_row(row: _Row) -> _Row:
    """Return a frozen row whose texts hold nothing that deceives; itself where they hold nothing.

    A row is a named tuple or a dataclass.
    """
    names: Iterable[str] = getattr(row, "_fields", getattr(row, "__dataclass_fields__", ()))
    changes: dict[str, str] = {}
    for name in names:
        value = getattr(row, name)
        if isinstance(value, str) and name not in ("id", "key", "path", "file"):
            shown = harmless(value)
            if shown is not value:
                changes[name] = shown
    if not changes:
        return row
    if isinstance(row, tuple):
        return cast("_Row", row._replace(**changes))  # type: ignore[attr-defined]
    from dataclasses import replace  # 1 ms of the start

    return replace(row, **changes)  # type: ignore[type-var]
