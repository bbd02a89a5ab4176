"""Top-up payments: the outcome of each, and settling those whose outcome is unknown.

Only the identical payment is ever sent again: the service credits it at most once. A payment counts as never made only
when its time is over by the service's own clock, the service refuses it, and no booking of its amount is to be found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from app.core.money import money
from app.core.tasks import to_the_end
from app.service.errors import Conflict, OutcomeUnknown, RateLimited, RefusedCall, ServiceError
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.wallet.session.comparison import MAX_PAGES
from app.ui.wallet.top_up_state import PendingTopUp

if TYPE_CHECKING:
    from app.core.account_switch import ServiceOf
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account, Accounts
    from app.service.service import Service
    from app.service.x402 import Settlement
    from app.storage.paid_call_intents import Intent, Intents

KIND = "x402"
SURELY_OVER = timedelta(minutes=10)  # after the end of a payment; chains whose clock is behind have caught up by then
DATE_GRAIN = timedelta(seconds=3)  # clocks are compared by a header that counts whole seconds
UNKNOWN = tr(
    "It is not clear yet whether the payment went through. Check again: the same payment cannot be charged twice."
)
EXPIRED = tr("The payment did not go through and has expired. Nothing was paid.")
NOT_LOOKED_AT = tr(
    "The service has not processed this payment yet because it is over its limit for this minute. "
    "Check again in a minute: the same payment cannot be charged twice."
)
Ending = Literal["answered", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class PaymentOutcome:
    """How one sending of a payment ended."""

    state: Ending
    note: str = ""
    settlement: Settlement | None = None


def as_money(units: int, decimals: int) -> Decimal:
    """Base units to USD, exactly."""
    return Decimal(units).scaleb(-decimals)


def credit_note(paid: Decimal, settlement: Settlement) -> str:
    """What to say when the service does not say that it credited what was paid; "" when it does."""
    credited = settlement.credited_usd
    if credited is None:
        return tr(
            "You paid {paid}. The service did not say how much was credited. Check the balance.", paid=money(paid)
        )
    if credited == paid:
        return ""
    return tr(
        "You paid {paid}, but the service says it credited {credited}. Check the balance, and ask the service before "
        "you pay again.",
        paid=money(paid),
        credited=money(credited),
    )


class PendingTopUps(QObject):
    """`changed` carries the `PendingTopUp`s; `credited` the id of an account whose top-up arrived after all."""

    changed = Signal(tuple)
    credited = Signal(str)
    notice = Signal(object)  # how a check ended, as a sentence

    def __init__(
        self,
        accounts: Accounts,
        tasks: TaskScope,
        service_of: ServiceOf,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__()
        self._accounts = accounts
        self._tasks = tasks
        self._service_of = service_of
        self._now = now
        self._intents: Intents | None = None
        self.payments: tuple[PendingTopUp, ...] = ()

    async def start(self, intents: Intents) -> None:
        self._intents = intents
        await self.reload()

    async def reload(self) -> None:
        """Read what is open from the disk."""
        if self._intents is None:
            return
        self.payments = tuple(build_rows(await self._intents.unsettled(KIND), self._shown))
        self.changed.emit(self.payments)

    async def of(self, account_id: str) -> PendingTopUp | None:
        """The open payment of an account's wallet, None when there is none."""
        await self.reload()
        return next((each for each in self.payments if each.account_id == account_id), None)

    def check(self, intent_id: str) -> None:
        """Find out what became of a payment: send the identical one again and look at the wallet's bookings."""
        self._tasks.start_unless_running(f"top-up check {intent_id}", self._check, intent_id)

    async def settle(self, intent: Intent, *, again: bool = False) -> PaymentOutcome:
        """Send the payment of an intent that is marked as sent, once, and write down how that ended.

        `again`: it was sent before, so a refusal alone does not say that it was never carried out.
        """
        ended = await self._send(intent, again)
        await to_the_end(self._write_down(intent, ended))
        await self.reload()
        return ended

    async def _write_down(self, intent: Intent, ended: PaymentOutcome) -> None:
        assert self._intents is not None
        if ended.state == "answered":
            reference = ended.settlement.payment_id if ended.settlement is not None else ""
            await self._intents.answered(intent.id, reference, note=ended.note)
            self.credited.emit(intent.account_id)
        elif ended.state == "failed":
            await self._intents.failed(intent.id, ended.note)
        else:
            await self._intents.unknown(intent.id, ended.note)

    async def _check(self, intent_id: str) -> None:
        assert self._intents is not None
        intent = await self._intents.one(intent_id)
        if intent.state != "unknown":
            return
        self._busy(intent_id)
        ended = await self.settle(await self._intents.sent(intent.id), again=True)
        self.notice.emit(ended.note or tr("The payment arrived. It was credited once."))

    async def _send(self, intent: Intent, again: bool) -> PaymentOutcome:
        account = self._accounts.get(intent.account_id)
        if account is None:
            return PaymentOutcome(
                "unknown", tr("The account for this payment was removed. Add the wallet again to check it.")
            )
        try:
            async with self._service_of(account) as service:
                return await self._send_over(service, account, intent, again)
        except ServiceError:
            return PaymentOutcome("unknown", tr("The service cannot be reached now."))

    async def _send_over(self, service: Service, account: Account, intent: Intent, again: bool) -> PaymentOutcome:
        try:
            return _credited(intent, await service.x402.settle(str(intent.request.get("header", ""))))
        except ServiceError as error:
            refused = error
        flat = intent.request.get("flat")
        if refused.code == "INVALID_PAYMENT_FORMAT" and isinstance(flat, str):
            try:  # the same authorization in the other form: no second signature
                return _credited(intent, await service.x402.settle(flat))
            except ServiceError as error:
                refused = error
        return await self._read_refusal(intent, account, service, refused, again=again)

    async def _read_refusal(
        self, intent: Intent, account: Account, service: Service, error: ServiceError, *, again: bool
    ) -> PaymentOutcome:
        """Failed only when it is certain that the payment was not, and can no longer be, carried out."""
        said = str(error)
        if isinstance(error, RateLimited):  # it was not looked at, so this very payment is the one to send again
            return PaymentOutcome("unknown", NOT_LOOKED_AT)
        unclear = isinstance(error, (OutcomeUnknown, Conflict)) or not isinstance(error, RefusedCall)
        if error.surely_not_sent and not again:
            return PaymentOutcome("failed", tr("{said} Nothing was sent.", said=said))
        if not again and not unclear:
            return PaymentOutcome("failed", tr("{said} Nothing was paid.", said=said))
        until = _until(intent)
        skew = timedelta(seconds=error.info.clock_skew_s) if error.info is not None else timedelta()
        is_booked = await self._is_booked(intent, account, service, skew)
        if is_booked:
            return PaymentOutcome("answered", tr("The wallet’s charges show this top-up."))
        if again and not unclear and is_booked is False and self._now() + skew > until + SURELY_OVER:
            return PaymentOutcome("failed", EXPIRED)
        return PaymentOutcome("unknown", UNKNOWN if unclear else f"{said} {UNKNOWN}")

    async def _is_booked(self, intent: Intent, account: Account, service: Service, skew: timedelta) -> bool | None:
        """Whether the wallet's bookings hold a top-up of this amount since the payment was intended.

        None where they cannot be read that far back. Only one payment of a wallet is open at a time, so one that fits
        is this one. A watched wallet is not asked.
        """
        if account.watch_only:
            return False
        amount = _amount(intent)
        since = intent.created_at + skew - DATE_GRAIN
        for number in range(MAX_PAGES):
            try:
                page = await service.x402.transactions(account.address, size=100, offset=100 * number)
            except ServiceError:
                return None
            recent = [each for each in page.transactions if each.at is not None and each.at >= since]
            if any(each.kind == "TOP_UP" and each.amount == amount for each in recent):
                return True
            if not page.has_more or not recent:
                return False
        return None

    def _shown(self, intent: Intent) -> PendingTopUp:
        account = self._accounts.get(intent.account_id)
        return PendingTopUp(
            intent_id=intent.id,
            account_id=intent.account_id,
            account=account.name if account is not None else str(intent.request.get("account", "")),
            amount=_amount(intent),
            sent_at=intent.created_at,
            until=_until(intent),
            note=intent.note,
        )

    def _busy(self, intent_id: str) -> None:
        self.payments = tuple(replace(each, busy=each.intent_id == intent_id) for each in self.payments)
        self.changed.emit(self.payments)


def _until(intent: Intent) -> datetime:
    text = str(intent.request.get("valid_before", "0"))
    return datetime.fromtimestamp(int(text) if text.isdecimal() else 0, UTC)


def _amount(intent: Intent) -> Decimal:
    return Decimal(str(intent.request.get("amount", "0")))


def _credited(intent: Intent, settlement: Settlement) -> PaymentOutcome:
    return PaymentOutcome("answered", credit_note(_amount(intent), settlement), settlement)
