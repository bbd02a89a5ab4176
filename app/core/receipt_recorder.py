"""One receipt for every call: records each exchange of the client and publishes the new totals.

This is the only place where an exchange becomes a receipt; no tab does it for itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.current_account import CurrentAccount, RateLimitRemaining
from app.core.rate_limit_watch import RateLimitWatch
from app.core.tabs import tab_of
from app.service.amounts import MAX_CHARGE_USD
from app.storage.receipt_sums import LocalZone, midnight
from app.storage.receipts import receipt_of
from app.translation import tr

if TYPE_CHECKING:
    from app.core.spending_limits import SpendingLimits
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account
    from app.service.exchange import Exchange
    from app.storage.receipts import CostSource, Receipt, Receipts

SETTLE_S = 60.0  # after which a service has booked what it did for a call whose answer was lost
FREE_AFTER_S = 600.0  # and after which it will not book anything any more
LOOKS_MS = (61_000, 541_000)  # when the balance is asked for after such a call, and how long after that again
REMEMBERED = 500  # calls of an account that may still overlap with one that has not ended


def receipt_from(
    exchange: Exchange,
    account: Account,
    balance_after: Decimal | None = None,
    project_id: str = "",
) -> Receipt:
    """Return the receipt of one exchange. Play money of the Sandbox is never a charge."""
    info = exchange.info
    return receipt_of(
        id=exchange.id,
        at=exchange.started_at,
        account_id=account.id,
        tab=tab_of(exchange.resource),
        endpoint=f"{exchange.request.method} {exchange.request.path}",
        model=exchange.model or (info.model_id if info is not None and info.model_id else ""),
        units={**exchange.units, **({"claimed": exchange.claimed} if exchange.claimed else {})},
        cost_usd=exchange.cost_usd,
        cost_source=exchange.cost_source,
        balance_after=balance_after,
        request_id=info.request_id if info is not None else "",
        headroom=_headroom_values(exchange),
        duration_s=exchange.duration_s,
        outcome=exchange.outcome,
        charged=not account.is_sandbox,
        estimate_usd=exchange.estimate_usd,
        project_id=project_id,
    )


@dataclass(frozen=True, slots=True)
class _BalanceRecord:
    """One call as far as the balance goes, in USD: what was there before it, and what it took (or gave, below 0).

    `most` is set where nobody knows what it took: so much at most.
    """

    id: str
    begun: datetime
    ended: datetime
    usd: Decimal | None
    diem: Decimal
    cost: Decimal
    most: Decimal | None = None
    is_lost: bool = False  # the service may have charged it after it ended here

    @property
    def funds(self) -> Decimal:
        return (self.usd or Decimal(0)) + self.diem


class Balances:
    """What is left on each account, whatever the order in which answers come.

    An answer tells the balance before its call, so of calls at once each leaves the others out, and the last to come
    need not be the last to be counted. Calls that overlap are added up together: what was there before the first of
    them was counted, less what all of them cost.
    """

    def __init__(self) -> None:
        self._records: dict[str, deque[_BalanceRecord]] = {}
        self._last: dict[str, Decimal] = {}

    def record_call(self, account_id: str, exchange: Exchange, *, is_priced: bool = True) -> Decimal | None:
        """Take a call that has ended and return what is left, in USD; None while nobody has told a balance.

        Without `is_priced` it may have cost something that nobody told.
        """
        info = exchange.info
        is_lost = exchange.cost_source == "possible"
        most = None if is_priced else (exchange.cost_usd if is_lost else None) or MAX_CHARGE_USD
        cost = exchange.cost_usd or Decimal(0) if is_priced else Decimal(0)
        paid_in = exchange.units.get("paid_in_micros")
        if paid_in is not None:
            cost -= Decimal(paid_in).scaleb(-6)
        usd, diem = None, Decimal(0)
        if info is not None and info.balance_usd is not None:  # before the call (R-HDR-22)
            usd, diem = info.balance_usd, max(info.balance_diem or Decimal(0), Decimal(0))
        elif info is not None and info.balance_remaining is not None:  # after it, but for a stream (R-WAL-13)
            before_stream = info.content_type == "text/event-stream"
            usd = info.balance_remaining + (Decimal(0) if before_stream else cost)
        ended = exchange.started_at + timedelta(seconds=exchange.duration_s)
        begun = exchange.started_at
        return self._record(account_id, _BalanceRecord(exchange.id, begun, ended, usd, diem, cost, most, is_lost))

    def record_balance(
        self, account_id: str, usd: Decimal, begun: datetime, ended: datetime, diem: Decimal = Decimal(0)
    ) -> Decimal:
        """Take a balance that was asked for, and return what is left."""
        return self._record(account_id, _BalanceRecord("", begun, ended, usd, diem, Decimal(0))) or usd

    def unpriced(self, account_id: str) -> tuple[str, ...]:
        """Return the calls of an account whose cost nobody has told, oldest first."""
        return tuple(each.id for each in self._records.get(account_id, ()) if each.most is not None)

    def price(self, account_id: str, exchange_id: str, cost_usd: Decimal) -> None:
        """Take what a call took."""
        records = self._records.get(account_id, deque())
        for place, each in enumerate(records):
            if each.id == exchange_id:
                records[place] = replace(each, cost=cost_usd, most=None)

    def last(self, account_id: str) -> Decimal | None:
        """Return the balance that was read last, in USD."""
        return self._last.get(account_id)

    def cost_of(self, account_id: str, exchange_id: str) -> Decimal | None:
        """What a call took whose price nobody told: the last balance before it, less that before the newest call, less
        what was paid between them. None where other calls leave that open, or it is more than the call can cost."""
        records = self._records.get(account_id, ())
        call = next((each for each in records if each.id == exchange_id), None)
        last = max(records, key=lambda each: each.begun, default=None)
        if call is None or last is None or last.usd is None or last.begun < call.ended:
            return None
        earlier = [each for each in records if each.usd is not None and each.ended <= call.begun]
        first = call if call.usd is not None else max(earlier, key=lambda each: each.ended, default=None)
        if first is None:
            return None
        ends = (call, last, first)
        known = (each for each in records if all(each is not one for one in ends))
        others = [each for each in known if each.cost or each.most is not None]
        if any(each.begun < one.ended and each.ended > one.begun for each in others for one in (first, last)):
            return None
        between = [each for each in (*others, *((first,) if first is not call else ())) if first.begun <= each.begun]
        if any(each.most is not None for each in between):
            return None
        took = first.funds - sum((each.cost for each in between), Decimal(0)) - last.funds
        waited_s = (last.begun - call.ended).total_seconds()
        is_early = call.is_lost and waited_s < (SETTLE_S if took else FREE_AFTER_S)
        return took if 0 <= took <= (call.most or MAX_CHARGE_USD) and not is_early else None

    def _record(self, account_id: str, news: _BalanceRecord) -> Decimal | None:
        records = self._records.setdefault(account_id, deque(maxlen=REMEMBERED))
        records.append(news)
        together, begun = [news], news.begun
        for each in sorted(records, key=lambda one: one.ended, reverse=True):
            if each is not news and each.ended > begun:
                together.append(each)
                begun = min(begun, each.begun)
        left = _left(together)
        if left is not None:
            self._last[account_id] = left
        return left


def _left(together: Sequence[_BalanceRecord]) -> Decimal | None:
    """What calls that overlap leave."""
    known = [each for each in together if each.usd is not None]
    if not known:
        return None
    gained = sum((max(Decimal(0), -each.cost) for each in together), Decimal(0))
    first = min(known, key=lambda each: each.begun) if gained else max(known, key=lambda each: each.funds)
    left = first.funds - sum((each.cost for each in together), Decimal(0))
    # whatever else was spent meanwhile, by another program or for a price that nobody told, shows in what came later
    left = min(left, *(each.funds - each.cost + gained + min(Decimal(0), each.cost) for each in known))
    spent = first.funds - left
    return (first.usd or Decimal(0)) - (max(Decimal(0), spent - first.diem) if spent > 0 else spent)


def _headroom_values(exchange: Exchange) -> dict[str, int]:
    info = exchange.info
    if info is None:
        return {}
    values = {
        "requests_left": info.remaining_requests,
        "requests_limit": info.limit_requests,
        "tokens_left": info.remaining_tokens,
        "tokens_limit": info.limit_tokens,
    }
    return {name: value for name, value in values.items() if value is not None}


class ReceiptRecorder(QObject):
    """Keeps receipts and the window's numbers. `recorded` follows each receipt that is on disk."""

    recorded = Signal(object)  # Receipt
    answered = Signal(str, object)  # the id of the account and the Exchange, of every call
    corrected = Signal(object, object)  # Receipt before and after: what a call cost is known now

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        now: Callable[[], datetime] | None = None,
        spending_limits: SpendingLimits | None = None,
    ) -> None:
        super().__init__()
        self.spending_limits = spending_limits
        self.limits = RateLimitWatch()  # of the account in use
        self._balances = Balances()
        self.ask_balance: Callable[[], Awaitable[None]] | None = None  # of the account in use; it is free
        self._look = QTimer(self)
        self._look.setSingleShot(True)
        self._look.timeout.connect(self._look_again)
        self._headroom_at = datetime.min.replace(tzinfo=UTC)
        self._current_account = current_account
        self._tasks = tasks
        self._now = now or (lambda: datetime.now(UTC))
        self._receipts: Receipts | None = None
        self._unkept: list[tuple[Account, Receipt]] = []

    async def start(self, receipts: Receipts) -> None:
        """Take the opened receipts and add up what today has cost so far. Raises `StorageError`."""
        self._receipts = receipts
        if self.spending_limits is not None:
            self.spending_limits.start(receipts)
        await self.refresh()

    async def refresh(self) -> None:
        """Add up what today cost, in the money of the account in use: all accounts, as the daily limit counts."""
        account = self._current_account.account
        if self._receipts is None or account is None:
            return
        since = midnight(self._now().astimezone().date(), LocalZone())
        spent = await self._receipts.spent_since(since, charged=not account.is_sandbox)
        if account is self._current_account.account:
            self._current_account.set_numbers(spent_today=spent.usd, possible_today=spent.possible)

    def recorder(self, account: Account) -> Callable[[Exchange], None]:
        """Return the client's hook for one account."""

        def record(exchange: Exchange) -> None:
            self._current_account.leaving.hear(account.id, exchange)
            self.answered.emit(account.id, exchange)
            if account is self._current_account.account:
                self._current_account.note_call(exchange)
            is_paid = self.spending_limits is not None and self.spending_limits.is_under_way(exchange.id)
            untold = is_paid and exchange.outcome == "ok" and exchange.cost_usd is None
            is_priced = not untold and exchange.cost_source != "possible"
            left = self._balances.record_call(account.id, exchange, is_priced=is_priced)
            if account is self._current_account.account:
                self._show(exchange, left)
            self._tasks.start_unless_running(f"receipt {exchange.id}", self._keep, exchange, account, left)
            self._price_soon(account)
            if not is_priced and account is self._current_account.account:
                if untold:
                    self._ask_balance()
                else:  # what is still being done is charged later
                    self._look.start(LOOKS_MS[0])

        return record

    def unsent(self, exchange_id: str) -> None:
        """A call that was let pass has not left: it has no receipt."""
        if self.spending_limits is not None and self.spending_limits.is_under_way(exchange_id):
            self.spending_limits.settled(exchange_id)
            self._tasks.start_unless_running(f"unsent {exchange_id}", self._forget, exchange_id)

    async def _forget(self, exchange_id: str) -> None:
        if self._receipts is not None:
            await self._receipts.forget_open(exchange_id)

    def _ask_balance(self) -> None:
        if self.ask_balance is not None:
            self._tasks.replace("balance after", self.ask_balance)

    def _look_again(self) -> None:
        """Ask for the balance, which may tell what a lost call took; once more before that is given up."""
        account = self._current_account.account
        if account is not None and self._balances.unpriced(account.id):
            if self._look.interval() != LOOKS_MS[-1]:
                self._look.start(LOOKS_MS[-1])
            self._ask_balance()

    def _price_soon(self, account: Account) -> None:
        for exchange_id in self._balances.unpriced(account.id):
            self._tasks.start_unless_running(f"cost {exchange_id}", self._price, account, exchange_id)

    async def _price(self, account: Account, exchange_id: str) -> None:
        """Complete the receipt of a call whose cost nobody told, where the balances before and after tell it."""
        cost = self._balances.cost_of(account.id, exchange_id)
        if cost is not None and await self.correct(exchange_id, cost, "estimated"):
            self._balances.price(account.id, exchange_id, cost)

    async def correct(self, receipt_id: str, cost_usd: Decimal, source: CostSource) -> bool:
        """Put what a call cost into its receipt. False if there is none. Raises `StorageError`."""
        before = await self._receipts.for_exchange(receipt_id) if self._receipts is not None else None
        if before is None or self._receipts is None:
            return False
        receipt = replace(before, cost_usd=cost_usd, cost_source=source, balance_after=None)
        await self._receipts.add(receipt)
        self.corrected.emit(before, receipt)
        self.recorded.emit(receipt)
        await self.refresh()
        return True

    async def last_balance(self, account_id: str) -> Decimal | None:
        """Return the last known balance of an account in USD, also of an earlier run; None if none was ever read."""
        left = self._balances.last(account_id)
        if left is None and self._receipts is not None:
            left = await self._receipts.last_balance(account_id)
        return left

    def record_balance(self, account: Account, usd: Decimal, begun: datetime, diem: Decimal | None = None) -> Decimal:
        """Take a balance that was asked for at `begun`, and return what is left: calls of the same moment count."""
        credits_left = max(diem or Decimal(0), Decimal(0))
        left = self._balances.record_balance(account.id, usd, begun, datetime.now(UTC), credits_left)
        self._price_soon(account)
        if account is self._current_account.account:
            self._current_account.set_numbers(balance=left)
        return left

    def _show(self, exchange: Exchange, left: Decimal | None) -> None:
        info = exchange.info
        if info is None:
            return
        current = self._current_account.account
        self.limits.observe(exchange, current.limit_class if current is not None else "paid")
        headroom = RateLimitRemaining.told(info, tr("Chat"), by_tokens=True) if exchange.resource == "chat" else None
        if headroom is not None and self._headroom_at <= info.received_at:  # long answers end late
            self._headroom_at = info.received_at
            self._current_account.set_numbers(headroom=headroom)
        short = exchange.duration_s if exchange.resource in ("models", "characters", "account") else None
        self._current_account.set_numbers(
            balance=left,
            latency_ms=round(short * 1000) if short is not None and exchange.outcome == "ok" else None,
        )

    async def _keep(self, exchange: Exchange, account: Account, left: Decimal | None) -> None:
        project_id = self.spending_limits.project_of(exchange.id) if self.spending_limits is not None else ""
        receipt = receipt_from(exchange, account, left, project_id)
        if self._receipts is not None:
            self._unkept.append((account, receipt))
            await self.keep_refused()
        elif self.spending_limits is not None:
            self.spending_limits.settled(exchange.id)

    async def keep_refused(self) -> None:
        """Keep every receipt that is not on the disk; one that is refused waits for the next. Raises `StorageError`."""
        while self._unkept and self._receipts is not None:
            account, receipt = self._unkept.pop(0)
            try:
                await self._receipts.add(receipt)
            except BaseException:  # a caller that is canceled as well
                self._unkept.insert(0, (account, receipt))
                raise
            if self.spending_limits is not None:
                self.spending_limits.settled(receipt.id)  # not before its cost is among the receipts
            self.recorded.emit(receipt)
            if receipt.cost_usd:
                await self.refresh()
            if receipt.id in self._balances.unpriced(account.id):  # the balance may have come before this receipt
                await self._price(account, receipt.id)
