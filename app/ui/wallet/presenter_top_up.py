"""One top-up, from the amount to the receipt, so that no way through it pays twice.

    amount ──► payment ──► review ──► sending ──► done
                                         ├──────► refused    the signature never left this computer
                                         └──────► unknown    the same payment may be sent again, never another one

The intent is on disk before the signature exists, the signed payment before it leaves. While one payment of a wallet is
open, no other is signed for it, whatever the service said about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.money import money
from app.core.problems import describe
from app.core.spending_limits import read_limit
from app.core.time_format import day
from app.service.errors import ServiceError
from app.storage.errors import StorageError
from app.storage.paid_call_intents import Intents
from app.translation import listed, tr
from app.ui.wallet.session.holdings import GIFT_USD, SandboxHoldings, held_on_chain, price_of_asking
from app.ui.wallet.session.pending_top_ups import PendingTopUps
from app.ui.wallet.session.solana_block import NO_BLOCK, with_newest_block
from app.ui.wallet.session.top_up_rows import other_way, receipt_rows, review_checks, sheet_rows, wait_words, way
from app.ui.wallet.top_up_state import TopUpView
from app.wallet.addresses import chain_of, same_address
from app.wallet.errors import KeyUnavailable, PaymentRefused, WalletError
from app.wallet.external import ExternalSigner
from app.wallet.networks import tokens_of
from app.wallet.payment import (
    LARGEST_USD,
    NOT_ELSEWHERE,
    SMALLEST_USD,
    PaymentLimits,
    accept_signature,
    prepare_payment,
    renewed_payment,
    sign_payment,
)
from app.wallet.payment_sheet import sign_sheet
from app.wallet.payment_terms import changed_terms, read_options
from app.wallet.solana_transfer import TokenTransfer

if TYPE_CHECKING:
    from app.core.account_switch import ServiceOf
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account, Accounts
    from app.service.chat_types import RetryWait
    from app.service.x402 import TopUpRequirements
    from app.storage.database import Database
    from app.storage.paid_call_intents import Intent
    from app.storage.settings import SettingsStore
    from app.storage.wallet.open_payments import OpenPayments
    from app.ui.wallet.session.wallet_keys import WalletKeys
    from app.ui.wallet.top_up_state import PendingTopUp
    from app.wallet.payment import PreparedPayment, SignedPayment
    from app.wallet.payment_terms import OtherOption, PaymentOption

KIND = "x402"
MAX_LOOKED_BACK = 500  # top-ups, for the last one to the same host
SOON = timedelta(seconds=20)  # a payment that ends sooner could be late
ENDED = tr("This offer has expired. Go back for a new one. Nothing was signed.")


# What a service may change of its terms, by the names of the protocol.
TERM_WORDS = {
    "payTo": tr("the recipient"),
    "amount": tr("the amount"),
    "maxAmountRequired": tr("the amount"),
    "network": tr("the network"),
    "asset": tr("the token"),
    "maxTimeoutSeconds": tr("the time to pay"),
    "scheme": tr("the kind of payment"),
    "x402Version": tr("the version of the payment protocol"),
    "resource": tr("what is paid for"),
    "description": tr("the description"),
}


class TopUpPresenter(QObject):
    """`changed` carries a `TopUpView`; `paid` the account's id after a top-up was credited."""

    changed = Signal(object)
    paid = Signal(str)

    def __init__(
        self,
        accounts: Accounts,
        keys: WalletKeys,
        tasks: TaskScope,
        service_of: ServiceOf,
        own_cap: Callable[[], Decimal | None] = lambda: None,
        purses: SandboxHoldings | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        file: OpenPayments,
        settings: SettingsStore,
    ) -> None:
        super().__init__()
        self._accounts = accounts
        self._keys = keys
        self._tasks = tasks
        self._service_of = service_of
        self._own_cap = own_cap
        self._purses = purses
        self._now = now
        self._settings = settings
        self._intents: Intents | None = None
        self.open = PendingTopUps(accounts, tasks, service_of, now, file)
        self.open.credited.connect(self.paid)
        self.view = TopUpView()
        self._account: Account | None = None
        self._options: tuple[PaymentOption, ...] = ()
        self._prepared: PreparedPayment | None = None
        self._skew = timedelta()
        self._paying = False
        self._sent = ""  # the intent of the payment that was sent last
        self._committed = False  # the intent is being written: from here on, going away stops nothing

    async def start(self, database: Database) -> None:
        """Take the opened database, and find what the last run left open."""
        self._intents = Intents(database)
        await self.open.start(self._intents)

    # The steps

    def begin(self, account: Account, amount: Decimal | None = None, balance: Decimal | None = None) -> None:
        """Begin a top-up of one wallet account. Nothing is asked of anybody yet."""
        self._account = account
        self._tasks.replace("top-up service", self._keep_open, account)
        self._options, self._prepared = (), None
        self._show(
            TopUpView(
                account=account.name,
                address=account.address,
                is_play=account.is_sandbox,
                watch_only=account.watch_only,
                amount=max(amount or Decimal(5), Decimal(5)),
                balance=balance,
                node=self._settings.value.solana_node,
            )
        )

    def begin_for(self, account_id: str, amount: Decimal | None = None, balance: Decimal | None = None) -> None:
        """The same by the account's id; an account that is gone, or is paying right now, changes nothing."""
        account = self._accounts.get(account_id)
        is_paying = self._paying and self._account is not None and self._account.id == account_id
        if account is not None and not is_paying:
            self.begin(account, amount, balance)

    async def open_payment_of(self, account_id: str) -> PendingTopUp | None:
        """Return the payment that is open of an account's wallet; None if another one may begin."""
        account = self._accounts.get(account_id)
        return await self.open.of(account) if account is not None else None

    def set_amount(self, text: str) -> None:
        """Take what was typed; the sentence under the field says what is wrong with it."""
        amount = read_limit(text)
        if amount is None:
            self._change(problem=tr("Enter an amount in USD, such as 25."))
            return
        self._change(amount=amount, problem=self._amount_problem(amount))

    def set_node(self, address: str) -> None:
        """Take the address of a Solana node; Continue asks it."""
        self._change(node=address.strip(), problem="")

    def ask_terms(self) -> None:
        """Ask the service how it can be paid. Not before the amount can be paid at all."""
        problem = self._amount_problem(self.view.amount)
        if self.view.watch_only and chain_of(self.view.address) == "solana":
            problem = NOT_ELSEWHERE
        if problem:
            self._change(problem=problem)
            return
        self._tasks.replace("top-up terms", self._ask_terms)

    def choose(self, place: int) -> None:
        """Take one way to pay and show what would be signed."""
        self._change(chosen=place)
        self._tasks.replace("top-up review", self._review)

    def refresh_play_money(self) -> None:
        """Find out what the wallet holds. Free in the Sandbox; elsewhere it costs `asking_price`."""
        self._tasks.replace("top-up holds", self._refresh_play_money, None)

    def request_play_money(self) -> None:
        """Let the Sandbox's faucet give the wallet play dollars."""
        self._tasks.replace("top-up holds", self._refresh_play_money, GIFT_USD)

    def back(self) -> None:
        step = self.view.step
        if step in ("payment", "review", "refused"):
            self._change(step="amount" if step == "payment" else "payment", problem="", warning="")
            if step == "refused":
                self._change(step="amount")

    def sign_and_pay(self) -> None:
        """Sign what is shown, and send it once."""
        self._tasks.start_unless_running("top-up pay", self._pay, None)

    def pay_with(self, signature: str) -> None:
        """The same with a signature that was made elsewhere."""
        self._tasks.start_unless_running("top-up pay", self._pay, signature)

    def send_again(self) -> None:
        """Send the identical payment again, after an answer that did not settle it."""
        self._tasks.start_unless_running("top-up pay", self._pay_again)

    def leave(self) -> None:
        """The person went away: what only asks is stopped, what waits before it signs as well.

        A payment whose intent is being written goes on to its end.
        """
        asking = ("top-up terms", "top-up review", "top-up holds", *(() if self._committed else ("top-up pay",)))
        self._tasks.cancel("top-up service")
        stopped = [self._tasks.cancel(name) for name in asking]
        if any(stopped):
            self._change(busy=False, waits_until=None)

    @property
    def is_paying(self) -> bool:
        """True from the moment of signing until the answer: the window must not be closed over it lightly."""
        return self._paying

    # How it is done

    def _amount_problem(self, amount: Decimal) -> str:
        if amount < SMALLEST_USD:
            return tr("The minimum top-up is {smallest_usd}.", smallest_usd=money(SMALLEST_USD))
        cap = self._own_cap()
        if cap is not None and amount > cap:
            return tr("Your limit for top-ups is {cap}.", cap=money(cap))
        if amount > LARGEST_USD:
            return tr("The maximum top-up is {largest_usd}.", largest_usd=money(LARGEST_USD))
        if amount != round(amount, 6):
            return tr("Use up to 6 decimal places.")
        return ""

    async def _keep_open(self, account: Account) -> None:
        """Hold the account's service until the person goes away: all steps go over one connection."""
        with suppress(ServiceError):  # each step says so by itself
            async with self._service_of(account):
                await asyncio.Event().wait()

    async def _ask_terms(self) -> None:
        account = self._account
        assert account is not None
        waiting = await self.open.of(account)
        if waiting is not None:
            words = tr(
                "A top-up of {amount} is still open. Settle it first, or you could pay twice.",
                amount=money(waiting.amount),
            )
            self._change(problem=words)
            return
        self._change(busy=True, problem="")
        terms = await self._fresh_terms(account)
        if terms is None:
            return
        options, others = await self._read(account, terms)
        self._options = options
        ways = (*(way(each) for each in options), *(other_way(each) for each in others))
        problem = "" if options else tr("None of the service’s payment methods can be used here.")
        may_ask = bool(options) and not account.is_sandbox and not account.watch_only
        price = price_of_asking(options[0].token) if may_ask else None
        self._change(step="payment", busy=False, ways=ways, chosen=0, problem=problem, asking_price=price)
        if account.is_sandbox:
            self.refresh_play_money()

    async def _refresh_play_money(self, gift_usd: Decimal | None) -> None:
        account = self._account
        assert account is not None
        held, note = None, tr("The balance could not be read.")
        self._change(is_looking=True, holds_note="")
        try:
            if account.is_sandbox and self._purses is not None:
                held = await self._purses.held(account.address, gift_usd=gift_usd)
            elif not account.is_sandbox and self._options:
                async with self._service_of(account) as service:
                    held = await held_on_chain(service, self._options[0].token, account.address)
        except ServiceError as error:
            note = describe(error, subject=tr("question")).sentence
        finally:
            self._change(is_looking=False)
        if account is self._account:
            self._change(holds=held, holds_note="" if held is not None else note)

    async def _review(self) -> None:
        account = self._account
        assert account is not None
        if not self.view.chosen < len(self._options):
            return
        self._change(busy=True, problem="")
        shown = self._options[self.view.chosen]
        terms = await self._fresh_terms(account)
        if terms is None:
            return
        fresh, refusal = await self._same_option(account, shown, terms)
        if fresh is None:
            self._change(busy=False, problem=refusal)
            return
        try:
            prepared, shows = await self._prepare(account, fresh, terms)
        except WalletError as error:
            wanted = self.view.node_wanted or error.code == NO_BLOCK
            self._change(busy=False, problem=error.sentence, node_wanted=wanted)
            return
        if self.view.node_wanted:
            self._settings.remember(solana_node=self.view.node)
        self._prepared = prepared
        warning = await self._recipient_warning(account, fresh)
        now, ends = self._now(), self._ends(prepared)
        checks = review_checks(prepared, now, ends)
        if fresh.solana is not None:  # the block is renewed by signing
            ends = now + timedelta(seconds=fresh.window_s)
        self._change(step="review", busy=False, offer_ends=ends, warning=warning, checks=checks, **shows)

    async def _prepare(
        self,
        account: Account,
        option: PaymentOption,
        terms: TopUpRequirements,
        shown: PreparedPayment | None = None,
    ) -> tuple[PreparedPayment, dict[str, Any]]:
        """Fix what would be signed, and read it back from its bytes, for the view. Raises `WalletError`.

        `shown`: the payment is this one, with a newer block.
        """
        option = await self._with_block(account, option)
        self._skew = skew = timedelta(seconds=terms.info.clock_skew_s)
        amount, payer, now = self.view.amount, account.address, self._now()
        limits = PaymentLimits(own_cap=self._own_cap())

        def prepare() -> tuple[PreparedPayment, dict[str, Any]]:
            named_at = terms.named_at
            prepared = prepare_payment(option, amount, payer, now=now, named_at=named_at, skew=skew, limits=limits)
            if shown is not None:
                prepared = renewed_payment(shown, prepared)
            words = prepared.authorization
            fields = sheet_rows(sign_sheet(prepared))
            return prepared, {"rows": fields, "document": words.document(), "digest": "0x" + words.digest.hex()}

        return await asyncio.to_thread(prepare)

    async def _with_block(self, account: Account, option: PaymentOption) -> PaymentOption:
        try:
            async with self._service_of(account) as service:
                return await with_newest_block(service, option, self.view.node)
        except ServiceError as error:
            raise PaymentRefused("unreachable", str(error)) from error

    def _ends(self, prepared: PreparedPayment) -> datetime:
        """When a payment can no longer be carried out, by this computer's clock."""
        return datetime.fromtimestamp(prepared.valid_before, UTC) - self._skew

    async def _recipient_warning(self, account: Account, option: PaymentOption) -> str:
        """What to say when this host was last paid at another address; "" when it was not, or never."""
        assert self._intents is not None
        for intent in await self._intents.recent(KIND, MAX_LOOKED_BACK):
            earlier = self._accounts.get(intent.account_id)
            host = intent.request.get("host") or (earlier.host if earlier is not None else "")
            paid, token = str(intent.request.get("receiver", "")), str(intent.request.get("token", ""))
            if intent.state != "answered" or host != account.host or not same_address(token, option.token.address):
                continue
            if same_address(paid, option.receiver):
                return ""
            return tr(
                "The recipient is not the one you paid on {day}, {paid}. Pay only if you know why it changed.",
                day=day(intent.created_at),
                paid=paid,
            )
        return ""

    async def _pay(self, signature: str | None) -> None:
        self._paying = True
        try:
            await self._pay_once(signature)
        finally:
            self._paying = self._committed = False
            self.changed.emit(self.view)

    async def _pay_again(self) -> None:
        prepared, intents = self._prepared, self._intents
        if prepared is None or intents is None or self.view.step != "unknown":
            return
        if await intents.state_of(self._sent) != "unknown":
            return
        self._paying = self._committed = True
        self._change(step="sending", busy=True, problem="")
        try:
            await self._settle(prepared, await intents.sent(self._sent), again=True)
        finally:
            self._paying = self._committed = False
            self.changed.emit(self.view)

    async def _pay_once(self, signature: str | None) -> None:
        """Check once more, intend, sign, keep, send. Every step is on disk before the next one."""
        account, prepared, intents = self._account, self._prepared, self._intents
        assert account is not None
        if prepared is None or intents is None or self.view.step != "review":
            return
        self._change(busy=True, problem="")
        try:
            prepared = await self._renewed(account, prepared)
        except WalletError as error:
            self._change(busy=False, problem=error.sentence)
            return
        intent: Intent | None = None
        refusal = ""
        self._committed = True
        try:
            intent = await intents.open(
                KIND,
                account.id,
                _request(account, prepared, self._skew),
                idempotency_key=prepared.key,
            )
            payment = await self._signed(account, prepared, signature)
            intent = await intents.amend(intent.id, _headers(payment))
            await self.open.remember(intent)
            self._keys.note(account, "payment", account.host, prepared.authorization.document())
            intent = await intents.sent(intent.id)
        except (WalletError, StorageError) as error:
            refusal = error.sentence
        if refusal:
            if intent is not None and intent.state == "intended":
                await intents.cancel(intent.id, refusal)
                await self.open.forget(intent.id)
            self._change_for(prepared, busy=False, problem=refusal)
            return
        assert intent is not None
        self._sent = intent.id
        self._change_for(prepared, step="sending", busy=True, offer_ends=self._ends(prepared))
        await self._settle(prepared, intent)

    async def _renewed(self, account: Account, prepared: PreparedPayment) -> PreparedPayment:
        """Return what is signed: the payment that was shown, on Solana with the newest block.

        Raises `PaymentRefused` if anything has changed since the page was shown.
        """
        waiting = await self.open.of(account)
        if waiting is not None:
            raise _changed(tr("A top-up of {amount} is still open. Settle it first.", amount=money(waiting.amount)))
        self._refuse_if_ended()
        terms = await self._fresh_terms(account)
        if terms is None:
            raise _changed(self.view.problem)
        self._refuse_if_ended()  # asking may have had to wait
        fresh, refusal = await self._same_option(account, prepared.option, terms)
        if fresh is None:
            raise _changed(refusal)
        if fresh.solana is not None:
            prepared, shows = await self._prepare(account, fresh, terms, prepared)
            self._prepared = prepared
            self._change(**shows)
        return prepared

    def _refuse_if_ended(self) -> None:
        ends = self.view.offer_ends
        if ends is None or ends - self._now() < SOON:
            raise _changed(ENDED)

    async def _same_option(
        self, account: Account, shown: PaymentOption, terms: TopUpRequirements
    ) -> tuple[PaymentOption | None, str]:
        """The option that was shown, as the service names it now; else a sentence about what it changed."""
        options, others = await self._read(account, terms)
        if any(not changed_terms(shown, each) for each in options):
            return next(each for each in options if not changed_terms(shown, each)), ""
        nearest = next((each for each in options if each.network == shown.network), None)
        if nearest is None:
            reason = others[0].sentence if others else tr("It no longer offers a payment method.")
            return None, tr(
                "The service has changed its terms since they were shown. {reason} Nothing was signed.", reason=reason
            )
        changed = dict.fromkeys(TERM_WORDS.get(name, tr("other details")) for name in changed_terms(shown, nearest))
        names = listed(tuple(changed))
        return None, tr(
            "The service has changed its terms since they were shown: {names}. Nothing was signed.", names=names
        )

    async def _fresh_terms(self, account: Account) -> TopUpRequirements | None:
        """Ask the service for its terms; None after the view says why there are none."""
        terms: TopUpRequirements | None = None
        try:
            async with self._service_of(account) as service:
                terms = await service.x402.top_up_requirements(on_wait=self._waits)
        except ServiceError as error:
            self._change(busy=False, problem=str(error))
        self._change(waits_until=None)
        return terms

    def _waits(self, wait: RetryWait) -> None:
        self._change(waits_until=self._now() + timedelta(seconds=wait.wait_s), waits_for=wait_words(wait))

    async def _read(
        self, account: Account, terms: TopUpRequirements
    ) -> tuple[tuple[PaymentOption, ...], tuple[OtherOption, ...]]:
        tokens = tokens_of(chain_of(account.address), is_sandbox=account.is_sandbox)
        return await asyncio.to_thread(read_options, terms.options, terms.version, tokens)

    async def _signed(self, account: Account, prepared: PreparedPayment, signature: str | None) -> SignedPayment:
        if signature is not None:
            return await accept_signature(prepared, signature)
        signer = await asyncio.to_thread(self._keys.signer, account)
        if isinstance(signer, ExternalSigner):
            raise KeyUnavailable("elsewhere", tr("The key for this wallet is elsewhere. Paste its signature."))
        return await sign_payment(prepared, signer)

    async def _settle(self, prepared: PreparedPayment, intent: Intent, *, again: bool = False) -> None:
        result = await self.open.settle(intent, again=again)
        if result.state == "answered":
            settlement = result.settlement
            self._change_for(
                prepared,
                step="done",
                busy=False,
                problem=result.note if settlement is not None else "",
                # without a settlement, the wallet's bookings show the amount that was paid
                credited=settlement.credited_usd if settlement is not None else prepared.amount_usd,
                new_balance=settlement.balance_usd if settlement is not None else None,
                receipt=receipt_rows(settlement) if settlement is not None else (),
            )
        else:
            step = "refused" if result.state == "failed" else "unknown"
            self._change_for(prepared, step=step, busy=False, problem=result.note)

    def _change_for(self, prepared: PreparedPayment, **changes: Any) -> None:
        """Tell what became of a payment, unless the person left it and begins another top-up."""
        if self._prepared is prepared:
            self._change(**changes)

    def _change(self, **changes: Any) -> None:
        self._show(replace(self.view, **changes))

    def _show(self, view: TopUpView) -> None:
        self.view = view
        self.changed.emit(view)


