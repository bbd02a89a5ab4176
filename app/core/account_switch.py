"""One open `Service` per account: for the account in use, and for any other while something calls with it.

All calls of an account share its connections, its sign-in and its limits: chats, top-ups, a check of its key. The
composition root gives it the ways in; it knows neither keyrings nor the Sandbox itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from app.core.current_account import CurrentAccount
from app.core.receipt_recorder import ReceiptRecorder
from app.core.tasks import TaskScope
from app.service.auth import ApiKeyAuth
from app.service.errors import ConnectionFailed, ServiceError
from app.service.service import open_service
from app.translation import tr

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.auth import Unlock
    from app.service.http.network import Network
    from app.service.key_limits import LimitsRegistry
    from app.service.service import Service
    from app.service.wallet_auth import WalletAuth

_log = logging.getLogger(__name__)


class ApiKeys(Protocol):
    """Where the keys of accounts are: `app.core.secret_storage.Secrets`."""

    async def api_key(self, account_id: str) -> str:
        """Raises `ServiceError` when the place for secrets does not open."""


class Sandbox(Protocol):
    """The one Sandbox of this program."""

    @property
    def key(self) -> str: ...

    async def start_and_tell(self) -> str:
        """Start it if need be, and return its base address. Raises `OSError` or `ImportError` with a reason."""


# An account and the address that it calls now. Raises `ServiceError` for an address that must not be signed for.
WalletAuthMaker = Callable[["Account", str], "WalletAuth"]
# Lends the one open service of an account: see `AccountSwitch.service_of`.
ServiceOf = Callable[["Account"], AbstractAsyncContextManager["Service"]]


@dataclass(slots=True, eq=False)
class _OpenService:
    account: Account
    base_url: str
    service: Service
    holders: int = 0


class AccountSwitch(QObject):
    """`use` is the only way in; the newest call wins. `problem` carries a sentence when an account cannot be used."""

    connected = Signal()
    problem = Signal(str)

    def __init__(
        self,
        current_account: CurrentAccount,
        receipt_recorder: ReceiptRecorder,
        secrets: Callable[[], ApiKeys],
        sandbox: Sandbox,
        wallet_auth: WalletAuthMaker,
        network: Callable[[], Network] | None = None,
        registry: Callable[[], LimitsRegistry] | None = None,
        unlock: Unlock | None = None,
    ) -> None:
        """`wallet_auth` makes the sign-in of a wallet's account; `unlock` asks the person to unlock a key;
        `secrets` is first asked for an account with a key.

        `network` gives what knows proxies and certificates, `registry` the limits of all keys: both the same each
        time, and first asked when a service is opened.
        """
        super().__init__()
        self._current_account = current_account
        self._receipt_recorder = receipt_recorder
        receipt_recorder.ask_balance = self.read_limits
        self._secrets = secrets
        self._sandbox = sandbox
        self._network = network
        self._wallet_auth = wallet_auth
        self._registry = registry
        self._unlock = unlock
        self._turn = asyncio.Lock()
        self._wanted = 0
        self._opening = asyncio.Lock()
        self._open: dict[str, _OpenService] = {}  # by the account's id
        self._in_use: _OpenService | None = None

    async def use(self, account: Account | None) -> None:
        """Call as `account` from now on, or as nobody, over new connections.

        Answers under way for the account before are cut off, unless something else that calls with it still runs.
        """
        self._wanted += 1
        wanted = self._wanted
        async with self._turn:
            if wanted != self._wanted:
                return
            opened = None
            if account is not None:
                if self._current_account.account is None:  # named while its service opens: nobody is asked to choose
                    self._current_account.use(account, None)
                opened = await self._hold_or_tell(account)
            before, self._in_use = self._in_use, opened  # not before: it may be canceled for the next one
            self._current_account.use(account, self._in_use.service if self._in_use is not None else None)
            if before is not None:
                await self._let_go(before)
            if self._in_use is None:
                return
            await self._receipt_recorder.refresh()
            self.connected.emit()
        await self.read_limits()

    @property
    def was_used(self) -> bool:
        """Whether an account was ever asked for."""
        return self._wanted > 0

    async def aclose(self) -> None:
        """Close the connections of all accounts."""
        self._wanted += 1
        async with self._turn:
            self._current_account.use(self._current_account.account, None)
            self._in_use = None
            still_open, self._open = self._open, {}
            for each in still_open.values():
                await each.service.aclose()

    @contextlib.asynccontextmanager
    async def service_of(self, account: Account, typed_key: str = "") -> AsyncIterator[Service]:
        """Lend the one open service of an account, in use or not; the last who lets go closes it.

        With `typed_key`, a key that is not kept yet, the service is one of its own, and its calls leave no receipts.
        Raises `ServiceError` when there is no service to open.
        """
        if typed_key:
            service = await self._make(account, await self._address_of(account), typed_key)
            try:
                yield service
            finally:
                await service.aclose()
            return
        held = await self._hold(account)
        try:
            yield held.service
        finally:
            await self._let_go(held)

    async def _hold(self, account: Account, *, anew: bool = False) -> _OpenService:
        """Raises `ServiceError`. What was opened for another key, name or address of the account is not lent again."""
        base_url = await self._address_of(account)
        async with self._opening:
            held = self._open.get(account.id)
            if anew or held is None or (held.account, held.base_url) != (account, base_url):
                held = _OpenService(account, base_url, await self._make(account, base_url))
                self._open[account.id] = held
            held.holders += 1
            return held

    async def _hold_or_tell(self, account: Account) -> _OpenService | None:
        try:
            return await self._hold(account, anew=True)
        except ServiceError as error:
            self.problem.emit(str(error))
            return None

    async def _let_go(self, held: _OpenService) -> None:
        held.holders -= 1
        if held.holders:
            return
        if self._open.get(held.account.id) is held:
            del self._open[held.account.id]
        await held.service.aclose()

    async def _address_of(self, account: Account) -> str:
        if not account.is_sandbox:
            return account.base_url
        try:
            return await self._sandbox.start_and_tell()
        except (OSError, ImportError) as error:
            _log.warning("The Sandbox did not start: %s", error)
            reason = str(error)

        raise ConnectionFailed(tr("The Sandbox could not start: {reason}.", reason=reason), surely_not_sent=True)

    async def _start_sandbox_again(self, account: Account) -> str:
        """The Sandbox ended under a call that needs its key: it starts, and later calls go to its new address.

        Raises `ConnectionFailed`, with nothing sent, because this call would go to the old one.
        """
        await self._address_of(account)
        if self._current_account.account == account:
            await self.use(account)
        raise ConnectionFailed(tr("The Sandbox had stopped. It is running again."), surely_not_sent=True)

    async def _make(self, account: Account, base_url: str, typed_key: str = "") -> Service:
        # httpx and pydantic take longer to import than a frame lasts: a thread shares the time in slices
        await asyncio.to_thread(importlib.import_module, "app.service.service")

        async def given_key() -> str:
            return typed_key or self._sandbox.key or await self._start_sandbox_again(account)

        auth: ApiKeyAuth | WalletAuth
        if account.kind == "wallet":  # its private key signs, and is never sent
            auth = await asyncio.to_thread(self._wallet_auth, account, base_url)
        elif typed_key or account.kind == "sandbox":
            auth = ApiKeyAuth(given_key)
        else:
            auth = ApiKeyAuth(partial(self._secrets().api_key, account.id), self._unlock)
        limits = self._receipt_recorder.spending_limits
        return open_service(
            base_url,
            account.dialect,
            auth,
            self._receipt_recorder.recorder(account) if not typed_key else lambda _exchange: None,
            on_budget=lambda state: (
                self._current_account.set_budget(state) if self._current_account.account is account else None
            ),
            on_reach=lambda code: (
                self._current_account.set_reach(code) if self._current_account.account is account else None
            ),
            network=self._network() if self._network is not None else None,
            registry=self._registry() if self._registry is not None else None,
            limit_class=account.limit_class,
            gate=limits.gate(account) if limits is not None else None,
            on_unsent=self._receipt_recorder.unsent,
        )

    async def probe(self) -> None:
        """Find out whether the service can be reached again: free, and nothing is signed for it."""
        service, account = self._current_account.service, self._current_account.account
        if service is None or account is None:
            return
        if account.kind != "wallet":
            await self.read_limits()
            return

        with contextlib.suppress(ServiceError):  # a refusal is an answer, too
            await service.models.list(background=True, authenticated=False)

    async def read_limits(self) -> None:
        """Ask once for balance and limits; it is free, and a failure is no more than a missing number."""
        service = self._current_account.service
        if service is None:
            return

        account = self._current_account.account
        if account is not None and account.watch_only:
            return  # its owner would have to sign elsewhere
        begun = datetime.now(UTC)
        try:
            if account is not None and account.kind == "wallet":
                balance, diem = (await service.x402.balance(account.address, background=True)).balance_usd, None
            else:
                balances = (await service.account.rate_limits(background=True)).balances
                balance, diem = balances.usd, balances.diem
        except ServiceError as error:
            _log.info("The limits could not be read: %s", error)
            return
        if account is not None and balance is not None:
            self._receipt_recorder.record_balance(account, balance, begun, diem)


WAITS_S = (5.0, 10.0, 20.0, 40.0, 60.0)  # before each try; the last one again and again


class ReachWatch:
    """`probe` makes one free call that signs nothing; that it was answered is told by the caller itself."""

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        probe: Callable[[], Awaitable[None]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._current_account = current_account
        self._tasks = tasks
        self._probe = probe
        self._sleep = sleep
        current_account.reach_changed.connect(self._reach_changed)
        self._reach_changed()

    def _reach_changed(self) -> None:
        if self._is_cut_off():
            self._tasks.start_unless_running("reach", self._watch)

    def _is_cut_off(self) -> bool:
        return bool(self._current_account.reach) and not self._current_account.is_sandbox

    async def _watch(self) -> None:
        for wait in chain(WAITS_S, repeat(WAITS_S[-1])):
            await self._sleep(wait)
            if not self._is_cut_off():
                return
            await self._probe()
            if not self._is_cut_off():
                return
