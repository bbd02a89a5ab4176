"""Accounts: who we call as and where. No secret is in here, and no network is needed. Standard library only.

An account is written down as one JSON object; what its key is, only the vault knows. The reader takes anything:
an entry it cannot use is kept in the file as it came, but not shown.
"""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, cast, get_args
from urllib.parse import urlsplit

from app.translation import tr

Dialect = Literal["service", "venice"]
Kind = Literal["sandbox", "api_key", "wallet"]
DIALECTS: tuple[str, ...] = get_args(Dialect)
KINDS: tuple[str, ...] = get_args(Kind)

MAX_NAME_CHARS = 80
MAX_ADDRESS_CHARS = 2000
HINT_CHARS = 4
MAX_WALLET_CHARS = 64
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
    partner: bool = False  # a partner of the service, who may call more often
    address: str = ""  # of the wallet that signs in, for kind "wallet": checksummed, or base58
    watch_only: bool = False  # the wallet's key is elsewhere: nothing is signed on this computer

    @property
    def is_sandbox(self) -> bool:
        """True when nothing can cost real money: the Sandbox's own account, or a wallet that practises there."""
        return self.kind == "sandbox" or (self.kind == "wallet" and self.base_url == SANDBOX_ADDRESS)

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""


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
        if not host.isascii() or any(not 0 < len(label) < 64 for label in host.split(".")):
            host.encode("idna")  # of what it says nothing to, it loads tables for a millisecond of a start
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
                partner=body.get("partner") is True,
                address=address if isinstance(address, str) else "",
                watch_only=body.get("watch_only") is True,
            )
        )
    except AccountRefused:
        return None


def account_to(account: Account) -> dict[str, object]:
    return {
        "id": account.id,
        "name": account.name,
        "base_url": account.base_url,
        "dialect": account.dialect,
        "kind": account.kind,
        "secret_hint": account.secret_hint,
        "created_at": account.created_at.isoformat(),
        **({"partner": True} if account.partner else {}),
        **({"address": account.address} if account.address else {}),
        **({"watch_only": True} if account.watch_only else {}),
    }


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
        self._kept: list[Any] = []  # entries we cannot use: a newer version's, or somebody's typing error
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

    def remove(self, account_id: str) -> None:
        """Forget an account; its secret is for the caller to delete. Unknown ids are no error."""
        self._write(lambda known: {key: account for key, account in known.items() if key != account_id})

    def set_active(self, account_id: str) -> None:
        """Use this account from now on, also where saving is refused. Raises `KeyError` for an unknown id."""
        if account_id not in self._accounts:
            raise KeyError(account_id)
        self._active = account_id
        self.write()

    def restore(self, data: bytes) -> None:
        """Take the list that `data` states back, and write it. What was added since stays, but for the second Sandbox.

        What saving raises passes through; the list holds for this session all the same.
        """
        since, active = self._accounts, self._active
        self._accounts, self._kept, self._extra, self._active, self.note = {}, [], {}, "", ""
        self._read(data, None)
        names = {account.name.casefold() for account in self._accounts.values()}
        has_sandbox = any(account.kind == "sandbox" for account in self._accounts.values())
        for account in since.values():
            if not (account.kind == "sandbox" and has_sandbox) and account.name.casefold() not in names:
                self._accounts.setdefault(account.id, account)
        self._active = self._active or active
        self.write()

    def _refuse_twin(self, account: Account) -> None:
        twins = (other for other in self._accounts.values() if other.id != account.id)
        if any(other.name.casefold() == account.name.casefold() for other in twins):
            raise AccountRefused("name", tr("Another account is already called {name}.", name=account.name))

    def _write(self, change: Callable[[dict[str, Account]], dict[str, Account]]) -> None:
        with self._writing:
            accounts = change(self._accounts)
            entries = [account_to(account) for account in accounts.values()]
            body = {**self._extra, "accounts": [*entries, *self._kept], "active": self._active_of(accounts)}
            self._save(json.dumps(body, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            self._accounts = accounts = change(self._accounts)  # `include` does not wait for the disk
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
        active = body.pop("active", "")
        self._active = (
            active if isinstance(active, str) and active in self._accounts else next(iter(self._accounts), "")
        )
        self._extra = body
        if self._kept:
            self.note = tr("Account entries that could not be read: {count}. They are kept.", count=len(self._kept))
