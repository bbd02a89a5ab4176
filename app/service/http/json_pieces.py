"""Large JSON read piece by piece, so that no other thread ever waits long for it.

A JSON parser keeps Python's lock until it is done: 50 MB in one go stop every thread for a third of a second, the one
that draws the window too. Here only values up to `PIECE_CHARS` are given to the parser; what is larger is walked
through in Python, which lets others in between. A fifth slower in all, and never away for more than a few milliseconds.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from app.service.errors import BadResponse
from app.service.http.json_text import MAX_DEPTH, read_json
from app.translation import tr

PIECE_CHARS = 128 * 1024
FIRST_CHARS = 2 * 1024
LARGE_BYTES = 256 * 1024  # below this one go is short enough

_SPACE = re.compile(r"[ \t\r\n]*")
_FLAT = re.compile(r'(?:[^\[\]{}"]+|"[^"\\]*")*')  # numbers, words and plain texts: nothing nested


def read_json_in_pieces(data: bytes) -> object:
    """Parse one JSON value as `read_json` does, in a thread. Raises `BadResponse`."""
    if len(data) <= LARGE_BYTES:
        return read_json(data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    reader = _Reader(text)
    try:
        value, end = reader.value(_skip(text, 0), 0)
    except (ValueError, RecursionError, IndexError):
        raise BadResponse(tr("The service’s response is not JSON.")) from None
    if _skip(text, end) != len(text):
        raise BadResponse(tr("The service’s response is not JSON."))
    return value


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._window = FIRST_CHARS  # how much the next value is likely to need
        self._scan = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse_constant).raw_decode

    def value(self, place: int, depth: int) -> tuple[object, int]:
        """The value that begins at `place`, and where it ends. Raises `ValueError`."""
        first = self._text[place]
        if first not in "[{":
            return self._scan(self._text, place)
        window = self._window
        while True:
            try:
                value, length = self._scan(self._text[place : place + window])
            except ValueError:
                if window >= PIECE_CHARS or place + window >= len(self._text):
                    break
                window = min(window * 8, PIECE_CHARS)
                continue
            self._window = max(FIRST_CHARS, min(length * 4, PIECE_CHARS))
            return value, place + length
        if depth >= MAX_DEPTH:
            raise BadResponse(tr("The service’s response is nested too deeply."))
        return self._array(place, depth) if first == "[" else self._object(place, depth)

    def _array(self, place: int, depth: int) -> tuple[list[object], int]:
        text, items = self._text, list[object]()
        place = _skip(text, place + 1)
        if text[place] == "]":
            return items, place + 1
        while True:
            flat = self._flat(place, "[]")
            if flat is None:
                item, place = self.value(place, depth + 1)
                items.append(item)
            else:
                items += flat[0]
                place = flat[1]
            place = _skip(text, place)
            if text[place] == "]":
                return items, place + 1
            if text[place] != ",":
                raise ValueError("a comma is missing")
            place = _skip(text, place + 1)

    def _flat(self, place: int, brackets: str) -> tuple[Any, int] | None:
        """As many plain values at once as one piece holds, all but the last; None for fewer than two.

        `brackets` are "[]" or "{}": what they belong to.
        """
        if self._text[place] in "[{":
            return None
        found = _FLAT.match(self._text, place, place + PIECE_CHARS)
        assert found is not None
        cut = self._text.rfind(",", place, found.end())
        if cut < 0:
            return None
        try:
            items, length = self._scan(f"{brackets[0]}{self._text[place:cut]}{brackets[1]}")
        except ValueError:  # the comma stood in a text
            return None
        return (items, cut) if length == cut - place + 2 else None

    def _object(self, place: int, depth: int) -> tuple[dict[str, object], int]:
        text, pairs = self._text, dict[str, object]()
        place = _skip(text, place + 1)
        if text[place] == "}":
            return pairs, place + 1
        while True:
            flat = self._flat(place, "{}")
            if flat is not None:
                pairs.update(flat[0])
                place = flat[1]
            else:
                if text[place] != '"':
                    raise ValueError("a name is missing")
                name, place = self._scan(text, place)
                place = _skip(text, place)
                if text[place] != ":":
                    raise ValueError("a colon is missing")
                pairs[name], place = self.value(_skip(text, place + 1), depth + 1)
            place = _skip(text, place)
            if text[place] == "}":
                return pairs, place + 1
            if text[place] != ",":
                raise ValueError("a comma is missing")
            place = _skip(text, place + 1)
