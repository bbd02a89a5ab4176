"""Vectors of passages: kept beside the index, of one model alone, and the nearest ones found."""

from __future__ import annotations

import base64
import json
import random
import sqlite3
from array import array
from contextlib import closing
from pathlib import Path

import pytest

from app.documents import vectors
from app.documents.index import Writer, hash_of
from app.documents.passages import Passage
from app.documents.reading import Entry, Kind
from app.documents.search import search
from app.documents.vectors import (
    OtherModel,
    about,
    begin,
    forget_missing,
    hashes_in,
    keep,
    missing,
    nearest,
    packed,
    switch,
    texts_of,
    unpack,
    vectors_beside,
)

SIZE = 96


def index_of(folder: Path, **texts: str) -> Path:
    """An index of files by name, one passage each; a file without text is removed."""
    index = folder / "index.db"
    writer = Writer(index)
    known = writer.known()
    for name, text in texts.items():
        if text:
            writer.put(Entry(name, ""), Kind.TEXT, b"", [Passage(text, 1, 1, "Heading")])
        else:
            writer.forget([known[name][0]])
    writer.close()
    return index


def one(number: int, size: int = SIZE) -> array[float]:
    """The same vector for the same number, not of length one."""
    chance = random.Random(number)
    return array("f", [chance.gauss(0, 3) for _ in range(size)])


def close_to(vector: array[float]) -> array[float]:
    chance = random.Random(0)
    return array("f", [each + chance.gauss(0, 0.5) for each in vector])


def embed(index: Path, model: str = "m", size: int = SIZE) -> list[str]:
    """Embed what is missing, each text by its length. Return the texts."""
    begin(vectors_beside(index), model, "here")
    names = [name for name, _ in missing(index)]
    texts = texts_of(index, names)
    keep(vectors_beside(index), f"{model}-1", [(name, one(len(texts[name]), size)) for name in names])
    return list(texts.values())


