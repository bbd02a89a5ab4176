"""Accounts: who we call as and where. No secret is in here, and no network is needed. Standard library only.

An account is written down as one JSON object; what its key is, only the vault knows. The reader takes anything:
an entry it cannot use is kept in the file as it came, but not shown.

An account that is removed moves to a second list in the same file, with its id. Its secret stays where it is, under
that id, until `forget`: removing an account never needs the keyring and never leaves a secret without an owner.
"""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple, cast, get_args
from urllib.parse import urlsplit

from app.translation import tr

Dialect = Literal["service", "venice"]
Kind = Literal["sandbox", "api_key", "wallet"]
DIALECTS: tuple[str, ...] = get_args(Dialect)
KINDS: tuple[str, ...] = get_args(Kind)
LimitClass = Literal["paid", "partner", "staff"]
LIMIT_CLASSES: tuple[LimitClass, ...] = get_args(LimitClass)

MAX_NAME_CHARS = 80
MAX_ADDRESS_CHARS = 2000
HINT_CHARS = 4
MAX_WALLET_CHARS = 64
WALLETS_KEPT_FOR = timedelta(days=30)  # the private key of a wallet that was removed
SANDBOX_ADDRESS = "http://127.0.0.1"  # what is written down; the running Sandbox has its own port every time


class AccountRefused(ValueError):
    """An account that cannot be kept. `field` is the input to mark, `sentence` goes under it."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence


class Account(NamedTuple):
    """Where calls go and how they sign in. Its secret is not here: the keyring or the vault keeps that."""

    id: str
    name: str
    base_url: str  # no slash at the end; paths such as /models are added to it
    dialect: Dialect = "service"
    kind: Kind = "api_key"
    secret_hint: str = ""  # the last four characters of the key, "" for none
    created_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    limit_class: LimitClass = "paid"  # how often the service lets it call
    address: str = ""  # of the wallet that signs in, for kind "wallet": checksummed, or base58
    watch_only: bool = False  # the wallet's key is elsewhere: nothing is signed on this computer

    @property
    def is_sandbox(self) -> bool:
        """True when nothing can cost real money: the Sandbox's own account, or a wallet that practises there."""
        return self.kind == "sandbox" or (self.kind == "wallet" and self.base_url == SANDBOX_ADDRESS)

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def has_private_key(self) -> bool:
        """True when the secret under this account's id is a wallet's private key: with it, money is lost.

        Every question before a removal depends on this and on nothing else.
        """
        return self.kind == "wallet" and not self.watch_only


class RemovedAccount(NamedTuple):
    """An account that was removed. Its secret is still under its id."""

    account: Account
    removed_at: datetime
    balance_usd: Decimal | None = None  # the last known balance when it was removed, None if it was never read

    @property
    def kept_until(self) -> datetime:
        """When the secret may be deleted: a private key 30 days later, anything else at once."""
        return self.removed_at + (WALLETS_KEPT_FOR if self.account.has_private_key else timedelta())


def new_account(
    name: str,
    base_url: str,
    *,
    dialect: Dialect = "service",
    kind: Kind = "api_key",
    secret_hint: str = "",
    address: str = "",
    watch_only: bool = False,
) -> Account:
    """Return an account with a fresh id. Raises `AccountRefused` with the field and a sentence."""
    return checked(
        Account(
            os.urandom(8).hex(),
            name,
            base_url,
            dialect,
            kind,
            secret_hint,
            datetime.now(UTC),
            address=address,
            watch_only=watch_only,
        )
    )


def hint_of(secret: str) -> str:
    """Return the last four characters, or "" for a secret so short that four would give much of it away."""
    return secret[-HINT_CHARS:] if len(secret) >= 4 * HINT_CHARS else ""


