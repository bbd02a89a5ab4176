"""A project's file: read back identical, refused with a sentence, and whole or in the trash after a kill."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.storage import chat_file_bytes
from app.storage.attachment_files import AttachmentFiles
from app.storage.chat_file_bytes import keep_files, named_in, write_chat
from app.storage.chat_store import HEAD, ChatStore
from app.storage.database import Database
from app.storage.imports.chat_import import NotAnExport
from app.storage.projects import project_file
from app.storage.projects.document_paths import DocumentPaths
from app.storage.projects.project_file import NotAProject, import_project, project_to_json
from app.storage.projects.project_store import COLORS, Projects
from tests.kit.exports import read_export
from tests.storage.conftest import Clock

WORDS = ("bridge", "Rialto", "мост", "桥", "naïve", "\u202edlrow", "a\nb", "<b>", '"quoted"', "\\", "\x00", "")


def words(made: random.Random) -> str:
    return " ".join(made.choice(WORDS) for _ in range(made.randrange(8)))


def money(made: random.Random) -> Decimal | None:
    return made.choice([None, Decimal("0.10"), Decimal("0"), Decimal("1E-7"), Decimal("123456.789")])


async def any_project(database: Database, clock: Clock, made: random.Random) -> str:
    """A project with everything that can be in one, chats with branches among it; its id."""
    history, projects = ChatStore(database), Projects(database)
    files = AttachmentFiles(database.path.parent / "attachments")
    project = await projects.create(words(made), made.choice(COLORS))
    await projects.change(
        project.id,
        instructions=words(made),
        model=words(made),
        character_slug=made.choice([None, "slug"]),
        character_name=made.choice([None, "Name"]),
        options={"parameters": {"temperature": 0.3, "stop": ["x"]}, words(made): [None, {"a": 1.5}]},
        limit_usd=money(made),
        folded=made.random() < 0.5,
        archived=made.random() < 0.5,
    )
    for _ in range(made.randrange(5)):
        clock.turn(seconds=made.randrange(3))  # some of one moment
        chat = await history.create_chat(title=words(made), model="m", project_id=project.id, draft="a draft")
        ids: list[str] = []
        for _ in range(made.randrange(6)):
            attached = [{"sha256": files.keep(made.randbytes(50)), "name": words(made)}] if made.random() < 0.3 else []
            message = await history.add_message(
                chat.id,
                made.choice(["user", "assistant", "tool"]),
                words(made),
                parent_id=made.choice(ids) if ids and made.random() < 0.4 else HEAD,
                reasoning=words(made),
                sources=[{"url": "https://example.com", "title": words(made)}],
                extra={"n": 1},
                attachments=attached,
            )
            ids.append(message.id)
            await history.finish_message(
                message.id, usage={"prompt": 3, "s": 0.25}, cost_usd=money(made), thinking_s=1.5, error=words(made)
            )
        if made.random() < 0.5:
            await history.change_chat(chat.id, pinned=True)
    return project.id


async def exported(database: Database, project_id: str, path: Path) -> bytes:
    history = ChatStore(database)
    chats = [(chat, await history.messages(chat.id)) for chat in await history.chats() if chat.project_id == project_id]
    names = named_in(message for _chat, messages in chats for message in messages)
    documents = (await DocumentPaths(database).all()).get(project_id, ())
    body = project_to_json(await Projects(database).one(project_id), chats, documents)
    write_chat(path, body, names, history.files)
    return path.read_bytes()


def without_ids(data: bytes) -> str:
    """The same with each id named by its first place."""
    seen: dict[str, str] = {}
    return re.sub(r"\b[0-9a-f]{32}\b", lambda found: seen.setdefault(found[0], f"id {len(seen)}"), data.decode())


def test_what_stands_before_the_attachments_counts_toward_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = AttachmentFiles(tmp_path / "attachments")
    name = files.keep(bytes(300))
    monkeypatch.setattr(chat_file_bytes, "MAX_BYTES", 900)
    for chars, taken in ((700, 1), (900, 0)):
        told = write_chat(tmp_path / "file.json", {"embeddings": "é" * (chars // 2)}, [name], files)
        assert (told.packed, told.too_much) == (taken, 1 - taken)


@pytest.mark.parametrize("seed", range(12))
async def test_what_was_exported_is_imported_and_exported_identical(
    seed: int, database: Database, tmp_path: Path, clock: Clock
) -> None:
    made = random.Random(seed)
    original = await any_project(database, clock, made)
    followed = [str(tmp_path / words(made).translate({0: "", 47: ""})) for _ in range(made.randrange(3))]
    await DocumentPaths(database).add(original, followed)
    first = await exported(database, original, tmp_path / "first.json")
    read = read_export(tmp_path / "first.json")
    (body,) = read.projects
    # beside the original, where every id is taken
    beside = await import_project(database, body)
    assert not (await DocumentPaths(database).all()).get(beside.project.id), "who imports it agrees first"
    await DocumentPaths(database).add(beside.project.id, beside.documents)
    assert without_ids(await exported(database, beside.project.id, tmp_path / "second.json")) == without_ids(first)
    # on another computer, where none is
    elsewhere = await Database.open(tmp_path / "elsewhere" / "rialto.db", now=clock)
    keep_files({"files": read.files}, AttachmentFiles(tmp_path / "elsewhere" / "attachments"))
    taken = await import_project(elsewhere, body, "account")
    await DocumentPaths(elsewhere).add(taken.project.id, taken.documents)
    assert await exported(elsewhere, taken.project.id, tmp_path / "third.json") == first
    assert not taken.left
    chats = await ChatStore(elsewhere).chats()
    assert {chat.id for chat in chats} == set(taken.chat_ids)
    assert all((chat.account_id, chat.draft) == ("account", "") for chat in chats)
    await elsewhere.close()


GOOD: dict[str, Any] = {"format": "rialto-project", "version": 1, "name": "P", "chats": []}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 2}, "newer version"),
        ({"chats": None}, "no project that Rialto can read"),
        ({"instructions": "x" * 100_001}, "longer than 100,000"),
        ({"limit_usd": "all"}, "is not an amount"),
        ({"limit_usd": "-1"}, "is not an amount"),
        ({"limit_usd": 1.5}, "is not an amount"),
        ({"limit_usd": "1E9"}, "is not an amount"),
    ],
)
async def test_what_cannot_be_a_project_is_refused_with_a_sentence_and_leaves_nothing(
    changes: dict[str, Any], sentence: str, database: Database
) -> None:
    with pytest.raises(NotAProject, match=sentence):
        await import_project(database, {**GOOD, **changes})
    assert await Projects(database).all() == await Projects(database).all(trashed=True) == ()


async def test_what_is_odd_in_a_file_costs_only_itself(database: Database, clock: Clock) -> None:
    body = {
        **GOOD,
        "name": " \n" + "n" * 500,
        "color": "plaid",
        "folded": "yes",
        "created_at": "yesterday",
        "options": ["a"],
        "instructions": 7,
        "documents": ["papers", 7, "/papers", "/a\0b", "/papers"],
        "model": None,
        "chats": [7, {"messages": "none"}, {"messages": [{"role": "user", "content": "kept"}, "junk"], "pinned": 1}],
    }
    taken = await import_project(database, body)
    project = taken.project
    assert (project.name, project.color, project.folded, project.created_at) == ("n" * 80, "", False, clock())
    assert (project.options, project.instructions, project.model) == ({}, "", "")
    assert sum(taken.left.values()) == 2
    assert taken.documents == ("/papers",)
    (chat,) = await ChatStore(database).chats()
    assert (chat.id, chat.message_count, chat.pinned, chat.project_id) == (taken.newest, 1, False, project.id)


async def test_a_project_stands_below_the_others_and_beside_one_of_the_same_name(database: Database) -> None:
    projects = Projects(database)
    await projects.create("P")
    imported = await import_project(database, GOOD)
    assert [each.id for each in await projects.all()][1] == imported.project.id


async def test_until_all_has_come_it_lies_in_the_trash(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a kill: what is on the disk when the second of two chats fails."""
    real, calls = project_file.import_chat, iter((True, False))

    async def fails_later(*args: Any, **named: Any) -> Any:
        if not next(calls):
            raise KeyboardInterrupt
        return await real(*args, **named)

    monkeypatch.setattr(project_file, "import_chat", fails_later)
    chat = {"messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(KeyboardInterrupt):
        await import_project(database, {**GOOD, "chats": [chat, chat]})
    assert await Projects(database).all() == () and await ChatStore(database).chats() == ()
    (project,) = await Projects(database).all(trashed=True)
    assert [each.project_id for each in await ChatStore(database).chats(trashed=True)] == [project.id]


def test_a_file_with_a_project_is_told_from_chats_and_its_size_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "project.json"
    path.write_text(json.dumps({**GOOD, "chats": [{"messages": []}, {"messages": []}]}))
    export = read_export(path)
    assert (len(export.projects), export.chats, export.source) == (1, [], "Rialto")
    monkeypatch.setattr("app.storage.imports.chat_import.MAX_CHATS", 1)
    with pytest.raises(NotAnExport):
        read_export(path)
    monkeypatch.setattr("app.storage.imports.chat_import.MAX_FILE_BYTES", 10)
    with pytest.raises(NotAnExport, match="larger than 1 GB"):
        read_export(path)
