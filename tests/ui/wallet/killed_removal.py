"""A program that removes a wallet, or gets it back, and is killed before or after one of its writes.

`python -m tests.ui.wallet.killed_removal`, then lines as `tests.ui.killing` sends them: the home folder, what is done,
and the write: "list:before", "list:after", "vault:before" or "vault:after". The list of accounts and the passphrase
file are the real ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.core.account_removal import AccountRemoval
from app.core.secret_storage import Secrets
from app.core.tasks import TaskScope
from app.credentials.accounts import SANDBOX_ADDRESS, Account, Accounts, new_account
from app.credentials.keyring_store import KeyringStore
from app.credentials.passphrase_store import PassphraseStore
from app.credentials.stores import SessionStore
from app.storage.atomic_files import StoredFile
from app.storage.settings import SettingsStore
from app.ui.wallet.session.wallet_keys import WalletKeys
from tests.kit.shell import CHEAP, FakeKeychain
from tests.kit.tasks import CheckedTasks
from tests.ui.killing import serve

KEY = "0x" + "35" * 32
PASSPHRASE = "four quiet herons wade"
ACTS = ("remove", "remove key", "restore", "delete", "delete due", "import again")
DELETES = ("delete", "delete due")


@dataclass
class Home:
    """One person's accounts and keys, on the disk."""

    book: Accounts
    vault: PassphraseStore
    removal: AccountRemoval
    keys: WalletKeys
    tasks: TaskScope

    @property
    def wallet(self) -> Account:
        """The one wallet, listed or removed."""
        listed = [each for each in self.book.list() if each.kind == "wallet"]
        removed = [each.account for each in self.book.removed()]
        (found,) = {each.id: each for each in (*removed, *listed)}.values()
        return found

    async def key(self) -> str | None:
        return await self.vault.read(self.wallet.id, "api_key")

    async def act(self, what: str) -> None:
        """Do it, once more where it was done halfway."""
        wallet_id = self.wallet.id
        if what == "remove":
            await self.removal.remove(wallet_id)
        elif what == "remove key":
            if self.wallet.has_private_key:
                await self.removal.remove_private_key(wallet_id)
        elif what == "restore":
            if self.book.removed_one(wallet_id) is not None:
                await self.removal.restore(wallet_id)
        elif what == "delete":
            await self.removal.delete_permanently(wallet_id)
        elif what == "delete due":
            await self.removal.delete_due()
        elif self.book.get(wallet_id) is None:
            sandbox = next(each for each in self.book.list() if each.kind == "sandbox")
            await self.keys.add_from_key("Pocket wallet", KEY, "evm", sandbox)


async def open_home(folder: Path, wrap: Callable[[str, StoredFile], None] = lambda _name, _file: None) -> Home:
    """`wrap` gets both files before anything is written."""
    accounts_file, vault_file = StoredFile(folder / "accounts.json"), StoredFile(folder / "secrets.vault")
    vault, keychain, tasks = PassphraseStore(vault_file, derivation=CHEAP), FakeKeychain(missing=True), CheckedTasks()
    settings = SettingsStore(folder / "settings.json")
    settings.remember(secret_store="passphrase")
    secrets = Secrets(lambda: (KeyringStore(find=keychain.find), SessionStore(), vault), settings, tasks)
    if (folder / "secrets.vault").exists():
        await vault.unlock(PASSPHRASE)
    else:
        await vault.create(PASSPHRASE)
    await secrets.has_place()
    wrap("list", accounts_file)
    wrap("vault", vault_file)
    book = Accounts(accounts_file.load, accounts_file.save)
    removal = AccountRemoval(book, secrets, lambda: datetime.now(UTC))

    async def elsewhere(_name: str, _text: str) -> str | None:
        return None

    return Home(book, vault, removal, WalletKeys(book, lambda: secrets, settings, tasks, elsewhere), tasks)


async def prepare(folder: Path, what: str) -> None:
    """A home where `what` can be done."""
    home = await open_home(folder)
    home.book.add(new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox"))
    sandbox = home.book.list()[0]
    account = await home.keys.add_from_key("Pocket wallet", KEY, "evm", sandbox)
    if what not in ("remove", "remove key"):
        home.book.remove(account.id, at=datetime.now(UTC) - timedelta(days=31 if what == "delete due" else 1))
    if what == "import again":  # it was kept for one session only
        await home.vault.delete(account.id, "api_key")
    home.keys.close()
    await home.tasks.aclose()


def say_and_wait(words: str) -> None:
    print(words, flush=True)
    time.sleep(60)


def live(folder: str, what: str, point: str) -> None:
    name, _, when = point.partition(":")

    def wrap(which: str, file: StoredFile) -> None:
        save = file.save

        def saved(data: bytes) -> None:
            if when == "before":
                say_and_wait(point)
            save(data)
            say_and_wait(point)

        if which == name:
            file.save = saved  # type: ignore[method-assign]  # the end of this program

    async def main() -> None:
        home = await open_home(Path(folder), wrap)
        await home.act(what)
        print("it was never written", flush=True)

    asyncio.run(main())


if __name__ == "__main__":
    serve(live)
