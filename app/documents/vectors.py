"""The embeddings of one project's passages: a SQLite file beside the index, because they were paid for and it was not.

A vector belongs to a text, named by its hash, so a passage that comes back finds its own. All vectors of a file are of
one model, one size and one service; another one begins an empty file. Nearest ones are found by signs, a bit for each
number, which are held in memory; the best of those are compared exactly. Before signs are taken, the middle of the
first texts is subtracted, because some models put all texts in one corner, and what is left is turned by a fixed
rotation, because some have zeros in most places.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.documents.index import HASH_BYTES, reading, remove

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORM = 1
_PAGE_BYTES = 16384  # a page of 4096 holds one vector of 1,024 numbers, and is half empty
_SCHEMA = """
CREATE TABLE about (
    model TEXT NOT NULL, served TEXT NOT NULL, place TEXT NOT NULL, dimensions INTEGER NOT NULL, is_on INTEGER NOT NULL,
    middle BLOB NOT NULL
);
CREATE TABLE signs (id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, bits BLOB NOT NULL);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
"""
MOST_PACKED = 100_000_000  # bytes of vectors in one JSON object: 50,000 passages of 1,024 numbers
MOST_PACKED_ROWS = 200_000
MOST_DIMENSIONS = 16_384
_SIGNED_AT_ONCE = 1_000  # vectors: turning them takes several times their memory
COMPARED = 200  # of the nearest by signs: 99.8 % of the forty nearest are among them
_held: dict[Path, tuple[tuple[str, int, int], NDArray[Any], NDArray[Any]]] = {}  # the project that was asked last


@dataclass(frozen=True, slots=True)
class VectorStoreInfo:
    """What a file of vectors is of. `served` is the model that answered and `dimensions` its size: "" and 0 at first.

    `place` is whose vectors they are: two services may give one name to two models. Where `is_on` is false, no question
    is embedded.
    """

    model: str
    place: str
    served: str = ""
    dimensions: int = 0
    is_on: bool = True
    count: int = 0
    size_bytes: int = 0


class OtherModel(Exception):
    """Vectors that must not be put beside those that are there: another model or another size (R-EMB-06)."""


def vectors_beside(index: Path) -> Path:
    """Return where the vectors of an index are."""
    return index.with_name("vectors.db")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """None where there is no file, or none that can be read."""
    if not path.exists():
        yield None
        return
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        try:
            usable = connection.execute("PRAGMA user_version").fetchone()[0] == _FORM
        except sqlite3.DatabaseError:
            usable = False
        yield connection if usable else None


def about(path: Path) -> VectorStoreInfo | None:
    """Return what the vectors are of; None where there are none. Blocks. Raises `sqlite3.Error`."""
    with _opened(path) as connection:
        if connection is None:
            return None
        row = connection.execute("SELECT model, served, place, dimensions, is_on FROM about").fetchone()
        if row is None:
            return None
        model, served, place, dimensions, is_on = row
        count = connection.execute("SELECT count(*) FROM signs").fetchone()[0]
    size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
    return VectorStoreInfo(model, place, served, dimensions, bool(is_on), count, size)


def begin(path: Path, model: str, place: str) -> None:
    """Switch vectors of a model on; those of another one are removed. Raises `sqlite3.Error`, `OSError`."""
    known = about(path)
    if known is not None and (known.model, known.place) == (model, place):
        switch(path, on=True)
        return
    with _created(path, VectorStoreInfo(model, place)):
        pass


@contextlib.contextmanager
def _created(path: Path, info: VectorStoreInfo, middle: bytes = b"") -> Iterator[sqlite3.Connection]:
    """Put an empty file there and fill it in one transaction: who is killed here finds nothing and begins again."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = wal")
        connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_FORM};")
        row = (info.model, info.served, info.place, info.dimensions, info.is_on, middle)
        connection.execute("INSERT INTO about VALUES (?, ?, ?, ?, ?, ?)", row)
        yield connection
        connection.execute("COMMIT")


def switch(path: Path, *, on: bool) -> None:
    """Embed questions, or no longer; the vectors stay. Raises `sqlite3.Error`."""
    with _opened(path) as connection:
        if connection is not None:
            connection.execute("UPDATE about SET is_on = ?", (on,))


def missing(index: Path, *, of_all: bool = False) -> list[tuple[bytes, int]]:
    """Return hash and bytes of each text without a vector, or `of_all`, in the order of the files.

    Blocks. Raises `sqlite3.Error`.
    """
    with reading(index) as connection:
        if connection is None:
            return []
        rows = connection.execute(
            "SELECT hash, length(CAST(heading AS BLOB)) + length(CAST(text AS BLOB)) + 1 FROM passages ORDER BY id"
        )
        sizes = dict(rows.fetchall())
    if of_all:
        return list(sizes.items())
    with _opened(vectors_beside(index)) as vectors:
        known = {row[0] for row in vectors.execute("SELECT hash FROM signs")} if vectors is not None else set()
    return [(name, size) for name, size in sizes.items() if name not in known]


