import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.storage import backups
from app.storage.backups import backups_in, integrity_fault, make_backup, restore
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import BackupFailed, DatabaseDamaged
from tests.kit.portable import has_mode
from tests.storage.conftest import Clock


async def test_a_backup_is_made_once_a_day_and_its_date_can_be_read(database: Database, clock: Clock) -> None:
    assert backups_in(database.backups) == ()
    first = await database.back_up_daily()
    assert first is not None
    assert first.at == clock.time
    clock.turn(hours=1)
    assert await database.back_up_daily() is None
    clock.turn(hours=23)
    second = await database.back_up_daily()
    assert second is not None
    assert backups_in(database.backups)[0] == second
    assert second.at - first.at == timedelta(days=1)


async def test_three_daily_backups_are_kept(database: Database, clock: Clock) -> None:
    made = []
    for _ in range(5):
        made.append(await database.back_up_daily())
        clock.turn(days=1)
    assert list(backups_in(database.backups)) == made[:1:-1]


async def test_a_backup_holds_what_was_committed_and_opens_alone(database: Database, history: ChatStore) -> None:
    chat = await history.create_chat(title="Kept")
    await history.add_message(chat.id, "user", "Is this in the copy?")
    backup = await database.back_up_daily()
    assert backup is not None
    assert integrity_fault(backup.path) == ""
    with contextlib.closing(sqlite3.connect(f"file:{backup.path}?mode=ro", uri=True)) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert copy.execute("SELECT content FROM messages").fetchall() == [("Is this in the copy?",)]
    assert has_mode(backup.path, 0o600)


async def test_a_backup_tells_how_far_it_is_and_what_is_written_meanwhile_neither_restarts_nor_enters_it(
    database: Database, history: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "PAGES_AT_ONCE", 5)
    chat = await history.create_chat(title="Kept")
    await history.add_message(chat.id, "user", "word " * 20_000)
    told: list[float | None] = []

    def progress(share: float | None) -> None:
        told.append(share)
        with contextlib.closing(sqlite3.connect(database.path)) as other, other:
            other.execute("UPDATE chats SET title = title || '!'")

    backup = make_backup(database.path, database.backups, "daily", progress=progress)
    shares = [share for share in told if share is not None]
    assert told == [*shares, None]
    assert len(shares) > 3
    assert shares == sorted(set(shares))
    assert shares[-1] == 1.0
    with contextlib.closing(sqlite3.connect(backup.path)) as copy:
        assert copy.execute("SELECT title FROM chats").fetchall() == [("Kept",)]


async def test_a_damaged_database_is_found_by_its_daily_backup_and_older_copies_stay(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "rialto.db"
    database = await Database.open(path, now=clock)
    history = ChatStore(database)
    chat = await history.create_chat()
    for number in range(200):
        await history.add_message(chat.id, "user", f"{number} " * 200)
    good = await database.back_up_daily()
    await database.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 8192] = b"\x5a" * 8192
    path.write_bytes(data)
    clock.turn(days=1)
    with pytest.raises(DatabaseDamaged) as caught:
        make_backup(path, tmp_path / "backups", "daily", clock)
    assert good is not None
    assert caught.value.backup == good.path
    assert [backup.path for backup in backups_in(tmp_path / "backups")] == [good.path]
    assert not list((tmp_path / "backups").glob(".*"))


async def test_a_copy_that_does_not_pass_its_check_never_gets_a_name(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = iter(["row 3 missing from index", ""])  # the copy, then the database itself
    monkeypatch.setattr("app.storage.backups.integrity_fault", lambda path: next(faults))
    with pytest.raises(BackupFailed, match="failed its check"):
        await database.back_up_daily()
    assert backups_in(database.backups) == ()
    assert list(database.backups.iterdir()) == []


async def test_restoring_puts_the_copy_in_place_and_keeps_the_damaged_file(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "rialto.db"
    database = await Database.open(path, now=clock)
    chat = await ChatStore(database).create_chat(title="From the backup")
    backup = await database.back_up_daily()
    assert backup is not None
    await database.close()
    path.write_bytes(b"ruined")
    aside = restore(backup, path, clock)
    assert aside is not None
    assert aside.read_bytes() == b"ruined"
    database = await Database.open(path, now=clock)
    assert (await ChatStore(database).chat(chat.id)).title == "From the backup"
    await database.close()


async def test_a_ruined_backup_is_not_restored(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "rialto.db"
    database = await Database.open(path, now=clock)
    backup = await database.back_up_daily()
    assert backup is not None
    await database.close()
    backup.path.write_bytes(b"ruined")
    before = path.read_bytes()
    with pytest.raises(BackupFailed, match="no longer passes its check"):
        restore(backup, path, clock)
    assert path.read_bytes() == before


def test_only_files_with_a_checked_copys_name_count(tmp_path: Path) -> None:
    for name in ("rialto-20260301T120000-1-daily.db", ".rialto.db.77.partial", "notes.txt", "rialto-x-1-daily.db"):
        (tmp_path / name).touch()
    (found,) = backups_in(tmp_path)
    assert (found.at, found.schema, found.kind) == (datetime(2026, 3, 1, 12, tzinfo=UTC), 1, "daily")
    assert backups_in(tmp_path / "absent") == ()
