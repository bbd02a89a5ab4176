"""Cuts what a reader gives into passages: what is found, shown, counted and sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.documents.reading import Section

MOST_CHARS = 1800
LEAST_CHARS = 700  # where a better place to cut is looked for; a short section joins the next until then
_SENTENCE = re.compile(r"[.!?…:;](?=\s)|[。！？；]")


@dataclass(frozen=True, slots=True)
class Passage:
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
            lines = piece.count("\n")
            body = piece.strip()
            if body:
                before = piece[: len(piece) - len(piece.lstrip())].count("\n")
                behind = lines - piece.rstrip().count("\n")
                if section.counts:
                    yield Passage(body, place + before, place + lines - behind, section.heading)
                else:
                    yield Passage(body, section.place, section.place, section.heading)
            place += lines
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
