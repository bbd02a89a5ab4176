"""Contracts' interfaces: which functions, events and errors there are, and what their bytes mean.

Reads the JSON that compilers write, and single signatures such as `transfer(address to, uint256 amount)`. Encoding and
decoding are eth_abi's, strictly; whole numbers stay exact. Source: Solidity documentation, contract ABI specification.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.translation import tr, tr_n
from app.wallet.abi_signatures import MAX_SKIPPED_CHARS, not_a_signature, read_source
from app.wallet.abi_types import Entry, Kind, Parameter, canonical_type
from app.wallet.abi_values import ARRAY, Value, read_value, shown
from app.wallet.addresses import checksum_address
from app.wallet.errors import AbiRefused

MAX_INTERFACE_CHARS = 4_000_000
MAX_TYPE_DEPTH = 16

# https://docs.soliditylang.org, "Panic via assert and error via require"
PANICS = {
    0x00: tr("a built-in check failed"),
    0x01: tr("an assertion failed"),
    0x11: tr("a number overflowed"),
    0x12: tr("a division by zero"),
    0x21: tr("a value outside its enumeration"),
    0x22: tr("a broken byte array in storage"),
    0x31: tr("a pop from an empty array"),
    0x32: tr("an index outside an array"),
    0x41: tr("too much memory was requested"),
    0x51: tr("a call to a function that was never set"),
}


@dataclass(frozen=True)
class DecodedValues:
    """What bytes said: which entry, and each value by its parameter, as JSON can hold it (whole numbers exact)."""

    entry: Entry
    values: tuple[tuple[Parameter, Value], ...]

    @property
    def sentence(self) -> str:
        """The values in one line: `Transfer(from: 0x…, to: 0x…, value: 5)`."""
        parts = (
            f"{parameter.name}: {shown(value)}" if parameter.name else shown(value) for parameter, value in self.values
        )
        return f"{self.entry.name}({', '.join(parts)})"


@dataclass(frozen=True)
class Interface:
    """The entries of one contract, in the order in which they were written."""

    entries: tuple[Entry, ...] = ()
    skipped: tuple[str, ...] = ()  # the beginnings of entries that could not be read; the rest still serves

    def of_kind(self, kind: Kind) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == kind)

    def function(self, name_or_signature: str) -> Entry:
        """Raises `AbiRefused` when there is none, or several of that name."""
        found = [entry for entry in self.of_kind("function") if name_or_signature in (entry.name, entry.signature)]
        if len(found) != 1:
            what = tr("no function") if not found else tr("more than one function")
            raise AbiRefused(
                "function",
                tr(
                    "This interface has {what} called “{name_or_signature}”.",
                    what=what,
                    name_or_signature=name_or_signature,
                ),
            )
        return found[0]

    def decode_call(self, data: bytes) -> DecodedValues | None:
        """Which function is called with what, or None when it is none of these."""
        entry = next((entry for entry in self.of_kind("function") if entry.selector == data[:4]), None)
        return None if entry is None else DecodedValues(entry, decode(entry.inputs, data[4:]))

    def decode_log(self, topics: Sequence[bytes], data: bytes) -> DecodedValues | None:
        """Which event this is; None when it is none of these. Indexed text and arrays are known by their hash only."""
        refused: AbiRefused | None = None
        for entry in sorted(self.of_kind("event"), key=lambda each: each.anonymous):  # those with a name of their own
            named = topics if entry.anonymous else topics[1:]
            indexed = [parameter for parameter in entry.inputs if parameter.indexed]
            known = entry.anonymous or (bool(topics) and topics[0] == entry.digest)
            if not known or len(indexed) != len(named):
                continue
            try:
                plain = iter(decode(tuple(parameter for parameter in entry.inputs if not parameter.indexed), data))
                hashed = iter([_topic_value(each, topic) for each, topic in zip(indexed, named, strict=True)])
            except AbiRefused as error:
                if not entry.anonymous:
                    raise
                refused = error  # any log may be one of an anonymous event: another may fit
                continue
            return DecodedValues(entry, tuple(next(hashed) if each.indexed else next(plain) for each in entry.inputs))
        if refused is not None:
            raise refused
        return None

    def decode_revert(self, data: bytes) -> str | None:
        """Why a call was refused, in words; None when the bytes say nothing that is known here."""
        known = (*self.of_kind("error"), _ERROR, _PANIC)
        entry = next((entry for entry in known if entry.selector == data[:4]), None)
        if entry is None:
            return None
        try:
            values = decode(entry.inputs, data[4:])
        except AbiRefused:
            return None
        if entry is _ERROR:
            return str(values[0][1])
        if entry is _PANIC:
            code = values[0][1]
            assert isinstance(code, int)
            return tr(
                "{code} (panic 0x{code2})", code=PANICS.get(code, tr("a fault in the contract")), code2=f"{code:02x}"
            )
        return DecodedValues(entry, values).sentence


def encode_call(entry: Entry, arguments: Sequence[object]) -> str:
    """The data of a call as "0x…". `arguments`: text as a person wrote it, or JSON values. Raises `AbiRefused`.

    For a constructor these are the bytes that follow the contract's code.
    """
    encoded = encode(entry.inputs, arguments)
    return "0x" + (encoded if entry.kind == "constructor" else entry.selector + encoded).hex()


def encode(parameters: Sequence[Parameter], arguments: Sequence[object]) -> bytes:
    from eth_abi.abi import encode as eth_encode
    from eth_abi.exceptions import EncodingError

    if len(parameters) != len(arguments):
        raise AbiRefused(
            "count",
            tr_n(
                "{n} argument is needed, not {given}.",
                "{n} arguments are needed, not {given}.",
                len(parameters),
                given=len(arguments),
            ),
        )
    values = [
        read_value(parameter.type, parameter.parts, argument, parameter.name or tr("argument {place}", place=place))
        for place, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True), start=1)
    ]
    try:
        return eth_encode([parameter.type for parameter in parameters], values)
    except (EncodingError, ValueError, TypeError) as error:
        raise AbiRefused("encoding", tr("These arguments do not match the function.")) from error


def decode(parameters: Sequence[Parameter], data: bytes) -> tuple[tuple[Parameter, Value], ...]:
    """Each parameter with its value. Raises `AbiRefused` for bytes that do not hold them."""
    from eth_abi.abi import decode as eth_decode
    from eth_abi.exceptions import DecodingError

    if not parameters:
        return ()
    try:
        values = eth_decode([parameter.type for parameter in parameters], data)
    except (DecodingError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise AbiRefused("decoding", tr("These bytes do not match the interface.")) from error
    return tuple((each, _plain(each.type, each.parts, value)) for each, value in zip(parameters, values, strict=True))


def _plain(kind: str, parts: Sequence[Parameter], value: object) -> Value:
    """eth_abi's value as JSON knows it: bytes as "0x…", tuples as lists, addresses with their checksum."""
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, tuple | list):
        if array := ARRAY.fullmatch(kind):
            return [_plain(array[1], parts, item) for item in value]
        return [_plain(part.type, part.parts, item) for part, item in zip(parts, value, strict=True)]
    if isinstance(value, str) and kind == "address":
        return checksum_address(bytes.fromhex(value[2:]))
    if isinstance(value, bool | int | str):
        return value
    return str(value)  # fixed-point numbers: exact decimals, in no contract that a compiler makes today


