"""Words as the retrieval sees them: lower case, no accents, no filler, endings cut."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)*")

_FILLER = """
a about after again all also am an and any are as at be because been before being but by can cannot could did do does
doing don done down during each else every few for from further get gets getting go going got had has have having he her
here hers him his how i if in into is isn it its itself just let like ll make makes may me might mine more most must my
myself need no nor not now of off on once one only or other our ours out over own please put s same shall she
should so some such t tell than that the their them then there these they thing things this those through to too under
until up upon us use used user using ve very want wanted was way we were what when where which while who whom why will
with without would you your yours yourself
"""
FILLER = frozenset(_FILLER.split())

# Words that people use for words that the handbook uses. Kept short: headings carry further ones of their own.
SAME = {
    "bigger": "larger",
    "big": "larger",
    "colour": "color",
    "cmd": "command",
    "conversation": "chat",
    "delete": "remove",
    "erase": "remove",
    "expensive": "cost",
    "fee": "cost",
    "directory": "folder",
    "hotkey": "shortcut",
    "internet": "web",
    "kept": "keep",
    "llm": "model",
    "mac": "macos",
    "money": "cost",
    "night": "dark",
    "osx": "macos",
    "paid": "cost",
    "pay": "cost",
    "persona": "character",
    "price": "cost",
    "safe": "secret",
    "saved": "keep",
    "store": "keep",
    "win": "windows",
}


def stem(word: str) -> str:
    """Cut the commonest English endings; the same for questions and pages, so it need not be pretty."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, replacement in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ings", ""),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("ly", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + replacement
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    return word


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def terms(text: str) -> list[str]:
    """Return the meaning-bearing words of a text in order, repeated ones included."""
    words = _WORD.findall(fold(text).replace("’", "'").replace("'", " "))
    return [_root(word) for word in words if word not in FILLER]


@lru_cache(maxsize=8192)  # the handbook has 1,700 different words and uses each a dozen times
def _root(word: str) -> str:
    known = SAME.get(word) or SAME.get(stem(word))
    return stem(known) if known else stem(word)
