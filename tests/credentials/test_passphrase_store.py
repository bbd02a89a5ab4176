import asyncio
import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.credentials import passphrase_store
from app.credentials.redaction import Redactor
from app.credentials.vault import (
    PassphraseStore,
    StoreAbsent,
    StoreFailed,
    StoreLocked,
    VaultTampered,
    VaultTooNew,
    VaultTruncated,
    WeakPassphrase,
    WrongPassphrase,
)
from app.credentials.vault_format import (
    ARGON2ID,
    MAGIC,
    SCRYPT,
    Keys,
    best_derivation,
    derive,
    measured_derivation,
    new_parameters,
    open_body,
    parse_vault,
    seal,
)

PASSPHRASE = "four words of mine"
CHEAP = {"kdf": "argon2id", "iterations": 1, "lanes": 1, "memory_kib": 8}
CHEAP_SCRYPT = {"kdf": "scrypt", "n": 2, "r": 8, "p": 1}
SECRET = "sk-kept-in-the-vault-0123456789"


class Shelf:
    """A file in memory; `refuse` makes the disk full."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.refuse = False

    def load(self) -> bytes | None:
        return self.data

    def save(self, data: bytes) -> None:
        if self.refuse:
            raise OSError(28, "No space left on device")
        self.data = data


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


async def filled(shelf: Shelf) -> PassphraseStore:
    store = PassphraseStore(shelf, derivation=CHEAP)
    await store.create(PASSPHRASE)
    await store.write("a1", "api_key", SECRET)
    return store


def reopened(shelf: Shelf) -> PassphraseStore:
    return PassphraseStore(shelf, derivation=CHEAP)


def mend_checksum(data: bytes) -> bytes:
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


async def test_secrets_are_there_after_a_restart_and_the_right_passphrase(shelf: Shelf) -> None:
    store = await filled(shelf)
    assert await store.read("a1", "api_key") == SECRET
    again = reopened(shelf)
    assert (await again.status()).state == "locked"
    with pytest.raises(StoreLocked):
        await again.read("a1", "api_key")
    with pytest.raises(StoreLocked):
        await again.write("a1", "api_key", "other")
    await again.unlock(PASSPHRASE)
    assert (await again.status()).state == "ready"
    assert await again.read("a1", "api_key") == SECRET
    await again.delete("a1", "api_key")
    await again.delete("a1", "api_key")
    third = reopened(shelf)
    await third.unlock(PASSPHRASE)
    assert await third.read("a1", "api_key") is None


async def test_the_state_is_told_at_every_step(shelf: Shelf) -> None:
    store = reopened(shelf)
    assert (await store.status()).state == "absent"
    with pytest.raises(StoreAbsent):
        await store.unlock(PASSPHRASE)
    await store.create(PASSPHRASE)
    assert store.is_unlocked
    with pytest.raises(StoreFailed, match="already"):
        await reopened(shelf).create(PASSPHRASE)


async def test_nothing_in_the_file_can_be_read(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    for text in (SECRET, PASSPHRASE, "api_key", "kept-in"):
        assert text.encode() not in shelf.data


async def test_a_wrong_passphrase_has_its_own_sentence(shelf: Shelf) -> None:
    await filled(shelf)
    before = shelf.data
    store = reopened(shelf)
    with pytest.raises(WrongPassphrase, match="Wrong passphrase"):
        await store.unlock("four words of yours")
    assert not store.is_unlocked
    assert shelf.data == before


async def test_a_file_cut_short_at_any_byte_has_its_own_sentence(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    whole = shelf.data
    for length in range(len(whole)):
        shelf.data = whole[:length]
        with pytest.raises(VaultTruncated, match="is incomplete"):
            await reopened(shelf).unlock(PASSPHRASE)


async def test_a_change_of_any_byte_has_its_own_sentence(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    whole = shelf.data
    for position in range(len(whole)):
        shelf.data = whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :]
        lengths = range(len(MAGIC), len(MAGIC) + 8)
        expected = (VaultTampered, VaultTruncated) if position in lengths else VaultTampered
        if position == len(MAGIC) - 1:  # the version's own byte
            expected = VaultTooNew
        with pytest.raises(expected):
            await reopened(shelf).unlock(PASSPHRASE)
    shelf.data = whole + b"\x00"
    with pytest.raises(VaultTampered, match="changed or damaged"):
        await reopened(shelf).unlock(PASSPHRASE)


async def test_somebody_who_mends_the_checksum_is_caught_by_the_cipher(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    whole = shelf.data
    sealed = parse_vault(whole)
    verifier_at = len(sealed.front) + len(sealed.header)
    body_at = verifier_at + len(sealed.verifier)
    for position in [*range(verifier_at, body_at, 5), *range(body_at, len(whole) - 32, 7)]:
        shelf.data = mend_checksum(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(VaultTampered):  # never "wrong passphrase": the other of the two still opens
            await reopened(shelf).unlock(PASSPHRASE)
        with pytest.raises(WrongPassphrase):
            await reopened(shelf).unlock("four words of yours")


async def test_numbers_in_the_header_cannot_be_changed_unseen(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    sealed = parse_vault(shelf.data)
    weaker = json.dumps({**sealed.parameters, "memory_kib": 9}, sort_keys=True).encode()
    assert len(weaker) == len(sealed.header)
    shelf.data = mend_checksum(shelf.data.replace(sealed.header, weaker))
    with pytest.raises((WrongPassphrase, VaultTampered)):
        await reopened(shelf).unlock(PASSPHRASE)


@pytest.mark.parametrize(
    "header",
    [
        {"kdf": "argon2id", "iterations": 1, "lanes": 1, "memory_kib": 2**23, "salt": "00" * 16},
        {"kdf": "scrypt", "n": 2**24, "r": 8, "p": 1, "salt": "00" * 16},
        {"kdf": "argon2id", "iterations": -1, "lanes": 1, "memory_kib": 8, "salt": "00" * 16},
        {"kdf": "argon2id", "iterations": 1, "lanes": 4, "memory_kib": 8, "salt": "00" * 16},
        {"kdf": "md5", "salt": "00" * 16},
        {"kdf": "scrypt", "n": "2", "r": 8, "p": 1, "salt": "00" * 16},
        {"kdf": "scrypt", "n": 3, "r": 8, "p": 1, "salt": "00" * 16},
        {"kdf": "scrypt", "n": 2, "r": 8, "p": 1, "salt": "00"},
        {"kdf": ["scrypt"], "salt": "00" * 16},
        [],
        7,
    ],
)
async def test_a_header_that_would_exhaust_or_confuse_us_is_refused(header: object, shelf: Shelf) -> None:
    text = json.dumps(header).encode()
    front = MAGIC + len(text).to_bytes(4, "big") + (28).to_bytes(4, "big")
    shelf.data = mend_checksum(front + text + bytes(28) + bytes(28) + bytes(32))
    with pytest.raises(VaultTampered):
        await reopened(shelf).unlock(PASSPHRASE)


async def test_a_newer_format_is_named_and_left_alone(shelf: Shelf) -> None:
    await filled(shelf)
    assert shelf.data is not None
    shelf.data = newer = MAGIC[:-1] + b"\x02" + shelf.data[len(MAGIC) :]
    with pytest.raises(VaultTooNew, match="newer version"):
        await reopened(shelf).unlock(PASSPHRASE)
    assert shelf.data == newer


async def test_the_passphrase_can_be_changed(shelf: Shelf) -> None:
    store = await filled(shelf)
    before = parse_vault(shelf.data or b"").parameters["salt"]
    with pytest.raises(WrongPassphrase):
        await store.change_passphrase("wrong one here", "another of mine")
    assert await store.read("a1", "api_key") == SECRET
    await store.change_passphrase(PASSPHRASE, "another of mine")
    assert parse_vault(shelf.data or b"").parameters["salt"] != before
    again = reopened(shelf)
    with pytest.raises(WrongPassphrase):
        await again.unlock(PASSPHRASE)
    await again.unlock("another of mine")
    assert await again.read("a1", "api_key") == SECRET
    await store.write("a2", "api_key", "still-writes-after-the-change")


async def test_a_short_passphrase_is_refused_with_its_length(shelf: Shelf) -> None:
    with pytest.raises(WeakPassphrase, match=r"At least 8 characters\. This has 5"):
        await reopened(shelf).create("short")
    assert shelf.data is None


@pytest.mark.parametrize(
    "passphrase",
    ["password", "Passw0rd!", "password2024", "12345678", "iloveyou", "qwertyuiop", "1q2w3e4r", "Dragon12", "abababab"],
)
async def test_a_passphrase_that_everybody_tries_first_is_refused(passphrase: str, shelf: Shelf) -> None:
    with pytest.raises(WeakPassphrase, match="first passphrases that others would try"):
        await reopened(shelf).create(passphrase)
    assert shelf.data is None
    store = await filled(shelf)
    with pytest.raises(WeakPassphrase, match="first passphrases"):
        await store.change_passphrase(PASSPHRASE, passphrase)


@pytest.mark.parametrize("passphrase", [PASSPHRASE, "correct horse battery", "tr0ub4dor&3x", "väldigt hemlig"])
async def test_other_passphrases_are_taken(passphrase: str, shelf: Shelf) -> None:
    await reopened(shelf).create(passphrase)
    assert shelf.data is not None


@pytest.mark.parametrize(
    ("took_s", "iterations"),
    [(0.15, 18), (0.5, 6), (4.0, 3), (0.0001, 96)],
    ids=["usual", "slow", "slowest", "fastest"],
)
def test_unlocking_takes_about_a_second_on_the_computer_that_made_the_file(
    took_s: float, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ARGON2ID, "memory_kib", 8)
    ticks = iter((0.0, 9.0, 10.0, 10.0 + took_s))  # the first try had to wait
    assert measured_derivation(lambda: next(ticks)) == {**ARGON2ID, "iterations": iterations}


async def test_locking_overwrites_the_keys_and_forgets_the_secrets(shelf: Shelf) -> None:
    store = await filled(shelf)
    keys = store._keys
    assert keys is not None
    store.lock()
    assert (bytes(keys.body), bytes(keys.verifier)) == (bytes(32), bytes(32))
    assert SECRET not in repr(vars(store))
    with pytest.raises(StoreLocked):
        await store.read("a1", "api_key")
    assert (await store.status()).state == "locked"


async def test_a_full_disk_changes_nothing(shelf: Shelf) -> None:
    store = await filled(shelf)
    before = shelf.data
    shelf.refuse = True
    for call in (
        store.write("a1", "api_key", "newer"),
        store.delete("a1", "api_key"),
        store.change_passphrase(PASSPHRASE, "another of mine"),
    ):
        with pytest.raises(OSError, match="No space left"):
            await call
    shelf.refuse = False
    assert shelf.data == before
    assert await store.read("a1", "api_key") == SECRET
    await store.write("a1", "api_key", "newer")


async def test_a_file_changed_behind_our_back_is_not_overwritten(shelf: Shelf) -> None:
    store = await filled(shelf)
    other = reopened(shelf)
    await other.unlock(PASSPHRASE)
    await other.write("a2", "api_key", "from elsewhere")
    theirs = shelf.data
    with pytest.raises(VaultTampered, match="Another program"):
        await store.write("a1", "api_key", "mine")
    assert shelf.data == theirs
    assert not store.is_unlocked


async def test_writes_at_the_same_time_all_arrive(shelf: Shelf) -> None:
    store = await filled(shelf)
    await asyncio.gather(*(store.write(f"a{number}", "api_key", f"secret {number}") for number in range(20)))
    again = reopened(shelf)
    await again.unlock(PASSPHRASE)
    assert [await again.read(f"a{number}", "api_key") for number in range(20)] == [f"secret {n}" for n in range(20)]


async def test_every_secret_that_passes_is_known_to_the_redaction(shelf: Shelf) -> None:
    await filled(shelf)
    registry = Redactor()
    await PassphraseStore(shelf, registry).unlock(PASSPHRASE)
    assert registry.redact(f"<{SECRET}>") == "<[hidden]>"


async def test_the_same_letters_typed_on_another_system_open_the_file(shelf: Shelf) -> None:
    store = reopened(shelf)
    await store.create("Brücke über Wasser")
    await reopened(shelf).unlock("Bru\u0308cke u\u0308ber Wasser")  # as macOS types it


@pytest.mark.parametrize("derivation", [CHEAP, CHEAP_SCRYPT])
def test_both_derivations_open_what_they_sealed(derivation: dict[str, object]) -> None:
    parameters = new_parameters(derivation)
    data = seal({"a/b": SECRET}, derive(PASSPHRASE, parameters), parameters)
    sealed = parse_vault(data)
    assert open_body(sealed, derive(PASSPHRASE, sealed.parameters)) == {"a/b": SECRET}


def test_two_files_of_the_same_secrets_share_nothing_but_their_frame() -> None:
    parameters = new_parameters(CHEAP)
    keys = derive(PASSPHRASE, parameters)
    first, second = (parse_vault(seal({"a/b": SECRET}, keys, parameters)) for _ in range(2))
    assert first.body != second.body
    assert first.verifier != second.verifier
    assert new_parameters(CHEAP)["salt"] != parameters["salt"]


async def test_the_derivation_in_use_is_as_costly_as_promised(tmp_path: Path) -> None:
    assert best_derivation() == ARGON2ID
    assert (ARGON2ID["memory_kib"], ARGON2ID["iterations"], SCRYPT["n"]) == (65536, 3, 2**17)
    shelf = Shelf()
    await PassphraseStore(shelf).create(PASSPHRASE)
    assert parse_vault(shelf.data or b"").parameters["kdf"] == "argon2id"


def test_without_argon2id_scrypt_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives.kdf.argon2", None)
    assert best_derivation() == SCRYPT


async def test_deriving_the_key_does_not_hold_the_window(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def derive_later(passphrase: str, parameters: dict[str, Any]) -> Keys:
        begun.set()
        assert go_on.wait(60), "nothing else went on meanwhile"
        return derive(passphrase, parameters)

    monkeypatch.setattr(passphrase_store, "derive", derive_later)
    creating = asyncio.ensure_future(PassphraseStore(shelf).create(PASSPHRASE))
    async with asyncio.timeout(60):
        while not begun.is_set():
            await asyncio.sleep(0.002)
    go_on.set()
    await creating


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_a_sentence(data: bytes) -> None:
    for candidate in (data, MAGIC + data, mend_checksum(MAGIC + data + bytes(32))):
        with pytest.raises((VaultTampered, VaultTruncated, VaultTooNew)):
            parse_vault(candidate)
