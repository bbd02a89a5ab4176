"""Which of the backends that `keyring` finds is a real keyring of the operating system, and is it locked.

Everything here blocks, and `keyring` takes about 0.1 s to import and look around: worker threads only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Literal, Protocol

from app.credentials.stores import StoreState
from app.translation import tr

# By exact class, never by base class: a plain-text file that inherits from one of these is still a plain-text file.
REAL_BACKENDS = {
    "keyring.backends.Windows.WinVaultKeyring": "Windows Credential Manager",
    "keyring.backends.macOS.Keyring": "macOS Keychain",
    "keyring.backends.SecretService.Keyring": "Secret Service",
    "keyring.backends.libsecret.Keyring": "Secret Service",
    "keyring.backends.kwallet.DBusKeyring": "KWallet",
    "keyring.backends.kwallet.DBusKeyringKWallet4": "KWallet",
}
WINDOWS = "keyring.backends.Windows.WinVaultKeyring"
FREEDESKTOP = "keyring.backends.SecretService.Keyring"
CHAINER = "keyring.backends.chainer.ChainerBackend"
FAIL = "keyring.backends.fail.Keyring"
NULL = "keyring.backends.null.Keyring"


class Backend(Protocol):
    """What we use of `keyring.backend.KeyringBackend`."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


class NoBackend(Exception):
    """`state` is absent or refused; `name` is what was found instead."""

    def __init__(self, state: Literal["absent", "refused"], name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.state: StoreState = state
        self.name = name
        self.sentence = sentence


def class_path(backend: object) -> str:
    kind = type(backend)
    return f"{kind.__module__}.{kind.__qualname__}"


def display_name(backend: object) -> str:
    return REAL_BACKENDS.get(class_path(backend), type(backend).__module__)


def detect() -> Backend:
    """Ask `keyring` afresh and return the one real backend. Raises `NoBackend`."""
    import keyring
    import keyring.core

    try:
        keyring.core.init_backend()
        found = keyring.get_keyring()
    except (ImportError, AttributeError, ValueError, TypeError, RuntimeError) as error:
        # PYTHON_KEYRING_BACKEND or keyringrc.cfg names something that is not there or does not work
        raise NoBackend(
            "refused",
            "",
            tr("The keyring configured for Python on this computer cannot be used: {error}.", error=error),
        ) from error
    return real_backend(found)


def real_backend(found: object) -> Backend:
    """Return `found`, or the best real member of a chain. Raises `NoBackend` with the reason."""
    path = class_path(found)
    if path in REAL_BACKENDS:
        return _as_backend(found)
    if path == CHAINER:
        for member in _members(found):
            if class_path(member) in REAL_BACKENDS:
                return _as_backend(member)
        others = ", ".join(type(member).__module__ for member in _members(found)) or "nothing"
        raise NoBackend(
            "refused",
            others,
            tr("No system keyring was found, only {others}, which is not secure enough for keys.", others=others),
        )
    if path == FAIL:
        raise NoBackend("absent", "", tr("No system keyring was found on this computer."))
    if path == NULL:
        raise NoBackend("refused", "null", tr("Keyrings are turned off for Python programs on this computer."))
    name = type(found).__module__
    raise NoBackend(
        "refused", name, tr("{name} is not the system’s own keyring, so Rialto does not use it.", name=name)
    )


def _members(chain: object) -> tuple[object, ...]:
    members = getattr(chain, "backends", ())
    return tuple(members) if isinstance(members, Iterable) else ()


def _as_backend(found: object) -> Backend:
    from keyring.backend import KeyringBackend

    assert isinstance(found, KeyringBackend)
    if class_path(found) == WINDOWS:
        setattr(found, "persist", "local machine")  # noqa: B010  # untyped; without it keys roam with a domain's profile
    return found


def secret_service_state() -> Literal["ready", "locked", "empty", "absent"]:
    """Ask the Secret Service how it stands without opening a window; "empty" before its first keyring was made."""
    import secretstorage
    from secretstorage.exceptions import ItemNotFoundException, SecretStorageException

    try:
        with contextlib.closing(secretstorage.dbus_init()) as connection:
            if not secretstorage.check_service_availability(connection):
                return "absent"
            try:
                collection = secretstorage.Collection(connection)  # the default one
                return "locked" if collection.is_locked() else "ready"
            except ItemNotFoundException:
                return "empty"
    except (SecretStorageException, OSError):
        return "absent"
