"""Wallets and their keys: making, importing, exporting, locking; and who signs for an account.

A key is in the place for secrets, and in memory for one signature. It is text only on its way to that place, to the
screen that shows it once, and back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.tasks import to_the_end
from app.credentials.accounts import SANDBOX_ADDRESS, AccountRefused, clean_address, free_name, new_account
from app.credentials.stores import SecretStoreError, StoreLocked
from app.files import open_regular
from app.service.dialect import DIALECTS, guess_dialect
from app.service.errors import AuthenticationFailed
from app.service.wallet_auth import WalletAuth
from app.storage.atomic_files import write_atomically
from app.storage.errors import StorageError
from app.storage.wallet.signatures import Signature, Signatures
from app.translation import tr
from app.ui.wallet.state import SignedRow
from app.wallet.addresses import read_address
from app.wallet.errors import KeyUnavailable, WalletError
from app.wallet.external import ExternalSigner
from app.wallet.keys import (
    MAX_KEY_FILE_BYTES,
    encrypt_key_file,
    key_from_phrase,
    new_phrase,
    open_key_file,
    read_private_key,
)
from app.wallet.sign_in import SignInHeaderMaker, site_of
from app.wallet.signer import Ed25519Signer, EthAccountSigner, address_of, forget_keys, warm_up

if TYPE_CHECKING:
    from pathlib import Path

    from app.core.tasks import TaskScope
    from app.credentials.accounts import Account, Accounts
    from app.service.auth import Unlock
    from app.storage.database import Database
    from app.storage.settings import SettingsStore
    from app.wallet.addresses import Chain
    from app.wallet.sign_in_message import SignInMessage
    from app.wallet.signer import PrivateKey
    from app.wallet.transactions import Transaction


class SecretPlace(Protocol):
    """Where keys are. All of it raises `SecretStoreError`."""

    async def read(self, account_id: str) -> str | None: ...

    async def write(self, account_id: str, secret: str) -> None: ...

    async def delete(self, account_id: str) -> None: ...


AskElsewhere = Callable[[str, str], Awaitable[str | None]]
"""Shows a wallet's owner its name and the text to sign; returns the signature that was made elsewhere, or None."""


