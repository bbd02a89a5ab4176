"""`{{name}}` in a call: one value, written once, used in many calls.

A place that holds nothing but a variable takes the value with its type; inside a longer text it is put in as text.
Names are letters, digits and _. A value may not hold variables itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.blanks import VARIABLE, with_variables_filled
from app.ui.crypto_rpc.session.batch import CallRow


def used_in(rows: Sequence[CallRow]) -> tuple[str, ...]:
    """The names of all variables in these calls, in the order in which they appear."""
    names: dict[str, None] = {}
    for row in rows:
        _collect(row.method, names)
        _collect(row.params, names)
    return tuple(names)


def filled(rows: Sequence[CallRow], values: Mapping[str, object]) -> tuple[CallRow, ...]:
    """The calls with every known variable replaced; unknown ones stay, for `used_in` to name."""
    return tuple(
        replace(row, method=str(_fill(row.method, values)), params=_fill(row.params, values))  # type: ignore[arg-type]
        for row in rows  # filling keeps a list a list and an object an object
    )


def _collect(value: object, names: dict[str, None]) -> None:
    if isinstance(value, str):
        names.update(dict.fromkeys(VARIABLE.findall(value)))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _collect(key, names)
            _collect(item, names)
    elif isinstance(value, Sequence):
        for item in value:
            _collect(item, names)


def _fill(value: object, values: Mapping[str, object]) -> object:
    if isinstance(value, str):
        whole = VARIABLE.fullmatch(value.strip())
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        return with_variables_filled(value, values)
    if isinstance(value, Mapping):
        return {str(_fill(key, values)): _fill(item, values) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_fill(item, values) for item in value]
    return value
