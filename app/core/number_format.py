"""How counts, sizes and shares are written: a dash for what is no number.

Every function here takes whatever a service or a file may hold, None and NaN too: what cannot be written sensibly is a
dash. So no row, card or sentence fails, or grows without bound, because of an odd value.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import wraps
from typing import ParamSpec

from app.formats import format_number
from app.translation import tr, tr_n

DASH = "–"
MOST = 10**15  # of USD or of anything counted; what is larger is a mistake, and wider than its place
_THOUSAND = 1_000
_P = ParamSpec("_P")


def or_dash(write: Callable[_P, str]) -> Callable[_P, str]:
    """Let a function that writes a number or a moment answer with a dash where Python cannot write it.

    `NaN` has no digits, the year 9999 no local time, and None no sign.
    """

    @wraps(write)
    def total(*args: _P.args, **kwargs: _P.kwargs) -> str:
        try:
            return write(*args, **kwargs)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return DASH

    return total


@or_dash
def count(n: int | Decimal | None) -> str:
    """Return a whole number with thousands commas: `1,284`."""
    return format_number(_countable(n)).replace("-", "−")


@or_dash
def credits_text(n: int | None) -> str:
    """Return a number of blockchain credits: `20 cr`."""
    return tr("{count} cr", count=count(n))


@or_dash
def short_count(n: int | None) -> str:
    """Return a number in few signs: `812`, `12.4K`, `131K`, `1.2M`."""
    whole = _countable(n)
    for limit, unit in ((_THOUSAND**3, "B"), (_THOUSAND**2, "M"), (_THOUSAND, "K")):
        if whole >= limit:
            value = Decimal(whole) / limit
            # 131,072 is 131K, not 131.1K, and rounds down: a context is never shown larger than it is
            return f"{format_number(int(value))}{unit}" if value >= 100 else f"{_one_place(value)}{unit}"
    return str(whole).replace("-", "−")


def _countable(n: int | Decimal | None) -> int:
    """Raises `ValueError` for what is no number of things."""
    if n is None or not -MOST < n < MOST:
        raise ValueError
    return int(n)


@or_dash
def percent(share: float | None) -> str:
    """Return a share of 0 to 1 as `42 %`; what is beyond either end is that end."""
    return f"{round(min(max(finite(share), 0.0), 1.0) * 100)} %"


@or_dash
def rating(stars: float | None) -> str:
    """Return an average of stars: `4.6`."""
    return format_number(finite(stars), 1)


def _one_place(value: Decimal) -> str:
    tenths = (value * 10).to_integral_value(rounding="ROUND_FLOOR") / 10
    return format_number(tenths, 0 if tenths == tenths.to_integral_value() else 1)


@or_dash
def size(n_bytes: int | None) -> str:
    """Return a size in decimal units: `812 bytes`, `25 MB`, `31.8 MB`, `1.3 GB`."""
    value = Decimal(_countable(n_bytes))
    if value < 0:
        raise ValueError
    if value < _THOUSAND:
        return tr_n("{n} byte", "{n} bytes", int(value))
    for unit in ("KB", "MB", "GB", "TB"):
        value /= _THOUSAND
        if value < _THOUSAND or unit == "TB":
            break
    shown = value.quantize(Decimal("1") if value >= 100 else Decimal("0.1"), rounding=ROUND_HALF_UP)
    return f"{format_number(shown, 0 if shown == shown.to_integral_value() else 1)} {unit}"


def finite(number: float | Decimal | None, most: float = MOST) -> float:
    """Raises `ValueError` for what is no number, and for one of more than `most` on either side of 0."""
    if number is None or not -most <= number <= most:  # NaN compares as neither
        raise ValueError
    return float(number)
