"""Separates `<think>…</think>` from streamed text, wherever the network splits the tags (R-EXT-03).

A tag opens reasoning only where models put it: at the beginning of a line. A tag within a sentence, in code or in a
fence is text about tags. Servers whose prompt already ends in the opening tag send only the closing one, alone on its
line; everything before it was reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

OPEN, CLOSE = "<think>", "</think>"
MAX_INDENT = 3  # spaces; more make a line of code
MAX_LINE = 500  # characters of a line that decide whether it is a fence
Segment = tuple[bool, str] | None  # (is reasoning, text); None: all text so far was reasoning
marks_in = re.compile("[<`~\n]").search
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:(`{3,})[^`]*|(~{3,}).*)")
_UNDECIDED = re.compile(r"[ \t>*+\-\d.)]*(?:[`~]|$)")  # a line that is, or may become, a fence


class ThinkTags:
    """Takes the pieces of one answer's text in order and returns which parts are reasoning."""

    def __init__(self) -> None:
        self.quiet = False  # the next piece, if `marks_in` finds nothing in it, is text; it need not be fed
        self._thinking = False
        self._tagged = False  # a tag was seen: a closing tag alone is text from now on
        self._fence = ""  # the mark of the fence that the text is in
        self._line = ""  # the beginning of the line that the text is in
        self._held = ""  # what may be the beginning of a tag
        self._trimming = False  # white space around a block belongs to the block

    def feed(self, text: str) -> Iterator[Segment]:
        """Yield the parts of `text` that are decided; what may still turn into a tag waits for the next piece."""
        yield from self._scan(self._held + text, last=False)
        self.quiet = not (self._held or self._trimming or self._thinking or _UNDECIDED.match(self._line))

    def finish(self) -> Iterator[Segment]:
        """Yield what was held back: a tag that never came whole is text."""
        yield from self._scan(self._held, last=True)
        self.quiet = False

    def _scan(self, text: str, *, last: bool) -> Iterator[Segment]:
        self._held = ""
        begun = position = 0
        while position < len(text):
            if self._thinking:
                found = text.find(CLOSE, position)
                if found < 0:
                    position = len(text) - (0 if last else _beginning_at_end(text, position))
                    break
                yield from self._give(text[begun:found])
                self._begin(thinking=False)
                begun = position = found + len(CLOSE)
                continue
            mark = self._mark_at(text, position, last=last)
            if mark is None:  # the text ends before it can be told
                break
            if mark:
                yield from self._give(text[begun:position])
                if mark == CLOSE:
                    yield None
                self._begin(thinking=mark == OPEN)
                begun = position = position + len(mark)
            else:
                position = self._pass(text, position)
        yield from self._give(text[begun:position])
        self._held = text[position:]

    def _begin(self, *, thinking: bool) -> None:
        self._thinking = thinking
        self._tagged = self._trimming = True
        self._line = ""

    def _mark_at(self, text: str, position: int, *, last: bool) -> str | None:
        """The tag that begins at `position`, "" for none, None when more text is needed to tell."""
        if text[position] != "<" or self._fence or self._line.strip(" ") or len(self._line) > MAX_INDENT:
            return ""
        for mark in (OPEN,) if self._tagged else (OPEN, CLOSE):
            if text.startswith(mark, position):
                if mark == OPEN:
                    return mark
                rest = text[position + len(mark) :]
                if rest.strip(" \t\r") == "":
                    return mark if last else None
                return mark if rest.lstrip(" \t\r").startswith("\n") else ""
            if not last and mark.startswith(text[position:]):
                return None
        return ""

    def _pass(self, text: str, position: int) -> int:
        """Pass over the indentation of a line, or over the rest of it."""
        end = position
        if not self._line.strip():
            end = len(text) - len(text[position:].lstrip(" \t"))
        if end == position:
            found = text.find("\n", position)
            end = found if found >= 0 else len(text)
        self._line = (self._line + text[position:end])[:MAX_LINE]
        if text.startswith("\n", end):
            self._end_line()
            end += 1
        return end

    def _end_line(self) -> None:
        found, self._line = _FENCE.fullmatch(self._line.rstrip()), ""
        if found is None:
            return
        mark = found[1] or found[2]
        if not self._fence:
            self._fence = mark
        elif mark.startswith(self._fence) and found[0].endswith(mark):
            self._fence = ""

    def _give(self, text: str) -> Iterator[Segment]:
        if self._trimming:
            text = text.lstrip()
            self._trimming = not text
        if text:
            yield self._thinking, text


def _beginning_at_end(text: str, position: int) -> int:
    """How many characters at the end of `text` may be the beginning of the closing tag."""
    return next((n for n in range(min(len(CLOSE) - 1, len(text) - position), 0, -1) if text.endswith(CLOSE[:n])), 0)
