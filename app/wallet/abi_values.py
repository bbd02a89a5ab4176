"""One value of a contract's interface: read from what a person wrote, and shown again.

A value is text ("5", "0x5", "1.5 ether", an address, true) or JSON; arrays and tuples are JSON lists, tuples may be
objects with the parts' names. What does not fit its type is refused at its place: `orders[2].amount`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from app.translation import tr, tr_n
from app.wallet.addresses import read_evm_address
from app.wallet.errors import AbiRefused, AddressRefused, QuantityRefused
from app.wallet.quantities import read_quantity

if TYPE_CHECKING:
    from app.wallet.abi_types import Parameter

Value: TypeAlias = "str | int | bool | list[Value]"

ARRAY = re.compile(r"(.*)\[(\d*)\]")
_NUMBER = re.compile(r"(u?)int(\d+)")
_BYTES = re.compile(r"bytes(\d*)")


def shown(value: Value) -> str:
    """A value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def read_value(kind: str, parts: Sequence[Parameter], value: object, place: str) -> object:
    """What eth_abi takes for the type `kind`. Raises `AbiRefused` with the place that does not fit."""
    if array := ARRAY.fullmatch(kind):
        items = _list(value, place)
        if array[2] and len(items) != int(array[2]):
            raise AbiRefused(
                "count",
                tr_n(
                    "{place} needs {n} value, not {given}.",
                    "{place} needs {n} values, not {given}.",
                    int(array[2]),
                    place=place,
                    given=len(items),
                ),
                place,
            )
        return [read_value(array[1], parts, item, f"{place}[{number}]") for number, item in enumerate(items)]
    if kind.startswith("("):
        return _tuple(parts, value, place)
    if number := _NUMBER.fullmatch(kind):
        return _number(value, place, bits=int(number[2]), signed=not number[1])
    if kind == "address":
        return _address(value, place)
    if kind == "bool":
        return _bool(value, place)
    if kind == "string":
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if binary := _BYTES.fullmatch(kind):
        return _bytes(value, place, int(binary[1]) if binary[1] else None)
    raise AbiRefused("type", tr("Rialto cannot encode a value of type {kind}.", kind=kind), place)


def _list(value: object, place: str) -> Sequence[object]:
    value = _json(value, place)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise AbiRefused("list", tr("{place} must be a list: [first, second].", place=place), place)
    return value


def _json(value: object, place: str) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise AbiRefused("json", tr("{place} must be JSON, such as [1, 2].", place=place), place) from error


def _tuple(parts: Sequence[Parameter], value: object, place: str) -> tuple[object, ...]:
    value = _json(value, place)
    if isinstance(value, Mapping):
        unknown = set(value) - {part.name for part in parts}
        missing = [part.name for part in parts if part.name not in value]
        if unknown or missing:
            which = ", ".join(sorted(map(str, unknown)) or missing)
            raise AbiRefused(
                "parts",
                tr("{place} has different field names than the interface: {which}.", place=place, which=which),
                place,
            )
        value = [value[part.name] for part in parts]
    items = _list(value, place)
    if len(items) != len(parts):
        raise AbiRefused(
            "count",
            tr_n(
                "{place} needs {n} value, not {given}.",
                "{place} needs {n} values, not {given}.",
                len(parts),
                place=place,
                given=len(items),
            ),
            place,
        )
    return tuple(
        read_value(part.type, part.parts, item, f"{place}.{part.name or number}")
        for number, (part, item) in enumerate(zip(parts, items, strict=True))
    )


def _number(value: object, place: str, *, bits: int, signed: bool) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise AbiRefused("number", tr("{place} must be a whole number.", place=place), place)
    try:
        number = value if isinstance(value, int) else read_quantity(value, signed=signed)
    except QuantityRefused as error:
        raise AbiRefused(error.code, f"{place}: {error.sentence}", place) from error
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not lowest <= number <= highest:
        raise AbiRefused("range", tr("{place} does not fit into {bits} bits.", place=place, bits=bits), place)
    return number


def _address(value: object, place: str) -> str:
    try:
        return read_evm_address(value.strip() if isinstance(value, str) else "")
    except AddressRefused as error:
        raise AbiRefused(error.code, f"{place}: {error.sentence}", place) from error


def _bool(value: object, place: str) -> bool:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in ("true", "false"):
        raise AbiRefused("bool", tr("{place} must be true or false.", place=place), place)
    return word == "true"


def _bytes(value: object, place: str, length: int | None) -> bytes:
    text = value.strip() if isinstance(value, str) else ""
    if not re.fullmatch(r"0[xX](?:[0-9a-fA-F]{2})*", text):
        raise AbiRefused("hex", tr("{place} must be 0x and pairs of hexadecimal digits.", place=place), place)
    data = bytes.fromhex(text[2:])
    if length is not None and len(data) != length:
        raise AbiRefused(
            "length",
            tr_n(
                "{place} needs {n} byte, not {given}.",
                "{place} needs {n} bytes, not {given}.",
                length,
                place=place,
                given=len(data),
            ),
            place,
        )
    return data
