"""Where secrets are kept: which place it is, what has to be asked first, and reading and writing through it.

There is never a silent second place. Without a keyring the person chooses between this session's memory and a file
under a passphrase, and that choice is remembered. Each read goes to that place; nothing is kept here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.tasks import TaskScope
from app.credentials.stores import SecretStoreError, StoreAbsent, StoreLocked, WeakPassphrase, WrongPassphrase
from app.credentials.vault import choose_store
from app.service.errors import ConnectionFailed, CredentialUnavailable
from app.storage.errors import StorageError
from app.translation import tr

if TYPE_CHECKING:
    import asyncio

    from app.credentials.keyring_store import KeyringStore
    from app.credentials.passphrase_store import PassphraseStore
    from app.credentials.stores import SecretStore, SessionStore, StoreStatus
    from app.credentials.vault import StoreChoice
    from app.storage.settings import SettingsStore

AskToUnlock = Callable[[str], Awaitable[None]]  # given a sentence such as "Unlock to send."; returns when it is closed

API_KEY = "api_key"  # the name of an account's one secret
KEYRING = tr("System keyring")
Tone = Literal["", "ok", "warn", "bad"]
Ask = Literal["", "choose", "passphrase", "unlock"]


class ProxyLogin(NamedTuple):
    """What a proxy's password is for."""

    host: str
    port: int
    user: str


@dataclass(frozen=True, slots=True)
class SecretsState:
    """How the place stands, and what has to be asked.

    `ask` is "choose" where no keyring can be used and the person decides, "passphrase" to open an existing
    passphrase file, "unlock" where the system's keyring is locked, "" when all is well or not looked at yet.
    """

    kind: str = ""  # "keyring", "session", "passphrase"; "" while it is not known
    place: str = ""  # "System keyring", as the table of secrets says it
    backend: str = ""  # "Secret Service"
    title: str = tr("Looking for the system keyring")
    sentence: str = ""
    short: str = "looking"  # for the first page: "available, unlocked"
    tone: Tone = ""
    ask: Ask = ""
    can_lock: bool = False
    busy: bool = False
    problem: str = ""  # what the last try said, for under the field
    asking: bool = False  # the dialog that unlocks is open

    @property
    def is_ready(self) -> bool:
        return self.kind != "" and self.ask == ""

    @property
    def is_locked(self) -> bool:
        """True when what is kept can be read after unlocking."""
        return self.ask in ("passphrase", "unlock")


