"""Balances of all accounts, the limits of the one in use, and what may be spent.

Nothing here costs anything: balances and limits are read when the tab is opened, when the person asks, and after a
top-up. Wallets whose key is elsewhere are asked only when their own button is pressed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.money import money
from app.core.problems import describe
from app.core.rate_limit_watch import (
    AUDIO,
    BLOCKCHAIN_CALLS,
    EMBEDDINGS,
    IMAGES,
    VIDEO_QUEUE,
    VIDEO_RETRIEVAL,
    text_limits,
)
from app.core.spending_limits import read_limit, with_limit
from app.core.tabs import tab_of
from app.service.documented_limits import LIMITS
from app.service.errors import ServiceError
from app.storage.receipts import Receipt, Receipts
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.wallet.state import AccountCard, Gauge

if TYPE_CHECKING:
    from app.core.account_switch import ServiceOf
    from app.core.current_account import CurrentAccount
    from app.core.receipt_recorder import ReceiptRecorder
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account, Accounts
    from app.service.account import RateLimits
    from app.service.service import Service
    from app.storage.database import Database
    from app.storage.settings import SettingsStore

FRESH_FOR_S = 30.0


class WalletPresenter(QObject):
    """`balance_low` carries a sentence, and whether the wallet can be topped up here."""

    accounts_changed = Signal(tuple)  # of AccountCard
    gauges_changed = Signal(tuple)  # of Gauge
    busy_changed = Signal(bool)
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    balance_low = Signal(str, bool)

    def __init__(
        self,
        current_account: CurrentAccount,
        accounts: Accounts,
        settings: SettingsStore,
        tasks: TaskScope,
        receipt_recorder: ReceiptRecorder,
        service_of: ServiceOf,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self.current_account = current_account
        self._accounts = accounts
        self._settings = settings
        self._tasks = tasks
        self._receipt_recorder = receipt_recorder
        self._service_of = service_of
        self._now = now
        self._receipts: Receipts | None = None
        self._cards: dict[str, AccountCard] = {}
        self._limits: RateLimits | None = None
        self._credits = 0
        self._order: list[str] = []  # of the accounts
        self._warned: set[str] = set()
        self.lock_state: Callable[[], bool] = lambda: False
        self.is_key_missing: Callable[[str], bool] = lambda _account_id: False
        self.kept_in: Callable[[], str] = lambda: ""
        current_account.account_changed.connect(self._account_changed)
        current_account.numbers_changed.connect(self._numbers_changed)
        receipt_recorder.recorded.connect(self._recorded)

    async def start(self, database: Database) -> None:
        """Take the opened database."""
        self._receipts = Receipts(database)
        self.reload()
        await self._count_credits()

    # What is shown

    def cards(self) -> tuple[AccountCard, ...]:
        """Every account, the one first that was in use when one was last added or removed: no card moves on Use."""
        cards = {card.id: card for card in build_rows(self._accounts.list(), self._card)}
        if set(cards) != set(self._order):
            self._order = sorted(cards, key=lambda account_id: not cards[account_id].in_use)
        return tuple(cards[account_id] for account_id in self._order)

    def card(self, account_id: str) -> AccountCard | None:
        account = self._accounts.get(account_id)
        return self._card(account) if account is not None else None

    def reload(self) -> None:
        """Read the list of accounts again."""
        self.accounts_changed.emit(self.cards())
        self.gauges_changed.emit(self.gauges())

    def gauges(self) -> tuple[Gauge, ...]:
        """The limits of the account in use: what answers told, else what the service grants, all of it left."""
        account = self.current_account.account
        documented = LIMITS[account.limit_class if account is not None else "paid"]
        now = self._now()
        heard = {each.name: each for each in self._receipt_recorder.limits.limits(now)}
        granted: dict[str, int] = {}
        for each in self._limits.models if self._limits is not None else ():
            requests, tokens = each.amount("RPM"), each.amount("TPM")
            tier = documented.tier(int(requests)) if requests is not None else ""
            if tier and requests is not None and tokens is not None:
                granted |= zip(text_limits(tier), (int(requests), int(tokens)), strict=True)
        order = [name for tier in ("XS", "S", "M", "L") for name in text_limits(tier)]
        found = {name: granted[name] for name in order if name in granted}
        found |= {
            IMAGES: documented.image,
            AUDIO: documented.audio,
            EMBEDDINGS: documented.embedding,
            VIDEO_QUEUE: documented.video_queue,
            VIDEO_RETRIEVAL: documented.video_retrieve,
            BLOCKCHAIN_CALLS: documented.crypto,
        }
        found |= {name: each.limit for name, each in heard.items()}
        gauges = [
            Gauge(name, heard[name].left, heard[name].limit, heard[name].resets_at)
            if name in heard
            else Gauge(name, limit, limit)
            for name, limit in found.items()
        ]
        most = documented.credits_a_day
        gauges.append(Gauge(tr("Blockchain credits, 24 h"), max(0, most - self._credits), most, rolls=True))
        return tuple(gauges)

    # What the person does

    def activate(self) -> None:
        """The tab came to the front: what is old is read again."""
        account = self.current_account.account
        known = self._cards.get(account.id) if account is not None else None
        checked = known.checked_at if known is not None else None
        stale = checked is None or (self._now() - checked).total_seconds() > FRESH_FOR_S
        # A call of another tab told the balance, but never which limits there are.
        unknown = self._limits is None and account is not None and account.kind != "wallet"
        if stale or unknown:
            self._tasks.replace("wallet balance", self._refresh_current)

    def refresh(self) -> None:
        """Ask every account for its balance. It is free."""
        self._tasks.replace("wallet refresh", self._refresh_all)

    def read_account(self, account_id: str) -> None:
        """Ask one account, also one whose wallet signs elsewhere."""
        account = self._accounts.get(account_id)
        if account is not None:
            self._tasks.start_unless_running(f"wallet read {account_id}", self._read_one, account)

    def limit_text(self, key: str) -> str:
        """A limit as the settings keep it, "" for none."""
        return self._settings.value.budgets.get(key, "")

    def set_limit(self, key: str, text: str) -> str:
        """Keep a limit, or none for empty text. Returns what is wrong with it, "" when it was kept."""
        budgets = with_limit(self._settings.value.budgets, key, text)
        if budgets is None:
            return tr("Enter an amount in USD, such as 1.50.")
        self._settings.remember(budgets=budgets)
        self._tasks.replace("wallet limits", self._save)
        self._show_daily_limit()
        self.accounts_changed.emit(self.cards())
        return ""

    # How it is done

    async def _save(self) -> None:
        await asyncio.to_thread(self._settings.save)

    def _card(self, account: Account) -> AccountCard:
        known = self._cards.get(account.id)
        address = account.address
        card = AccountCard(
            id=account.id,
            name=account.name,
            kind=account.kind,
            host=tr("this computer") if account.is_sandbox else account.host,
            in_use=self.current_account.account is not None and account.id == self.current_account.account.id,
            is_play=account.is_sandbox,
            address=address,
            chain=("evm" if address.startswith("0x") else "solana") if address else "",
            watch_only=account.watch_only,
            low=read_limit(self.limit_text(f"low {account.id}")),
            is_locked=bool(address) and not account.watch_only and self.lock_state(),
            is_key_missing=bool(address) and not account.watch_only and self.is_key_missing(account.id),
            kept_in=self.kept_in() if address and not account.watch_only else "",
        )
        if known is None:
            return card
        return replace(
            card,
            usd=known.usd,
            diem=known.diem,
            diem_daily=known.diem_daily,
            renews_at=known.renews_at,
            checked_at=known.checked_at,
            problem=known.problem,
        )

    def _account_changed(self) -> None:
        self._limits = None
        self._receipt_recorder.limits.clear()
        self._show_daily_limit()
        self.reload()

    def _numbers_changed(self) -> None:
        """An answer told the balance: that is as good as having asked."""
        account, balance = self.current_account.account, self.current_account.balance
        if account is not None and balance is not None:
            known = self._cards.get(account.id) or self._card(account)
            if known.usd != balance:
                self._keep(replace(known, usd=balance, checked_at=self._now(), problem=""))
        self.gauges_changed.emit(self.gauges())

    def _show_daily_limit(self) -> None:
        limit = read_limit(self.limit_text("hard day")) or read_limit(self.limit_text("soft day"))
        self.current_account.daily_limit = limit
        self.current_account.numbers_changed.emit()

    def _keep(self, card: AccountCard) -> None:
        self._cards[card.id] = card
        shown = self.card(card.id)
        self.accounts_changed.emit(self.cards())
        if shown is None or not shown.is_low:
            self._warned.discard(card.id)
        elif card.id not in self._warned and shown.usd is not None and shown.low is not None:
            self._warned.add(card.id)
            words = tr(
                "{name} is down to {usd}, below the {low} you set.",
                name=shown.name,
                usd=money(shown.usd),
                low=money(shown.low),
            )
            self.balance_low.emit(words, shown.can_top_up)

    async def _refresh_current(self) -> None:
        account, service = self.current_account.account, self.current_account.service
        if account is None or service is None or account.watch_only:
            return
        self.busy_changed.emit(True)
        try:
            await self._read(account, service, background=True)  # nobody pressed anything
        finally:
            self.busy_changed.emit(False)

    async def _refresh_all(self) -> None:
        self.busy_changed.emit(True)
        try:
            for account in self._accounts.list():
                if not account.watch_only:
                    await self._read_one(account)
        finally:
            self.busy_changed.emit(False)

    async def _read_one(self, account: Account) -> None:
        try:
            async with self._service_of(account) as service:
                await self._read(account, service)
        except ServiceError as error:  # there is none to ask
            self._keep(
                replace(
                    self._cards.get(account.id) or self._card(account), problem=describe(error, subject="").sentence
                )
            )

    async def _read(self, account: Account, service: Service, *, background: bool = False) -> None:
        card = self._cards.get(account.id) or self._card(account)
        begun = datetime.now(UTC)
        try:
            if account.kind == "wallet":
                told = await service.x402.balance(account.address, background=background)
                card = replace(card, usd=told.balance_usd, diem=told.diem, problem="", checked_at=self._now())
            else:
                limits = await service.account.rate_limits(background=background)
                card = replace(
                    card,
                    usd=limits.balances.usd,
                    diem=limits.balances.diem,
                    renews_at=limits.next_epoch_at,
                    problem="" if limits.access_permitted else tr("This account cannot make requests right now."),
                    checked_at=self._now(),
                )
                if service is self.current_account.service:
                    self._limits = limits
                    self.gauges_changed.emit(self.gauges())
                card = await self._with_allocation(card, service)
        except ServiceError as error:
            card = replace(card, problem=describe(error, subject="").sentence)
        if card.usd is not None and not card.problem:
            card = replace(card, usd=self._receipt_recorder.record_balance(account, card.usd, begun))
        self._keep(card)

    async def _with_allocation(self, card: AccountCard, service: Service) -> AccountCard:
        """How many daily credits there are in all; only some keys may know."""
        try:
            billing = await service.billing.balance(background=True)
        except ServiceError:
            return card
        return replace(card, diem_daily=billing.diem_allocation)

    def _recorded(self, receipt: Receipt) -> None:
        if receipt.tab == tab_of("crypto"):
            self._tasks.replace("wallet gauges", self._count_credits)

    async def _count_credits(self) -> None:
        """Add up what calls to chains took in the last 24 hours, of the account in use."""
        account = self.current_account.account
        if self._receipts is None or account is None:
            return
        since = self._now() - timedelta(hours=24)
        self._credits = await self._receipts.credits_since(since, account_id=account.id, tab=tab_of("crypto"))
        self.gauges_changed.emit(self.gauges())
