"""Connects the window to the account in use: starts the Sandbox if it is that, opens its service, closes the old one.

The composition root gives it the ways in; it knows neither keyrings nor the Sandbox itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.caller import Caller
from app.core.ledger import Ledger

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.auth import Unlock
    from app.service.http.network import Network
    from app.service.key_limits import LimitsRegistry
    from app.service.service import Service
    from app.service.wallet_auth import WalletAuth

_log = logging.getLogger(__name__)

ReadKey = Callable[["Account"], Awaitable[str]]  # raises `ServiceError` when the place for secrets does not open
# Starts the Sandbox if need be and returns its base address; raises `OSError` or `ImportError` with a reason.
SandboxAddress = Callable[[], Awaitable[str]]
# An account and the address that it calls now. Raises `ServiceError` for an address that must not be signed for.
WalletAuthMaker = Callable[["Account", str], "WalletAuth"]


class AccountSwitch(QObject):
    """`use` is the only way in; the newest call wins. `problem` carries a sentence when an account cannot be used."""

    connected = Signal()
    problem = Signal(str)

    def __init__(
        self,
        caller: Caller,
        ledger: Ledger,
        read_key: ReadKey,
        sandbox_address: SandboxAddress,
        network: Callable[[], Network] | None = None,
        wallet_auth: WalletAuthMaker | None = None,
        registry: Callable[[], LimitsRegistry] | None = None,
        unlock: Unlock | None = None,
    ) -> None:
        """`network` gives what knows proxies and certificates, `registry` the limits of all keys: both the same each
        time, and first asked by `use`.

        `wallet_auth` makes the sign-in of an account whose kind is "wallet"; `unlock` asks the person to unlock a key.
        """
        super().__init__()
        self._caller = caller
        self._ledger = ledger
        ledger.ask_balance = self.read_limits
        self._read_key = read_key
        self._sandbox_address = sandbox_address
        self._network = network
        self._wallet_auth = wallet_auth
        self._registry = registry
        self._unlock = unlock
        self._turn = asyncio.Lock()
        self._wanted = 0

    async def use(self, account: Account | None) -> None:
        """Call as `account` from now on, or as nobody. Answers under way for the account before are cut off."""
        self._wanted += 1
        wanted = self._wanted
        async with self._turn:
            if wanted != self._wanted:
                return
            before = self._caller.service
            service = await self.open(account) if account is not None else None
            self._caller.use(account, service)
            if before is not None:
                await before.aclose()
            if service is None:
                return
            await self._ledger.refresh()
            self.connected.emit()
        await self.read_limits()

    @property
    def was_used(self) -> bool:
        """Whether an account was ever asked for."""
        return self._wanted > 0

    async def aclose(self) -> None:
        """Close the connections of the account in use."""
        self._wanted += 1
        async with self._turn:
            service = self._caller.service
            self._caller.use(self._caller.account, None)
            if service is not None:
                await service.aclose()

    async def open(self, account: Account) -> Service | None:
        """Return the service of an account, in use or not; whoever asks closes it. None after `problem` said why."""
        # httpx and pydantic take longer to import than a frame lasts: a thread shares the time in slices
        await asyncio.to_thread(importlib.import_module, "app.service.service")
        from app.service.auth import ApiKeyAuth
        from app.service.errors import ServiceError
        from app.service.service import open_service

        base_url = account.base_url
        if account.is_sandbox:
            try:
                base_url = await self._sandbox_address()
            except (OSError, ImportError) as error:
                _log.warning("The Sandbox did not start: %s", error)
                self.problem.emit(f"The Sandbox could not start: {error}.")
                return None
        try:
            auth: ApiKeyAuth | WalletAuth
            if account.kind == "wallet" and self._wallet_auth is not None:
                auth = await asyncio.to_thread(self._wallet_auth, account, base_url)
            else:
                auth = ApiKeyAuth(lambda: self._read_key(account), self._unlock)
            budget = self._ledger.budget
            return open_service(
                base_url,
                account.dialect,
                auth,
                self._ledger.recorder(account),
                on_budget=lambda state: self._caller.set_budget(state) if self._caller.account is account else None,
                on_reach=lambda code: self._caller.set_reach(code) if self._caller.account is account else None,
                network=self._network() if self._network is not None else None,
                registry=self._registry() if self._registry is not None else None,
                partner=account.partner,
                gate=budget.gate(account) if budget is not None else None,
            )
        except ServiceError as error:
            self.problem.emit(str(error))
            return None

    async def knock(self) -> None:
        """Find out whether the service can be reached again: free, and nothing is signed for it."""
        service, account = self._caller.service, self._caller.account
        if service is None or account is None:
            return
        if account.kind != "wallet":
            await self.read_limits()
            return
        from app.service.errors import ServiceError

        with contextlib.suppress(ServiceError):  # a refusal is an answer, too
            await service.models.list(background=True, authenticated=False)

    async def read_limits(self) -> None:
        """Ask once for balance and limits; it is free, and a failure is no more than a missing number."""
        service = self._caller.service
        if service is None:
            return
        from app.service.errors import ServiceError

        account = self._caller.account
        if account is not None and account.watch_only:
            return  # its owner would have to sign elsewhere
        begun = datetime.now(UTC)
        try:
            if account is not None and account.kind == "wallet":
                balance = (await service.x402.balance(account.address, background=True)).balance_usd
            else:
                balance = (await service.account.rate_limits(background=True)).balances.usd
        except ServiceError as error:
            _log.info("The limits could not be read: %s", error)
            return
        if account is not None and balance is not None:
            self._ledger.record_balance(account, balance, begun)
