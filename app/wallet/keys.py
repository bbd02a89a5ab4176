"""Where keys come from and how they leave: new ones, text, recovery phrases, encrypted key files.

Everything slow runs in a thread: a key file takes over a second and 256 MiB on purpose. No error repeats what was
entered, not even one word of a phrase.
Source: BIP-39 (phrases), BIP-44 and SLIP-10 (from phrase to key), Web3 Secret Storage version 3 (key files).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from app.translation import tr
from app.wallet import base58
from app.wallet.addresses import Chain, same_evm_address
from app.wallet.errors import (
    AddressRefused,
    KeyFileDamaged,
    KeyRefused,
    WrongPassword,
)
from app.wallet.libraries import load_eth_account
from app.wallet.signer import KEY_BYTES, PrivateKey, derived_address, without_words

PHRASE_LENGTHS = (12, 15, 18, 21, 24)
MAX_ACCOUNT_INDEX = 2**31 - 1
MAX_KEY_TEXT_CHARS = 2000
MAX_KEY_FILE_BYTES = 64 * 1024
MAX_SCRYPT_BYTES = 512 * 1024 * 1024  # the usual cost asks for 256 MiB
MAX_SCRYPT_WORK = 2**24  # n times r times p; the usual cost is 2**21
MAX_PBKDF2_ROUNDS = 10_000_000
MIN_PASSWORD_CHARS = 8
HARDENED = 2**31
SOLANA_PATH = (44, 501)  # BIP-44 purpose and coin, then account and change; all hardened


_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # what pages and files leave in copied text
_QUOTES = "\"'`“”‘’«»,;"


async def new_phrase(words: int = 12) -> str:
    """A new English recovery phrase. Show it once; the key comes from `key_from_phrase`."""
    if words not in PHRASE_LENGTHS:
        raise KeyRefused("phrase_length", tr("A recovery phrase has 12, 15, 18, 21 or 24 words."))

    def make() -> str:
        load_eth_account()
        from eth_account.hdaccount.mnemonic import Mnemonic

        return Mnemonic().generate(words)

    return await asyncio.to_thread(make)


async def key_from_phrase(phrase: str, *, chain: Chain = "evm", index: int = 0, passphrase: str = "") -> PrivateKey:
    """The key of account `index`: `m/44'/60'/0'/0/index`, or `m/44'/501'/index'/0'` of the other chain.

    The phrase may be in any language that BIP-39 has, in any case, numbered, quoted, with commas or on several lines.
    Raises `KeyRefused`.
    """
    if not 0 <= index <= MAX_ACCOUNT_INDEX:
        raise KeyRefused("index", tr("There is no account with that number."))
    words = _phrase_words(phrase[:MAX_KEY_TEXT_CHARS])
    if len(words) not in PHRASE_LENGTHS:
        raise KeyRefused(
            "phrase_length",
            tr("A recovery phrase has 12, 15, 18, 21 or 24 words. This one has {count}.", count=len(words)),
        )
    return await asyncio.to_thread(_from_words, words, chain, index, passphrase)


def read_private_key(text: str, chain: Chain) -> PrivateKey:
    """Read what people paste: hexadecimal with or without 0x; for the other chain also base58 or a list of 64 numbers.

    Raises `KeyRefused`.
    """
    if len(text) > MAX_KEY_TEXT_CHARS:
        raise KeyRefused("length", tr("This is too long for a private key."))
    text = _INVISIBLE.sub("", text).strip().strip(_QUOTES).strip()
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    if len(digits) == 2 * KEY_BYTES and all(char in "0123456789abcdefABCDEF" for char in digits):
        return PrivateKey(bytearray.fromhex(digits), chain)
    if chain == "solana":
        return _from_pair(_pair_of(text))
    raise KeyRefused("format", tr("A private key has 64 hexadecimal digits, with or without 0x in front."))


async def open_key_file(data: bytes, password: str) -> PrivateKey:
    """Decrypt a version 3 key file. Raises `WrongPassword`, `KeyFileDamaged`."""
    return await asyncio.to_thread(_open_key_file, data, password)


async def encrypt_key_file(key: PrivateKey, password: str) -> bytes:
    """Return `key` as a version 3 key file, which other wallets read. The key is not wiped. Raises `KeyRefused`."""
    if key.chain != "evm":
        raise KeyRefused("chain", tr("Key files exist for Ethereum keys only."))
    if len(password) < MIN_PASSWORD_CHARS:
        raise KeyRefused(
            "password",
            tr(
                "At least {min_password_chars} characters, because anyone with the file can keep guessing.",
                min_password_chars=MIN_PASSWORD_CHARS,
            ),
        )
    return await asyncio.to_thread(_encrypt_key_file, key, password)


def _phrase_words(text: str) -> list[str]:
    """The words of a phrase: letters with their marks. Everything between them, numbers included, separates."""
    text = _INVISIBLE.sub("", text.replace("\u200b", " "))
    letters = (each if unicodedata.category(each)[0] in "LM" else " " for each in unicodedata.normalize("NFKD", text))
    return "".join(letters).lower().split()


def _from_words(words: list[str], chain: Chain, index: int, passphrase: str) -> PrivateKey:
    # Not eth_account's from_mnemonic: its errors repeat the whole phrase, and it refuses phrases whose words are in
    # two languages although only one of them fits the checksum.
    load_eth_account()
    from eth_account.hdaccount import key_from_seed
    from eth_account.hdaccount.mnemonic import Mnemonic

    phrase = " ".join(words)
    lists = [Mnemonic(language) for language in Mnemonic.list_languages_enum()]
    known = [each for each in lists if all(_is_word(word, each.wordlist) for word in words)]
    if not known:
        best = max(lists, key=lambda each: sum(_is_word(word, each.wordlist) for word in words))
        strange = [str(at) for at, word in enumerate(words, 1) if not _is_word(word, best.wordlist)]
        raise KeyRefused(
            "word", tr("Not in the recovery phrase word list: word {strange}.", strange=", ".join(strange))
        )
    if not any(each.is_mnemonic_valid(phrase) for each in known):
        raise KeyRefused(
            "phrase_checksum", tr("This is not a valid recovery phrase. A word is wrong or in the wrong place.")
        )
    seed = Mnemonic.to_seed(phrase, passphrase)
    if chain == "solana":
        return PrivateKey(_slip10(seed, (*SOLANA_PATH, index, 0)), chain)
    return PrivateKey(bytearray(key_from_seed(seed, f"m/44'/60'/0'/0/{index}")), chain)


def _is_word(word: str, wordlist: list[str]) -> bool:
    return word in wordlist


def _slip10(seed: bytes, path: tuple[int, ...]) -> bytearray:
    """The Ed25519 key at a path whose steps are all hardened, as that curve demands."""
    node = hmac.digest(b"ed25519 seed", seed, hashlib.sha512)
    for step in path:
        data = b"\x00" + node[:KEY_BYTES] + (step + HARDENED).to_bytes(4, "big")
        node = hmac.digest(node[KEY_BYTES:], data, hashlib.sha512)
    return bytearray(node[:KEY_BYTES])


def _pair_of(text: str) -> bytearray:
    """The 64 bytes, or the 32, that a text of the other chain's wallets stands for."""
    refused = KeyRefused(
        "format", tr("A private key on this chain is 64 bytes in base58, a list of 64 numbers, or hex.")
    )
    if not text.startswith("["):
        try:
            return base58.decode(text)
        except AddressRefused:
            pass
        raise refused
    try:
        numbers = json.loads(text)
        return bytearray(numbers)
    except (ValueError, TypeError, RecursionError):
        pass
    raise refused


