import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import chat_store
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.schema import migrations_in, prepare
from app.storage.search_index import NONE, TRIGRAM, WORDS, Marker, best_tokenizer, ensure_index, query_of


async def fill(history: ChatStore) -> str:
    chat = await history.create_chat(title="Stone bridges of Venice")
    for text in (
        "Who built the Rialto bridge?",
        "Antonio da Ponte, between 1588 and 1591.",
        "100% of it? With under_scores and C:\\paths?",
        "Мост и 桥 und Brücke, naïve ÅNGSTRÖM",
    ):
        await history.add_message(chat.id, "user", text)
    return chat.id


async def found(history: ChatStore, text: str) -> list[str]:
    """Return the beginnings of the messages found, titles as "title"."""
    return ["title" if hit.message_id is None else hit.snippet.text[:7] for hit in await history.search(text)]


async def test_words_parts_of_words_and_phrases_are_found(history: ChatStore) -> None:
    await fill(history)
    assert await found(history, "bridge") == ["title", "Who bui"]
    assert await found(history, "RIDG built") == ["Who bui"]  # both, in any order, in any case
    assert await found(history, '"built the"') == ["Who bui"]
    assert await found(history, '"the built"') == []
    assert await found(history, "rialto 1588") == []


async def test_short_words_and_signs_are_found_as_they_are(history: ChatStore) -> None:
    await fill(history)
    assert await found(history, "da") == ["Antonio"]
    assert await found(history, "桥") == ["Мост и "]
    assert await found(history, "100%") == ["100% of"]
    assert await found(history, "r_s") == ["100% of"]
    assert await found(history, "_") == ["100% of"]
    assert await found(history, "C:\\") == ["100% of"]
    assert await found(history, "мост ångström") == ["Мост и "]
    assert await found(history, "da Ponte") == ["Antonio"]


@pytest.mark.parametrize("text", ["", "   ", '"', '""', "\x00"])
async def test_an_empty_search_finds_nothing(history: ChatStore, text: str) -> None:
    await fill(history)
    assert await found(history, text) == []


@pytest.mark.parametrize("text", ['AND OR "', "NEAR(", "col:x", "a*", "^b", "(((", "-x", "'; DROP TABLE chats; --"])
async def test_signs_of_the_query_language_are_only_text(history: ChatStore, text: str) -> None:
    await fill(history)
    await history.search(text)
    chat = await history.create_chat()
    message = await history.add_message(chat.id, "user", f"before {text} after")
    needle = text.replace('"', "").strip()
    assert message.id in [hit.message_id for hit in await history.search(f'"{needle}"')]


async def test_what_was_found_is_marked_in_a_short_line(history: ChatStore) -> None:
    chat = await history.create_chat()
    await history.add_message(chat.id, "user", "word\n" * 200 + "the Needle itself\nand needles " + "word " * 200)
    (hit,) = await history.search("needle")
    assert len(hit.snippet.text) < 130
    assert "\n" not in hit.snippet.text
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["Needle", "needle"]
    assert (hit.snippet.text[0], hit.snippet.text[-1]) == ("…", "…")


async def test_a_found_line_is_without_the_marks_of_sources(history: ChatStore) -> None:
    chat = await history.create_chat()
    await history.add_message(chat.id, "assistant", "Keys are in the keyring[REF]0, 2[/REF], as [REF] says.")
    (hit,) = await history.search("keyring")
    assert hit.snippet.text == "Keys are in the keyring, as [REF] says."


async def test_the_newest_come_first_and_the_limit_holds(history: ChatStore) -> None:
    chat = await history.create_chat()
    for number in range(30):
        await history.add_message(chat.id, "user", f"number {number:02} of many")
    hits = await history.search("number", limit=5)
    assert [hit.snippet.text[7:9] for hit in hits] == ["29", "28", "27", "26", "25"]
    assert await history.search("number", limit=0) == ()


async def test_one_chat_can_be_searched_alone(history: ChatStore) -> None:
    first = await fill(history)
    second = await fill(history)
    assert {hit.chat_id for hit in await history.search("bridge")} == {first, second}
    assert {hit.chat_id for hit in await history.search("bridge", chat_id=first)} == {first}


async def test_the_trash_is_not_searched(history: ChatStore) -> None:
    chat_id = await fill(history)
    await history.trash(chat_id)
    assert await found(history, "bridge") == []
    await history.restore(chat_id)
    assert await found(history, "bridge") == ["title", "Who bui"]