def checked(account: Account) -> Account:
    """Return `account` in its clean form. Raises `AccountRefused`."""
    name = " ".join(account.name.split())
    if not name:
        raise AccountRefused("name", tr("Give the account a name."))
    if len(name) > MAX_NAME_CHARS:
        raise AccountRefused(
            "name",
            tr(
                "Up to {max_name_chars} characters. This name has {count}.",
                max_name_chars=MAX_NAME_CHARS,
                count=len(name),
            ),
        )
    if not name.isprintable():
        raise AccountRefused("name", tr("The name contains a character that cannot be displayed."))
    if account.dialect not in DIALECTS:
        raise AccountRefused("dialect", tr("Choose an API style."))
    if account.kind not in KINDS:
        raise AccountRefused("kind", tr("Choose how this account signs in."))
    if len(account.address) > MAX_WALLET_CHARS:
        raise AccountRefused("address", tr("This is too long for a wallet address."))
    return account._replace(
        name=name,
        base_url=clean_address(account.base_url),
        secret_hint=account.secret_hint[-HINT_CHARS:],
    )


def clean_address(text: str) -> str:
    """Return a base address with its scheme, without the slash at its end. Raises `AccountRefused` with what to change.

    Only https:// leaves this computer: a key sent over http:// can be read by everyone on the way.
    """

    def refuse(sentence: str) -> AccountRefused:
        return AccountRefused("base_url", sentence)

    text = text.strip()
    if not text:
        raise refuse(tr("Enter the service’s address, for example https://api.example.com/v1."))
    if len(text) > MAX_ADDRESS_CHARS:
        raise refuse(
            tr(
                "Up to {max_address_chars} characters. This address has {count}.",
                max_address_chars=MAX_ADDRESS_CHARS,
                count=len(text),
            )
        )
    if any(not char.isprintable() or char.isspace() or char == "\\" for char in text):
        raise refuse(tr("The address contains a space or another character that is not allowed."))
    if "://" not in text and not text.lower().startswith(("http:", "https:")):
        name = text.partition("/")[0].partition(":")[0].lower()
        text = f"{'http' if is_this_computer(name) else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").rstrip(".").lower()
        port = parts.port
        if not host.isascii():  # shown and kept as it is called: letters of other scripts look like Latin ones
            import idna  # loads tables

            host = idna.encode(host, uts46=True).decode("ascii")
        elif host and any(not 0 < len(label) < 64 for label in host.split(".")):
            raise ValueError(host)
    except ValueError:  # UnicodeError is one
        raise refuse(tr("This is not an address. It looks like https://api.example.com/v1.")) from None
    if parts.scheme.lower() not in ("https", "http"):
        raise refuse(tr("The address must begin with https://."))
    if not host:
        raise refuse(tr("The address has no host name. It looks like https://api.example.com/v1."))
    if parts.username is not None or parts.password is not None:
        raise refuse(tr("Leave the user name and password out of the address. The key has its own field."))
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        raise refuse(tr("The address must end before any ? or #."))
    scheme = parts.scheme.lower()
    if scheme == "http" and not is_this_computer(host):
        raise refuse(tr("Use https:// here. With http://, others on the network could read your key."))
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{f':{port}' if port is not None else ''}{parts.path.rstrip('/')}"


