"""Secrets in the operating system's keyring, one small item each.

Small, because Windows refuses more than about 2,500 bytes in one. Service "Rialto", user "<account id>/<name>", so
that a person finds them in the system's own window. A locked Secret Service opens its own unlock window on
`read`, `write` and `unlock`; `status` never opens one.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import TypeVar

from app.credentials.keyring_backends import (
    FREEDESKTOP,
    Backend,
    NoBackend,
    class_path,
    detect,
    display_name,
    secret_service_state,
)
from app.credentials.redaction import Redactor
from app.credentials.serial_worker import SerialWorker
from app.credentials.stores import (
    LOCKED,
    SecretStoreError,
    StoreAbsent,
    StoreFailed,
    StoreLocked,
    StoreNotAnswering,
    StoreRefused,
    StoreStatus,
)
from app.formats import format_number
from app.translation import tr

SERVICE_NAME = "Rialto"
MAX_SECRET_CHARS = 1000  # 2,000 bytes in Windows' UTF-16
TIME_LIMIT_S = 60.0  # long enough to type a password into the system's window
STATUS_LIMIT_S = 5.0  # nobody is asked anything, so nobody is waited for
EMPTY = tr("The system keyring is not set up yet. Saving a key opens its setup.")
Result = TypeVar("Result")


class KeyringStore:
    """Every call runs in one worker thread and has a time limit. Raises `SecretStoreError` and nothing else."""

    def __init__(
        self,
        registry: Redactor | None = None,
        *,
        time_limit_s: float = TIME_LIMIT_S,
        find: Callable[[], Backend] = detect,
    ) -> None:
        self._registry = registry
        self._time_limit_s = time_limit_s
        self._find = find
        self._lane = SerialWorker("keyring")
        self._backend: Backend | None = None

    async def status(self) -> StoreStatus:
        """Check again; what was absent may have been started since. Opens no window and raises nothing."""
        try:
            return await self._run(self._look, min(STATUS_LIMIT_S, self._time_limit_s))
        except StoreNotAnswering as error:
            return StoreStatus("keyring", "locked", tr("System keyring"), error.sentence)
        except SecretStoreError as error:  # a bus that denies access, or whose service dies when it is started
            return StoreStatus("keyring", "refused", tr("System keyring"), error.sentence)

    async def unlock(self) -> StoreStatus:
        """Let the keyring ask for its password, if it wants one. Raises `StoreLocked` when the person says no."""
        await self._run(lambda: self._backend_now().get_password(SERVICE_NAME, "unlock"))
        return await self.status()

    async def read(self, account_id: str, name: str) -> str | None:
        secret = await self._run(lambda: self._get(f"{account_id}/{name}"))
        if secret and self._registry:
            self._registry.add(secret)
        return secret or None

    async def write(self, account_id: str, name: str, secret: str) -> None:
        if self._registry:
            self._registry.add(secret)
        if not secret or len(secret) > MAX_SECRET_CHARS:
            raise StoreFailed(
                tr(
                    "A key is 1 to {max_secret_chars} characters long. This one is {count}.",
                    max_secret_chars=MAX_SECRET_CHARS,
                    count=len(secret),
                )
            )
        await self._run(lambda: self._set(f"{account_id}/{name}", secret))

    async def delete(self, account_id: str, name: str) -> None:
        await self._run(lambda: self._delete(f"{account_id}/{name}"))

    # In the worker thread

    def _backend_now(self) -> Backend:
        if self._backend is None:
            self._backend = self._find()
        return self._backend

    def _is_empty(self, backend: Backend) -> bool:
        """Reading from a Secret Service without any keyring would open a window that makes one: not for a read."""
        return class_path(backend) == FREEDESKTOP and secret_service_state() == "empty"

    def _look(self) -> StoreStatus:
        self._backend = None
        try:
            backend = self._backend_now()
        except NoBackend as found:
            return StoreStatus("keyring", found.state, found.name, found.sentence)
        name = display_name(backend)
        service = secret_service_state() if class_path(backend) == FREEDESKTOP else "ready"
        if service == "ready":
            return StoreStatus("keyring", "ready", name, tr("Keys are kept in {name}.", name=name))
        if service == "absent":
            return StoreStatus("keyring", "absent", name, tr("No system keyring was found on this computer."))
        return StoreStatus("keyring", "locked", name, LOCKED if service == "locked" else EMPTY)

    def _get(self, user: str) -> str | None:
        backend = self._backend_now()
        return None if self._is_empty(backend) else backend.get_password(SERVICE_NAME, user)

    def _set(self, user: str, secret: str) -> None:
        backend = self._backend_now()
        backend.set_password(SERVICE_NAME, user, secret)
        kept = backend.get_password(SERVICE_NAME, user) or ""  # a cancelled KWallet stores nothing and says nothing
        if not hmac.compare_digest(kept.encode("utf-8"), secret.encode("utf-8")):
            raise StoreFailed(tr("{display_name} did not save the key.", display_name=display_name(backend)))

    def _delete(self, user: str) -> None:
        from keyring.errors import PasswordDeleteError

        backend = self._backend_now()
        if self._is_empty(backend):
            return
        try:
            backend.delete_password(SERVICE_NAME, user)
        except PasswordDeleteError as error:  # it was not there, or somebody cancelled
            if backend.get_password(SERVICE_NAME, user) is not None:
                raise StoreFailed(
                    tr("{display_name} did not delete the key.", display_name=display_name(backend))
                ) from error

    async def _run(self, work: Callable[[], Result], limit_s: float | None = None) -> Result:
        limit_s = limit_s or self._time_limit_s
        try:
            return await self._lane.run(lambda: _in_words(work), limit_s)
        except TimeoutError as error:
            raise StoreNotAnswering(
                tr(
                    "The system keyring did not answer within {limit_s} s. A window asking for its password may be "
                    "open behind others.",
                    limit_s=format_number(limit_s, 0),
                )
            ) from error


def _in_words(work: Callable[[], Result]) -> Result:
    """Run `work` in the worker thread and turn whatever a backend raises into one of ours."""
    from keyring.errors import InitError, KeyringLocked, NoKeyringError

    try:
        return work()
    except SecretStoreError:
        raise
    except NoBackend as error:
        kind = StoreAbsent if error.state == "absent" else StoreRefused
        raise kind(error.sentence) from error
    except NoKeyringError as error:
        raise StoreAbsent(tr("No system keyring was found on this computer.")) from error
    except KeyringLocked as error:
        raise StoreLocked(LOCKED) from error
    except InitError as error:
        raise StoreLocked(tr("The system keyring could not be opened or was never set up.")) from error
    except Exception as error:  # D-Bus, COM and Keychain each raise their own; none of them may reach a page
        if type(error).__name__ in ("LockedException", "PromptDismissedException"):  # secretstorage's
            raise StoreLocked(LOCKED) from error
        name = getattr(error, "name", None)  # of a D-Bus error; its text may hold anything
        name = name if isinstance(name, str) and name.startswith("org.") else type(error).__name__
        raise StoreFailed(tr("The system keyring refused: {name}.", name=name)) from error
