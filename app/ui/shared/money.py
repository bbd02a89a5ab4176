"""How amounts, counts, sizes and times are written. Never rounds money to zero, never hides a cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_UP, Context, Decimal

PLAY_MONEY = "play money"  # said of every amount that only the Sandbox's balance pays
_WIDE = Context(prec=64)
_CENTS = 2
_FINE = 4  # decimals below ten cents
_FINEST = 6  # what services keep of a dollar
_THOUSAND = 1_000


def money(amount: Decimal, decimals: int | None = None) -> str:
    """Return USD with at least two significant digits: `$18.42`, `$0.11`, `$0.0026`, `$0.00001`, `−$0.50`.

    With `decimals`, exactly so many: for amounts that stand together and have to add up (`decimals_of`).
    """
    if decimals is not None:
        shown = abs(amount).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _WIDE)
        return f"{'−' if amount < 0 else ''}${shown:,f}"
    return _written(amount, ROUND_HALF_UP)


def decimals_of(amounts: Iterable[Decimal]) -> int:
    """How many decimals show every one of these amounts whole: 2 to 6, and at most 4 where they reach a dollar."""
    known = [amount for amount in amounts if amount.is_finite()]
    needed = max((-int(amount.normalize().as_tuple().exponent) for amount in known), default=_CENTS)
    most = _FINE if sum(map(abs, known)) >= 1 else _FINEST
    return min(max(needed, _CENTS), most)


def at_most(amount: Decimal) -> str:
    """Return a cap before sending, rounded up: `≤ $0.0046`."""
    return f"≤ {_written(amount, ROUND_CEILING)}"


def about(amount: Decimal) -> str:
    """Return an estimate: `about $0.082`."""
    return f"about {money(amount)}"


def after(price: Decimal, balance: Decimal | None, *, is_play: bool) -> str:
    """Return what a price leaves: `balance after $4.98`, `play money, balance after $99.93`, "" where nobody knows."""
    left = f"balance after {money(balance - price)}" if balance is not None else ""
    return ", ".join(filter(None, (PLAY_MONEY if is_play else "", left)))


def cost(amount: Decimal | None, source: str = "stated") -> str:
    """Return what a call cost as a receipt says it: exact when stated, `about` when estimated, words when unknown."""
    if amount is None or source == "none":
        return "cost not stated"
    return money(amount) if source == "stated" else about(amount)


def _written(amount: Decimal, rounding: str) -> str:
    sign = "−" if amount < 0 else ""
    size = abs(amount)
    if size == 0:
        return "$0.00"
    decimals = _CENTS
    if size < Decimal("0.1"):
        decimals = max(_FINE, 1 - size.adjusted())  # adjusted() is the place of the first digit: −5 for 0.00001
    shown = size.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    text = f"{shown:,f}"
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(_CENTS, "0")
    return f"{sign}${whole}.{fraction}"


def count(n: int) -> str:
    """Return a whole number with thousands commas: `1,284`."""
    return f"{n:,}".replace("-", "−")


def short_count(n: int) -> str:
    """Return a number in few signs: `812`, `12.4K`, `131K`, `1.2M`."""
    for limit, unit in ((_THOUSAND**3, "B"), (_THOUSAND**2, "M"), (_THOUSAND, "K")):
        if n >= limit:
            value = Decimal(n) / limit
            # 131,072 is 131K, not 131.1K, and rounds down: a context is never shown larger than it is
            return f"{int(value)}{unit}" if value >= 100 else f"{_one_place(value)}{unit}"
    return str(n)


def _one_place(value: Decimal) -> str:
    return str((value * 10).to_integral_value(rounding="ROUND_FLOOR") / 10).removesuffix(".0")


def size(n_bytes: int) -> str:
    """Return a size in decimal units: `812 bytes`, `25 MB`, `31.8 MB`, `1.3 GB`."""
    value = Decimal(n_bytes)
    if value < _THOUSAND:
        return f"{n_bytes} bytes"
    for unit in ("KB", "MB", "GB", "TB"):
        value /= _THOUSAND
        if value < _THOUSAND or unit == "TB":
            break
    shown = value.quantize(Decimal("1") if value >= 100 else Decimal("0.1"), rounding=ROUND_HALF_UP)
    return f"{str(shown).removesuffix('.0')} {unit}"


def duration(seconds: float) -> str:
    """Return how long something took: `84 ms`, `4.2 s`, `1 min 12 s`, `2 h 5 min`."""
    if seconds < 0.5:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole // 60, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def countdown(seconds: float) -> str:
    """Return the time left as a clock: `0:23`, `12:05`, `1:02:03`. Rounds up, so that 0:00 means now."""
    whole = max(0, -int(-seconds // 1))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def clock(at: datetime) -> str:
    """Return a local time of day: `14:06:41`."""
    return at.astimezone().strftime("%H:%M:%S")


def coming(at: datetime, now: datetime) -> str:
    """Return a moment to come as people say it, never too early: `at 14:07`, `tomorrow at 09:00`, `3 Mar at 09:00`."""
    local, today = (at + timedelta(seconds=59, microseconds=999_999)).astimezone(), now.astimezone().date()
    clock_time = f"at {local:%H:%M}"
    if local.date() == today:
        return clock_time
    if local.date() == today + timedelta(days=1):
        return f"tomorrow {clock_time}"
    return f"{local.day} {local:%b} {clock_time}"


def when(at: datetime, now: datetime) -> str:
    """Return a moment in the past as people say it: `4 min ago`, `today 11:47`, `yesterday 09:10`, `3 Mar 2026`."""
    local, today = at.astimezone(), now.astimezone()
    passed = now - at
    if timedelta() <= passed < timedelta(minutes=1):
        return "just now"
    if timedelta() <= passed < timedelta(hours=1):
        return f"{int(passed.total_seconds() // 60)} min ago"
    if local.date() == today.date():
        return f"today {local:%H:%M}"
    if local.date() == today.date() - timedelta(days=1):
        return f"yesterday {local:%H:%M}"
    return f"{local.day} {local:%b %Y}"


def age(seconds: float) -> str:
    """Return how old something on screen is: `Updated 12 s ago`."""
    if seconds < 60:
        return f"Updated {int(seconds)} s ago"
    if seconds < 3600:
        return f"Updated {int(seconds // 60)} min ago"
    return f"Updated {int(seconds // 3600)} h ago"
