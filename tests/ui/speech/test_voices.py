"""The picker: every voice of every model, filtered; a switch of model says so; what is ignored is off and unsent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.service.models import Model
from app.service.wire import read_model
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.speech.page import SpeechPage
from app.ui.speech.session import voice_list
from app.ui.speech.speech_options import SpeechOptions, language_hint, sent_options, speech_options_from, view_of
from app.ui.speech.state import Choice
from app.ui.speech.voice_catalog import Voice, VoiceFilter, VoiceGroup, VoiceTable, grouped, voice_name, voices_of
from app.ui.speech.voice_picker import VoiceDelegate, VoicePicker
from tests.kit.speech import SANDBOX, SpeechHarness
from tests.kit.waiting import until
from tests.kit.widgets import press, words

TABLE = VoiceTable(resources() / "data" / "voices.json")


def dialog() -> Dialog | None:
    return next((one for one in QApplication.topLevelWidgets() if isinstance(one, Dialog) and one.isVisible()), None)


def shown(speech: SpeechHarness) -> list[tuple[str, str]]:
    return [tuple(key) for key in speech.shown_voices()]


async def test_r_tts_21_r_tts_22_r_tts_23_every_voice_of_every_model_is_listed(speech: SpeechHarness) -> None:
    assert len(shown(speech)) == len(speech.voices.all()) == 207
    await until(lambda: speech.voice_count_text() == "207 of 207 voices")
    models = {model for model, _ in shown(speech)}
    assert len(models) == 11


async def test_r_tts_20_who_chose_no_voice_gets_the_one_that_the_model_speaks_with_unasked(
    speech: SpeechHarness,
) -> None:
    await until(lambda: speech.voice == "af_sky")
    assert speech.model == "tts-kokoro"


async def test_a_voice_that_spoke_before_any_was_listed_stays_the_one_that_is_shown(
    speech: SpeechHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service may speak unasked with another one than the bundled names let expect."""
    monkeypatch.setattr(voice_list, "USUAL_VOICE", "am_adam")
    speech.write("Hello.")
    speech.current_account.use(SANDBOX._replace(id="other"), speech.current_account.service)
    assert speech.voices.is_offline
    assert speech.shown_voice == ("tts-kokoro", "am_adam", "Kokoro")
    await speech.spoken()
    await until(lambda: not speech.voices.is_offline)
    clip = speech.clips[0]
    assert (clip.state, clip.voice_name) == ("complete", "Adam")
    assert speech.rows[0].second_line == "Adam · Kokoro"
    assert speech.shown_voice == ("tts-kokoro", "am_adam", "Kokoro")


