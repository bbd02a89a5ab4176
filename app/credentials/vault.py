"""Where secrets are kept: the one door to the credentials layer, and the choice of a place.

The operating system's keyring comes first. Without one, the person chooses between this session's memory and a
file under a passphrase; nothing is chosen silently, and nothing is ever written in plain text.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.credentials.keyring_store import KeyringStore
from app.credentials.passphrase_store import MIN_PASSPHRASE_CHARS, PassphraseStore
from app.credentials.redaction import Redactor
from app.credentials.stores import (
    SecretStore,
    SecretStoreError,
    SecretValue,
    SessionStore,
    StoreAbsent,
    StoreFailed,
    StoreKind,
    StoreLocked,
    StoreNotAnswering,
    StoreRefused,
    StoreStatus,
    VaultTampered,
    VaultTooNew,
    VaultTruncated,
    WeakPassphrase,
    WrongPassphrase,
)
from app.translation import tr

__all__ = [
    "MIN_PASSPHRASE_CHARS",
    "KeyringStore",
    "PassphraseStore",
    "Redactor",
    "SecretStore",
    "SecretStoreError",
    "SecretValue",
    "SessionStore",
    "StoreAbsent",
    "StoreChoice",
    "StoreFailed",
    "StoreKind",
    "StoreLocked",
    "StoreNotAnswering",
    "StoreRefused",
    "StoreStatus",
    "VaultTampered",
    "VaultTooNew",
    "VaultTruncated",
    "WeakPassphrase",
    "WrongPassphrase",
    "choose_store",
]


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """`store` is None when the person has to choose one of `options`; `status` then says why the usual one is out."""

    store: SecretStore | None
    status: StoreStatus
    options: tuple[StoreKind, ...] = ()


async def choose_store(
    remembered: str, *, keyring: KeyringStore, session: SessionStore, passphrase: PassphraseStore
) -> StoreChoice:
    """Return the place to keep secrets, or the question to ask.

    `remembered` is what the person chose before ("keyring", "session", "passphrase", "" for nothing yet). A choice
    that does not work any more leads to a question, never to another place: keys would seem to have vanished.
    """
    if remembered == "session":
        return StoreChoice(session, await session.status())
    vault = await passphrase.status()
    if remembered == "passphrase" and vault.usable:
        return StoreChoice(passphrase, vault)
    system = await keyring.status()
    if remembered == "passphrase":
        gone = StoreStatus("passphrase", "absent", vault.backend_name, tr("The passphrase file no longer exists."))
        gone = vault if vault.state == "refused" else gone
        found: tuple[StoreKind, ...] = ("keyring",) if system.usable else ()
        return StoreChoice(None, gone, (*found, "passphrase", "session"))
    if system.usable:
        return StoreChoice(keyring, system)
    if not remembered and vault.usable:
        return StoreChoice(passphrase, vault)  # the settings were lost, the vault was not
    return StoreChoice(None, system, ("passphrase", "session"))
