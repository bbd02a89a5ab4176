"""JSON text to values. Numbers with a point become Decimal, so that money is never rounded on the way in."""

from __future__ import annotations

import json
from decimal import Decimal

import msgspec

from app.service.errors import BadAnswer, LimitExceeded

_decode_exact = msgspec.json.Decoder(float_hook=Decimal).decode


def read_json(data: bytes | str, *, exact: bool = True) -> object:
    """Parse one JSON value. `exact=False` gives floats, for long vectors. Raises `BadAnswer`.

    Bytes that are not UTF-8 are replaced, a byte order mark is dropped, `NaN` and `Infinity` are refused.
    """
    try:
        return _decode_exact(data) if exact else msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # the strict reader is twice as fast; what it refuses gets a second look
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        value: object = json.loads(
            text.removeprefix("\ufeff"), parse_float=Decimal if exact else None, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise BadAnswer("The service sent something that is not JSON.") from None
    return value


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
