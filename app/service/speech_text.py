"""Cuts a long text into pieces that can be spoken one by one, at the best places there are."""

from __future__ import annotations

import re

TARGET_CHARS = 1500
MAX_CHARS = 4096

# From the best place to the worst; each matches up to and with the place to cut behind.
_PLACES = (
    re.compile(r"\n\s*\n"),
    re.compile(r"""[.!?…。！？]+["'”’»)\]]*(?=\s|$)|[。！？]"""),
    re.compile(r"[;:,，、；：]\s"),
    re.compile(r"\s"),
)


def split_text(text: str, target: int = TARGET_CHARS, maximum: int = MAX_CHARS) -> tuple[str, ...]:
    """Return pieces of about `target` and never over `maximum` characters, in order, without edges of white space.

    A piece ends at a paragraph or sentence where it can, else at a clause, a word, and at last anywhere.
    """
    pieces: list[str] = []
    rest = text.strip()
    while len(rest) > target:
        at = _place(rest, target, maximum)
        pieces.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    if rest:
        pieces.append(rest)
    return tuple(piece for piece in pieces if piece)


def _place(text: str, target: int, maximum: int) -> int:
    for pattern in _PLACES:
        ends = [match.end() for match in pattern.finditer(text, 0, min(maximum, len(text)))]
        early = [end for end in ends if target // 3 <= end <= target]
        late = [end for end in ends if target < end <= maximum]
        if early:
            return early[-1]
        if late and late[0] <= target + target // 3:
            return late[0]
    return min(target, len(text))