def test_only_what_is_new_or_changed_is_missing(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one", b="three")
    assert sorted(embed(index)) == ["Heading\none", "Heading\nthree"]
    assert missing(index) == []
    index_of(tmp_path, b="three, changed", c="one")
    assert texts_of(index, [name for name, _ in missing(index)]) == {
        hash_of("Heading", "three, changed"): "Heading\nthree, changed"
    }
    index_of(tmp_path, b="three")  # as it was before: paid for already
    assert missing(index) == []


def test_the_index_made_again_finds_its_vectors_again(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one")
    embed(index)
    index.unlink()
    index_of(tmp_path, a="one")
    assert missing(index) == []


def test_sizes_are_bytes_of_what_is_embedded(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="租金")
    assert [size for _, size in missing(index)] == [len("Heading\n租金".encode())]


def test_vectors_of_another_model_or_size_never_meet(tmp_path: Path) -> None:
    """R-EMB-04, R-EMB-06."""
    index = index_of(tmp_path, a="one")
    path = vectors_beside(index)
    embed(index)
    for served, size in (("m-2", SIZE), ("m-1", SIZE + 1)):
        with pytest.raises(OtherModel):
            keep(path, served, [(b"x" * 16, one(1, size))])
    assert nearest(path, one(1, SIZE + 1), 5) == []
    known = about(path)
    assert known is not None
    assert (known.model, known.served, known.dimensions, known.count) == ("m", "m-1", SIZE, 1)
    begin(path, "m", "here")
    assert missing(index) == []
    begin(path, "m", "elsewhere")
    assert len(missing(index)) == 1
    embed(index, "n")
    begin(path, "m", "here")
    assert len(missing(index)) == 1


def test_the_nearest_are_found_among_many(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one")
    path = vectors_beside(index)
    begin(path, "m", "here")
    names = [number.to_bytes(16, "big") for number in range(3_000)]
    keep(path, "m", [(name, one(number)) for number, name in enumerate(names)])
    for number in (0, 1_500, 2_999):
        assert nearest(path, close_to(one(number)), 3)[0] == names[number]
    more = (3_000).to_bytes(16, "big")
    keep(path, "m", [(more, one(3_000))])
    assert nearest(path, close_to(one(3_000)), 1) == [more]


def test_a_passage_without_the_words_is_found_by_its_vector(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="The rent is due.", b="Cats sleep all day long.")
    embed(index)
    question = close_to(one(len("Heading\nCats sleep all day long.")))
    assert search(index, "felines") == ()
    assert search(index, "felines", 1, question)[0].text == "Cats sleep all day long."
    assert {each.path for each in search(index, "rent", 5, question)} == {"a", "b"}


def test_vectors_go_with_what_was_removed(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one", b="three")
    embed(index)
    keep(vectors_beside(index), "m-1", [(b"imported by hash", one(1))])  # of a text that was never here
    before = hashes_in(index)
    assert before is not None
    index_of(tmp_path, a="")
    forget_missing(index, before)
    known = about(vectors_beside(index))
    assert known is not None
    assert known.count == 2
    found = nearest(vectors_beside(index), one(len("Heading\none")), 5)
    assert sorted(found) == sorted([hash_of("Heading", "three"), b"imported by hash"])


def test_packed_vectors_come_back_identical_switched_off_and_nothing_is_missing(tmp_path: Path) -> None:
    index = index_of(tmp_path / "one", a="one", b="three", c="seventeen")
    assert packed(vectors_beside(index)) is None
    embed(index)
    told = packed(vectors_beside(index))
    assert told is not None
    other = index_of(tmp_path / "two", a="one", b="three", c="seventeen")
    assert unpack(vectors_beside(other), json.loads(json.dumps(told)))
    assert packed(vectors_beside(other)) == told
    assert missing(other) == []
    known = about(vectors_beside(other))
    assert known is not None
    assert (known.is_on, known.model, known.place, known.count) == (False, "m", "here", 3)
    question = close_to(one(len("Heading\nthree")))
    assert nearest(vectors_beside(other), question, 3) == nearest(vectors_beside(index), question, 3)
    assert not unpack(vectors_beside(other), told), "those that are there stay"


@pytest.mark.parametrize(
    "changes",
    [
        {"dimensions": 0},
        {"dimensions": 1e9},
        {"dimensions": True},
        {"dimensions": SIZE + 1},
        {"model": ""},
        {"served": None},
        {"middle": "AAAA"},
        {"hashes": "AAAA"},
        {"hashes": "no base64"},
        {"vectors": ["AAAA"]},
        {"vectors": base64.b64encode(b"\x00\x7c" * SIZE).decode()},  # endless
        {"vectors": base64.b64encode(b"\x00\x3c" * SIZE).decode()},  # too long
        {"middle": base64.b64encode(b"\xff\xff\x7f\x7f" * SIZE).decode()},  # none of such texts
        {"model": "\ud800"},
        {"hashes": "", "vectors": ""},
    ],
)
def test_what_is_odd_among_packed_vectors_leaves_none(tmp_path: Path, changes: dict[str, object]) -> None:
    index = index_of(tmp_path, a="one")
    embed(index)
    told = packed(vectors_beside(index))
    assert told is not None
    elsewhere = tmp_path / "elsewhere" / "vectors.db"
    assert not unpack(elsewhere, told | changes)
    assert not elsewhere.exists()


@pytest.mark.parametrize("limit", ["MOST_PACKED", "MOST_PACKED_ROWS"])
def test_more_than_a_file_may_hold_is_neither_packed_nor_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    index = index_of(tmp_path, a="one", b="three")
    embed(index)
    told = packed(vectors_beside(index))
    assert told is not None
    monkeypatch.setattr(vectors, limit, 1)
    assert packed(vectors_beside(index)) is None
    assert not unpack(tmp_path / "elsewhere" / "vectors.db", told)


def test_more_vectors_than_are_turned_at_once_come_back_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "one" / "vectors.db", tmp_path / "two" / "vectors.db"
    begin(path, "m", "here")
    names = [number.to_bytes(16, "big") for number in range(7)]
    keep(path, "m", [(name, one(number)) for number, name in enumerate(names)])
    told = packed(path)
    assert told is not None
    monkeypatch.setattr(vectors, "_SIGNED_AT_ONCE", 3)
    assert unpack(other, told)
    assert packed(other) == told
    assert [nearest(other, one(number), 1) for number in range(7)] == [[name] for name in names]


def test_a_file_that_could_not_be_begun_is_none(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with pytest.raises(UnicodeEncodeError):
        begin(path, "\ud800", "here")
    assert about(path) is None
    assert packed(path) is None
    begin(path, "m", "here")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM about")
    assert about(path) is None
    assert packed(path) is None


def test_switched_off_the_vectors_stay(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one")
    path = vectors_beside(index)
    assert about(path) is None
    embed(index)
    switch(path, on=False)
    known = about(path)
    assert known is not None
    assert (known.is_on, known.count) == (False, 1)
    begin(path, "m", "here")
    known = about(path)
    assert known is not None
    assert (known.is_on, known.count) == (True, 1)


def test_a_damaged_file_is_no_file(tmp_path: Path) -> None:
    index = index_of(tmp_path, a="one")
    path = vectors_beside(index)
    path.write_bytes(b"no database at all, but longer than a header" * 10)
    assert about(path) is None
    assert nearest(path, one(1), 5) == []
    assert len(missing(index)) == 1
    embed(index)
    assert missing(index) == []
