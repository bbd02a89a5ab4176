"""Where sentences end, and how a long text is cut into parts that one request may hold each.

A part ends where a sentence does. Only a single sentence that is too long is cut inside: behind a clause, else between
words, and at last, for a word of thousands of letters, between two characters that belong to nothing together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARS = 4096

_CLOSERS = r"""["'”’»)\]]*"""
_END = re.compile(
    rf"(?P<stop>[.!?…؟।]+){_CLOSERS}(?=\s|$)|(?P<cjk>[。！？｡]+[\"'”’»)\]」』）】]*)|(?P<line>[^\S\n]*\n\s*)"
)
_CLAUSE = re.compile(r"[;:,]\s|[、，；：]|\s[–—]\s")
_SPACE = re.compile(r"\s")
_WORD_BEFORE = re.compile(r"[\w.&]+$")
# What ends with a full stop and does not end a sentence, in lower case without its last full stop.
_SHORT = (
    "mr mrs ms mx dr prof st sr jr rev hon gen col capt lt sgt maj cmdr gov sen rep pres messrs mme mlle"
    " no nos vol fig figs p pp ch sec par ed eds op art al cf viz vs v approx est dept univ inc ltd co corp bros"
    " e.g i.e a.k.a jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thurs fri sat sun"
    " z.b d.h u.a bzw usw ca nr str hr fr dipl ing evtl ggf vgl s.o s.u av ave blvd rd mt ft sra srta ud uds ex"
)
ABBREVIATIONS = frozenset(_SHORT.split())
# These may end one as well: they do when a capital letter follows.
_MAY_END = frozenset({"etc", "usw", "inc", "ltd", "co", "corp", "jr", "sr", "a.m", "p.m", "u.s", "u.k", "al"})


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (not included) of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def __len__(self) -> int:
        return self.end - self.start


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences in order, without the white space between them. A line is a sentence, too."""
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if match["stop"] and not _ends_here(text, start, match):
            continue
        _add(found, text, start, match.end())
        start = match.end()
    _add(found, text, start, len(text))
    return tuple(found)


def parts(text: str, maximum: int = MAX_CHARS) -> tuple[Span, ...]:
    """Return the fewest parts of up to `maximum` characters in order; nothing but white space is left out."""
    found: list[Span] = []
    for piece in _pieces(text, maximum):
        if found and piece.end - found[-1].start <= maximum:
            found[-1] = Span(found[-1].start, piece.end)
        else:
            found.append(piece)
    return tuple(found)


def split_text(text: str, maximum: int = MAX_CHARS) -> tuple[str, ...]:
    """Return the words of the parts."""
    return tuple(part.of(text) for part in parts(text, maximum))


def _pieces(text: str, maximum: int) -> Iterator[Span]:
    for sentence in sentences(text):
        start = sentence.start
        while sentence.end - start > maximum:
            cut = _place(text, start, start + maximum)
            yield _trimmed(text, start, cut)
            start = _trimmed(text, cut, sentence.end).start
        yield Span(start, sentence.end)


def _ends_here(text: str, start: int, match: re.Match[str]) -> bool:
    """Tell whether a stop ends a sentence: not behind an abbreviation, an initial, or the number of a list."""
    following = text[match.end() :].lstrip()
    if match["stop"] != ".":
        if not set(match["stop"]) - {".", "…"}:
            return not following[:1].islower()
        # “Really?” she said.
        return not (following[:1].islower() and match.group().endswith(("”", '"', "’", "'", "»", ")")))
    if following[:1].islower():
        return False
    found = _WORD_BEFORE.search(text, max(start, match.start() - 40), match.start())
    word = found.group() if found else ""
    known = word.lower()
    if known in _MAY_END:
        return following[:1].isupper() or not following
    if known in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word.isascii() and word != "I"):
        return not following
    is_numeral = word.isdigit() and len(word) <= 3
    return not (is_numeral and not text[start : match.start() - len(word)].strip())


def _place(text: str, start: int, limit: int) -> int:
    """Return where to cut a sentence that is longer than a part: the last clause, space or character before `limit`."""
    earliest = start + (limit - start) // 3
    for pattern in (_CLAUSE, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, earliest, limit)]
        if ends:
            return ends[-1]
    cut = limit
    while cut > start + 1 and _belongs_to_the_one_before(text[cut]):
        cut -= 1
    return cut if cut > start + 1 else limit


def _belongs_to_the_one_before(char: str) -> bool:
    return unicodedata.combining(char) != 0 or char in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff"


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    span = _trimmed(text, start, end)
    if len(span):
        found.append(span)
