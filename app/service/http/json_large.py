"""Large JSON parsed lazily: lists and objects that stay text and parse a member when it is read.

Python objects for 50 MB of JSON take a third of a second to make, ten times their text in memory, and again as long to
be thrown away, all of it with Python's lock held. Here the text is checked once, which takes milliseconds, and only
members that are looked at become objects. What they give is exactly what `read_json` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast, overload

import msgspec

from app.service.errors import BadResponse
from app.service.http.json_pieces import read_json_in_pieces
from app.service.http.json_text import read_json, would_overflow
from app.translation import tr

LARGE_BYTES = 256 * 1024  # smaller ones are parsed at once
LEAST_BYTES_A_MEMBER = 12  # with more commas than that, keeping every member apart costs more than parsing it

Change = Callable[[object], object]

_members_of_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_members_of_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _chained(first: Change | None, then: Change) -> Change:
    return then if first is None else lambda value: then(first(value))


class LargeArray(Sequence[object]):
    """A JSON array whose items are parsed at each look. Read-only, safe in any thread.

    `change` is what becomes of each list and object in it when it is looked at.
    """

    __slots__ = ("_change", "_large", "_members", "_text")

    def __init__(self, text: msgspec.Raw, members: list[msgspec.Raw], change: Change | None = None) -> None:
        self._text = text
        self._members = members
        self._change = change
        self._large: dict[int, object] = {}

    def changed_by(self, change: Change) -> LargeArray:
        """The same array with each member changed once more when it is read."""
        return LargeArray(self._text, self._members, _chained(self._change, change))

    def __len__(self) -> int:
        return len(self._members)

    @overload
    def __getitem__(self, place: int) -> object: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[object]: ...
    def __getitem__(self, place: int | slice) -> object:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self._members)))]
        if place in self._large:
            return self._large[place]
        value = _value(self._members[place])
        if isinstance(value, LargeArray | LargeObject):
            value = self._large[place] = value if self._change is None else self._change(value)
            return value
        return self._change(value) if self._change is not None and isinstance(value, list | dict) else value

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, list | LargeArray) and len(self) == len(other)
        return same and all(mine == its for mine, its in zip(self, cast("Sequence[object]", other), strict=True))

    def is_container(self, place: int) -> bool:
        """True when the item is an array or an object, without parsing it."""
        return bytes(memoryview(self._members[place])[:1]) in (b"[", b"{")

    @property
    def text(self) -> str:
        """The array as it was written."""
        return bytes(self._text).decode("utf-8", "replace")


class LargeObject(Mapping[str, object]):
    """A JSON object whose values are parsed at each look. Read-only, safe in any thread. `change` as for the array."""

    __slots__ = ("_change", "_large", "_members", "_text")

    def __init__(self, text: msgspec.Raw, members: dict[str, msgspec.Raw], change: Change | None = None) -> None:
        self._text = text
        self._members = members
        self._change = change
        self._large: dict[str, object] = {}

    def changed_by(self, change: Change) -> LargeObject:
        """The same object, read in another way."""
        return LargeObject(self._text, self._members, _chained(self._change, change))

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> object:
        if name in self._large:
            return self._large[name]
        value = _value(self._members[name])
        if isinstance(value, LargeArray | LargeObject):
            value = self._large[name] = value if self._change is None else self._change(value)
            return value
        return self._change(value) if self._change is not None and isinstance(value, list | dict) else value

    def is_container(self, name: str) -> bool:
        """True when the value is an array or an object, without parsing it."""
        return bytes(memoryview(self._members[name])[:1]) in (b"[", b"{")

    @property
    def text(self) -> str:
        """The object as it was written."""
        return bytes(self._text).decode("utf-8", "replace")


Large = LargeArray | LargeObject
JSON_LIST = (list, LargeArray)  # for isinstance
JSON_OBJECT = (dict, LargeObject)
CONTAINERS = JSON_LIST + JSON_OBJECT


def read_large_json(data: bytes) -> object:
    """Parse one JSON value as `read_json` does, leaving large lists and objects as text. Raises `BadResponse`."""
    if len(data) <= LARGE_BYTES:
        return read_json(data)
    if would_overflow(data):
        raise BadResponse(tr("The service’s response is nested too deeply."))
    bare = data.removeprefix(b"\xef\xbb\xbf")
    if bare.count(b",") * LEAST_BYTES_A_MEMBER > len(bare):
        return read_json_in_pieces(bare)
    try:
        text = msgspec.json.decode(bare, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return read_json_in_pieces(bare)  # slower, and it knows what to overlook
    return _value(text)


def _value(text: msgspec.Raw) -> object:
    view = memoryview(text)
    if len(view) > LARGE_BYTES:
        first = bytes(view[:1])
        try:
            if first == b"[":
                return LargeArray(text, _members_of_list(text))
            if first == b"{":
                return LargeObject(text, _members_of_object(text))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return read_json_in_pieces(bytes(view))  # a name in it is not UTF-8
    return read_json(bytes(view))
