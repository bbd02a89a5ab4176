"""Text as it stands in a file: plain, Markdown, source code, CSV. Read in pieces: a large log needs no memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from app.documents.reading import MAX_TEXT_CHARS, Kind, Reason, Section, Unreadable, heading_path

PIECE_BYTES = 4 * 1024 * 1024
LOOKED_AT_BYTES = 8192
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Begins other files that happen to hold no zero byte at first.
_OTHER_KINDS = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\xd0\xcf\x11\xe0")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\b"))
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$|^(```|~~~)", re.MULTILINE)


def encoding_of(start: bytes) -> tuple[str, int]:
    """Return the encoding that a file's first bytes speak for and the length of its mark. Raises `Unreadable`."""
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name, len(mark)
    if start.startswith(_OTHER_KINDS) or len(start) != len(start.translate(None, _CONTROLS)):
        raise Unreadable(Reason.KIND)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252", 0
    return "utf-8", 0


def read_text(file: BinaryIO, kind: Kind) -> Iterator[Section]:
    """Give a file's text from its beginning. Raises `Unreadable`."""
    start = file.read(LOOKED_AT_BYTES)
    encoding, mark = encoding_of(start)
    file.seek(mark)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    line, kept, chars = 1, "", 0
    levels: dict[int, str] = {}
    data = file.read(PIECE_BYTES)
    while True:
        following = file.read(PIECE_BYTES) if data else b""  # read ahead: the last line may lack its end
        text = kept + decoder.decode(data, final=not following)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
            text = text if text.endswith("\r") else text.replace("\r", "\n")
        if "\0" in text:
            raise Unreadable(Reason.KIND)
        chars += len(text) - len(kept)
        if chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)
        cut = text.rfind("\n") + 1 if following and len(text) < 4 * PIECE_BYTES else len(text)
        kept, text = text[cut:], text[:cut]
        if text:
            if kind is Kind.MARKDOWN:
                yield from _sections(text, line, levels)
            else:
                yield Section(text, line)
            line += text.count("\n")
        if not following:
            return
        data = following


def _sections(text: str, line: int, levels: dict[int, str]) -> Iterator[Section]:
    """Cut Markdown at its headings; signs inside of code fences are none."""
    heading = " › ".join(levels[each] for each in sorted(levels))
    start, fence = 0, ""
    for found in _HEADING.finditer(text):
        if found[3]:
            fence = "" if fence == found[3] else fence or found[3]
        elif not fence:
            if text[start : found.start()].strip():
                yield Section(text[start : found.start()], line + text.count("\n", 0, start), heading)
            heading = heading_path(levels, len(found[1]), found[2])
            start = found.start()
    if text[start:].strip():
        yield Section(text[start:], line + text.count("\n", 0, start), heading)
