"""Where keys come from: published phrases, paths and key files; and nothing of them in any refusal."""

from __future__ import annotations

import json
import time

import pytest
from eth_account import Account
from eth_account.hdaccount.mnemonic import Mnemonic
from eth_account.types import Language
from hypothesis import given, settings
from hypothesis import strategies as st

from app.wallet import base58, keys
from app.wallet.addresses import Chain
from app.wallet.errors import KeyFileDamaged, KeyRefused, WalletError, WrongPassword
from app.wallet.keys import encrypt_key_file, key_from_phrase, new_phrase, open_key_file, read_private_key
from app.wallet.signer import PrivateKey, address_of
from tests.reported_inputs import reported
from tests.wallet.figures import ADDRESS, KEY, PHRASE, SEED, SOLANA_ADDRESS
from tests.wallet.test_signer import ODD_KEY, said_by, traces_of

ZEROS = "abandon " * 11 + "about"
FILE_PASSWORD = "testpassword"
FILE_KEY = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
PBKDF2_FILE = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
        "kdf": "pbkdf2",
        "kdfparams": {
            "c": 262144,
            "dklen": 32,
            "prf": "hmac-sha256",
            "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
        },
        "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}
SCRYPT_FILE = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "83dbcc02d8ccb40e466191a123791e0e"},
        "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
        "kdf": "scrypt",
        "kdfparams": {
            "dklen": 32,
            "n": 262144,
            "p": 8,
            "r": 1,
            "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
        },
        "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}


# --- text


@pytest.mark.parametrize("text", [KEY, KEY[2:], KEY.upper().replace("0X", "0x"), f"  {KEY}\n", "0X" + KEY[2:]])
async def test_a_pasted_key_is_read(text: str) -> None:
    assert await address_of(read_private_key(text, "evm")) == ADDRESS


@pytest.mark.parametrize(
    "text",
    [
        SEED,
        "0x" + SEED,
        base58.encode(bytes.fromhex(SEED)),
        base58.encode(bytes.fromhex(SEED) + base58.decode(SOLANA_ADDRESS)),
        str(list(bytes.fromhex(SEED) + bytes(base58.decode(SOLANA_ADDRESS)))),
    ],
)
async def test_each_spelling_of_an_ed25519_key_is_read(text: str) -> None:
    key = read_private_key(text, "solana")
    assert await address_of(key) == SOLANA_ADDRESS
    assert await address_of(read_private_key(key.to_text(), "solana")) == SOLANA_ADDRESS


@pytest.mark.parametrize("chain", ["evm", "solana"])
@pytest.mark.parametrize(
    "text",
    [
        *("", "0x", ODD_KEY[:-1], ODD_KEY + "0", ODD_KEY[:-1] + "g", "0" * 64 + "x", "0x" + "１" * 64),
        *("[1,2,", "[300]", "[null]", "x" * 3000),
    ],
)
def test_what_is_no_key_is_refused_without_repeating_it(text: str, chain: Chain) -> None:
    with pytest.raises(KeyRefused) as caught:
        read_private_key(text, chain)
    shown = said_by(caught.value)
    assert len(text) < 6 or text not in shown
    assert not any(trace in shown for trace in traces_of(ODD_KEY))


def test_a_pair_whose_halves_do_not_belong_together_is_refused() -> None:
    pair = base58.encode(bytes.fromhex(SEED) + b"\x05" * 32)
    with pytest.raises(KeyRefused) as caught:
        read_private_key(pair, "solana")
    assert caught.value.code == "pair"


@given(st.text(max_size=140) | st.lists(st.integers(-1, 300), max_size=70).map(str), st.sampled_from(["evm", "solana"]))
def test_any_text_ends_in_a_key_or_a_refusal(text: str, chain: Chain) -> None:
    try:
        assert isinstance(read_private_key(text, chain), PrivateKey)
    except KeyRefused as refusal:
        assert len(text.strip()) < 16 or text not in refusal.sentence


