"""Projects: made, ordered, changed, moved into, removed and brought back; and a data folder from before them."""

from __future__ import annotations

import contextlib
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from app.storage.chat_file import duplicate_chat
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.projects.project_store import Projects
from app.storage.receipts import Receipts, receipt_of
from app.storage.schema import migrations_in, prepare
from tests.storage.conftest import Clock

BEFORE = 15  # the last schema without projects


@pytest.fixture
def projects(database: Database) -> Projects:
    return Projects(database)


async def test_a_project_comes_back_as_it_was_changed(projects: Projects, database: Database, clock: Clock) -> None:
    made = await projects.create("  Thesis\n on bridges ", "teal")
    assert (made.name, made.color, made.created_at) == ("Thesis on bridges", "teal", clock())
    assert (made.limit_usd, made.options, made.folded, made.archived) == (None, {}, False, False)
    changed = await projects.change(
        made.id,
        name="Bridges",
        folded=True,
        archived=True,
        instructions="Answer in one sentence.\ud800",
        model="m",
        character_slug="s",
        character_name="S",
        options={"temperature": 0.3},
        limit_usd=Decimal("2.50"),
    )
    assert await projects.all() == (changed,)
    assert (changed.limit_usd, changed.options, changed.instructions) == (
        Decimal("2.50"),
        {"temperature": 0.3},
        "Answer in one sentence.���",
    )
    assert (await projects.change(made.id, limit_usd=None)).limit_usd is None
    with pytest.raises(TypeError, match="place"):
        await projects.change(made.id, place=3)
    with pytest.raises(NotStored):
        await projects.change("elsewhere", name="x")
    await database.execute("UPDATE projects SET color = 'plaid', limit_usd = 'much', options = '['")
    odd = await projects.one(made.id)
    assert (odd.color, odd.limit_usd, odd.options, odd.name) == ("", None, {}, "Bridges")


async def test_projects_stand_in_the_order_that_they_were_given(projects: Projects) -> None:
    made = [await projects.create(name) for name in ("A", "B", "C")]
    await projects.order([made[2].id, made[0].id, made[1].id])
    assert [each.name for each in await projects.all()] == ["C", "A", "B"]
    await projects.create("D")
    assert [each.name for each in await projects.all()] == ["C", "A", "B", "D"]


async def test_chats_are_moved_all_at_once_and_nothing_else_of_them_changes(
    projects: Projects, history: ChatStore, clock: Clock
) -> None:
    one, other = await projects.create("One"), await projects.create("Other")
    chats = [await history.create_chat(title=str(number), project_id=one.id) for number in range(3)]
    alone = await history.create_chat(title="alone")
    clock.turn(days=1)
    ids = [chat.id for chat in chats]
    before = await projects.places([*ids, alone.id, "elsewhere"])
    assert before == {**dict.fromkeys(ids, one.id), alone.id: None}
    await projects.move({**dict.fromkeys(ids[1:], other.id), alone.id: other.id, ids[0]: None})
    moved = {chat.id: chat for chat in await history.chats()}
    assert [moved[each].project_id for each in (*ids, alone.id)] == [None, other.id, other.id, other.id]
    assert moved[ids[0]].updated_at == chats[0].updated_at
    with pytest.raises(NotStored):
        await projects.move({ids[0]: one.id, ids[1]: "elsewhere"})
    assert (await history.chat(ids[0])).project_id is None
    await projects.move(before)
    assert await projects.places(before) == before


async def test_a_removed_project_keeps_its_chats_until_it_is_deleted_for_good(
    projects: Projects, history: ChatStore, clock: Clock
) -> None:
    project = await projects.create("One", "red")
    chat = await history.create_chat(project_id=project.id)
    await projects.trash(project.id)
    assert await projects.all() == ()
    (gone,) = await projects.all(trashed=True)
    assert gone.trashed_at == clock()
    assert (await history.chat(chat.id)).project_id == project.id
    await projects.restore(project.id)
    assert await projects.all() == (project,)
    await projects.delete(project.id)
    assert await projects.all() == await projects.all(trashed=True) == ()
    assert (await history.chat(chat.id)).project_id is None


async def test_a_copy_of_a_chat_stays_in_its_project(projects: Projects, history: ChatStore) -> None:
    project = await projects.create("One")
    chat = await history.create_chat(project_id=project.id)
    assert (await duplicate_chat(history.database, chat.id)).project_id == project.id


@pytest.mark.parametrize("words", ["bridge", "br", "brid bridge"])
async def test_a_search_can_stay_inside_a_project(words: str, projects: Projects, history: ChatStore) -> None:
    project = await projects.create("One")
    inside = await history.create_chat(title="A bridge", project_id=project.id)
    outside = await history.create_chat(title="Another bridge")
    trashed = await history.create_chat(title="A third bridge", project_id=project.id)
    for chat in (inside, outside, trashed):
        await history.add_message(chat.id, "user", "a bridge, or brid")
    await history.trash(trashed.id)
    found = await history.search(words, project_id=project.id)
    assert {hit.chat_id for hit in found} == {inside.id}
    assert any(hit.message_id for hit in found)
    assert {hit.chat_id for hit in await history.search(words)} == {inside.id, outside.id}


async def test_what_a_project_cost_outlives_it_and_its_chats(
    projects: Projects, database: Database, clock: Clock
) -> None:
    project = await projects.create("One")
    receipts = Receipts(database)
    for number, (project_id, charged) in enumerate([(project.id, True), (project.id, False), ("", True)]):
        clock.turn(days=40)
        await receipts.add(
            receipt_of(
                id=f"e{number}",
                at=clock(),
                account_id="a",
                tab="chat",
                endpoint="POST /chat",
                cost_usd=Decimal("0.1"),
                charged=charged,
                project_id=project_id,
            )
        )
    await receipts.add(
        receipt_of(id="e0", at=clock(), account_id="a", tab="chat", endpoint="", cost_usd=Decimal("0.3"))
    )
    await projects.trash(project.id)
    await projects.delete(project.id)
    assert (await receipts.spent_since(project_id=project.id)).usd == Decimal("0.3")
    assert (await receipts.spent_since(project_id=project.id, charged=False)).usd == Decimal("0.1")
    assert (await receipts.spent_since()).usd == Decimal("0.4")


async def test_a_data_folder_from_before_projects_opens_with_every_chat_in_none(tmp_path: Path) -> None:
    path = tmp_path / "rialto.db"
    prepare(path, tmp_path / "backups", migrations_in()[:BEFORE])
    with contextlib.closing(sqlite3.connect(path)) as old, old:
        old.execute("INSERT INTO chats (id, title, created_at, updated_at) VALUES ('c', 'Old', 1, 2)")
        old.execute(
            "INSERT INTO receipts (id, at, account_id, tab, endpoint, cost_usd) VALUES ('e', 1, 'a', 'chat', '', '0.2')"
        )
    database = await Database.open(path, backups=tmp_path / "backups")
    history, projects = ChatStore(database), Projects(database)
    (chat,) = await history.chats()
    assert (chat.title, chat.project_id) == ("Old", None)
    assert await projects.all() == ()
    receipt = await Receipts(database).for_exchange("e")
    assert receipt is not None and (receipt.cost_usd, receipt.project_id) == (Decimal("0.2"), "")
    project = await projects.create("New")
    await projects.move({chat.id: project.id})
    assert (await history.chat(chat.id)).project_id == project.id
    await database.close()
