"""How the last, unfinished line of an answer is shown while it comes.

The markup of half a line is often only half there: `**bo` would stand on screen with its stars until the closing ones
arrive. Here such ends are completed or held back; the text itself is never changed, only what is drawn of it meanwhile.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.ui.kit.markdown.citations import held_back
from app.ui.kit.markdown.segments import fence_of

if TYPE_CHECKING:
    from app.ui.kit.markdown.segments import Kind

# A line that so far may turn into a list, a heading, a fence, a rule or a table: wait for its next character.
_UNDECIDED = re.compile(
    r"^[ \t>]*(?:[-*+_=~`#|:]{1,3}|\d{1,4}[.)]?|[-*+][ \t]+\[[ xX]?\]?|\d{1,4}[.)][ \t]+\[[ xX]?\]?)$"
)
_OPEN_LINK = re.compile(r"!?\[([^\[\]\n]*)(?:\](?:\([^()\s]*(?:[ \t]+\"[^\"]*)?)?)?$")
_MARK = re.compile(r"\\.|(`+)|(\*\*|__|~~|[*_])")
_HALF_TAG = re.compile(r"<(?:/?(?:b|br|s|su|sub|sup|k|kb|kbd)? ?/?)$", re.IGNORECASE)
_OPEN_TAG = re.compile(r"<(sub|sup|kbd)>(?!.*</\1>)", re.IGNORECASE)
_BULLET = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def presentable(line: str, kind: Kind | None, citations: bool) -> str:
    """Return what to draw for the unfinished `line` in an open block of `kind`."""
    if kind == "code":
        return "" if not line.strip(" \t`~") else line
    if not line or _UNDECIDED.match(line) or kind == "table" or line.lstrip().startswith("|"):
        return ""  # tables grow by whole rows
    if fence_of(line):
        return line
    shown = line
    if citations:
        held = held_back(shown)
        if held:
            shown = shown[:-held]
    bracket = shown.rfind("[")
    if bracket >= 0:
        found = _OPEN_LINK.search(shown, max(0, bracket - 1))
        if found is not None and not shown[: found.start()].endswith("\\"):
            label = found[1]
            is_complete_label = found[0].endswith("]")
            if not is_complete_label:
                shown = shown[: found.start()] + label
    return _closed(shown)


def cut_off(text: str, *, citations: bool) -> str:
    """Return what to draw of a text that ended anywhere: its last line as it was drawn while it came."""
    head, line_break, line = text.rpartition("\n")
    in_code = sum(fence_of(each) is not None for each in head.split("\n")) % 2 == 1
    if in_code or line.lstrip().startswith("|"):
        return text
    return head + line_break + (presentable(line, None, citations) or line)


def _closed(line: str) -> str:
    """Close or drop the emphasis and the code that `line` leaves open."""
    bullet = _BULLET.match(line)
    start = bullet.end() if bullet else 0
    open_marks: list[tuple[str, int]] = []
    code: tuple[str, int] | None = None
    for found in _MARK.finditer(line, start):
        ticks, mark = found[1], found[2]
        if ticks is not None:
            if code is None:
                code = (ticks, found.end())
            elif code[0] == ticks:
                code = None
        elif mark is not None and code is None:
            _take_mark(line, mark, found.start(), found.end(), open_marks)
    if code is None:
        line = _without_half_tag(line)
    else:
        ticks, end = code
        if not line[end:].strip():
            line = line[: end - len(ticks)]
        else:
            line += ticks if not line.endswith("`") else ""
    for mark, end in reversed(open_marks):
        body = line.rstrip()
        line = body[: end - len(mark)] if len(body) <= end else body + mark
    return line


def _without_half_tag(line: str) -> str:
    """Drop a tag that is only half there, and close one that is open."""
    half = _HALF_TAG.search(line)
    if half is not None:
        line = line[: half.start()]
    opened = _OPEN_TAG.search(line, max(0, len(line) - 200))
    if opened is None:
        return line
    return line[: opened.start()] if opened.end() == len(line) else f"{line}</{opened[1]}>"


def _take_mark(line: str, mark: str, start: int, end: int, open_marks: list[tuple[str, int]]) -> None:
    before = line[start - 1] if start else " "
    after = line[end] if end < len(line) else ""
    if open_marks and open_marks[-1][0] == mark and not before.isspace():
        open_marks.pop()
        return
    opens = not after.isspace() and not (mark[0] == "_" and before.isalnum())
    if opens and all(mark != other for other, _ in open_marks):
        open_marks.append((mark, end))
