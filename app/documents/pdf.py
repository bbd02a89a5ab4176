"""PDF by pypdf, page by page. Imported only where a PDF is read."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import BinaryIO

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError
from pypdf.generic import Destination

from app.documents.reading import (
    HEADING_CHARS,
    MAX_PLACES,
    MAX_TEXT_CHARS,
    Reason,
    Section,
    Unreadable,
    one_line,
    tidy,
)

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
_EXPECTED = (PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, EOFError)

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it comments on every small fault of a file


def read_pdf(file: BinaryIO) -> Iterator[Section]:
    """Give a PDF's text; a page that cannot be read is left out. Raises `Unreadable`."""
    if b"%PDF-" not in file.read(1024):
        raise Unreadable(Reason.KIND)
    file.seek(0)
    try:
        reader = PdfReader(file, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):  # many have a password for changes only
            raise Unreadable(Reason.PASSWORD)
        pages = len(reader.pages)
    except DependencyError:
        raise Unreadable(Reason.PASSWORD) from None
    except (*_EXPECTED, RecursionError):
        raise Unreadable(Reason.DAMAGED) from None
    headings = _headings(reader)
    heading, chars, failed = "", 0, 0
    for number in range(min(pages, MAX_PLACES)):
        heading = headings.get(number, heading)
        try:
            text = reader.pages[number].extract_text()
        except (*_EXPECTED, RecursionError):
            failed += 1
            continue
        text = _BROKEN_WORD.sub("", tidy(text).encode("utf-8", "replace").decode()).replace("\0", "")
        chars += len(text)
        if chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)
        if text.strip():
            yield Section(text, number + 1, heading, counts=False)
    if not chars:
        raise Unreadable(Reason.DAMAGED if failed else Reason.NO_TEXT)


def _headings(reader: PdfReader) -> dict[int, str]:
    """Return the outline's titles by page number from 0; one that cannot be read is none."""
    found: dict[int, str] = {}

    def walk(entries: object, above: str, depth: int) -> None:
        title = above
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, list):
                if depth < 8:
                    walk(entry, title, depth + 1)
            elif isinstance(entry, Destination) and len(found) < MAX_PLACES:
                own = one_line(str(entry.title))[:HEADING_CHARS]
                title = f"{above} › {own}" if above else own
                page = reader.get_destination_page_number(entry)
                if page is not None:
                    found.setdefault(page, title)

    try:
        walk(reader.outline, "", 0)
    except (*_EXPECTED, RecursionError):
        return found
    return found
