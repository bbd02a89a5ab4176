"""Who the program calls as: the accounts, where their keys are kept, the switch between them and what calls cost.

Every part is made on first use. None of them is needed before the window is painted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.service_versions import ServiceVersions
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from decimal import Decimal

    from app.bootstrap.startup_context import StartupContext
    from app.core.account_switch import AccountSwitch
    from app.core.call_log import CallLog
    from app.core.current_account import CurrentAccount
    from app.core.receipt_recorder import ReceiptRecorder
    from app.core.secret_storage import Secrets, SecretsState
    from app.core.spending_limits import Ask, SpendingLimits
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account
    from app.credentials.keyring_store import KeyringStore
    from app.credentials.passphrase_store import PassphraseStore
    from app.credentials.stores import SessionStore
    from app.service.http.network import Network
    from app.service.key_limits import LimitsRegistry
    from app.service.models import Model
    from app.ui.settings.accounts.checking import CheckedKey
    from app.ui.settings.accounts.presenter import AccountsPresenter
    from app.ui.settings.connection.presenter import ConnectionPresenter
    from app.ui.shell.main_window import MainWindow
    from app.ui.shell.overlays import AccountChoice
    from app.ui.wallet.session.wallet_keys import AskElsewhere, WalletKeys

_MOST_NAMED = 5


NO_KEY = "none"  # stands for a key where none is sent


class AccountServices(QObject):
    """`connected` follows every change of account that worked, `problem` carries a sentence when one did not."""

    connected = Signal()
    problem = Signal(str)
    network_changed = Signal()

    def __init__(
        self,
        context: StartupContext,
        current_account: CurrentAccount,
        *,
        tasks: TaskScope,
        bookkeeping: TaskScope,
        watch_places: Callable[[Secrets], None],
        ask_budget: Ask,
        ask_elsewhere: AskElsewhere,
        ask_wallets: Callable[[], Awaitable[bool]],
    ) -> None:
        """`bookkeeping` outlives `tasks`; `watch_places` is told of the places for keys when they are looked at.

        `ask_budget` asks before a call goes past a limit, `ask_elsewhere` for a signature of a watched wallet,
        `ask_wallets` whether to unlock the wallets for a call.
        """
        super().__init__()
        self.ask_wallets = ask_wallets
        self.ask_budget = ask_budget
        self.ask_elsewhere = ask_elsewhere
        self._paths = context.paths
        self._secrets = context.secrets
        self._settings = context.settings
        self.accounts = context.accounts
        self._tasks = tasks
        self._watch_places = watch_places
        self.current_account = current_account
        self.bookkeeping = bookkeeping
        self.sandbox = context.sandbox
        self.open_payment_of: Callable[[str], Decimal | None] = lambda _account_id: None  # set by the Wallet tab
        self._had_to_ask = False  # the person, before keys can be read

    def last(self) -> Account:
        """The account that was in use when the program ended, else the Sandbox."""
        return self.accounts.active or self.sandbox_account()

    async def warm_up(self, account: Account) -> None:
        """Start the Sandbox where it is what will be called; `switch.use` tells what goes wrong."""
        if account.is_sandbox:
            with contextlib.suppress(OSError, ImportError):
                await self.sandbox.start()

    async def aclose(self) -> None:
        """Close the connections, write down what the last answers cost, and end the Sandbox."""
        await self.switch.aclose()
        if "wallet_keys" in vars(self):
            self.wallet_keys.close()
        if "presenter" in vars(self):
            await self.presenter.removal.end()
        await self.bookkeeping.idle()  # answers that were just cut off have receipts, too
        self.bookkeeping.start_unless_running("refused receipts", self.receipt_recorder.keep_refused)
        await self.bookkeeping.idle()
        await self.bookkeeping.aclose()
        await self.sandbox.stop()

    @cached_property
    def places(self) -> Secrets:
        from app.core.secret_storage import Secrets

        secrets = Secrets(self._make_stores, self._settings, self._tasks)
        self._watch_places(secrets)
        secrets.locked.connect(self._forget_proxy_password)
        secrets.state_changed.connect(self._follow_places)
        secrets.refresh()
        return secrets

    def _make_stores(self) -> tuple[KeyringStore, SessionStore, PassphraseStore]:
        from app.credentials.keyring_store import KeyringStore
        from app.credentials.passphrase_store import PassphraseStore
        from app.credentials.stores import SessionStore
        from app.storage.atomic_files import StoredFile

        return (
            KeyringStore(self._secrets),
            SessionStore(self._secrets),
            PassphraseStore(StoredFile(self._paths.vault), self._secrets),
        )

    @cached_property
    def presenter(self) -> AccountsPresenter:
        from app.ui.settings.accounts.presenter import AccountsPresenter

        self.sandbox_account()
        presenter = AccountsPresenter(
            self.accounts,
            self.places,
            self._tasks,
            check=self._check_key,
            calls=self.calls,
            versions=self.versions,
            proxy_user=lambda: self._settings.value.proxy_user,
            is_welcomed=lambda: self._settings.value.welcome_done,
            balance_of=lambda account_id: self.receipt_recorder.last_balance(account_id),
            open_payment_of=lambda account_id: self.open_payment_of(account_id),
            list_models=self._list_models,
        )
        presenter.account_chosen.connect(self._use)
        presenter.key_replaced.connect(self._follow_key)
        return presenter

    @cached_property
    def receipt_recorder(self) -> ReceiptRecorder:
        from app.core.receipt_recorder import ReceiptRecorder

        receipt_recorder = ReceiptRecorder(self.current_account, self.bookkeeping, spending_limits=self.spending_limits)
        receipt_recorder.recorded.connect(self.calls.note)
        receipt_recorder.answered.connect(self.versions.hear)
        return receipt_recorder

    @cached_property
    def spending_limits(self) -> SpendingLimits:
        """The one gate that every call that may cost something passes."""
        from app.core.spending_limits import SpendingLimits
        from app.core.tabs import tab_of

        return SpendingLimits(
            lambda: self._settings.value.budgets, lambda: self.current_account.priced_models, self.ask_budget, tab_of
        )

    @cached_property
    def wallet_keys(self) -> WalletKeys:
        """Who signs for accounts that are wallets."""
        from app.ui.wallet.session.wallet_keys import WalletKeys

        return WalletKeys(
            self.accounts,
            lambda: self.places,
            self._settings,
            self._tasks,
            self.ask_elsewhere,
            unlock=self._unlock,
            choose_place=self.places.has_place,
            is_session_only=lambda: self.places.state.kind == "session",
        )

    @cached_property
    def versions(self) -> ServiceVersions:
        return ServiceVersions(self._settings)

    @cached_property
    def calls(self) -> CallLog:
        from app.core.call_log import CallLog

        return CallLog(self._address_of)

    @cached_property
    def switch(self) -> AccountSwitch:
        from app.core.account_switch import AccountSwitch, ReachWatch

        switch = AccountSwitch(
            self.current_account,
            self.receipt_recorder,
            lambda: self.places,
            self.sandbox,
            lambda account, base_url: self.wallet_keys.auth(account, base_url),
            lambda: self.network,
            lambda: self.limits,
            self._unlock,
        )
        switch.connected.connect(self.connected)
        switch.problem.connect(self.problem)
        self._reach_watch = ReachWatch(self.current_account, self._tasks, switch.probe)
        return switch

    @cached_property
    def network(self) -> Network:
        """Proxies and certificates, for every account."""
        from app.service.http.network import Network
        from app.ui.settings.connection.presenter import network_settings

        return Network(network_settings(self._settings.value), lambda: self.places.proxy_password())

    @cached_property
    def limits(self) -> LimitsRegistry:
        """What each key may still do at its host, for everything here that calls with it."""
        from app.service.key_limits import LimitsRegistry

        return LimitsRegistry()

    @cached_property
    def connection(self) -> ConnectionPresenter:
        from app.ui.settings.connection.presenter import ConnectionPresenter

        presenter = ConnectionPresenter(
            self._settings,
            self.network,
            self.accounts,
            self.places,
            self._tasks,
            sandbox=self.sandbox.address,
            registry=self.limits,
        )
        presenter.changed.connect(self.network_changed)
        presenter.changed.connect(self.presenter.refresh)  # the table of secrets
        return presenter

    def _forget_proxy_password(self) -> None:
        if "network" in self.__dict__:  # made by the first call
            self.network.forget()

    async def _check_key(self, account: Account, typed_key: str) -> CheckedKey:
        """Ask the account's service about the key that is kept, or about one that is typed."""
        from app.ui.settings.accounts.checking import check_key

        async with self.switch.service_of(account, typed_key) as service:
            return await check_key(service, account.address)

    async def _list_models(self, account: Account) -> tuple[Model, ...]:
        """Ask a service that is no account yet for its models. No key is sent."""
        async with self.switch.service_of(account, NO_KEY) as service:
            return await service.models.list("all", authenticated=False)

    def _address_of(self, account_id: str) -> str:
        account = self.accounts.get(account_id)
        return account.base_url if account is not None and not account.is_sandbox else ""

    def sandbox_account(self) -> Account:
        """The Sandbox is always in the list of accounts."""
        from app.credentials.accounts import SANDBOX_ADDRESS, new_account

        known = next((account for account in self.accounts.list() if account.kind == "sandbox"), None)
        if known is None:
            known = new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox")
            self.accounts.include(known)
            self._tasks.start_unless_running("write accounts", asyncio.to_thread, self.accounts.write)
        return known

    def _use(self, account_id: str) -> None:
        account = self.accounts.get(account_id)
        if account is not None:
            self._settings.remember(welcome_done=True)  # also for who chose it elsewhere than on the first page
            self._tasks.replace("account", self.switch.use, account)

    def _follow_key(self, account_id: str) -> None:
        """What the account in use may do is known for its old key. Another account stays out of use."""
        if account_id == self.accounts.active_id:
            self._use(account_id)

    def closing_question(self, window: MainWindow) -> tuple[Callable[[], bool], Callable[[], Awaitable[bool]]]:
        """Return whether quitting would lose keys that are in memory only, and the question about it."""

        def names() -> list[str]:  # the Sandbox makes its own again
            lost = self.places.lost_at_quit()
            every = (*self.accounts.list(), *(removed.account for removed in self.accounts.removed()))
            return [each.name for each in every if each.id in lost and each.kind != "sandbox"]

        async def ask() -> bool:
            found = names()
            text = tr_n(
                "The key of {names} is only in memory, because no keyring keeps it. It is gone when Rialto quits. A "
                "wallet can be used again only with its recovery phrase or key.",
                "The keys of {names} are only in memory, because no keyring keeps them. They are gone when Rialto "
                "quits. A wallet can be used again only with its recovery phrase or key.",
                len(found),
                names=", ".join(found[:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else ""),
            )
            return await window.confirm_closing(
                tr_n("Quit and forget {n} key?", "Quit and forget {n} keys?", len(found)),
                text,
                action=tr_n("Quit and forget the key", "Quit and forget the keys", len(found)),
                cancel=tr("Keep running"),
                danger=True,
            )

        return lambda: bool(names()), ask

    async def _unlock(self) -> bool:
        """Have the person unlock what a call that they wait for needs: the wallets, the place for keys, or both."""
        account = self.current_account.account
        if account is not None and account.kind == "wallet":
            return await self.unlock_wallets()
        return await self.places.unlocked()

    async def unlock_wallets(self) -> bool:
        """Have the person unlock the wallets and the place for keys; True when a wallet can sign."""
        if self.wallet_keys.is_locked:
            if not await self.ask_wallets():
                return False
            self.wallet_keys.unlock()
        return await self.places.unlocked()

    def _follow_places(self, state: SecretsState) -> None:
        """Tell whether keys are locked; once they can be read, ask for the lists that could not be had without one."""
        self.current_account.set_keys_locked(state.is_locked)
        if self._had_to_ask and state.is_ready and self.current_account.service is not None:
            self.current_account.account_changed.emit()
            self.connected.emit()
            self._tasks.replace("limits", self.switch.read_limits)
        self._had_to_ask = bool(state.ask)

    def choices(self) -> tuple[AccountChoice, ...]:
        """What the account menu lists."""
        from app.ui.shell.overlays import AccountChoice

        in_use = self.current_account.account.id if self.current_account.account is not None else ""
        return tuple(
            AccountChoice(account.id, account.name, account.kind, account.id == in_use)
            for account in self.accounts.list()
        )
