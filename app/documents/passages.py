"""Cuts what a reader gives into passages: what is found, shown, counted and sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from app.documents.reading import Section

MOST_CHARS = 1800
LEAST_CHARS = 700  # where a better place to cut is looked for; a short section joins the next until then
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_SENTENCE = re.compile(r"[.!?…:;](?=\s)|[。！？；]")


class Passage(NamedTuple):
    """A piece of one file's text. `first` and `last` are places as the file's kind counts them, from 1."""

    text: str
    first: int
    last: int
    heading: str


def passages_of(sections: Iterable[Section]) -> Iterator[Passage]:
    """Cut sections into passages of at most `MOST_CHARS`; blank ones are left out, and nothing else is."""
    for section in sections:
        text, at, place = section.text, 0, section.place
        while at < len(text):
            end = _cut(text, at)
            piece = text[at:end]
            flush = _BLANK_LINES.sub("", piece)  # what is in front of the first line belongs to it: its place in a row
            body = flush.rstrip()
            if body and section.counts:
                first = place + piece.count("\n", 0, len(piece) - len(flush))
                yield Passage(body, first, first + body.count("\n"), section.heading)
            elif body:
                yield Passage(body, place, place, section.heading)
            if section.counts:
                place += piece.count("\n")
            at = end


def _cut(text: str, at: int) -> int:
    """Return where the passage that begins at `at` ends: between paragraphs, else lines, sentences, words."""
    if len(text) - at <= MOST_CHARS:
        return len(text)
    least, most = at + LEAST_CHARS, at + MOST_CHARS
    for sign in ("\n\n", "\n"):
        found = text.rfind(sign, least, most)
        if found >= 0:
            return found + len(sign)
    ends = [match.end() for match in _SENTENCE.finditer(text, least, most)]
    if ends:
        return ends[-1]
    found = text.rfind(" ", least, most)
    return found + 1 if found >= 0 else most
