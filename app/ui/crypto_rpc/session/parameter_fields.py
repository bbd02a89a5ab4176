"""A call's parameters as fields: what a person writes in one, what a node takes, and what it means.

The fields and the JSON are two views of one thing. Numbers are read in any unit and written in hexadecimal, addresses
get their checksum, blocks are tags or numbers. A place may hold a variable, `{{name}}`, which is left as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.methods import ParameterHelp
from app.ui.crypto_rpc.session.value_meaning import text_in
from app.wallet.addresses import read_evm_address
from app.wallet.errors import WalletError
from app.wallet.quantities import BLOCK_TAGS, hex_quantity, in_unit, read_block, read_quantity

_VARIABLE = re.compile(r"\{\{\s*\w+\s*\}\}")
_HEX = re.compile(r"0[xX][0-9a-fA-F]*")
GWEI_FROM, ETHER_FROM = 10**6, 10**13  # below, the unit would say nothing

# Parts of the two kinds of object that nearly every call with an object takes.
PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "call": (("to", "address"), ("data", "hex"), ("from", "address"), ("value", "quantity"), ("gas", "quantity")),
    "filter": (("fromBlock", "block"), ("toBlock", "block"), ("address", "address"), ("topics", "list")),
}


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field. `place`: the parameter's number, and the part's name in an object, "" for the whole."""

    place: tuple[int, str]
    label: str
    kind: str
    text: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class FieldMeaning:
    """What a text stands for. With a `problem` there is no value; `note` says what the value means."""

    value: object = None
    note: str = ""
    problem: str = ""
    empty: bool = False


def fields_of(parameters: Sequence[ParameterHelp], params: object) -> tuple[FieldView, ...]:
    """The fields of a call; none for a method whose parameters nobody described, or that are written as an object."""
    if not isinstance(params, Sequence) or isinstance(params, str) or len(params) > len(parameters):
        return ()
    found: list[FieldView] = []
    for place, parameter in enumerate(parameters):
        value = params[place] if place < len(params) else None
        parts = PARTS.get(parameter.kind)
        if parts is None or not (value is None or isinstance(value, Mapping)):
            kind = "object" if parts is not None else parameter.kind
            found.append(FieldView((place, ""), parameter.name, kind, shown(value), parameter.optional))
            continue
        held = value or {}
        for name, kind in parts:
            needed = parameter.kind == "call" and name == "to"
            found.append(FieldView((place, name), name, kind, shown(held.get(name)), not needed))
    return tuple(found)


def shown(value: object) -> str:
    """A value as it stands in its field."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_field(kind: str, text: str, coin: str = "ether") -> FieldMeaning:
    """Read one field. Never raises."""
    text = text.strip()
    if not text:
        return FieldMeaning(empty=True)
    if _VARIABLE.search(text):
        return FieldMeaning(text, tr("A variable is used here."))
    try:
        return _READERS.get(kind, _read_json)(text, coin)
    except WalletError as error:
        return FieldMeaning(problem=error.sentence)


def _read_address(text: str, _coin: str) -> FieldMeaning:
    if text.startswith("["):
        return _read_json(text, _coin)
    address = read_evm_address("0x" + text[2:] if text[:2] == "0X" else text)
    return FieldMeaning(
        address, tr("The checksum is correct.") if address == text else tr("Checksum: {address}", address=address)
    )


def _read_block(text: str, _coin: str) -> FieldMeaning:
    if text.startswith("{"):
        return _read_json(text, _coin)
    if re.fullmatch(r"0[xX][0-9a-fA-F]{64}", text):
        return FieldMeaning(text, tr("A block by its hash."))
    block = read_block(text)
    return FieldMeaning(
        block,
        "" if block in BLOCK_TAGS else tr("Block {block}, {block2}", block=format_number(int(block, 16)), block2=block),
    )


def _read_quantity(text: str, coin: str) -> FieldMeaning:
    number = read_quantity(text)
    return FieldMeaning(hex_quantity(number), quantity_words(number, coin))


def quantity_words(number: int, coin: str = "ether") -> str:
    """A number in the three ways in which people read it."""
    parts = [format_number(number), hex(number)]
    if number >= GWEI_FROM:
        parts.append(tr("{in_unit} gwei", in_unit=in_unit(number, "gwei")))
    if number >= ETHER_FROM:
        parts.append(f"{in_unit(number)} {coin}")
    return " · ".join(parts)


def _read_number(text: str, _coin: str) -> FieldMeaning:
    number = read_quantity(text)
    return FieldMeaning(number, format_number(number))


def _read_bool(text: str, _coin: str) -> FieldMeaning:
    if text.lower() not in ("true", "false"):
        return FieldMeaning(problem=tr("Enter true or false."))
    return FieldMeaning(text.lower() == "true")


def _read_bytes(text: str, _coin: str) -> FieldMeaning:
    if not _HEX.fullmatch(text) or len(text) % 2:
        return FieldMeaning(problem=tr("Enter 0x and pairs of hexadecimal digits."))
    data = bytes.fromhex(text[2:])
    words = text_in(data)
    if words:
        return FieldMeaning(text, tr_n("{n} byte: “{words}”", "{n} bytes: “{words}”", len(data), words=words))
    return FieldMeaning(text, tr_n("{n} byte", "{n} bytes", len(data)))


def _read_hash(text: str, _coin: str) -> FieldMeaning:
    if not re.fullmatch(r"0x[0-9a-fA-F]{64}", text):
        return FieldMeaning(problem=tr("Enter 0x and 64 hexadecimal digits."))
    return FieldMeaning(text)


def _read_text(text: str, _coin: str) -> FieldMeaning:
    return FieldMeaning(text)


def _read_json(text: str, _coin: str) -> FieldMeaning:
    try:
        return FieldMeaning(json.loads(text))
    except (ValueError, RecursionError):
        return FieldMeaning(problem=tr("This JSON is incomplete."))


_READERS = {
    "address": _read_address,
    "block": _read_block,
    "quantity": _read_quantity,
    "number": _read_number,
    "bool": _read_bool,
    "hex": _read_bytes,
    "hash": _read_hash,
    "text": _read_text,
    "felt": _read_text,
    "base58": _read_text,
}


def problem_in(fields: Sequence[FieldView], texts: Sequence[str]) -> str:
    """Return the first fault of the texts in these fields with the field's name, "" for none."""
    for field, text in zip(fields, texts, strict=True):
        problem = read_field(field.kind, text).problem
        if problem:
            return f"{field.label}: {problem}"
    return ""


def params_of(fields: Sequence[FieldView], texts: Sequence[str], before: object) -> list[object] | None:
    """The parameters that the fields say, None while one has a fault. Parts that have no field stay as they were."""
    old = list(before) if isinstance(before, Sequence) and not isinstance(before, str) else []
    values: dict[int, object] = {}
    for field, text in zip(fields, texts, strict=True):
        read = read_field(field.kind, text)
        if read.problem:
            return None
        place, part = field.place
        if not part:
            values[place] = None if read.empty else read.value
            continue
        kept = values.get(place)
        if not isinstance(kept, dict):
            was = old[place] if place < len(old) else None
            values[place] = kept = dict(was) if isinstance(was, Mapping) else {}
        if read.empty:
            kept.pop(part, None)
        else:
            kept[part] = read.value
    found = [values.get(place) for place in range(max(values, default=-1) + 1)]
    while found and found[-1] is None:
        found.pop()
    return found
