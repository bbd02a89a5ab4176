"""“Other model…” at the end of each model picker: any id is looked up, shown with its voices and prices, and used."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.audio.recorded import tone, write_wav
from tests.kit.chat import open_sandbox_chat
from tests.kit.other_model import choose_other, dialog, looked_up, shorten_lists, use
from tests.kit.sandbox import Controls
from tests.kit.speech import open_speech
from tests.kit.transcription import open_transcription
from tests.kit.video import NO_DEVICES, PRIVATE_MODEL, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES


@pytest.fixture(autouse=True)
def _shorter_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_lists(monkeypatch)


async def test_r_ext_27_another_model_with_a_suffix_is_used_in_a_chat(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        assert box.presenter.account_models.get("rialto-search") is None
        box.page.open_model_picker().other.click()
        record = await use("rialto-search:enable_web_search=on&include_venice_system_prompt=false")
        assert "ID: rialto-search" in record and "per million tokens" in record
        assert "Sets: enable_web_search = on\ninclude_venice_system_prompt = false" in record
        await until(lambda: box.presenter.opened.model_id == "rialto-search")
        assert box.parameters.web.current == "on" and not box.parameters.service_prompt.isChecked()
        await box.settle()
        await box.type("Where is my key kept?")
        body = box.presenter.answers.exchange_of(box.rows[-1].id).request.body
        assert body["model"] == "rialto-search"
        assert body["service_parameters"]["enable_web_search"] == "on"
        rows = box.presenter.account_models.list_for("rialto-search").rows
        assert any(row.id == "rialto-search" and row.is_current for row in rows), "it is in the picker from now on"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no-such-model", "The service has no model “no-such-model”."),
        ("..", "Enter a model ID. It has no spaces."),
        ("two words", "Enter a model ID. It has no spaces."),
        ("rialto-search:enable_web_search=maybe", "“enable_web_search” can be off, on or auto."),
        ("rialto-search:disable_thinking=1", "“disable_thinking” can be true or false."),
        ("rialto-search:character_slug=nobody-at-all", "The service has no character “nobody-at-all”."),
        ("rialto-search:character_slug=", "“character_slug” needs a value."),
        ("tts-orpheus", "Orpheus is not one of the chat models. The service lists it as “tts”."),
    ],
)
async def test_an_id_that_cannot_be_used_is_a_sentence_at_the_field(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox, text: str, sentence: str
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        before = box.presenter.opened.model_id
        box.page.open_model_picker().other.click()
        shown = await looked_up(text)
        assert shown.problem.text() == sentence and shown.field.accessibleDescription() == sentence
        assert not shown.use.isEnabled() and not shown.record.isVisible()
        shown = await looked_up("rialto-search:temperature=1")
        assert shown.problem.text().startswith("There is no parameter “temperature”. The parameters are ")
        shown.reject()
        await box.settle()
        assert box.presenter.opened.model_id == before


async def test_another_model_joins_those_that_are_compared(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        before = box.presenter.opened.model_id
        box.page.controller.open_comparing().other.click()
        await use("rialto-search")
        picker = box.page.controller.comparing
        await until(picker.isVisible)
        assert picker.marks == (before, "rialto-search") and picker.go.isEnabled()
        picker.other.click()
        (await dialog()).reject()
        await until(picker.isVisible)
        assert picker.marks == (before, "rialto-search"), "leaving the question leaves the marks"
        picker.close()


async def test_r_tts_23_another_model_speaks_with_the_voices_of_its_record(
    theme: Theme, tmp_path: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_speech(tmp_path, swift_sandbox, theme) as speech:
        menu = speech.page.open_model_menu()
        menu.actions()[-1].trigger()
        menu.close()
        shown = await looked_up("tts-orpheus:enable_web_search=on")
        assert shown.problem.text() == "Only chat models take parameters after the ID."
        record = await use("tts-orpheus")
        assert "per million characters" in record and "Voices: " in record and "leo" in record.lower()
        await until(lambda: speech.model == "tts-orpheus")
        assert speech.voice and speech.model_text() == "Orpheus"
        speech.write("The tide turns at noon.")
        await speech.spoken()
        assert speech.clips[0].model == "tts-orpheus" and speech.clips[0].state == "complete"


async def test_another_model_transcribes(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    path = write_wav(tmp_home / "note.wav", tone(440, 1.0))
    async with open_transcription(tmp_home, theme, swift_sandbox) as tab:
        await tab.add(path)
        menu = tab.header.open_models()
        menu.actions()[-1].trigger()
        menu.close()
        await use("openai/whisper-large-v3")
        await until(lambda: tab.presenter.options.model == "openai/whisper-large-v3")
        await tab.send()
        assert tab.shown == "result"
        (exchange,) = [each for each in tab.exchanges if each.request.method == "POST"]
        assert exchange.model == "openai/whisper-large-v3"


async def test_another_model_makes_videos(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    controls = Controls(swift_sandbox.base_url, swift_sandbox.api_key)
    async with open_video(tmp_home, theme, controls) as video:
        await video.fill()
        assert video.presenter.form.model(PRIVATE_MODEL) is None
        choose_other(video.model_field)
        await use(PRIVATE_MODEL)
        await until(lambda: video.presenter.form.form.model == PRIVATE_MODEL and video.presenter.form.exact)
        assert video.model_field.currentData() == PRIVATE_MODEL
        assert video.queue_button.text().startswith("Queue for $")