def test_a_key_comes_back_from_its_own_text() -> None:
    assert read_private_key(ODD_KEY, "evm").to_text() == ODD_KEY


# --- phrases


@pytest.mark.parametrize(
    ("phrase", "index", "address"),
    [
        (PHRASE, 0, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
        (PHRASE, 1, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
        (ZEROS, 0, "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"),
        (f"  {ZEROS.upper()}\n".replace(" ", "  "), 0, "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"),
    ],
)
async def test_bip_39_and_bip_44_published_phrases_lead_to_their_addresses(
    phrase: str, index: int, address: str
) -> None:
    assert await address_of(await key_from_phrase(phrase, index=index)) == address


@pytest.mark.parametrize("name", ["numbered", "numbered-lines", "commas", "quoted", "bom", "zero-width"])
async def test_a_phrase_is_read_as_people_keep_it(name: str) -> None:
    key = await key_from_phrase(reported(f"k24-phrase-{name}.txt").decode())
    assert await address_of(key) == "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


@pytest.mark.parametrize(
    "written", ["test\u200btest", "test-test", "TEST\ttest", "1.test 2.test", "te\u00adst te\ufeffst"]
)
async def test_what_stands_between_the_words_of_a_phrase_separates_them(written: str) -> None:
    key = await key_from_phrase(f"{written} test test test test test test test test test junk")
    assert await address_of(key) == "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


async def test_the_place_of_a_wrong_word_in_a_numbered_phrase_is_its_number() -> None:
    words = [f"{number}. {'tesst' if number == 5 else 'test'}" for number in range(1, 13)]
    with pytest.raises(KeyRefused) as caught:
        await key_from_phrase("\n".join(words))
    assert caught.value.sentence.endswith("word 5.")


@pytest.mark.parametrize("written", ['"{}"', "'{}',", "“{}”", "\ufeff{}", " `{}` "])
def test_a_quoted_key_is_read(written: str) -> None:
    assert read_private_key(written.format("0x" + "4c" * 32), "evm").to_text() == "0x" + "4c" * 32


async def test_bip_39_a_passphrase_leads_elsewhere_as_another_library_says() -> None:
    Account.enable_unaudited_hdwallet_features()
    expected = Account.from_mnemonic(ZEROS, passphrase="TREZOR").address
    assert await address_of(await key_from_phrase(ZEROS, passphrase="TREZOR")) == expected


async def test_slip_10_the_other_chains_wallets_find_the_same_address() -> None:
    address = await address_of(await key_from_phrase(ZEROS, chain="solana"))
    assert address == "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ((), "2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7"),
        ((0,), "68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3"),
        ((0, 1), "b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2"),
        ((0, 1, 2), "92a5b23c0b8a99e37d07df3fb9966917f5d06e02ddbd909c7e184371463e9fc9"),
    ],
)
def test_slip_10_published_chain(path: tuple[int, ...], secret: str) -> None:
    assert keys._slip10(bytes(range(16)), path).hex() == secret


@pytest.mark.parametrize("words", [12, 15, 18, 21, 24])
async def test_new_phrases_have_their_length_differ_and_lead_to_keys(words: int) -> None:
    phrases = {await new_phrase(words) for _ in range(5)}
    assert len(phrases) == 5
    for phrase in phrases:
        assert len(phrase.split()) == words
        await key_from_phrase(phrase)


@pytest.mark.parametrize(
    "language", [Language.JAPANESE, Language.SPANISH, Language.CHINESE_SIMPLIFIED, Language.FRENCH]
)
async def test_phrases_in_other_languages_are_read(language: Language) -> None:
    phrase = Mnemonic(language).to_mnemonic(bytes(range(16)))
    Account.enable_unaudited_hdwallet_features()
    assert await address_of(await key_from_phrase(phrase)) == Account.from_mnemonic(phrase).address


