"""Converts values to and from columns; an unreadable value is dropped, never the row around it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MAX_MONEY_CHARS = 60
_MAX_MONEY_DIGITS = 18  # before the point, and 40 behind it: what can be added up and written without an error
_MAX_SECONDS = 1e9


def micros_of(moment: datetime) -> int:
    """Return whole microseconds since 1970 UTC. `moment` must know its zone."""
    return (moment - _EPOCH) // _MICROSECOND


_LAST = micros_of(datetime(2200, 1, 1, tzinfo=UTC))  # no calendar and no time zone fails on a moment before it


def moment_of(micros: object) -> datetime:
    """Return the moment in UTC; 1970 for what is no moment between 1970 and 2200."""
    if not isinstance(micros, int) or not 0 <= micros < _LAST:
        return _EPOCH
    return _EPOCH + timedelta(microseconds=micros)


def moment_or_none(micros: object) -> datetime | None:
    return None if micros is None else moment_of(micros)


def money_of(value: object) -> Decimal | None:
    """Return a finite amount, None for anything else. Takes text, whole numbers and `Decimal`; never a float."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    if isinstance(value, str) and len(value) > _MAX_MONEY_CHARS:
        return None
    try:
        amount = Decimal(value)
    except (InvalidOperation, ValueError):
        return None
    return amount if amount.is_finite() and -40 <= amount.adjusted() < _MAX_MONEY_DIGITS else None


def money_text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def json_text(value: object) -> str:
    """Return JSON text; what JSON cannot say (a date, NaN) is written as plain text."""
    return _storable(json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def read_text(value: object) -> str:
    """Return a text column, "" for anything else that may lie in it."""
    return value if isinstance(value, str) else ""


def text_of(value: object) -> str:
    """Return text that SQLite can hold: a lone half of a surrogate pair becomes a question mark in a box."""
    return _storable(value) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def object_of(text: object) -> dict[str, Any]:
    """Return the JSON object in `text`, {} for anything else."""
    value = None if text == "{}" else _decoded(text)  # most columns of most rows: not worth a parser
    return value if isinstance(value, dict) else {}


def objects_of(text: object) -> tuple[dict[str, Any], ...]:
    """Return the objects of the JSON array in `text`; other elements are left out."""
    value = None if text == "[]" else _decoded(text)
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _decoded(text: object) -> object:
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def seconds_of(value: object) -> float | None:
    """Return a number of seconds from 0 to thirty years, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if 0 <= seconds <= _MAX_SECONDS else None
