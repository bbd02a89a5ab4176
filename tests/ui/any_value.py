"""Values of every type there is in the program, as odd as a service or a file can make them, and who takes them.

Functions are found by walking the modules of the window, so that a new one is held to the same without being listed.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import enum
import importlib
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from app.service.wire import WireModel

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "ev\u202egpj.exe"
WORD = "W" * 10_000

_INTS = [0, 1, -1, 2, 100, 404, 2**31, 10**15, -(10**15)]
_FLOATS = [0.0, 0.5, 1.0, -1.0, 59.97, 1e-9, 1e9, -1e9]
_DECIMALS = ["0", "0.00", "1", "-1", "0.0000001", "12.345", "999999999999999", "-999999999999999", "1e-40", "0e-18"]
_DAYS = [datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)]
_TEXTS = ["", "x", "0", "a b", "ok", "text", "2026-01-01", "1e308", HOSTILE, "\ud800", "x\ny", "1024x1024", "16:9"]


class Leaves(dict[type, st.SearchStrategy[Any]]):
    """Told apart by identity, so that what is built on them is built once."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


PLAUSIBLE = Leaves(
    {  # what wire and storage let through
        int: st.sampled_from(_INTS),
        float: st.sampled_from(_FLOATS),
        Decimal: st.sampled_from(_DECIMALS).map(Decimal),
        datetime: st.sampled_from(_DAYS),
        date: st.sampled_from(_DAYS).map(datetime.date),
        timedelta: st.sampled_from([timedelta(), timedelta(seconds=-1), timedelta(days=40_000)]),
        str: st.sampled_from(_TEXTS),
        bytes: st.sampled_from([b"", b"x", b"\xff\0"]),
        bool: st.booleans(),
        type(None): st.none(),
        Path: st.just(Path("/nonexistent/x")),
    }
)
WILD = Leaves(
    {  # anything at all
        **PLAUSIBLE,
        int: st.sampled_from([*_INTS, 2**63, 10**40, -(10**400)]),
        float: st.sampled_from([*_FLOATS, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")]),
        Decimal: st.sampled_from([*_DECIMALS, "1e308", "-1e300", "1e-400", "NaN", "Infinity", "0e400"]).map(Decimal),
        datetime: st.sampled_from([*_DAYS, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
        date: st.sampled_from([date.min, date.max, date(2026, 3, 1)]),
        timedelta: st.sampled_from([timedelta.min, timedelta.max, timedelta()]),
    }
)
IDENTIFIED = Leaves({**PLAUSIBLE, str: st.just("x")})


class NoValue(Exception):
    """No value of this type can be made up: a widget, a callable, a service."""


class Function(NamedTuple):
    """One function of a module, with the types of what it takes and gives."""

    name: str  # with its module's
    call: Callable[..., Any]
    takes: dict[str, Any]
    gives: Any


@cache
def functions(packages: tuple[str, ...] = ("app.core", "app.ui")) -> tuple[Function, ...]:
    """Every plain function at the top of a module, private ones too."""
    found = []
    for path in (path for each in packages for path in sorted((ROOT / each.replace(".", "/")).rglob("*.py"))):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if path.name.startswith("__") or path.name == "formula_worker.py":  # the latter is another process
            continue
        for name, call in vars(importlib.import_module(module)).items():
            if inspect.isfunction(call) and call.__module__ == module and _is_plain(call):
                hints = _hints(call, module)
                gives = hints.pop("return", None)
                if set(hints) == set(inspect.signature(call).parameters):
                    found.append(Function(f"{module}.{name}", call, hints, gives))
    return tuple(found)


def _is_plain(call: Callable[..., Any]) -> bool:
    inner = inspect.unwrap(call)
    return not (inspect.iscoroutinefunction(inner) or inspect.isgeneratorfunction(inner))


@cache
def _names(module: str) -> dict[str, Any]:
    """The names of a module, those that only a type checker imports as well."""
    names = dict(vars(importlib.import_module(module)))
    text = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    for block in re.findall(
        r"^if TYPE_CHECKING:\n((?:[ \t].*\n|\n)+)", text, re.MULTILINE
    ):  # parsing all takes a second
        for line in ast.parse(textwrap.dedent(block)).body:
            if isinstance(line, ast.Import):
                names |= {each.asname or each.name: importlib.import_module(each.name) for each in line.names}
            elif isinstance(line, ast.ImportFrom):
                source = importlib.import_module(line.module or "")
                names |= {each.asname or each.name: getattr(source, each.name, object) for each in line.names}
    return names


def _hints(thing: Any, module: str) -> dict[str, Any]:
    return typing.get_type_hints(thing, _names(module))


def members(kind: Any) -> Iterator[Any]:
    """The types that a union holds, or the type itself."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        for each in typing.get_args(kind):
            yield from members(each)
    else:
        yield kind


def arguments(function: Function, leaves: Leaves) -> st.SearchStrategy[dict[str, Any]]:
    """Every set of arguments. Raises `NoValue`."""
    return st.fixed_dictionaries({name: values(kind, leaves) for name, kind in function.takes.items()})


@cache
def values(kind: Any, leaves: Leaves, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a type. Raises `NoValue`."""
    if depth > 12:
        raise NoValue
    if kind in (object, Any):
        plain = st.one_of(*(leaves[each] for each in (int, float, Decimal, str, bool, type(None))))
        return st.recursive(
            plain, lambda inner: st.lists(inner, max_size=2) | _mappings(leaves[str], inner), max_leaves=4
        )
    if isinstance(kind, type) and kind in leaves:
        return leaves[kind]
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*_possible(inside, leaves, depth))
    if origin is typing.Literal:
        return st.sampled_from(inside)
    if origin is tuple and inside[-1] is not Ellipsis:
        return st.tuples(*(values(each, leaves, depth + 1) for each in inside))
    if origin in _MANY:
        return st.lists(values(inside[0], leaves, depth + 1), max_size=2).map(_MANY[origin])
    if origin in (dict, collections.abc.Mapping):
        return _mappings(*(values(each, leaves, depth + 1) for each in inside))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    if isinstance(kind, type) and issubclass(kind, WireModel):
        return _answers(kind)
    if is_plain(kind) and kind.__module__.startswith("app."):
        return _records(kind, leaves, depth)
    raise NoValue


_MANY: dict[Any, Callable[[list[Any]], Any]] = {
    tuple: tuple,
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
}


def _mappings(keys: st.SearchStrategy[Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    return st.dictionaries(keys, inner, max_size=2)


def _possible(kinds: tuple[Any, ...], leaves: Leaves, depth: int) -> list[Any]:
    found = []
    for kind in kinds:
        try:
            found.append(values(kind, leaves, depth + 1))
        except NoValue:
            continue
    if not found:
        raise NoValue
    return found


def is_plain(kind: Any) -> bool:
    """A dataclass or a named tuple."""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_field_defaults"))


def _records(kind: Any, leaves: Leaves, depth: int) -> st.SearchStrategy[Any]:
    """Frozen values of ours; a field that nobody can make up keeps its default."""
    if dataclasses.is_dataclass(kind):
        if not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined] # every dataclass has them
            raise NoValue
        needed = {
            field.name: field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            for field in dataclasses.fields(kind)
            if field.init
        }
    else:
        needed = {name: name not in kind._field_defaults for name in kind._fields}
    hints = _hints(kind, kind.__module__)
    made = {}
    for name, is_needed in needed.items():
        try:
            made[name] = values(hints[name], leaves, depth + 1)
        except NoValue:
            if is_needed:
                raise
    return st.builds(kind, **made)


def _answers(kind: type[WireModel]) -> st.SearchStrategy[Any]:
    """What becomes of anything that a service may send, with what identifies it."""
    names = {name: field.alias or name for name, field in kind.model_fields.items()}
    needed = {
        names[name]: values(field.annotation, IDENTIFIED)
        for name, field in kind.model_fields.items()
        if field.is_required()
    }
    optional = {name: values(object, WILD) for name in names.values() if name not in needed}
    return st.fixed_dictionaries(needed, optional=optional).map(kind.model_validate)
