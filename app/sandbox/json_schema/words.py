"""What values are made of: the words of a question first, and where none fits, an example of the format."""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from urllib.parse import urlsplit

from app.sandbox.json_schema.patterns import Pattern

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,300}(?:\.\d{1,300})?(?![\w]|\.\d)")
_NAME = re.compile(r"\b[A-Z][\w-]+\b")
_QUOTED = re.compile(r"[\"“]([^\"“”]{1,200})[\"”]")
# Properties of these names are for what is said as a whole, not for a name that occurs in it.
WHOLE_TEXT = frozenset(
    {"answer", "text", "content", "reply", "response", "result", "message", "output", "body", "summary", "explanation"}
    | {"description", "reasoning", "question", "query", "prompt", "input", "search", "q"}
)


def _is(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return check


def _matches(expression: str) -> Callable[[str], bool]:
    compiled = re.compile(expression)
    return lambda text: compiled.fullmatch(text) is not None


def _read_moment(text: str) -> None:
    if len(text) < 20 or text[10] not in "Tt" or not re.search(r"([Zz]|[+-]\d\d:\d\d)$", text):
        raise ValueError(text)
    datetime.fromisoformat(text.upper())


def _read_time(text: str) -> None:
    if not re.fullmatch(r"\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", text):
        raise ValueError(text)
    time.fromisoformat(text.upper())


def _read_day(text: str) -> None:
    if len(text) != 10:
        raise ValueError(text)
    date.fromisoformat(text)


def _read_address(text: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", text) or re.search(
        r"[\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})", text
    ):
        raise ValueError(text)
    urlsplit(text)


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"


@dataclass(frozen=True, slots=True)
class Format:
    """`shape` finds it in a text, `is_one` decides. `longer` makes one of about so many signs, where that can be."""

    shape: re.Pattern[str]
    is_one: Callable[[str], bool]
    examples: tuple[str, ...]
    longer: Callable[[int], str] | None = None


def _format(
    shape: str, is_one: Callable[[str], bool], *examples: str, longer: Callable[[int], str] | None = None
) -> Format:
    return Format(re.compile(shape), is_one, examples, longer)


def _long_host(size: int) -> str:
    return ".".join(["a" * 50] * (max(0, size - 12) // 51) + ["a" * (max(0, size - 12) % 51 or 1), "example.org"])


_ADDRESS = _format(
    r"https?://[!#-;=?-Z_a-z~]+[A-Za-z0-9/]",
    _is(_read_address),
    *("https://example.org/", "https://example.org/a", "urn:a:b", "a:b"),
    longer=lambda size: "https://example.org/" + "a" * (size - 20),
)
_MAIL = _format(
    rf"[A-Za-z0-9._%+-]+@{_HOST}",
    _matches(rf"[A-Za-z0-9_%+-]+(?:\.[A-Za-z0-9_%+-]+)*@{_HOST}"),
    *("user@example.org", "info@example.org", "a@b.c"),
    longer=lambda size: "a" * max(1, size - 12) + "@example.org",
)
_HOST_NAME = _format(
    rf"\b{_LABEL}(?:\.{_LABEL})+", _matches(_HOST), "example.org", "www.example.org", "a.b", "a", longer=_long_host
)
_REFERENCE = _format(
    _ADDRESS.shape.pattern,
    _matches(r"[A-Za-z0-9/?#._~:@!$&'()*+,;=-]*"),
    *("https://example.org/", "/a", "a", ""),
    longer=lambda size: "/" + "a" * (size - 1),
)
_NO_SHAPE = r"(?!)"
FORMATS = {
    "date": _format(r"\b\d{4}-\d\d-\d\d\b", _is(_read_day), "2026-01-31", "2026-02-01", "2030-12-31"),
    "time": _format(r"\b\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", _is(_read_time), "12:00:00Z", "23:59:59+00:00"),
    "date-time": _format(
        r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)",
        _is(_read_moment),
        *("2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00.000Z"),
    ),
    "duration": _format(
        r"\bP(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?\b",
        _matches(r"P(?!$)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|P\d+W"),
        *("P1D", "PT1H", "P1Y2M3DT4H5M6S"),
    ),
    "email": _MAIL,
    "idn-email": _MAIL,
    "hostname": _HOST_NAME,
    "idn-hostname": _HOST_NAME,
    "ipv4": _format(
        r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
        _is(ipaddress.IPv4Address),
        "192.0.2.1",
        "192.0.2.42",
        "192.0.2.100",
    ),
    "ipv6": _format(r"[0-9a-fA-F:]*:[0-9a-fA-F:]+", _is(ipaddress.IPv6Address), "2001:db8::1", "::", "::1"),
    "uri": _ADDRESS,
    "iri": _ADDRESS,
    "uri-reference": _REFERENCE,
    "iri-reference": _REFERENCE,
    "uri-template": _format(_NO_SHAPE, _matches(r"[A-Za-z0-9/:._{}-]*"), "https://example.org/{id}", "/{id}", "a"),
    "uuid": _format(
        r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b",
        lambda text: len(text) == 36 and _is(uuid.UUID)(text),
        *(f"123e4567-e89b-42d3-a456-42661417400{digit}" for digit in range(10)),
    ),
    "json-pointer": _format(
        _NO_SHAPE, _matches(r"(?:/[A-Za-z0-9_-]*)*"), "/a", "", longer=lambda size: "/" + "a" * size
    ),
    "relative-json-pointer": _format(_NO_SHAPE, _matches(r"(?:0|[1-9]\d*)(?:#|(?:/[A-Za-z0-9_-]*)*)"), "0", "1/a"),
    "regex": _format(_NO_SHAPE, _is(Pattern), "^a$", "a", longer=lambda size: "a" * size),
}


@dataclass(slots=True)
class Words:
    """`text` is said where a schema leaves room for it; each name and number of the question is used once."""

    question: str
    text: str
    titles: Sequence[str] = ()
    yes: bool = True
    is_prose: bool = False  # then a single capital letter is no name, and neither is a sentence's first word
    names: list[str] = field(init=False)
    numbers: list[int | float] = field(init=False)

    def __post_init__(self) -> None:
        names = [name for name in _NAME.findall(self.question) if len(name) > 1]
        if names and self.question.lstrip('"“( ').startswith(names[0]) and (self.is_prose or len(names) > 1):
            del names[0]  # the first word of a sentence is seldom a name
        self.names = _QUOTED.findall(self.question) + names
        self.numbers = [_number(text) for text in _NUMBER.findall(self.question)]

    def used(self) -> tuple[list[str], list[int | float]]:
        """Return what is left now, for `back_to`."""
        return list(self.names), list(self.numbers)

    def back_to(self, left: tuple[list[str], list[int | float]]) -> None:
        self.names, self.numbers = list(left[0]), list(left[1])

    def taken_numbers(self) -> Iterator[int | float]:
        """Yield the numbers of the question. The last one yielded is used, the ones before are left."""
        for number in list(self.numbers):
            if number in self.numbers:
                at = self.numbers.index(number)
                del self.numbers[at]
                yield number
                self.numbers.insert(at, number)

    def taken_names(self) -> Iterator[str]:
        for name in list(self.names):
            if name in self.names:
                at = self.names.index(name)
                del self.names[at]
                yield name
                self.names.insert(at, name)

    def whole(self, hint: str) -> bool:
        """Whether a property of this name is for the whole text."""
        return hint.lower() in WHOLE_TEXT

    def mentions(self, value: object) -> bool:
        """Whether the question speaks of a value."""
        return str(value).lower() in self.question.lower()

    def found(self, kind: Format) -> Iterator[str]:
        """Yield what of a format is in the question."""
        for match in kind.shape.finditer(self.question):
            if kind.is_one(match[0]):
                yield match[0]


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
