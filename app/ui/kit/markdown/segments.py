"""What the Markdown scanner hands out: a stretch of source with what it needs to be parsed alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "heading", "rule", "quote", "list", "table", "code", "indented", "footnote"]

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^\n]*?)[ \t]*\r?\n?$")


@dataclass(frozen=True, slots=True)
class Context:
    """What a segment cannot know from its own source.

    `after` is the kind of the segment before ("" for the first), `joined` whether it carries on the same block.
    `dedent` columns are taken off every line because the list they stand in was cut; `indent` counts those lists.
    `number` overrides the first number of an ordered list, `table_head` repeats the head of a table.
    For code: `language`, which `part` this is, and whether the fence was `closed` here.
    """

    after: str = ""
    joined: bool = False
    dedent: int = 0
    indent: int = 0
    number: int | None = None
    table_head: str = ""
    language: str = ""
    part: int = 0
    closed: bool = False


PLAIN = Context()


@dataclass(frozen=True, slots=True)
class Segment:
    """A finished (or, from `Scanner.tail`, a provisional) stretch of source. `start` is its offset in the text."""

    kind: Kind
    start: int
    source: str
    context: Context

    @property
    def code(self) -> str:
        """Return the lines between the fences, without the indentation of the list around them."""
        lines = self.source.split("\n")
        context = self.context
        if context.part == 0:
            while lines and not lines[0].strip():
                lines.pop(0)
            lines = lines[1:]
        if context.closed:
            while lines and not lines[-1].strip():
                lines.pop()
            lines = lines[:-1]
        text = "\n".join(dedented(line, context.dedent) for line in lines)
        return text.removesuffix("\n") if not context.closed else text

    @property
    def prose(self) -> str:
        """Return the source as it is to be parsed: out of its list, and under its table's head."""
        context = self.context
        if not context.dedent:
            return context.table_head + self.source
        return context.table_head + "\n".join(dedented(line, context.dedent) for line in self.source.split("\n"))


def dedented(line: str, columns: int) -> str:
    """Take up to `columns` columns of leading white space off `line`; a tab counts to the next multiple of four."""
    at = index = 0
    while index < len(line) and at < columns and line[index] in " \t":
        at += 4 - at % 4 if line[index] == "\t" else 1
        index += 1
    return " " * max(0, at - columns) + line[index:]


def indent_of(line: str) -> int:
    """Return the column of the first character that is no white space."""
    if line[:1] not in (" ", "\t"):
        return 0
    at = 0
    for character in line:
        if character == " ":
            at += 1
        elif character == "\t":
            at += 4 - at % 4
        else:
            break
    return at


def fence_of(line: str) -> re.Match[str] | None:
    """Return what opens a fence in `line`: indentation, mark, words after it."""
    fence = _FENCE.match(line)
    return None if fence is None or (fence[2][0] == "`" and "`" in fence[3]) else fence


def cell_count(row: str) -> int:
    """Count the cells of a table row; an escaped bar is text."""
    row = row.strip().replace("\\|", "")
    return row.count("|") - row.startswith("|") - (len(row) > 1 and row.endswith("|")) + 1
