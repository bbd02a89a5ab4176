"""JSON text to values. Numbers with a point become Decimal, so that money is never rounded on the way in."""

from __future__ import annotations

import json
import re
import sys
import uuid
from decimal import Decimal

import msgspec

from app.service.errors import BadResponse, LimitExceeded
from app.service.http.base64_text import Base64Text
from app.translation import tr

MAX_DEPTH = 500
SAFE_RECURSION_LIMIT = 3000  # up to here Python itself notices deep nesting before the stack ends, on every system
C_HAS_ITS_OWN_LIMIT = sys.version_info >= (3, 12)

_STRING = re.compile(rb'"[^"]*"?')
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_decode_exact = msgspec.json.Decoder(float_hook=Decimal).decode


def read_json(data: bytes | str, *, exact: bool = True, constants: bool = False) -> object:
    """Parse one JSON value. `exact=False` gives floats, for long vectors. Raises `BadResponse`.

    Bytes that are not UTF-8 are replaced, and a byte order mark is dropped. `NaN` and `Infinity` are refused, or with
    `constants` read as null.
    """
    if would_overflow(data):
        raise BadResponse(tr("The service’s response is nested too deeply."))
    try:
        return _decode_exact(data) if exact else msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:  # slower, but it can be told what to overlook
        value: object = json.loads(
            text.removeprefix("\ufeff"),
            parse_float=Decimal if exact else None,
            parse_constant=(lambda _name: None) if constants else _refuse_constant,
        )
    except (ValueError, RecursionError):
        raise BadResponse(tr("The service’s response is not JSON.")) from None
    return value


def would_overflow(data: bytes | str) -> bool:
    """True when parsing `data` could end the process.

    Both parsers recurse in C and rely on Python's recursion limit to stop in time. Some libraries raise that limit for
    the whole process, as Ethereum virtual machines do; then an answer of nothing but brackets would run off the stack.
    From Python 3.12 on, what recurses in C has a limit of its own, which lets through what Python code cannot walk.
    """
    is_unguarded = C_HAS_ITS_OWN_LIMIT or sys.getrecursionlimit() > SAFE_RECURSION_LIMIT
    return len(data) > MAX_DEPTH and is_unguarded and nested_too_deeply(data)


def nested_too_deeply(data: bytes | str) -> bool:
    """True for JSON nested deeper than `MAX_DEPTH`. Takes time in proportion to the text, less for a hostile one."""
    text = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NEITHER_BRACKET_NOR_QUOTE)
    depth = 0
    for bracket in _STRING.sub(b"", bare.replace(b'""', b"")):  # what stands in quotes is text, whatever it looks like
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def write_json(value: object) -> tuple[bytes, ...]:
    """The bytes of a request body, compact and in the order given. Raises `LimitExceeded` for what JSON cannot say.

    One piece, or several when the value holds a `Base64Text`, which goes along in its own pieces.
    """
    carried: list[Base64Text] = []
    stand_in = uuid.uuid4().hex

    def other(found: object) -> object:
        if isinstance(found, Base64Text):
            carried.append(found)
            return stand_in
        return _number(found)

    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=other)
    except (TypeError, ValueError, RecursionError):
        raise LimitExceeded(
            tr("The request contains a value that JSON does not support."), field="body", limit="JSON"
        ) from None
    try:
        written = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as a broken paste leaves it
        written = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    first, *others = written.split(stand_in.encode())
    pieces = [first]
    for each, rest in zip(carried, others, strict=True):
        pieces[-1] += json.dumps(each.head)[1:-1].encode()
        pieces += each.pieces
        pieces.append(rest)
    return tuple(pieces)


def _number(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
