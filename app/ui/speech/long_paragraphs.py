"""Splits paragraphs that are too long for an editor: Qt lays out a whole paragraph at every key.

Such a text is shown broken into lines that it does not have, and is not written in. The person can have real line
breaks put in at sentence ends; the text itself is never changed unasked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

LONGEST = 16_000  # characters of a paragraph that is written in: a key in it takes 3 ms, laying it out once 8
LINE = 4_000  # of one that is only shown, from one break that it does not have to the next
PARAGRAPH = 1_000  # about so long is each when real breaks are put in
_END = re.compile(r"""[.!?…]["'”’»)\]]*\s+|[。！？][”’」』）]*""")


def has_long(text: str) -> bool:
    """Whether a paragraph of the text is too long to be written in."""
    return len(text) > LONGEST and any(end - start > LONGEST for start, end in _paragraphs(text))


def breaks(text: str, line: int = LINE) -> tuple[int, ...]:
    """Return where the long paragraphs of a text are broken when it is shown: places in the text, in order."""
    return tuple(
        place
        for start, end in _paragraphs(text)
        if end - start > LONGEST
        for place in _cuts(text, start, end, line, anywhere=True)
    )


def shown(text: str, places: tuple[int, ...]) -> str:
    """The text as it is shown: with a line break more at each of the places."""
    return "\n".join(text[start:end] for start, end in pairwise((0, *places, len(text))))


def broken(text: str) -> str:
    """Return the text with real line breaks in its long paragraphs, between sentences or at least between words."""
    places = [
        place
        for start, end in _paragraphs(text)
        if end - start > LONGEST
        for place in _cuts(text, start, end, PARAGRAPH, anywhere=False)
    ]
    return "\n".join(text[start:end].rstrip(" ") for start, end in pairwise((0, *places, len(text))))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield start, end
        start = end + 1
    yield start, len(text)


def _cuts(text: str, start: int, end: int, line: int, *, anywhere: bool) -> Iterator[int]:
    """Where a paragraph is cut: at the last sentence end of every `line` characters, or else between words.

    `anywhere`: also inside a word that is longer than that.
    """
    while end - start > line:
        low, high = start + line // 2, start + line
        cut = max((match.end() for match in _END.finditer(text, low, high)), default=0)
        cut = cut or text.rfind(" ", low, high) + 1
        if not cut and not anywhere:
            cut = text.find(" ", high, end) + 1
            if not cut:
                return
        start = cut or high
        if start < end:
            yield start
