"""Makes Qt's enumerations several times faster than Python's own way, with the same result.

A module of its own: it runs before PySide is imported.

PySide makes an enumeration when its class is first used, all of a namespace together, through `enum.Enum(name, pairs)`.
That way turns each member into a descriptor and back, which costs a start about a fifth of its time. Here the class of
an enumeration without members is made once for each base, and its copies get their members directly. Whatever is not
plain (a name that a base has, a value that is no whole number, a negative flag) goes Python's own way.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from typing import Any

_Pairs = list[tuple[str, int]]
_PLAIN = (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)
_HOUSEKEEPING = (list, dict, set)
_METHOD = "_create_"  # a name that no stub knows
_made_slowly: Callable[..., Any] = getattr(enum.EnumType, _METHOD)
_templates: dict[tuple[type, object], tuple[dict[str, Any], frozenset[str]]] = {}


def make_enumerations_fast() -> None:
    """Let `enum.Enum(name, pairs)` and its kind take the short way for plain members.

    Python's enumerations change even between its smallest versions: where ours would be others, all go Python's way.
    """
    if all(_is_the_same(base) for base in _PLAIN):
        setattr(enum.EnumType, _METHOD, _create)


def _is_the_same(base: Any) -> bool:
    """Return whether a sample with a bit, another and a set of bits without names is the same either way."""
    names = [("A", 2), ("B", 1), ("C", 12)]
    shapes = []
    for make in (_create, _made_slowly):
        made = vars(make(base, base.__name__, list(names)))
        masks = [made.get(key) for key in ("_flag_mask_", "_singles_mask_", "_all_bits_", "_member_names_")]
        members = [
            (name, member.name, member.value, *sorted(vars(member))) for name, member in made["_member_map_"].items()
        ]
        shapes.append((sorted(made), masks, members))
    return shapes[0] == shapes[1]


def _create(base: Any, class_name: str, names: Any, **how: Any) -> Any:
    """From Python 3.12 on, Python calls it by the names of its arguments."""
    plain = base in _PLAIN and how.get("module") is None and how.get("qualname") is None and how.get("type") is None
    if not plain or not isinstance(names, list) or not names:
        return _made_slowly(base, class_name, names, **how)
    template, taken = _template(base, how.get("boundary"))
    if not _are_plain(names, taken, flags=issubclass(base, enum.Flag)):
        return _made_slowly(base, class_name, names, **how)
    namespace = {key: type(value)() if type(value) in _HOUSEKEEPING else value for key, value in template.items()}
    namespace["__module__"] = sys._getframe(2).f_globals.get("__name__", __name__)  # noqa: SLF001 - whoever calls the base
    made: Any = type.__new__(enum.EnumType, class_name, (base,), namespace)
    (_add_flags if issubclass(base, enum.Flag) else _add_values)(made, names)
    return made


def _template(base: type, boundary: object) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the namespace of an enumeration without members, and the names that members cannot have."""
    key = base, boundary
    if key not in _templates:
        empty = _made_slowly(base, base.__name__, [], module=__name__, boundary=boundary)
        own = {name: value for name, value in vars(empty).items() if name not in ("__dict__", "__weakref__")}
        _templates[key] = own, frozenset(name for kind in empty.__mro__ for name in vars(kind))
    return _templates[key]


def _are_plain(names: _Pairs, taken: frozenset[str], *, flags: bool) -> bool:
    seen = {
        name
        for name, value in names
        if type(value) is int and (value >= 0 or not flags) and name[0] != "_" and name not in taken and name != "mro"
    }
    return len(seen) == len(names)


def _add_values(made: Any, names: _Pairs) -> None:
    new, integers = made._new_member_, made._use_args_
    order, by_name, by_value = made._member_names_, made._member_map_, made._value2member_map_
    for name, value in names:
        member = by_value.get(value)
        if member is None:
            member = by_value[value] = _member(made, new, name, value, len(order), integers=integers)
            order.append(name)
        by_name[name] = member
        type.__setattr__(made, name, member)


def _add_flags(made: Any, names: _Pairs) -> None:
    """Add members that are bits or sets of bits; only single bits are listed."""
    new, integers = made._new_member_, made._use_args_
    order, by_name, by_value = made._member_names_, made._member_map_, made._value2member_map_
    mask = singles = last = 0
    ascending = True
    for name, value in names:
        member = by_value.get(value)
        if member is None:
            member = by_value[value] = _member(made, new, name, value, len(order), integers=integers)
            mask |= value
            if value and not value & (value - 1):
                singles |= value
                order.append(name)
                ascending = ascending and value > last
                last = value
        by_name[name] = member
        type.__setattr__(made, name, member)
    made._all_bits_ = (1 << mask.bit_length()) - 1
    if hasattr(made, "_singles_mask_"):
        made._flag_mask_, made._singles_mask_ = mask, singles
    else:  # Python 3.11.2, which Debian 12 has, knows no bits without a name
        made._flag_mask_ = singles
    if not ascending:
        made._iter_member_ = made._iter_member_by_def_


def _member(made: Any, new: Any, name: str, value: int, place: int, *, integers: bool) -> Any:
    member = new(made, value) if integers else new(made)
    # Not by way of its `__dict__`: it would keep that, and a start makes thousands of members.
    member._value_, member._name_, member.__objclass__, member._sort_order_ = value, name, made, place
    return member
