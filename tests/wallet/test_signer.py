"""Signatures against published figures, and keys that leave no trace anywhere a person or a program could look."""

from __future__ import annotations

import asyncio
import copy
import gc
import logging
import pickle
import threading
import traceback
from dataclasses import replace
from typing import Any

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from app.wallet import signer as signer_module
from app.wallet.addresses import Chain
from app.wallet.errors import AddressRefused, KeyRefused, KeyUnavailable, SigningFailed, WalletError
from app.wallet.signer import (
    Ed25519Signer,
    EthAccountSigner,
    PrivateKey,
    address_of,
    recovered_address,
    typed_data_message,
    warm_up,
    without_words,
)
from tests.wallet.figures import (
    ADDRESS,
    AUTHORIZATION,
    KEY,
    PAYMENT_SIGNATURE,
    SEED,
    SIGN_IN_SIGNATURE,
    SOLANA_ADDRESS,
    SOLANA_SIGNATURE,
    Store,
    message_of,
)

ODD_KEY = "0x" + "".join(f"{at:02x}" for at in range(7, 39))  # no two bytes alike: any part of it is recognized
ODD_ADDRESS = Account.from_key(ODD_KEY).address


def traces_of(key: str) -> list[str]:
    """The shapes in which a key could turn up in text."""
    digits = key.removeprefix("0x")
    secret = bytes.fromhex(digits)
    return [digits, digits.upper(), str(int(digits, 16)), str(list(secret)), repr(secret)[2:-1], repr(secret)[2:30]]


def said_by(error: BaseException) -> str:
    """Everything that a log or a crash report could say of an error, and of all it drags along."""
    found: list[str] = []
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        found += [repr(each), str(each), repr(each.args), repr(vars(each)), *traceback.format_exception(each)]
        waiting += [each.__cause__, each.__context__]
    return "\n".join(found)


async def test_r_auth_06_a_personal_signature_is_the_published_one() -> None:
    assert await EthAccountSigner(ADDRESS, Store(KEY, "evm")).sign_text(message_of("evm")) == SIGN_IN_SIGNATURE


async def test_r_auth_07_an_ed25519_signature_is_the_published_one() -> None:
    signer = Ed25519Signer(SOLANA_ADDRESS, Store(SEED, "solana"))
    assert await signer.sign_text(message_of("solana")) == SOLANA_SIGNATURE


async def test_r_wal_06_a_payment_signature_is_the_published_one() -> None:
    assert await EthAccountSigner(ADDRESS, Store(KEY, "evm")).sign_authorization(AUTHORIZATION) == PAYMENT_SIGNATURE


@pytest.mark.parametrize("address", [ADDRESS.lower(), "0x" + ADDRESS[2:].upper()])
async def test_an_address_in_one_case_is_the_same_signer(address: str) -> None:
    signer = EthAccountSigner(address, Store(KEY, "evm"))
    assert signer.address == ADDRESS
    assert (await signer.sign_text("x")).startswith("0x")


async def test_the_key_is_asked_for_each_time_and_wiped_each_time() -> None:
    store = Store(KEY, "evm")
    signer = EthAccountSigner(ADDRESS, store)
    for _ in range(3):
        await signer.sign_text("hello")
    await signer.sign_authorization(AUTHORIZATION)
    assert len(store.given) == 4
    for key in store.given:
        with pytest.raises(KeyUnavailable):
            key.reveal()
    other = Store(SEED, "solana")
    await Ed25519Signer(SOLANA_ADDRESS, other).sign_text("hello")
    assert not any(other.given[0]._secret)


async def test_a_key_is_wiped_also_when_signing_fails() -> None:
    store = Store(ODD_KEY, "evm")
    with pytest.raises(KeyUnavailable):
        await EthAccountSigner(ADDRESS, store).sign_text("hello")
    assert not any(store.given[0]._secret)