async def test_the_index_follows_every_change(history: ChatStore, database: Database) -> None:
    chat = await history.create_chat()
    answer = await history.add_message(chat.id, "assistant", "", state="streaming")
    await history.save_progress(answer.id, "apples")
    await history.finish_message(answer.id, content="oranges")
    assert (await found(history, "apples"), await found(history, "oranges")) == ([], ["oranges"])
    await history.finish_message(answer.id, content="pears")
    assert (await found(history, "oranges"), await found(history, "pears")) == ([], ["pears"])
    await history.finish_message(answer.id, state="streaming")
    assert await found(history, "pears") == []
    await history.finish_message(answer.id, content="plums", state="stopped")
    await check_index(database)
    await history.purge(chat.id)
    assert await found(history, "plums") == []
    await check_index(database)


async def check_index(database: Database) -> None:
    """SQLite compares the index with the messages and raises when they differ."""
    async with database.transaction() as transaction:
        await transaction.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)")


@pytest.mark.parametrize("kind", [WORDS, NONE])
async def test_a_poorer_sqlite_still_finds(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.storage.search_index.best_tokenizer", lambda database: kind)
    database = await Database.open(tmp_path / "rialto.db")
    assert database.search_kind == kind
    history = ChatStore(database)
    await fill(history)
    assert await found(history, "bridge") == ["title", "Who bui"]
    assert await found(history, "built who") == ["Who bui"]
    assert await found(history, "100%") == ["100% of"]
    assert await found(history, "?") == ["100% of", "Who bui"]
    assert await found(history, "nowhere") == []
    await database.close()


async def test_a_database_that_moves_between_sqlites_gets_its_index_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rialto.db"
    for number, kind in enumerate((TRIGRAM, NONE, WORDS, NONE, TRIGRAM)):
        monkeypatch.setattr("app.storage.search_index.best_tokenizer", lambda database, kind=kind: kind)
        database = await Database.open(path)
        history = ChatStore(database)
        await fill(history)
        hits = await history.search("bridge")
        assert len([hit for hit in hits if hit.message_id]) == number + 1
        await database.close()


def test_a_database_of_an_earlier_version_moves_to_a_sqlite_without_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "rialto.db", migrations_in()
    prepare(path, tmp_path / "backups", steps[:1])
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema=ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, 'fts5', 'fts_of_elsewhere')")
        database.commit()
    monkeypatch.setattr("app.storage.search_index.best_tokenizer", lambda _database: NONE)
    assert prepare(path, tmp_path / "backups") == tuple(range(2, len(steps) + 1))


def test_this_sqlite_has_the_best_index() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        assert best_tokenizer(database) == (TRIGRAM if sqlite3.sqlite_version_info >= (3, 34) else WORDS)


def test_an_index_that_fits_is_left_alone(tmp_path: Path) -> None:
    prepare(tmp_path / "rialto.db", tmp_path / "backups")
    with closing(sqlite3.connect(tmp_path / "rialto.db", isolation_level=None)) as database:
        asked: list[str] = []
        database.set_trace_callback(asked.append)
        assert ensure_index(database) == TRIGRAM
        assert not [sql for sql in asked if "messages_fts" in sql]


@given(st.text(), st.sampled_from([TRIGRAM, WORDS, NONE]))
def test_any_text_makes_a_query(text: str, kind: str) -> None:
    query = query_of(text, kind)
    assert len(query.terms) <= 12
    assert bool(query.terms) == bool(query.match or query.likes)


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_marks_lie_inside_the_snippet_in_order(content: str, terms: list[str]) -> None:
    snippet = Marker(tuple(terms)).snippet(content)
    edges = [edge for mark in snippet.marks for edge in mark]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(snippet.text) for edge in edges)


async def test_a_letter_or_two_are_found_wherever_they_stand_in_old_messages(
    history: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the newest messages the index finds them: within a word, at the end, as the whole text, in any script."""
    monkeypatch.setattr(chat_store, "NEWEST", 2)
    chat = await history.create_chat(title="Old")
    texts = ("a fjord", "the end ofj", "fj", "nothing", "Ж и Я", "j", "later", "newest")
    ids = {text: (await history.add_message(chat.id, "user", text)).id for text in texts}

    async def found(text: str) -> list[str]:
        return [hit.message_id for hit in await history.search(text)]

    assert await found("fj") == [ids["fj"], ids["the end ofj"], ids["a fjord"]]
    assert await found("FJ") == await found("fj")
    assert await found("j") == [ids["j"], ids["fj"], ids["the end ofj"], ids["a fjord"]]
    assert await found("Ж") == [ids["Ж и Я"]]
    assert await found("fj of") == [ids["the end ofj"]]
    assert await found("fj qx") == []
    assert await found("qx") == []
    await history.trash(chat.id)
    assert await found("fj") == []