async def test_a_voice_that_one_account_lacks_is_back_with_the_account_that_has_it(
    speech: SpeechHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    speech.presenter.use_voice("tts-orpheus", "leo")
    service = speech.current_account.service
    monkeypatch.setattr(speech.voices, "_table", VoiceTable(speech.home / "none.json"))
    speech.current_account.use(SANDBOX._replace(id="other"), None)
    assert speech.presenter.choice == Choice()
    speech.current_account.use(SANDBOX, service)
    await until(lambda: not speech.voices.is_offline)
    assert speech.shown_voice == ("tts-orpheus", "leo", "Orpheus")


def test_the_bundled_table_has_the_names_without_a_service() -> None:
    voices = voices_of(TABLE.models(), TABLE)
    emma = next(voice for voice in voices if voice.id == "bf_emma")
    assert (emma.name, emma.language, emma.gender, emma.model_name) == ("Emma", "English (UK)", "F", "Kokoro")
    assert voice_name("tts-minimax-speech-02-hd", "WiseWoman") == "Wise Woman"


async def test_filters_narrow_the_list_and_clear_brings_it_back(speech: SpeechHarness, qtbot: QtBot) -> None:
    picker = speech.picker
    picker.model.setCurrentIndex(picker.model.findData("tts-kokoro"))
    picker.language.setCurrentIndex(picker.language.findData("English"))
    assert len(shown(speech)) == 28
    press(picker.gender, "Female")
    assert all(voice[1] in "af_alloy bf_emma" or voice[1][1] == "f" for voice in shown(speech))
    qtbot.keyClicks(picker.search, "em")
    await until(lambda: shown(speech) == [("tts-kokoro", "bf_emma")])
    picker.search.setText("nobody")
    await until(lambda: not shown(speech))
    assert "No voices match these filters." in words(picker)
    press(picker, "Clear filters")
    assert len(shown(speech)) == 207


async def test_favourites_and_recently_used_stand_first(speech: SpeechHarness) -> None:
    picker = speech.picker
    picker.star_requested.emit(("tts-orpheus", "leo"))
    await until(lambda: shown(speech)[0] == ("tts-orpheus", "leo"))
    picker.stars.click()
    assert shown(speech) == [("tts-orpheus", "leo")]
    picker.stars.click()
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write("Hello.")
    await speech.spoken()
    titles = [group.title for group in speech.voices.groups("tts-kokoro")]
    assert titles[:3] == ["Favorites", "Recently used", "Kokoro, current model"]
    picker.used.click()
    assert shown(speech) == [("tts-kokoro", "af_sky")]
    picker.clear()
    assert len(shown(speech)) == 207


def test_the_same_name_in_two_models_is_two_voices() -> None:
    voices = voices_of(TABLE.models(), TABLE)
    groups = grouped(voices, VoiceFilter(text="leo"), "tts-xai-v1")
    assert {voice.key for group in groups for voice in group.voices} >= {("tts-xai-v1", "leo"), ("tts-orpheus", "leo")}


async def test_r_tts_20_a_voice_of_another_model_brings_its_model_and_says_so(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.choose_voice(("tts-orpheus", "tara"))
    assert speech.model_text() == "Orpheus"
    assert speech.toasts[-1][0] == "Tara belongs to Orpheus, so Rialto switched to that model."
    speech.choose_voice(("tts-orpheus", "leo"))
    assert len(speech.toasts) == 1


async def test_r_tts_11_r_tts_17_r_tts_19_what_a_model_ignores_is_off_with_its_reason(speech: SpeechHarness) -> None:
    delivery = speech.delivery
    speech.presenter.use_model("tts-kokoro")
    assert delivery.speed.isEnabled() and not delivery.temperature.isEnabled() and not delivery.style_box.isEnabled()
    assert "Kokoro ignores style prompt, temperature, top-p and language." in words(delivery)
    assert delivery.top_p.accessibleDescription() == "Kokoro does not use top-p, so it is not sent."
    speech.presenter.use_model("tts-qwen3-0-6b")
    assert delivery.style_box.isEnabled() and delivery.temperature.isEnabled() and delivery.top_p.isEnabled()
    assert not delivery.speed.isEnabled() and "top-p" not in words(delivery)
    assert [delivery.format.itemData(row) for row in range(delivery.format.count())] == ["mp3"]


async def test_nothing_ignored_is_sent_and_everything_set_is(speech: SpeechHarness, qtbot: QtBot) -> None:
    speech.presenter.use_model("tts-qwen3-0-6b")
    delivery = speech.delivery
    qtbot.keyClicks(delivery.style_box, "calm")
    delivery.temperature.number.setValue(1.5)
    delivery.speed.value_edited.emit(2.0)
    speech.write("Hello there.")
    speech.page.speak(aloud=False)
    await until(lambda: speech.clips and speech.clips[0].state == "complete")
    options = speech.clips[0].options
    assert options == {"format": "mp3", "streaming": True, "style": "calm", "temperature": 1.5}


def test_r_tts_05_the_language_hint_has_the_form_a_model_knows() -> None:
    assert language_hint("de", "names") == "German"
    assert language_hint("de", "codes") == "de"
    assert language_hint("en", "locales") == "English (US)"
    assert language_hint("", "names") is None
    assert language_hint("de", "none") is None


def test_r_lim_22_a_style_has_up_to_500_characters_and_odd_knobs_are_read_as_none() -> None:
    speech_options = speech_options_from(
        {"style": "x" * 900, "speed": 9, "temperature": "hot", "top_p": True, "format": "midi"}
    )
    assert (
        len(speech_options.style),
        speech_options.speed,
        speech_options.temperature,
        speech_options.top_p,
        speech_options.format,
    ) == (500, 1.0, None, None, "")
    assert speech_options_from("nonsense") == SpeechOptions()


def test_a_speed_that_a_model_keeps_within_bounds_says_so() -> None:
    model = read_model(Model, {"id": "tts-xai-v1", "type": "tts", "model_spec": {"name": "xAI"}})
    assert view_of(SpeechOptions(speed=3.0), model).speed_note == "xAI allows 0.7 to 1.5."
    assert "speed" not in sent_options(SpeechOptions(speed=1.0), model)


async def test_a_sample_says_its_price_first_and_is_free_ever_after(speech: SpeechHarness) -> None:
    picker = speech.picker
    picker.sample_requested.emit(("tts-kokoro", "bf_emma"))
    await until(dialog)
    asked = dialog()
    assert asked is not None and asked.title.text() == "Hear Emma?"
    press(asked, "Hear it")
    await until(lambda: speech.voices.find("tts-kokoro", "bf_emma").sample)
    path = speech.voices.sample_path(speech.voices.find("tts-kokoro", "bf_emma"))
    assert path is not None and path.stat().st_size > 1000
    await until(lambda: speech.clones.sounding == ("tts-kokoro", "bf_emma") or speech.clones.sounding is None)
    speech.clones.stop_sample()
    picker.sample_requested.emit(("tts-kokoro", "bf_emma"))
    await until(lambda: speech.clones.sounding == ("tts-kokoro", "bf_emma"))
    assert dialog() is None


async def test_a_voice_is_starred_heard_and_used_from_its_menu(speech: SpeechHarness) -> None:
    picker = speech.picker
    key = ("tts-orpheus", "leo")
    menu = picker.menu_of(key)
    assert [action.text() for action in menu.actions()] == ["Use this voice", "Hear a sample", "Add to favorites"]
    menu.actions()[2].trigger()
    await until(lambda: speech.voices.find(*key).favourite)
    menu = picker.menu_of(key)
    assert menu.actions()[2].text() == "Remove from favorites"
    menu.actions()[0].trigger()
    assert speech.voice == "leo"


async def test_the_voice_in_use_is_in_sight_when_the_tab_opens(
    speech: SpeechHarness, theme: Theme, qtbot: QtBot
) -> None:
    await until(lambda: speech.voice == "af_sky")
    page = SpeechPage(theme, speech.presenter, speech.clip_actions, speech.clones, speech.tasks)
    for pane in (page.list, page.main, page.side):
        qtbot.addWidget(pane)
    side = page.side
    side.resize(352, 800)
    side.show()
    view = side.picker.view
    index = view.rows.index_of(("tts-kokoro", "af_sky"))
    await until(lambda: view.viewport().rect().contains(view.visualRect(index)))
    assert view.verticalScrollBar().value() > 0, "it is not one of the first"
    speech.voices.mark(("tts-kokoro", "af_sky"), used_at=datetime.now(UTC))
    speech.presenter.voices_changed.emit()
    index = view.rows.index_of(("tts-kokoro", "af_sky"))
    assert index.row() == 1, "now it is, under those used lately"
    await until(lambda: view.viewport().rect().contains(view.visualRect(index)))


async def test_the_list_works_by_keyboard(speech: SpeechHarness, qtbot: QtBot) -> None:
    view = speech.voice_view
    view.setFocus()
    view.setCurrentIndex(view.rows.index_of(("tts-kokoro", "am_adam")))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert speech.voice == "am_adam"


def test_the_name_of_an_own_voice_is_read_whole_in_the_list(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    picker = VoicePicker(theme)
    qtbot.addWidget(picker)
    picker.resize(theme.px(352), theme.px(600))  # what the inspector of Speech has
    whole: dict[str, bool] = {}

    def text(_self: object, _painter: object, rect: QRect, words: str, font: QFont, *_: object) -> None:
        whole[words] = QFontMetrics(font).horizontalAdvance(words) <= rect.width()

    monkeypatch.setattr(VoiceDelegate, "text", text)
    own = Voice("chatterbox", "Chatterbox HD", "vv_bc4b0dd5cb99720f", "My reading voice", own_id="1")
    picker.show_groups((VoiceGroup("My voices", (own,)),), 1)
    picker.grab()
    assert whole["My reading voice"]
