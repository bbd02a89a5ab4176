"""How amounts, counts, sizes and times are written. Never rounds money to zero, never hides a cost.

Every function here takes whatever a service or a file may hold, None and NaN too: what cannot be written sensibly is a
dash. So no row, card or sentence fails, or grows without bound, because of an odd value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from functools import wraps
from typing import ParamSpec

from app.formats import current, dollars, format_number, written
from app.translation import tr

DASH = "–"
PLAY_MONEY = tr("play money")  # said of every amount that only the Sandbox's balance pays
MOST = 10**15  # of USD or of anything counted; what is larger is a mistake, and wider than its place
LONGEST_COUNTDOWN_S = 300.0  # a longer wait is told as a time of day, and is the person's to decide on
LONGEST_S = 10_000 * 3600  # a duration of more than a year is a mistake, too
_CENTS = 2
_FINE = 4  # decimals below ten cents
_FINEST = 6  # what services keep of a dollar
_TINIEST = 12  # decimals; what is smaller is a mistake
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
def money(amount: Decimal | None, decimals: int | None = None) -> str:
    """Return USD with at least two significant digits: `$18.42`, `$0.11`, `$0.0026`, `$0.00001`, `−$0.50`.

    With `decimals`, exactly so many: for amounts that stand together and have to add up (`decimals_of`).
    """
    if decimals is None:
        return _rounded(amount, ROUND_HALF_UP)
    known = _plausible(amount)
    shown = abs(known).quantize(Decimal(1).scaleb(-min(max(0, decimals), _TINIEST)), ROUND_HALF_UP)
    return dollars(shown.copy_sign(known), max(0, -int(shown.as_tuple().exponent)))


@or_dash
def summand(amount: Decimal, decimals: int) -> str:
    """Return USD as one of the amounts that add up at so many decimals, without needless zeros: `$0.80`, `$0.0712`.

    What would be zero with so few keeps its two digits.
    """
    rounded = round(_plausible(amount), decimals)
    return money(rounded, decimals_of((rounded,))) if rounded else money(amount)


def bare(amount: Decimal | None, decimals: int | None = None) -> str:
    """Return the same without the sign of the currency, where a heading has it: `0.70`."""
    return money(amount, decimals).replace("$", "").strip()


@or_dash
def whole_money(amount: Decimal | None) -> str:
    """Return USD without cents where there are none: `$10`, `$10.50`."""
    known = _plausible(amount)
    return money(known, 0) if known == known.to_integral_value() else money(known)


def decimals_of(amounts: Iterable[Decimal]) -> int:
    """How many decimals show every one of these amounts whole: 2 to 6, and at most 4 where they reach a cent."""
    known = [amount for amount in amounts if amount.is_finite()]
    needed = max((-int(amount.normalize().as_tuple().exponent) for amount in known), default=_CENTS)
    most = _FINE if sum(map(abs, known)) >= Decimal("0.01") else _FINEST
    return min(max(needed, _CENTS), most)


@or_dash
def at_most(amount: Decimal | None) -> str:
    """Return a cap before sending, rounded up: `up to $0.0046`."""
    return tr("up to {written}", written=_rounded(amount, ROUND_CEILING))


@or_dash
def about(amount: Decimal | None) -> str:
    """Return an estimate: `about $0.082`."""
    return tr("about {written}", written=_rounded(amount, ROUND_HALF_UP))


@or_dash
def after(price: Decimal, balance: Decimal | None, *, is_play: bool) -> str:
    """Return what a price leaves: `balance after $4.98`, `play money, balance after $99.93`, "" where nobody knows."""
    left = tr("balance after {balance}", balance=money(balance - price)) if balance is not None else ""
    return ", ".join(filter(None, (PLAY_MONEY if is_play else "", left)))


def cost(amount: Decimal | None, source: str = "stated") -> str:
    """Return what a call cost as a receipt says it: exact when stated, `about` when estimated, words when unknown."""
    if amount is None or source == "none" or money(amount) == DASH:
        return tr("cost not stated")
    return money(amount) if source == "stated" else about(amount)


def _plausible(amount: Decimal | None) -> Decimal:
    """Raises `ValueError` for what is no amount of money."""
    if amount is None or not amount.is_finite() or abs(amount) >= MOST:
        raise ValueError
    return amount


def _rounded(amount: Decimal | None, rounding: str) -> str:
    known = _plausible(amount)
    size = abs(known)
    if size == 0:
        return dollars(size, _CENTS)
    decimals = _CENTS
    if size < Decimal("0.1"):
        decimals = max(_FINE, 1 - size.adjusted())  # adjusted() is the place of the first digit: −5 for 0.00001
    if decimals > _TINIEST + 1:
        raise ValueError
    shown = size.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    fraction = f"{shown:f}".partition(".")[2].rstrip("0")
    return dollars(shown.copy_sign(known), max(_CENTS, len(fraction)))


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
    return f"{round(min(max(_finite(share), 0.0), 1.0) * 100)} %"


@or_dash
def rating(stars: float | None) -> str:
    """Return an average of stars: `4.6`."""
    return format_number(_finite(stars), 1)


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
        return tr("{n_bytes} bytes", n_bytes=n_bytes)
    for unit in ("KB", "MB", "GB", "TB"):
        value /= _THOUSAND
        if value < _THOUSAND or unit == "TB":
            break
    shown = value.quantize(Decimal("1") if value >= 100 else Decimal("0.1"), rounding=ROUND_HALF_UP)
    return f"{format_number(shown, 0 if shown == shown.to_integral_value() else 1)} {unit}"


def _finite(number: float | Decimal | None) -> float:
    """Raises `ValueError` for what has no place on a scale of seconds or shares."""
    if number is None or not -LONGEST_S <= number <= LONGEST_S:  # NaN compares as neither
        raise ValueError
    return float(number)


@or_dash
def duration(seconds: float | None) -> str:
    """Return how long something took: `84 ms`, `4.2 s`, `1 min 12 s`, `2 h 5 min`."""
    seconds = _finite(seconds)
    if seconds < 0.5:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{format_number(seconds, 1)} s"
    whole = round(seconds)
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return (
            tr("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else tr("{minutes} min", minutes=minutes)
        )
    hours, rest = divmod(whole // 60, 60)
    return tr("{hours} h {rest} min", hours=hours, rest=rest) if rest else f"{hours} h"


@or_dash
def countdown(seconds: float | None) -> str:
    """Return the time left as a clock: `0:23`, `12:05`, `1:02:03`. Rounds up, so that 0:00 means now."""
    return _clock(-int(-_finite(seconds) // 1))


@or_dash
def position(seconds: float | None) -> str:
    """Return a length of sound or a place in it: `0:06`, `4:47`, `1:02:09`."""
    return _clock(whole_seconds(seconds))


def whole_seconds(seconds: float | None) -> int:
    """Return the seconds that have passed whole. Raises `ValueError` for NaN and for more than a year."""
    return int(_finite(seconds))


def _clock(seconds: int) -> str:
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


@or_dash
def clock(at: datetime | None) -> str:
    """Return a local time of day: `14:06:41`."""
    return _written(at, current().clock)


@or_dash
def time_of_day(at: datetime | None) -> str:
    """Return a local time of day without seconds: `14:06`."""
    return _written(at, current().time)


@or_dash
def day(at: datetime | None) -> str:
    """Return a local day: `Mar 3, 2026`."""
    return _written(at, current().date)


@or_dash
def day_of_year(at: date | None, *, long: bool = False) -> str:
    """Return a day without its year: `Mar 3`, or `long` as `March 3`. A moment is taken in local time."""
    return _written(at, current().long_day if long else current().day)


@or_dash
def moment(at: datetime | None) -> str:
    """Return a local moment: `Mar 3, 2026, 14:06`."""
    return f"{_written(at, current().date)}, {_written(at, current().time)}"


def _written(at: date | None, pattern: str) -> str:
    """Raises `ValueError` for no moment, and for one that has no local time."""
    if at is None:
        raise ValueError
    return written(at.astimezone() if isinstance(at, datetime) else at, pattern)


@or_dash
def coming(at: datetime, now: datetime) -> str:
    """Return a moment to come as people say it, never too early: `at 14:07`, `tomorrow at 09:00`, `Mar 3 at 09:00`."""
    local, today = (at + timedelta(seconds=59, microseconds=999_999)).astimezone(), now.astimezone().date()
    clock_time = tr("at {local}", local=written(local, current().time))
    if local.date() == today:
        return clock_time
    if local.date() == today + timedelta(days=1):
        return tr("tomorrow {clock_time}", clock_time=clock_time)
    return tr("{day} {clock_time}", day=written(local, current().day), clock_time=clock_time)


@or_dash
def due(seconds: float, now: datetime) -> str:
    """Return when a wait ends: `in 0:58`, and beyond five minutes the time of day."""
    if seconds <= LONGEST_COUNTDOWN_S:
        return tr("in {seconds}", seconds=countdown(seconds))
    return coming(now + timedelta(seconds=seconds), now)


@or_dash
def when(at: datetime | None, now: datetime) -> str:
    """Return a moment in the past as people say it: `4 min ago`, `today 11:47`, `yesterday 09:10`, `Mar 3, 2026`."""
    if at is None:
        raise ValueError
    local, today = at.astimezone(), now.astimezone()
    passed = now - at
    if timedelta() <= passed < timedelta(minutes=1):
        return tr("just now")
    if timedelta() <= passed < timedelta(hours=1):
        return tr("{passed} min ago", passed=int(passed.total_seconds() // 60))
    days = (today.date() - local.date()).days
    if days in (0, 1):
        time = written(local, current().time)
        return tr("yesterday {time}", time=time) if days else tr("today {time}", time=time)
    return day(at)


@or_dash
def day_group(at: datetime | None, now: datetime) -> str:
    """Return the heading of a list that a moment stands under: `Today`, `Yesterday`, `This week`, `November 2026`."""
    if at is None:
        raise ValueError
    local, today = at.astimezone().date(), now.astimezone().date()
    days = (today - local).days
    if days <= 1:
        return tr("Yesterday") if days == 1 else tr("Today")
    if days < 7:
        return tr("This week")
    if (local.year, local.month) == (today.year, today.month):
        return tr("This month")
    return written(local, current().month)
