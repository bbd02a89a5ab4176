"""Rialto's user handbook as the Sandbox reads it: pages cut into sections, found by full text.

The index is SQLite's FTS5 with BM25 in memory; where SQLite was built without it, plain LIKE counting does the work.
A comment `<!-- also: … -->` under a heading holds further words to be found by; it is never shown.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from app.sandbox.chat import word_stems

_ALSO = re.compile(r"<!--\s*also:(.*?)-->\s*", re.DOTALL)
_HEADING = re.compile(r"^(#{1,3}) +(.+?)\s*$", re.MULTILINE)
_MARKS = re.compile(r"[*_`]|\[([^\]]+)\]\([^)]*\)")
CANDIDATES = 40
LEAST_COVERAGE = 0.5  # of the weight of a question's words; below it a passage is not about the question
WEIGHTS = (3.0, 5.0, 4.0, 1.0)  # page title, heading, further words, body
Terms = tuple[list[str], ...]  # of these four parts of a section


@dataclass(frozen=True, slots=True)
class Section:
    page: str  # file name without number and ending
    page_title: str
    heading: str  # the page's title for the part before its first heading
    anchor: str  # "" for that part
    text: str  # Markdown without the heading
    also: str

    @property
    def title(self) -> str:
        return self.page_title if not self.anchor else f"{self.page_title}: {self.heading}"


@dataclass(frozen=True, slots=True)
class HandbookHit:
    section: Section
    score: float  # larger is better; only good for comparing within one search
    coverage: float  # 0..1, how much of the question's weight occurs in the section


@dataclass(frozen=True, slots=True)
class Page:
    id: str
    title: str
    text: str


class Handbook:
    """Pages in file order. Reading and indexing happen on construction and take a few milliseconds."""

    def __init__(self, folder: Path, origin: str) -> None:
        self._origin = origin
        self.pages: dict[str, Page] = {}
        self.sections: list[Section] = []
        for path in sorted(folder.glob("*.md")):
            self._add(path)
        terms = [
            tuple(word_stems.terms(part) for part in (s.page_title, s.heading, s.also, s.text)) for s in self.sections
        ]
        self._bags = [frozenset(chain(*parts)) for parts in terms]
        self._titles = [frozenset(chain(*parts[:3])) for parts in terms]
        self._index = _FullText.build(terms) or _LikeText(terms)

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def address(self, section: Section) -> str:
        return f"{self._origin}/handbook/{section.page}" + (f"#{section.anchor}" if section.anchor else "")

    def holds_any(self, section: Section, text: str) -> bool:
        """True when a meaning-bearing word of the text occurs in the section."""
        return not self._bags[self.sections.index(section)].isdisjoint(word_stems.terms(text))

    def find(self, question: str, limit: int = 5, page: str | None = None) -> list[HandbookHit]:
        """Return the sections about the question, best first; empty when none is. `page` restricts to one page."""
        wanted = list(dict.fromkeys(word_stems.terms(question)))
        if not wanted:
            return []
        weights = {term: self._weight(term) for term in wanted}
        total = sum(weights.values())
        found: list[HandbookHit] = []
        for number, rank in self._index.search(wanted, CANDIDATES):
            section, bag, titles = self.sections[number], self._bags[number], self._titles[number]
            if page is not None and section.page != page:
                continue
            coverage = sum(weight for term, weight in weights.items() if term in bag) / total
            in_title = sum(weight for term, weight in weights.items() if term in titles) / total
            if coverage >= LEAST_COVERAGE or page is not None:
                found.append(HandbookHit(section, rank * (0.3 + coverage + 0.7 * in_title), coverage))
        found.sort(key=lambda hit: (-round(hit.score, 2), self.sections.index(hit.section)))
        return found[:limit]

    def _weight(self, term: str) -> float:
        """Rare words weigh more; a word that occurs nowhere weighs most, because then the question is about it."""
        holders = sum(term in bag for bag in self._bags)
        return math.log(1 + len(self._bags) / (0.5 + holders))

    def _add(self, path: Path) -> None:
        page = re.sub(r"^\d+-", "", path.stem)
        whole = path.read_text(encoding="utf-8")
        shown = _ALSO.sub("", whole)
        headings = list(_HEADING.finditer(whole))
        title = headings[0].group(2) if headings else page
        self.pages[page] = Page(page, title, shown)
        for here, after in zip(headings, [*headings[1:], None], strict=True):
            body = whole[here.end() : after.start() if after else len(whole)]
            also = " ".join(_ALSO.findall(body)).strip()
            text = _ALSO.sub("", body).strip()
            level, heading = len(here.group(1)), here.group(2)
            if text:
                anchor = "" if level == 1 else anchor_of(heading)
                self.sections.append(Section(page, title, heading, anchor, text, also))


def anchor_of(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", word_stems.fold(heading)).strip("-")


def plain(markdown: str) -> str:
    """Return Markdown without its marks, on one line, for excerpts."""
    text = _MARKS.sub(lambda match: match.group(1) or "", markdown)
    return " ".join(re.sub(r"^[#>\-|: ]+|\|", " ", text, flags=re.MULTILINE).split())


class _FullText:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def build(cls, sections: Iterable[Terms]) -> _FullText | None:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            connection.execute("CREATE VIRTUAL TABLE handbook USING fts5(title, heading, also, body)")
        except sqlite3.OperationalError:  # an SQLite without FTS5
            connection.close()
            return None
        rows = [(number, *(" ".join(part) for part in parts)) for number, parts in enumerate(sections)]
        connection.executemany("INSERT INTO handbook(rowid, title, heading, also, body) VALUES (?, ?, ?, ?, ?)", rows)
        return cls(connection)

    def close(self) -> None:
        self._connection.close()

    def search(self, terms: list[str], limit: int) -> list[tuple[int, float]]:
        query = " OR ".join(f'"{term}"' for term in terms)
        rows = self._connection.execute(
            "SELECT rowid, -bm25(handbook, ?, ?, ?, ?) AS rank FROM handbook"
            " WHERE handbook MATCH ? ORDER BY rank DESC LIMIT ?",
            (*WEIGHTS, query, limit),
        )
        return [(int(number), float(rank)) for number, rank in rows]


class _LikeText:
    """The same search without FTS5: every section is scored by where the words occur."""

    def __init__(self, sections: Iterable[Terms]) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute("CREATE TABLE handbook(title, heading, also, body)")
        rows = [(number, *(f" {' '.join(part)} " for part in parts)) for number, parts in enumerate(sections)]
        self._connection.executemany(
            "INSERT INTO handbook(rowid, title, heading, also, body) VALUES (?, ?, ?, ?, ?)", rows
        )

    def close(self) -> None:
        self._connection.close()

    def search(self, terms: list[str], limit: int) -> list[tuple[int, float]]:
        ranks: dict[int, float] = {}
        for term in terms:
            like = f"% {term} %"
            holders = self._connection.execute(
                "SELECT rowid, (title LIKE ?1) * 3.0 + (heading LIKE ?1) * 5.0 + (also LIKE ?1) * 4.0 + (body LIKE ?1)"
                " FROM handbook WHERE title LIKE ?1 OR heading LIKE ?1 OR also LIKE ?1 OR body LIKE ?1",
                (like,),
            ).fetchall()
            for number, points in holders:
                ranks[number] = ranks.get(number, 0.0) + points / len(holders)
        best = sorted(ranks.items(), key=lambda item: -item[1])[:limit]
        return [(number, rank) for number, rank in best]
