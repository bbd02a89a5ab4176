"""Finds the passages that answer a question: by words, pairs of characters and embeddings, all ranked together."""

from __future__ import annotations

import sqlite3
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.documents.index import UNSPACED, pairs_of, reading
from app.documents.reading import Kind
from app.documents.vectors import nearest, vectors_beside

MOST_TERMS = 24
MOST_ROWS = 5_000  # looked at for one question: common words are left out while there are rarer ones
HEADING_WEIGHT = 2.0  # of a word in a heading against one in the text
CANDIDATES = 40  # of each ranking
AROUND = 30  # passages on each side of one that is looked at in its file
MEANING_WEIGHT = 0.8  # beside words: below it, weak vectors never make words worse
RANK_OFFSET = 10  # of reciprocal rank fusion: how little the first place counts more than the second; measured
# Words of questions. They are in headings of every kind, and say nothing of what is asked for.
_ASKING = frozenset(
    """
    a an and are as at be been but by can could do does did for from had has have how i if in into is it its me my of
    on or should so than that the their them then there these they this those to was we were what when where which
    who whom whose why will with would you your
    aber als am auch auf aus bei bin bis da das dass dem den der des die du ein eine einem einen einer er es für hat
    ich im in ist kann man mein mit nach nicht oder sein sich sie sind so und von wann warum was wenn wer wie wird wo
    zu zum zur à au aux avec ce ces comment dans de des du elle en est et il je la le les leur lui ma mais mes mon
    ne nous où par pas pour pourquoi qu quand que quel quelle qui quoi sa se ses son sont sur un une vous
    al como con cual cuando de del donde el ella en es esta este la las lo los mi no o para pero por que quien se si
    sin su sus un una y
    """.split()  # noqa: SIM905 - a line for each word would be a page
)


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """A passage of the index with its file. `places` count as `kind` says: lines, pages, slides, rows, chapters."""

    id: int
    path: str
    kind: Kind
    first: int
    last: int
    heading: str
    text: str


def terms_of(question: str) -> tuple[str, ...]:
    """Return the words that are looked for, as they were written, without those that only ask."""
    spaced = "".join(sign if sign.isalnum() or unicodedata.category(sign)[0] == "M" else " " for sign in question)
    words = [word for word in UNSPACED.sub(" ", spaced).split() if word]
    meaning = [word for word in words if word.lower() not in _ASKING]
    return tuple(dict.fromkeys(meaning or words))[:MOST_TERMS]


@dataclass(frozen=True, slots=True)
class Document:
    """A file of the index that was read. `chars` are those of its text."""

    path: str
    kind: Kind
    chars: int


def named(index: Path, words: str, limit: int) -> tuple[Document, ...]:
    """Return the files whose names hold each of `words`, those that begin so first, then shorter names.

    () where there is no index yet. Blocks. Raises `sqlite3.Error`.
    """
    wanted = words.casefold().split()
    start = words.casefold().strip()
    with reading(index) as connection:
        if connection is None:
            return ()
        rows = connection.execute("SELECT path, kind, chars FROM files WHERE reason = ''")
        found = [(Path(path).name.casefold(), path, kind, chars) for path, kind, chars in rows]
    held = [row for row in found if all(word in row[0] for word in wanted)]
    held.sort(key=lambda row: (not row[0].startswith(start), len(row[0]), row))
    return tuple(Document(path, Kind(kind), chars) for _, path, kind, chars in held[:limit])


def whole_text(index: Path, path: str) -> str:
    """Return the text that was read of a file; "" for one that the index does not have. Blocks.

    Passages were cut between paragraphs, lines, sentences or words: what is of one place is put together again.
    Raises `sqlite3.Error`.
    """
    with reading(index) as connection:
        if connection is None:
            return ""
        rows = connection.execute(
            "SELECT p.first, p.last, p.text FROM passages p JOIN files f ON f.id = p.file"
            " WHERE f.path = ? ORDER BY p.id",
            (path,),
        )
        return _joined(rows)