class WalletKeys(QObject):
    """`changed`: a wallet came, went, was locked or unlocked. `signed`: one more document was signed."""

    changed = Signal()
    signed = Signal()

    def __init__(
        self,
        accounts: Accounts,
        place: Callable[[], SecretPlace],
        settings: SettingsStore,
        tasks: TaskScope,
        ask_elsewhere: AskElsewhere,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        unlock: Unlock | None = None,
        choose_place: Callable[[], Awaitable[bool]] | None = None,
        is_session_only: Callable[[], bool] = lambda: False,
    ) -> None:
        """`unlock` asks the person to unlock keys for a call that they wait for.

        `choose_place` asks where keys are kept, if nobody has answered yet, and returns whether there is a place.
        `is_session_only` tells whether keys are lost when the program ends.
        """
        super().__init__()
        self.is_session_only = is_session_only
        self._missing: set[str] = set()  # accounts whose key was looked for and is not there
        self._choose_place = choose_place
        self._unlock = unlock
        self._accounts = accounts
        self._place = place
        self._settings = settings
        self._tasks = tasks
        self._ask_elsewhere = ask_elsewhere
        self._now = now
        self._signatures: Signatures | None = None
        self._kept_back: list[tuple[Account, str, str, str]] = []  # signed before the database was open
        self._locked = False
        self._was_read = False  # a key since the last lock
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.timeout.connect(self.lock)
        self._wind()

    async def start(self, database: Database) -> None:
        """Take the opened database; what was signed meanwhile is written down now."""
        self._signatures = Signatures(database)
        waiting, self._kept_back = self._kept_back, []
        for account, kind, host, document in waiting:
            await self._write_down(account, kind, host, document)

    def account(self, account_id: str) -> Account | None:
        """Return an account by its id, also a removed one: its key can still be exported."""
        removed = self._accounts.removed_one(account_id)
        return removed.account if removed is not None else self._accounts.get(account_id)

    def site_at(self, address: str) -> Account:
        """Return what a wallet needs to know of a service that no account is for; it is not kept.

        Raises `AccountRefused` with what is wrong with the address.
        """
        clean = clean_address(address)
        return new_account("Wallet", clean, dialect=guess_dialect(clean))  # type: ignore[arg-type]  # checked there

    def address_problem(self, address: str) -> str:
        """What is wrong with the address of a service, "" when nothing is."""
        try:
            clean_address(address)
        except AccountRefused as error:
            return error.sentence
        return ""

    # Locking

    @property
    def is_locked(self) -> bool:
        return self._locked

    def lock(self) -> None:
        """Sign nothing until the person unlocks, and overwrite what earlier signatures left in memory."""
        self._clock.stop()
        if not self._locked:
            self._locked = True
            self.changed.emit()
            if self._was_read:
                self._was_read = False
                self._tasks.start_unless_running("wallet forget", self._forget)

    def close(self) -> None:
        """The program ends: there is nothing left that could lock itself."""
        self._clock.stop()

    async def _forget(self) -> None:
        await forget_keys()

    def unlock(self) -> None:
        self._locked = False
        self._wind()
        self.changed.emit()

    @property
    def lock_minutes(self) -> str:
        """After how many minutes without a signature wallets lock, "" for never."""
        return self._settings.value.wallet_lock_minutes

    def set_lock_minutes(self, minutes: str) -> None:
        self._settings.remember(wallet_lock_minutes=minutes)
        self._tasks.replace("wallet lock", self._save)
        self._wind()

    def _wind(self) -> None:
        minutes = self.lock_minutes
        self._clock.stop()
        if minutes.isdecimal() and int(minutes) > 0 and not self._locked:
            self._clock.start(min(int(minutes), 24 * 60) * 60_000)

    async def _save(self) -> None:
        await asyncio.to_thread(self._settings.save)

    def warm_up(self) -> None:
        """Load in a thread what the first signature needs, where there is a wallet that could sign."""
        if any(account.kind == "wallet" for account in self._accounts.list()):
            self._tasks.start_unless_running("wallet warm-up", self._warm_up)

    async def _warm_up(self) -> None:
        await warm_up()

    # New wallets; each raises `WalletError`, `SecretStoreError` or `AccountRefused`, with a sentence

    async def attempt(self, work: Awaitable[object]) -> str:
        """Do `work`; return why it could not be done, as a sentence, "" when it was."""
        try:
            await work
        except (WalletError, SecretStoreError, AccountRefused, StorageError) as error:
            return error.sentence
        except OSError as error:
            return tr(
                "The file cannot be used: {strerror}.", strerror=error.strerror or tr("the disk reported an error")
            )
        return ""

    async def has_place(self) -> bool:
        """Whether a key can be kept; asks where, on a computer that has no place for it yet."""
        return self._choose_place is None or await self._choose_place()

    async def new_phrase(self) -> str:
        """A recovery phrase that nobody has seen yet. It is kept nowhere until `add_from_phrase`."""
        return await new_phrase()

    async def add_from_phrase(self, name: str, phrase: str, chain: Chain, site: Account, index: int = 0) -> Account:
        """Keep the key that a phrase leads to. The phrase itself is not kept."""
        return await self._add(name, await key_from_phrase(phrase, chain=chain, index=index), site)

    async def add_from_key(self, name: str, text: str, chain: Chain, site: Account) -> Account:
        """Keep a private key that was pasted."""
        return await self._add(name, await asyncio.to_thread(read_private_key, text, chain), site)

    async def add_from_text(self, name: str, text: str, chain: Chain, site: Account) -> Account:
        """Keep the key that was pasted, or the one that a pasted recovery phrase leads to."""
        return await self._add(name, await _key_of(text, chain), site)

    async def add_from_file(self, name: str, path: Path, password: str, site: Account) -> Account:
        """Keep the key of an encrypted key file. Raises `OSError` as well."""

        def read() -> bytes:
            with open_regular(path) as file:
                return file.read(MAX_KEY_FILE_BYTES + 1)

        return await self._add(name, await open_key_file(await asyncio.to_thread(read), password), site)

    async def give_key(self, account_id: str, text: str) -> None:
        """Keep the key of a wallet whose key is not here any longer; `text` is the key or its recovery phrase.

        Raises `AccountRefused` for the key of another wallet.
        """
        account = self._accounts.get(account_id)
        if account is None:
            raise AccountRefused("id", tr("This wallet no longer exists."))
        key = await _key_of(text, "evm" if account.address.startswith("0x") else "solana")
        with key:
            if await address_of(key) != account.address:
                raise AccountRefused("secret", tr("This is the key of another wallet."))
            await to_the_end(self._give_key(account, key.to_text()))

    def is_key_missing(self, account_id: str) -> bool:
        """True once the key of an account was looked for and is not on this computer."""
        return account_id in self._missing

    def free_name(self, wanted: str) -> str:
        """Return `wanted`, or a name like it that no account has."""
        return free_name(wanted, (account.name for account in self._accounts.list()))

    def name_problem(self, name: str) -> str:
        """Why no account can have this name, "" when one can."""
        known = {account.name.casefold(): account.name for account in self._accounts.list()}
        twin = known.get(" ".join(name.split()).casefold())
        if not name.strip():
            return tr("Give the account a name.")
        return tr("Another account is already called {name}.", name=twin) if twin is not None else ""

    async def add_watched(self, name: str, address: str, site: Account) -> Account:
        """Watch a wallet whose key is elsewhere."""
        _, clean = await asyncio.to_thread(read_address, address)
        return await self._enter(name, clean, site, watch_only=True, key="")

    async def _add(self, name: str, key: PrivateKey, site: Account) -> Account:
        with key:
            address = await address_of(key)
            return await self._enter(name, address, site, watch_only=False, key=key.to_text())

    async def _enter(self, name: str, address: str, site: Account, *, watch_only: bool, key: str) -> Account:
        """The key first: an account without its key would be of no use. An account that is refused keeps no key.

        A wallet that is known already, watch-only or removed, gets its key back under its own id.
        """
        address_used = SANDBOX_ADDRESS if site.is_sandbox else site.base_url
        known = [*self._accounts.list(), *(each.account for each in self._accounts.removed())]
        twin = next((each for each in known if each.address == address and each.base_url == address_used), None)
        other_side = (each for each in known if each.address == address and each.is_sandbox != site.is_sandbox)
        if key and (other := next(other_side, None)) is not None:
            raise AccountRefused("address", _both_sides(other))
        listed = self._accounts.get(twin.id) if twin is not None else None
        if listed is not None and (not key or (listed.has_private_key and await self._has_key(listed))):
            raise AccountRefused("address", tr("This wallet is already in the list as {name}.", name=listed.name))
        if twin is not None and key:
            return await to_the_end(self._give_key(listed or twin._replace(name=name), key))
        account = new_account(
            name,
            address_used,
            dialect=site.dialect,
            kind="wallet",
            address=address,
            watch_only=watch_only,
        )
        return await to_the_end(self._keep(account, key))

    async def _keep(self, account: Account, key: str) -> Account:
        """Write a key and its account, "" for none."""
        if key:
            await self._place().write(account.id, key)
        try:
            await asyncio.to_thread(self._accounts.add, account)
        except Exception:
            if key:
                await self._place().delete(account.id)
            raise
        self.unlock()
        return account

    async def _give_key(self, account: Account, key: str) -> Account:
        """Write the key of a wallet that is known: it was kept for one session only, elsewhere, or removed."""
        await self._place().write(account.id, key)

        def change() -> Account:
            if self._accounts.removed_one(account.id) is not None:
                self._accounts.restore_removed(account.id)
            others = (each.name for each in self._accounts.list() if each.id != account.id)
            return self._accounts.update(account.id, name=free_name(account.name, others), watch_only=False)

        kept = await asyncio.to_thread(change)
        self._missing.discard(account.id)
        self.unlock()
        return kept

    async def _has_key(self, account: Account) -> bool:
        """Whether the key of a wallet is where keys are. Raises `SecretStoreError` where nobody can look."""
        return bool(await self._place().read(account.id))

    async def export(self, account: Account, password: str, path: Path) -> None:
        """Write the key to `path` as an encrypted key file. Raises `WalletError`, `SecretStoreError`, `OSError`."""
        with await self._read_key(account) as key:
            data = await encrypt_key_file(key, password)
        await asyncio.to_thread(write_atomically, path, data)

    # Signing

    def signer(self, account: Account) -> EthAccountSigner | Ed25519Signer | ExternalSigner:
        """Who signs for an account. May hash: call it in a thread. Raises `AddressRefused`."""
        if account.watch_only:
            return ExternalSigner(account.address, lambda text: self._ask_elsewhere(account.name, text))
        kind = EthAccountSigner if account.address.startswith("0x") else Ed25519Signer
        return kind(account.address, lambda: self._read_key(account))

    def auth(self, account: Account, base_url: str) -> WalletAuth:
        """The sign-in of a wallet account at the address that it calls now. May hash: call it in a thread.

        Raises `AuthenticationFailed` for an address that must not be signed for.
        """
        names = DIALECTS[account.dialect]
        try:
            site = site_of(base_url, domain=names.siwx_domain, uri=names.siwx_uri, statement=names.siwx_statement)
            signer = self.signer(account)
        except WalletError as error:
            raise AuthenticationFailed(error.sentence, surely_not_sent=True) from None

        def note(message: SignInMessage) -> None:
            self.note(account, "sign-in", message.domain, message.text)

        headers = SignInHeaderMaker(signer, site, on_signed=note)
        return WalletAuth(
            base_url,
            names.siwx_header,
            headers,
            wallet=account.address,
            refused_by=(WalletError,),
            unlock=self._unlock,
        )

    def transaction_wallets(self, *, in_sandbox: bool) -> tuple[Account, ...]:
        """The wallets that can sign a transaction here: what is signed for play money would be good on a real chain."""
        return tuple(
            each
            for each in self._accounts.list()
            if each.kind == "wallet"
            and each.address.startswith("0x")
            and not each.watch_only
            and each.is_sandbox == in_sandbox
        )

    async def sign_transaction(self, account_id: str, transaction: Transaction, network: str) -> str:
        """Sign one, and write down what was signed and for which network. Raises `WalletError`."""
        account = self._accounts.get(account_id)
        if account is None:
            raise KeyUnavailable("missing", tr("This wallet no longer exists."))
        signer = EthAccountSigner(account.address, lambda: self._read_key(account))
        raw = await signer.sign_transaction(transaction)
        self.note(account, "transaction", network, transaction.document)
        return raw

    def note(self, account: Account, kind: str, host: str, document: str) -> None:
        """Write down what was just signed, and begin the time to the lock anew."""
        self._wind()
        if self._signatures is None:
            self._kept_back.append((account, kind, host, document))
        else:
            self._tasks.replace(f"signed {id(document)}", self._write_down, account, kind, host, document)

    async def signed_lately(self) -> tuple[SignedRow, ...]:
        """What was signed, newest first."""
        if self._signatures is None:
            return ()
        rows = await self._signatures.recent()
        names = {account.id: account.name for account in self._accounts.list()}
        return tuple(
            SignedRow(each.at, names.get(each.account_id, tr("a removed wallet")), *_texts(each)) for each in rows
        )

    async def _write_down(self, account: Account, kind: str, host: str, document: str) -> None:
        assert self._signatures is not None
        await self._signatures.add(Signature(self._now(), account.id, account.address, kind, host, document))
        self.signed.emit()

    async def _read_key(self, account: Account) -> PrivateKey:
        """Raises `KeyUnavailable`, also for what the place for secrets says: signing knows no other words."""
        if self._locked:
            raise KeyUnavailable("locked", tr("Your wallets are locked. Unlock them in Wallet."))
        if account.watch_only:
            raise KeyUnavailable("elsewhere", tr("The key for this wallet is elsewhere."))
        self._was_read = True
        problem, code = "", "missing"
        text: str | None = None
        try:
            text = await self._place().read(account.id)
        except SecretStoreError as error:
            problem, code = error.sentence, "locked" if isinstance(error, StoreLocked) else code
        if (not text and not problem) != (account.id in self._missing):
            self._missing ^= {account.id}
            self.changed.emit()
        if not text:
            raise KeyUnavailable(code, problem or tr("The key for {name} is not on this computer.", name=account.name))
        return read_private_key(text, "evm" if account.address.startswith("0x") else "solana")


def _both_sides(other: Account) -> str:
    """Why a key may not be for play money and for real money: what it signs is good on both sides."""
    if other.is_sandbox:
        return tr(
            "The Sandbox has this key as {name}, and what was signed there is valid for real money too. "
            "Create a new wallet instead.",
            name=other.name,
        )
    return tr(
        "This key is for real money, as {name}. What it signs in the Sandbox is valid there too. "
        "Create a new wallet instead.",
        name=other.name,
    )


async def _key_of(text: str, chain: Chain) -> PrivateKey:
    """Read a private key or a recovery phrase. Raises `KeyRefused`."""
    if len(text.split()) > 1 and not text.lstrip().startswith("["):
        return await key_from_phrase(text, chain=chain)
    return await asyncio.to_thread(read_private_key, text, chain)


def _texts(signature: object) -> tuple[str, str, str, str]:
    assert isinstance(signature, Signature)
    return signature.address, signature.kind, signature.host, signature.document
