"""Top-up payments that were signed, until each is settled.

Anyone who has a signed payment can carry it out until its own end, whatever the service answers. So it stays open until
the service credits it, the wallet's charges or the chain show it, or it is over: its end has passed by this computer's
clock and by the service's, and neither shows that it was carried out. Until then its wallet signs no other payment of
the same token. Only the identical payment is ever sent again: the service credits it at most once.

An open payment belongs to a wallet, a token and a chain: not to an account, which can be removed and added again, and
not to the database, which can be restored from a backup.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from app.core.money import money
from app.core.problems import describe
from app.core.tasks import to_the_end
from app.credentials.accounts import Account, AccountRefused, checked
from app.service.errors import Conflict, OutcomeUnknown, RateLimited, RefusedCall, ServiceError
from app.storage.errors import StorageError
from app.storage.wallet.open_payments import OpenPayment
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.wallet.session.comparison import MAX_PAGES
from app.ui.wallet.session.holdings import paid_on_solana, price_of_asking, used_on_chain
from app.ui.wallet.top_up_state import PendingTopUp
from app.wallet.addresses import chain_of, same_address
from app.wallet.networks import KNOWN_TOKENS, SANDBOX_TOKENS, Token, tokens_of
from app.wallet.payment import MAX_SKEW
from app.wallet.payment_terms import read_options
from app.wallet.solana_transfer import BLOCKS_VALID

if TYPE_CHECKING:
    from app.core.account_switch import ServiceOf
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Accounts
    from app.service.response_info import ResponseInfo
    from app.service.service import Service
    from app.service.x402 import Settlement
    from app.storage.paid_call_intents import Intent, Intents
    from app.storage.wallet.open_payments import OpenPayments

KIND = "x402"
SURELY_OVER = timedelta(minutes=10)  # after the end of a payment; chains whose clock is behind have caught up by then
OVER_ANYWHERE = timedelta(days=1)  # after it, where no service tells its clock: none is off by so much
DATE_GRAIN = timedelta(seconds=3)  # clocks are compared by a header that counts whole seconds
TOKENS = (*KNOWN_TOKENS, *SANDBOX_TOKENS)
UNKNOWN = tr(
    "It is not clear yet whether the payment went through. Check again: the same payment cannot be charged twice."
)
EXPIRED = tr("The payment has expired, and the service shows no top-up since. Check your wallet before you pay again.")
NOT_LOOKED_AT = tr(
    "The service has not processed this payment yet because it is over its limit for this minute. "
    "Check again in a minute: the same payment cannot be charged twice."
)
OVER_UNSEEN = tr(
    "The payment has expired. Rialto cannot see from here whether it was carried out before that. Check your wallet "
    "before you pay again."
)
SHOWN = tr("The wallet’s charges show this top-up.")
CARRIED_OUT = tr("The chain shows that the payment was carried out. Check that the balance shows it.")
NOT_CARRIED_OUT = tr("The payment has expired, and the chain shows that it was not carried out. Nothing was paid.")
CLOSED = tr("Closed after it expired. Whether it was carried out is not known.")
GONE = tr("The account for this payment was removed. Add the wallet again to check it.")
UNREACHABLE = tr("The service cannot be reached now.")
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


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known about an open payment from outside. None: nobody could look.

    `skew` is what the service's clock is ahead of this computer's, `height` Solana's newest block as far as the service
    says. `charges` says whether the wallet's charges show this top-up, another one since (`other_usd`, None where it
    has no date), or none. `chain`: whether it was carried out.
    """

    skew: timedelta | None = None
    height: int | None = None
    charges: Literal["this", "other", "none"] | None = None
    other_usd: Decimal | None = None
    chain: bool | None = None


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
        file: OpenPayments,
    ) -> None:
        """`file` has the open payments as well: the database may be restored from a backup that does not."""
        super().__init__()
        self._accounts = accounts
        self._tasks = tasks
        self._service_of = service_of
        self._now = now
        self._file = file
        self._intents: Intents | None = None
        self._notes: dict[str, str] = {}  # what the last look found
        self._over: set[str] = set()  # payments that nobody can carry out any longer
        self.payments: tuple[PendingTopUp, ...] = ()

    async def start(self, intents: Intents) -> None:
        self._intents = intents
        for each in await asyncio.to_thread(self._file.load):
            state = await intents.adopt(
                KIND, each.id, each.account_id, each.created_at, each.request, each.idempotency_key
            )
            if state in ("answered", "failed"):
                await asyncio.to_thread(self._file.drop, each.id)
        await self.reload()

    async def reload(self) -> None:
        """Read what is open from the disk."""
        if self._intents is None:
            return
        self.payments = tuple(build_rows(await self._intents.unsettled(KIND), self._shown))
        self.changed.emit(self.payments)

    async def of(self, account: Account) -> PendingTopUp | None:
        """The open payment of an account's wallet, through whatever account it was signed; None when there is none."""
        await self.reload()
        return self.known_of(account)

    def known_of(self, account: Account) -> PendingTopUp | None:
        """The same by what was read last."""
        return next((each for each in self.payments if _is_of(each, account)), None)

    async def remember(self, intent: Intent) -> None:
        """Write a signed payment next to the database, before it is sent. Raises `StorageError`."""
        payment = OpenPayment(intent.id, intent.account_id, intent.created_at, intent.request, intent.idempotency_key)
        await asyncio.to_thread(self._file.put, payment)

    async def forget(self, intent_id: str) -> None:
        """Remove a payment that is settled, or was never sent. One that stays is looked at again at the next start."""
        with suppress(StorageError):
            await asyncio.to_thread(self._file.drop, intent_id)

    def check(self, intent_id: str) -> None:
        """Look at the service's clock and the wallet's charges. Nothing is sent again; it is free."""
        self._tasks.start_unless_running(f"top-up check {intent_id}", self._check, intent_id, False)

    def ask_chain(self, intent_id: str) -> None:
        """The same, and ask the token's contract whether the payment was carried out; costs `chain_price`."""
        self._tasks.start_unless_running(f"top-up check {intent_id}", self._check, intent_id, True)

    def send_again(self, intent_id: str) -> None:
        """Send the identical payment again: it is credited at most once."""
        self._tasks.start_unless_running(f"top-up check {intent_id}", self._send_again, intent_id)

    def close(self, intent_id: str) -> None:
        """Stop asking about a payment that is over. One that can still be carried out stays."""
        if intent_id in self._over:
            self._tasks.start_unless_running(f"top-up check {intent_id}", self._close, intent_id)

    async def settle(self, intent: Intent, *, again: bool = False) -> PaymentOutcome:
        """Send the payment of an intent that is marked as sent, once, and write down how that ended.

        `again`: it was sent before.
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
        elif ended.state == "failed":
            await self._intents.failed(intent.id, ended.note)
        elif intent.state == "sent":
            await self._intents.unknown(intent.id, ended.note)
        if ended.state == "unknown":
            self._notes[intent.id] = ended.note
            return
        await self.forget(intent.id)
        if ended.state == "answered":
            account = self._account_of(intent)
            self.credited.emit(account.id if account is not None else intent.account_id)

    async def _send_again(self, intent_id: str) -> None:
        intent = await self._unsettled(intent_id)
        if intent is None:
            return
        self._busy(intent_id)
        assert self._intents is not None
        await self._tell(await self.settle(await self._intents.sent(intent.id), again=True))

    async def _check(self, intent_id: str, with_chain: bool) -> None:
        intent = await self._unsettled(intent_id)
        if intent is None:
            return
        self._busy(intent_id)
        ended = await self._look(intent, with_chain=with_chain)
        await to_the_end(self._write_down(intent, ended))
        await self.reload()
        await self._tell(ended)

    async def _close(self, intent_id: str) -> None:
        intent = await self._unsettled(intent_id)
        if intent is not None:
            await to_the_end(self._write_down(intent, PaymentOutcome("failed", CLOSED)))
            await self.reload()

    async def _unsettled(self, intent_id: str) -> Intent | None:
        assert self._intents is not None
        intent = await self._intents.one(intent_id)
        return intent if intent.state == "unknown" else None

    async def _tell(self, ended: PaymentOutcome) -> None:
        self.notice.emit(ended.note or tr("The payment arrived. It was credited once."))

    # Sending

    async def _send(self, intent: Intent, again: bool) -> PaymentOutcome:
        account = self._account_of(intent)
        if account is None:
            return PaymentOutcome("unknown", GONE)
        try:
            async with self._service_of(account) as service:
                return await self._send_over(service, account, intent, again)
        except ServiceError:
            return PaymentOutcome("unknown", UNREACHABLE)

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
        if refused.surely_not_sent and not again:
            return PaymentOutcome("failed", tr("{said} Nothing was sent.", said=str(refused)))
        if isinstance(refused, RateLimited):  # it was not looked at, so this very payment is the one to send again
            return PaymentOutcome("unknown", NOT_LOOKED_AT)
        skew, height = _skew(refused.info), None
        if _is_on_solana(intent):
            _, height = await _clocks_of(service, account)
        charges, other_usd = await self._charges(intent, account, service, skew)
        unclear = isinstance(refused, (OutcomeUnknown, Conflict)) or not isinstance(refused, RefusedCall)
        findings = Findings(skew, height, charges, other_usd)
        return self._judge(intent, findings, UNKNOWN if unclear else str(refused), refused=not unclear)

    # Looking

    async def _look(self, intent: Intent, *, with_chain: bool) -> PaymentOutcome:
        """Find out what became of a payment without sending anything."""
        account = self._account_of(intent)
        if account is None:
            return PaymentOutcome("unknown", GONE)
        problem = ""
        findings = Findings()
        try:
            async with self._service_of(account) as service:
                skew, height = await _clocks_of(service, account)
                findings = Findings(skew, height)
                charges, other_usd = await self._charges(intent, account, service, findings.skew)
                findings = replace(findings, charges=charges, other_usd=other_usd)
            if with_chain:
                findings = replace(findings, chain=await self._on_chain(intent))
                problem = tr("The chain does not show it yet.") if findings.chain is False else ""
        except ServiceError as error:
            problem = describe(error, subject=tr("question")).sentence if with_chain else UNREACHABLE
        return self._judge(intent, findings, problem or UNKNOWN)

    async def _on_chain(self, intent: Intent) -> bool | None:
        """Raises `ServiceError`."""
        payer, token = self._payer_of_question(intent), _token_of(intent)
        if payer is None or token is None:
            return None
        wallet, memo = _wallet_of(intent), str(intent.request.get("memo", ""))
        async with self._service_of(payer) as service:
            if token.chain == "solana":
                return await paid_on_solana(service, token, wallet, memo, intent.created_at) if memo else None
            return await used_on_chain(service, token, wallet, intent.idempotency_key)

    def _judge(self, intent: Intent, found: Findings, said: str, *, refused: bool = False) -> PaymentOutcome:
        """Failed only when it is certain that the payment was not, and can no longer be, carried out."""
        is_over = self._is_over(intent, found)
        if is_over:
            self._over.add(intent.id)
        if found.charges == "this":
            return PaymentOutcome("answered", SHOWN)
        if found.chain is True:
            return PaymentOutcome("answered", CARRIED_OUT)
        if found.chain is False and is_over:
            return PaymentOutcome("failed", NOT_CARRIED_OUT)
        if found.charges == "other":
            return PaymentOutcome("unknown", _other_words(found.other_usd))
        if found.charges == "none" and is_over:
            return PaymentOutcome("failed", EXPIRED)
        if is_over:
            return PaymentOutcome("unknown", OVER_UNSEEN)
        if refused:
            said = tr("The service refused the payment: “{said}”", said=said)
        return PaymentOutcome("unknown", said)

    def _is_over(self, intent: Intent, found: Findings) -> bool:
        """Whether nobody can carry a payment out any longer, by this computer's clock and by the service's.

        On Solana, the block until which the network takes it must have passed as well.
        """
        past = self._now() - _until(intent)
        if past > OVER_ANYWHERE:
            return True
        is_late = found.skew is not None and min(past, past + found.skew) > SURELY_OVER
        if not _is_on_solana(intent):
            return is_late
        last = str(intent.request.get("last_valid_height", ""))
        return is_late and found.height is not None and last.isdecimal() and found.height > int(last)

    async def _charges(
        self, intent: Intent, account: Account, service: Service, skew: timedelta | None
    ) -> tuple[Literal["this", "other", "none"] | None, Decimal | None]:
        """Whether the wallet's charges show a top-up since the payment was signed, and the amount of another one.

        None where nobody can look: a watch-only wallet, or charges that cannot be read that far back. Only one payment
        of a wallet is open at a time, so one of its amount is this one.
        """
        if account.watch_only:
            return None, None
        signed_at = intent.created_at + _skew_then(intent, skew) - DATE_GRAIN  # by the service's clock
        since = min(signed_at, intent.created_at - DATE_GRAIN)  # what it dates is its own to say
        other: Decimal | None = None
        is_there_another = False
        for number in range(MAX_PAGES):
            try:
                page = await service.x402.transactions(account.address, size=100, offset=100 * number)
            except ServiceError:
                return None, None
            recent = [each for each in page.transactions if each.at is None or each.at >= since]
            top_ups = [each for each in recent if each.kind == "TOP_UP"]
            if any(each.at and each.at >= signed_at and each.amount == _amount(intent) for each in top_ups):
                return "this", None
            if top_ups or page.broken:
                is_there_another = True
                other = other or next((each.amount for each in top_ups), None)
            if not page.has_more or not recent:
                return ("other" if is_there_another else "none"), other
        return None, None

    # Whose it is

    def _account_of(self, intent: Intent) -> Account | None:
        """An account to look with and to send through: the payment's own, another one of the wallet at that host, or a
        removed one. Sending needs no credentials, so in the end the address alone will do.
        """
        own = self._accounts.get(intent.account_id)
        if own is not None and own.has_private_key:
            return own
        wallet, host = _wallet_of(intent), str(intent.request.get("host", ""))
        same = [
            each
            for each in self._accounts.list()
            if same_address(each.address, wallet) and (not host or each.host == host)
        ]
        removed = self._accounts.removed_one(intent.account_id)
        known = [*sorted(same, key=lambda each: each.watch_only), own, removed.account if removed else None]
        return next((each for each in known if each is not None), None) or _stand_in(intent)

    def _payer_of_question(self, intent: Intent) -> Account | None:
        """The account that pays for asking the chain; None where none can without a signature made elsewhere."""
        own = self._account_of(intent)
        if own is None or own.has_private_key:
            return own
        others = (each for each in self._accounts.list() if each.kind != "wallet" and each.host == own.host)
        return next((each for each in others if each.is_sandbox == own.is_sandbox), None)

    def _shown(self, intent: Intent) -> PendingTopUp:
        account, token = self._account_of(intent), _token_of(intent)
        mark = intent.request.get("memo") if _is_on_solana(intent) else intent.idempotency_key
        can_ask = token is not None and bool(mark) and self._payer_of_question(intent) is not None
        return PendingTopUp(
            intent_id=intent.id,
            account_id=intent.account_id,
            account=account.name if account is not None else str(intent.request.get("account", "")),
            amount=_amount(intent),
            sent_at=intent.created_at,
            until=_until(intent),
            note=self._notes.get(intent.id, intent.note),
            wallet=_wallet_of(intent),
            token=str(intent.request.get("token", "")),
            network=token.network if token is not None else "",
            is_over=intent.id in self._over,
            chain_price=price_of_asking(token) if token is not None and can_ask else None,
        )

    def _busy(self, intent_id: str) -> None:
        self.payments = tuple(replace(each, busy=each.intent_id == intent_id) for each in self.payments)
        self.changed.emit(self.payments)


def _is_of(payment: PendingTopUp, account: Account) -> bool:
    """Whether a payment is of an account's wallet and of a token that the account pays with.

    What an older entry does not say counts as the same.
    """
    same_wallet = same_address(payment.wallet, account.address) if payment.wallet else payment.account_id == account.id
    tokens = tokens_of(chain_of(account.address), is_sandbox=account.is_sandbox)
    pays_with = any(same_address(payment.token, each.address) and payment.network == each.network for each in tokens)
    is_token_known = bool(payment.token) and bool(payment.network)
    return same_wallet and (not is_token_known or pays_with)


def _wallet_of(intent: Intent) -> str:
    return str(intent.request.get("wallet", ""))


def _token_of(intent: Intent) -> Token | None:
    """The token of a payment, by its address and chain."""
    address, network = str(intent.request.get("token", "")), str(intent.request.get("network", ""))
    return next((each for each in TOKENS if same_address(each.address, address) and each.on(network)), None)


def _stand_in(intent: Intent) -> Account | None:
    """An account that was forgotten, as far as sending needs it: nothing can be signed with it."""
    base_url = intent.request.get("base_url")
    dialect = intent.request.get("dialect", "service")
    if not isinstance(base_url, str) or not isinstance(dialect, str):
        return None
    name, wallet = str(intent.request.get("account", "")) or tr("a removed wallet"), _wallet_of(intent)
    try:
        return checked(
            Account(intent.account_id, name, base_url, dialect, "wallet", address=wallet, watch_only=True)  # type: ignore[arg-type]  # checked there
        )
    except AccountRefused:
        return None


def _skew(info: ResponseInfo | None) -> timedelta | None:
    """What the service's clock is ahead, None where the answer does not say."""
    return timedelta(seconds=info.clock_skew_s) if info is not None and info.date is not None else None


