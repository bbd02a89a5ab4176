"""The full-text index over messages: made for the SQLite at hand, kept in step by triggers.

The trigram tokenizer finds any part of a word in any script; where this SQLite has none, `unicode61` finds
beginnings of words; where it has no FTS5 at all, searches read the messages (`LIKE`). The kind in use is written
in `meta`; a database that moves to another SQLite gets its index rebuilt.

Words of one or two letters have no trigram. Frequent ones are among the newest messages; rare ones are found by the
trigrams that begin with them (`TERMS` lists those) and by the ends of messages.

An answer that still streams is not in the index: it is saved four times a second, and indexing it each time would
cost more than drawing it. The row enters when its state changes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

KEY = "search_index"
TRIGRAM, WORDS, NONE = "trigram", "unicode61", "none"
TERMS = "temp.messages_terms"  # what the index holds; made for each connection, holds nothing itself
MOST_TERMS = 200
TRIGGERS = ("messages_indexed_insert", "messages_indexed_delete", "messages_indexed_update")

_CREATE_TRIGGERS = """
CREATE TRIGGER messages_indexed_insert AFTER INSERT ON messages WHEN new.state <> 'streaming' BEGIN
    INSERT INTO messages_fts (rowid, content) VALUES (new.seq, new.content);
END;
CREATE TRIGGER messages_indexed_delete AFTER DELETE ON messages WHEN old.state <> 'streaming' BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.seq, old.content);
END;
CREATE TRIGGER messages_indexed_update AFTER UPDATE OF content, state ON messages
WHEN (old.state = 'streaming') <> (new.state = 'streaming')
    OR (new.state <> 'streaming' AND old.content <> new.content) BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, content)
        SELECT 'delete', old.seq, old.content WHERE old.state <> 'streaming';
    INSERT INTO messages_fts (rowid, content) SELECT new.seq, new.content WHERE new.state <> 'streaming';
END;
"""


def best_tokenizer(database: sqlite3.Connection) -> str:
    """Return what this SQLite can do, found by trying."""
    for name in (TRIGRAM, WORDS):
        try:
            database.execute(f"CREATE VIRTUAL TABLE temp.probe_fts USING fts5(content, tokenize='{name}')")
            database.execute("DROP TABLE temp.probe_fts")
        except sqlite3.OperationalError:
            continue
        return name
    return NONE


def ensure_index(database: sqlite3.Connection, best: str | None = None) -> str:
    """Make the index fit this SQLite, rebuilding it when it does not, in one transaction. Return its kind."""
    row = database.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    current = row[0] if row else ""
    best = best_tokenizer(database) if best is None else best
    if current == best:
        return best
    database.execute("BEGIN IMMEDIATE")
    try:
        for trigger in TRIGGERS:
            database.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        if best != NONE:  # without FTS5 the old table cannot even be dropped; it waits, unused
            database.execute("DROP TABLE IF EXISTS messages_fts")
            database.execute(
                "CREATE VIRTUAL TABLE messages_fts USING "
                f"fts5(content, content='messages', content_rowid='seq', tokenize='{best}')"
            )
            database.execute(
                "INSERT INTO messages_fts (rowid, content) SELECT seq, content FROM messages WHERE state <> 'streaming'"
            )
            for trigger in re.split(r"(?<=END;)\n", _CREATE_TRIGGERS.strip()):
                database.execute(trigger)
        database.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (KEY, best))
        database.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise
    return best


CREATE_TERMS = f"CREATE VIRTUAL TABLE {TERMS} USING fts5vocab('main', 'messages_fts', 'instance')"
# From one term to the next: a list of all of them would count every place where each occurs.
TERMS_WITHIN = (
    "WITH RECURSIVE step (term) AS ("
    f" SELECT (SELECT term FROM {TERMS} WHERE term >= ?1 AND term <= ?2 LIMIT 1)"
    f" UNION ALL SELECT (SELECT term FROM {TERMS} WHERE term >= step.term || char(1) AND term <= ?2 LIMIT 1)"
    " FROM step WHERE step.term IS NOT NULL"
    ") SELECT term FROM step WHERE term IS NOT NULL LIMIT ?3"
)
ENDS_WITH = (  # the same over the index of ends
    "WITH RECURSIVE step (end) AS ("
    " SELECT min(lower(substr(content, -2))) FROM messages"
    " UNION ALL SELECT (SELECT min(lower(substr(content, -2))) FROM messages WHERE lower(substr(content, -2)) > end)"
    " FROM step WHERE end IS NOT NULL"
    ") SELECT end FROM step WHERE instr(end, ?)"
)


def any_of(terms: Sequence[str]) -> str:
    """Return what finds every message that holds one of the index's own terms."""
    return " OR ".join(map(_quoted, terms))


@dataclass(frozen=True, slots=True)
class Query:
    """A search as typed, ready for SQL. `match` is "" when the index cannot help."""

    terms: tuple[str, ...]
    match: str
    likes: tuple[str, ...]  # patterns with backslash as the escape sign; every one must fit


def query_of(text: str, kind: str, max_terms: int = 12) -> Query:
    """Split what was typed: words must all occur, in any order; "two words" in quotes must stand together."""
    found = re.findall(r'"([^"]+)"?|(\S+)', text.replace("\x00", " "))
    terms = tuple(term for quoted, word in found if (term := (quoted or word).strip().strip('"')))[:max_terms]
    if kind == TRIGRAM:
        indexed = tuple(term for term in terms if len(term) >= 3)
        match = " AND ".join(_quoted(term) for term in indexed)
    elif kind == WORDS:
        indexed = tuple(term for term in terms if any(char.isalnum() for char in term))
        match = " AND ".join(f"{_quoted(term)}*" for term in indexed)
    else:
        indexed, match = (), ""
    likes = tuple(like_pattern(term) for term in terms if term not in indexed)
    return Query(terms, match, likes)


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def like_pattern(term: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", term) + "%"


_BREAK = re.compile(r"\s")
_CITATION = re.compile(r"\[REF\][\d\s,]*\[/REF\]")  # of a source of an answer, where the answer is not drawn


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str  # one line
    marks: tuple[tuple[int, int], ...]  # where the found words are: (start, end) in characters


class Marker:
    """Cuts messages around what was searched for, and marks it; one search makes one."""

    def __init__(self, terms: tuple[str, ...], width: int = 120) -> None:
        longest_first = sorted(filter(None, terms), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)", re.IGNORECASE)
        self._width = width

    def snippet(self, content: str) -> Snippet:
        """Return one line of about `width` characters around the first place where a term occurs."""
        content = _CITATION.sub("", content)
        first = self._pattern.search(content)
        middle = first.start() if first else 0
        start = max(0, middle - self._width // 3)
        if start:
            space = content.find(" ", start, middle)
            start = space + 1 if space >= 0 else start
        end = min(len(content), start + self._width)
        piece = _BREAK.sub(" ", content[start:end]).rstrip()
        text = f"{'…' if start else ''}{piece}{'…' if end < len(content) else ''}"
        return Snippet(text, tuple(match.span() for match in self._pattern.finditer(text)))
