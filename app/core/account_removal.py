"""Taking accounts off the list, and the one place where the secret of a removed account is deleted.

Removing moves the account to those that were removed; its secret stays where it is. A wallet's private key is deleted
when the person says so there, or 30 days later; any other secret as soon as the removal can no longer be undone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.credentials.stores import SecretStoreError
from app.storage.errors import StorageError

if TYPE_CHECKING:
    from app.core.secret_storage import Secrets
    from app.credentials.accounts import Account, Accounts

AT_QUIT_S = 3.0


@dataclass(frozen=True, slots=True)
class WalletFacts:
    """What a person should know before a private key is deleted. Amounts in USD.

    `balance_usd` is the last known balance, None if it was never read. `open_usd` is the amount of a top-up that was
    signed and is not settled, None if there is none.
    """

    balance_usd: Decimal | None = None
    open_usd: Decimal | None = None


class AccountRemoval:
    """Every change waits for the disk in a thread, one at a time. All of it raises `StorageError`."""

    def __init__(self, accounts: Accounts, secrets: Secrets, now: Callable[[], datetime]) -> None:
        self._accounts = accounts
        self._secrets = secrets
        self._now = now
        self._writing = asyncio.Lock()

    async def remove(self, account_id: str, balance_usd: Decimal | None = None) -> None:
        """Take an account off the list. `balance_usd` is what it last had."""
        await self.write(lambda: self._accounts.remove(account_id, balance_usd=balance_usd, at=self._now()))

    async def remove_private_key(self, account_id: str, balance_usd: Decimal | None = None) -> None:
        """Make a wallet watch-only."""
        await self.write(lambda: self._accounts.remove_key(account_id, balance_usd=balance_usd, at=self._now()))

    async def restore(self, account_id: str) -> Account:
        """Put an account back on the list with its key. Raises `KeyError` for one that was not removed."""
        restored: list[Account] = []
        await self.write(lambda: restored.append(self._accounts.restore_removed(account_id)))
        return restored[0]

    async def delete_permanently(self, account_id: str, *, asks: bool = True) -> None:
        """Delete the secret of a removed account, then forget the account. Raises `SecretStoreError`: nothing changed.

        `asks`: the person is there to unlock the place for keys.
        """
        if not self._accounts.is_secret_needed(account_id):
            await self._secrets.delete(account_id, asks=asks)
        await self.write(lambda: self._accounts.forget(account_id))

    async def delete_due(self, undoable: Iterable[str] = ()) -> None:
        """Delete what need not be kept any longer, but for the accounts whose removal can still be undone.

        Asks nobody: what a locked place or a full disk refuses is tried again next time.
        """
        kept = frozenset(undoable)
        for removed in self._accounts.removed():
            account_id = removed.account.id
            if account_id not in kept and self._secrets.state.is_ready:
                with contextlib.suppress(SecretStoreError, StorageError):
                    if removed.kept_until <= self._now() or await self._is_lost(account_id):
                        await self.delete_permanently(account_id, asks=False)

    async def _is_lost(self, account_id: str) -> bool:
        """Whether a secret that was in memory only is gone since the last quit: there is nothing left to restore."""
        return self._secrets.state.kind == "session" and await self._secrets.read(account_id) is None

    async def delete_all(self) -> None:
        """Delete the secret of every account, also of those that were removed. Raises `SecretStoreError`."""
        ids = [account.id for account in self._accounts.list() if account.kind != "sandbox"]
        for account_id in dict.fromkeys([*ids, *(each.account.id for each in self._accounts.removed())]):
            await self._secrets.delete(account_id)

    async def end(self) -> None:
        """The program quits: delete what is due, if that takes no longer than a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AT_QUIT_S):
                await self.delete_due()

    async def write(self, change: Callable[[], object]) -> None:
        """Change the list off the UI thread, one change at a time."""
        async with self._writing:
            await asyncio.to_thread(change)