def _skew_then(intent: Intent, skew_now: timedelta | None) -> timedelta:
    """What the service's clock was ahead when the payment was signed, or what it is now where that was not noted."""
    noted = intent.request.get("skew_s")
    if isinstance(noted, (int, float)):
        return timedelta(seconds=noted)
    return max(-MAX_SKEW, min(MAX_SKEW, skew_now or timedelta()))


async def _clocks_of(service: Service, account: Account) -> tuple[timedelta | None, int | None]:
    """Return what the service's clock is ahead, and the height of Solana's newest block, as its terms say.

    Asking for the terms of a top-up needs no credentials and costs nothing.
    """
    try:
        terms = await service.x402.top_up_requirements()
    except ServiceError as error:
        return _skew(error.info), None
    tokens = tokens_of("solana", is_sandbox=account.is_sandbox)
    options, _ = await asyncio.to_thread(read_options, terms.options, terms.version, tokens)
    heights = [each.solana.last_valid_height for each in options if each.solana is not None]
    known = [each - BLOCKS_VALID for each in heights if each is not None]
    return _skew(terms.info), min(known, default=None)


def _is_on_solana(intent: Intent) -> bool:
    return chain_of(_wallet_of(intent)) == "solana" and bool(_wallet_of(intent))


def _other_words(amount: Decimal | None) -> str:
    if amount is None:
        return tr(
            "The service shows a top-up that may be this one. Compare it with this payment, and check your wallet "
            "before you pay again."
        )
    return tr(
        "The service shows a top-up of {amount} since then. Compare it with this payment, and check your wallet before "
        "you pay again.",
        amount=money(amount),
    )


def _until(intent: Intent) -> datetime:
    text = str(intent.request.get("valid_before", "0"))
    return datetime.fromtimestamp(int(text) if text.isdecimal() else 0, UTC)


def _amount(intent: Intent) -> Decimal:
    return Decimal(str(intent.request.get("amount", "0")))


def _credited(intent: Intent, settlement: Settlement) -> PaymentOutcome:
    return PaymentOutcome("answered", credit_note(_amount(intent), settlement), settlement)
