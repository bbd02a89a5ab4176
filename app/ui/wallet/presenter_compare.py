"""Two books of the same calls: our receipts and the service's own bookings, put side by side by their request ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from app.ui.wallet.state import Difference

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.service import Service
    from app.storage.receipts import Receipt

TOLERANCE = Decimal("0.000001")  # what the service keeps of a dollar
MAX_PAGES = 20
NEARBY = timedelta(minutes=2)
TOO_OLD = "Older than the service's book"


@dataclass(frozen=True, slots=True)
class Booking:
    """One booking of the service. `spent` in USD is positive for a charge."""

    at: datetime | None
    what: str
    request_id: str
    spent: Decimal


async def service_bookings(service: Service, account: Account, begin: datetime) -> tuple[Booking, ...]:
    """Return what the service charged since `begin`. Raises `ServiceError`, also where only an admin key may look."""
    from app.service.billing import UsageQuery

    found: list[Booking] = []
    if account.kind == "wallet":
        for place in range(MAX_PAGES):
            page = await service.x402.transactions(account.address, size=100, offset=100 * place)
            found += [
                Booking(each.at, each.model_id or each.kind, each.request_id or "", -each.amount)
                for each in page.transactions
                if each.kind != "TOP_UP" and (each.at is None or each.at >= begin)
            ]
            if not page.has_more or (page.transactions[-1].at or begin) < begin:
                break
        return tuple(found)
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        usage = await service.billing.usage(UsageQuery(begin=begin), cursor=cursor)
        found += [
            Booking(each.at, each.sku, each.details.request_id if each.details is not None else "", -each.amount)
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

    Services do not always name the request that an answer's header named; what is left over is matched by model and
    time, the amount deciding between calls that stand close together.
    """
    charged: dict[str, list[Booking]] = {}
    for place, booking in enumerate(theirs):
        charged.setdefault(booking.request_id or f"unnamed {place}", []).append(booking)
    lines: list[Difference] = []
    unmatched: list[Receipt] = []
    for receipt in ours:
        same = charged.pop(receipt.request_id, None) if receipt.request_id else None
        if same is None:
            unmatched.append(receipt)
        else:
            lines.append(_line(receipt, same))
    for receipt in unmatched:
        key = _nearest(receipt, charged)
        line = _line(receipt, charged.pop(key) if key is not None else None)
        if line.theirs is None and begins_at is not None and receipt.at < begins_at:
            line = replace(line, verdict=TOO_OLD, is_fault=False)
        lines.append(line)
    for left in charged.values():
        lines += [
            Difference(each.at, each.what, None, each.spent, "Only in the service's book", is_fault=True)
            for each in left
            if each.spent
        ]
    return tuple(sorted(lines, key=lambda line: (not line.is_fault, -(line.at.timestamp() if line.at else 0))))


def verdict_words(found: Sequence[Difference], begins: str = "") -> str:
    """What a comparison came to, in a sentence or two. `begins`: when the service's book began, as people read it."""
    old = sum(each.verdict == TOO_OLD for each in found)
    faults = sum(each.is_fault for each in found)
    compared = len(found) - old
    if not found:
        return "Neither side has a booking in this time"
    words = ""
    if compared:
        words = f"{faults} of {compared} bookings differ" if faults else f"All {compared} bookings agree"
    if old:
        receipts = "1 receipt is" if old == 1 else f"{old:,} receipts are"
        words += (". " if words else "") + (
            f"{receipts} older than the Sandbox's book, which begins anew at each of its starts, this time {begins}"
        )
    return words


def _line(receipt: Receipt, same: list[Booking] | None) -> Difference:
    cost = receipt.cost_usd or Decimal(0)
    what = receipt.model or receipt.endpoint
    if same is None:
        return Difference(receipt.at, what, cost, None, "Only in Rialto's receipts", is_fault=True)
    total = sum((each.spent for each in same), Decimal(0))
    if abs(total - cost) <= TOLERANCE:
        return Difference(receipt.at, what, cost, total, "Agrees", is_fault=False)
    word = "Estimated otherwise" if receipt.cost_source == "estimated" else "The amounts differ"
    return Difference(receipt.at, what, cost, total, word, is_fault=True)


def _nearest(receipt: Receipt, charged: Mapping[str, list[Booking]]) -> str | None:
    """The bookings of the same model within two minutes that come nearest to what the receipt says."""
    if not receipt.model:
        return None
    ends_at = receipt.at + timedelta(seconds=receipt.duration_s)
    cost = receipt.cost_usd or Decimal(0)
    fitting = [
        (abs(sum((each.spent for each in group), Decimal(0)) - cost), key)
        for key, group in charged.items()
        if any(
            each.what.startswith(receipt.model)
            and each.at is not None
            and receipt.at - NEARBY <= each.at <= ends_at + NEARBY
            for each in group
        )
    ]
    return min(fitting)[1] if fitting else None
