from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import chat_store
from app.storage.chat_rows import MESSAGE_COLUMNS, STATES, message_from_row
from app.storage.chat_store import CHATS, ChatStore
from app.storage.database import Database
from app.storage.errors import NotStored
from tests.storage.conftest import Clock


async def talk(history: ChatStore, chat_id: str, *texts: str) -> list[str]:
    """Add turns in alternating roles below the head; return their ids."""
    roles = ("user", "assistant") * len(texts)
    return [(await history.add_message(chat_id, role, text)).id for role, text in zip(roles, texts, strict=False)]


def contents(messages: Any) -> list[str]:
    return [message.content for message in messages]


async def test_a_chat_keeps_what_it_was_made_with(history: ChatStore, clock: Clock) -> None:
    chat = await history.create_chat(
        title="Bridges",
        account_id="a1",
        model="rialto-handbook",
        character_slug="guide",
        character_name="The Guide",
        options={"web_search": "on", "temperature": 0.7},
        draft="half a",
    )
    assert await history.chat(chat.id) == chat
    assert (chat.title, chat.options["temperature"], chat.draft) == ("Bridges", 0.7, "half a")
    assert chat.created_at == clock.time
    assert (chat.head_id, chat.message_count, chat.cost_usd) == (None, 0, Decimal(0))


async def test_the_list_shows_pinned_then_newest_with_the_last_words_and_the_cost(
    history: ChatStore, clock: Clock
) -> None:
    ids = []
    for title in ("first", "second", "third"):
        clock.turn(minutes=1)
        ids.append((await history.create_chat(title=title)).id)
    clock.turn(minutes=1)
    await talk(history, ids[0], "A question,\n\nwith lines")
    await history.change_chat(ids[1], pinned=True)
    answer = await history.add_message(ids[0], "assistant", state="streaming")
    await history.finish_message(answer.id, content="An  answer", cost_usd=Decimal("0.0019"))
    chats = await history.chats()
    assert [chat.title for chat in chats] == ["second", "first", "third"]
    assert (chats[1].message_count, chats[1].cost_usd) == (2, Decimal("0.0019"))