async def test_a_phrase_whose_words_are_in_two_lists_is_read_by_its_checksum() -> None:
    """English and French share words; a phrase of shared words only must not be refused for that."""
    shared = sorted(set(Mnemonic(Language.ENGLISH).wordlist) & set(Mnemonic(Language.FRENCH).wordlist))
    english = Mnemonic(Language.ENGLISH)
    for word in shared:
        for last in shared:
            phrase = " ".join([*[word] * 11, last])
            if english.is_mnemonic_valid(phrase):
                await key_from_phrase(phrase)
                return
    raise AssertionError("no such phrase")


@pytest.mark.parametrize(
    ("phrase", "code"),
    [
        ("", "phrase_length"),
        ("one two three", "phrase_length"),
        (PHRASE + " test", "phrase_length"),
        (PHRASE.replace("junk", "jungle x"), "phrase_length"),
        (PHRASE.replace("junk", "zzzsecretzzz"), "word"),
        (PHRASE.replace("junk", "test"), "phrase_checksum"),
        (ZEROS.replace("about", "abandon"), "phrase_checksum"),
        ("zzzsecretzzz " * 400, "phrase_length"),
    ],
)
async def test_a_wrong_phrase_is_refused_without_repeating_a_word_of_it(phrase: str, code: str) -> None:
    with pytest.raises(KeyRefused) as caught:
        await key_from_phrase(phrase)
    assert caught.value.code == code
    shown = said_by(caught.value)
    assert not any(word in shown for word in ("zzzsecretzzz", "junk", "abandon", "jungle"))


async def test_the_place_of_a_wrong_word_is_named() -> None:
    with pytest.raises(KeyRefused) as caught:
        await key_from_phrase("test tset " + "test " * 9 + "jnk")
    assert "word 2, 12." in caught.value.sentence


@pytest.mark.parametrize("index", [-1, 2**31])
async def test_an_account_that_no_path_leads_to_is_refused(index: int) -> None:
    with pytest.raises(KeyRefused):
        await key_from_phrase(PHRASE, index=index)
    with pytest.raises(KeyRefused):
        await new_phrase(13)


# --- key files


@pytest.mark.parametrize("document", [PBKDF2_FILE, SCRYPT_FILE], ids=["pbkdf2", "scrypt"])
async def test_published_key_files_are_opened(document: dict[str, object]) -> None:
    key = await open_key_file(json.dumps(document).encode(), FILE_PASSWORD)
    assert key.to_text() == FILE_KEY


async def test_a_version_written_as_text_is_read() -> None:
    key = await open_key_file(json.dumps({**PBKDF2_FILE, "version": "3"}).encode(), FILE_PASSWORD)
    assert key.to_text() == FILE_KEY


async def test_names_in_capitals_are_read_as_early_wallets_wrote_them() -> None:
    content = PBKDF2_FILE["crypto"]
    assert isinstance(content, dict)
    document = {"Crypto": {**content, "kdfparams": {**content["kdfparams"]}}, "Version": 3}
    assert (await open_key_file(json.dumps(document).encode(), FILE_PASSWORD)).to_text() == FILE_KEY


async def test_a_wrong_password_is_told_from_a_damaged_file() -> None:
    data = json.dumps(PBKDF2_FILE).encode()
    password = "-".join(["another", "one"])
    with pytest.raises(WrongPassword) as caught:
        await open_key_file(data, password)
    assert password not in said_by(caught.value)
    assert caught.value.__context__ is None


async def test_a_key_goes_into_a_file_and_comes_back_and_another_library_reads_it() -> None:
    key = read_private_key(ODD_KEY, "evm")
    data = await encrypt_key_file(key, "ein längeres Wort")
    assert not any(trace.encode() in data for trace in traces_of(ODD_KEY))
    assert json.loads(data)["crypto"]["kdfparams"]["n"] >= 2**18
    assert (await open_key_file(data, "ein längeres Wort")).to_text() == ODD_KEY
    assert bytes(Account.decrypt(json.loads(data), "ein längeres Wort")).hex() == ODD_KEY[2:]
    assert key.to_text() == ODD_KEY


