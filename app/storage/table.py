"""Rows of the database as frozen dataclasses: the type of a field says how its column is read and written.

An odd value in a column costs itself, never the row around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from app.storage.errors import NotStored
from app.storage.values import (
    json_text,
    micros_of,
    moment_of,
    moment_or_none,
    money_of,
    money_text,
    object_of,
    objects_of,
    seconds_of,
    text_of,
)
from app.translation import tr

if TYPE_CHECKING:
    from app.storage.database import Database, Row, Transaction, Values

R = TypeVar("R")
ROWS_PER_FRAME = 200
SHARED_CHARS = 24  # what is shorter than an id is often the same in thousands of rows, and is kept once
LIKE_CHARS = 200  # a longer text is seldom like that of another row
LIKE_VALUES = 64  # so many values that were read last are looked through


@lru_cache(LIKE_VALUES)
def _like(value: object) -> object:
    """Return the first of equal values: columns of one row, or of rows that stand together, often hold the same."""
    return value


@lru_cache(LIKE_VALUES)
def _like_object(text: str) -> Mapping[str, Any]:
    return object_of(text)


def _shared_text(value: object) -> str:
    if not value or not isinstance(value, str):
        return ""
    size = len(value)
    if size <= SHARED_CHARS:
        return intern(value)
    return _like(value) if size <= LIKE_CHARS else value  # type: ignore[return-value]  # the like of a text is one


def _shared_object(text: object) -> Mapping[str, Any]:
    return _like_object(text) if isinstance(text, str) and len(text) <= LIKE_CHARS else object_of(text)


_shared_moment = lru_cache(LIKE_VALUES, typed=True)(moment_of)


_READERS: Mapping[object, Callable[[Any], object]] = {
    str: _shared_text,
    str | None: lambda value: _shared_text(value) or None,
    int: lambda value: value if isinstance(value, int) else 0,
    int | None: lambda value: value if isinstance(value, int) else None,
    bool: bool,
    bool | None: lambda value: None if value is None else bool(value),
    float: lambda value: seconds_of(value) or 0.0,
    float | None: seconds_of,
    Decimal: lambda value: money_of(value) or Decimal(0),
    Decimal | None: money_of,
    datetime: _shared_moment,
    datetime | None: moment_or_none,
    Mapping[str, Any]: _shared_object,  # nobody changes it
    dict[str, Any]: object_of,
    tuple[Mapping[str, Any], ...]: objects_of,
    tuple[dict[str, Any], ...]: objects_of,
}


def _stored(value: object) -> object:
    """Return what stands in the column for a value of a field."""
    match value:
        case str():
            return text_of(value)
        case bool():
            return int(value)
        case datetime():
            return micros_of(value)
        case Decimal():
            return money_text(value)
        case Mapping() | list() | tuple():
            return json_text(value)
    return value


class Table(Generic[R]):
    """The table `name`, whose rows are `record`s. It raises `StorageError`, and `NotStored` for an id it does not have.

    `otherwise` is what stands for a value that is none of a `Literal`'s. The fields in `beside` are no columns; they
    are the last ones.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        gone: str = tr("This no longer exists."),
        *,
        otherwise: Mapping[str, str] | None = None,
        beside: tuple[str, ...] = (),
    ) -> None:
        hints = get_type_hints(record)
        self.name = name
        self.names = tuple(each.name for each in fields(record) if each.name not in beside)  # type: ignore[arg-type]
        self.columns = ", ".join(self.names)
        self._record = record
        self._gone = gone
        self._readers = [_reader(hints[each], (otherwise or {}).get(each, "")) for each in self.names]

    def read(self, row: Row, **beside: object) -> R:
        return self._record(*[read(value) for read, value in zip(self._readers, row, strict=True)], **beside)

    def values(self, record: R) -> dict[str, Any]:
        """Return a record's fields by their columns, for `insert` and `change`."""
        return {name: getattr(record, name) for name in self.names}

    async def select(self, work: Database | Transaction, rest: str = "", values: Values = ()) -> tuple[R, ...]:
        """Return the rows that `rest` names: what stands behind FROM."""
        rows = await work.fetch(f"SELECT {self.columns} FROM {self.name} {rest}", values)
        return await read_rows(rows, self.read)

    async def select_many(self, database: Database, rest: str, values: Values = ()) -> tuple[R, ...]:
        """The same where it may be thousands."""
        return tuple(await database.fetch_many(f"SELECT {self.columns} FROM {self.name} {rest}", values, self.read))

    async def one(self, work: Database | Transaction, row_id: str) -> R:
        found = await self.select(work, "WHERE id = ?", [row_id])
        if not found:
            raise NotStored(self._gone)
        return found[0]

    async def insert(self, work: Database | Transaction, rest: str = "", **values: object) -> None:
        places = ", ".join("?" * len(values))
        sql = f"INSERT INTO {self.name} ({', '.join(values)}) VALUES ({places}) {rest}"
        await work.execute(sql, [_stored(value) for value in values.values()])

    async def change(self, work: Database | Transaction, row_id: str, **values: object) -> None:
        if not await self.update(work, "id = ?", [row_id], **values):
            raise NotStored(self._gone)

    async def update(self, work: Database | Transaction, where: str, which: Values, **values: object) -> int:
        """Set columns of the rows that `where` finds; return how many those are."""
        sql = f"UPDATE {self.name} SET {', '.join(f'{name} = ?' for name in values)} WHERE {where}"
        return await work.execute(sql, [*map(_stored, values.values()), *which])


async def read_rows(rows: Sequence[Row], reader: Callable[[Row], R]) -> tuple[R, ...]:
    """Read many rows without holding the caller's thread: a few thousand take longer than a frame."""
    if len(rows) <= ROWS_PER_FRAME:
        return tuple(map(reader, rows))
    return await asyncio.to_thread(lambda: tuple(map(reader, rows)))


def _reader(kind: object, otherwise: str) -> Callable[[Any], object]:
    if get_origin(kind) is Literal:
        known = {each: each for each in get_args(kind)}  # the very same text for every row
        return lambda value: known.get(value, otherwise)
    return _READERS[kind]
