import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.storage.chat_file import NotAChat, chat_to_json, duplicate_chat, import_chat
from app.storage.chat_rows import STATES
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.private_chats import PrivateChatStore


async def branched(history: ChatStore) -> str:
    chat = await history.create_chat(title="Bridges", model="m", character_slug="guide", options={"web_search": "on"})
    question = await history.add_message(chat.id, "user", "question")
    answer = await history.add_message(chat.id, "assistant", state="streaming")
    await history.finish_message(
        answer.id,
        content="answer",
        reasoning="hm",
        sources=({"index": 1, "title": "A page"},),
        usage={"total": 3},
        cost_usd=Decimal("0.0019"),
        exchange_id="e1",
        thinking_s=1.5,
        extra={"thought_signature": "s", "tool_calls": [{"id": "c1"}]},
    )
    await history.add_message(chat.id, "assistant", "second answer", parent_id=question.id, state="stopped")
    await history.select(answer.id)
    return chat.id


async def exported(history: ChatStore, chat_id: str) -> dict[str, Any]:
    """Through JSON text, as a file would."""
    body = chat_to_json(await history.chat(chat_id), await history.messages(chat_id))
    read: dict[str, Any] = json.loads(json.dumps(body))
    return read


async def test_an_exported_chat_comes_back_identical(history: ChatStore, database: Database) -> None:
    chat_id = await branched(history)
    body = await exported(history, chat_id)
    before = await history.messages(chat_id)
    await history.purge(chat_id)
    chat = await import_chat(database, body, "a2")
    assert await exported(history, chat.id) == body
    assert [(m.id, m.content, m.cost_usd, m.state) for m in await history.messages(chat.id)] == [
        (m.id, m.content, m.cost_usd, m.state) for m in before
    ]
    assert (chat.account_id, chat.cost_usd, chat.message_count) == ("a2", Decimal("0.0019"), 3)
    assert [hit.chat_id for hit in await history.search("second answer")] == [chat.id]


async def test_a_passage_keeps_its_place_and_no_folder_of_this_computer(history: ChatStore) -> None:
    chat = await history.create_chat()
    place = {"path": "/home/me/papers/lease.pdf", "first": 2, "last": 2}
    await history.add_message(chat.id, "user", "Rent?", attachments=({"kind": "text", "place": place}, {"place": 7}))
    (message,) = (await exported(history, chat.id))["messages"]
    assert message["attachments"] == [{"kind": "text", "place": {**place, "path": "lease.pdf"}}, {"place": 7}]


async def test_a_duplicate_stands_on_its_own(history: ChatStore, database: Database) -> None:
    chat_id = await branched(history)
    copy = await duplicate_chat(database, chat_id)
    await history.purge(chat_id)
    messages = await history.messages(copy.id)
    assert [message.content for message in messages] == ["question", "answer", "second answer"]
    assert len(await history.siblings(messages[1].id)) == 2
    assert [message.content for message in await history.path_to(copy.head_id)] == ["question", "answer"]


async def test_a_duplicate_up_to_a_message_has_one_branch_and_cost_nothing(
    history: ChatStore, database: Database
) -> None:
    chat_id = await branched(history)
    second = (await history.messages(chat_id))[2]
    copy = await duplicate_chat(database, chat_id, second.id, title="Another way")
    assert [message.content for message in await history.messages(copy.id)] == ["question", "second answer"]
    assert (copy.title, copy.cost_usd) == ("Another way", Decimal(0))
    assert (await history.chat(chat_id)).cost_usd == Decimal("0.0019")


async def test_a_plain_list_of_turns_becomes_a_line(history: ChatStore, database: Database) -> None:
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "user"}, "odd", {}]
    chat = await import_chat(database, {"messages": turns})
    path = await history.path_to(chat.head_id)
    assert [(message.role, message.content) for message in path] == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", ""),
    ]
    assert await database.fetch("SELECT preview FROM chats") == [("two",)]


