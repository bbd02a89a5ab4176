"""Lists show every row that can be shown: one that fails is reported like any crash, and the others are there.

What a row says is harmless to read: nothing in it turns the names of strangers round.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

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
    """Return a frozen row whose texts hold nothing that deceives; itself where they hold nothing."""
    if not dataclasses.is_dataclass(row) or isinstance(row, type):
        return row
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if isinstance(value, str) and field.name not in ("id", "key", "path", "file"):
            shown = harmless(value)
            if shown is not value:
                changes[field.name] = shown
    return dataclasses.replace(row, **changes) if changes else row
