"""What is being written in a tab is kept, tab by tab, and came along when the tables became one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.storage.database import Database
from app.storage.form_drafts import FormDraftStore
from app.storage.schema import migrations_in, statements

DESK = next(migration for migration in migrations_in() if migration.name == "desk")


async def test_each_tab_keeps_its_own(database: Database) -> None:
    speech, images = FormDraftStore(database, "speech"), FormDraftStore(database, "images")
    await speech.save({"text": "Half a sen", "speed": 1.5})
    await speech.save({"text": "Half a sentence"})
    await images.save({"form": {"prompt": "A harbour"}})
    assert await speech.read() == {"text": "Half a sentence", "speed": 1.5}
    assert await images.read() == {"form": {"prompt": "A harbour"}}
    assert await FormDraftStore(database, "video").read() == {}


async def test_what_cannot_be_read_costs_itself_alone(database: Database) -> None:
    harness = FormDraftStore(database, "speech")
    await harness.save({"text": "whole", "knobs": {"speed": 1}})
    await database.execute("UPDATE desk SET value = '{' WHERE key = 'knobs'")
    assert await harness.read() == {"text": "whole"}


@pytest.mark.parametrize("broken", [False, True])
def test_what_earlier_versions_kept_comes_along(tmp_path: Path, broken: bool) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old:
        for migration in migrations_in()[: DESK.number - 1]:
            for statement in statements(migration.sql):
                old.execute(statement)
        old.execute("INSERT INTO speech_desk VALUES ('text', '\"spoken\"')")
        old.execute("INSERT INTO image_desk VALUES ('form', '{\"prompt\": \"drawn\"}')")
        old.execute("INSERT INTO video_desk VALUES ('form', ?)", ["{" if broken else '{"value": {"prompt": "filmed"}}'])
        for statement in statements(DESK.sql):
            old.execute(statement)
        kept = old.execute("SELECT tab, key, value FROM desk ORDER BY tab").fetchall()
    video = [] if broken else [("video", "form", '{"prompt":"filmed"}')]
    assert kept == [("images", "form", '{"prompt": "drawn"}'), ("speech", "text", '"spoken"'), *video]