def _joined(rows: Iterable[tuple[int, int, str]]) -> str:
    """Put passages of a file together, given as first place, last place and text."""
    pieces: list[str] = []
    before = 0
    for first, last, text in rows:
        pieces += ["\n" if first <= before + 1 else "\n\n"] if pieces else []
        pieces.append(text)
        before = last
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What was read of a file, around a text that was taken from it. `before` and `after` are cut, far from it.

    `is_there` is False where the text is not in the file as it was read last; then `text` is "".
    """

    path: str
    is_there: bool
    before: str = ""
    text: str = ""
    after: str = ""
    is_cut: bool = False


def excerpt(index: Path, path: str, text: str, first: int) -> Excerpt | None:
    """Return what stands around `text`, which was read at the place `first` of a file, or is all of it for 0.

    A `path` without a folder is any file of that name. None where the index has no such file. Blocks. Raises
    `sqlite3.Error`.
    """
    with reading(index) as connection:
        file = connection and _file(connection, path)
        if connection is None or not file:
            return None
        number, path = file
        query = "SELECT id, first, last, text FROM passages WHERE file = ?"
        if not first:
            rows = connection.execute(f"{query} ORDER BY id", (number,)).fetchall()
            if "".join(_joined(row[1:] for row in rows).split()) != "".join(text.split()):
                return Excerpt(path, is_there=False)
            shown = [row[1:] for row in rows[: 2 * AROUND]]
            return Excerpt(path, True, "", "", _joined(shown), len(rows) > len(shown))
        found = connection.execute(f"{query} AND text = ? ORDER BY abs(first - ?)", (number, text, first)).fetchone()
        if found is None:
            return Excerpt(path, is_there=False)
        before = connection.execute(f"{query} AND id < ? ORDER BY id DESC LIMIT ?", (number, found[0], AROUND + 1))
        after = connection.execute(f"{query} AND id > ? ORDER BY id LIMIT ?", (number, found[0], AROUND + 1))
        above, below = [row[1:] for row in before][::-1], [row[1:] for row in after]
        is_cut = len(above) > AROUND or len(below) > AROUND
        above, below = above[-AROUND:], below[:AROUND]
        head, whole = _joined([*above, found[1:]]), _joined([*above, found[1:], *below])
        return Excerpt(path, True, head[: -len(text)], text, whole[len(head) :], is_cut)


def _file(connection: sqlite3.Connection, path: str) -> tuple[int, str] | None:
    """Return the number and the path of a file that was read."""
    if Path(path).name != path:
        rows = connection.execute("SELECT id, path FROM files WHERE path = ? AND reason = ''", (path,))
        return next(iter(rows), None)
    rows = connection.execute("SELECT id, path FROM files WHERE reason = '' ORDER BY path")
    return next((row for row in rows if Path(row[1]).name == path), None)


def search(index: Path, question: str, limit: int = 5, vector: array[float] | None = None) -> tuple[FoundPassages, ...]:
    """Return the best passages for a question, best first; () where there is no index yet.

    `vector` is the question's embedding, of the model that the passages' are of; without it words alone decide.
    Blocks for some milliseconds. Raises `sqlite3.Error`.
    """
    with reading(index) as connection:
        if connection is None:
            return ()
        rankings = [(1.0, _by_words(connection, terms_of(question))), (1.0, _by_pairs(connection, question))]
        if vector is not None:
            near = nearest(vectors_beside(index), vector, CANDIDATES)
            rankings.append((MEANING_WEIGHT, _by_meaning(connection, near)))
        best = fused(rankings)[:limit]
        return _found(connection, best)


def fused(rankings: Iterable[tuple[float, Sequence[int]]]) -> list[int]:
    """Rank together by the sum of reciprocal ranks, each ranking with its weight."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for place, number in enumerate(ranking, start=1):
            scores[number] = scores.get(number, 0.0) + weight / (RANK_OFFSET + place)
    return sorted(scores, key=lambda number: (-scores[number], number))


def _by_words(connection: sqlite3.Connection, terms: Sequence[str]) -> list[int]:
    counted = []
    for term in terms:
        quoted = '"' + term.replace('"', '""') + '"'
        rows = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (quoted, MOST_ROWS)
        ).fetchone()[0]
        if rows:
            counted.append((rows, quoted))
    chosen: list[str] = []
    sum_rows = 0
    for rows, quoted in sorted(counted):  # the rarest first
        sum_rows += rows
        if chosen and sum_rows > MOST_ROWS:
            break
        chosen.append(quoted)
    if not chosen:
        return []
    if len(chosen) == 1 and sum_rows >= MOST_ROWS:  # one word that is everywhere: any of them
        query = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        return [row[0] for row in connection.execute(query, (chosen[0], CANDIDATES))]
    rows = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, ?, 1.0) LIMIT ?",
        (" OR ".join(chosen), HEADING_WEIGHT, CANDIDATES),
    )
    return [row[0] for row in rows]


def _by_pairs(connection: sqlite3.Connection, question: str) -> list[int]:
    pairs = tuple(dict.fromkeys(pairs_of(question).split()))[:MOST_TERMS]
    if not pairs:
        return []
    match = " OR ".join(f'"{pair}"*' if "x" not in pair else f'"{pair}"' for pair in pairs)
    query = "SELECT rowid FROM pairs WHERE pairs MATCH ? ORDER BY bm25(pairs) LIMIT ?"
    return [row[0] for row in connection.execute(query, (match, CANDIDATES))]


def _by_meaning(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> list[int]:
    rows = connection.execute(f"SELECT hash, id FROM passages WHERE hash IN ({', '.join('?' * len(hashes))})", hashes)
    place = {name: at for at, name in enumerate(hashes)}
    return [number for _, number in sorted((place[name], number) for name, number in rows)]


def _found(connection: sqlite3.Connection, numbers: Sequence[int]) -> tuple[FoundPassages, ...]:
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(
        "SELECT p.id, f.path, f.kind, p.first, p.last, p.heading, p.text FROM passages p JOIN files f ON f.id = p.file"
        f" WHERE p.id IN ({marks})",
        numbers,
    )
    by_id = {row[0]: FoundPassages(row[0], row[1], Kind(row[2]), *row[3:]) for row in rows}
    return tuple(by_id[number] for number in numbers if number in by_id)
