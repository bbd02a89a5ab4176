"""Addresses of both kinds of chain: read strictly, written in the form that shows typing errors.

The Ethereum form carries its checksum in the case of its letters (EIP-55). An address in one case only has none and
is taken as it is; mixed case must be right. Addresses of the other chain are case-sensitive: never change their case.
"""

from __future__ import annotations

import re
from typing import Literal

from app.translation import tr
from app.wallet import base58
from app.wallet.errors import AddressRefused

Chain = Literal["evm", "solana"]

ZERO_ADDRESS = "0x" + "0" * 40
ED25519_KEY_BYTES = 32

_HEX_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_BASE58_ADDRESS = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")


def keccak256(data: bytes | bytearray) -> bytes:
    """The hash of Ethereum: 32 bytes. Its library takes some 60 ms to load; `signer.warm_up` does it elsewhere."""
    from Crypto.Hash import keccak

    return keccak.new(digest_bits=256, data=bytes(data)).digest()


def checksum_address(digits: bytes) -> str:
    """The EIP-55 form of 20 bytes."""
    lower = digits.hex()
    marks = keccak256(lower.encode()).hex()[: len(lower)]
    return "0x" + "".join(char.upper() if mark >= "8" else char for char, mark in zip(lower, marks, strict=True))


def read_evm_address(text: str) -> str:
    """Return the checksummed form. Raises `AddressRefused`."""
    if not _HEX_ADDRESS.fullmatch(text):
        raise AddressRefused("address", tr("An address is 0x followed by 40 hexadecimal digits."))
    address = checksum_address(bytes.fromhex(text[2:]))
    digits = text[2:]
    if digits not in (digits.lower(), digits.upper()) and digits != address[2:]:
        raise AddressRefused("checksum", tr("This address has a wrong checksum. Check each character."))
    return address


def read_solana_address(text: str) -> str:
    """Return the address unchanged when it stands for 32 bytes. Raises `AddressRefused`."""
    if not _BASE58_ADDRESS.fullmatch(text) or len(base58.decode(text)) != ED25519_KEY_BYTES:
        raise AddressRefused("address", tr("An address on this chain has 32 to 44 base58 characters."))
    return text


def read_address(text: str) -> tuple[Chain, str]:
    """Return which kind of address this is, and its clean form. Raises `AddressRefused`."""
    text = text.strip()
    if text[:2] in ("0x", "0X"):
        return "evm", read_evm_address(text)
    return "solana", read_solana_address(text)


def chain_of(address: str) -> Chain:
    """Return the kind of chain that an address is written for; the address is not validated."""
    return "evm" if address.startswith(("0x", "0X")) else "solana"


def same_address(one: str, other: str) -> bool:
    """Compare two addresses of either chain: only the Ethereum form may differ in case."""
    return same_evm_address(one, other) or (bool(one) and chain_of(one) == "solana" and one == other)


def same_evm_address(one: str, other: str) -> bool:
    """Compare without regard to case; anything that is no address is the same as nothing."""
    return bool(_HEX_ADDRESS.fullmatch(one)) and one.lower() == other.lower()