async def test_the_list_is_one_query_that_reads_no_message(
    history: ChatStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def noted(fetch: Any, sql: str, *more: Any) -> Any:
        asked.append(sql)
        return await fetch(sql, *more)

    monkeypatch.setattr(database, "fetch", partial(noted, database.fetch))
    monkeypatch.setattr(database, "fetch_many", partial(noted, database.fetch_many))
    await history.chats()
    assert len(asked) == 1
    plan = " ".join(row[3] for row in await database.fetch(f"EXPLAIN QUERY PLAN {asked[0]}"))
    assert "messages" not in plan


async def test_renaming_pinning_and_drafts_do_not_move_a_chat(history: ChatStore, clock: Clock) -> None:
    chat = await history.create_chat()
    clock.turn(hours=1)
    changed = await history.change_chat(chat.id, title="New name", pinned=True, draft="unsent", options={"a": [1]})
    assert changed.updated_at == chat.updated_at
    assert (changed.title, changed.pinned, changed.draft, changed.options) == ("New name", True, "unsent", {"a": [1]})


async def test_a_field_that_is_none_of_the_chats_is_our_mistake(history: ChatStore) -> None:
    chat = await history.create_chat()
    with pytest.raises(TypeError, match="cost_usd"):
        await history.change_chat(chat.id, cost_usd=1)


async def test_what_is_not_there_is_said_in_a_sentence(history: ChatStore) -> None:
    chat = await history.create_chat()
    with pytest.raises(NotStored, match="no longer in the history"):
        await history.chat("nobody")
    for call in (
        history.change_chat("nobody", title="x"),
        history.trash("nobody"),
        history.add_message("nobody", "user", "x"),
        history.add_message(chat.id, "user", "x", parent_id="nobody"),
        history.message("nobody"),
        history.path_to("nobody"),
        history.select("nobody"),
        history.finish_message("nobody"),
    ):
        with pytest.raises(NotStored):
            await call
    assert await history.messages("nobody") == ()
    assert await history.siblings("nobody") == ()


async def test_turns_follow_one_another_and_the_head_follows_them(history: ChatStore) -> None:
    chat = await history.create_chat()
    ids = await talk(history, chat.id, "one", "two", "three")
    chat = await history.chat(chat.id)
    assert chat.head_id == ids[-1]
    assert contents(await history.path_to(chat.head_id)) == ["one", "two", "three"]
    assert contents(await history.path_to(chat.head_id, last=2)) == ["two", "three"]
    assert await history.path_to(None) == ()


async def test_editing_a_turn_makes_a_branch_and_overwrites_nothing(history: ChatStore) -> None:
    chat = await history.create_chat()
    question, answer, _ = await talk(history, chat.id, "question", "answer", "thanks")
    edited = await history.add_message(chat.id, "user", "better question", parent_id=None)
    again = await history.add_message(chat.id, "assistant", "better answer")
    assert contents(await history.path_to((await history.chat(chat.id)).head_id)) == [
        "better question",
        "better answer",
    ]
    assert await history.siblings(question) == (question, edited.id)
    assert await history.siblings(answer) == (answer,)
    assert len(await history.messages(chat.id)) == 5
    leaf = await history.select(question)
    assert contents(await history.path_to(leaf.id)) == ["question", "answer", "thanks"]
    assert (await history.chat(chat.id)).head_id == leaf.id
    assert (await history.select(edited.id)).id == again.id


async def test_trying_again_makes_a_sibling_of_the_answer(history: ChatStore) -> None:
    chat = await history.create_chat()
    question, first = await talk(history, chat.id, "question", "answer 1")
    second = await history.add_message(chat.id, "assistant", "answer 2", parent_id=question)
    assert await history.siblings(second.id) == (first, second.id)
    assert contents(await history.path_to(second.id)) == ["question", "answer 2"]


async def test_siblings_at_the_root_belong_to_one_chat_only(history: ChatStore) -> None:
    mine, other = await history.create_chat(), await history.create_chat()
    (first,) = await talk(history, mine.id, "mine")
    await talk(history, other.id, "other")
    assert await history.siblings(first) == (first,)


async def test_a_parent_in_another_chat_is_refused(history: ChatStore) -> None:
    mine, other = await history.create_chat(), await history.create_chat()
    (first,) = await talk(history, other.id, "other")
    with pytest.raises(NotStored):
        await history.add_message(mine.id, "user", "x", parent_id=first)


async def test_an_answer_grows_and_ends(history: ChatStore, clock: Clock) -> None:
    chat = await history.create_chat()
    await talk(history, chat.id, "question")
    answer = await history.add_message(chat.id, "assistant", state="streaming", model="m")
    assert await history.save_progress(answer.id, "An ans", "let me think")
    assert (await history.message(answer.id)).content == "An ans"
    clock.turn(seconds=4)
    done = await history.finish_message(
        answer.id,
        content="An answer.",
        sources=({"index": 1, "url": "https://example.org"},),
        model="m-2",
        exchange_id="e1",
        usage={"prompt": 12, "completion": 3},
        cost_usd=Decimal("0.00001"),
        thinking_s=1.5,
    )
    assert (done.state, done.content, done.reasoning) == ("complete", "An answer.", "let me think")
    assert (done.model, done.exchange_id, done.usage["prompt"], done.thinking_s) == ("m-2", "e1", 12, 1.5)
    assert done.sources[0]["url"] == "https://example.org"
    assert done.cost_usd == Decimal("0.00001")
    assert (await history.chat(chat.id)).updated_at == clock.time


async def test_a_late_save_never_undoes_the_end(history: ChatStore) -> None:
    chat = await history.create_chat()
    answer = await history.add_message(chat.id, "assistant", state="streaming")
    await history.finish_message(answer.id, state="stopped", content="as far as it came")
    assert not await history.save_progress(answer.id, "as far")
    assert (await history.message(answer.id)).content == "as far as it came"


async def test_a_failure_keeps_the_text_and_says_why(history: ChatStore) -> None:
    chat = await history.create_chat()
    answer = await history.add_message(chat.id, "assistant", state="streaming")
    await history.save_progress(answer.id, "Half an")
    failed = await history.finish_message(answer.id, state="failed", error="The stream was cut.")
    assert (failed.content, failed.error) == ("Half an", "The stream was cut.")


async def test_a_cost_that_is_stated_twice_counts_once(history: ChatStore) -> None:
    chat = await history.create_chat()
    first = await history.add_message(chat.id, "assistant", state="streaming")
    second = await history.add_message(chat.id, "assistant", state="streaming")
    await history.finish_message(first.id, cost_usd=Decimal("0.1"))
    await history.finish_message(second.id, cost_usd=Decimal("0.2"))
    await history.finish_message(second.id, cost_usd=Decimal("0.25"))  # the estimate became known
    await history.finish_message(second.id, error="")  # says nothing about cost
    assert (await history.chat(chat.id)).cost_usd == Decimal("0.35")


async def test_what_still_streams_at_start_was_interrupted(history: ChatStore) -> None:
    chat = await history.create_chat()
    await talk(history, chat.id, "question")
    answer = await history.add_message(chat.id, "assistant", state="streaming")
    await history.save_progress(answer.id, "The answer is zanzib")
    assert await history.search("zanzib") == ()  # not indexed while it streams
    assert await history.mark_interrupted() == 1
    assert await history.mark_interrupted() == 0
    kept = await history.message(answer.id)
    assert (kept.state, kept.content) == ("interrupted", "The answer is zanzib")
    assert [hit.message_id for hit in await history.search("zanzib")] == [answer.id]
    resumed = await history.finish_message(answer.id, state="streaming")
    assert resumed.state == "streaming"
    assert await history.save_progress(answer.id, "The answer is zanzibar")


async def test_an_unknown_state_is_our_mistake(history: ChatStore) -> None:
    chat = await history.create_chat()
    with pytest.raises(ValueError, match="no state"):
        await history.add_message(chat.id, "user", "x", state="sleeping")
    assert await history.messages(chat.id) == ()


async def test_trash_can_be_undone(history: ChatStore) -> None:
    chat = await history.create_chat(title="Nearly lost")
    await talk(history, chat.id, "question", "answer")
    before = await history.chat(chat.id)
    await history.trash(chat.id)
    assert await history.chats() == ()
    assert [found.trashed_at is not None for found in await history.chats(trashed=True)] == [True]
    await history.restore(chat.id)
    assert await history.chats() == (before,)


async def test_purging_deletes_the_messages_too(history: ChatStore, database: Database, clock: Clock) -> None:
    gone, kept = await history.create_chat(), await history.create_chat()
    for chat in (gone, kept):
        await talk(history, chat.id, "question", "answer")
    await history.trash(gone.id)
    await history.purge(gone.id)
    assert [chat.id for chat in await history.chats()] == [kept.id]
    assert await database.fetch("SELECT DISTINCT chat_id FROM messages") == [(kept.id,)]


async def test_a_chat_of_thousands_of_turns_is_read_branched_and_purged(history: ChatStore, database: Database) -> None:
    """SQLite's cascade would stop at a depth of 1,000."""
    chat = await history.create_chat()
    rows = [(f"m{i}", chat.id, f"m{i - 1}" if i else None, f"turn {i}", i) for i in range(5000)]
    async with database.transaction() as transaction:
        await transaction.execute_many(
            "INSERT INTO messages (id, chat_id, parent_id, role, content, created_at) VALUES (?, ?, ?, 'user', ?, ?)",
            rows,
        )
    path = await history.path_to("m4999")
    assert [message.content for message in path] == [f"turn {i}" for i in range(5000)]
    assert (await history.select("m0")).id == "m4999"
    await history.purge(chat.id)
    assert await database.fetch("SELECT count(*) FROM messages") == [(0,)]


@given(text=st.text(st.characters(exclude_categories=[]), max_size=60))
async def test_any_text_is_kept(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    database = await Database.open(tmp_path_factory.mktemp("db") / "rialto.db")
    try:
        history = ChatStore(database)
        chat = await history.create_chat(title=text, options={text: text})
        message = await history.add_message(chat.id, "user", text)
        expected = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        assert message.content == expected
        assert chat.title == expected
        await history.search(text)
    finally:
        await database.close()


odd = st.none() | st.integers() | st.floats() | st.text() | st.binary(max_size=8)


@given(st.tuples(*[odd] * len(MESSAGE_COLUMNS.split(","))))
def test_a_message_row_of_odd_values_is_still_a_message(row: tuple[Any, ...]) -> None:
    message = message_from_row(row)
    assert message.state in STATES
    assert message.cost_usd is None or message.cost_usd.is_finite()
    assert isinstance(message.content, str)
    assert isinstance(message.usage, dict)
    assert message.created_at.tzinfo is not None


@given(st.tuples(*[odd] * len(CHATS.names)))
def test_a_chat_row_of_odd_values_is_still_a_chat(row: tuple[Any, ...]) -> None:
    chat = CHATS.read(row)
    assert chat.cost_usd.is_finite()
    assert isinstance(chat.options, dict)
    assert isinstance(chat.title, str)
    assert all(isinstance(each, dict) for each in chat.draft_attachments)


async def test_one_broken_row_does_not_hide_the_others(history: ChatStore, database: Database) -> None:
    chat = await history.create_chat(title="Whole")
    await talk(history, chat.id, "one", "two")
    await database.execute(
        "UPDATE messages SET sources = '[{', usage = x'00ff', cost_usd = 'NaN', created_at = 'noon', thinking_s = -1"
        " WHERE content = 'one'"
    )
    await database.execute("UPDATE chats SET options = '[]', cost_usd = 'lots'")
    one, two = await history.messages(chat.id)
    assert (one.sources, one.usage, one.cost_usd, one.thinking_s) == ((), {}, None, None)
    assert two.content == "two"
    assert (await history.chats())[0].options == {}


async def test_history_is_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "rialto.db"
    database = await Database.open(path)
    chat = await ChatStore(database).create_chat(title="Kept", draft="unsent words")
    await talk(ChatStore(database), chat.id, "one", "two")
    before = (await ChatStore(database).chats(), await ChatStore(database).messages(chat.id))
    await database.close()
    database = await Database.open(path)
    assert (await ChatStore(database).chats(), await ChatStore(database).messages(chat.id)) == before
    await database.close()


async def test_a_long_chat_is_purged_in_pieces_that_never_leave_an_answer_without_its_question(
    history: ChatStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_store, "PURGED_AT_ONCE", 2)
    kept, gone = await history.create_chat(title="Kept"), await history.create_chat(title="Gone")
    for chat in (kept, gone):
        for number in range(5):
            await history.add_message(chat.id, "user", f"{chat.title} {number}")
    await history.purge(gone.id)
    assert [chat.id for chat in await history.chats()] == [kept.id]
    assert [row[0] for row in await database.fetch("SELECT content FROM messages ORDER BY seq")] == [
        f"Kept {number}" for number in range(5)
    ]
    assert await database.fetch("PRAGMA foreign_key_check") == []
