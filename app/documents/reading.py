"""What every reader of a file gives: sections of text with their place, or one reason why there are none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum

from app.text_encoding import TextEncoding
from app.translation import tr, tr_n

MB = 1_000_000
MAX_FILE_BYTES = 100 * MB
MAX_TEXT_CHARS = 50_000_000  # of one file
MAX_PLACES = 50_000  # pages, sheets, slides or chapters of one file
HEADING_CHARS = 200


class Kind(StrEnum):
    """How a file is read. Written in the index."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CODE = "code"
    HTML = "html"
    CSV = "csv"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    ODT = "odt"
    EPUB = "epub"


PLAIN = frozenset((Kind.TEXT, Kind.MARKDOWN, Kind.CODE, Kind.CSV))  # what is in the file is its text


class Reason(StrEnum):
    """Why a file or folder was left out. Written in the index; `sentence` has the words."""

    BOMB = "bomb"
    CIRCLE = "circle"
    DAMAGED = "damaged"
    EMPTY = "empty"
    KIND = "kind"  # its content is not what its name says
    LARGE = "large"
    LINK = "link"
    LOCKED = "locked"
    MANY = "many"
    MEMORY = "memory"
    NAME = "name"
    NO_TEXT = "no_text"
    OLD_OFFICE = "old_office"
    PASSWORD = "password"  # noqa: S105 - no secret
    SPECIAL = "special"
    TIME = "time"
    UNKNOWN = "unknown"
    VANISHED = "vanished"


def sentence(reason: Reason) -> str:
    """Say why a file or folder was left out."""
    return _SENTENCES[reason]


_SENTENCES = {
    Reason.BOMB: tr("It unpacks to far more than a document contains. It was not read."),
    Reason.CIRCLE: tr("This folder leads back to one that was already read."),
    Reason.DAMAGED: tr("The file is damaged and cannot be read."),
    Reason.EMPTY: tr("It contains no text."),
    Reason.KIND: tr("Its content does not match its name."),
    Reason.LARGE: tr("It is too large. The limit is 100 MB and 50 million characters of text."),
    Reason.LINK: tr("It is a link. To include its target, add the target itself."),
    Reason.LOCKED: tr("Rialto has no permission to read it, or another program is using it."),
    Reason.MANY: tr("There are more than 50,000 files. The rest were left out."),
    Reason.MEMORY: tr("Reading it takes too much memory."),
    Reason.NAME: tr("Its name contains control characters. Rename it so Rialto can read it."),
    Reason.NO_TEXT: tr("Its pages are images, as from a scanner. It contains no text."),
    Reason.OLD_OFFICE: tr("It is from Office 2003 or earlier. Save it as DOCX, XLSX or PPTX."),
    Reason.PASSWORD: tr("It is protected by a password. Remove the password so Rialto can read it."),
    Reason.SPECIAL: tr("It is a device or a pipe, not a file."),
    Reason.TIME: tr("Reading it took too long or failed."),
    Reason.UNKNOWN: tr("Rialto cannot read text from this kind of file."),
    Reason.VANISHED: tr("It no longer exists."),
}


class Unreadable(Exception):
    """This file gives no text."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(slots=True)
class Notes:
    """What a reader reports about a file that it could read: a guessed encoding, and parts that it skipped."""

    encoding: str = ""  # name of a guessed encoding
    bad_bytes: int = 0  # of text in UTF-8; each became U+FFFD
    skipped: dict[Reason, list[int]] = field(default_factory=dict)  # places: pages, slides, sheets or chapters

    def skip(self, place: int, reason: Reason) -> None:
        """Record a page, slide, sheet or chapter that gives no text."""
        self.skipped.setdefault(reason, []).append(place)

    def take(self, encoding: TextEncoding) -> None:
        """Record how text was read, where that is not certain."""
        self.encoding = encoding.name if encoding.is_guess else self.encoding
        self.bad_bytes += encoding.bad_bytes

    def to_text(self) -> str:
        """Return a form that `from_text` reads; "" where there is nothing to report."""
        if not (self.encoding or self.bad_bytes or self.skipped):
            return ""
        skipped = {reason.value: places for reason, places in self.skipped.items()}
        return json.dumps([self.encoding, self.bad_bytes, skipped], separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Notes:
        """Read what `to_text` wrote; anything else is nothing to report."""
        try:
            encoding, bad_bytes, skipped = json.loads(text)
            return cls(encoding, bad_bytes, {Reason(reason): places for reason, places in skipped.items()})
        except (ValueError, TypeError, AttributeError):
            return cls()

    def sentences(self) -> str:
        """Describe the notes to the person; "" where there is nothing to report."""
        found: list[str] = []
        if self.encoding:
            found.append(tr("Its encoding is not stated. Rialto guessed {encoding}.", encoding=self.encoding))
        if self.bad_bytes:
            found.append(
                tr_n("{n} byte is not UTF-8 and shows as �.", "{n} bytes are not UTF-8 and show as �.", self.bad_bytes)
            )
        for reason, places in self.skipped.items():
            named = ", ".join(map(str, places[:_NAMED_PLACES])) + (", …" if len(places) > _NAMED_PLACES else "")
            if reason is Reason.NO_TEXT:
                words = tr_n(
                    "{n} page has images but no text: {named}.",
                    "{n} pages have images but no text: {named}.",
                    len(places),
                    named=named,
                )
            else:
                words = tr_n(
                    "{n} part is damaged and was skipped: {named}.",
                    "{n} parts are damaged and were skipped: {named}.",
                    len(places),
                    named=named,
                )
            found.append(words)
        return " ".join(found)


_NAMED_PLACES = 10


@dataclass(frozen=True, slots=True)
class Section:
    """Text that belongs together. Where `counts`, each line of it is one further place: a line, row or paragraph."""

    text: str
    place: int  # from 1
    heading: str = ""
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was found, or a file or folder that is left out with the reason."""

    path: str
    root: str  # the followed file or folder through which it was found
    size: int = 0
    changed_ns: int = 0
    reason: Reason | None = None


_BLANKS = re.compile(r"[^\S\n]+")


def one_line(text: str) -> str:
    """Return `text` without line breaks and with single blanks."""
    return " ".join(text.split())


def tidy(text: str) -> str:
    """Return `text` with single blanks, lines kept."""
    return _BLANKS.sub(" ", text)


def heading_path(levels: dict[int, str], level: int, title: str) -> str:
    """Put `title` at its level, forget deeper ones, and return all titles from the outermost on."""
    for deeper in [each for each in levels if each >= level]:
        del levels[deeper]
    levels[level] = one_line(title)[:HEADING_CHARS]
    return " › ".join(levels[each] for each in sorted(levels) if levels[each])
