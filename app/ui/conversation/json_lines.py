"""The lines of a JSON value on screen: only branches that are open are walked, long ones in hundreds. No Qt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from app.formats import format_number
from app.service.http.sanitize import sanitize_text
from app.translation import tr, tr_n

CHILDREN_AT_ONCE = 100
SHORT_VALUE = 40  # lines; one that has no more begins with everything open
MAX_VALUE_CHARS = 4_000  # of one text on screen; a copy is always whole
Kind = Literal["string", "number", "word", "branch", "more"]


@dataclass(slots=True)
class JsonViewState:
    """What the person chose for one value. `opened` holds paths; None until something was folded."""

    raw: bool = False
    opened: set[str] | None = None
    shown: dict[str, int] = field(default_factory=dict)  # children on screen of long branches, by path


@dataclass(frozen=True, slots=True)
class Line:
    """`path` is what is copied: `$.items[3].name`. `folds` says that pressing it opens or closes a branch."""

    path: str
    depth: int
    key: str
    value: str
    kind: Kind
    folds: bool = False
    is_open: bool = False


class Branch:
    """A JSON text and, once somebody looks, its value."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _read(self) -> tuple[bool, object]:
        try:
            return True, json.loads(self.text)
        except (ValueError, RecursionError):
            return False, None

    @property
    def is_json(self) -> bool:
        """Whether there is a tree to show: an object or a list."""
        return isinstance(self._read[1], (dict, list))

    @property
    def value(self) -> object:
        return self._read[1]

    @property
    def shown_text(self) -> str:
        """The text as it came, as much of it as a screen can take."""
        limit = 25 * MAX_VALUE_CHARS
        return self.text if len(self.text) <= limit else f"{self.text[:limit]}…"

    def at(self, path: str) -> object:
        """Return what stands at a path. Raises `KeyError` for one that is not there."""
        for line_path, value in _walk(self.value, "$", path):
            if line_path == path:
                return value
        raise KeyError(path)

    def copied(self, path: str) -> str:
        value = self.at(path)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)

    @cached_property
    def is_short(self) -> bool:
        return _count(self.value, SHORT_VALUE) <= SHORT_VALUE


def lines_of(branch: Branch, memory: JsonViewState) -> list[Line]:
    """Return the lines that are to be seen. The top itself has none: its children begin at the left."""
    found: list[Line] = []
    _add_children(found, branch.value, "$", 0, branch, memory)
    return found or [Line("$", 0, "", "{}" if isinstance(branch.value, dict) else "[]", "branch")]


def is_open(branch: Branch, memory: JsonViewState, path: str) -> bool:
    return branch.is_short if memory.opened is None else path in memory.opened


def fold(branch: Branch, memory: JsonViewState, path: str) -> None:
    """Open a branch that is closed, close one that is open."""
    if memory.opened is None:
        every = {line.path for line in lines_of(branch, memory) if line.folds and line.is_open}
        memory.opened = every
    memory.opened ^= {path}


def show_more(memory: JsonViewState, path: str) -> None:
    memory.shown[path] = memory.shown.get(path, CHILDREN_AT_ONCE) + CHILDREN_AT_ONCE


def _add_children(
    found: list[Line], value: object, path: str, depth: int, branch: Branch, memory: JsonViewState
) -> None:
    children = _children(value, path)
    limit = memory.shown.get(path, CHILDREN_AT_ONCE)
    total = len(value) if isinstance(value, (dict, list)) else 0
    for number, (child_path, key, child) in enumerate(children):
        if number >= limit:
            rest = total - limit
            found.append(
                Line(
                    path,
                    depth,
                    "",
                    tr("Show {rest} of {rest2} more", rest=min(rest, CHILDREN_AT_ONCE), rest2=format_number(rest)),
                    "more",
                )
            )
            return
        folds = isinstance(child, (dict, list)) and bool(child)
        opened = folds and is_open(branch, memory, child_path)
        text, kind = _shown(child)
        found.append(Line(child_path, depth, sanitize_text(key), text, kind, folds, opened))
        if opened:
            _add_children(found, child, child_path, depth + 1, branch, memory)


def _children(value: object, path: str) -> Iterator[tuple[str, str, object]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"{path}{step_of(key)}", key, child
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield f"{path}[{number}]", str(number), child


def step_of(key: str) -> str:
    """`.name`, or `["odd key"]` where a dot would not do."""
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


def _walk(value: object, path: str, wanted: str) -> Iterator[tuple[str, object]]:
    """Every place on the way to `wanted`."""
    yield path, value
    for child_path, _, child in _children(value, path):
        rest = wanted.removeprefix(child_path)
        if rest != wanted and (not rest or rest[0] in ".["):
            yield from _walk(child, child_path, wanted)


def _shown(value: object) -> tuple[str, Kind]:
    if isinstance(value, str):
        text = value[:MAX_VALUE_CHARS]
        return sanitize_text(json.dumps(text, ensure_ascii=False)) + (
            "…" if len(value) > MAX_VALUE_CHARS else ""
        ), "string"
    if isinstance(value, bool) or value is None:
        return json.dumps(value), "word"
    if isinstance(value, dict):
        return tr_n("{n} entry", "{n} entries", len(value)) if value else "{}", "branch"
    if isinstance(value, list):
        return tr_n("{n} item", "{n} items", len(value)) if value else "[]", "branch"
    return json.dumps(value), "number"


def _count(value: object, most: int) -> int:
    """How many lines a value has when all is open, counted no further than just over `most`."""
    total, waiting = 0, [value]
    while waiting and total <= most:
        inner = waiting.pop()
        children = list(inner.values()) if isinstance(inner, dict) else inner if isinstance(inner, list) else []
        total += len(children)
        waiting += children[: most + 1]
    return total
