"""Nodes of a JSON tree: a value at its path, or a slice of a long list.

No level of the tree ever has more than `GROUP` rows: a longer list is shown in parts, and very long ones in parts of
parts. A jump into the middle of a hundred thousand entries then makes a few hundred rows and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from app.formats import format_number
from app.service.http.json_large import CONTAINERS, JSON_OBJECT, Large

Path = tuple[str | int, ...]
GROUP = 500  # rows of one level
UNREAD = object()  # stands for a value of large JSON that nobody has looked at


@dataclass(frozen=True, slots=True)
class TreeRoot:
    """A first-level row. `label` stands before the name; `note` and `tone` ("ok", "bad", "") are drawn at the right.

    `words` stand in place of the value's own.
    """

    key: str
    value: object
    label: str = ""
    note: str = ""
    detail: str = ""
    tone: str = ""
    words: str = ""


class JsonNode:
    """One value at its place. `kids` is None until somebody looks; in large JSON the value is parsed then too.

    With a `span` it is a part of its parent's list or object, whose `value` it shares: the members at these places.
    """

    __slots__ = ("_value", "key", "kids", "parent", "root", "row", "span")

    def __init__(
        self,
        parent: JsonNode | None,
        row: int,
        key: str | int,
        value: object,
        root: TreeRoot | None = None,
        span: range | None = None,
    ) -> None:
        self.parent = parent
        self.row = row
        self.key = key
        self._value = value
        self.root = root
        self.span = span
        self.kids: list[JsonNode] | None = None

    @property
    def value(self) -> object:
        if self._value is UNREAD:
            assert self.parent is not None
            self._value = self.parent.value[self.key]  # type: ignore[index]  # only members of `Large` are unread
        return self._value

    @property
    def picked(self) -> object:
        """The value, or of a part those members that are in it."""
        if self.span is None:
            return self.value
        pairs = self._members(self.span)
        return dict(pairs) if isinstance(self.value, JSON_OBJECT) else [value for _, value in pairs]

    @property
    def places(self) -> range:
        """Which members of the value stand below this row."""
        if self.span is not None:
            return self.span
        value = self.value
        return range(len(value)) if isinstance(value, CONTAINERS) else range(0)

    @property
    def may_unfold(self) -> bool:
        """True for what has children; for a list or object that was not read yet, also when it is empty."""
        if self._value is UNREAD:
            assert self.parent is not None
            return self.parent.value.is_container(self.key)  # type: ignore[attr-defined, no-any-return]  # as above
        return len(self.places) > 0

    @property
    def path(self) -> Path:
        """Where the value stands, from the first-level row (its number) inwards. A part stands where its list does."""
        steps: list[str | int] = []
        node: JsonNode | None = self
        while node is not None and node.parent is not None:
            if node.span is None:
                steps.append(node.row if node.root is not None else node.key)
            node = node.parent
        return tuple(reversed(steps))

    def made(self) -> list[JsonNode]:
        """Its children: the members, or for many of them parts."""
        places = self.places
        if len(places) > GROUP:
            width = GROUP
            while len(places) > width * GROUP:
                width *= GROUP
            starts = range(places.start, places.stop, width)
            return [
                JsonNode(
                    self,
                    row,
                    f"{format_number(start)} … {format_number(min(start + width, places.stop) - 1)}",
                    self.value,
                    span=span,
                )
                for row, start in enumerate(starts)
                if (span := range(start, min(start + width, places.stop)))
            ]
        if isinstance(self.value, Large):
            return [JsonNode(self, row, key, UNREAD) for row, key in enumerate(self._keys(places))]
        return [JsonNode(self, row, key, value) for row, (key, value) in enumerate(self._members(places))]

    def _keys(self, places: range) -> Iterator[str | int]:
        if isinstance(self.value, JSON_OBJECT):
            return islice(iter(self.value), places.start, places.stop)
        return iter(places)

    def _members(self, places: range) -> Iterator[tuple[Any, object]]:
        value: Any = self.value
        return ((key, value[key]) for key in self._keys(places))
