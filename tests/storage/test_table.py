"""Every table whose rows are read by the types of a record: its columns are there, and no odd value costs a row."""

import importlib
import pkgutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app.storage
from app.storage.database import Database
from app.storage.table import Table

TABLES: list[Table[Any]] = [
    value
    for found in pkgutil.iter_modules(app.storage.__path__)
    for value in vars(importlib.import_module(f"app.storage.{found.name}")).values()
    if isinstance(value, Table)
]
odd = st.none() | st.integers() | st.floats() | st.text() | st.binary(max_size=8)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
async def test_every_field_of_a_record_is_a_column(table: Table[Any], database: Database) -> None:
    assert await table.select(database) == ()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@given(data=st.data())
def test_a_row_of_odd_values_is_still_a_record(table: Table[Any], data: st.DataObject) -> None:
    record = table.read(data.draw(st.tuples(*[odd] * len(table.names))))
    for text in ("id", "model", "account_id", "state"):
        assert isinstance(getattr(record, text, ""), str)