@pytest.mark.parametrize(
    ("signer", "store"),
    [
        (EthAccountSigner, Store(ODD_KEY, "evm")),
        (EthAccountSigner, Store(SEED, "solana")),
        (Ed25519Signer, Store(KEY, "evm")),
        (Ed25519Signer, Store(ODD_KEY, "solana")),
    ],
)
async def test_a_key_of_another_address_or_chain_signs_nothing(signer: Any, store: Store) -> None:
    address = ADDRESS if signer is EthAccountSigner else SOLANA_ADDRESS
    with pytest.raises(KeyUnavailable) as caught:
        await signer(address, store).sign_text("hello")
    assert caught.value.code in ("other_address", "other_chain")


async def test_nothing_is_signed_when_two_encoders_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    def lies(authorization: object) -> object:
        return typed_data_message(replace(AUTHORIZATION, value=AUTHORIZATION.value + 1))

    monkeypatch.setattr(signer_module, "typed_data_message", lies)
    with pytest.raises(SigningFailed) as caught:
        await EthAccountSigner(ADDRESS, Store(KEY, "evm")).sign_authorization(AUTHORIZATION)
    assert caught.value.code == "encoding"


async def test_a_signature_that_is_none_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer_module, "recovered_address", lambda signable, signature: "0x" + "1" * 40)
    with pytest.raises(SigningFailed) as caught:
        await EthAccountSigner(ADDRESS, Store(KEY, "evm")).sign_authorization(AUTHORIZATION)
    assert caught.value.code == "signature"


@pytest.mark.parametrize("signature", ["0x", "0xzz", "", "0x" + "00" * 65, "0x" + "ff" * 65, PAYMENT_SIGNATURE[:-2]])
def test_what_is_no_signature_recovers_nobody(signature: str) -> None:
    with pytest.raises(SigningFailed) as caught:
        recovered_address(typed_data_message(AUTHORIZATION), signature)
    assert caught.value.__context__ is None


async def test_a_signature_is_made_in_a_thread_and_not_in_the_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def watched(work: Any, failure: WalletError) -> Any:
        threads.append(threading.get_ident())
        return without_words(work, failure)

    monkeypatch.setattr(signer_module, "without_words", watched)
    await EthAccountSigner(ADDRESS, Store(KEY, "evm")).sign_text("hello")
    await Ed25519Signer(SOLANA_ADDRESS, Store(SEED, "solana")).sign_text("hello")
    assert len(threads) == 2
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("begun", [True, False], ids=["begun", "waiting for its turn"])
async def test_a_signature_that_nobody_waits_for_any_more_still_wipes_its_key(
    begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(KEY, "evm")
    held, reached = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        held.wait(30)

    def held_work(work: Any, failure: WalletError) -> Any:
        hold()
        return without_words(work, failure)

    if begun:
        monkeypatch.setattr(signer_module, "without_words", held_work)
    else:
        signer_module._signing_thread().submit(hold)
    task = asyncio.create_task(EthAccountSigner(ADDRESS, store).sign_text("hello"))
    try:
        await asyncio.to_thread(reached.wait, 30)
        while not store.given:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        held.set()
    await asyncio.wrap_future(signer_module._signing_thread().submit(lambda: None))
    assert not any(store.given[0]._secret)


# --- the key itself


@pytest.mark.parametrize("chain", ["evm", "solana"])
def test_a_key_shows_itself_to_nobody(chain: Chain) -> None:
    key = PrivateKey(bytearray.fromhex(ODD_KEY[2:]), chain)
    shown = f"{key!r} {key} {[key]} { {'key': key} }"
    assert not any(trace in shown for trace in traces_of(ODD_KEY))
    assert shown.count("hidden") == 4
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError) as caught:
            copying(key)
        assert not any(trace in said_by(caught.value) for trace in traces_of(ODD_KEY))
    assert not hasattr(key, "__dict__")


def test_a_wiped_key_is_gone_and_says_so() -> None:
    secret = bytearray.fromhex(ODD_KEY[2:])
    with PrivateKey(secret, "evm") as key:
        assert key.reveal() is secret
    assert secret == bytearray(32)
    with pytest.raises(KeyUnavailable) as caught:
        key.to_text()
    assert caught.value.code == "wiped"


