"""The interface of a secret store, its errors, and the simplest one: memory of this session.

SecretStoreError
├── StoreLocked         it is there, but somebody has to unlock it
├── StoreAbsent         there is no such place on this computer
├── StoreRefused        there is one, but it would keep secrets badly; Rialto does not use it
├── StoreNotAnswering   no answer within the time limit; a window of the keyring may be waiting
├── StoreFailed         it is there and open, and still said no
├── WeakPassphrase      too short to protect anything
├── WrongPassphrase     the vault is whole, the passphrase is not its own
├── VaultTruncated      the end of the file is missing
├── VaultTampered       the file was changed after Rialto wrote it
└── VaultTooNew         written by a later Rialto
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from app.credentials.redaction import Redactor
from app.translation import tr

LOCKED = tr("Your keys are locked.")

StoreKind = Literal["keyring", "session", "passphrase"]
StoreState = Literal["ready", "locked", "absent", "refused"]


class SecretStoreError(Exception):
    """`sentence` is ready to be shown and never holds a secret."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class StoreLocked(SecretStoreError):
    pass


class StoreAbsent(SecretStoreError):
    pass


class StoreRefused(SecretStoreError):
    pass


class StoreNotAnswering(SecretStoreError):
    pass


class StoreFailed(SecretStoreError):
    pass


class WeakPassphrase(SecretStoreError):
    pass


class WrongPassphrase(SecretStoreError):
    pass


class VaultTruncated(SecretStoreError):
    pass


class VaultTampered(SecretStoreError):
    pass


class VaultTooNew(SecretStoreError):
    pass


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """`backend_name` is what the person knows the place as ("macOS Keychain"); `sentence` says how it stands."""

    kind: StoreKind
    state: StoreState
    backend_name: str
    sentence: str

    @property
    def usable(self) -> bool:
        """True when secrets can be kept here, perhaps after unlocking."""
        return self.state in ("ready", "locked")


class SecretStore(Protocol):
    """Small secrets by account id and name ("api_key"). All of it raises `SecretStoreError`."""

    async def status(self) -> StoreStatus:
        """Look without opening a window."""
        ...

    async def read(self, account_id: str, name: str) -> str | None:
        """Return the secret, None when there is none of that name."""
        ...

    async def write(self, account_id: str, name: str, secret: str) -> None:
        """Keep a secret, replacing an older one. When this returns, reading it works."""
        ...

    async def delete(self, account_id: str, name: str) -> None:
        """Forget a secret. One that is not there is no error."""
        ...


class SecretValue:
    """A secret on its way through the program: it prints as dots, compares by value and does not pickle."""

    __slots__ = ("__weakref__", "_secret")

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def reveal(self) -> str:
        return self._secret

    def __repr__(self) -> str:
        return "SecretValue(••••)"

    def __str__(self) -> str:
        return "••••"

    def __format__(self, spec: str) -> str:
        return "••••"

    def __bool__(self) -> bool:
        return bool(self._secret)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretValue) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash((SecretValue, self._secret))

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written down by pickling")


class SessionStore:
    """Memory only: everything is forgotten when Rialto closes, and the person chose that."""

    def __init__(self, registry: Redactor | None = None) -> None:
        self._secrets: dict[tuple[str, str], SecretValue] = {}
        self._registry = registry

    def account_ids(self) -> frozenset[str]:
        """Return the accounts that have a secret here."""
        return frozenset(account_id for account_id, _ in self._secrets)

    async def status(self) -> StoreStatus:
        return StoreStatus("session", "ready", tr("This session only"), tr("Keys are forgotten when Rialto quits."))

    async def read(self, account_id: str, name: str) -> str | None:
        value = self._secrets.get((account_id, name))
        return value.reveal() if value else None

    async def write(self, account_id: str, name: str, secret: str) -> None:
        if self._registry:
            self._registry.add(secret)
        self._secrets[account_id, name] = SecretValue(secret)

    async def delete(self, account_id: str, name: str) -> None:
        self._secrets.pop((account_id, name), None)
