"""What the speech tab knows of voices before a service has told it anything, and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.storage.paths import resources
from app.ui.speech.session.voice_list import VoiceList
from app.ui.speech.voice_catalog import VoiceTable
from tests.kit.service import with_key

NAMED = ("tts-kokoro", "tts-qwen3-0-6b", "tts-qwen3-1-7b", "tts-chatterbox-hd", "tts-orpheus")


@pytest.fixture
def table() -> VoiceTable:
    return VoiceTable(resources() / "data" / "voices.json")


def test_r_tts_08_the_named_models_are_there_without_a_network(table: VoiceTable, tmp_path: Path) -> None:
    shelf = VoiceList(table, tmp_path)
    assert shelf.is_offline
    assert {*NAMED} <= {model.id for model in shelf.models}
    assert all(model.type == "tts" and model.model_spec.voices for model in shelf.models)


async def test_r_tts_21_the_voices_of_kokoro_are_the_54_that_a_service_lists(table: VoiceTable, tmp_path: Path) -> None:
    (bundled,) = [model.model_spec.voices for model in table.models() if model.id == "tts-kokoro"]
    assert len(set(bundled)) == 54
    assert (bundled[0], bundled[-1]) == ("af_alloy", "em_santa")
    async with with_key(tmp_path) as at:
        assert set((await at.service.models.one("tts-kokoro")).model_spec.voices) == set(bundled)


async def test_r_tts_20_another_model_brings_its_own_voices(table: VoiceTable, tmp_path: Path) -> None:
    shelf = VoiceList(table, tmp_path)
    async with with_key(tmp_path) as at:
        shelf.set_models(await at.service.models.list("tts"))
    assert not shelf.is_offline
    voices = {voice.key for voice in shelf.all()}
    assert ("tts-orpheus", "leo") in voices and ("tts-gradium-v1", "Leo") in voices
    assert shelf.find("tts-orpheus", "Leo") is None
    assert all(shelf.find(model.id, shelf.default_voice(model)) is not None for model in shelf.models)
