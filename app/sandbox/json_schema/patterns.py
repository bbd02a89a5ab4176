"""Regular expressions as JSON Schema has them (ECMA-262): matching in linear time, and making texts that match.

Both are for a caller's expressions, with which Python's own matcher could be kept busy for hours. There are no back
references and no lookbehind; classes such as `\\d` mean ASCII.
"""

from __future__ import annotations

import functools
import random
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

LARGEST = 20_000  # instructions of one expression
DEEPEST = 50  # groups in groups
TRIES = 300
LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
DIGITS: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = ((9, 13), (32, 32), (160, 160), (0xFEFF, 0xFEFF), (0x2028, 0x2029))
LINE_ENDS: Ranges = ((10, 10), (13, 13), (0x2028, 0x2029))
LIKED = string.ascii_lowercase + string.ascii_uppercase + string.digits + "-_. /:@#+,;!?()[]{}$%&'*=~^|<>\"\\`\t\n"
CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
KINDS = frozenset(
    {"L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "Nd", "Nl", "No", "P", "S", "Sc", "Sm", "Z", "Zs", "C", "Cc"}
)
CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}


def _inverse(ranges: Ranges) -> Ranges:
    left, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            left.append((start, low - 1))
        start = max(start, high + 1)
    return (*left, (start, LAST)) if start <= LAST else tuple(left)


@dataclass(frozen=True, slots=True)
class _Chars:
    """One sign: of the ranges or the kinds (`L`: letters, `-L`: all but them), or, when negative, of none of them."""

    ranges: Ranges
    kinds: tuple[str, ...] = ()
    negative: bool = False

    def has(self, char: str) -> bool:
        point = ord(char)
        if any(low <= point <= high for low, high in self.ranges):
            return not self.negative
        kind = unicodedata.category(char) if self.kinds else ""
        found = any(kind.startswith(one.lstrip("-")) != one.startswith("-") for one in self.kinds)
        return found != self.negative

    def example(self, dice: random.Random) -> str:
        """Return such a sign; "" where none was found."""
        liked = _liked(self)
        if liked:
            return liked[min(int(dice.expovariate(0.1)), len(liked) - 1)]
        for _ in range(100):
            low, high = self.ranges[dice.randrange(len(self.ranges))] if self.ranges else (160, 0x2FFF)
            point = low + dice.randrange(min(high - low + 1, 1000))
            if not 0xD800 <= point <= 0xDFFF and self.has(chr(point)):
                return chr(point)
        return ""


@functools.lru_cache(maxsize=256)  # a schema's values are tried by the thousand
def _liked(chars: _Chars) -> str:
    return "".join(filter(chars.has, LIKED))


@dataclass(frozen=True, slots=True)
class _Place:
    """`kind`: begin, end, word or inside (a word)."""

    kind: str


@dataclass(frozen=True, slots=True)
class _Ahead:
    what: _Part
    negative: bool


@dataclass(frozen=True, slots=True)
class _Repeat:
    what: _Part
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class _Either:
    parts: tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    parts: tuple[_Part, ...]


_Part = _Chars | _Place | _Ahead | _Repeat | _Either | _Row


