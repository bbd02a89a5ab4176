"""Transcripts on disk: rows, texts, parts that were paid for, searches, and what a kill leaves."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.transcripts import PartRow, Transcripts

DOCUMENT = {"segments": [{"start": 0.0, "end": 1.5, "words": [["Ελπίδα", 0.1, 0.6], ["here", 0.7, 1.4]]}]}


@pytest.fixture
async def transcripts(tmp_path: Path):
    database = await Database.open(tmp_path / "rialto.db")
    yield Transcripts(database)
    await database.close()


async def test_a_file_becomes_a_row_and_its_fields_come_back_as_they_were(transcripts: Transcripts) -> None:
    row = await transcripts.add(
        title="Interview",
        origin="file",
        sound_path="/sounds/a.flac",
        state="recorded",
        size_bytes=12,
        duration_s=7.5,
        options={"timestamps": True},
        marks=[{"at": 1.5, "text": "Lock"}],
    )
    row = await transcripts.change(row.id, cost_usd=Decimal("0.00075"), state="queued", batch=3)
    assert row.cost_usd == Decimal("0.00075")
    assert (row.state, row.batch, row.options["timestamps"], row.marks[0]["text"]) == ("queued", 3, True, "Lock")
    assert (await transcripts.list())[0] == row
    with pytest.raises(TypeError):
        await transcripts.change(row.id, document="x")
    with pytest.raises(NotStored):
        await transcripts.change("nobody", title="x")


async def test_a_text_is_kept_with_its_answer_and_found_by_any_word_in_any_case(transcripts: Transcripts) -> None:
    row = await transcripts.add(title="Notes", origin="file", sound_path="a", state="sending")
    row = await transcripts.save_text(
        row.id, DOCUMENT, "Ελπίδα here, 100% of it", received={"text": "x"}, state="done", cost_usd=Decimal("0.1")
    )
    assert (row.state, row.word_count, row.preview) == ("done", 5, "Ελπίδα here, 100% of it")
    text = await transcripts.text(row.id)
    assert text.document == DOCUMENT
    assert text.received == {"text": "x"}
    assert row.id in await transcripts.search("ελπίδα HERE")
    assert row.id in await transcripts.search("100%")
    assert await transcripts.search("100_") == {}
    assert await transcripts.search("  ") == {}
    await transcripts.change(row.id, title="Lock keeper")
    assert row.id in await transcripts.search("keeper here")
    await transcripts.save_text(row.id, {}, "edited")
    assert (await transcripts.text(row.id)).received == {"text": "x"}
    assert row.id in await transcripts.search("keeper edited")
    assert await transcripts.search("here") == {}


async def test_what_is_in_the_trash_is_neither_listed_nor_found_until_it_is_restored(transcripts: Transcripts) -> None:
    row = await transcripts.add(title="Secret", origin="file", sound_path="a", state="recorded")
    await transcripts.trash(row.id)
    assert await transcripts.list() == ()
    assert await transcripts.search("secret") == {}
    await transcripts.restore(row.id)
    assert len(await transcripts.list()) == 1
    await transcripts.trash(row.id)
    later = (await transcripts.one(row.id)).trashed_at
    assert later is not None
    assert len(await transcripts.trashed(before=later + timedelta(days=1))) == 1
    await transcripts.purge(row.id)
    with pytest.raises(NotStored):
        await transcripts.one(row.id)


async def test_parts_keep_the_answers_they_got(transcripts: Transcripts) -> None:
    row = await transcripts.add(title="Long", origin="file", sound_path="a", state="sending")
    await transcripts.set_parts(row.id, [PartRow(1, "1.flac", 0, 10.5), PartRow(2, "2.flac", 10.5, 20)])
    await transcripts.part_received(row.id, 1, {"text": "one"}, Decimal("0.001"))
    first, second = await transcripts.parts(row.id)
    assert (first.received, first.cost_usd, first.end_s) == ({"text": "one"}, Decimal("0.001"), 10.5)
    assert second.received == {}


async def test_after_a_kill_recordings_are_named_and_uploads_are_unknown(transcripts: Transcripts) -> None:
    recording = await transcripts.add(title="a", origin="recording", sound_path="a.wav", state="recording")
    sending = await transcripts.add(title="b", origin="file", sound_path="b", state="sending")
    queued = await transcripts.add(title="c", origin="file", sound_path="c", state="queued")
    left = [(row.id, row.state) for row in await transcripts.settle_after_start()]
    assert sorted(left) == sorted([(recording.id, "recording"), (sending.id, "sending")])
    assert (await transcripts.one(sending.id)).state == "unknown"
    assert (await transcripts.one(queued.id)).state == "queued"
