"""Transcription, rule by rule."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from app.service.errors import BadResponse, LimitExceeded, TooLarge, WrongMedia
from app.service.transcription import FILE_SUFFIXES, TranscriptionRequest, abilities_of
from tests.service.loopback import Watched, answering, http, serving
from tests.service.test_uploads import WAV, parts_of

BODY = {
    "text": "High water at six.",
    "duration": 2.41,
    "timestamps": {
        "word": [{"word": "High", "start": 0.12, "end": 0.44}, "odd"],
        "segment": [{"text": " High water at six.", "start": 0.12, "end": 2.3}],
        "char": [{"char": "H", "start": 0.12, "end": 0.2}],
    },
}
GOOD = {**BODY, "timestamps": {**BODY["timestamps"], "word": BODY["timestamps"]["word"][:1]}}  # type: ignore[dict-item,index] # a literal above


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    path = tmp_path / "tide.wav"
    path.write_bytes(WAV)
    return path


async def test_r_stt_03_r_stt_04_r_stt_08_r_stt_09_r_stt_10_r_stt_11_the_form_as_it_goes_out(wav: Path) -> None:
    told: list[tuple[int, int]] = []
    async with serving(http(body=GOOD)) as server, Watched(server.base_url) as watched:
        request = TranscriptionRequest(wav, "openai/whisper-large-v3", timestamps=True, language="en")
        await watched.service.transcription.transcribe(request, on_progress=lambda *seen: told.append(seen))
        parts = parts_of(server.received[0])
        assert [content for _, content in parts] == [b"openai/whisper-large-v3", b"json", b"true", b"en", WAV]
        assert 'name="file"; filename="tide.wav"' in parts[-1][0]
        assert server.received[0].target == "/api/v1/audio/transcriptions"
        assert told[-1][0] == told[-1][1]
        await watched.service.transcription.transcribe(TranscriptionRequest(wav, "m"))
        assert [content for _, content in parts_of(server.received[1])] == [b"m", b"json", b"false", WAV]


async def test_r_stt_13_r_stt_14_r_stt_15_r_stt_16_r_stt_17_text_length_and_times(wav: Path) -> None:
    async with serving(http(body=GOOD)) as server, Watched(server.base_url) as watched:
        request = TranscriptionRequest(wav, "m")
        made = await watched.service.transcription.transcribe(request, price=lambda seconds: seconds * 2)
        assert (made.text, made.duration_s) == ("High water at six.", Decimal("2.41"))
        assert (made.words[0].word, made.words[0].end) == ("High", 0.44)
        assert (made.segments[0].text, made.letters[0].char) == (" High water at six.", "H")
        assert (made.exchange.units, made.exchange.cost_usd) == ({"audio_seconds": 2}, Decimal("4.82"))
        assert made.exchange is watched.exchange


@pytest.mark.parametrize(
    "body", [{"text": "x"}, {"text": "x", "duration": "long", "timestamps": None}, {"text": "x", "timestamps": []}]
)
async def test_r_stt_14_missing_and_odd_parts_do_not_cost_the_text(body: object, wav: Path) -> None:
    async with serving(http(body=body)) as server, Watched(server.base_url) as watched:
        made = await watched.service.transcription.transcribe(TranscriptionRequest(wav, "m"))
        assert (made.text, made.duration_s, made.words) == ("x", None, ())


async def test_one_odd_time_costs_that_list_only(wav: Path) -> None:
    async with serving(http(body=BODY)) as server, Watched(server.base_url) as watched:
        made = await watched.service.transcription.transcribe(TranscriptionRequest(wav, "m"))
        assert (made.text, made.words, len(made.segments)) == ("High water at six.", (), 1)


async def test_r_stt_08_plain_text_is_read_by_its_content_type(wav: Path) -> None:
    async with (
        serving(http(body="High wäter.".encode(), content_type="text/plain; charset=utf-8")) as server,
        Watched(server.base_url) as watched,
    ):
        request = TranscriptionRequest(wav, "m", response_format="text")
        assert (await watched.service.transcription.transcribe(request)).text == "High wäter."


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}"])
async def test_something_else_is_a_bad_answer(body: bytes, wav: Path) -> None:
    async with serving(http(body=body)) as server, Watched(server.base_url) as watched:
        with pytest.raises(BadResponse):
            await watched.service.transcription.transcribe(TranscriptionRequest(wav, "m"))


async def test_r_stt_18_the_service_s_own_refusal_of_size_is_decoded(wav: Path) -> None:
    refusal = http(413, {"code": "PAYLOAD_TOO_LARGE", "error": "The file exceeds the 25 MB limit"})
    async with serving(refusal) as server, Watched(server.base_url) as watched:
        with pytest.raises(TooLarge) as caught:
            await watched.service.transcription.transcribe(TranscriptionRequest(wav, "m"))
        assert (caught.value.code, caught.value.message) == ("PAYLOAD_TOO_LARGE", "The file exceeds the 25 MB limit")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"model": " "}, "model", id="R-STT-07"),
        pytest.param({"response_format": "srt"}, "response_format", id="R-STT-08"),
        pytest.param({"language": "eng"}, "language", id="R-STT-10"),
        pytest.param({"language": "EN"}, "language", id="R-STT-10 capitals"),
    ],
)
async def test_r_stt_limits_are_refused_before_uploading(changes: dict[str, object], field: str, wav: Path) -> None:
    async with Watched(handler=answering({})) as watched:
        request = replace(TranscriptionRequest(wav, "m"), **changes)  # type: ignore[arg-type] # names of real fields
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.transcription.transcribe(request)
        assert caught.value.field == field
        assert watched.requests == []


async def test_r_stt_05_exactly_ten_kinds_of_files_are_taken(tmp_path: Path) -> None:
    assert len(FILE_SUFFIXES) == 10
    async with Watched(handler=answering({"text": "x"})) as watched:
        for suffix in (*FILE_SUFFIXES, ".WAV", ".aiff", ""):
            path = tmp_path / f"a{suffix}"
            path.write_bytes(WAV)
            request = TranscriptionRequest(path, "m")
            if suffix.lower() in FILE_SUFFIXES:
                await watched.service.transcription.transcribe(request)
            else:
                with pytest.raises(LimitExceeded):
                    await watched.service.transcription.transcribe(request)
        path = tmp_path / "text.mp3"
        path.write_bytes(b"these are words")
        with pytest.raises(LimitExceeded):
            await watched.service.transcription.transcribe(TranscriptionRequest(path, "m"))


async def test_r_stt_05_a_file_whose_name_says_nothing_is_sent_under_one_that_does(tmp_path: Path) -> None:
    path = tmp_path / "voice memo"
    path.write_bytes(WAV)
    async with serving(http(body=GOOD)) as server, Watched(server.base_url) as watched:
        with pytest.raises(LimitExceeded):
            await watched.service.transcription.transcribe(TranscriptionRequest(path, "m"))
        await watched.service.transcription.transcribe(TranscriptionRequest(path, "m", file_name="voice memo.wav"))
        assert 'filename="voice memo.wav"' in parts_of(server.received[0])[-1][0]


def test_r_stt_12_what_a_family_of_models_can_do_is_told_from_its_id() -> None:
    assert abilities_of("nvidia/parakeet-tdt-0.6b-v3").takes_hints is False
    assert abilities_of("openai/whisper-large-v3").takes_hints is True
    assert abilities_of("stt-xai-v1").kinds == ("word",)
    assert abilities_of("fal-ai/wizper").kinds == ("segment",)
    assert abilities_of("somebody/something-new").takes_hints is None


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><p>Bad gateway",
        b"\n<html>",
        "No model".encode("utf-16"),
        b"MZ\x90\x00\x03\x00",
        b"\xff\xfb\x90",
    ],
    ids=["a page", "a bare page", "utf-16", "a program", "sound"],
)
async def test_what_is_no_text_is_no_transcript(wav: Path, body: bytes) -> None:
    async with serving(http(200, body, content_type="text/plain")) as server, Watched(server.base_url) as watched:
        with pytest.raises(WrongMedia):
            await watched.service.transcription.transcribe(TranscriptionRequest(wav, "whisper", "text"))
        assert len(server.received) == 1
