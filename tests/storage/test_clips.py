"""Takes and voices on disk: planned before anything is sent, whole after a kill."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from app.storage.clips import Clip, ClipFiles, ClipStore, title_of
from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.voices import Voices


async def planned(clips: ClipStore, text: str = "One. Two.") -> Clip:
    return await clips.add(
        text=text,
        title=title_of(text),
        account_id="a",
        model="tts-kokoro",
        voice="af_sky",
        voice_name="Sky",
        format="mp3",
        options={"speed": 1.25},
        spans=((0, 4), (5, 9)),
    )


async def test_a_take_is_on_disk_with_its_parts_before_anything_is_sent(database: Database) -> None:
    clip = await planned(ClipStore(database))
    assert [(part.number, part.start, part.finish, part.state) for part in clip.parts] == [
        (1, 0, 4, "planned"),
        (2, 5, 9, "planned"),
    ]
    assert (clip.title, clip.options["speed"], clip.state) == ("One. Two.", 1.25, "planned")


async def test_the_clips_of_years_are_all_listed(database: Database) -> None:
    await planned(ClipStore(database))
    await database.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO clips (id, text, model, voice, created_at, changed_at) "
        "SELECT 'c' || i, 'One.', 'm', 'v', i, i FROM n"
    )
    assert len(await ClipStore(database).recent()) == 5001


async def test_a_take_is_complete_when_its_parts_are(database: Database) -> None:
    clips = ClipStore(database)
    clip = await planned(clips)
    first, second = clip.parts
    done = replace(first, state="complete", file="part-01.mp3", size_bytes=10, duration_s=1.5, cost_usd=Decimal("0.01"))
    await clips.save_part(done)
    assert (await clips.one(clip.id)).state == "sending"
    await clips.save_part(replace(second, state="failed", note="No answer."))
    assert (await clips.one(clip.id)).state == "failed"
    await clips.save_part(replace(second, state="complete", size_bytes=5, duration_s=0.5, cost_usd=Decimal("0.005")))
    found = await clips.one(clip.id)
    assert (found.state, found.duration_s, found.size_bytes, found.cost_usd) == ("complete", 2.0, 15, Decimal("0.015"))


async def test_parts_that_were_on_their_way_when_rialto_was_killed_are_cut(database: Database) -> None:
    clips = ClipStore(database)
    clip = await planned(clips)
    await clips.save_part(replace(clip.parts[0], state="sending", file="part-01.mp3"))
    assert await clips.mark_broken_off() == (clip.id,)
    found = await clips.one(clip.id)
    assert (found.state, found.parts[0].state, found.parts[1].state) == ("cut", "cut", "planned")
    assert await clips.mark_broken_off() == ()


async def test_a_trashed_take_comes_back_whole_and_a_removed_one_does_not(database: Database, tmp_path: Path) -> None:
    clips, files = ClipStore(database), ClipFiles(tmp_path)
    clip = await planned(clips)
    (files.make(clip.id) / "part-01.mp3").write_bytes(b"sound")
    await clips.trash(clip.id)
    assert await clips.recent() == ()
    assert [one.id for one in await clips.recent(trashed=True)] == [clip.id]
    await clips.trash(clip.id, False)
    assert [one.id for one in await clips.recent()] == [clip.id]
    await clips.remove(clip.id)
    files.remove(clip.id)
    assert not files.of(clip.id).exists()
    with pytest.raises(NotStored):
        await clips.one(clip.id)


async def test_a_take_can_be_renamed_and_starred(database: Database) -> None:
    clips = ClipStore(database)
    clip = await planned(clips)
    changed = await clips.change(clip.id, title="Intro", starred=True)
    assert (changed.title, changed.starred) == ("Intro", True)


def test_a_title_is_the_first_line_cut_at_a_word() -> None:
    assert title_of("  Hello there\nworld") == "Hello there"
    assert title_of("word " * 30) == "word word word word word word word word…"


async def test_a_cloned_voice_keeps_its_sample_when_its_handle_expires(database: Database) -> None:
    voices = Voices(database)
    voice = await voices.add(account_id="a", model="tts-chatterbox-hd", name="Mine", sample="x.wav", sample_s=7.0)
    assert voice.has_expired(database.now())
    voice = await voices.took(voice.id, "other", "vv_1", database.now() + timedelta(days=7))
    assert not voice.has_expired(database.now())
    assert voice.has_expired(database.now() + timedelta(days=8))
    assert [one.sample for one in await voices.cloned()] == ["x.wav"]
    await voices.trash(voice.id)
    assert await voices.cloned() == ()


async def test_marks_are_kept_by_model_and_voice(database: Database) -> None:
    """The same name is another voice in another model."""
    voices = Voices(database)
    await voices.set_favorite("tts-orpheus", "leo", True)
    await voices.used("tts-xai-v1", "leo")
    await voices.sampled("tts-xai-v1", "leo", "leo.mp3")
    marks = await voices.marks()
    assert marks["tts-orpheus", "leo"].favourite and not marks["tts-xai-v1", "leo"].favourite
    assert marks["tts-xai-v1", "leo"].sample == "leo.mp3" and marks["tts-xai-v1", "leo"].used_at is not None