def _from_pair(pair: bytearray) -> PrivateKey:
    """The secret half of `pair`, after its public half has been compared with it."""
    key = PrivateKey(pair[:KEY_BYTES], "solana")
    public = bytes(pair[KEY_BYTES:])
    for at in range(len(pair)):
        pair[at] = 0
    if public and base58.decode(key.to_text())[KEY_BYTES:] != public:
        key.wipe()
        raise KeyRefused("pair", tr("The two halves of this key do not match."))
    return key


def _open_key_file(data: bytes, password: str) -> PrivateKey:
    document = _checked_key_file(data)
    load_eth_account()
    from eth_account import Account

    def decrypt() -> PrivateKey:
        try:
            return PrivateKey(bytearray(Account.decrypt(document, password)), "evm")
        except ValueError as error:
            if "MAC" not in str(error):
                raise
        raise WrongPassword("password", tr("Wrong password."))

    key = without_words(decrypt, KeyFileDamaged("damaged", tr("This key file is damaged.")))
    address = str(document.get("address") or "")
    if address and not same_evm_address("0x" + address.removeprefix("0x"), derived_address(key)):
        key.wipe()
        raise KeyFileDamaged("address", tr("The key in this file does not belong to the address in the file."))
    return key


def _encrypt_key_file(key: PrivateKey, password: str) -> bytes:
    load_eth_account()
    from eth_account import Account

    def encrypt() -> bytes:
        document = Account.encrypt(bytes(key.reveal()), password, kdf="scrypt")
        return json.dumps(document, indent=2).encode()

    return without_words(encrypt, KeyRefused("library", tr("The key could not be encrypted on this computer.")))


def _checked_key_file(data: bytes) -> dict[str, object]:
    """The document with lower-case names, once it is certain that opening it asks for a bearable amount of work."""
    damaged = KeyFileDamaged("damaged", tr("This is not a key file, or it is damaged."))
    if len(data) > MAX_KEY_FILE_BYTES:
        raise damaged
    document: object = None
    with suppress(ValueError, RecursionError):
        document = _lower(json.loads(data))
    if not isinstance(document, dict):
        raise damaged
    if document.get("version") not in (3, "3"):
        raise KeyFileDamaged("version", tr("Only version 3 key files are supported."))
    document["version"] = 3
    crypto = document.get("crypto")
    params = crypto.get("kdfparams") if isinstance(crypto, dict) else None
    if not isinstance(crypto, dict) or not isinstance(params, dict) or crypto.get("cipher") != "aes-128-ctr":
        raise damaged
    if not _bearable(crypto.get("kdf"), params):
        raise KeyFileDamaged("cost", tr("This key file needs too much memory or time to unlock."))
    return document


def _bearable(kdf: object, params: Mapping[str, object]) -> bool:
    numbers = {name: params.get(name) for name in ("n", "r", "p", "c", "dklen")}

    def within(name: str, most: int) -> bool:
        value = numbers[name]
        return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most

    if not within("dklen", KEY_BYTES):
        return False
    if kdf == "pbkdf2":
        return within("c", MAX_PBKDF2_ROUNDS)
    if kdf != "scrypt" or not all(within(name, MAX_SCRYPT_WORK) for name in ("n", "r", "p")):
        return False
    n, r, p = (cast(int, numbers[name]) for name in ("n", "r", "p"))
    return 128 * n * r <= MAX_SCRYPT_BYTES and n * r * p <= MAX_SCRYPT_WORK


def _lower(value: object) -> object:
    """Names in lower case: early wallets wrote `Crypto`."""
    if isinstance(value, dict):
        return {str(name).lower(): _lower(each) for name, each in value.items()}
    return value