def texts_of(index: Path, names: Sequence[bytes]) -> dict[bytes, str]:
    """Return what is embedded of these passages: heading and text. Raises `sqlite3.Error`."""
    with reading(index) as connection:
        if connection is None:
            return {}
        marks = ", ".join("?" * len(names))
        rows = connection.execute(f"SELECT hash, heading, text FROM passages WHERE hash IN ({marks})", names)
        return {name: f"{heading}\n{text}".strip() for name, heading, text in rows}


def keep(path: Path, served: str, vectors: Iterable[tuple[bytes, array[float]]]) -> None:
    """Keep vectors of one model, on the disk when this returns.

    Raises `OtherModel`, `sqlite3.Error`.
    """
    import numpy as np

    rows = list(vectors)
    new = (served, len(rows[0][1]))
    matrix = _of_length_one(np.array([numbers for _, numbers in rows], np.float32))
    with _opened(path) as connection:
        if connection is None:
            raise OtherModel
        connection.execute("BEGIN IMMEDIATE")
        *known, packed = connection.execute("SELECT served, dimensions, middle FROM about").fetchone()
        if tuple(known) not in (new, ("", 0)):
            connection.execute("ROLLBACK")
            raise OtherModel
        if not packed:
            packed = matrix.mean(axis=0).astype("<f4").tobytes()
            connection.execute("UPDATE about SET served = ?, dimensions = ?, middle = ?", (*new, packed))
        signs = _signs(matrix - np.frombuffer(packed, "<f4"))
        for (name, _), bits, vector in zip(rows, signs, matrix.astype("<f2"), strict=True):
            added = connection.execute("INSERT OR IGNORE INTO signs (hash, bits) VALUES (?, ?)", (name, bits.tobytes()))
            if added.rowcount:
                connection.execute("INSERT INTO vectors VALUES (?, ?)", (added.lastrowid, vector.tobytes()))
        connection.execute("COMMIT")


def packed(path: Path) -> dict[str, object] | None:
    """Return all vectors as a JSON object; None where there are none, or too many for `unpack`.

    Blocks. Raises `sqlite3.Error`.
    """
    with _opened(path) as connection:
        if connection is None:
            return None
        row = connection.execute("SELECT model, served, place, dimensions, middle FROM about").fetchone()
        count = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        if row is None or not 0 < count <= MOST_PACKED_ROWS:
            return None
        model, served, place, size, middle = row
        if count * size * 2 > MOST_PACKED:
            return None
        rows = connection.execute("SELECT s.hash, v.vector FROM signs s JOIN vectors v ON v.id = s.id ORDER BY s.hash")
        hashes, vectors = zip(*rows, strict=True)
    bytes_of = {"middle": middle, "hashes": b"".join(hashes), "vectors": b"".join(vectors)}
    about_them = {"model": model, "served": served, "place": place, "dimensions": size}
    return about_them | {name: base64.b64encode(data).decode() for name, data in bytes_of.items()}


def unpack(path: Path, told: Mapping[str, object]) -> bool:
    """Keep what `packed` gave, switched off, where there are no vectors yet. Return False for what cannot be that.

    Blocks. Raises `sqlite3.Error`, `OSError`.
    """
    import numpy as np

    size, *names = (told.get(name) for name in ("dimensions", "model", "served", "place"))
    if path.exists() or type(size) is not int or not 0 < size <= MOST_DIMENSIONS or not all(map(_text, names)):
        return False
    model, served, place = map(_text, names)
    texts = [_text(told.get(name)) for name in ("middle", "hashes", "vectors")]
    if max(map(len, texts)) * 3 // 4 > MOST_PACKED + 2:  # of padding
        return False
    try:
        f"{model}{served}{place}".encode()  # SQLite takes no half of a surrogate pair
        packed_middle, packed_hashes, packed_vectors = (base64.b64decode(text, validate=True) for text in texts)
        middle, vectors = np.frombuffer(packed_middle, "<f4"), np.frombuffer(packed_vectors, "<f2").reshape(-1, size)
    except ValueError:
        return False
    count = len(vectors)
    if not 0 < count <= MOST_PACKED_ROWS or len(packed_hashes) != HASH_BYTES * count or len(middle) != size:
        return False
    hashes = [packed_hashes[at : at + HASH_BYTES] for at in range(0, len(packed_hashes), HASH_BYTES)]
    if len(set(hashes)) != count or not (np.abs(middle) <= 1.01).all():
        return False
    signs: list[bytes] = []
    for start in range(0, count, _SIGNED_AT_ONCE):
        some = vectors[start : start + _SIGNED_AT_ONCE].astype(np.float32)
        lengths = np.linalg.norm(some, axis=1)
        if not ((np.abs(lengths - 1) <= 0.01) | (lengths == 0)).all():
            return False
        signs += (bits.tobytes() for bits in _signs(some - middle))
    with _created(path, VectorStoreInfo(model, place, served, size, is_on=False), packed_middle) as connection:
        connection.executemany(
            "INSERT INTO signs VALUES (?, ?, ?)",
            ((number, *each) for number, each in enumerate(zip(hashes, signs, strict=True), start=1)),
        )
        connection.executemany(
            "INSERT INTO vectors VALUES (?, ?)",
            ((number, vector.tobytes()) for number, vector in enumerate(vectors, start=1)),
        )
    return True


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def hashes_in(index: Path) -> set[bytes] | None:
    """Return the names of all texts of an index; None where there is none. Blocks. Raises `sqlite3.Error`."""
    with reading(index) as connection:
        return None if connection is None else {row[0] for row in connection.execute("SELECT hash FROM passages")}


