"""Text that hides nothing: what cannot be seen, or changes how the rest is read, is spelled out.

Used wherever a person decides by reading: the sign sheet, terms of payment, a sign-in message.
"""

from __future__ import annotations

import unicodedata

_OPEN, _CLOSE = "‹", "›"
# Control, format (direction marks, joiners), surrogate, private, unassigned; line and paragraph ends; every space but
# the plain one; marks that draw over the letter before them.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"})


def make_visible(text: str, *, ascii_only: bool = True, lines: bool = False) -> str:
    """Return `text` with each character that could deceive as its code point: `‹U+202E›`.

    `ascii_only` treats every letter outside ASCII so, because a Cyrillic а looks like a Latin one: right for
    addresses, names of domains and tokens. `lines` keeps line feeds.
    """
    return "".join(_shown(char, ascii_only, lines) for char in text)


def hides_something(text: str, *, ascii_only: bool = True, lines: bool = False) -> bool:
    """True when `make_visible` would change it."""
    return any(_shown(char, ascii_only, lines) != char for char in text)


def _shown(char: str, ascii_only: bool, lines: bool) -> str:
    if char == " " or (lines and char == "\n"):
        return char
    deceives = unicodedata.category(char) in _UNSEEN or char in _OPEN + _CLOSE or (ascii_only and not char.isascii())
    return f"{_OPEN}U+{ord(char):04X}{_CLOSE}" if deceives else char
