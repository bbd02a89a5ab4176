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


def test_equal_values_of_rows_that_stand_together_are_kept_once() -> None:
    table = next(each for each in TABLES if each.name == "images")
    values = dict.fromkeys(table.names, None) | {"options": '{"steps":20}', "created_at": 1, "changed_at": 1}

    def read() -> Any:  # each column is a text of its own, as from SQLite
        return table.read(tuple((values | {"call_id": "".join("c" * 32), "batch_id": "".join("c" * 32)}).values()))

    one, other = read(), read()
    assert one.options == {"steps": 20}
    assert one.options is other.options
    assert one.call_id is one.batch_id
    assert one.created_at is one.changed_at
