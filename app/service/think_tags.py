"""Splits `<think>…</think>` out of streamed text, wherever the network cuts the tags in two (R-EXT-03).

A tag inside code (after a backtick, or in a fence) is text that somebody wrote about tags, and stays text.
"""

from __future__ import annotations

from collections.abc import Iterator

OPEN, CLOSE, FENCE = "<think>", "</think>", "```"
Segment = tuple[bool, str]  # (is reasoning, text)


class ThinkTags:
    """Feed it the pieces of one answer's text in order; it says which parts are reasoning."""

    def __init__(self) -> None:
        self._thinking = False
        self._fenced = False
        self._held = ""  # what may be the beginning of a tag or of a fence
        self._last = ""  # the character before the next one
        self._trimming = False  # white space around a block belongs to the block

    def passes(self, text: str) -> bool:
        """True when `text`, which may not be empty, is plain text from end to end; it then need not be fed."""
        if self._held or self._trimming or self._thinking or "<" in text or "`" in text:
            return False
        self._last = text[-1]
        return True

    def feed(self, text: str) -> Iterator[Segment]:
        """Yield the parts of `text` that are decided; what may still turn into a tag waits for the next piece."""
        if not self._held and not self._trimming and "<" not in text and "`" not in text:
            if text:
                self._last = text[-1]
                yield self._thinking, text
            return
        yield from self._scan(self._held + text)

    def finish(self) -> Iterator[Segment]:
        """Yield what was held back: a tag that never came whole is text."""
        held, self._held = self._held, ""
        yield from self._give(held)

    def _scan(self, text: str) -> Iterator[Segment]:
        self._held = ""
        begun = position = 0
        while position < len(text):
            if text[position] not in "<`":
                position += 1
                continue
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
