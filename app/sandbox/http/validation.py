"""Reads JSON, checks fields and gathers every complaint into one tree, so that one 400 names all invalid fields."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from app.sandbox.http.errors import HttpError, Json

Path = tuple[str | int, ...]
REQUIRED = "Required"
LARGEST = 1e300  # no number that means anything is larger; sums and products of those below still fit into a float
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_json(raw: bytes) -> object:
    """Return what JSON text says. Raises `ValueError` or `RecursionError` when it is none.

    Half of a surrogate pair, which a client makes by cutting a string inside an emoji, becomes U+FFFD: no text with it
    could be encoded again.
    """
    value = _DECODER.decode(raw.decode(json.detect_encoding(raw)))
    return _whole_text(value) if _SURROGATE.search(raw) else value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is out of range")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def _whole_text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_whole_text(name): _whole_text(one) for name, one in value.items()}
    return [_whole_text(one) for one in value] if isinstance(value, list) else value


class Checker:
    """Collects complaints by path. `details._errors` stands at every level; array elements are keyed by index."""

    def __init__(self, *, flat_list: bool = False) -> None:
        self._flat_list = flat_list  # the public service adds `issues` beside the tree
        self._found: list[tuple[Path, str]] = []

    def complain(self, path: Path, message: str) -> None:
        self._found.append((path, message))

    def finish(self) -> None:
        """Raise `HttpError` 400 when anything was found."""
        if not self._found:
            return
        tree: Json = {"_errors": []}
        for path, message in self._found:
            level = tree
            for step in path:
                level = level.setdefault(str(step), {"_errors": []})
            level["_errors"].append(message)
        body: Json = {"error": "Invalid request parameters", "details": tree}
        if self._flat_list:
            body["issues"] = [{"code": "custom", "path": list(path), "message": text} for path, text in self._found]
        raise HttpError(400, body)

    def lines(self) -> list[str]:
        """Return everything that was found as `field: what is wrong with it`, for a command line."""
        return [f"{'.'.join(map(str, path)) or 'the whole'}: {message}" for path, message in self._found]

    # One method per kind of field. Each returns the value, or None when it is absent or not usable.

    def text(self, path: Path, value: object, *, longest: int | None = None) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            self.complain(path, f"Expected string, received {kind_of(value)}")
            return None
        if longest is not None and len(value) > longest:
            self.complain(path, f"String must contain at most {longest} character(s)")
            return None
        return value

    def number(self, path: Path, value: object, low: float | None = None, high: float | None = None) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.complain(path, f"Expected number, received {kind_of(value)}")
            return None
        return self._within(path, value, -LARGEST if low is None else low, LARGEST if high is None else high)

    def integer(self, path: Path, value: object, low: int | None = None, high: int | None = None) -> int | None:
        if value is None:
            return None
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole:
            self.complain(path, f"Expected integer, received {kind_of(value)}")
            return None
        assert isinstance(value, int | float)
        within = self._within(path, int(value), -LARGEST if low is None else low, LARGEST if high is None else high)
        return None if within is None else int(within)

    def digits(self, path: Path, raw: str | None, low: int | None = None, high: int | None = None) -> int | None:
        """A whole number, not negative, as a query or a form writes it."""
        if raw is None:
            return None
        if not raw.isascii() or not raw.isdigit() or len(raw) > 18:
            self.complain(path, "Expected integer, received string")
            return None
        return self.integer(path, int(raw), low, high)

    def amount(self, path: Path, value: object, decimals: int = 12) -> Decimal | None:
        """Money, as a number or as text, of less than 10¹² and with so many decimals at most."""
        if value is None:
            return None
        try:
            amount = Decimal(str(value)) if isinstance(value, int | float | str) else Decimal("NaN")
            exact = amount.is_finite() and abs(amount) < Decimal(10) ** 12 and amount == round(amount, decimals)
        except (InvalidOperation, ValueError):
            exact = False
        if not exact or isinstance(value, bool):
            self.complain(path, f"Expected an amount with up to {decimals} decimals")
            return None
        return amount

    def boolean(self, path: Path, value: object) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        self.complain(path, f"Expected boolean, received {kind_of(value)}")
        return None

    def choice(self, path: Path, value: object, allowed: Iterable[str]) -> str | None:
        if value is None:
            return None
        names = tuple(allowed)
        if value not in names:
            expected = " | ".join(f"'{name}'" for name in names)
            self.complain(path, f"Invalid enum value. Expected {expected}, received {value!r}")
            return None
        return str(value)

    def record(self, path: Path, value: object) -> dict[str, Any] | None:
        if value is None or isinstance(value, dict):
            return value
        self.complain(path, f"Expected object, received {kind_of(value)}")
        return None

    def only(self, path: Path, value: Mapping[str, object], known: Iterable[str]) -> None:
        for name in value.keys() - set(known):
            self.complain((*path, name), "Unrecognized key")

    def items(self, path: Path, value: object) -> list[Any] | None:
        if value is None or isinstance(value, list):
            return value
        self.complain(path, f"Expected array, received {kind_of(value)}")
        return None

    def _within(self, path: Path, value: float, low: float | None, high: float | None) -> float | None:
        if low is not None and value < low:
            self.complain(path, f"Number must be greater than or equal to {low}")
            return None
        if high is not None and value > high:
            self.complain(path, f"Number must be less than or equal to {high}")
            return None
        return value


def kind_of(value: object) -> str:
    """Return the JSON name of a value's type."""
    if isinstance(value, bool):
        return "boolean"
    names = {"NoneType": "null", "str": "string", "int": "number", "float": "number", "list": "array", "dict": "object"}
    return names.get(type(value).__name__, type(value).__name__)