class Secrets(QObject):
    """`ready` comes when secrets can be read and written, at the start or after the person answered."""

    state_changed = Signal(object)  # SecretsState
    passphrase_answered = Signal(str, str)  # the field that is wrong: "old", "new", "again" or "", and why; "" for done
    ready = Signal()
    locked = Signal()  # the person locked the place: whoever holds a secret forgets it

    def __init__(
        self,
        make_stores: Callable[[], tuple[KeyringStore, SessionStore, PassphraseStore]],
        settings_store: SettingsStore,
        tasks: TaskScope,
    ) -> None:
        """`make_stores` is called with the first look, because keyrings are slow to import."""
        super().__init__()
        self._make_stores = make_stores
        self._stores: tuple[KeyringStore, SessionStore, PassphraseStore] | None = None
        self._settings = settings_store
        self._tasks = tasks
        self._store: SecretStore | None = None
        self._ask: AskToUnlock | None = None
        self._ask_place: Callable[[], Awaitable[object]] | None = None
        self._asking: asyncio.Future[bool] | None = None
        self.state = SecretsState()

    def ask_with(self, ask: AskToUnlock) -> None:
        """Take what opens the dialog that unlocks."""
        self._ask = ask

    def ask_place_with(self, ask: Callable[[], Awaitable[object]]) -> None:
        """Take what opens the dialog that asks where keys are kept."""
        self._ask_place = ask

    # What others need

    async def read(self, account_id: str, name: str = API_KEY) -> str | None:
        """The secret, or None. Raises `SecretStoreError`."""
        return await (await self._place()).read(account_id, name)

    async def api_key(self, account_id: str) -> str:
        """The key that goes out with a call, "" for none. Raises `CredentialUnavailable`."""
        try:
            return await self.read(account_id) or ""
        except SecretStoreError as error:
            raise CredentialUnavailable(error.sentence, locked=isinstance(error, StoreLocked)) from None

    async def proxy_password(self, proxy: ProxyLogin | None = None) -> str:
        """The password for a proxy, by default the one in the settings; "" for none.

        Raises `CredentialUnavailable` while it is locked, `ConnectionFailed` when there is no place that can be read.
        """
        try:
            return await self.read(*self._proxy_item(proxy)) or ""
        except StoreLocked as error:
            raise CredentialUnavailable(error.sentence, locked=True) from None
        except SecretStoreError as error:
            raise ConnectionFailed(error.sentence, code="proxy_password", surely_not_sent=True) from None

    def lost_at_quit(self) -> frozenset[str]:
        """Return the accounts whose secrets are in memory only."""
        session = self._stores[1] if self._stores is not None else None
        return session.account_ids() if session is not None and self._store is session else frozenset()

    async def write(self, account_id: str, secret: str, name: str = API_KEY) -> None:
        """Asks to unlock first where that is needed. Raises `SecretStoreError`; `StoreAbsent` without a place yet."""
        await self._change_it(lambda place: place.write(account_id, name, secret))

    async def keep_proxy_password(self, proxy: ProxyLogin, password: str) -> None:
        """Keep a password for this proxy alone. Raises `SecretStoreError`."""
        if not self._settings.value.proxy_secret:
            self._settings.remember(proxy_secret=os.urandom(16).hex())
        owner, name = self._proxy_item(proxy)
        await self.write(owner, password, name)

    async def forget_proxy_password(self) -> None:
        """Delete the password for the proxy in the settings. Raises `SecretStoreError`."""
        await self.delete(*self._proxy_item(None))

    def _proxy_item(self, proxy: ProxyLogin | None) -> tuple[str, str]:
        """Where the password is: its name is of this copy's settings and of the proxy.

        Settings that somebody else wrote may name any proxy, but they do not lead to the password of another one.
        """
        value = self._settings.value
        login = proxy or ProxyLogin(value.proxy_host, value.proxy_port, value.proxy_user)
        bound = json.dumps([login.host.lower(), login.port, login.user])
        return f"proxy-{value.proxy_secret}", hashlib.sha256(bound.encode()).hexdigest()[:32]

    async def delete(self, account_id: str, name: str = API_KEY, *, asks: bool = True) -> None:
        """Asks to unlock first where that is needed, unless told not to. Raises `SecretStoreError`."""
        await self._change_it(lambda place: place.delete(account_id, name), asks=asks)

    async def _change_it(self, change: Callable[[SecretStore], Awaitable[None]], *, asks: bool = True) -> None:
        place = await self._place()
        try:
            await change(place)
        except StoreLocked:
            if not asks or not await self.unlocked(tr("Unlock to change your keys.")):
                raise
            await change(place)

    async def has_place(self) -> bool:
        """Have the person choose where keys are kept, if they have to; False when they would rather not."""
        await self._look()
        if self.state.ask == "choose" and self._ask_place is not None:
            await self._ask_place()
        return self.state.ask != "choose"

    async def unlocked(self, why: str = tr("Unlock to send.")) -> bool:
        """Have the person unlock what is locked; False when they would rather not. All who wait share one dialog."""
        import asyncio  # not before the window is painted

        await self._look()
        if not self.state.is_locked or self._ask is None:
            return self.state.is_ready
        if self._asking is None:
            self._asking = asyncio.get_running_loop().create_future()
            if not self._tasks.start_unless_running("unlock", self._ask_to_unlock, self._ask, why, self._asking):
                self._asking = None
                return False
        return await asyncio.shield(self._asking)

    async def _ask_to_unlock(self, ask: AskToUnlock, why: str, answer: asyncio.Future[bool]) -> None:
        self._change(problem="")  # of an earlier try; and everybody hears that it is being asked
        try:
            await ask(why)
        finally:
            self._asking = None
            answer.set_result(self.state.is_ready)
            self._change(problem="", busy=False)

    async def _place(self) -> SecretStore:
        if self._store is None:
            await self._look()
        if self._store is None:
            raise StoreAbsent(self.state.sentence)
        return self._store

    # What the person does

    def refresh(self) -> None:
        """See how the place stands now; also after a keyring was started or unlocked elsewhere."""
        self._tasks.replace("secrets", self._look)

    def keep_for_session(self) -> None:
        """Use memory only, and remember that choice."""
        self._tasks.replace("secrets", self._keep_for_session)

    def keep_in_file(self, passphrase: str, again: str) -> None:
        """Make a passphrase file and use it; the two entries must agree."""
        if passphrase != again:
            self._change(problem=tr("The passphrases do not match."))
            return
        self._tasks.replace("secrets", self._keep_in_file, passphrase)

    def open_file(self, passphrase: str) -> None:
        """Open the passphrase file that is there."""
        self._tasks.replace("secrets", self._open_file, passphrase)

    def change_passphrase(self, old: str, new: str, again: str) -> None:
        """Protect the passphrase file with another one; `passphrase_answered` tells how that went."""
        if new != again:
            self.passphrase_answered.emit("again", tr("The passphrases do not match."))
            return
        self._tasks.start_unless_running("change passphrase", self._change_passphrase, old, new)

    async def _change_passphrase(self, old: str, new: str) -> None:
        try:
            await self._all()[2].change_passphrase(old, new)
        except (SecretStoreError, StorageError) as error:
            field = "old" if isinstance(error, WrongPassphrase) else "new" if isinstance(error, WeakPassphrase) else ""
            self.passphrase_answered.emit(field, error.sentence)
        else:
            self.passphrase_answered.emit("", "")

    def ask_new_passphrase(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Show the dialog for it, one at a time."""
        self._tasks.start_unless_running("new passphrase", ask)

    def unlock_keyring(self) -> None:
        """Let the system ask for the keyring's password in its own window."""
        self._tasks.replace("secrets", self._unlock_keyring)

    def unlock(self) -> None:
        """Open the dialog that unlocks."""
        self._tasks.start_unless_running("unlock pressed", self._unlock)

    async def _unlock(self) -> None:
        await self.unlocked(tr("Unlock to use them."))

    def lock(self) -> None:
        """Close the passphrase file until its passphrase is entered again."""
        if self._stores is not None and self.state.kind == "passphrase":
            self._stores[2].lock()
            self._store = None
            self.locked.emit()
            self.refresh()

    # How it is done

    def _all(self) -> tuple[KeyringStore, SessionStore, PassphraseStore]:
        if self._stores is None:
            self._stores = self._make_stores()
        return self._stores

    async def _look(self) -> None:
        keyring, session, passphrase = self._all()
        remembered = self._settings.value.secret_store
        choice = await choose_store(remembered, keyring=keyring, session=session, passphrase=passphrase)
        self._take(choice)

    def _take(self, choice: StoreChoice) -> None:
        was_ready = self.state.is_ready
        self._store = choice.store
        self._set(_state_of(choice.status, chosen=choice.store is not None))
        if self.state.is_ready and not was_ready:
            self.ready.emit()

    async def _keep_for_session(self) -> None:
        self._remember("session")
        await self._look()
        await self._save_choice()

    async def _keep_in_file(self, passphrase: str) -> None:
        async def create() -> None:
            await self._all()[2].create(passphrase)
            self._remember("passphrase")

        await self._try(create)
        if not self.state.problem:
            await self._save_choice()

    async def _open_file(self, passphrase: str) -> None:
        await self._try(lambda: self._all()[2].unlock(passphrase))

    async def _unlock_keyring(self) -> None:
        await self._try(lambda: self._all()[0].unlock())

    async def _try(self, work: Callable[[], Any]) -> None:
        """Do `work`, say what it raised under the field, and look again when it went well."""
        self._change(busy=True, problem="")
        try:
            await work()
        except (SecretStoreError, StorageError) as error:
            self._change(busy=False, problem=error.sentence)
            return
        self._change(busy=False)
        await self._look()

    def _remember(self, kind: str) -> None:
        self._settings.remember(secret_store=kind)

    async def _save_choice(self) -> None:
        """After it holds: a disk that refuses keeps nobody from going on in this session. Raises `StorageError`."""
        await asyncio.to_thread(self._settings.save)

    def _change(self, **changes: Any) -> None:
        self._set(replace(self.state, **changes))

    def _set(self, state: SecretsState) -> None:
        state = replace(state, asking=self._asking is not None)
        self.state = state
        self.state_changed.emit(state)


def _state_of(status: StoreStatus, *, chosen: bool) -> SecretsState:
    """Put a store's status into the words of the pages."""
    if not chosen:
        return SecretsState(
            kind="",
            place=tr("Not saved yet"),
            backend=status.backend_name,
            title=tr("Choose where to keep your keys") if status.kind == "keyring" else tr("Where are your keys?"),
            sentence=status.sentence,
            short=tr("not chosen yet"),
            tone="warn",
            ask="choose",
        )
    if status.kind == "session":
        return SecretsState(
            kind="session",
            place=tr("Memory only"),
            backend=status.backend_name,
            title=tr("This session only"),
            sentence=status.sentence,
            short=tr("this session only"),
            tone="warn",
        )
    if status.kind == "passphrase":
        ready = status.state == "ready"
        return SecretsState(
            kind="passphrase",
            place=tr("Passphrase file"),
            backend=status.backend_name,
            title=tr("Passphrase file"),
            sentence=status.sentence if ready else tr("Locked"),
            short=tr("passphrase file, unlocked") if ready else tr("passphrase file, locked"),
            tone="ok" if ready else "warn",
            ask="" if ready else "passphrase",
            can_lock=ready,
        )
    ready = status.state == "ready"
    return SecretsState(
        kind="keyring",
        place=KEYRING,
        backend=status.backend_name,
        title=tr("System keyring"),
        sentence=f"{status.backend_name}, {tr('unlocked') if ready else tr('locked')}",
        short=tr("available, unlocked") if ready else tr("locked"),
        tone="ok" if ready else "warn",
        ask="" if ready else "unlock",
    )
