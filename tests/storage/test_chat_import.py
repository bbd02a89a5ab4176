"""Exports of other programs: what of them is taken, what is left and said."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.storage.chat_file import chat_to_json, import_chat
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.imports.chat_import import NotAnExport
from tests.kit.exports import read_export


def node(name: str, parent: str | None, role: str = "", *parts: object, **more: Any) -> dict[str, Any]:
    """A node of OpenAI's tree; without a role it holds no message."""
    metadata = more.pop("metadata", {})
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": 1_700_000_000.5,
        "content": more.pop("content", {"content_type": "text", "parts": list(parts)}),
        "metadata": metadata,
        **more,
    }
    return {"id": name, "parent": parent, "children": [], "message": message if role else None}


def openai_chat() -> dict[str, Any]:
    nodes = [
        node("root", None),
        node("s", "root", "system", "Be kind."),
        node("u", "s", "user", "What is it?", {"content_type": "image_asset_pointer"}),
        node("t", "u", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "A tower?"}]}),
        node("call", "t", "assistant", "search(…)", recipient="browser"),
        node("res", "call", "tool", "found"),
        node("a", "res", "assistant", "A tower \ue200cite\ue202turn0\ue201.", metadata={"model_slug": "gpt-9"}),
        node("b", "u", "assistant", "A bridge."),
    ]
    return {
        "title": "A picture",
        "create_time": 1_700_000_000,
        "update_time": 1_700_000_100,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": "a",
    }


def written(folder: Path, content: object, name: str = "conversations.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


async def test_the_tree_of_an_openai_export_keeps_its_branches_and_leaf(
    tmp_path: Path, database: Database, history: ChatStore
) -> None:
    export = read_export(written(tmp_path, [openai_chat()]))
    chat = await import_chat(database, export.chats[0])
    shown = await history.path_to(chat.head_id)
    assert [(each.role, each.content) for each in shown] == [("user", "What is it?"), ("assistant", "A tower.")]
    assert (shown[1].reasoning, shown[1].model) == ("A tower?", "gpt-9")
    assert len(await history.siblings(shown[1].id)) == 2
    assert (chat.title, chat.created_at.year) == ("A picture", 2023)
    assert export.source == "ChatGPT"
    assert dict(export.left) == {
        "hidden messages, such as system prompts": 1,
        "images and files, which the export does not contain": 1,
        "tool calls and their results": 2,
    }


def test_an_archive_is_read_without_unpacking_it(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("chat.html", "<script>")
        archive.writestr("../conversations-000.json", json.dumps([openai_chat()]))
    assert read_export(path).messages == 3
    assert [each.name for each in tmp_path.iterdir()] == ["export.zip"]


CLAUDE = {
    "uuid": "c",
    "name": "Rivers",
    "created_at": "2025-01-02T03:04:05Z",
    "updated_at": "2025-01-02T03:05:05Z",
    "chat_messages": [
        {"uuid": "1", "sender": "human", "text": "Longest river?", "attachments": [{}], "created_at": "2025-01-02"},
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "thinking", "thinking": "Nile or Amazon"},
                {"type": "text", "text": "The Nile."},
                {"type": "tool_use", "name": "x"},
            ],
        },
        {"uuid": "3", "sender": "assistant", "text": "The Amazon.", "parent_message_uuid": "1"},
    ],
}
WEBUI = {
    "id": "w",
    "title": "Hills",
    "chat": {
        "history": {
            "currentId": "c",
            "messages": {
                "a": {"id": "a", "parentId": None, "childrenIds": ["b", "c"], "role": "user", "content": "Hill?"},
                "b": {"id": "b", "parentId": "a", "role": "assistant", "content": "One", "timestamp": 1_700_000_000},
                "c": {"id": "c", "parentId": "a", "role": "assistant", "content": "Two", "model": "m"},
            },
        }
    },
}
LIBRE = {
    "conversationId": "l",
    "title": "Lakes",
    "messages": [
        {"messageId": "1", "parentMessageId": "0000", "text": "Lake?", "isCreatedByUser": True},
        {"messageId": "2", "parentMessageId": "1", "text": "Baikal", "isCreatedByUser": False, "model": "m"},
        {"messageId": "3", "parentMessageId": "1", "text": "Victoria", "isCreatedByUser": False},
    ],
}
LIST = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "Q"}]},
                     {"role": "assistant", "content": "A"}, {"role": "tool", "content": "t"}]}  # fmt: skip
