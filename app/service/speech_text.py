"""Where sentences end, and how a long text is cut into parts that one request may hold each.

A part ends where a sentence does. Only a single sentence that is too long is cut inside: behind a clause, else between
words, and at last, for a word of thousands of letters, between two characters that belong to nothing together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from app.translation import tr

MAX_CHARS = 4096

WRAPPED_LINE_CHARS = 55  # a line this long that no mark closes goes on in the next: it was wrapped, as in a mail

_CLOSERS = r"""["'”’»)\]]*"""
_END = re.compile(
    rf"(?P<stop>[.!?…؟।۔።]+){_CLOSERS}(?=\s|$)|(?P<cjk>(?:[。！？｡]|．(?!\d))+[\"'”’»)\]」』）】]*)"
    r"|(?P<line>[^\S\n]*\n\s*)"
)
_CLAUSE = re.compile(r"[;:,]\s|[、，；：]|\s[–—]\s")
_SPACE = re.compile(r"[^\S\u00a0\u2007\u202f]")  # what a no-break space holds together is one word
_NOT_SPACE = re.compile(r"\S")
_WORD_BEFORE = re.compile(r"[\w.&]+$")
_GOES_ON = re.compile(r"[,;–—-]$")
_OF_A_WORD = re.compile(r"[A-Za-z0-9_@#%&=+~/:.?'’-]")  # of words, numbers and addresses between signs of no spaces
# What ends with a full stop and does not end a sentence, in lower case without its last full stop.
_SHORT = tr(
    "mr mrs ms mx dr prof st sr jr rev hon gen col capt lt sgt maj cmdr gov sen rep pres messrs mme mlle"
    " eds al cf viz vs v approx est dept univ inc ltd co corp bros e.g i.e a.k.a"
    " jan feb apr jun jul aug sept sep oct nov dec tue tues thu thurs fri"
    " z.b d.h u.a bzw usw ca str hr fr dipl ing evtl ggf vgl s.o s.u av ave blvd rd mt ft sra srta ud uds"
)
ABBREVIATIONS = frozenset(_SHORT.split())
# These are words as well ("There was no sun."): they are abbreviations in front of a number only.
_NUMBERED = "no nos vol fig figs p pp ch chap sec par ed op art nr ex mar mon wed sat sun ver eq tab app"
_BEFORE_NUMBERS = frozenset(_NUMBERED.split())
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
    """Return the sentences in order, without the white space between them. A line is a sentence, too, unless it was
    only wrapped."""
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if match["stop"] and not _ends_here(text, start, match):
            continue
        if match["line"] and _goes_on(text, start, match):
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
    following = _next_sign(text, match.end())
    if match["stop"] != ".":
        if not set(match["stop"]) - {".", "…"}:
            return not following.islower()
        # “Really?” she said.
        return not (following.islower() and match.group().endswith(("”", '"', "’", "'", "»", ")")))
    if following.islower():
        return False
    found = _WORD_BEFORE.search(text, max(start, match.start() - 40), match.start())
    word = found.group() if found else ""
    known = word.lower()
    if known in _MAY_END:
        return following.isupper() or not following
    if known in _BEFORE_NUMBERS:
        return not following.isdigit()
    if known in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word.isascii() and word != "I"):
        return not following
    is_numeral = word.isdigit() and len(word) <= 3
    return not (is_numeral and not text[start : match.start() - len(word)].strip())


def _next_sign(text: str, at: int) -> str:
    """Return the first sign behind white space, "" at the end of the text."""
    found = _NOT_SPACE.search(text, at)
    return found.group() if found else ""


def _goes_on(text: str, start: int, match: re.Match[str]) -> bool:
    """Tell whether a sentence goes on in the next line: a mail is wrapped, a heading or a list is not."""
    if match.group().count("\n") > 1 or match.end() == len(text):
        return False
    line = text[max(start, text.rfind("\n", 0, match.start()) + 1) : match.start()]
    following = text[match.end()]
    if not line or not (following.isalnum() or following in "\"'“‘«(„¿¡"):
        return False  # a bullet, a number sign, a dash: the next entry of a list
    if following.islower() or _GOES_ON.search(line) or _is_short(line):
        return True
    return len(line) >= WRAPPED_LINE_CHARS and line.isascii() and line[-1].isalnum()


def _is_short(line: str) -> bool:
    """Tell whether a line ends with an abbreviation: a name or a number comes next."""
    found = _WORD_BEFORE.search(line)
    word = found.group() if found else ""
    return word.endswith(".") and word[:-1].lower() in ABBREVIATIONS | _BEFORE_NUMBERS and word[:-1] not in _MAY_END


def _place(text: str, start: int, limit: int) -> int:
    """Return where to cut a sentence that is longer than a part: the last clause, space or character before `limit`."""
    earliest = start + (limit - start) // 3
    for pattern in (_CLAUSE, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, earliest, limit)]
        whole = next((end for end in reversed(ends) if not _holds_together(text, end)), 0)
        if whole or ends:
            return whole or ends[-1]
    cut = limit
    while cut > earliest and _OF_A_WORD.match(text[cut]) and _OF_A_WORD.match(text[cut - 1]):
        cut -= 1
    cut = cut if cut > earliest else limit
    while cut > start + 1 and _belongs_to_the_one_before(text[cut]):
        cut -= 1
    return cut if cut > start + 1 else limit


def _holds_together(text: str, at: int) -> bool:
    """Tell whether what stands around a space is one thing: "10 000", "Dr. Smith", "No. 5"."""
    before = text[max(0, at - 64) : at].rstrip()[-12:]
    if before[-1:].isdigit() and text[at : at + 1].isdigit():
        return True
    return before.endswith(".") and _is_short(before)


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
