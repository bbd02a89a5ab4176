import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import DatabaseDamaged, NotStored, StorageError, StorageUnavailable

NOTE = "INSERT INTO meta (key, value) VALUES (?, ?)"


async def notes(database: Database) -> list[str]:
    return [row[0] for row in await database.fetch("SELECT key FROM meta WHERE key LIKE 'note%' ORDER BY key")]


async def test_it_is_in_wal_mode_with_foreign_keys_and_patience(database: Database) -> None:
    async with database.transaction() as transaction:
        for pragma, expected in (("journal_mode", "wal"), ("foreign_keys", 1), ("busy_timeout", 5000)):
            assert await transaction.fetch(f"PRAGMA {pragma}") == [(expected,)]


@pytest.mark.parametrize(("durable", "expected"), [(True, 2), (False, 1)])
async def test_what_was_typed_or_paid_is_pressed_to_the_disk(database: Database, durable: bool, expected: int) -> None:
    async with database.transaction(durable=durable) as transaction:
        assert await transaction.fetch("PRAGMA synchronous") == [(expected,)]  # 2 is FULL, 1 is NORMAL


async def test_a_transaction_left_by_an_exception_leaves_nothing(database: Database) -> None:
    with pytest.raises(NotStored):
        async with database.transaction() as transaction:
            await transaction.execute(NOTE, ["note", "1"])
            raise NotStored("changed my mind")
    assert await notes(database) == []
    await database.execute(NOTE, ["note", "2"])
    assert await notes(database) == ["note"]


async def test_a_transaction_cancelled_at_any_step_leaves_nothing_and_blocks_nobody(database: Database) -> None:
    async def work(number: int) -> None:
        async with database.transaction() as transaction:
            await transaction.execute(NOTE, [f"note {number}", "half"])
            await transaction.execute("UPDATE meta SET value = 'whole' WHERE key = ?", [f"note {number}"])

    for steps in range(12):
        task = asyncio.ensure_future(work(steps))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await database.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('after', ?)", [str(steps)])
    assert all(row == ("whole",) for row in await database.fetch("SELECT value FROM meta WHERE key LIKE 'note%'"))
    assert await database.fetch("SELECT value FROM meta WHERE key = 'after'") == [("11",)]


async def test_reads_see_what_was_committed_and_never_wait_for_a_writer(database: Database) -> None:
    await database.execute(NOTE, ["note 1", ""])
    async with database.transaction() as transaction:
        await transaction.execute(NOTE, ["note 2", ""])
        async with asyncio.timeout(60):
            assert await notes(database) == ["note 1"]
    assert await notes(database) == ["note 1", "note 2"]


async def test_a_long_list_that_is_read_makes_no_other_read_old(database: Database) -> None:
    """While one cursor is open, all that its connection reads is as old as that cursor."""
    loop, begun, changed = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def read(row: tuple[str]) -> str:
        loop.call_soon_threadsafe(begun.set)
        assert changed.wait(60)
        return row[0]

    async with database.transaction() as transaction:
        await transaction.execute_many(NOTE, [[f"note {number:04}", ""] for number in range(2500)])
    long_list = asyncio.ensure_future(database.fetch_many("SELECT value FROM meta WHERE key LIKE 'note%'", (), read))
    await begun.wait()
    await database.execute("UPDATE meta SET value = 'new' WHERE key = 'note 0000'")
    one = asyncio.ensure_future(database.fetch_one("SELECT value FROM meta WHERE key = 'note 0000'"))
    every = asyncio.ensure_future(
        database.fetch_many("SELECT value FROM meta WHERE value = 'new'", (), lambda row: row)
    )
    await asyncio.sleep(0)  # both are asked for before the list goes on
    changed.set()
    assert await one == ("new",)
    assert await every == [("new",)]
    assert len(await long_list) == 2500


async def test_writers_take_turns(database: Database) -> None:
    async def add(number: int) -> None:
        async with database.transaction() as transaction:
            (count,) = (await transaction.fetch("SELECT count(*) FROM meta WHERE key LIKE 'note%'"))[0]
            await asyncio.sleep(0)
            await transaction.execute(NOTE, [f"note {count:02}", str(number)])

    await asyncio.gather(*(add(number) for number in range(20)))
    assert await notes(database) == [f"note {number:02}" for number in range(20)]


async def test_the_reading_connection_cannot_write(database: Database) -> None:
    with pytest.raises(StorageUnavailable):
        await database.fetch(NOTE, ["note", ""])


async def test_a_full_disk_is_told_and_what_was_there_stays(database: Database, history: ChatStore) -> None:
    chat = await history.create_chat(title="Before")
    async with database.transaction() as transaction:
        ((pages,),) = await transaction.fetch("PRAGMA page_count")
        await transaction.fetch(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(StorageUnavailable, match="disk is full"):
        await history.add_message(chat.id, "user", "x" * 1_000_000)
    assert (await history.chat(chat.id)).message_count == 0
    async with database.transaction() as transaction:
        await transaction.fetch("PRAGMA max_page_count=1000000")
    assert (await history.add_message(chat.id, "user", "There is room again.")).state == "complete"


async def test_damage_met_while_running_is_told_by_name(database: Database) -> None:
    malformed = sqlite3.DatabaseError("database disk image is malformed")
    malformed.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with pytest.raises(DatabaseDamaged, match=r"rialto\.db is damaged and was not changed"):
        async with database.transaction():
            raise malformed


async def test_mistakes_in_our_own_statements_stay_mistakes(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await database.fetch("SELECT * FROM nowhere")


async def test_a_second_program_holding_the_database_is_told_in_a_sentence(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as transaction:
        await transaction.fetch("PRAGMA busy_timeout=20")
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable, match="Another program is using"):
        await database.execute(NOTE, ["note", ""])
    other.execute("ROLLBACK")
    other.close()
    await database.execute(NOTE, ["note", ""])


async def test_a_folder_that_cannot_be_written_is_told_at_open(locked_folder: Path) -> None:
    with pytest.raises(StorageError) as caught:
        await Database.open(locked_folder / "rialto.db")
    assert caught.value.sentence


async def test_closing_twice_is_fine_and_leaves_one_file(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "rialto.db")
    await ChatStore(database).create_chat()
    await database.close()
    await database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["rialto.db"]
