"""Copies of the database that are known to open. Plain `sqlite3`, meant for a worker thread.

A copy gets its final name only after it was opened afresh and passed `PRAGMA integrity_check`; so whatever bears
such a name was good at the time the name states. Copies are made by SQLite's backup interface under one read
transaction: a consistent image, while the program goes on writing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from app import files
from app.storage.atomic_files import make_folder, sync_folder
from app.storage.errors import BackupFailed, DatabaseDamaged, unavailable
from app.translation import tr

Kind = Literal["upgrade", "daily"]
KEPT = 3  # of each kind
_NAME = re.compile(r"rialto-(\d{8}T\d{6})-(\d+)-(upgrade|daily)(?:-\d+)?\.db")
PAGES_AT_ONCE = 2_000  # between two words about how far it is
Clock = Callable[[], datetime]
Progress = Callable[[float | None], object]  # what share was copied (0 to 1), None while the copy is checked


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Backup:
    path: Path
    at: datetime  # when it was made and checked
    schema: int
    kind: str


def backups_in(folder: Path) -> tuple[Backup, ...]:
    """Return every checked copy, newest first; an absent folder holds none."""
    found: list[Backup] = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            name = _NAME.fullmatch(path.name)
            if name:
                with contextlib.suppress(ValueError):
                    at = datetime.strptime(name[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
                    found.append(Backup(path, at, int(name[2]), name[3]))
    return tuple(sorted(found, key=lambda backup: (backup.at, backup.path.name), reverse=True))


def newest_backup(folder: Path) -> Path | None:
    found = backups_in(folder)
    return found[0].path if found else None


def make_backup(
    database: Path, folder: Path, kind: Kind, now: Clock = utc_now, progress: Progress = lambda _share: None
) -> Backup:
    """Copy, check and name. Does not rotate: see `rotate`. `progress` is called in this thread.

    Raises `DatabaseDamaged` when the database itself does not pass the check, `BackupFailed` when only the copy
    does not, `StorageUnavailable` when there is no room or no permission. Older copies are untouched by each.
    """
    make_folder(folder)
    partial = folder / f".{database.name}.{os.getpid()}.partial"
    try:
        schema = _copy(database, partial, progress)
        progress(None)
        fault = integrity_fault(partial)
        if fault:
            source_fault = integrity_fault(database)
            if source_fault:
                raise DatabaseDamaged(database, newest_backup(folder), source_fault)
            raise BackupFailed(
                tr("A history backup failed its check and was discarded: {fault}.", fault=fault), database
            )
        at = now().astimezone(UTC).replace(microsecond=0)
        target = _free_name(folder, f"rialto-{at:%Y%m%dT%H%M%S}-{schema}-{kind}")
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        files.replace(partial, target)
        sync_folder(folder)
    except sqlite3.Error as error:
        raise _failed(error, database, folder) from error
    except OSError as error:
        raise unavailable(error, folder, tr("Making a backup")) from error
    finally:
        for leftover in (partial, partial.with_name(partial.name + "-journal")):
            with contextlib.suppress(OSError):
                leftover.unlink()
    return Backup(target, at, schema, kind)


def restore_backup(database: Path, backup: Path) -> Path:
    """Put a checked copy in the place of a damaged database; return where that is kept now, with its log beside it.

    Nothing may have the database open. Raises `StorageUnavailable`; the damaged file is then where it was.
    """
    fresh = database.with_name(f".{database.name}.{os.getpid()}.restored")
    aside = _free_name(database.parent, f"{database.stem}-damaged-{utc_now():%Y%m%dT%H%M%S}")
    try:
        shutil.copyfile(backup, fresh)
        fresh.chmod(0o600)
        with fresh.open("rb+") as file:
            os.fsync(file.fileno())
        for end in ("-wal", "-shm", ""):  # the database last: until then it is as it was for whoever looks
            old = database.with_name(database.name + end)
            if old.exists():
                files.replace(old, aside.with_name(aside.name + end))
        files.replace(fresh, database)
        sync_folder(database.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise unavailable(error, database, tr("Restoring the backup")) from error
    return aside


def _failed(error: sqlite3.Error, database: Path, folder: Path) -> BackupFailed | DatabaseDamaged:
    if is_damage(error):
        return DatabaseDamaged(database, newest_backup(folder), str(error))
    full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    why = tr("The disk is full") if full else str(error).capitalize()
    return BackupFailed(
        tr("The history could not be backed up. {why}. Older backups are untouched.", why=why), database
    )


def _free_name(folder: Path, stem: str) -> Path:
    target = folder / f"{stem}.db"
    count = 1
    while target.exists():
        target = folder / f"{stem}-{count}.db"
        count += 1
    return target


def _copy(database: Path, target: Path, progress: Progress) -> int:
    """Copy every page and return the schema number of the copy."""
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        contextlib.closing(sqlite3.connect(database, timeout=5, isolation_level=None)) as source,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        source.execute("BEGIN")  # without it a copy in pieces begins anew whenever somebody writes
        source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        source.backup(copy, pages=PAGES_AT_ONCE, progress=lambda _status, left, total: progress(1 - left / total))
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, no -wal beside it
        (schema,) = copy.execute("PRAGMA user_version").fetchone()
    return int(schema)


def is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def read_only(path: Path) -> sqlite3.Connection:
    """Open without the right to change the file or the log beside it."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)


def integrity_fault(path: Path, check: Literal["integrity_check", "quick_check"] = "integrity_check") -> str:
    """Open the file afresh, read all of it, and return the first fault found, "" for none.

    `quick_check` leaves out whether indexes agree with their tables. Raises `sqlite3.Error` when the file cannot
    be opened at all, which says nothing about its content.
    """
    try:
        with contextlib.closing(read_only(path)) as database:
            (answer,) = database.execute(f"PRAGMA {check}(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise
    return "" if answer == "ok" else str(answer)


def rotate(folder: Path, kind: Kind, keep: int = KEPT) -> None:
    """Remove all but the newest `keep` copies of one kind. Call after a good one only."""
    for backup in [backup for backup in backups_in(folder) if backup.kind == kind][keep:]:
        with contextlib.suppress(OSError):
            backup.path.unlink()


def restore(backup: Backup, database: Path, now: Clock = utc_now) -> Path | None:
    """Put a copy in the database's place. The old files are renamed, never deleted; return the old one's new name.

    The database must be closed. Raises `BackupFailed` when the copy no longer passes its check.
    """
    try:
        fault = integrity_fault(backup.path)
    except sqlite3.Error as error:
        fault = str(error)
    if fault:
        raise BackupFailed(
            tr("The backup {name} no longer passes its check: {fault}.", name=backup.path.name, fault=fault),
            backup.path,
        )
    fresh = database.with_name(f".{database.name}.restored")
    aside: Path | None = None
    try:
        shutil.copyfile(backup.path, fresh)
        fresh.chmod(0o600)
        with fresh.open("rb+") as file:
            os.fsync(file.fileno())
        stamp = f"broken-{now().astimezone(UTC):%Y%m%dT%H%M%S}"
        for suffix in ("", "-wal", "-shm"):  # the three belong together under any name
            old = database.with_name(database.name + suffix)
            if old.exists():
                renamed = database.with_name(f"{database.stem}.{stamp}{database.suffix}{suffix}")
                files.replace(old, renamed)
                aside = aside or renamed
        files.replace(fresh, database)
        sync_folder(database.parent)
    except OSError as error:
        raise unavailable(error, database, tr("Restoring the backup")) from error
    return aside
