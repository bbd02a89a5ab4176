"""Public keys on secp256k1, and the Ethereum addresses that quotes and receipts name them by."""

from __future__ import annotations

import re

from Crypto.Hash import keccak

from app.sealed import secp256k1

_KEY = re.compile(r"(?:0[xX])?(?:04)?([0-9a-fA-F]{128})")
_ADDRESS = re.compile(r"0[xX]([0-9a-fA-F]{40})")


def read_key(text: object) -> bytes | None:
    """The 65 bytes (04‖x‖y) of a key in hex, with or without the leading 04. None for anything that is no point."""
    match = _KEY.fullmatch(text.strip()) if isinstance(text, str) else None
    key = b"\x04" + bytes.fromhex(match[1]) if match is not None else b""
    return key if secp256k1.is_on_curve(key) else None


def address_of(key: bytes) -> bytes:
    """The 20 bytes of a 65-byte key's address."""
    return keccak256(key[1:])[12:]


def read_address(text: object) -> bytes | None:
    """The 20 bytes of an address in any letter case; its checksum, if any, says nothing here."""
    match = _ADDRESS.fullmatch(text.strip()) if isinstance(text, str) else None
    return bytes.fromhex(match[1]) if match is not None else None


def keccak256(data: bytes) -> bytes:
    return keccak.new(digest_bits=256, data=data).digest()