@pytest.mark.parametrize(
    ("claimed", "kept"),
    [("bound", "imported"), ("asked", "imported"), (["bound"], "imported"), ("broken", "broken"), ("", "")],
)
async def test_what_a_file_claims_of_a_seal_is_not_believed(
    history: ChatStore, database: Database, claimed: object, kept: str
) -> None:
    turn = {"role": "assistant", "content": "a", "usage": {"seal": claimed, "prompt": 3}}
    chat = await import_chat(database, {"messages": [turn]})
    (message,) = await history.messages(chat.id)
    assert message.usage == {"seal": kept, "prompt": 3}
    body = await exported(history, chat.id)
    await history.purge(chat.id)
    assert await exported(history, (await import_chat(database, body)).id) == body


async def test_a_private_chat_that_is_kept_keeps_its_receipts(database: Database) -> None:
    private = PrivateChatStore(database)
    chat = await private.create_chat(private=True)
    await private.add_message(chat.id, "assistant", "a")
    (message,) = await private.messages(chat.id)
    await private.finish_message(message.id, usage={"seal": "bound"})
    (message,) = await private.messages((await private.keep(chat.id)).id)
    assert message.usage == {"seal": "bound"}


async def test_a_private_chat_that_is_kept_keeps_what_is_typed_in_it(database: Database) -> None:
    private = PrivateChatStore(database)
    chat = await private.create_chat(private=True)
    asked = await private.add_message(chat.id, "user", "q")
    await private.change_chat(chat.id, draft="half a thought", edited_id=asked.id, edit_text="q, put better")
    kept = await private.keep(chat.id)
    (message,) = await private.messages(kept.id)
    assert (kept.draft, kept.edited_id, kept.edit_text) == ("half a thought", message.id, "q, put better")


async def test_what_was_streaming_elsewhere_is_interrupted_here(history: ChatStore, database: Database) -> None:
    chat = await import_chat(database, {"messages": [{"role": "assistant", "content": "half", "state": "streaming"}]})
    (message,) = await history.messages(chat.id)
    assert message.state == "interrupted"


@pytest.mark.parametrize("body", [None, 7, "text", [], {}, {"messages": {}}, {"messages": "x"}])
async def test_what_is_no_chat_is_refused_with_a_sentence(body: object, database: Database) -> None:
    with pytest.raises(NotAChat, match="no chat that Rialto can read"):
        await import_chat(database, body)


async def test_a_newer_format_is_refused_by_name(database: Database) -> None:
    with pytest.raises(NotAChat, match="newer version"):
        await import_chat(database, {"format": "rialto-chat", "version": 2, "messages": []})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["m1", "m2", "m3"])
odd_messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]) | anything},
    optional={
        "id": names | anything,
        "parent_id": names | anything,
        "content": st.text(max_size=20) | anything,
        "sources": anything,
        "usage": anything,
        "state": st.sampled_from(STATES) | anything,
        "cost_usd": st.sampled_from(["0.1", "NaN", "-1", "1e999"]) | anything,
        "created_at": st.sampled_from(["2026-01-01T00:00:00", "9999-12-31T23:59:59-23:59"]) | anything,
        "thinking_s": anything,
        "exchange_id": anything,
    },
)


@settings(max_examples=60)
@given(
    st.fixed_dictionaries(
        {"messages": st.lists(odd_messages | anything, max_size=6)},
        optional={"title": anything, "head_id": names | anything, "options": anything, "updated_at": anything},
    )
)
async def test_any_chat_of_odd_values_is_imported_whole(
    tmp_path_factory: pytest.TempPathFactory, body: dict[str, Any]
) -> None:
    database = await Database.open(tmp_path_factory.mktemp("db") / "rialto.db")
    try:
        history = ChatStore(database)
        for _ in range(2):  # the second time every id is taken
            chat = await import_chat(database, body)
            messages = await history.messages(chat.id)
            assert len(messages) == chat.message_count
            if messages:
                path = await history.path_to(chat.head_id)
                assert path[0].parent_id is None
            assert all(message.state != "streaming" for message in messages)
        assert len(await history.chats()) == 2
    finally:
        await database.close()
