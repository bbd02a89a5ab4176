"""What outlives the process: values under a table and a key, in one SQLite file.

A change is in the file when `commit()` returns, whole or not at all, and survives the process being killed; only a
power cut can lose the last seconds. Values are plain data (dataclasses, Decimal, bytes, numbers, text) in MessagePack.
A file of another format, or a damaged one, is set aside and a new one begun: it holds play money.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

FILE_NAME = "sandbox.sqlite3"
FORMAT = 1  # of the values; raise it when they or the first blocks of the chains change
BUSY_S = 5.0  # how long the Sandbox before this one may take to end
V = TypeVar("V")
_PUT = "INSERT INTO kept VALUES (?, ?, ?) ON CONFLICT (name, key) DO UPDATE SET value = excluded.value"


class StoreInUse(OSError):
    """Another Sandbox keeps its state in this folder."""


class Store:
    """Safe to use from several threads. A disk that takes no more is told once, then everything goes on in memory."""

    def __init__(self, folder: Path) -> None:
        """Raises `StoreInUse`, and `OSError` for a folder that cannot be written."""
        self._lock = threading.Lock()
        self._path = folder / FILE_NAME
        self._database: sqlite3.Connection | None = None
        try:
            self._database = self._opened()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise StoreInUse(f"another Sandbox uses {folder}") from None
            raise OSError(f"{self._path}: {error}") from None
        except sqlite3.DatabaseError:
            self._set_aside()
            self._database = self._opened()

    def put(self, table: str, key: str, value: object) -> None:
        packed = msgspec.msgpack.encode(value)
        self._run(_PUT, table, key, packed)

    def delete(self, table: str, key: str) -> None:
        self._run("DELETE FROM kept WHERE name = ? AND key = ?", table, key)

    def get(self, table: str, key: str, kind: type[V]) -> V | None:
        rows = self._rows("SELECT key, value FROM kept WHERE name = ? AND key = ?", table, key)
        return next((value for _, value in _read(rows, kind)), None)

    def all(self, table: str, kind: type[V]) -> dict[str, V]:
        """Return a table, in the order in which its keys were first put."""
        return dict(_read(self._rows("SELECT key, value FROM kept WHERE name = ? ORDER BY rowid", table), kind))

    def commit(self) -> None:
        self._run("COMMIT")

    def clear(self) -> None:
        self._run("DELETE FROM kept")
        self.commit()
        self._run("VACUUM")  # videos and images that were sent along are gone from the disk, too

    def close(self) -> None:
        """What comes later is not kept. May be called more than once."""
        self.commit()
        with self._lock:
            database, self._database = self._database, None
            if database is not None:
                database.close()

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
                database.execute(f"PRAGMA {pragma}")
            database.execute("BEGIN IMMEDIATE")
            found = database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, FORMAT):
                raise sqlite3.DatabaseError(f"format {found}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute(
                "CREATE TABLE IF NOT EXISTS kept (name TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
                " UNIQUE (name, key))"
            )
            database.execute("COMMIT")
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            path = self._path.with_name(self._path.name + suffix)
            if path.exists():
                path.replace(path.with_name(path.name + ".damaged"))

    def _run(self, statement: str, *values: object) -> None:
        with self._lock:
            if self._database is None:
                return
            try:
                if statement == "COMMIT":
                    if self._database.in_transaction:
                        self._database.execute(statement)
                    return
                if not self._database.in_transaction and statement != "VACUUM":
                    self._database.execute("BEGIN IMMEDIATE")
                self._database.execute(statement, values)
            except sqlite3.Error as error:
                print(f"Sandbox: nothing is saved from now on: {self._path}: {error}", file=sys.stderr)
                self._database.close()
                self._database = None

    def _rows(self, statement: str, *values: object) -> list[tuple[str, bytes]]:
        with self._lock:
            if self._database is None:
                return []
            try:
                return self._database.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                print(f"Sandbox: {self._path} cannot be read: {error}", file=sys.stderr)
                return []


def _read(rows: list[tuple[str, bytes]], kind: type[V]) -> Iterator[tuple[str, V]]:
    for key, value in rows:
        try:
            yield key, msgspec.msgpack.decode(value, type=kind)
        except msgspec.MsgspecError:
            print(f"Sandbox: {key} can no longer be read", file=sys.stderr)
