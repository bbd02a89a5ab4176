"""Texts that were not spoken yet: rows of the list, which nothing but their own removal takes away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.kit.speech import SpeechHarness, open_speech
from tests.kit.waiting import until
from tests.ui.speech.test_clips import with_a_clip

SCRIPT = "Chapter one. It rained."
LEAVING: dict[str, Callable[[SpeechHarness, str], object]] = {
    "new clip": lambda speech, _clip: speech.page.new_clip(),
    "another clip": lambda speech, clip: speech.open_clip(clip),
    "speak again": lambda speech, clip: speech.make_again(clip),
    "a text of another tab": lambda speech, _clip: speech.page.take_text("A transcript.", "Interview"),
}


@pytest.mark.parametrize("leave", LEAVING)
async def test_a_text_that_is_left_unspoken_stays_as_a_row(speech: SpeechHarness, leave: str) -> None:
    clip = await with_a_clip(speech)
    speech.write(SCRIPT)
    LEAVING[leave](speech, clip)
    await until(lambda: not speech.presenter.is_speaking)
    draft = speech.rows[0]
    assert (draft.title, draft.second_line, draft.group) == (SCRIPT, "Draft · 23 characters", "Drafts")
    assert speech.text() != SCRIPT
    speech.open_clip(draft.id)
    assert (speech.text(), speech.title_text()) == (SCRIPT, SCRIPT)


async def test_a_text_file_leaves_a_draft(speech: SpeechHarness, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("From a file.")
    speech.write(SCRIPT)
    speech.page.read_text_file(tmp_path / "other.txt")
    await until(lambda: speech.text() == "From a file.")
    assert [row.title for row in speech.rows] == [SCRIPT]


async def test_a_key_that_was_pressed_last_is_part_of_the_draft(speech: SpeechHarness, qtbot: QtBot) -> None:
    speech.editor.setFocus()
    qtbot.keyClicks(speech.editor, "Hello")
    speech.page.new_clip()
    assert [row.title for row in speech.rows] == ["Hello"]


async def test_what_was_spoken_or_is_blank_leaves_no_draft(speech: SpeechHarness) -> None:
    clip = await with_a_clip(speech)
    speech.page.new_clip()
    speech.write("  \n")
    speech.page.new_clip()
    speech.open_clip(clip)
    speech.page.new_clip()
    assert speech.keys == [clip]


async def test_a_changed_text_of_a_clip_is_a_draft_of_its_own(speech: SpeechHarness) -> None:
    clip = await with_a_clip(speech)
    before = speech.text()
    speech.write(before + " The end.")
    speech.open_clip(clip)
    assert speech.text() == before
    assert [row.is_draft for row in speech.rows] == [True, False]
    speech.open_clip(speech.keys[0])
    assert speech.text() == before + " The end."


async def test_a_draft_that_is_spoken_becomes_a_clip(speech: SpeechHarness) -> None:
    speech.page.take_text(SCRIPT, "Interview")
    speech.page.new_clip()
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.open_clip(speech.keys[0])
    await speech.spoken()
    assert [(row.title, row.is_draft) for row in speech.rows] == [("Interview", False)]
    kept = await speech.saved_draft()
    assert [key for key in kept if key.startswith("draft:")] == []


async def test_a_draft_is_edited_renamed_and_found(speech: SpeechHarness) -> None:
    speech.write(SCRIPT)
    speech.page.new_clip()
    draft = speech.keys[0]
    speech.open_clip(draft)
    speech.write("Chapter two. It poured.")
    assert speech.rows[0].title == speech.title_text() == "Chapter two. It poured."
    speech.clip_actions.rename(draft, "The flood")
    assert speech.rows[0].title == speech.title_text() == "The flood"
    speech.filter_field.setText("poured")
    await until(lambda: speech.keys == [draft])
    speech.write("")
    speech.page.new_clip()
    assert speech.keys == [], "a draft that was emptied is none"


async def test_a_deleted_draft_is_brought_back(speech: SpeechHarness, qtbot: QtBot) -> None:
    speech.write(SCRIPT)
    speech.page.new_clip()
    draft = speech.keys[0]
    speech.list_view.setCurrentIndex(speech.list_view.rows.index_of(draft))
    qtbot.keyClick(speech.list_view, Qt.Key.Key_Delete)
    assert speech.keys == []
    assert speech.undo_stack.newest("speech")[0].text == f"Draft “{SCRIPT}” deleted"
    assert speech.undo_stack.undo_last("speech")
    speech.open_clip(draft)
    assert speech.text() == SCRIPT


async def test_drafts_outlive_the_program(tmp_path: Path, sandbox: RunningSandbox, theme: Theme) -> None:
    async with open_speech(tmp_path, sandbox, theme) as first:
        first.write(SCRIPT)
        first.page.new_clip()
        first.write("Another one.")
        first.page.new_clip()
        first.open_clip(first.keys[-1])
    async with open_speech(tmp_path, sandbox, theme) as second:
        assert [row.title for row in second.rows] == ["Another one.", SCRIPT]
        assert second.text() == SCRIPT
        second.write("Chapter one. It snowed.")
        assert [row.title for row in second.rows] == ["Chapter one. It snowed.", "Another one."]
