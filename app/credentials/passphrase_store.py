"""Secrets in one file that a passphrase opens: for computers without a keyring, and only when the person chose it."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from typing import Any, Protocol

from app.credentials.redaction import Redactor
from app.credentials.stores import (
    LOCKED,
    StoreAbsent,
    StoreFailed,
    StoreLocked,
    StoreStatus,
    VaultTampered,
    WeakPassphrase,
)
from app.credentials.vault_format import (
    MAX_BODY_BYTES,
    Keys,
    derive,
    new_parameters,
    open_body,
    parse_vault,
    seal,
)
from app.credentials.worst_passphrases import is_among_the_worst
from app.translation import tr

MIN_PASSPHRASE_CHARS = 8
NAME = tr("Passphrase file")


class SmallFile(Protocol):
    """Where the bytes lie; `save` must replace them whole or not at all. Both may raise an `OSError` of their own."""

    def load(self) -> bytes | None: ...
    def save(self, data: bytes) -> None: ...


class PassphraseStore:
    """Locked until `create` or `unlock`. Everything slow runs in worker threads, one call at a time.

    What `file` raises (a full disk) passes through; the old file is then still whole.
    """

    def __init__(
        self, file: SmallFile, registry: Redactor | None = None, derivation: dict[str, Any] | None = None
    ) -> None:
        """`derivation` overrides the key derivation's numbers; only tests want cheaper ones."""
        self._file = file
        self._registry = registry
        self._derivation = derivation
        self._turn = threading.Lock()
        self._keys: Keys | None = None
        self._parameters: dict[str, Any] = {}
        self._secrets: dict[str, str] = {}
        self._written = b""  # the hash of the file as we last saw it

    async def status(self) -> StoreStatus:
        """Raises nothing: a file that cannot be read is a refused store."""
        if self._keys is not None:
            return StoreStatus("passphrase", "ready", NAME, tr("Keys are kept in a file protected by your passphrase."))
        try:
            data = await asyncio.to_thread(self._file.load)
        except Exception as error:  # of the file's own kind, which this layer does not know
            reason = getattr(error, "strerror", None) or getattr(error, "sentence", None) or type(error).__name__
            sentence = tr("The passphrase file cannot be read: {reason}.", reason=str(reason).rstrip("."))
            return StoreStatus("passphrase", "refused", NAME, sentence)
        if data is None:
            return StoreStatus("passphrase", "absent", NAME, tr("There is no passphrase file yet."))
        return StoreStatus("passphrase", "locked", NAME, LOCKED)

    @property
    def is_unlocked(self) -> bool:
        return self._keys is not None

    async def create(self, passphrase: str) -> None:
        """Make an empty vault and leave it open. Raises `StoreFailed` when there is one, `WeakPassphrase`."""
        _check_strength(passphrase)

        def work() -> None:
            if self._file.load() is not None:
                raise StoreFailed(tr("A passphrase file already exists. Unlock it, or move it first."))
            parameters = new_parameters(self._derivation)
            self._save({}, derive(passphrase, parameters), parameters)

        await self._run(work)

    async def unlock(self, passphrase: str) -> None:
        """Raises `WrongPassphrase`, `VaultTruncated`, `VaultTampered`, `VaultTooNew`, `StoreAbsent`."""
        await self._run(lambda: self._unlock(passphrase))

    async def change_passphrase(self, old: str, new: str) -> None:
        """Write everything anew under another passphrase and salt. Raises like `unlock` when `old` is not right."""
        _check_strength(new)

        def work() -> None:
            self._unlock(old)
            old_keys = self._keys
            parameters = new_parameters(self._derivation)
            self._save(self._secrets, derive(new, parameters), parameters)
            if old_keys is not None:
                old_keys.wipe()

        await self._run(work)

    def lock(self) -> None:
        """Forget the keys (overwritten) and the secrets (dropped: Python cannot overwrite text)."""
        with self._turn:
            self._forget()

    async def read(self, account_id: str, name: str) -> str | None:
        self._open_keys()
        return self._secrets.get(f"{account_id}/{name}")

    async def write(self, account_id: str, name: str, secret: str) -> None:
        if self._registry:
            self._registry.add(secret)
        await self._run(lambda: self._change({f"{account_id}/{name}": secret}))

    async def delete(self, account_id: str, name: str) -> None:
        await self._run(lambda: self._change({f"{account_id}/{name}": None}))

    # In a worker thread, with the turn

    def _unlock(self, passphrase: str) -> None:
        data = self._file.load()
        if data is None:
            raise StoreAbsent(tr("There is no passphrase file yet."))
        sealed = parse_vault(data)
        keys = derive(passphrase, sealed.parameters)
        try:
            found = open_body(sealed, keys)
        except BaseException:
            keys.wipe()
            raise
        for secret in found.values():
            if self._registry:
                self._registry.add(secret)
        self._forget()
        self._keys, self._parameters, self._secrets = keys, sealed.parameters, found
        self._written = hashlib.sha256(data).digest()

    def _change(self, changes: dict[str, str | None]) -> None:
        keys = self._open_keys()
        data = self._file.load()
        if data is None or hashlib.sha256(data).digest() != self._written:
            self._forget()
            raise VaultTampered(
                tr("Another program changed the passphrase file while it was unlocked. Unlock it again.")
            )
        found = {**self._secrets, **{name: secret for name, secret in changes.items() if secret is not None}}
        for name, secret in changes.items():
            if secret is None:
                found.pop(name, None)
        if found != self._secrets:
            self._save(found, keys, self._parameters)

    def _save(self, found: dict[str, str], keys: Keys, parameters: dict[str, Any]) -> None:
        """Memory follows the disk: when saving raises, everything is as before."""
        data = seal(found, keys, parameters)
        if len(data) > MAX_BODY_BYTES:
            raise StoreFailed(tr("This secret is too large for the passphrase file."))
        self._file.save(data)
        self._keys, self._parameters, self._secrets = keys, parameters, found
        self._written = hashlib.sha256(data).digest()

    def _open_keys(self) -> Keys:
        if self._keys is None:
            raise StoreLocked(LOCKED)
        return self._keys

    def _forget(self) -> None:
        if self._keys is not None:
            self._keys.wipe()
        self._keys, self._parameters, self._secrets, self._written = None, {}, {}, b""

    async def _run(self, work: Callable[[], None]) -> None:
        def with_turn() -> None:
            with self._turn:
                work()

        await asyncio.to_thread(with_turn)


def _check_strength(passphrase: str) -> None:
    """Raise `WeakPassphrase` for one that would be guessed at once."""
    if len(passphrase) < MIN_PASSPHRASE_CHARS:
        raise WeakPassphrase(
            tr(
                "At least {min_passphrase_chars} characters. This has {count}. Several words make a good passphrase.",
                min_passphrase_chars=MIN_PASSPHRASE_CHARS,
                count=len(passphrase),
            )
        )
    if is_among_the_worst(passphrase):
        raise WeakPassphrase(
            tr("This is one of the first passphrases that others would try. Several words make a good one.")
        )
