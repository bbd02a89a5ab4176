"""The index of one project's documents: files, their passages, and the words in them, in a SQLite file of its own.

It holds nothing that cannot be made again from the files: an older form or a damaged file is thrown away. One process
writes (`worker`), any number read. Words are looked up by FTS5's `unicode61` without accents and with English stems;
writing without blanks between words (Chinese, Japanese, Thai and more) is looked up by pairs of characters.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.documents.passages import Passage
from app.documents.reading import Entry, Kind, Notes, Reason

FORM = 3  # raised with any change below
_SCHEMA = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    kind TEXT NOT NULL,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    hash BLOB NOT NULL,
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    chars INTEGER NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    hash BLOB NOT NULL
);
CREATE INDEX passages_of_file ON passages (file);
CREATE INDEX passages_by_hash ON passages (hash);
CREATE VIRTUAL TABLE words USING fts5(
    heading, text, content='passages', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE pairs USING fts5(signs, content='', tokenize='unicode61');
"""
_PAGE_BYTES = 16_384
HASH_BYTES = 16  # of what a passage says
_WRITTEN_AT_ONCE = 2_000  # passages: reading the next file in between takes the words out of the processor’s caches
# Bytes of words held before they are written, and how many such writes are then merged at once. What the processor’s
# caches do not hold is slower to add to than to merge.
_SETTINGS = {"hashsize": 16 * 1024 * 1024, "automerge": 8}
# Han, kana, Hangul is spaced; Thai, Lao, Khmer, Burmese, Tibetan.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)


def pairs_of(text: str) -> str:
    """Return all pairs of neighboring characters of unspaced writing, between blanks; "" where there is none."""
    if text.isascii():
        return ""
    found: list[str] = []
    for run in UNSPACED.findall(text):
        found += [_spelled(run[at : at + 2]) for at in range(max(1, len(run) - 1))]
    return " ".join(found)


def _spelled(pair: str) -> str:
    """Write a pair as letters that no tokenizer takes apart: vowel signs of Thai and others are none to `unicode61`."""
    return "x".join(f"{ord(sign):x}" for sign in pair)


