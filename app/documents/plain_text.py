"""Plain text, Markdown, source code, CSV. Read in pieces: a large log needs no memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from app.documents.reading import MAX_TEXT_CHARS, Kind, Notes, Reason, Section, Unreadable, heading_path
from app.text_encoding import NotText, encoding_of, tidied

PIECE_BYTES = 4 * 1024 * 1024
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$|^(```|~~~)", re.MULTILINE)


def read_text(file: BinaryIO, kind: Kind, notes: Notes) -> Iterator[Section]:
    """Give a file's text from its beginning. Raises `Unreadable`."""
    try:
        encoding = encoding_of(file)
    except NotText:
        raise Unreadable(Reason.KIND) from None
    notes.take(encoding)
    file.seek(encoding.mark)
    decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
    line, kept, chars = 1, "", 0
    levels: dict[int, str] = {}
    data = file.read(PIECE_BYTES)
    while True:
        following = file.read(PIECE_BYTES) if data else b""  # read ahead: the last line may lack its end
        text = kept + tidied(decoder.decode(data, final=not following))
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
