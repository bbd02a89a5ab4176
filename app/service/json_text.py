"""JSON text to values. Numbers with a point become Decimal, so that money is never rounded on the way in."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import msgspec

from app.service.errors import BadAnswer, LimitExceeded

MAX_DEPTH = 500
SAFE_RECURSION_LIMIT = 3000  # up to here Python itself notices deep nesting before the stack ends, on every system

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
MAX_DEPTH = 256
_STRING = re.compile(rb'"[^"]*"')
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_decode_exact = msgspec.json.Decoder(float_hook=Decimal).decode


def read_json(data: bytes | str, *, exact: bool = True) -> object:
    """Parse one JSON value. `exact=False` gives floats, for long vectors. Raises `BadAnswer`.

    Bytes that are not UTF-8 are replaced, a byte order mark is dropped, `NaN` and `Infinity` are refused, and so is
    anything nested deeper than `MAX_DEPTH`.
    """
    if len(data) > MAX_DEPTH and nested_too_deeply(data.encode("utf-8", "replace") if isinstance(data, str) else data):
        raise BadAnswer("The service sent something nested too deeply, or cut short.")
    try:
        return _decode_exact(data) if exact else msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:  # twice as slow, but it can be told what to overlook
        value: object = json.loads(
            text.removeprefix("\ufeff"), parse_float=Decimal if exact else None, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise BadAnswer("The service sent something that is not JSON.") from None
    return value


def nested_too_deeply(data: bytes) -> bool:
    """True for JSON nested deeper than `MAX_DEPTH`, and for brackets that do not close.

    Both parsers recurse in C and rely on Python's recursion limit to stop in time. A library that raises that limit
    for the whole process, as Ethereum virtual machines do, would let an answer of nothing but brackets end the program.
    """
    if len(data) <= MAX_DEPTH or data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    rest = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NEITHER_BRACKET_NOR_QUOTE)
    rest = _STRING.sub(b"", rest.replace(b'""', b""))  # what stands in quotes is text, whatever it looks like
    for _ in range(MAX_DEPTH):
        inner = len(rest)
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
        if len(rest) == inner:
            break
    return bool(rest)


def write_json(value: object) -> bytes:
    """The bytes of a request body, compact and in the order given. Raises `LimitExceeded` for what JSON cannot say."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_number)
    except (TypeError, ValueError, RecursionError):
        raise LimitExceeded("The request holds a value that JSON cannot carry.", field="body", limit="JSON") from None
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as a broken paste leaves it
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _number(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
