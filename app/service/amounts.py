"""Reads every number of a service that becomes money, a count, a duration or credits. Each reader has bounds.

A service can send anything, also by mistake: −1, NaN, 1e300, text. A number outside of its bounds is unknown (None),
and what was expected counts in its place. Standard library only.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

MAX_NUMBER = 10**18  # of USD, tokens, bytes or milliseconds since 1970; a larger number is a mistake
MAX_CHARGE_USD = Decimal(10_000)  # of one call, or of a million tokens
MAX_COUNT = 10**16  # tokens, credits, rows, bytes
MAX_SECONDS = Decimal(30 * 24 * 3600)  # of sound, video or work


def number(value: object) -> Decimal | None:
    """Return a plausible Decimal from text or a JSON number, of either sign; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    try:
        read = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    return read if is_plausible(read) else None


def is_plausible(read: Decimal) -> bool:
    """True for what can be added up and written without an error: up to 10¹⁸ either way, in steps of 10⁻⁴⁰."""
    return read.is_finite() and -40 <= read.adjusted() <= 18 and abs(read) <= MAX_NUMBER


def balance(value: object) -> Decimal | None:
    """Return what an account holds in USD; slightly below 0 is possible, since answers are charged afterwards."""
    return number(value)


def charge(value: object) -> Decimal | None:
    """Return a cost, a quote or a price in USD: 0 to 10,000."""
    read = number(value)
    return read if read is not None and 0 <= read <= MAX_CHARGE_USD else None


def count(value: object) -> int | None:
    """Return a count of tokens, credits, calls or bytes: a whole number, 0 to 10¹⁶. Fractions are cut off."""
    read = number(value)
    return int(read) if read is not None and 0 <= read <= MAX_COUNT else None


def seconds(value: object) -> Decimal | None:
    """Return a duration in seconds: 0 to 30 days."""
    read = number(value)
    return read if read is not None and 0 <= read <= MAX_SECONDS else None
