"""What happens when a database is opened: is it ours, whole, and as new as this program."""

import contextlib
import hashlib
import re
import sqlite3
from pathlib import Path

import pytest

from app.storage.backups import backups_in, integrity_fault
from app.storage.errors import (
    BackupFailed,
    DatabaseDamaged,
    DatabaseNotOurs,
    DatabaseTooNew,
    StorageUnavailable,
)
from app.storage.schema import APPLICATION_ID, Migration, migrations_in, prepare, statements
from tests.kit.portable import has_mode

ONE = Migration(
    1,
    "first",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE messages (seq INTEGER PRIMARY KEY, content TEXT, state TEXT);",
)
TWO = Migration(2, "second", "ALTER TABLE messages ADD COLUMN mood TEXT;")
THREE = Migration(3, "third", "CREATE TABLE extra (a);\nCREATE TABLE more (b);")
WRONG = Migration(2, "wrong", "CREATE TABLE half (a);\nINSERT INTO messages (content) VALUES ('x');\nNONSENSE;")


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def value(path: Path, sql: str) -> object:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchone()[0]


def test_a_new_database_is_made_at_the_newest_schema_and_carries_our_mark(tmp_path: Path) -> None:
    path = tmp_path / "data" / "rialto.db"
    assert prepare(path, tmp_path / "backups") == tuple(range(1, len(migrations_in()) + 1))
    assert value(path, "PRAGMA user_version") == len(migrations_in())
    assert value(path, "PRAGMA application_id") == APPLICATION_ID
    assert value(path, "PRAGMA journal_mode") == "wal"
    assert has_mode(path, 0o600)
    assert prepare(path, tmp_path / "backups") == ()
    assert not (tmp_path / "backups").exists()  # nothing was there to be copied


def test_before_a_migration_a_copy_is_made_that_opens(tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO messages VALUES (1, 'kept', 'complete')")
    assert prepare(path, backups, [ONE, TWO, THREE]) == (2, 3)
    (copy,) = backups_in(backups)  # the state the person came from; the steps between are not kept
    assert (copy.schema, copy.kind) == (1, "upgrade")
    assert integrity_fault(copy.path) == ""
    assert value(copy.path, "SELECT content FROM messages") == "kept"
    assert value(path, "SELECT content FROM messages") == "kept"
    assert value(path, "PRAGMA user_version") == 3


def test_three_upgrade_copies_are_kept(tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    steps = [ONE]
    prepare(path, backups, steps)
    for number in range(2, 8):
        steps.append(Migration(number, "more", f"CREATE TABLE t{number} (a);"))
        prepare(path, backups, steps)
    assert [backup.schema for backup in backups_in(backups)] == [6, 5, 4]


def test_a_migration_that_fails_half_way_leaves_no_trace(tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    with pytest.raises(sqlite3.OperationalError):
        prepare(path, backups, [ONE, WRONG])
    assert value(path, "PRAGMA user_version") == 1
    assert value(path, "SELECT count(*) FROM sqlite_master WHERE name = 'half'") == 0
    assert value(path, "SELECT count(*) FROM messages") == 0
    assert prepare(path, backups, [ONE, TWO]) == (2,)


def test_without_a_good_copy_nothing_is_migrated(tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    backups.write_text("a file stands where the folder should be")
    with pytest.raises(StorageUnavailable):
        prepare(path, backups, [ONE, TWO])
    assert value(path, "PRAGMA user_version") == 1


def test_a_newer_database_is_refused_and_not_one_byte_changes(tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE, TWO, THREE])
    before = hashes(tmp_path)
    with pytest.raises(DatabaseTooNew, match="newer version of Rialto") as caught:
        prepare(path, backups, [ONE])
    assert (caught.value.found, caught.value.known) == (3, 1)
    assert hashes(tmp_path) == before


def test_a_newer_schema_that_is_still_in_the_log_is_refused_untouched_too(tmp_path: Path) -> None:
    """A newer version was killed right after migrating: the header is old, the log beside it is new."""
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    database = sqlite3.connect(path)
    database.execute("PRAGMA wal_autocheckpoint=0")
    database.execute("PRAGMA user_version = 7")
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in tmp_path.glob("rialto.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    database.close()
    before = hashes(copy)
    assert len(before) == 2
    with pytest.raises(DatabaseTooNew):
        prepare(copy / "rialto.db", backups, [ONE])
    assert hashes(copy) == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    for number, setup in enumerate(("PRAGMA application_id = 1234", "CREATE TABLE songs (title)")):
        path = tmp_path / f"{number}.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE first (a)") if number == 0 else None
            database.execute(setup)
            database.commit()
        before = hashes(tmp_path)
        with pytest.raises(DatabaseNotOurs, match="another program"):
            prepare(path, tmp_path / "backups")
        assert hashes(tmp_path) == before


@pytest.mark.parametrize("damage", ["text", "short", "empty after use", "page"])
def test_a_damaged_database_is_named_with_its_last_good_backup_and_kept(damage: str, tmp_path: Path) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.executemany("INSERT INTO messages VALUES (?, ?, 'complete')", [(i, "text " * 90) for i in range(500)])
    prepare(path, backups, [ONE, TWO])
    data = path.read_bytes()
    if damage == "text":
        path.write_bytes(b"this is no database, whatever its name says" * 100)
    elif damage == "short":
        path.write_bytes(data[:60])
    elif damage == "empty after use":
        path.write_bytes(b"")
    else:
        path.write_bytes(data[:4096] + b"\xa5" * 8192 + data[3 * 4096 :])
    before = hashes(tmp_path)
    with pytest.raises(DatabaseDamaged) as caught:
        prepare(path, backups, [ONE, TWO, THREE])
    (backup,) = backups_in(backups)
    assert caught.value.backup == backup.path
    assert backup.path.name in caught.value.sentence
    assert hashes(tmp_path) == before


def test_a_damaged_database_without_a_backup_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rialto.db"
    path.write_bytes(b"not a database" * 20)
    with pytest.raises(DatabaseDamaged, match="no backup of it yet"):
        prepare(path, tmp_path / "backups")


def test_a_file_left_empty_by_a_crash_at_the_very_first_start_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "rialto.db").touch()
    assert prepare(tmp_path / "rialto.db", tmp_path / "backups")[0] == 1


def test_a_folder_that_may_not_be_written_is_told_in_a_sentence(locked_folder: Path) -> None:
    with pytest.raises(StorageUnavailable) as caught:
        prepare(locked_folder / "rialto.db", locked_folder / "backups")
    assert re.search("no permission to write there|cannot open|only read", caught.value.sentence)


def test_a_migration_with_no_room_for_its_copy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, backups = tmp_path / "rialto.db", tmp_path / "backups"
    prepare(path, backups, [ONE])
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def refuse(*_: object) -> int:
        raise full

    monkeypatch.setattr("app.storage.backups._copy", refuse)
    with pytest.raises(BackupFailed, match="disk is full"):
        prepare(path, backups, [ONE, TWO])
    assert value(path, "PRAGMA user_version") == 1


def test_triggers_are_one_statement() -> None:
    script = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM b;\n  DELETE FROM c;\nEND;\nDROP TABLE a;\n"
    assert [statement.split()[0] for statement in statements(script)] == ["CREATE", "DROP"]


def test_migrations_without_gaps_are_a_rule(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").write_text("SELECT 1;")
    (tmp_path / "0003_third.sql").write_text("SELECT 1;")
    with pytest.raises(ValueError, match="without gaps"):
        migrations_in(tmp_path)
