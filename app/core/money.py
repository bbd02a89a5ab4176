"""How amounts of money are written. Never rounds money to zero, never hides a cost; a dash for what is no amount."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from app.core.number_format import DASH, MOST, or_dash
from app.formats import dollars
from app.translation import tr

PLAY_MONEY = tr("play money")  # said of every amount that only the Sandbox's balance pays
_CENTS = 2
_FINE = 4  # decimals below ten cents
_FINEST = 6  # what services keep of a dollar
_TINIEST = 12  # decimals; what is smaller is a mistake


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


def up_to(written: str, possible: Decimal | bool, *, short: bool = False) -> str:
    """Return a written sum as a cap if a part of it, `possible`, may not have been charged; `short` in a table."""
    if not possible:
        return written
    return f"≤{written}" if short else tr("up to {written}", written=written)


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


def spent(usd: Decimal, possible: Decimal) -> str:
    """Return a sum of costs: `up to $0.31` if a part of it, `possible`, may not have been charged, else `$0.31`."""
    return at_most(usd) if possible else money(usd)


def priced(action: str, price: Decimal | None) -> str:
    """Return what a button that costs says: `Clone for $0.05`, `Clone, price unknown`."""
    known = tr("{action} for {price}", action=action, price=money(price))
    return known if price is not None else tr("{action}, price unknown", action=action)


@or_dash
def after(price: Decimal, balance: Decimal | None, *, is_play: bool) -> str:
    """Return what a price leaves: `balance after $4.98`, `play money, balance after $99.93`, "" where nobody knows."""
    left = tr("balance after {balance}", balance=money(balance - price)) if balance is not None else ""
    return ", ".join(filter(None, (PLAY_MONEY if is_play else "", left)))


def cost(amount: Decimal | None, source: str = "stated") -> str:
    """Return what a call cost as a receipt says it: exact when stated, `about` when estimated, `up to` when it may
    not have been charged at all, words when unknown.
    """
    if amount is None or source == "none" or money(amount) == DASH:
        return tr("cost not stated")
    if source == "possible":
        return at_most(amount)
    return money(amount) if source == "stated" else about(amount)


def source_of_sum(sources: Iterable[str]) -> str:
    """Return what a sum of costs from these sources is: as uncertain as the most uncertain of them."""
    known = set(sources)
    return next((each for each in ("possible", "estimated") if each in known), "stated")


@or_dash
def short_cost(amount: Decimal, source: str = "stated") -> str:
    """Return `cost` for a narrow column, with a sign instead of words: `$0.11`, `~$0.11`, `≤$0.11`."""
    if source == "possible":
        return up_to(_rounded(amount, ROUND_CEILING), possible=True, short=True)
    return ("~" if source == "estimated" else "") + money(amount)


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
