"""Separates `<think>…</think>` from streamed text, wherever the network splits the tags (R-EXT-03).

A tag inside code (after a backtick, or in a fence) is text that somebody wrote about tags, and stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

OPEN, CLOSE, FENCE = "<think>", "</think>", "```"
_MARK = re.compile("[<`]")
Segment = tuple[bool, str]  # (is reasoning, text)


class ThinkTags:
    """Feed it the pieces of one answer's text in order; it says which parts are reasoning."""

    def __init__(self) -> None:
        self.quiet = (
            True  # the next piece, if it holds neither "<" nor "`", is text from end to end; no need to feed it
        )
        self._thinking = False
        self._fenced = False
        self._held = ""  # what may be the beginning of a tag or of a fence
        self._last = ""  # the character before the next one
        self._trimming = False  # white space around a block belongs to the block

    def feed(self, text: str) -> Iterator[Segment]:
        """Yield the parts of `text` that are decided; what may still turn into a tag waits for the next piece."""
        yield from self._scan(self._held + text)
        self.quiet = not (self._held or self._trimming or self._thinking or self._last == "`")

    def finish(self) -> Iterator[Segment]:
        """Yield what was held back: a tag that never came whole is text."""
        held, self._held = self._held, ""
        yield from self._give(held)
        self.quiet = not (self._trimming or self._thinking)

    def _scan(self, text: str) -> Iterator[Segment]:
        self._held = ""
        begun = position = 0
        while (found := _MARK.search(text, position)) is not None:
            position = found.start()
            mark = self._mark_at(text, position)
            if mark is None:  # the text ends before it can be told
                break
            if mark == FENCE:
                self._fenced = not self._fenced
                position += len(FENCE)
            elif mark:
                yield from self._give(text[begun:position])
                self._thinking = mark == OPEN
                self._trimming = True
                self._last = ""
                begun = position = position + len(mark)
            else:
                position += 1
        else:
            position = len(text)
        yield from self._give(text[begun:position])
        self._held = text[position:]

    def _mark_at(self, text: str, position: int) -> str | None:
        """The mark that begins at `position`, "" for none, None when more text is needed to tell."""
        if text[position] == "`":
            mark = "" if self._thinking else FENCE
        else:
            mark = CLOSE if self._thinking else OPEN
            before = text[position - 1] if position else self._last
            if not self._thinking and (self._fenced or before == "`"):
                mark = ""
        if not mark or text.startswith(mark, position):
            return mark
        rest = text[position:]
        return None if mark.startswith(rest) else ""

    def _give(self, text: str) -> Iterator[Segment]:
        if self._trimming:
            text = text.lstrip()
            self._trimming = not text
        if text:
            self._last = text[-1]
            yield self._thinking, text