def forget_missing(index: Path, names: Set[bytes]) -> None:
    """Remove the vectors of those of these texts that the index no longer has. Raises `sqlite3.Error`."""
    known = hashes_in(index)
    if known is None:
        return
    with _opened(vectors_beside(index)) as vectors:
        if vectors is None:
            return
        rows = vectors.execute("SELECT id, hash FROM signs")
        gone = [(number,) for number, name in rows if name in names and name not in known]
        vectors.execute("BEGIN IMMEDIATE")
        vectors.executemany("DELETE FROM signs WHERE id = ?", gone)
        vectors.executemany("DELETE FROM vectors WHERE id = ?", gone)
        vectors.execute("COMMIT")
        if gone:
            vectors.execute("VACUUM")


def nearest(path: Path, question: array[float], limit: int) -> list[bytes]:
    """Return the hashes of the texts whose vectors point most nearly where the question's does, nearest first.

    Blocks: milliseconds, and some hundred for the first question. Raises `sqlite3.Error`.
    """
    import numpy as np

    with _opened(path) as connection:
        if connection is None:
            return []
        size, packed = connection.execute("SELECT dimensions, middle FROM about").fetchone()
        wanted = _of_length_one(np.frombuffer(question, np.float32))
        numbers, bits = _signs_in_memory(path, connection)
        if len(wanted) != size or not len(numbers):
            return []
        unlike = np.bitwise_count(bits ^ _signs(wanted - np.frombuffer(packed, "<f4"))).sum(axis=1, dtype=np.uint16)
        count = min(COMPARED, len(numbers))
        near = numbers[np.argpartition(unlike, count - 1)[:count]].tolist()
        rows = connection.execute(
            "SELECT s.hash, v.vector FROM vectors v JOIN signs s ON s.id = v.id"
            f" WHERE v.id IN ({', '.join('?' * count)})",
            near,
        ).fetchall()
    vectors = np.frombuffer(b"".join(row[1] for row in rows), "<f2").reshape(len(rows), size).astype(np.float32)
    order = np.argsort(-(vectors @ wanted), kind="stable")[:limit]
    return [rows[place][0] for place in order.tolist()]


def _signs_in_memory(path: Path, connection: sqlite3.Connection) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numbers of rows and their signs, read again where any came or went."""
    import numpy as np

    key = connection.execute("SELECT model, (SELECT max(id) FROM signs), (SELECT count(*) FROM signs) FROM about")
    state = key.fetchone()
    held = _held.get(path)
    if held is None or held[0] != state:
        rows = connection.execute("SELECT id, bits FROM signs").fetchall()
        numbers = np.array([row[0] for row in rows], np.int64)
        signs = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(len(rows), -1 if rows else 0)
        _held.clear()
        _held[path] = held = (state, numbers, signs)
    return held[1], held[2]


def _of_length_one(vectors: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[Any] = vectors / np.where(lengths, lengths, np.float32(1))
    return scaled


def _signs(vectors: NDArray[Any]) -> NDArray[Any]:
    """A bit for each number of vectors that were turned: flipped signs, then a Walsh-Hadamard transform."""
    import numpy as np

    lead, length = vectors.shape[:-1], vectors.shape[-1]
    size = max(64, 1 << (length - 1).bit_length())
    flips = np.unpackbits(np.frombuffer(hashlib.shake_128(b"signs").digest(size // 8), np.uint8))
    turned = np.zeros((*lead, size), np.float32)
    turned[..., :length] = vectors
    turned *= np.float32(1) - np.float32(2) * flips
    step = 1
    while step < size:
        halves = turned.reshape(*lead, -1, 2, step)
        one, other = halves[..., 0, :], halves[..., 1, :]
        turned = np.stack((one + other, one - other), axis=-2).reshape(*lead, size)
        step *= 2
    return np.packbits(turned > 0, axis=-1).view(np.uint64)
