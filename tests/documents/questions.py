"""A fixed set of questions over two bodies of text, and how many find their passage among the first five.

One is this program's handbook, without the lists of other words that are written into it for the Sandbox. The other is
public: the Python language reference as it comes with every CPython (`pydoc_data.topics`, PSF License).
"""

import importlib
import io
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from app.documents.index import Writer
from app.documents.passages import passages_of
from app.documents.plain_text import read_text
from app.documents.reading import Entry, Kind, Notes, Section
from app.documents.search import FoundPassages

HANDBOOK = Path(__file__).resolve().parents[2] / "resources" / "handbook"
PYTHON = "python/"
FIRST = 5
_ALSO = re.compile(r"<!-- also:.*?-->\n*", re.DOTALL)


class Question(NamedTuple):
    text: str
    heading: str  # of a passage of the handbook; "" for a question about Python
    marks: tuple[str, ...]  # of a passage about Python

    def is_answered_by(self, heading: str, text: str, path: str) -> bool:
        if self.heading:
            return heading == self.heading
        text = text.lower().replace("’", "'")
        return path.startswith(PYTHON) and any(mark in text for mark in self.marks)


def questions() -> list[Question]:
    found = []
    about_python = False
    for line in (Path(__file__).with_suffix(".txt")).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            about_python = "Python" in line
            continue
        text, answer = line.split(" | ", 1)
        found.append(Question(text, "", tuple(answer.split("|"))) if about_python else Question(text, answer, ()))
    return found


def make_index(path: Path) -> None:
    writer = Writer(path)
    for file in sorted(HANDBOOK.glob("*.md")):
        data = _ALSO.sub("", file.read_text(encoding="utf-8")).encode()
        passages = list(passages_of(read_text(io.BytesIO(data), Kind.MARKDOWN, Notes())))
        writer.put(Entry(f"handbook/{file.name}", "handbook"), Kind.MARKDOWN, b"", passages)
    topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    for name, text in sorted(topics.items()):
        writer.put(Entry(f"{PYTHON}{name}.txt", PYTHON), Kind.TEXT, b"", list(passages_of([Section(text, 1)])))
    writer.close()


def answerable(index: Path) -> list[Question]:
    """The questions whose passage is there: the reference differs a little from one Python to the next."""
    with closing(sqlite3.connect(index)) as connection:
        rows = connection.execute("SELECT p.heading, p.text, f.path FROM passages p JOIN files f ON f.id = p.file")
        passages = rows.fetchall()
    return [each for each in questions() if any(each.is_answered_by(*row) for row in passages)]


def missed(index: Path, find: Callable[[str], Sequence[FoundPassages]]) -> list[str]:
    """Return the questions whose passage is not among the first five."""
    return [
        each.text
        for each in answerable(index)
        if not any(each.is_answered_by(found.heading, found.text, found.path) for found in find(each.text)[:FIRST])
    ]


@contextmanager
def plain_fts5(index: Path) -> Iterator[Callable[[str], Sequence[FoundPassages]]]:
    """The same passages in FTS5 without ranking of ours, queried for any of the words."""
    with closing(sqlite3.connect(index)) as source:
        rows = source.execute(
            "SELECT p.id, f.path, p.heading, p.text FROM passages p JOIN files f ON f.id = p.file"
        ).fetchall()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE plain USING fts5(path UNINDEXED, heading UNINDEXED, text)")
        connection.executemany("INSERT INTO plain (rowid, path, heading, text) VALUES (?, ?, ?, ?)", rows)

        def find(question: str) -> list[FoundPassages]:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
            found = connection.execute("SELECT rowid, * FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 5", (words,))
            return [
                FoundPassages(number, path, Kind.TEXT, 1, 1, heading, text) for number, path, heading, text in found
            ]

        yield find
