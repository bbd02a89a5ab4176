import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from keyring.backends import Windows, chainer, fail, null
from keyring.errors import InitError, KeyringError, KeyringLocked, NoKeyringError

from app.credentials.keyring_backends import FREEDESKTOP, Backend, NoBackend, real_backend
from app.credentials.redaction import Redactor
from app.credentials.vault import (
    KeyringStore,
    PassphraseStore,
    SecretStoreError,
    SessionStore,
    StoreAbsent,
    StoreFailed,
    StoreLocked,
    StoreNotAnswering,
    StoreRefused,
    choose_store,
)
from tests.credentials.book_file import BookFile
from tests.fakes.keyrings import FakeKeyring, ForgetfulKeyring, HoldingKeyring
from tests.reported_inputs import reported

ROOT = Path(__file__).resolve().parents[2]


def store_on(backend: Backend, **options: Any) -> KeyringStore:
    return KeyringStore(find=lambda: backend, **options)


def raising(error: Exception) -> FakeKeyring:
    def trouble() -> None:
        raise error

    return FakeKeyring(trouble)


async def test_each_secret_is_one_item_a_person_can_find() -> None:
    backend = FakeKeyring()
    store = store_on(backend)
    await store.write("a1", "api_key", "first")
    await store.write("a2", "api_key", "second")
    await store.write("a1", "api_key", "third")
    assert backend.items == {("Rialto", "a1/api_key"): "third", ("Rialto", "a2/api_key"): "second"}
    assert await store.read("a1", "api_key") == "third"
    assert await store.read("a3", "api_key") is None
    await store.delete("a1", "api_key")
    await store.delete("a1", "api_key")
    assert await store.read("a1", "api_key") is None
    assert (await store.status()).state == "ready"


async def test_no_call_runs_in_the_windows_thread() -> None:
    backend = FakeKeyring()
    store = store_on(backend)
    await store.write("a1", "api_key", "secret")
    await store.read("a1", "api_key")
    await store.delete("a1", "api_key")
    assert threading.current_thread().name not in backend.threads
    assert backend.threads == {"keyring"}


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (KeyringLocked("locked"), StoreLocked, "Your keys are locked."),
        (InitError("Prompt dismissed"), StoreLocked, "could not be opened"),
        (NoKeyringError("none"), StoreAbsent, "No system keyring was found"),
        (KeyringError("other"), StoreFailed, "refused: KeyringError"),
        (ConnectionResetError("the bus went away"), StoreFailed, "refused: ConnectionResetError"),
        (RuntimeError("anything"), StoreFailed, "refused: RuntimeError"),
    ],
)
async def test_whatever_a_keyring_raises_becomes_a_sentence(
    error: Exception, kind: type[SecretStoreError], said: str
) -> None:
    store = store_on(raising(error))
    for call in (store.read("a1", "k"), store.write("a1", "k", "secret"), store.delete("a1", "k"), store.unlock()):
        with pytest.raises(kind) as caught:
            await call
        assert said in caught.value.sentence
        assert "secret" not in caught.value.sentence


def dbus_error(name: str) -> Exception:
    """What `jeepney` raises, which `keyring` and `secretstorage` pass on."""
    from jeepney import DBusErrorResponse, Header, HeaderFields, Message, MessageType
    from jeepney.low_level import Endianness, MessageFlag

    fields = {HeaderFields.error_name: name}
    header = Header(Endianness.little, MessageType.error, MessageFlag(0), 1, 0, 1, fields)
    return DBusErrorResponse(Message(header, ("secret",)))


