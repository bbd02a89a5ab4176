"""Addresses of both kinds of wallet, read strictly and written in one way each. Base58 and EIP-55 are done here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Chain = Literal["evm", "solana"]

ED25519_KEY_BYTES = 32
MAX_BASE58_CHARS = 256  # decoding is quadratic; a signature has 88
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGIT = {char: number for number, char in enumerate(_ALPHABET)}
_EVM = re.compile(r"0x[0-9a-fA-F]{40}")
_SOLANA = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")


@dataclass(frozen=True, slots=True)
class Wallet:
    """`address` is in EIP-55 form for EVM wallets, and as it came for the others, whose case matters."""

    chain: Chain
    address: str


def read_wallet(text: object) -> Wallet | None:
    """Return the wallet of an address in any case, or None for what is no address."""
    if not isinstance(text, str):
        return None
    if _EVM.fullmatch(text):
        return Wallet("evm", checksummed(text))
    if _SOLANA.fullmatch(text):
        key = from_base58(text)
        if key is not None and len(key) == ED25519_KEY_BYTES:
            return Wallet("solana", text)
    return None


def checksummed(address: str) -> str:
    """EIP-55: a letter is a capital where the address's own Keccak hash has a digit of 8 or more."""
    from Crypto.Hash import keccak

    digits = address[2:].lower()
    pattern = keccak.new(digest_bits=256, data=digits.encode()).hexdigest()
    return "0x" + "".join(
        char.upper() if int(mark, 16) >= 8 else char for char, mark in zip(digits, pattern, strict=False)
    )


def to_base58(data: bytes) -> str:
    number = int.from_bytes(data, "big")
    text = ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    leading = len(data) - len(data.lstrip(b"\0"))
    return _ALPHABET[0] * leading + text


def from_base58(text: str) -> bytes | None:
    """Return the bytes, or None when the text is none of base58 or far too long."""
    if len(text) > MAX_BASE58_CHARS or not all(char in _DIGIT for char in text):
        return None
    number = 0
    for char in text:
        number = number * 58 + _DIGIT[char]
    leading = len(text) - len(text.lstrip(_ALPHABET[0]))
    return bytes(leading) + number.to_bytes((number.bit_length() + 7) // 8, "big")
