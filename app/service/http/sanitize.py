"""Removes from untrusted text the characters that could deceive its reader. Standard library only.

Overrides and embeddings (U+202A to U+202E) turn "exe.jpg" round, and no language needs them; an isolate (U+2066 to
U+2069) that is never closed turns what follows it; other control characters are drawn as nothing, or as anything.
Each becomes the replacement sign, one for one, so that places in the text stay the same. Arabic and Hebrew are read by
the letters themselves and lose nothing.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"
_SUSPECT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ISOLATES = re.compile("[\u2066-\u2069]")
_REPLACED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]")
_CLOSE = "\u2069"


def sanitize_text(text: str) -> str:
    """Return `text` with a replacement sign for each character that could deceive. As long as `text`."""
    if _SUSPECT.search(text) is None:
        return text
    text = _REPLACED.sub(REPLACEMENT, text)
    if _ISOLATES.search(text) is None:
        return text
    return "\n".join(map(_balanced, text.split("\n")))  # the end of a paragraph ends its isolates


def sanitize_line(text: str) -> str:
    """The same on one line: for a name that is read out or shown in a list."""
    return " ".join(sanitize_text(text).splitlines())


def _balanced(line: str) -> str:
    signs, opened = list(line), list[int]()
    for place, sign in enumerate(line):
        if "\u2066" <= sign < _CLOSE:
            opened.append(place)
        elif sign == _CLOSE:
            if opened:
                opened.pop()
            else:
                signs[place] = REPLACEMENT
    for place in opened:
        signs[place] = REPLACEMENT
    return "".join(signs)