@pytest.mark.parametrize("name", json.loads(reported("k26-keyring-answers.json"))["errors"])
async def test_a_bus_that_refuses_is_a_state_with_its_reason(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The person is offered the other places; no question about the state ends in an exception."""

    def refuse() -> str:
        raise dbus_error(name)

    monkeypatch.setattr("app.credentials.keyring_store.secret_service_state", refuse)
    monkeypatch.setattr("app.credentials.keyring_store.class_path", lambda backend: FREEDESKTOP)
    for remembered in ("", "keyring"):
        keyring = store_on(FakeKeyring())
        choice = await choose_store(
            remembered, keyring=keyring, session=SessionStore(), passphrase=PassphraseStore(BookFile(tmp_path / "book"))
        )
        assert (choice.store, choice.options) == (None, ("passphrase", "session"))
        assert (choice.status.state, choice.status.usable) == ("refused", False)
        assert name in choice.status.sentence
        assert "secret" not in choice.status.sentence


async def test_finding_a_keyring_may_fail_in_any_way() -> None:
    def find() -> Backend:
        raise OSError(5, "Input/output error")

    assert (await KeyringStore(find=find).status()).state == "refused"


async def test_a_passphrase_file_that_cannot_be_read_is_a_state_with_its_reason() -> None:
    class Unreadable:
        def load(self) -> bytes | None:
            raise PermissionError(13, "Permission denied")

        def save(self, data: bytes) -> None:
            raise AssertionError

    passphrase = PassphraseStore(Unreadable())
    keyring = store_on(raising(NoKeyringError("none")))
    choice = await choose_store("passphrase", keyring=keyring, session=SessionStore(), passphrase=passphrase)
    assert choice.store is None
    assert choice.status.sentence == "The passphrase file cannot be read: Permission denied."


async def test_a_keyring_that_waits_for_a_window_does_not_hold_the_program() -> None:
    asked, answered = threading.Event(), threading.Event()
    windows: list[str] = []

    def open_window() -> None:
        windows.append(threading.current_thread().name)
        asked.set()
        answered.wait(60)

    backend = FakeKeyring(open_window)
    store = store_on(backend, time_limit_s=0.05)
    for _ in range(2):  # the second waits behind the first: one window, not two
        with pytest.raises(StoreNotAnswering, match="did not answer within"):
            await store.read("a1", "api_key")
    async with asyncio.timeout(60):
        while not asked.is_set():  # meanwhile the program's own work goes on
            await asyncio.sleep(0.005)
    assert windows == ["keyring"]
    backend.items["Rialto", "a1/api_key"] = "there"
    answered.set()
    async with asyncio.timeout(60):
        while True:
            try:
                assert await store.read("a1", "api_key") == "there"
                break
            except StoreNotAnswering:
                continue


async def test_a_call_given_up_in_line_is_never_made() -> None:
    free = threading.Event()
    backend = FakeKeyring(lambda: bool(free.wait(60)) and None)
    store = store_on(backend, time_limit_s=60)
    first = asyncio.ensure_future(store.read("a1", "k"))
    second = asyncio.ensure_future(store.write("a1", "k", "must not be kept"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    free.set()
    assert await first is None
    assert await store.read("a1", "k") is None


def test_a_window_nobody_answers_does_not_keep_the_program_from_ending() -> None:
    code = """
import asyncio, threading
from app.credentials.vault import KeyringStore, StoreNotAnswering
class Stuck:
    def get_password(self, service, username):
        threading.Event().wait()
async def main():
    try:
        await KeyringStore(find=Stuck, time_limit_s=0.05).read("a1", "k")
    except StoreNotAnswering:
        print("ended")
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("ended", 0)


async def test_a_keyring_that_keeps_nothing_is_caught_at_once() -> None:
    with pytest.raises(StoreFailed, match="did not save the key"):
        await store_on(ForgetfulKeyring()).write("a1", "api_key", "secret")


async def test_a_refused_delete_is_told() -> None:
    backend = HoldingKeyring()
    store = store_on(backend)
    await store.delete("a1", "nothing there")
    backend.items["Rialto", "a1/k"] = "secret"
    with pytest.raises(StoreFailed, match="did not delete the key"):
        await store.delete("a1", "k")


@pytest.mark.parametrize("secret", ["", "x" * 1001])
async def test_a_secret_that_windows_would_not_hold_is_refused_everywhere(secret: str) -> None:
    with pytest.raises(StoreFailed, match="1 to 1,000 characters"):
        await store_on(FakeKeyring()).write("a1", "k", secret)


async def test_every_secret_that_passes_is_known_to_the_redaction() -> None:
    registry = Redactor()
    backend = FakeKeyring()
    backend.items["Rialto", "a1/old"] = "read-secret"
    store = store_on(backend, registry=registry)
    await store.read("a1", "old")
    await store.write("a1", "new", "written-secret")
    assert registry.redact("read-secret written-secret") == "[hidden] [hidden]"


class PlaintextKeyring(chainer.backend.KeyringBackend):
    """Looks like a keyring, is a file anybody can read."""

    priority = 9

    def get_password(self, service: str, username: str) -> str | None:
        raise AssertionError("must never be asked")

    set_password = delete_password = get_password


class Chain(chainer.ChainerBackend):
    """A chain whose members the test sets; it says it is the real chainer."""

    backends: Any = ()


Chain.__module__, Chain.__qualname__ = "keyring.backends.chainer", "ChainerBackend"


def real(module: str, name: str = "Keyring") -> Any:
    """An object whose class says it is one of the operating system's."""
    kind = type(name, (PlaintextKeyring,), {"__module__": module, "__qualname__": name})
    return kind()


def test_only_keyrings_of_the_operating_system_are_used() -> None:
    for module, name in (
        ("keyring.backends.Windows", "WinVaultKeyring"),
        ("keyring.backends.macOS", "Keyring"),
        ("keyring.backends.SecretService", "Keyring"),
        ("keyring.backends.libsecret", "Keyring"),
        ("keyring.backends.kwallet", "DBusKeyring"),
    ):
        backend = real(module, name)
        assert real_backend(backend) is backend


class CredentialManager:
    """The calls of Windows' own that `keyring` makes: what is stored, under its target."""

    CRED_TYPE_GENERIC = 1
    CRED_PERSIST_SESSION, CRED_PERSIST_LOCAL_MACHINE, CRED_PERSIST_ENTERPRISE = 1, 2, 3

    def __init__(self) -> None:
        self.stored: dict[str, dict[str, Any]] = {}

    def CredRead(self, Type: int, TargetName: str) -> dict[str, Any]:
        if TargetName not in self.stored:
            raise NotFound
        return self.stored[TargetName]

    def CredWrite(self, credential: dict[str, Any], flags: int) -> None:
        blob = credential["CredentialBlob"].encode("utf-16-le")
        self.stored[credential["TargetName"]] = {**credential, "CredentialBlob": blob}


class NotFound(Exception):
    winerror, funcname = 1168, "CredRead"


def test_keys_stay_on_this_computer_and_do_not_roam_with_a_windows_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = CredentialManager()
    monkeypatch.setattr(Windows, "win32cred", manager, raising=False)
    monkeypatch.setattr(Windows, "pywintypes", SimpleNamespace(error=NotFound), raising=False)
    backend = real_backend(Windows.WinVaultKeyring())
    for name in ("one", "another"):
        backend.set_password("Rialto", name, "a secret")
        assert backend.get_password("Rialto", name) == "a secret"
    assert {each["Persist"] for each in manager.stored.values()} == {manager.CRED_PERSIST_LOCAL_MACHINE}


def test_a_chain_is_reduced_to_its_real_member() -> None:
    chain, good = Chain(), real("keyring.backends.SecretService")
    chain.backends = [PlaintextKeyring(), good]
    assert real_backend(chain) is good


@pytest.mark.parametrize(
    ("found", "state", "said"),
    [
        (fail.Keyring(), "absent", "No system keyring was found"),
        (null.Keyring(), "refused", "turned off for Python"),
        (PlaintextKeyring(), "refused", "is not the system’s own keyring"),
        (real("keyrings.alt.file", "PlaintextKeyring"), "refused", "keyrings.alt.file"),
    ],
)
async def test_every_other_backend_is_refused_with_its_reason(found: Any, state: str, said: str) -> None:
    with pytest.raises(NoBackend) as caught:
        real_backend(found)
    assert said in caught.value.sentence
    store = KeyringStore(find=lambda: real_backend(found))
    status = await store.status()
    assert (status.kind, status.state, status.usable) == ("keyring", state, False)
    assert said in status.sentence
    with pytest.raises(StoreAbsent if state == "absent" else StoreRefused):
        await store.write("a1", "k", "secret")


def test_a_chain_of_nothing_real_is_refused_by_name() -> None:
    chain = Chain()
    chain.backends = [PlaintextKeyring()]
    with pytest.raises(NoBackend, match="not secure enough"):
        real_backend(chain)


@pytest.mark.parametrize("name", ["no.such.module.Keyring", "keyring.backends.null.Keyring", "os.Nothing"])
async def test_a_keyring_that_the_environment_names_is_not_trusted_blindly(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", name)
    status = await KeyringStore().status()
    assert status.state == "refused"
    assert status.sentence.endswith(".")
