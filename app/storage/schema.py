"""Make a database file ready: is it ours, is it whole, is it as new as this program. Plain `sqlite3`, one thread.

Migrations are the numbered files in `migrations/`; each runs with its new `PRAGMA user_version` in one
transaction, after a copy of the database was made, opened and checked.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.storage.atomic_files import make_folder
from app.storage.backups import (
    Clock,
    integrity_fault,
    is_damage,
    make_backup,
    newest_backup,
    read_only,
    rotate,
    utc_now,
)
from app.storage.errors import (
    DatabaseDamaged,
    DatabaseNotOurs,
    DatabaseTooNew,
    StorageError,
    StorageUnavailable,
    unavailable,
)
from app.storage.search_index import ensure_index
from app.translation import tr

APPLICATION_ID = 0x52_6C_74_6F  # "Rlto" in the file header
BUSY_TIMEOUT_S = 5.0
MIGRATIONS = Path(__file__).parent / "migrations"

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_USER_VERSION_AT, _APPLICATION_ID_AT = 60, 68  # SQLite file format, section 1.3


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str


@cache
def migrations_in(folder: Path = MIGRATIONS) -> tuple[Migration, ...]:
    """Return the migrations in order. Raises `ValueError` when numbers are missing or doubled: that is our bug."""
    found = []
    for path in sorted(folder.glob("*.sql")):
        name = re.fullmatch(r"(\d{4})_(\w+)", path.stem)
        if name is None:
            raise ValueError(f"{path.name} is not named NNNN_what_it_does.sql")
        found.append(Migration(int(name[1]), name[2], path.read_text(encoding="utf-8")))
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 0001, 0002, … without gaps")
    return tuple(found)


def statements(sql: str) -> Iterator[str]:
    """Cut a script into statements; a trigger's inner semicolons do not end it."""
    pending = ""
    for piece in re.split(r"(?<=;)", sql):
        pending += piece
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


@contextlib.contextmanager
def in_words(path: Path, backups: Path) -> Iterator[None]:
    """Turn SQLite's errors about the place or the file into ours; errors in our own statements pass through."""
    try:
        yield
    except sqlite3.Error as error:
        translated = storage_error(error, path, backups)
        if translated is None:
            raise
        raise translated from error


def storage_error(error: sqlite3.Error, path: Path, backups: Path) -> StorageError | None:
    if is_damage(error):
        return DatabaseDamaged(path, newest_backup(backups), str(error))
    sentence = {
        sqlite3.SQLITE_FULL: tr("The disk is full, so nothing more can be saved. Free some space and try again."),
        sqlite3.SQLITE_READONLY: tr("Rialto cannot write to its data folder: {parent}", parent=path.parent),
        sqlite3.SQLITE_CANTOPEN: tr("Rialto cannot open its history: {path}", path=path),
        sqlite3.SQLITE_PERM: tr("Rialto has no permission to open its history: {path}", path=path),
        sqlite3.SQLITE_IOERR: tr("The disk reports an error at {path}", path=path),
        sqlite3.SQLITE_BUSY: tr("Another program is using Rialto’s history. Close it and try again."),
        sqlite3.SQLITE_LOCKED: tr("Another program is using Rialto’s history. Close it and try again."),
    }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return StorageUnavailable(sentence, path) if sentence else None


def prepare(
    path: Path, backups: Path, migrations: Sequence[Migration] | None = None, now: Clock = utc_now
) -> tuple[int, ...]:
    """Make or bring up to date the database at `path`. Return the numbers of the migrations that ran.

    Raises `DatabaseTooNew` and `DatabaseNotOurs` without having written a byte, `DatabaseDamaged`,
    `StorageUnavailable`, `BackupFailed`. After any of them the file is as it was.
    """
    steps = migrations_in() if migrations is None else tuple(migrations)
    known = len(steps)
    make_folder(path.parent)
    with in_words(path, backups):
        unclean = _inspect_read_only(path, backups, known)
        if unclean and (fault := integrity_fault(path, "quick_check")):
            raise DatabaseDamaged(path, newest_backup(backups), fault)
        with contextlib.closing(connect(path)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            empty = not database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            if version == 0 and not empty:
                raise DatabaseNotOurs(path)
            database.execute("PRAGMA journal_mode=WAL")
            ran = _migrate(database, path, backups, steps[version:], empty, now)
            ensure_index(database)
            return ran


def connect(path: Path) -> sqlite3.Connection:
    """Open for reading and writing, one statement one transaction unless BEGIN says otherwise."""
    try:
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise unavailable(error, path, tr("Creating the history file")) from error
    database = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    database.execute("PRAGMA foreign_keys=ON")
    return database


def _inspect_read_only(path: Path, backups: Path, known: int) -> bool:
    """Refuse what must not be opened; True when the last program using it did not close it.

    The header is read as bytes. A log beside it may hold a later header, which only SQLite can find; a read-only
    connection leaves both files as they are, where an ordinary one would merge them on closing.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unavailable(error, path, tr("Opening the history")) from error
    if not header and newest_backup(backups) is None:
        return False  # stopped while the file was being made
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise DatabaseDamaged(path, newest_backup(backups), tr("no SQLite header"))
    version = struct.unpack_from(">i", header, _USER_VERSION_AT)[0]
    owner = struct.unpack_from(">I", header, _APPLICATION_ID_AT)[0]
    log = path.with_name(path.name + "-wal")
    unclean = log.exists() and log.stat().st_size > 0
    if unclean:
        with contextlib.closing(read_only(path)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            (owner,) = database.execute("PRAGMA application_id").fetchone()
    if owner not in (0, APPLICATION_ID):
        raise DatabaseNotOurs(path)
    if version > known:
        raise DatabaseTooNew(path, version, known)
    return unclean


def _migrate(
    database: sqlite3.Connection, path: Path, backups: Path, steps: Sequence[Migration], empty: bool, now: Clock
) -> tuple[int, ...]:
    copies = []
    # A new database is made in one go: every commit waits for the disk, and there is nothing to go back to between two.
    for group in [steps] if empty and steps else [(step,) for step in steps]:
        if not empty:
            copies.append(make_backup(path, backups, "upgrade", now))
            ensure_index(database)  # while a trigger names one that this SQLite does not know, no table can be renamed
        database.execute("BEGIN IMMEDIATE")
        try:
            for statement in (statement for step in group for statement in statements(step.sql)):
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {group[-1].number}")
            database.execute("COMMIT")
        except BaseException:
            database.rollback()
            raise
    for copy in copies[1:]:  # of one upgrade, what the person came from is worth keeping; the steps between are not
        copy.path.unlink(missing_ok=True)
    if copies:
        rotate(backups, "upgrade")
    return tuple(step.number for step in steps)
