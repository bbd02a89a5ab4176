"""Two books of the same calls: our receipts and the service's own bookings, put side by side."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core.money import money
from app.service.billing import UsageAnalytics, UsageQuery
from app.translation import tr, tr_n
from app.ui.wallet.state import Difference, UsageSums

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.service import Service
    from app.storage.receipts import Receipt

TOLERANCE = Decimal("0.000001")  # what the service keeps of a dollar
MAX_PAGES = 20
NEARBY_S = 120.0
SEARCHES = ("web-search", "x-search", "web-scraping")  # what a chat has done besides
BY_AMOUNT = tr("Matches by amount")
CORRECTED = tr("Now known from the service’s records")
NOT_CHARGED_YET = tr("Not in the service’s records so far")
TOO_OLD = tr("Older than the service’s records")


@dataclass(frozen=True, slots=True)
class Booking:
    """One booking of the service. `spent` in USD is positive for a charge."""

    at: datetime | None
    what: str
    request_id: str
    spent: Decimal
    currency: str = "USD"


async def service_bookings(service: Service, account: Account, begin: datetime) -> tuple[Booking, ...]:
    """Return what the service charged since `begin`. Raises `ServiceError`, also where only an admin key may look."""
    found: list[Booking] = []
    if account.kind == "wallet":
        for place in range(MAX_PAGES):
            page = await service.x402.transactions(account.address, size=100, offset=100 * place)
            found += [
                Booking(each.at, each.model_id or each.kind, each.request_id or "", -each.amount)
                for each in page.transactions
                if each.kind != "TOP_UP" and (each.at is None or each.at >= begin)
            ]
            if not page.has_more or not page.transactions or (page.transactions[-1].at or begin) < begin:
                break
        return tuple(found)
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        usage = await service.billing.usage(UsageQuery(begin=begin), cursor=cursor)
        found += [
            Booking(
                each.at,
                each.sku,
                each.details.request_id if each.details is not None else "",
                -each.amount,
                each.currency,
            )
            for each in usage.entries
        ]
        cursor = usage.next_cursor
        if cursor is None:
            break
    return tuple(found)


def compare(
    ours: Iterable[Receipt], theirs: Iterable[Booking], begins_at: datetime | None = None
) -> tuple[Difference, ...]:
    """Return one line for each call, those that differ first, the newest of them first.

    `begins_at`: when the service's book begins, None for one that has always been kept. A receipt from before that
    can stand in no book of the service's, which is said of it and is no difference.

    Bookings name the request of a chat, and need not name that of anything else: what no id matches is matched by
    time, by what was booked and by the amount, and the line says so.
    """
    booked: dict[str, list[Booking]] = {}
    for place, booking in enumerate(theirs):
        booked.setdefault(booking.request_id or f"unnamed {place}", []).append(booking)
    lines: list[Difference] = []
    unmatched: list[Receipt] = []
    for receipt in ours:
        same = booked.pop(receipt.request_id, None) if receipt.request_id else None
        if same is None:
            unmatched.append(receipt)
        else:
            lines.append(_line(receipt, same))
    found = _matched(unmatched, _parts_together(booked))
    for place, receipt in enumerate(unmatched):
        line = _line(receipt, found.get(place))
        if line.theirs is None and begins_at is not None and receipt.at < begins_at:
            line = replace(line, verdict=TOO_OLD, is_fault=False)
        elif line.theirs is not None and not line.is_fault and not line.corrects:
            line = replace(line, verdict=BY_AMOUNT)
        lines.append(line)
    taken = {id(booking) for group in found.values() for booking in group}
    lines += [
        Difference(each.at, each.what, None, each.spent, tr("Only in the service’s records"), is_fault=True)
        for group in booked.values()
        for each in group
        if each.spent and id(each) not in taken
    ]
    return tuple(sorted(lines, key=lambda line: (not line.is_fault, -(line.at.timestamp() if line.at else 0))))


def compare_sums(ours: Iterable[Receipt], theirs: UsageAnalytics) -> UsageSums:
    """Put the service's own sums beside Rialto's: by day in UTC, by model, and by key.

    Daily credits count one for one. Receipts do not say which key called, so a key has the service's sum alone.
    """
    days: dict[str, Decimal] = {}
    models: dict[str, Decimal] = {}
    for receipt in ours:
        cost, day = receipt.cost_usd or Decimal(0), receipt.at.astimezone(UTC).date().isoformat()
        days[day] = days.get(day, Decimal(0)) + cost
        name = receipt.model or receipt.endpoint
        models[name] = models.get(name, Decimal(0)) + cost
    return UsageSums(
        _side_by_side(days, {each.date: each.usd + each.diem for each in theirs.by_date})[::-1],
        tuple(
            sorted(
                _side_by_side(models, {each.name: each.usd + each.diem for each in theirs.by_model}),
                key=lambda line: -max(line.ours or Decimal(0), line.theirs or Decimal(0)),
            )
        ),
        tuple(
            Difference(None, each.description or each.key_id or "", None, each.usd + each.diem, "", is_fault=False)
            for each in theirs.by_key
        ),
    )


def _side_by_side(ours: Mapping[str, Decimal], theirs: Mapping[str, Decimal]) -> tuple[Difference, ...]:
    """One line for each name with a sum on either side, in the order of the names."""
    lines = []
    for name in sorted({*ours, *theirs}):
        mine, other = ours.get(name), theirs.get(name)
        apart = (other or Decimal(0)) - (mine or Decimal(0))
        is_fault = abs(apart) > TOLERANCE
        if not is_fault:
            verdict = tr("Matches")
        elif apart > 0:
            verdict = tr("{amount} more at the service", amount=money(apart))
        else:
            verdict = tr("{amount} more in Rialto", amount=money(-apart))
        if mine or other:
            lines.append(Difference(None, name, mine, other, verdict, is_fault))
    return tuple(lines)


def _parts_together(booked: Mapping[str, list[Booking]]) -> list[list[Booking]]:
    """Bookings by call. One that daily credits paid in part is two lines of one moment, in two currencies; searches
    for a chat are lines of their own."""
    groups: list[list[Booking]] = []
    for group in booked.values():
        first, last = group[0], groups[-1][-1] if groups else None
        unnamed = last is not None and last.at == first.at and not first.request_id
        if last is not None and unnamed and (first.what in SEARCHES or _is_rest(first, last)):
            groups[-1] += group
        else:
            groups.append(list(group))
    return groups


def _is_rest(booking: Booking, of: Booking) -> bool:
    return booking.what == of.what and booking.currency != of.currency and not of.request_id


def _matched(receipts: Sequence[Receipt], groups: Sequence[list[Booking]]) -> dict[int, list[Booking]]:
    """Find the bookings of each receipt, by its place: the best pairs first, each side taken once."""
    groups = sorted((group for group in groups if group[0].at is not None), key=_moment)
    times = [_moment(group) for group in groups]
    pairs: list[tuple[bool, bool, float, int, int]] = []
    for place, receipt in enumerate(receipts):
        begun, ended = receipt.at.timestamp(), receipt.at.timestamp() + receipt.duration_s
        first, last = bisect_left(times, begun - NEARBY_S), bisect_right(times, ended + NEARBY_S)
        for number in range(first, last):
            total = sum((each.spent for each in groups[number]), Decimal(0))
            agrees = abs(total - (receipt.cost_usd or Decimal(0))) <= TOLERANCE
            fits = any(_is_about(receipt, each) for each in groups[number])
            if agrees or fits:
                away = max(begun - times[number], times[number] - ended, 0.0)
                pairs.append((not agrees, not fits, away, place, number))
    found: dict[int, list[Booking]] = {}
    taken: set[int] = set()
    for *_, place, number in sorted(pairs):
        if place not in found and number not in taken:
            found[place] = groups[number]
            taken.add(number)
    return found


def _moment(group: Sequence[Booking]) -> float:
    return group[0].at.timestamp() if group[0].at is not None else 0.0


def _is_about(receipt: Receipt, booking: Booking) -> bool:
    """Whether a booking names what the receipt is for: its model, or calls to a chain."""
    if receipt.model:
        return booking.what.startswith(receipt.model)
    return receipt.endpoint.startswith("POST /crypto/rpc/") and booking.what.startswith("crypto-rpc")


def verdict_words(found: Sequence[Difference], begins: str = "") -> str:
    """What a comparison came to, in a sentence or two. `begins`: when the service's book began, as people read it."""
    old = sum(each.verdict == TOO_OLD for each in found)
    faults = sum(each.is_fault for each in found)
    compared = len(found) - old
    if not found:
        return tr("No charges on either side in this period")
    words = []
    if compared:
        words.append(
            tr_n("{n} of {compared} charges differs", "{n} of {compared} charges differ", faults, compared=compared)
            if faults
            else tr_n("The charge matches", "All {n} charges match", compared)
        )
    if old:
        words.append(
            tr_n(
                "{n} receipt is older than the Sandbox’s records, which begin at {begins}",
                "{n} receipts are older than the Sandbox’s records, which begin at {begins}",
                old,
                begins=begins,
            )
        )
    return ". ".join(words)


def _line(receipt: Receipt, same: list[Booking] | None) -> Difference:
    cost = receipt.cost_usd or Decimal(0)
    what = receipt.model or receipt.endpoint
    if receipt.cost_source == "possible":
        if same is None:
            return Difference(receipt.at, what, cost, None, NOT_CHARGED_YET, is_fault=False)
        total = sum((each.spent for each in same), Decimal(0))
        return Difference(receipt.at, what, cost, total, CORRECTED, is_fault=False, corrects=receipt.id)
    if same is None:
        return Difference(receipt.at, what, cost, None, tr("Only in Rialto’s receipts"), is_fault=True)
    total = sum((each.spent for each in same), Decimal(0))
    if abs(total - cost) <= TOLERANCE:
        return Difference(receipt.at, what, cost, total, tr("Matches"), is_fault=False)
    word = tr("Different estimate") if receipt.cost_source == "estimated" else tr("The amounts differ")
    return Difference(receipt.at, what, cost, total, word, is_fault=True)