def is_this_computer(host: str) -> bool:
    """True for localhost and the loopback addresses."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def account_from(body: object) -> Account | None:
    """Return the account that one entry states, None when it cannot be used. Never raises."""
    if not isinstance(body, Mapping):
        return None
    texts = {key: body.get(key) for key in ("id", "name", "base_url")}
    if not all(isinstance(text, str) and text for text in texts.values()):
        return None
    dialect, kind, hint = body.get("dialect", "service"), body.get("kind", "api_key"), body.get("secret_hint", "")
    if dialect not in DIALECTS or kind not in KINDS:
        return None
    address = body.get("address", "")
    try:
        return checked(
            Account(
                **cast(dict[str, str], texts),
                dialect=dialect,
                kind=kind,
                secret_hint=hint if isinstance(hint, str) else "",
                created_at=_when(body.get("created_at")),
                limit_class=_limit_class(body),
                address=address if isinstance(address, str) else "",
                watch_only=body.get("watch_only") is True,
            )
        )
    except AccountRefused:
        return None


def _limit_class(body: Mapping[str, Any]) -> LimitClass:
    told = body.get("limit_class", "partner" if body.get("partner") is True else "paid")  # as version 0.1 wrote it
    return next((each for each in LIMIT_CLASSES if each == told), "paid")


def account_to(account: Account) -> dict[str, object]:
    return {
        "id": account.id,
        "name": account.name,
        "base_url": account.base_url,
        "dialect": account.dialect,
        "kind": account.kind,
        "secret_hint": account.secret_hint,
        "created_at": account.created_at.isoformat(),
        **({"limit_class": account.limit_class} if account.limit_class != "paid" else {}),
        **({"address": account.address} if account.address else {}),
        **({"watch_only": True} if account.watch_only else {}),
    }


def removed_from(body: object) -> RemovedAccount | None:
    """Return the removed account that one entry states, None when it cannot be used. Never raises."""
    account = account_from(body)
    if account is None or not isinstance(body, Mapping):
        return None
    balance = body.get("balance_usd")
    try:
        amount = Decimal(balance) if isinstance(balance, str) else None
    except InvalidOperation:
        amount = None
    usable = amount is not None and amount.is_finite()
    return RemovedAccount(account, _when(body.get("removed_at")), amount if usable else None)


def removed_to(removed: RemovedAccount) -> dict[str, object]:
    return {
        **account_to(removed.account),
        "removed_at": removed.removed_at.isoformat(),
        **({"balance_usd": str(removed.balance_usd)} if removed.balance_usd is not None else {}),
    }


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, or with the first number after it that makes it unlike every name in `taken`."""
    known = {name.casefold() for name in taken}
    names = (wanted, *(f"{wanted[: MAX_NAME_CHARS - 6]} {number}" for number in range(2, len(known) + 3)))
    return next(name for name in names if name.casefold() not in known)