async def test_a_file_that_names_another_address_is_refused() -> None:
    document = {**PBKDF2_FILE, "address": ADDRESS[2:].lower()}
    with pytest.raises(KeyFileDamaged) as caught:
        await open_key_file(json.dumps(document).encode(), FILE_PASSWORD)
    assert caught.value.code == "address"


async def test_weak_passwords_and_other_chains_are_not_written() -> None:
    with pytest.raises(KeyRefused):
        await encrypt_key_file(read_private_key(KEY, "evm"), "short")
    with pytest.raises(KeyRefused):
        await encrypt_key_file(read_private_key(SEED, "solana"), "long enough")


def with_params(document: dict[str, object], **params: object) -> bytes:
    crypto = dict(document["crypto"])  # type: ignore[call-overload] # a dict of dicts
    crypto["kdfparams"] = {**crypto["kdfparams"], **params}
    return json.dumps({**document, "crypto": crypto}).encode()


@pytest.mark.parametrize(
    "data",
    [
        with_params(SCRYPT_FILE, n=2**30),
        with_params(SCRYPT_FILE, n=2**40, r=2**20),
        with_params(SCRYPT_FILE, p=2**30),
        with_params(SCRYPT_FILE, n=2**22, r=2, p=1),
        with_params(SCRYPT_FILE, n=-1),
        with_params(SCRYPT_FILE, n="262144"),
        with_params(SCRYPT_FILE, dklen=2**31),
        with_params(PBKDF2_FILE, c=10**12),
        with_params(PBKDF2_FILE, c=True),
    ],
)
async def test_a_file_that_asks_for_absurd_work_is_refused_at_once(data: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(KeyFileDamaged) as caught:
        await open_key_file(data, FILE_PASSWORD)
    assert caught.value.code == "cost"
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"3",
        b"{" * 5000,
        b"[" * 50_000,
        b"{}",
        b" " * 100_000,
        json.dumps({**PBKDF2_FILE, "version": 4}).encode(),
        json.dumps({**PBKDF2_FILE, "crypto": None}).encode(),
        with_params(PBKDF2_FILE, prf="hmac-md99"),
        with_params(PBKDF2_FILE, prf=None),
        with_params(PBKDF2_FILE, salt="not hexadecimal"),
        with_params(PBKDF2_FILE, salt=None, c=1),
        with_params(SCRYPT_FILE, n=3, r=1, p=1),
        json.dumps(PBKDF2_FILE).replace('"mac"', '"cam"').encode(),
        json.dumps(PBKDF2_FILE).replace("aes-128-ctr", "rot13").encode(),
        json.dumps(PBKDF2_FILE).replace('"kdf"', '"fdk"').encode(),
    ],
)
async def test_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(KeyFileDamaged) as caught:
        await open_key_file(data, FILE_PASSWORD)
    assert FILE_PASSWORD not in said_by(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda below: st.dictionaries(
        st.sampled_from(["crypto", "version", "kdf", "kdfparams", "cipher", "cipherparams", "iv", "mac", "ciphertext"]),
        below,
        max_size=6,
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(
    json_values.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
    | st.builds(
        lambda name, value: with_params(PBKDF2_FILE, **{"c": 1, name: value}),
        st.sampled_from(["salt", "prf", "dklen", "c"]),
        st.none() | st.integers(-2, 40) | st.text(max_size=6),
    )
)
def test_any_bytes_end_in_a_key_or_a_refusal(data: bytes) -> None:
    try:
        keys._open_key_file(data, FILE_PASSWORD)
    except WalletError as refusal:
        assert refusal.sentence.endswith(".")
