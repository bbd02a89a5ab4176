"""One person's database: SQLite in WAL mode through aiosqlite. A connection writes, one reads; a long list has its own.

Transactions on the writer follow one another (an asyncio lock); reads never wait for them. Statements run in the
connections' own threads, so the window's thread only waits.

How hard a commit is pressed to the disk: WAL with `synchronous=NORMAL` survives a killed program but may lose the
last commits in a power cut. What a person typed or paid for is committed with `synchronous=FULL` instead
(`durable=True`, the default). The four saves a second of an answer that still streams are not: its end is.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import aiosqlite

from app.storage.backups import Backup, Clock, Progress, backups_in, make_backup, read_only, rotate, utc_now
from app.storage.schema import BUSY_TIMEOUT_S, in_words, migrations_in, prepare
from app.storage.search_index import CREATE_TERMS, KEY, NONE, TRIGRAM

Row = tuple[Any, ...]
Values = Sequence[Any]
R = TypeVar("R")
DAILY = timedelta(hours=20)  # somebody who starts at nine every day gets one every day


def _rows(fetched: Iterable[sqlite3.Row]) -> list[Row]:
    """Without a row factory the rows are plain tuples, whatever aiosqlite's annotations say."""
    return list(cast(Iterable[Row], fetched))


class Transaction:
    """What may be done between BEGIN and COMMIT."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement and return how many rows it changed."""
        cursor = await self._connection.execute(sql, values)
        changed = cursor.rowcount
        await cursor.close()
        return changed

    async def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        cursor = await self._connection.executemany(sql, rows)
        await cursor.close()

    async def fetch(self, sql: str, values: Values = ()) -> list[Row]:
        return _rows(await self._connection.execute_fetchall(sql, values))


class Database:
    """Open with `await Database.open(path)`, close with `await database.close()`; after that it cannot be used."""

    def __init__(
        self,
        path: Path,
        backups: Path,
        writer: aiosqlite.Connection,
        reader: aiosqlite.Connection,
        search_kind: str,
        now: Clock,
    ) -> None:
        self.path = path
        self.backups = backups
        self.search_kind = search_kind  # "trigram", "unicode61" or "none"
        self.now = now
        self._writer = writer
        self._reader = reader
        self._writing = asyncio.Lock()
        self._durable: bool | None = None
        self._memory: Database | None = None

    @classmethod
    async def open(cls, path: Path, *, backups: Path | None = None, now: Clock = utc_now) -> Database:
        """Check, migrate and open. Raises what `schema.prepare` raises, with the file as it was."""
        backups = backups or path.parent / "backups"
        await asyncio.to_thread(prepare, path, backups, None, now)
        opened: list[aiosqlite.Connection] = []
        try:
            with in_words(path, backups):
                for _ in range(2):
                    connection = aiosqlite.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
                    opened.append(await connection)
                    await connection.execute("PRAGMA foreign_keys=ON")
                writer, reader = opened
                rows = await reader.execute_fetchall("SELECT value FROM meta WHERE key = ?", (KEY,))
                if (TRIGRAM,) in _rows(rows):
                    await reader.execute(CREATE_TERMS)
                await reader.execute("PRAGMA query_only=ON")
        except BaseException:
            for connection in opened:
                await connection.close()
            raise
        kind = next(iter(rows), (NONE,))[0]
        return cls(path, backups, writer, reader, kind, now)

    async def in_memory(self) -> Database:
        """Return a database with the same tables that has no file, not even a temporary one; it closes with this one.

        It has one connection, so a read sees what a transaction has not committed yet, and no index to search by.
        """
        if self._memory is None:
            steps = await asyncio.to_thread(migrations_in)
            connection = await aiosqlite.connect(":memory:", isolation_level=None)
            await connection.execute("PRAGMA temp_store=MEMORY")
            await connection.execute("PRAGMA secure_delete=ON")
            await connection.execute("PRAGMA foreign_keys=ON")
            await connection.executescript("\n".join(step.sql for step in steps))
            self._memory = Database(self.path, self.backups, connection, connection, NONE, self.now)
        return self._memory

    async def fetch(self, sql: str, values: Values = ()) -> list[Row]:
        """Run a SELECT on the reading connection. It sees everything committed before the call."""
        with in_words(self.path, self.backups):
            return _rows(await self._reader.execute_fetchall(sql, values))

    async def fetch_many(self, sql: str, values: Values, read: Callable[[Row], R]) -> list[R]:
        """The same for thousands of rows: a thread reads each, so that they never stand in memory twice.

        On a connection of its own: while a cursor is open, whatever else its connection reads is as old as that.
        """
        if self._reader is self._writer:  # in memory, where there is no other
            return [read(row) for row in await self.fetch(sql, values)]

        def work() -> list[R]:
            with contextlib.closing(read_only(self.path)) as connection:
                connection.row_factory = lambda _cursor, row: read(row)
                return connection.execute(sql, values).fetchall()

        with in_words(self.path, self.backups):
            return await asyncio.to_thread(work)

    async def fetch_one(self, sql: str, values: Values = ()) -> Row | None:
        rows = await self.fetch(sql, values)
        return rows[0] if rows else None

    async def execute(self, sql: str, values: Values = (), *, durable: bool = True) -> int:
        """Run one writing statement, which is its own transaction. Return how many rows it changed."""
        with in_words(self.path, self.backups):
            async with self._writing:
                await self._press(durable)
                return await Transaction(self._writer).execute(sql, values)

    @contextlib.asynccontextmanager
    async def transaction(self, *, durable: bool = True) -> AsyncIterator[Transaction]:
        """Everything inside is kept, or nothing when the block is left by an exception or a cancellation."""
        with in_words(self.path, self.backups):
            async with self._writing:
                await self._press(durable)
                try:
                    await self._writer.execute("BEGIN IMMEDIATE")
                    yield Transaction(self._writer)
                    await self._writer.execute("COMMIT")
                except BaseException:
                    # Queued behind whatever the thread is still doing, so it is the last word even when we are
                    # cancelled again here; without an open transaction it does nothing.
                    await self._writer.rollback()
                    raise

    async def _press(self, durable: bool) -> None:
        if durable != self._durable:
            self._durable = durable
            await self._writer.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")

    async def back_up_daily(self, progress: Progress = lambda _share: None) -> Backup | None:
        """Make a checked copy unless one is younger than a day; return it, or None when none was due.

        `progress` is called by the event loop.
        The check reads the whole copy, so this is also what finds a damaged database. Raises like `make_backup`.
        """
        newest = next((backup for backup in backups_in(self.backups) if backup.kind == "daily"), None)
        if newest is not None and abs(self.now() - newest.at) < DAILY:
            return None

        loop = asyncio.get_running_loop()

        def tell(share: float | None) -> None:
            with contextlib.suppress(RuntimeError):  # the program ended meanwhile
                loop.call_soon_threadsafe(progress, share)

        def work() -> Backup:
            backup = make_backup(self.path, self.backups, "daily", self.now, tell)
            rotate(self.backups, "daily")
            return backup

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """End both connections; the log is merged into the file. Safe to call twice."""
        if self._memory is not None:
            await self._memory.close()
        with contextlib.suppress(ValueError, sqlite3.Error):  # closed already, or nothing left to improve
            await self._writer.execute("PRAGMA optimize")
        await self._reader.close()
        await self._writer.close()