def _when(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    return datetime(1970, 1, 1, tzinfo=UTC)


class Accounts:
    """The list of accounts and which one is in use. Every change is saved before it holds, but for `include`.

    Safe to use from several threads; all that saves waits for the disk, so it is not for the window's thread.

    `load` returns the file's bytes or None, `save` writes them whole, `set_aside` renames a file that cannot be
    understood and returns its new name; what they raise passes through. `note` is a sentence when that happened.
    """

    def __init__(
        self,
        load: Callable[[], bytes | None],
        save: Callable[[bytes], None],
        set_aside: Callable[[], str] | None = None,
    ) -> None:
        self._save = save
        self._writing = threading.Lock()
        self.note = ""
        self._accounts: dict[str, Account] = {}
        self._removed: dict[str, RemovedAccount] = {}
        self._kept: list[Any] = []  # entries we cannot use: a newer version's, or somebody's typing error
        self._kept_removed: list[Any] = []
        self._extra: dict[str, Any] = {}
        self._active = ""
        data = load()
        if data is not None:
            self._read(data, set_aside)

    def list(self) -> tuple[Account, ...]:
        """Every account in the order of the file."""
        return tuple(self._accounts.values())

    def get(self, account_id: str) -> Account | None:
        return self._accounts.get(account_id)

    def removed(self) -> tuple[RemovedAccount, ...]:
        """Every account that was removed and not yet forgotten, the newest first."""
        return tuple(sorted(self._removed.values(), key=lambda each: each.removed_at, reverse=True))

    def removed_one(self, account_id: str) -> RemovedAccount | None:
        return self._removed.get(account_id)

    @property
    def active_id(self) -> str:
        """The id of the account in use, "" for none."""
        return self._active

    @property
    def active(self) -> Account | None:
        return self._accounts.get(self._active)

    def add(self, account: Account) -> Account:
        """Keep a new account; the first one becomes the active one. Raises `AccountRefused`."""
        account = checked(account)
        if not account.id or account.id in self._accounts:
            raise AccountRefused("id", tr("This account is already in the list."))
        self._refuse_twin(account)
        self._write(lambda known: {**known, account.id: account})
        return account

    def include(self, account: Account) -> None:
        """Take an account into the list at once. It is in the file after the next change, or `write`."""
        self._accounts = {**self._accounts, account.id: account}
        self._active = self._active or account.id

    def write(self) -> None:
        """Save the list as it is."""
        self._write(lambda known: known)

    def update(self, account_id: str, **changes: Any) -> Account:
        """Change fields of one account. Raises `AccountRefused`, `KeyError` for an unknown id."""
        account = checked(self._accounts[account_id]._replace(**changes, id=account_id))
        self._refuse_twin(account)
        self._write(lambda known: {**known, account_id: account})
        return account

    def remove(self, account_id: str, *, balance_usd: Decimal | None = None, at: datetime | None = None) -> None:
        """Move an account to those that were removed; its secret stays. Unknown ids are no error."""
        account = self._accounts.get(account_id)
        if account is None:
            return
        removed = self._removed_now(account, balance_usd, at)
        self._write(lambda known: {key: each for key, each in known.items() if key != account_id}, removed)

    def remove_key(self, account_id: str, *, balance_usd: Decimal | None = None, at: datetime | None = None) -> None:
        """Make a wallet watch-only; it is also among the removed ones, under the same id, with its key.

        Raises `KeyError` for an unknown id, `ValueError` for an account without a private key.
        """
        account = self._accounts[account_id]
        if not account.has_private_key:
            raise ValueError("only a wallet that has its key here can lose it")
        removed = self._removed_now(account, balance_usd, at)
        self._write(lambda known: {**known, account_id: account._replace(watch_only=True)}, removed)

    def restore_removed(self, account_id: str) -> Account:
        """Put an account back on the list, under a free name. Raises `KeyError` for one that was not removed."""
        account = self._removed[account_id].account
        listed = self._accounts.get(account_id)
        if listed is not None:  # the same wallet, watch-only
            account = listed._replace(watch_only=account.watch_only)
        else:
            account = account._replace(name=free_name(account.name, (each.name for each in self._accounts.values())))
        self._write(lambda known: {**known, account_id: account}, lambda gone: _without(gone, account_id))
        return account

    def forget(self, account_id: str) -> None:
        """Take an account off the removed ones. Delete its secret first: afterward nothing knows its id."""
        if account_id in self._removed:
            self._write(lambda known: known, lambda gone: _without(gone, account_id))

    def is_secret_needed(self, account_id: str) -> bool:
        """True while an account on the list uses the secret under this id."""
        account = self._accounts.get(account_id)
        return account is not None and (account.kind != "wallet" or account.has_private_key)

    def _removed_now(
        self, account: Account, balance_usd: Decimal | None, at: datetime | None
    ) -> Callable[[dict[str, RemovedAccount]], dict[str, RemovedAccount]]:
        """What adds an account to the removed ones. One whose key was removed before stays there with its key."""
        entry = RemovedAccount(account, at or datetime.now(UTC), balance_usd)

        def change(gone: dict[str, RemovedAccount]) -> dict[str, RemovedAccount]:
            before = gone.get(account.id)
            if before is not None and before.account.has_private_key and not account.has_private_key:
                return gone
            return {**gone, account.id: entry}

        return change

    def set_active(self, account_id: str) -> None:
        """Use this account from now on, also where saving is refused. Raises `KeyError` for an unknown id."""
        if account_id not in self._accounts:
            raise KeyError(account_id)
        self._active = account_id
        self.write()

    def restore(self, data: bytes) -> None:
        """Take the list that `data` states back, and write it. What was added since stays, but for the second Sandbox:
        under a free name, and with its key.

        What saving raises passes through; the list holds for this session all the same.
        """
        since, removed_since, active = self._accounts, self._removed, self._active
        self._accounts, self._removed, self._active, self.note = {}, {}, "", ""
        self._kept, self._kept_removed, self._extra = [], [], {}
        self._read(data, None)
        has_sandbox = any(account.kind == "sandbox" for account in self._accounts.values())
        for account in since.values():
            known = self._accounts.get(account.id)
            if known is None and not (account.kind == "sandbox" and has_sandbox):
                name = free_name(account.name, (each.name for each in self._accounts.values()))
                self._accounts[account.id] = account._replace(name=name)
            elif known is not None and account.has_private_key and not known.has_private_key:
                self._accounts[account.id] = known._replace(watch_only=False)  # else its key would have no owner
        gone = {**self._removed, **removed_since}
        self._removed = {key: each for key, each in gone.items() if not self._has_key_of(each)}
        self._active = self._active or active
        self.write()

    def _has_key_of(self, removed: RemovedAccount) -> bool:
        """True when the account is on the list and uses the same secret."""
        listed = self._accounts.get(removed.account.id)
        return listed is not None and (listed.has_private_key or not removed.account.has_private_key)

    def _refuse_twin(self, account: Account) -> None:
        twins = (other for other in self._accounts.values() if other.id != account.id)
        if any(other.name.casefold() == account.name.casefold() for other in twins):
            raise AccountRefused("name", tr("Another account is already called {name}.", name=account.name))

    def _write(
        self,
        change: Callable[[dict[str, Account]], dict[str, Account]],
        change_removed: Callable[[dict[str, RemovedAccount]], dict[str, RemovedAccount]] = lambda gone: gone,
    ) -> None:
        """Save both lists as they will be, in one file; what they are follows."""
        with self._writing:
            accounts, removed = change(self._accounts), change_removed(self._removed)
            entries = [account_to(account) for account in accounts.values()]
            gone = [*(removed_to(each) for each in removed.values()), *self._kept_removed]
            body = {
                **self._extra,
                "accounts": [*entries, *self._kept],
                **({"removed": gone} if gone else {}),
                "active": self._active_of(accounts),
            }
            self._save(json.dumps(body, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            self._accounts = accounts = change(self._accounts)  # `include` does not wait for the disk
            self._removed = removed
            self._active = self._active_of(accounts)

    def _active_of(self, accounts: dict[str, Account]) -> str:
        return self._active if self._active in accounts else next(iter(accounts), "")

    def _read(self, data: bytes, set_aside: Callable[[], str] | None) -> None:
        try:
            body = json.loads(data)
            if not isinstance(body, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            name = set_aside() if set_aside else ""
            self.note = (
                tr("The account list could not be read. It is kept as {name}.", name=name)
                if name
                else tr("The account list could not be read.")
            )
            return
        entries = body.pop("accounts", [])
        for entry in entries if isinstance(entries, list) else [entries]:
            account = account_from(entry)
            if account is None or account.id in self._accounts:
                self._kept.append(entry)
            else:
                self._accounts[account.id] = account
        gone = body.pop("removed", [])
        for entry in gone if isinstance(gone, list) else [gone]:
            removed = removed_from(entry)
            if removed is None or removed.account.id in self._removed:
                self._kept_removed.append(entry)
            elif not self._has_key_of(removed):
                self._removed[removed.account.id] = removed
        active = body.pop("active", "")
        self._active = (
            active if isinstance(active, str) and active in self._accounts else next(iter(self._accounts), "")
        )
        self._extra = body
        if self._kept:
            self.note = tr("Account entries that could not be read: {count}. They are kept.", count=len(self._kept))


def _without(gone: dict[str, RemovedAccount], account_id: str) -> dict[str, RemovedAccount]:
    return {key: each for key, each in gone.items() if key != account_id}