class _Reader:
    """Raises `ValueError` for what is no regular expression, or one with means that are not here."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> _Part:
        part = self._either()
        if self._at < len(self._text):
            raise ValueError("there is a parenthesis too many")
        return part

    def _either(self) -> _Part:
        rows = [self._row()]
        while self._take("|"):
            rows.append(self._row())
        return rows[0] if len(rows) == 1 else _Either(tuple(rows))

    def _row(self) -> _Part:
        parts: list[_Part] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._one()))
        return parts[0] if len(parts) == 1 else _Row(tuple(parts))

    def _take(self, what: str) -> bool:
        found = self._text.startswith(what, self._at)
        self._at += len(what) if found else 0
        return found

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise ValueError("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _one(self) -> _Part:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return _Chars(_inverse(LINE_ENDS))
        if char in "^$":
            return _Place("begin" if char == "^" else "end")
        if char in "*+?":
            raise ValueError(f"there is nothing that {char} could repeat")
        if char != "\\":
            return _Chars(((ord(char), ord(char)),))
        if self._take("b"):
            return _Place("word")
        if self._take("B"):
            return _Place("inside")
        kind = self._kind()
        return _Chars((), (kind,)) if kind else _Chars(self._escaped())

    def _kind(self) -> str:
        """Read `p{L}` or `P{L}` behind a backslash, a kind of signs by its letters in Unicode; "" for none."""
        negative = self._take("P{")
        if not negative and not self._take("p{"):
            return ""
        end = self._text.find("}", self._at)
        name, self._at = self._text[self._at : end], end + 1
        if name not in KINDS:
            raise ValueError(f"\\p{{{name}}} is not known")
        return f"-{name}" if negative else name

    def _group(self) -> _Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("there are too many groups in groups")
        negative, ahead = self._take("?!"), self._take("?=")
        if not negative and not ahead and not self._take("?:") and self._take("?"):
            if not self._take("<") or self._at >= len(self._text) or self._text[self._at] in "=!":
                raise ValueError("of groups with a question mark only (?:, (?=, (?! and (?<name> are known")
            while self._next() != ">":
                pass
        part = self._either()
        if not self._take(")"):
            raise ValueError("a parenthesis is not closed")
        self._depth -= 1
        return _Ahead(part, negative) if negative or ahead else part

    def _repeated(self, part: _Part) -> _Part:
        while True:
            if self._take("*"):
                least, most = 0, None
            elif self._take("+"):
                least, most = 1, None
            elif self._take("?"):
                least, most = 0, 1
            elif (counts := self._counts()) is not None:
                least, most = counts
            else:
                return part
            self._take("?")  # how eager it is does not matter here
            part = _Repeat(part, least, most)

    def _counts(self) -> tuple[int, int | None] | None:
        """Read `{2}`, `{2,}` or `{2,5}`. What looks otherwise is a brace."""
        end = self._text.find("}", self._at)
        if not self._text.startswith("{", self._at) or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            return None
        self._at = end + 1
        most = int(high) if high else None if comma else int(low)
        if int(low) > LARGEST or (most is not None and most < int(low)):
            raise ValueError(f"nothing can be repeated {low} to {high or 'any number of'} times")
        return int(low), most

    def _escaped(self) -> Ranges:
        char = self._next()
        if char.lower() in CLASSES:
            return CLASSES[char] if char.islower() else _inverse(CLASSES[char.lower()])
        if char in CONTROLS:
            point = CONTROLS[char]
        elif char == "x":
            point = self._hexadecimal(2)
        elif char == "u":
            point = self._unicode()
        elif char == "c":
            point = ord(self._next()) % 32
        elif char.isalnum():
            raise ValueError(f"\\{char} is not known")
        else:
            point = ord(char)
        return ((point, point),)

    def _unicode(self) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            digits, self._at = self._text[self._at : max(end, self._at)], end + 1
            if end < 0 or not 0 < len(digits) < 7 or not set(digits) <= set(string.hexdigits):
                raise ValueError("\\u{ has no number behind it")
            return min(int(digits, 16), LAST)
        high = self._hexadecimal(4)
        if 0xD800 <= high < 0xDC00 and self._take("\\u"):
            return 0x10000 + ((high - 0xD800) << 10) + (self._hexadecimal(4) - 0xDC00) % 0x400
        return high

    def _hexadecimal(self, size: int) -> int:
        digits = self._text[self._at : self._at + size]
        if len(digits) < size or not set(digits) <= set(string.hexdigits):
            raise ValueError("a number in hexadecimal is incomplete")
        self._at += size
        return int(digits, 16)

    def _class(self) -> _Part:
        negative = self._take("^")
        ranges: list[tuple[int, int]] = []
        kinds: list[str] = []
        while not self._take("]"):
            if self._take("\\"):
                if kind := self._kind():
                    kinds.append(kind)
                    continue
                self._at -= 1
            low = self._member()
            if self._text.startswith("-", self._at) and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._member()
                single = len(low) == len(high) == 1 and low[0][0] == low[0][1] and high[0][0] == high[0][1]
                if not single:  # `[\w-.]`: the hyphen means itself
                    ranges += [*low, (45, 45), *high]
                elif low[0][0] > high[0][0]:
                    raise ValueError("a range of signs runs backwards")
                else:
                    ranges.append((low[0][0], high[0][0]))
            else:
                ranges += low
        return _Chars(tuple(ranges), tuple(kinds), negative)

    def _member(self) -> Ranges:
        char = self._next()
        if char != "\\":
            return ((ord(char), ord(char)),)
        return ((8, 8),) if self._take("b") else self._escaped()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


@dataclass(slots=True)
class _Program:
    """Instructions of a machine that is in many places at once: (what, one or two places to go on from)."""

    steps: list[tuple[object, int, int]] = field(default_factory=list)

    def add(self, what: object, first: int = -1, second: int = -1) -> int:
        if len(self.steps) >= LARGEST:
            raise ValueError("it repeats too much")
        self.steps.append((what, first, second))
        return len(self.steps) - 1

    def write(self, part: _Part, then: int) -> int:
        """Add what matches `part` and goes on at `then`. Returns where that begins."""
        if isinstance(part, _Row):
            for one in reversed(part.parts):
                then = self.write(one, then)
            return then
        if isinstance(part, _Either):
            places = [self.write(one, then) for one in part.parts]
            start = places.pop()
            while places:
                start = self.add("go", places.pop(), start)
            return start
        if isinstance(part, _Repeat):
            return self._repeat(part, then)
        if isinstance(part, _Ahead):
            inner = _Program()
            start = inner.write(part.what, inner.add("found"))
            return self.add((inner, start, part.negative), then)
        return self.add(part, then)

    def _repeat(self, part: _Repeat, then: int) -> int:
        if part.most is None:
            loop = self.add("go", -1, then)
            self.steps[loop] = ("go", self.write(part.what, loop), then)
            start = loop
        else:
            start = then
            for _ in range(part.most - part.least):
                start = self.add("go", self.write(part.what, start), then)
        for _ in range(part.least):
            start = self.write(part.what, start)
        return start

    def matches(self, start: int, text: str, at: int, *, anywhere: bool) -> bool:
        """Whether a match begins at `at`, or at any place from there on."""
        places: set[int] = set()
        for position in range(at, len(text) + 1):
            if anywhere or position == at:
                places.add(start)
            elif not places:
                return False
            places, found = self._spread(places, text, position)
            if found:
                return True
            if position < len(text):
                char = text[position]
                places = {
                    first
                    for what, first, _ in (self.steps[place] for place in places)
                    if isinstance(what, _Chars) and what.has(char)
                }
        return False

    def _spread(self, places: set[int], text: str, position: int) -> tuple[set[int], bool]:
        """Return every place that can be reached without a sign, and whether the end is one of them."""
        seen, left = set(places), list(places)
        while left:
            what, first, second = self.steps[left.pop()]
            onward: tuple[int, ...] = ()
            if what == "found":
                return seen, True
            if what == "go":
                onward = (first, second)
            elif isinstance(what, _Place):
                onward = (first,) if _holds(what.kind, text, position) else ()
            elif isinstance(what, tuple):
                inner, start, negative = what
                onward = (first,) if inner.matches(start, text, position, anywhere=False) != negative else ()
            for place in onward:
                if place not in seen:
                    seen.add(place)
                    left.append(place)
        return seen, False


def _holds(kind: str, text: str, position: int) -> bool:
    if kind in ("begin", "end"):
        return position == (0 if kind == "begin" else len(text))
    word = _Chars(WORD)
    before = position > 0 and word.has(text[position - 1])
    after = position < len(text) and word.has(text[position])
    return (before != after) == (kind == "word")


class Pattern:
    """One expression. Raises `ValueError`, whose words say why, for one that cannot be used."""

    def __init__(self, text: str) -> None:
        self._part = _Reader(text).whole()
        self._program = _Program()
        self._start = self._program.write(self._part, self._program.add("found"))

    def found_in(self, text: str) -> bool:
        """Whether it matches anywhere in a text."""
        return self._program.matches(self._start, text, 0, anywhere=True)

    def examples(self, least: int = 0, most: int | None = None) -> Iterator[str]:
        """Yield texts that match, of so many signs: the same ones each time, some of them more than once."""
        dice = random.Random(1)  # noqa: S311  # no secret
        for number in range(TRIES):
            text = self._made(self._part, number % 7 and min(number, least + 3), dice)
            for whole in (text, text + "a" * (least - len(text)), "a" * (least - len(text)) + text):
                if least <= len(whole) and (most is None or len(whole) <= most) and self.found_in(whole):
                    yield whole
                    break

    def _made(self, part: _Part, more: int, dice: random.Random) -> str:
        """Return a text for a part, where what repeats does so up to `more` times more often than it has to."""
        if isinstance(part, _Chars):
            return part.example(dice)
        if isinstance(part, _Row):
            return "".join(self._made(one, more, dice) for one in part.parts)
        if isinstance(part, _Either):
            one = part.parts[dice.randrange(len(part.parts)) if more else 0]
            return self._made(one, more, dice)
        if isinstance(part, _Repeat):
            most = part.least + more if part.most is None else min(part.most, part.least + more)
            return "".join(self._made(part.what, more // 2, dice) for _ in range(dice.randint(part.least, most)))
        return ""