def hash_of(heading: str, text: str) -> bytes:
    """Return 16 bytes that name a passage by what it says: its vector is found by them. Raises `UnicodeEncodeError`."""
    return hashlib.blake2b(f"{heading}\n{text}".encode(), digest_size=HASH_BYTES).digest()


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open the index, made again where it is missing, damaged or of another form. Raises `sqlite3.Error`, `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in (1, 2):
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        try:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file: the text of a passage fits in
            connection.execute("PRAGMA journal_mode = wal")
            connection.execute("PRAGMA synchronous = normal")
            connection.execute("PRAGMA cache_size = -32768")
            connection.execute("PRAGMA journal_size_limit = 16000000")
            form = connection.execute("PRAGMA user_version").fetchone()[0]
            if form == FORM:
                return connection
            if not form and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                # One transaction: who is killed here finds nothing and begins again.
                connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORM}; COMMIT;")
                for table in ("words", "pairs"):
                    connection.executemany(f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", _SETTINGS.items())
                return connection
        except sqlite3.DatabaseError as error:
            if attempt == 2 or isinstance(error, sqlite3.OperationalError):
                connection.close()
                raise
        connection.close()
        remove(path)
    raise sqlite3.DatabaseError(str(path))


def remove(path: Path) -> None:
    """Delete an index with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


class Writer:
    """Puts files into the index. Changes are in a transaction until `commit`."""

    def __init__(self, path: Path) -> None:
        self._db = open_to_write(path)
        self._open = False
        self._waiting: list[tuple[int, int, int, int, bytes, str, str]] = []
        self._next_passage = self._db.execute("SELECT ifnull(max(id), 0) + 1 FROM passages").fetchone()[0]

    def close(self) -> None:
        self.commit()
        self._db.close()

    def known(self) -> dict[str, tuple[int, int, int, bytes]]:
        """Return path → (id, size, time of change in ns, hash of the content)."""
        rows = self._db.execute("SELECT path, id, size, changed_ns, hash FROM files")
        return {path: (number, size, changed, digest) for path, number, size, changed, digest in rows}

    def commit(self) -> None:
        if self._open:
            self._write()
            self._db.execute("COMMIT")
            self._open = False

    def _begin(self) -> None:
        if not self._open:
            self._db.execute("BEGIN IMMEDIATE")
            self._open = True

    def touch(self, number: int, entry: Entry) -> None:
        """Note another time of change for the same content."""
        self._begin()
        self._db.execute(
            "UPDATE files SET size = ?, changed_ns = ?, root = ? WHERE id = ?",
            (entry.size, entry.changed_ns, entry.root, number),
        )

    def skip(self, entry: Entry, reason: Reason, digest: bytes = b"") -> None:
        """Note a file that gives no text; what it gave before is removed."""
        self._place(entry, "", reason.value, "", digest, 0)

    def put(self, entry: Entry, kind: Kind, digest: bytes, passages: list[Passage], note: str = "") -> None:
        """Replace what the index has of a file; `note` is of `Notes.to_text`. Raises `UnicodeEncodeError`."""
        file = self._place(entry, kind.value, "", note, digest, sum(len(each.text) for each in passages))
        self._waiting += [
            (number, file, first, last, hash_of(heading, text), heading, text)
            for number, (text, first, last, heading) in enumerate(passages, start=self._next_passage)
        ]
        self._next_passage += len(passages)
        if len(self._waiting) >= _WRITTEN_AT_ONCE:
            self._write()

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove files with their passages."""
        for number in numbers:
            self._begin()
            self._clear(number)
            self._db.execute("DELETE FROM files WHERE id = ?", (number,))

    def _place(self, entry: Entry, kind: str, reason: str, note: str, digest: bytes, chars: int) -> int:
        self._begin()
        path = entry.path.encode("utf-8", "backslashreplace").decode()
        row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None:
            self._clear(row[0])
        root = entry.root.encode("utf-8", "backslashreplace").decode()
        cursor = self._db.execute(
            "INSERT INTO files (id, path, root, kind, size, changed_ns, hash, reason, note, chars)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET root = excluded.root,"
            " kind = excluded.kind, size = excluded.size, changed_ns = excluded.changed_ns, hash = excluded.hash,"
            " reason = excluded.reason, note = excluded.note, chars = excluded.chars",
            (row and row[0], path, root, kind, entry.size, entry.changed_ns, digest, reason, note, chars),
        )
        return int(row[0]) if row is not None else int(cursor.lastrowid or 0)

    def _clear(self, number: int) -> None:
        self._write()
        rows = self._db.execute("SELECT id, heading, text FROM passages WHERE file = ?", (number,)).fetchall()
        self._db.executemany("INSERT INTO words (words, rowid, heading, text) VALUES ('delete', ?, ?, ?)", rows)
        paired = [(each, pairs) for each, heading, text in rows if (pairs := pairs_of(f"{heading}\n{text}"))]
        self._db.executemany("INSERT INTO pairs (pairs, rowid, signs) VALUES ('delete', ?, ?)", paired)
        self._db.execute("DELETE FROM passages WHERE file = ?", (number,))

    def _write(self) -> None:
        """Write the passages that wait. They wait until that has worked: after a failure nothing can be committed."""
        self._db.executemany(
            "INSERT INTO passages (id, file, first, last, hash, heading, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._waiting,
        )
        self._db.executemany("INSERT INTO words (rowid, heading, text) VALUES (?1, ?6, ?7)", self._waiting)
        paired = [(row[0], pairs) for row in self._waiting if (pairs := pairs_of("\n".join(row[-2:])))]
        self._db.executemany("INSERT INTO pairs (rowid, signs) VALUES (?, ?)", paired)
        self._waiting.clear()


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open an index that is there for reading only; None where there is none yet, or one of another form."""
    if not path.exists():
        yield None
        return
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
        usable = connection.execute("PRAGMA user_version").fetchone()[0] == FORM
        connection.execute("PRAGMA query_only = on")
        yield connection if usable else None


@dataclass(frozen=True, slots=True)
class Overview:
    """What an index holds, for showing. `left_out` and `noted` are at most `MOST_LEFT_OUT` files, the counts all."""

    files: int = 0
    passages: int = 0
    left_out_count: int = 0
    left_out: tuple[tuple[str, Reason], ...] = ()
    noted_count: int = 0
    noted: tuple[tuple[str, Notes], ...] = ()
    size_bytes: int = 0


MOST_LEFT_OUT = 500


def overview(path: Path) -> Overview:
    """Count what is in an index; nothing where there is none yet. Blocks. Raises `sqlite3.Error`."""
    with reading(path) as connection:
        if connection is None:
            return Overview()
        files = connection.execute("SELECT count(*) FROM files WHERE reason = ''").fetchone()[0]
        passages = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
        count = connection.execute("SELECT count(*) FROM files WHERE reason <> ''").fetchone()[0]
        rows = connection.execute(
            "SELECT path, reason FROM files WHERE reason <> '' ORDER BY path LIMIT ?", (MOST_LEFT_OUT,)
        )
        left_out = tuple((name, Reason(reason)) for name, reason in rows)
        noted_count = connection.execute("SELECT count(*) FROM files WHERE note <> ''").fetchone()[0]
        rows = connection.execute(
            "SELECT path, note FROM files WHERE note <> '' ORDER BY path LIMIT ?", (MOST_LEFT_OUT,)
        )
        noted = tuple((name, Notes.from_text(note)) for name, note in rows)
    size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
    return Overview(files, passages, count, left_out, noted_count, noted, size)