def test_a_key_that_nobody_holds_any_more_is_wiped() -> None:
    secret = bytearray.fromhex(ODD_KEY[2:])
    key = PrivateKey(secret, "evm")
    del key
    gc.collect()
    assert secret == bytearray(32)


@pytest.mark.parametrize(
    "secret",
    [
        b"",
        b"\x01" * 31,
        b"\x01" * 33,
        bytes(32),
        bytes.fromhex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"),
        b"\xff" * 32,
    ],
)
def test_a_number_that_is_no_key_is_refused_and_wiped(secret: bytes) -> None:
    given_bytes = bytearray(secret)
    with pytest.raises(KeyRefused):
        PrivateKey(given_bytes, "evm")
    assert not any(given_bytes)


@pytest.mark.parametrize("chain", ["evm", "solana"])
async def test_new_keys_differ_and_have_addresses(chain: Chain) -> None:
    keys = [PrivateKey.generate(chain) for _ in range(20)]
    assert len({key.to_text() for key in keys}) == 20
    assert len({await address_of(key) for key in keys}) == 20


async def test_addresses_are_those_of_the_published_keys() -> None:
    assert await address_of(PrivateKey(bytearray.fromhex(KEY[2:]), "evm")) == ADDRESS
    assert await address_of(PrivateKey(bytearray.fromhex(SEED), "solana")) == SOLANA_ADDRESS


async def test_warming_up_loads_what_signing_needs() -> None:
    await warm_up()


# --- no trace


async def test_r_auth_10_no_error_on_any_way_out_holds_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def loud(*arguments: object, **named: object) -> object:
        raise ValueError(f"bad key {ODD_KEY} {arguments!r} {named!r}")

    signer = EthAccountSigner(ODD_ADDRESS, Store(ODD_KEY, "evm"))
    other = EthAccountSigner(ADDRESS, Store(ODD_KEY, "evm"))
    errors: list[BaseException] = []

    async def failed(work: Any) -> None:
        with pytest.raises(WalletError) as caught:
            await work
        errors.append(caught.value)

    await failed(other.sign_text("hello"))
    await failed(other.sign_authorization(AUTHORIZATION))
    monkeypatch.setattr(Account, "from_key", loud)
    await failed(signer.sign_text("hello"))
    monkeypatch.setattr(Account, "sign_message", loud)
    await failed(signer.sign_authorization(AUTHORIZATION))
    with pytest.raises(KeyRefused) as caught:
        PrivateKey(bytearray.fromhex(ODD_KEY[2:] + "00"), "evm")
    errors.append(caught.value)
    shown = "\n".join(map(said_by, errors)) + caplog.text + repr([signer, other, signer.__dict__])
    assert len(errors) == 5
    assert not [trace for trace in traces_of(ODD_KEY) if trace in shown]


def test_what_a_library_says_is_replaced_and_not_chained() -> None:
    def loud() -> None:
        raise RuntimeError(KEY)

    with pytest.raises(SigningFailed) as caught:
        without_words(loud, SigningFailed("library", "It could not be done."))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert KEY not in said_by(caught.value)


def test_a_signer_of_nobody_is_not_made() -> None:
    for kind in (EthAccountSigner, Ed25519Signer):
        with pytest.raises(AddressRefused):
            kind("nobody", Store(KEY, "evm"))


@given(st.binary(min_size=32, max_size=32))
def test_an_ed25519_key_of_any_bytes_signs_like_another_library(seed: bytes) -> None:
    from Crypto.PublicKey import ECC
    from Crypto.Signature import eddsa

    if not any(seed):
        return
    private = signer_module._ed25519(bytearray(seed))
    anonymous = ECC.construct(curve="Ed25519", seed=seed)
    assert private.sign(b"message") == eddsa.new(anonymous, "rfc8032").sign(b"message")
