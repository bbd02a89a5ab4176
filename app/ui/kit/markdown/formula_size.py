"""How large a formula will be, by its source alone: what keeps its place while another process sets it.

Within a few pixels for what people write; the sizes of letters are those of the font that formulas are set in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SYMBOL = re.compile(r"\\begin\s*\{\w+\*?\}|\\end\s*\{\w+\*?\}|\\[A-Za-z]+|\\.|\S", re.DOTALL)
_SCRIPT = 0.7  # of the size of what it belongs to
_AXIS = 0.27  # em from the baseline to the line of a fraction
_TALL = frozenset({"int", "oint", "iint", "iiint"})
_STACKED = frozenset({"sum", "prod", "coprod", "bigcup", "bigcap", "bigoplus"})
_LIMITED = frozenset({"lim", "max", "min", "sup", "inf", "argmax", "argmin"})
_WORDS = _LIMITED | {"sin", "cos", "tan", "log", "ln", "exp", "det", "gcd", "sinh", "cosh", "tanh"}
_RELATIONS = re.compile(
    r"to|pm|mp|leq?|geq?|neq?|approx|equiv|sim|(not)?in|(sub|sup)seteq|(sub|sup)set|c[au]p|times|cdot|mid|ll|gg|propto"
    r"|infty|circ|div|implies|iff|mapsto|([lL]eft|[rR]ight|Leftright)arrow"
)
_EMPTY = re.compile(
    r"left|right|[bB]igg?[lr]?|(display|text)style|(no)?limits|(math|text)\w*|operatorname|boldsymbol|bm|vec|(wide)?hat"
    r"|bar|(wide)?tilde|d?dot|overline|underline|!"
)
_SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.3, "quad": 1.0, "qquad": 2.0}


class Size(NamedTuple):
    """In em; up and down from the baseline."""

    width: float
    up: float
    down: float


def size_of(source: str, display: bool) -> Size:
    """Estimate. `source` was accepted by `check` of the process, which bounds how deep it is."""
    return _row(iter(_SYMBOL.findall(source)), display)[0]


def _row(symbols: Iterator[str], display: bool) -> tuple[Size, str]:
    """Return what is up to the end of a group or of a line, and what ended it."""
    width, up, down = 0.0, 0.55, 0.06
    start, base = 0.0, ""
    for symbol in symbols:
        if symbol in ("}", "\\\\") or symbol.startswith("\\end"):
            return Size(width, up, down), symbol
        if symbol not in ("^", "_"):
            start, base = width, symbol.removeprefix("\\")
            size = _atom(symbol, symbols, display)
            width, up, down = width + size.width, max(up, size.up), max(down, size.down)
            continue
        script = _scaled(_atom(next(symbols, ""), symbols, False), _SCRIPT)
        has_limits = base in _STACKED or base in _LIMITED
        if has_limits and display:  # above and below
            width = max(width, start + script.width)
            above, below = 1.1 + script.up, 1.0 + script.down
        else:
            width += script.width
            above, below = (0.75 if has_limits else 0.35) + script.up, (0.45 if has_limits else 0.12) + script.down
        up, down = (max(up, above), down) if symbol == "^" else (up, max(down, below))
    return Size(width, up, down), ""


def _atom(symbol: str, symbols: Iterator[str], display: bool) -> Size:
    """Return the size of one letter, sign, group or command with its arguments."""
    name = symbol.removeprefix("\\")
    if symbol == "{":
        return _row(symbols, display)[0]
    if symbol.startswith("\\begin"):
        return _table(symbols)
    if symbol.startswith("\\"):
        if name in ("frac", "dfrac", "tfrac", "binom"):
            is_large = name == "dfrac" or (display and name != "tfrac")
            parts = (_atom(next(symbols, ""), symbols, False) for _ in range(2))
            over, under = (_scaled(part, 1.0 if is_large else _SCRIPT) for part in parts)
            air = 0.16 if is_large else 0.1
            width = max(over.width, under.width) + 0.2
            return Size(width, _AXIS + air + over.up + over.down, max(0.1, under.up + under.down + air - _AXIS))
        if name == "sqrt":
            under = _atom(next(symbols, ""), symbols, display)
            return Size(under.width + 0.85, under.up + 0.2, under.down + 0.03)
        if name in _STACKED:
            return Size(1.4, 1.1, 0.6) if display else Size(1.05, 0.85, 0.35)
        if name in _TALL:
            return Size(0.9, 1.77, 1.14)
        if name in _WORDS:
            return Size(0.5 * len(name) + 0.17, 0.79, 0.06)
        if name in _SPACES or _EMPTY.fullmatch(name):
            return Size(_SPACES.get(name, 0.0), 0.0, 0.0)
    if _RELATIONS.fullmatch(name) or symbol in "=+-<>":
        return Size(1.25, 0.6, 0.1)
    if symbol in ".,;:'|!&":
        return Size(0.3, 0.5, 0.2)
    if symbol in "()[]":
        return Size(0.4, 0.79, 0.27)
    if len(symbol) == 1 and symbol.isalnum():
        return Size(0.6, 0.55 if symbol in "acegmnopqrsuvwxyz" else 0.75, 0.27 if symbol in "gjpqy" else 0.06)
    return Size(0.58, 0.79, 0.27)


def _table(symbols: Iterator[str]) -> Size:
    """Return the size of the lines of a matrix, of cases or of aligned equations, with the axis in their middle."""
    width = high = 0.0
    ended = "\\\\"
    while ended == "\\\\":
        line, ended = _row(symbols, False)
        width, high = max(width, line.width), high + max(1.0, line.up + line.down + 0.05)
    return Size(width + 0.6, high / 2 + _AXIS, max(0.0, high / 2 - _AXIS))


def _scaled(size: Size, factor: float) -> Size:
    return Size(size.width * factor, size.up * factor, size.down * factor)
