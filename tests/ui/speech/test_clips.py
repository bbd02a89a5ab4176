"""Takes: opened, starred, renamed, thrown away and brought back, spoken again, compared, saved as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.audio.decoding import duration_s
from app.credentials.accounts import Account
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.speech.audition_dialog import AuditionDialog
from app.ui.speech.session.clip_library import name_of
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until

TEXT = "The tide turns. The ferry leaves."


def open_dialog(kind: type[Dialog]) -> Dialog | None:
    return next((one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()), None)


async def with_a_clip(speech: SpeechHarness, text: str = TEXT) -> str:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.write(text)
    await speech.spoken()
    return speech.keys[0]


async def test_a_take_is_opened_with_its_text_voice_and_sound(speech: SpeechHarness) -> None:
    clip_id = await with_a_clip(speech)
    speech.page.new_clip()
    assert speech.text() == "" and not speech.player_bar.play.isEnabled()
    speech.presenter.use_voice("tts-orpheus", "leo")
    speech.open_clip(clip_id)
    await until(lambda: speech.waveform_s > 1)
    assert speech.text() == TEXT
    assert (speech.voice, speech.title_text()) == ("bf_emma", TEXT)


async def test_a_take_is_opened_with_the_knobs_it_was_spoken_with(speech: SpeechHarness) -> None:
    """All that its model honors comes back; what it ignores stays as the person has it now."""
    presenter, delivery = speech.presenter, speech.delivery

    def set_speech_options(**values: object) -> None:
        for name, value in values.items():
            presenter.set_speech_option(name, value)

    presenter.use_voice("tts-kokoro", "bf_emma")
    set_speech_options(speed=1.5, format="wav")
    speech.write("First.")
    await speech.spoken()
    presenter.use_model("tts-qwen3-0-6b")
    styled = {"style": "Warm and slow.", "temperature": 1.25, "top_p": 0.5, "language": "de", "stream": False}
    set_speech_options(**styled)
    speech.write("Second.")
    await speech.spoken()
    second, first = speech.keys
    set_speech_options(style="Loud.", temperature=None, top_p=0.9, language="", stream=True, speed=2.0, format="")
    speech.page.new_clip()
    speech.open_clip(second)
    assert {name: getattr(presenter.speech_options, name) for name in styled} == styled
    assert presenter.speech_options.speed == 2.0, "this model has no speed"
    assert delivery.style_box.toPlainText() == "Warm and slow."
    assert (delivery.temperature.value, delivery.top_p.value) == (1.25, 0.5)
    assert delivery.language.currentData() == "de" and not delivery.stream.isChecked()
    speech.open_clip(first)
    assert (delivery.speed.value, delivery.format.currentData()) == (1.5, "wav")
    assert presenter.speech_options.style == "Warm and slow.", "this model has no style"
    kept = await speech.saved_draft()
    assert kept["knobs"]["style"] == "Loud.", "clips were only looked at"


async def test_stars_and_names_are_kept(speech: SpeechHarness, qtbot: QtBot) -> None:
    clip_id = await with_a_clip(speech)
    speech.clip_actions.star(clip_id)
    await until(lambda: speech.rows[0].starred)
    speech.page.rename()
    field = speech.title_field
    field.setText("Intro")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: speech.rows[0].title == "Intro")
    assert speech.title_text() == "Intro"


async def test_a_take_in_the_trash_comes_back_with_undo(speech: SpeechHarness, qtbot: QtBot) -> None:
    await with_a_clip(speech)
    view = speech.list_view
    view.setCurrentIndex(view.rows.index_of(speech.keys[0]))
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    await until(lambda: not speech.keys)
    await until(lambda: speech.undo_stack.can_undo("speech"))
    assert speech.undo_stack.undo_last("speech")
    await until(lambda: len(speech.keys) == 1)
    assert not speech.undo_stack.undo_last("speech")


async def test_takes_deleted_for_good_leave_no_sound_behind(speech: SpeechHarness) -> None:
    gone, kept = await with_a_clip(speech), await with_a_clip(speech, "The bell.")
    clip_library = speech.presenter.clip_library
    assert clip_library is not None and clip_library.files.of(gone).exists()
    speech.clip_actions.move_to_trash((gone, kept))
    await until(lambda: len(speech.presenter.trash.entries) == 2)
    assert speech.undo_stack.newest()[0].text == "2 clips moved to trash"
    speech.presenter.trash.delete((gone,))
    await until(lambda: len(speech.presenter.trash.entries) == 1)
    assert not clip_library.files.of(gone).exists()
    assert speech.undo_stack.undo_last("speech"), "the other one still comes back"
    await until(lambda: speech.keys == [kept])
    assert clip_library.files.of(kept).exists()


async def test_a_take_is_spoken_again_with_another_voice_beside_the_first(speech: SpeechHarness) -> None:
    clip_id = await with_a_clip(speech)
    speech.presenter.use_voice("tts-orpheus", "leo")
    speech.make_again(clip_id)
    await until(lambda: len(speech.keys) == 2 and not speech.presenter.is_speaking)
    assert [row.second_line for row in speech.rows] == ["Leo · Orpheus", "Emma · Kokoro"]


async def test_one_line_is_heard_in_several_voices_and_one_of_them_is_taken(speech: SpeechHarness) -> None:
    voices = (("tts-kokoro", "af_sky"), ("tts-kokoro", "bm_george"), ("tts-orpheus", "tara"))
    assert str(speech.clip_actions.audition_price("Hello there.", voices)) == "0.000834"
    assert speech.clip_actions.audition("Hello there.", voices)
    await until(lambda: not speech.tasks.running("speech audition"))
    cards = speech.comparison.cards
    assert [card.name.text() for card in cards] == ["Sky", "George", "Tara"]
    assert all(card.play.isEnabled() and "$0.00" in card.facts.text() for card in cards)
    cards[2].use.click()
    await until(lambda: speech.voice == "tara")
    speech.page.handle_escape()
    assert speech.main_page() == 0
    (row,) = speech.rows
    assert (row.title, row.second_line) == ("Hello there.", "3 voices: Sky, George, Tara")
    assert row.cost == "about $0.00083", "the sum of the three"
    await until(lambda: speech.rows[0].starred)


async def test_a_comparison_is_one_row_with_a_way_back_and_a_menu_for_each_of_its_clips(speech: SpeechHarness) -> None:
    kept = await with_a_clip(speech)
    voices = (("tts-kokoro", "af_sky"), ("tts-kokoro", "bm_george"), ("tts-orpheus", "tara"))
    assert speech.clip_actions.audition("Hello there.", voices)
    await until(lambda: not speech.tasks.running("speech audition"))
    row = speech.rows[0]
    clips = tuple(clip.id for clip in row.clips)
    assert speech.usage_text().startswith("4 clips, ")
    assert [one.id for one in speech.rows] == [row.id, kept] and len(clips) == 3
    speech.open_clip(kept)
    assert speech.main_page() == 0 and speech.list_view.current_key == kept
    speech.page.step(-1)
    assert [card.clip_id for card in speech.comparison.cards] == list(clips)
    assert speech.list_view.current_key == row.id
    assert [action.text() for action in speech.page.list.menu_of(row.id).actions() if action.text()] == [
        "Open",
        "Rename…",
        "Move 3 clips to trash",
    ]
    speech.clip_actions.rename(clips[0], "Hello")
    await until(lambda: speech.rows[0].title == "Hello")
    menu = speech.page.list.menu_of(clips[1])
    assert "Save as…" in [action.text() for action in menu.actions()]
    next(action for action in menu.actions() if action.text() == "Move to trash").trigger()
    await until(lambda: len(speech.comparison.cards) == 2)
    assert speech.rows[0].second_line == "2 voices: Sky, Tara"
    speech.list_view.trash_requested.emit((row.id,))
    await until(lambda: speech.keys == [kept])
    assert speech.undo_stack.undo_last("speech")
    await until(lambda: len(speech.rows) == 2)
    assert tuple(clip.id for clip in speech.rows[0].clips) == (clips[0], clips[2])


async def test_an_audition_is_put_together_from_all_voices_by_keyboard(speech: SpeechHarness, qtbot: QtBot) -> None:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.write("Hello there. And a second sentence.")
    speech.picker.compare.click()
    await until(lambda: open_dialog(AuditionDialog))
    asked = open_dialog(AuditionDialog)
    assert asked.line == "Hello there." and asked.voices == (("tts-kokoro", "bf_emma"),)
    for name in ("vivian", "wise woman", "tara", "leo", "george"):
        asked.search.selectAll()
        qtbot.keyClicks(asked.search, name)
        await until(lambda name=name: any(name in box.text().lower() for box in asked.boxes[:12]))
        box = next(box for box in asked.boxes if name in box.text().lower() and not box.isChecked())
        box.setFocus()
        qtbot.keyClick(box, Qt.Key.Key_Space)
    assert len(asked.voices) == 6 and asked.go.isEnabled()
    assert asked.cost.text().endswith("for 6 voices together.")
    asked.search.clear()
    await until(lambda: asked.boxes[6].isVisible())
    assert not asked.boxes[6].isEnabled(), "no seventh can be chosen"
    assert asked.boxes[6].toolTip() == "Up to 6 voices"
    asked.boxes[5].click()
    assert asked.boxes[6].isEnabled()
    asked.boxes[5].click()
    assert asked.go.isEnabled()
    qtbot.keyClick(asked.go, Qt.Key.Key_Space)
    await until(lambda: not speech.tasks.running("speech audition") and len(speech.rows) == 1)
    assert len({clip.second_line for clip in speech.rows[0].clips}) == 6


async def test_takes_are_compared_side_by_side_with_how_each_was_asked_for(speech: SpeechHarness, qtbot: QtBot) -> None:
    await with_a_clip(speech)
    speech.presenter.set_speech_option("speed", 1.25)
    await with_a_clip(speech)
    speech.presenter.set_speech_option("speed", 1.0)
    await with_a_clip(speech, "Another line.")
    view = speech.list_view
    view.setCurrentIndex(view.rows.index_of(speech.keys[0]))
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    speech.page.compare_selected()
    shown = speech.comparison
    assert shown.title.text() == "Clips side by side" and len(shown.cards) == 3
    assert [card.what.text() for card in shown.cards] == ["Another line.", TEXT, TEXT]
    assert [card.delivery.text() for card in shown.cards] == ["MP3", "MP3 · speed 1.25", "MP3"]
    speech.page.handle_escape()
    view.clearSelection()
    speech.page.open_clip(speech.keys[1])
    view.clearSelection()
    speech.page.compare_selected()
    assert shown.title.text() == "Compare voices" and shown.line.text() == TEXT
    assert len(shown.cards) == 2


@pytest.mark.parametrize("kind", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
async def test_a_clip_is_saved_in_any_format_with_its_tags(speech: SpeechHarness, tmp_path: Path, kind: str) -> None:
    clip_id = await with_a_clip(speech)
    speech.presenter.pattern = "{voice} {title} {id}"
    name = speech.clip_actions.proposed_name(clip_id, kind)
    assert name == f"Emma {TEXT.removesuffix('.')} {clip_id[:8]}.{kind}"
    target = tmp_path / name
    speech.clip_actions.export(clip_id, target)
    await until(lambda: speech.toasts and speech.toasts[-1][0] == f"Saved as {name}")
    clip = speech.clips[0]
    assert duration_s(target, kind=kind) == pytest.approx(clip.duration_s, abs=0.1)
    if kind == "aac":
        assert b"TIT2" in target.read_bytes()[:200]
    elif kind != "pcm":
        with soundfile.SoundFile(target) as file:
            tags = file.copy_metadata()
        assert tags["title"] == TEXT and tags["artist"].startswith("Emma")


async def test_a_clip_is_saved_under_a_name_as_long_as_the_disk_takes(speech: SpeechHarness, tmp_path: Path) -> None:
    clip_id = await with_a_clip(speech)
    target = tmp_path / ("x" * 251 + ".wav")
    speech.clip_actions.export(clip_id, target)
    await until(lambda: speech.toasts)
    assert speech.toasts[-1][0] == f"Saved as {target.name}" and target.is_file()


async def test_a_name_holds_nothing_that_a_disk_refuses(speech: SpeechHarness) -> None:
    clip_id = await with_a_clip(speech)
    clip = speech.clip(clip_id)
    assert name_of("../{title}:*?\n", clip, "Kokoro", "mp3") == "The tide turns. The ferry leaves.mp3"
    assert name_of("///", clip, "Kokoro", "wav") == "Clip.wav"
    cut = replace(clip, title="Welcome back to Paper Trails, -…")
    assert name_of("{title}", cut, "Kokoro", "mp3") == "Welcome back to Paper Trails.mp3"


async def test_the_list_filters_and_says_how_much_there_is(speech: SpeechHarness, qtbot: QtBot) -> None:
    await with_a_clip(speech)
    await with_a_clip(speech, "Another line.")
    qtbot.keyClicks(speech.filter_field, "another")
    await until(lambda: len(speech.keys) == 1)
    assert speech.usage_text().startswith("2 clips, ")
    speech.filter_field.setText("nothing like it")
    await until(lambda: not speech.keys)
    assert speech.nothing_text() == "No clip contains “nothing like it”."


async def test_clips_of_another_account_say_whose_they_are(speech: SpeechHarness) -> None:
    await with_a_clip(speech)
    assert speech.rows[0].second_line == "Emma · Kokoro"
    speech.current_account.names = {"box": "Sandbox"}.__getitem__
    speech.current_account.use(Account("other", "Main account", "https://api.example.com/v1"), None)
    assert speech.rows[0].second_line.endswith(" · Sandbox")


async def test_the_voice_of_an_opened_clip_is_the_one_at_the_next_start(speech: SpeechHarness) -> None:
    """It is in the header, so a restart that brought back another one could cost many times as much."""
    clip = await with_a_clip(speech)
    speech.presenter.use_voice("tts-orpheus", "leo")
    speech.open_clip(clip)
    assert speech.voice_button_text() == "Emma · Kokoro"
    kept = await speech.saved_draft()
    assert (kept["model"], kept["voice"]) == ("tts-kokoro", "bf_emma")
