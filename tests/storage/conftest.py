"""A database of its own for each test, a clock that stands still, and a user who may not write everywhere."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.schema import migrations_in


class Clock:
    """Says the same time until it is turned."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> None:
        self.time += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def database(tmp_path: Path, clock: Clock) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "data" / "rialto.db", now=clock)
    yield opened
    await opened.close()


@pytest.fixture
def history(database: Database) -> ChatStore:
    return ChatStore(database)


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """An empty folder owned by somebody else, while this process has no rights beyond an ordinary user's.

    Root may write anywhere, so root becomes "nobody" for the length of the test.
    """
    folder = Path(tempfile.mkdtemp(prefix="rialto-locked-"))
    was_root = os.geteuid() == 0
    inside = folder / "inside"
    inside.mkdir()
    folder.chmod(0o755)
    inside.chmod(0o555)
    migrations_in()  # "nobody" may not be allowed to read where Rialto itself lies
    if was_root:
        os.seteuid(65534)
    try:
        yield inside
    finally:
        if was_root:
            os.seteuid(0)
        inside.chmod(0o755)
        shutil.rmtree(folder)
