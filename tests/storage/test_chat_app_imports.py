"""Exports of more programs: what of them is taken, and what is refused by its name."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.storage.chat_file import import_chat
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.imports.chat_import import NotAnExport
from tests.kit.exports import Export, read_export
from tests.reported_inputs import HERE

Said = list[tuple[str, str, str]]  # role, text, reasoning


def saved(folder: Path, content: object, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


async def shown(export: Export, database: Database, history: ChatStore, number: int = 0) -> Said:
    chat = await import_chat(database, export.chats[number])
    return [(each.role, each.content, each.reasoning) for each in await history.path_to(chat.head_id)]


@pytest.mark.parametrize("name", ["k05-deepseek.json", "k05-deepseek.zip"])
async def test_deepseek_keeps_questions_answers_and_thoughts(name: str, database: Database, history: ChatStore) -> None:
    export = read_export(HERE / name)
    assert export.source == "DeepSeek"
    assert await shown(export, database, history) == [
        ("user", "At what temperature does water boil?", ""),
        ("assistant", "At 100 degrees Celsius.", "Standard pressure."),
    ]
    (chat,) = export.chats
    assert (chat["title"], chat["model"]) == ("Boiling point", "deepseek-reasoner")
    assert chat["created_at"].startswith("2026-02-01T10:00:00")


@pytest.mark.parametrize(
    ("name", "source", "title", "answer"),
    [
        ("k06-utf16.json", "ChatGPT", "Tea", "Two to three minutes."),
        ("k06-lmstudio.json", "LM Studio", "Stars", "A stellar outburst."),
        ("k06-lechat.zip", "Le Chat", "", "Oui."),
        ("k06-chatgpt-cite.json", "ChatGPT", "Tea", "See and Paris."),
    ],
)
async def test_reported_exports_are_imported(
    name: str, source: str, title: str, answer: str, database: Database, history: ChatStore
) -> None:
    export = read_export(HERE / name)
    assert (export.source, export.chats[0]["title"]) == (source, title)
    said = await shown(export, database, history)
    assert [role for role, _, _ in said] == ["user", "assistant"]
    assert said[-1][1] == answer
    if source == "ChatGPT":
        assert export.chats[0]["model"] == "gpt-5"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-16", "utf-32"])
def test_every_unicode_encoding_of_json_is_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes('[{"messages": [{"role": "user", "content": "Grüße, 世界"}]}]'.encode(encoding))
    assert read_export(path).chats[0]["messages"][0]["content"] == "Grüße, 世界"


def test_json_in_ascii_is_no_seven_bit_encoding(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"messages": [{"role": "user", "content": "~{VPND~} and Gr+APwA3w-e"}]}]', encoding="ascii")
    assert read_export(path).chats[0]["messages"][0]["content"] == "~{VPND~} and Gr+APwA3w-e"


GROK = {
    "conversations": [
        {
            "conversation": {"id": "c", "title": "Lighthouses", "create_time": "2026-01-02T03:04:05Z"},
            "responses": [
                {
                    "response": {
                        "_id": "1",
                        "sender": "human",
                        "message": "Tallest?",
                        "create_time": {"$date": {"$numberLong": "1767323045000"}},
                    }
                },
                {
                    "response": {
                        "_id": "2",
                        "sender": "ASSISTANT",
                        "message": "Jeddah Light.",
                        "parent_response_id": "1",
                        "model": "grok-4",
                        "thinking_trace": "133 m",
                    }
                },
                {"response": {"_id": "3", "sender": "assistant", "message": "Another.", "parent_response_id": "1"}},
            ],
        }
    ],
    "projects": [],
}
TYPING_MIND = {
    "data": {
        "chats": [
            {
                "chatID": "t",
                "chatTitle": "Pens",
                "createdAt": "2026-01-02T03:04:05Z",
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "Ink?"}]},
                    {
                        "type": "tm_multi_responses",
                        "responses": [
                            {"messages": [{"role": "assistant", "content": "Blue.", "model": "m"}]},
                            {"messages": [{"role": "assistant", "content": "Black."}]},
                        ],
                    },
                ],
            }
        ],
        "prompts": [],
    }
}
CHATBOX = {
    "chat-sessions-list": [{"id": "s", "name": "Maps"}],
    "session:s": {
        "id": "s",
        "name": "Maps",
        "threads": [{"name": "Older", "messages": [{"role": "user", "content": "Before?"}]}],
        "messages": [
            {"role": "system", "contentParts": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "contentParts": [{"type": "text", "text": "North?"}], "timestamp": 1767323045000},
            {
                "role": "assistant",
                "model": "m",
                "contentParts": [{"type": "reasoning", "text": "Up."}, {"type": "text", "text": "There."}],
            },
        ],
    },
}
CHERRY = {
    "time": 1767323045000,
    "version": 5,
    "localStorage": {
        "persist:cherry-studio": json.dumps(
            {"assistants": json.dumps({"assistants": [{"topics": [{"id": "t", "name": "Trees"}]}]})}
        )
    },
    "indexedDB": {
        "topics": [
            {
                "id": "t",
                "messages": [
                    {"id": "q", "role": "user", "blocks": ["1"], "createdAt": "2026-01-02T03:04:05Z"},
                    {"id": "a", "role": "assistant", "askId": "q", "blocks": ["2", "3"], "model": {"name": "M1"}},
                    {"id": "b", "role": "assistant", "askId": "q", "blocks": ["4"], "model": {"id": "m2"}},
                ],
            }
        ],
        "message_blocks": [
            {"id": "1", "messageId": "q", "type": "main_text", "content": "Oldest?"},
            {"id": "2", "messageId": "a", "type": "thinking", "content": "Pines."},
            {"id": "3", "messageId": "a", "type": "main_text", "content": "A pine."},
            {"id": "4", "messageId": "b", "type": "main_text", "content": "A spruce."},
        ],
    },
}
AI_STUDIO = {
    "runSettings": {"model": "models/gemini-3"},
    "chunkedPrompt": {
        "chunks": [
            {"text": "Why blue?", "role": "user"},
            {"text": "Scattering", "role": "model", "isThought": True},
            {"text": "Rayleigh.", "role": "model"},
        ]
    },
}


@pytest.mark.parametrize(
    ("content", "source", "title", "expected", "model"),
    [
        (GROK, "Grok", "Lighthouses", [("user", "Tallest?", ""), ("assistant", "Another.", "")], "grok-4"),
        (TYPING_MIND, "TypingMind", "Pens", [("user", "Ink?", ""), ("assistant", "Blue.", "")], "m"),
        (CHATBOX, "Chatbox", "Maps", [("user", "North?", ""), ("assistant", "There.", "Up.")], "m"),
        (CHERRY, "Cherry Studio", "Trees", [("user", "Oldest?", ""), ("assistant", "A spruce.", "")], "m2"),
        (
            AI_STUDIO,
            "Google AI Studio",
            "",
            [("user", "Why blue?", ""), ("assistant", "Rayleigh.", "Scattering")],
            "models/gemini-3",
        ),
    ],
)
async def test_more_programs_are_imported(
    content: object,
    source: str,
    title: str,
    expected: Said,
    model: str,
    tmp_path: Path,
    database: Database,
    history: ChatStore,
) -> None:
    export = read_export(saved(tmp_path, content))
    assert export.source == source
    assert (export.chats[-1]["title"], export.chats[-1]["model"]) == (title, model)
    assert await shown(export, database, history, -1) == expected


def test_nothing_of_more_programs_is_left_out_in_silence(tmp_path: Path) -> None:
    assert len(read_export(saved(tmp_path, CHATBOX)).chats) == 2
    assert read_export(saved(tmp_path, CHATBOX)).left == {"hidden messages, such as system prompts": 1}
    assert read_export(saved(tmp_path, TYPING_MIND)).left == {"answers of further models to the same question": 1}
    assert len(read_export(saved(tmp_path, GROK)).chats[0]["messages"]) == 3
    first, second, third = read_export(saved(tmp_path, CHERRY)).chats[0]["messages"]
    assert second["parent_id"] == third["parent_id"] == first["id"]


def test_every_version_of_lm_studio_is_kept(tmp_path: Path) -> None:
    def version(text: str) -> dict[str, Any]:
        block = {"type": "contentBlock", "content": [{"type": "text", "text": text}]}
        thought = {**block, "style": {"type": "thinking"}, "content": [{"type": "text", "text": f"on {text}"}]}
        steps = [thought, block, {"type": "debugInfoBlock"}]
        return {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "m"}, "steps": steps}

    def asked(text: str) -> dict[str, Any]:
        return {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": text}]}

    messages = [
        {"versions": [asked("One?")], "currentlySelected": 0},
        {"versions": [version("a"), version("b"), version("c")], "currentlySelected": 1},
        {"versions": [asked("Two?")], "currentlySelected": 0},
    ]
    (chat,) = read_export(saved(tmp_path, {"name": "V", "messages": messages})).chats
    by_text = {each["content"]: each for each in chat["messages"]}
    assert [by_text[name]["parent_id"] for name in "abc"] == [by_text["One?"]["id"]] * 3
    assert by_text["Two?"]["parent_id"] == by_text["b"]["id"]
    assert (by_text["b"]["reasoning"], by_text["b"]["model"]) == ("on b", "m")
    assert chat["head_id"] == by_text["Two?"]["id"]


def test_an_archive_without_conversations_json_is_looked_through(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ttl/30d/x/prod-mc-billing.json", '{"a": 1}')
        archive.writestr("ttl/30d/x/prod-grok-backend.json", json.dumps(GROK))
        archive.writestr("readme.txt", "no")
    assert read_export(path).source == "Grok"


def test_lines_that_are_messages_are_one_chat(tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text('{"role": "user", "content": "Q"}\n{"role": "assistant", "content": "A"}\n', encoding="utf-8")
    (chat,) = read_export(path).chats
    assert [each["content"] for each in chat["messages"]] == ["Q", "A"]


def test_gemini_is_named_in_the_refusal(tmp_path: Path) -> None:
    activity = [{"header": "Gemini Apps", "title": "Prompted hello", "safeHtmlItem": [{"html": "<p>hi</p>"}]}]
    with pytest.raises(NotAnExport, match=r"export\.json is an export of Gemini \(Google Takeout\)"):
        read_export(saved(tmp_path, activity))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("A tower \ue200cite\ue202turn0search1\ue201.", "A tower."),
        ('In \ue200entity\ue202["city","Paris","x"]\ue201 now', "In Paris now"),
        ("See \ue200url\ue202The page\ue202turn0search3\ue201.", "See The page."),
        ("See \ue200filecite\ue202turn0file0\ue202L1-L9\ue201.", "See."),
        ("a \ue200i\ue202turn0image1\ue202turn0image2\ue201b \ue203", "ab "),
    ],
)
def test_the_words_inside_chatgpt_s_marks_are_kept(written: str, read: str, tmp_path: Path) -> None:
    node = {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [written]}}}
    (chat,) = read_export(saved(tmp_path, [{"mapping": {"a": node}}])).chats
    assert chat["messages"][0]["content"] == read