def _changed(sentence: str) -> PaymentRefused:
    return PaymentRefused("changed", sentence)


def _request(account: Account, prepared: PreparedPayment, skew: timedelta) -> dict[str, Any]:
    words = prepared.authorization
    solana: dict[str, Any] = {}
    if isinstance(words, TokenTransfer):
        own_memo = prepared.option.solana is not None and not prepared.option.solana.memo
        height = words.last_valid_height
        solana = {"memo": words.memo if own_memo else "", "last_valid_height": "" if height is None else str(height)}
    return {
        "account": account.name,
        "base_url": account.base_url,
        "dialect": account.dialect,
        "host": account.host,
        "wallet": account.address,
        "amount": f"{prepared.amount_usd:f}",
        "network": prepared.option.network,
        "token": prepared.token.address,
        "receiver": words.receiver,
        "skew_s": skew.total_seconds(),
        "valid_before": str(prepared.valid_before),
        "nonce": prepared.key,
        **solana,
    }


def _headers(payment: SignedPayment) -> dict[str, Any]:
    """The payment in every form that may have to be sent: whoever resends it must not have to sign."""
    usual = payment.usual_form
    headers = {"header": payment.header_value(usual)}
    return headers if usual != "v2" else headers | {"flat": payment.header_value("flat")}
