"""Citation markers in an answer: `[REF]0, 2[/REF]` counts sources from 0, `^1,2^` from 1.

People see, copy, export and edit them as `[1]`: `in_numbers` and `from_numbers` are the only conversions. Only answers
whose request had web search on are read for them. A marker that has not arrived whole is held back, so that no half of
one is ever seen.
"""

from __future__ import annotations

import re

MARKER = re.compile(r"\[REF\]\s*(\d{1,6}(?:\s*,\s*\d{1,6})*)\s*\[/REF\]|\^(\d{1,6}(?:,\d{1,6})*)\^")
_LONGEST_HELD = 120
_OPEN = "[REF]"
_CLOSE = "[/REF]"
_NUMBERS = re.compile(r"\s*(?:\d{1,6}\s*,\s*)*(?:\d{1,6}\s*)?")
_REF = re.compile(r"\[REF\]\s*\d{1,6}(?:\s*,\s*\d{1,6})*\s*\[/REF\]")
_NUMBER_OR_CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|`[^`\n]*`|\[(\d{1,3})\](?![(:]|\[(?!\d{1,3}\]))", re.DOTALL)
_CARET = re.compile(r"\^(?:\d{1,6}(?:,\d{1,6})*,?)?$")


def indexes_of(marker: re.Match[str]) -> tuple[int, ...]:
    """Return the 0-based source indexes that a marker names; -1 stands for `^0^`, which names none."""
    if marker[1] is not None:
        return tuple(int(number) for number in marker[1].split(","))
    return tuple(int(number) - 1 for number in marker[2].split(","))


def in_numbers(text: str) -> str:
    """Return a text with its markers as the numbers under which sources are listed: `[1][3]`."""
    return MARKER.sub(lambda found: "".join(f"[{index + 1}]" for index in indexes_of(found) if index >= 0), text)


def from_numbers(text: str, count: int) -> str:
    """Return a text that was edited with `[1]`, `[2]` as markers of its `count` sources. Code and links stay."""

    def marked(found: re.Match[str]) -> str:
        number = int(found[2]) if found[2] else 0
        return f"{_OPEN}{number - 1}{_CLOSE}" if 1 <= number <= count else found[0]

    return _NUMBER_OR_CODE.sub(marked, text)


def has_markers(text: str) -> bool:
    """Return whether a text holds a marker that is nothing else; `^1^` may also be mathematics."""
    return _REF.search(text) is not None


def held_back(text: str) -> int:
    """Return how many characters at the end of `text` may be the beginning of a marker."""
    caret = _CARET.search(text, max(0, len(text) - _LONGEST_HELD))
    if caret is not None and not _closes_a_marker(text, caret.start()):
        return len(text) - caret.start()
    start = text.find("[", max(0, len(text) - _LONGEST_HELD))
    while start >= 0:
        if _may_become_marker(text[start:]):
            return len(text) - start
        start = text.find("[", start + 1)
    return 0


def _closes_a_marker(text: str, caret: int) -> bool:
    """Tell whether the caret there ends a marker, as the second one of `^1^` does."""
    return any(found.end() == caret + 1 for found in MARKER.finditer(text, max(0, caret - _LONGEST_HELD)))


def _may_become_marker(rest: str) -> bool:
    if len(rest) <= len(_OPEN):
        return _OPEN.startswith(rest)
    if not rest.startswith(_OPEN):
        return False
    numbers = _NUMBERS.match(rest, len(_OPEN))
    after = rest[numbers.end() :] if numbers else ""
    return len(after) < len(_CLOSE) and _CLOSE.startswith(after)
