"""Lists show every row that can be shown: one that fails is reported like any crash, and the others are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from app.ui.shared.overrides import report

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
