"""How numbers, dates and times are written: the separators and orders of a language, as data.

US English until `use` is called once, before everything else is loaded, with what Qt says of the language
(`app/ui/kit/locale_formats.py`): the layers below the window know no Qt. Only for what a person reads; what a machine
reads (JSON, CSV, headers, names of files) never comes through here.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple


class Formats(NamedTuple):
    """Patterns have the letters of Unicode's: `d`, `MMM`, `LLLL`, `yyyy`, `HH`, `mm`, `ap`, and text in quotes."""

    locale: str = "en_US"
    group: str = ","  # between thousands
    decimal: str = "."
    dollars: str = "${amount}"
    date: str = "MMM d, yyyy"
    day: str = "MMM d"
    long_day: str = "MMMM d"
    month: str = "LLLL yyyy"
    time: str = "HH:mm"
    clock: str = "HH:mm:ss"
    # twelve, January first; () is what Python calls them
    months: tuple[str, ...] = ()
    months_alone: tuple[str, ...] = ()  # as they are called without a day
    short_months: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()  # Monday first
    halves: tuple[str, str] = ("AM", "PM")


US_ENGLISH = Formats()
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet begins to calculate
_NUMBER = re.compile(r"-\d+(\.\d+)?")
_PARTS = re.compile(r"'([^']*)'|yyyy|yy|LLLL|MMMM|MMM|MM|M|dddd|dd|d|HH|H|hh|h|mm|ss|AP|ap|Ap|aP")


def current() -> Formats:
    return _current


def use(formats: Formats) -> None:
    """Write by `formats` from now on. What is written already, constants among it, stays as it is."""
    global _current
    _current = formats


def format_number(value: float | Decimal, decimals: int | None = None) -> str:
    """Return a number with its thousands separated, `1,284` or `4.2`: with `decimals`, or with all that it has."""
    text = f"{value:,}" if decimals is None else f"{value:,.{decimals}f}"
    if _current.group == "," and _current.decimal == ".":
        return text
    return text.translate({ord(","): _current.group, ord("."): _current.decimal})


def plain(text: str) -> str:
    """Return a number that somebody typed as Python reads it. A point is one of decimals unless those are there."""
    if _current.decimal != "." and _current.decimal in text:
        return text.replace(_current.group, "").replace(_current.decimal, ".")
    return text.replace(_current.group, "") if _current.group != "." else text


def csv_cell(text: str) -> str:
    """Return a text for a CSV file: one that a spreadsheet would run as a formula begins with an apostrophe."""
    return f"'{text}" if text.startswith(_FORMULA) and _NUMBER.fullmatch(text) is None else text


def dollars(amount: Decimal, decimals: int) -> str:
    """Return an amount of USD, with a true minus: `$1,284.50`, `−$0.50`."""
    written = _current.dollars.replace("{amount}", format_number(abs(amount), decimals))
    return f"−{written}" if amount < 0 else written


def written(at: date, pattern: str) -> str:
    """Return a day, or a moment in its own time zone, by one of the patterns of `current()`."""
    return _PARTS.sub(lambda found: _part(at, found), pattern)


def _part(at: date, found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1] or "'"
    hour, minute, second = (at.hour, at.minute, at.second) if isinstance(at, datetime) else (0, 0, 0)
    match found[0]:
        case "yyyy":
            return f"{at.year}"
        case "yy":
            return f"{at.year % 100:02d}"
        case "MMMM":
            return _current.months[at.month - 1] if _current.months else f"{at:%B}"
        case "LLLL":
            return _current.months_alone[at.month - 1] if _current.months_alone else f"{at:%B}"
        case "MMM":
            return _current.short_months[at.month - 1] if _current.short_months else f"{at:%b}"
        case "dddd":
            return _current.weekdays[at.weekday()] if _current.weekdays else f"{at:%A}"
        case "MM" | "M":
            return _digits(at.month, found[0])
        case "dd" | "d":
            return _digits(at.day, found[0])
        case "HH" | "H":
            return _digits(hour, found[0])
        case "hh" | "h":
            return _digits(hour % 12 or 12, found[0])
        case "mm":
            return f"{minute:02d}"
        case "ss":
            return f"{second:02d}"
    return _current.halves[hour >= 12]


def _digits(value: int, part: str) -> str:
    return f"{value:02d}" if len(part) == 2 else str(value)


_current = US_ENGLISH
