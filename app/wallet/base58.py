"""Base58 as the Ed25519 chain writes addresses, keys and signatures: no 0, O, I or l; a leading 1 is a zero byte."""

from __future__ import annotations

from app.translation import tr
from app.wallet.errors import AddressRefused

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
MAX_CHARS = 256  # the work grows with the square of the length; nothing we read is longer than 88

_VALUE = {char: value for value, char in enumerate(ALPHABET)}


def encode(data: bytes | bytearray) -> str:
    """Return `data` in base58; empty for no bytes."""
    zeros = len(data) - len(data.lstrip(b"\x00"))
    number = int.from_bytes(data, "big")
    digits: list[str] = []
    while number:
        number, rest = divmod(number, 58)
        digits.append(ALPHABET[rest])
    return "1" * zeros + "".join(reversed(digits))


def decode(text: str) -> bytearray:
    """Return the bytes, in a buffer that can be wiped. Raises `AddressRefused`, which does not repeat the text."""
    if len(text) > MAX_CHARS:
        raise AddressRefused("base58", tr("Base58 text can have up to {max_chars} characters.", max_chars=MAX_CHARS))
    number = 0
    for char in text:
        value = _VALUE.get(char)
        if value is None:
            raise AddressRefused("base58", tr("This contains a character that base58 does not use."))
        number = number * 58 + value
    zeros = len(text) - len(text.lstrip("1"))
    return bytearray(zeros) + bytearray(number.to_bytes((number.bit_length() + 7) // 8, "big"))