def _topic_value(parameter: Parameter, topic: bytes) -> tuple[Parameter, Value]:
    dynamic = parameter.type in ("string", "bytes") or parameter.type.endswith("]") or parameter.type.startswith("(")
    if dynamic:
        return parameter, "hash 0x" + topic.hex()
    return decode((parameter,), topic)[0]


def read_interface(text: str) -> Interface:
    """Read an interface as compilers, explorers and other libraries write it.

    That is JSON (a list of entries or of signatures, an object with an "abi", an explorer's answer with it as
    "result"), or Solidity: signatures, one a line or behind a semicolon, with comments, interfaces and structs. What
    cannot be read is skipped and named. Raises `AbiRefused` when nothing can be read.
    """
    if len(text) > MAX_INTERFACE_CHARS:
        raise AbiRefused("large", tr("This interface is too large."))
    text = text.strip().removeprefix("\ufeff")
    if not text.startswith(("[", "{")):
        return _interface(*read_source(text))
    try:
        written = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AbiRefused("json", tr("This JSON is incomplete.")) from error
    for _ in range(3):
        if isinstance(written, dict):
            written = next((written[name] for name in ("abi", "result", "output", "ABI") if name in written), written)
        if isinstance(written, str) and written.lstrip().startswith(("[", "{")):
            try:
                written = json.loads(written)
            except (ValueError, RecursionError):
                break
    if not isinstance(written, list):
        raise AbiRefused(
            "interface", tr("This JSON is not an interface. An interface is a list of functions, events and errors.")
        )
    entries: list[Entry] = []
    skipped: list[str] = []
    for item in written:
        if isinstance(item, str):
            found, unread = read_source(item)
            entries += found
            skipped += unread
        elif (entry := _entry(item)) is not None:
            entries.append(entry)
        elif not (isinstance(item, Mapping) and item.get("type") in ("fallback", "receive")):  # nothing to call
            name = item.get("name") or item.get("type") if isinstance(item, Mapping) else item
            skipped.append(str(name)[:MAX_SKIPPED_CHARS])
    return _interface(entries, skipped)


def _interface(entries: list[Entry], skipped: list[str]) -> Interface:
    if not entries:
        if skipped:
            raise not_a_signature(skipped[0])
        raise AbiRefused("interface", tr("This interface has no functions, events or errors."))
    return Interface(tuple(entries), tuple(skipped))


def _entry(item: object) -> Entry | None:
    if not isinstance(item, Mapping):
        return None
    kind, name = item.get("type", "function"), item.get("name", "")
    if kind not in ("function", "event", "error", "constructor") or not isinstance(name, str):
        return None
    if not name and kind != "constructor":
        return None
    try:
        inputs, outputs = _parameters(item.get("inputs")), _parameters(item.get("outputs"))
    except AbiRefused:
        return None
    older = "view" if item.get("constant") is True else "payable" if item.get("payable") is True else "nonpayable"
    mutability = str(item.get("stateMutability", older))
    return Entry(kind, name, inputs, outputs, mutability, item.get("anonymous") is True)


def _parameters(items: object, depth: int = 0) -> tuple[Parameter, ...]:
    if items is None:
        return ()
    if not isinstance(items, list) or depth > MAX_TYPE_DEPTH:
        raise AbiRefused("interface", tr("This interface has a malformed parameter list."))
    return tuple(_parameter(item, depth) for item in items)


def _parameter(item: object, depth: int) -> Parameter:
    if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
        raise AbiRefused("interface", tr("A parameter of this interface has no type."))
    written = item["type"]
    parts: tuple[Parameter, ...] = ()
    if written.startswith("tuple"):
        parts = _parameters(item.get("components"), depth + 1)
        written = f"({','.join(part.type for part in parts)}){written[len('tuple') :]}"
    return Parameter(str(item.get("name", "")), canonical_type(written), parts, item.get("indexed") is True)


_ERROR = Entry("error", "Error", (Parameter("reason", "string"),))
_PANIC = Entry("error", "Panic", (Parameter("code", "uint256"),))
