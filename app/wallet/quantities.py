"""Whole numbers of a chain, written as people and as nodes write them. Exact: no float comes near them.

A node writes a quantity as "0x" and hexadecimal digits without leading zeros; a person writes "1500", "0x5dc",
"1.5 ether" or "30 gwei". Source: Ethereum JSON-RPC specification, hex value encoding.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from typing import Final

from app.formats import plain
from app.translation import tr
from app.wallet.errors import QuantityRefused

UNITS: Final = {"wei": 0, "kwei": 3, "mwei": 6, "gwei": 9, "szabo": 12, "finney": 15, "ether": 18, "eth": 18}
LARGEST: Final = 2**256 - 1
BLOCK_TAGS: Final = ("latest", "safe", "finalized", "pending", "earliest")

_DIGITS = 160  # 2**256 has 78 digits, and 18 more may follow the point
_LONGEST_HEX = 200  # zeros before the number are no node's way, but harmless
_HEX = re.compile(r"0[xX]([0-9a-fA-F]+)")
_DECIMAL = re.compile(r"(-?[0-9][0-9_,]*(?:\.[0-9]+)?)(?:[eE]\+?([0-9]{1,3}))?\s*([A-Za-z]*)")


def read_quantity(text: str, *, signed: bool = False) -> int:
    """Return the number that a person wrote, in the smallest unit. Raises `QuantityRefused` with a sentence.

    Without a unit the number must be whole; with one, what it stands for must be. `signed`: a leading minus is allowed.
    """
    text = plain(text.strip())
    if hexadecimal := _HEX.fullmatch(text):
        return _within(int(hexadecimal[1], 16))
    written = _DECIMAL.fullmatch(text)
    if written is None or text[:2] in ("0x", "0X"):
        raise QuantityRefused("number", tr("Enter digits, or 0x and hexadecimal digits, with or without a unit."))
    digits, exponent, unit = written[1].replace("_", ""), written[2] or "0", written[3].lower()
    if unit and unit not in UNITS:
        raise QuantityRefused(
            "unit", tr("“{written}” is not a unit. Units are wei, gwei and ether.", written=written[3])
        )
    with localcontext() as context:
        context.prec = _DIGITS
        value = Decimal(digits).scaleb(int(exponent) + UNITS.get(unit, 0))
        if value < 0 and not signed:
            raise QuantityRefused("negative", tr("This number cannot be negative."))
        if abs(value) > LARGEST:
            raise QuantityRefused("large", tr("This number does not fit into 256 bits."))
        if value != value.to_integral_value():
            whole = (
                tr("The number is not whole.")
                if not unit
                else tr("This has more decimals than wei allows: “{text}”.", text=text)
            )
            raise QuantityRefused("whole", whole)
        return int(value)


def _within(value: int) -> int:
    if value > LARGEST:
        raise QuantityRefused("large", tr("This number does not fit into 256 bits."))
    return value


def node_quantity(value: object) -> int | None:
    """The number that a node answered, hexadecimal or plain; None for what is none, or needs more than 256 bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= LARGEST else None
    found = _HEX.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST_HEX else None
    number = int(found[1], 16) if found is not None else None
    return number if number is not None and number <= LARGEST else None


def hex_quantity(value: int) -> str:
    """The form a node takes: 0 is "0x0". Raises `QuantityRefused` for a negative number."""
    if value < 0:
        raise QuantityRefused("negative", tr("This number cannot be negative."))
    return hex(value)


def in_unit(wei: int, unit: str = "ether") -> str:
    """The number in a unit, exact, without trailing zeros: 1500000000000000000 is "1.5"."""
    return scaled(wei, UNITS[unit])


def scaled(number: int, places: int) -> str:
    """The number with its point moved `places` (0 to 77) to the left, exact, without trailing zeros."""
    with localcontext() as context:
        context.prec = _DIGITS
        text = format(Decimal(number).scaleb(-places), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_block(text: str) -> str:
    """A block as a node takes it: a tag, or a number in hexadecimal. Raises `QuantityRefused`."""
    text = text.strip()
    if text.lower() in BLOCK_TAGS:
        return text.lower()
    try:
        return hex_quantity(read_quantity(text))
    except QuantityRefused as error:
        raise QuantityRefused(
            "block", tr("A block is a number or one of {block_tags}.", block_tags=", ".join(BLOCK_TAGS))
        ) from error