SHARED = {"conversations": [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]}


@pytest.mark.parametrize(
    ("entry", "source", "shown", "branches"),
    [
        (CLAUDE, "Claude", ["Longest river?", "The Amazon."], 2),
        (WEBUI, "Open WebUI", ["Hill?", "Two"], 2),
        (LIBRE, "LibreChat", ["Lake?", "Victoria"], 2),
        (LIST, "a list of messages", ["Q", "A"], 1),
        (SHARED, "a list of messages", ["Q", "A"], 1),
    ],
)
async def test_other_public_shapes_are_taken(
    entry: dict[str, Any],
    source: str,
    shown: list[str],
    branches: int,
    tmp_path: Path,
    database: Database,
    history: ChatStore,
) -> None:
    export = read_export(written(tmp_path, [entry], "any.json"))
    assert export.source == source
    chat = await import_chat(database, export.chats[0])
    path = await history.path_to(chat.head_id)
    assert [message.content for message in path] == shown
    assert len(await history.siblings(path[1].id)) == branches


def test_turns_alone_lines_and_wrapped_lists_are_found(tmp_path: Path) -> None:
    assert len(read_export(written(tmp_path, LIST["messages"])).chats) == 1
    lines = "\n".join([json.dumps(LIST), "broken", json.dumps(SHARED)])
    export = read_export(written(tmp_path, lines, "chats.jsonl"))
    assert len(export.chats) == 2
    assert export.left["lines that are not JSON"] == 1
    assert len(read_export(written(tmp_path, {"conversations": [openai_chat(), CLAUDE]})).chats) == 2


async def test_our_own_export_passes_through_unchanged(tmp_path: Path, database: Database, history: ChatStore) -> None:
    chat = await import_chat(database, read_export(written(tmp_path, [CLAUDE])).chats[0])
    body = chat_to_json(chat, await history.messages(chat.id))
    export = read_export(written(tmp_path, body, "mine.json"))
    assert export.source == "Rialto"
    assert export.chats == [json.loads(json.dumps(body))]


def test_one_broken_chat_costs_only_itself(tmp_path: Path) -> None:
    broken = {"mapping": {"a": {"message": {"author": 7, "content": {"parts": 3}}}}}
    export = read_export(written(tmp_path, [broken, openai_chat(), {"mapping": {}}, {"what": 1}, 7]))
    assert len(export.chats) == 1
    assert export.left["entries that are not chats in a known format"] == 2
    assert export.left["chats without a message"] == 2


@pytest.mark.parametrize("content", ["", "{}", "[]", "no json", '{"a": 1}'])
def test_a_file_without_a_chat_is_refused_with_its_name(content: str, tmp_path: Path) -> None:
    with pytest.raises(NotAnExport, match=r"odd\.json"):
        read_export(written(tmp_path, content, "odd.json"))


def test_a_damaged_archive_and_a_missing_file_have_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotAnExport, match="could not be read"):
        read_export(tmp_path / "missing.json")
    with pytest.raises(NotAnExport, match="contains no chat"):
        read_export(written(tmp_path, "PK\x03\x04 cut", "cut.zip"))


def test_nodes_in_a_circle_end(tmp_path: Path) -> None:
    chat = openai_chat()
    chat["mapping"]["u"]["parent"] = "a"
    with pytest.raises(NotAnExport):
        read_export(written(tmp_path, [chat]))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["mapping", "message", "parent", "children", "content", "parts", "author", "role", "messages"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=60)
@given(st.lists(anything, max_size=3))
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: list[Any]
) -> None:
    path = written(tmp_path_factory.mktemp("odd"), [*content, LIST])
    assert read_export(path).chats
