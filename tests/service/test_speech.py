"""Speech synthesis and voice cloning, rule by rule."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from app.service.errors import BadRequest, BadResponse, LimitExceeded, StreamCut, WrongMedia
from app.service.models import Model
from app.service.speech import SpeechRequest, SpeechTraits, traits_of, whole_wav
from app.service.wire import read_model
from tests.service.loopback import Received, Watched, answering, framed, http, serving, stream_head
from tests.service.test_uploads import WAV, parts_of

HELLO = SpeechRequest("The tide turns at noon.", "tts-kokoro", "bf_emma")


def sound(body: bytes, content_type: str = "audio/wav") -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(200, content=body, headers={"content-type": content_type})


def test_r_tts_04_r_tts_14_only_what_differs_is_sent() -> None:
    assert HELLO.to_body() == {"model": "tts-kokoro", "voice": "bf_emma", "input": "The tide turns at noon."}
    full = SpeechRequest("x", "m", "v", "pcm", 0.5, True, "en", "whisper", 0.0, 1.0)
    assert full.to_body() == {
        "model": "m",
        "voice": "v",
        "input": "x",
        "speed": 0.5,
        "streaming": True,
        "response_format": "pcm",
        "language": "en",
        "prompt": "whisper",
        "temperature": 0.0,
        "top_p": 1.0,
    }


@pytest.mark.parametrize(
    ("changes", "field", "allowed"),
    [
        pytest.param({"text": "x" * 4097}, "input", "4096", id="R-TTS-02, R-LIM-21 long"),
        pytest.param({"text": " \n"}, "input", "1", id="R-TTS-02 nothing"),
        pytest.param({"model": ""}, "model", "1", id="model"),
        pytest.param({"voice": ""}, "voice", None, id="R-TTS-20"),
        pytest.param({"voice": "v" * 513}, "voice", None, id="voice too long"),
        pytest.param({"language": "e"}, "language", "2 to 32", id="R-TTS-03 short"),
        pytest.param({"language": "e" * 33}, "language", "2 to 32", id="R-TTS-03 long"),
        pytest.param({"style": "x" * 501}, "prompt", "500", id="R-TTS-10, R-LIM-22"),
        pytest.param({"format": "midi"}, "response_format", None, id="R-TTS-12"),
        pytest.param({"speed": 0.24}, "speed", "0.25 to 4", id="R-TTS-13, R-LIM-23 slow"),
        pytest.param({"speed": 4.01}, "speed", "0.25 to 4", id="R-TTS-13 fast"),
        pytest.param({"temperature": 2.1}, "temperature", "0 to 2", id="R-TTS-16"),
        pytest.param({"top_p": 1.1}, "top_p", "0 to 1", id="R-TTS-18"),
    ],
)
async def test_r_tts_limits_are_refused_before_sending(changes: dict[str, object], field: str, allowed: str) -> None:
    async with Watched(handler=sound(WAV)) as watched:
        request = replace(HELLO, **changes)  # type: ignore[arg-type] # names of real fields
        for call in (lambda: watched.service.speech.stream(request), lambda: request.to_body()):
            with pytest.raises(LimitExceeded) as caught:
                call()
            assert caught.value.field == field
            assert allowed is None or caught.value.limit == allowed
        with pytest.raises(LimitExceeded):
            await watched.service.speech.synthesize(request)
        assert watched.requests == []


def test_the_limits_themselves_are_allowed() -> None:
    replace(HELLO, text="x" * 4096, style="x" * 500, speed=4.0, language="xx", temperature=2.0, top_p=0.0).to_body()
    replace(HELLO, speed=0.25, language="x" * 32).to_body()


async def test_r_tts_25_the_whole_sound_is_what_its_bytes_are() -> None:
    async with Watched(handler=sound(WAV, "audio/mpeg")) as watched:
        made = await watched.service.speech.synthesize(HELLO, price=lambda characters: Decimal(characters))
        assert (made.format, made.media_type) == ("wav", "audio/wav")
        assert made.exchange is watched.exchange
        assert (made.exchange.units, made.exchange.cost_usd, made.exchange.cost_source) == (
            {"characters": 23},
            Decimal(23),
            "estimated",
        )
    async with Watched(handler=sound(b"\x01\x02\x03\x04", "audio/pcm")) as watched:
        assert (await watched.service.speech.synthesize(HELLO)).format == "pcm"
    async with Watched(handler=sound(b"\x01\x02", "application/octet-stream")) as watched:
        assert (await watched.service.speech.synthesize(HELLO)).format == "pcm"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"", "audio/wav"), (b"{}", "application/json"), (b"<html>", "text/html"), (b"{", "application/octet-stream")],
)
async def test_what_is_no_sound_is_a_bad_answer(body: bytes, content_type: str) -> None:
    async with Watched(handler=sound(body, content_type)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.speech.synthesize(HELLO)
    async with Watched(handler=sound(body, content_type)) as watched:
        with pytest.raises(BadResponse):
            async with watched.service.speech.stream(HELLO) as stream:
                async for _ in stream:
                    pass
        assert watched.exchange.outcome == "error"


async def test_r_tts_24_a_wrong_voice_names_the_right_ones() -> None:
    text = "Try using a supported voice: af_sky, af_bella"
    async with Watched(handler=answering({"error": text}, 400)) as watched:
        with pytest.raises(BadRequest) as caught:
            await watched.service.speech.synthesize(HELLO)
        assert caught.value.message == text


async def test_r_tts_15_sound_is_given_out_as_it_comes_in_whole_samples() -> None:
    async def slowly(received: Received, writer) -> None:  # type: ignore[no-untyped-def] # an asyncio.StreamWriter
        writer.write(stream_head(**{"content-type": "audio/pcm"}))
        for piece in (b"\x81" * 63, b"\x82" * 64, b"\x83", b"\x84" * 3, b"\x85"):
            writer.write(framed(piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async with serving(slowly) as server, Watched(server.base_url) as watched:
        async with watched.service.speech.stream(replace(HELLO, format="pcm", streaming=True)) as stream:
            assert stream.exchange.request.path == "/audio/speech"
            assert stream.info is None
            pieces = [piece async for piece in stream]
            assert stream.info is not None
        assert b"".join(pieces) == b"\x81" * 63 + b"\x82" * 64 + b"\x83\x84\x84\x84\x85"
        assert all(len(piece) % 2 == 0 for piece in pieces[:-1])
        assert stream.format == "pcm"
        assert watched.exchange.outcome == "ok"
        assert json.loads(server.received[0].body)["streaming"] is True


async def test_sound_that_breaks_off_is_cut() -> None:
    async def half(received: Received, writer) -> None:  # type: ignore[no-untyped-def] # an asyncio.StreamWriter
        writer.write(stream_head(**{"content-type": "audio/wav"}) + framed(WAV))
        await writer.drain()
        writer.close()

    async with serving(half) as server, Watched(server.base_url) as watched:
        with pytest.raises(StreamCut):
            async with watched.service.speech.stream(HELLO) as stream:
                async for _ in stream:
                    pass
        assert (watched.exchange.outcome, watched.exchange.units) == ("cut", {"characters": 23})


async def test_r_lim_06_speech_keeps_the_pace_of_sound() -> None:
    waits: list[str] = []
    async with Watched(handler=sound(WAV)) as watched:
        watched.client.limits.pace.set("audio", 1)
        watched.client.limits.pace._sleep = lambda seconds: _nothing()
        for _ in range(2):
            await watched.service.speech.synthesize(HELLO, on_wait=lambda wait: waits.append(wait.reason))
    assert waits == ["pace"]


async def _nothing() -> None:
    return None


def wav(riff: int, data: int, samples: bytes = b"\x01\x02\x03\x04") -> bytes:
    head = b"RIFF" + riff.to_bytes(4, "little") + b"WAVEfmt \x10\x00\x00\x00" + b"\x00" * 16
    return head + b"data" + data.to_bytes(4, "little") + samples


@pytest.mark.parametrize("told", [0, 0xFFFFFFFF, 100])
def test_a_wav_whose_maker_did_not_know_its_size_gets_it(told: int) -> None:
    assert whole_wav(wav(told, told)) == wav(40, 4)


def test_a_good_wav_and_other_bytes_pass_unchanged() -> None:
    for data in (wav(40, 4), wav(40, 2), b"", b"RIFF", b"no wav", b"data" * 9):
        assert whole_wav(data) == data


def model(model_id: str, **spec: object) -> Model:
    return read_model(Model, {"id": model_id, "model_spec": spec})


def test_r_tts_11_r_tts_17_r_tts_19_what_a_model_takes_is_advertised_or_known() -> None:
    assert traits_of(model("tts-orpheus")) == SpeechTraits(temperature=True, speeds=None)
    assert traits_of(model("tts-orpheus", supportsTemperatureParam=False, supportsPromptParam=True)) == SpeechTraits(
        style=True, speeds=None
    )
    told = {"supportsTopPParam": True, "supportsTemperatureParam": False}
    assert traits_of(model("tts-qwen3-0-6b", capabilities=told)) == SpeechTraits(
        style=True, temperature=False, top_p=True, language_form="names", speeds=None
    )
    assert traits_of(model("never-heard-of")) == SpeechTraits()


async def test_r_voi_01_r_voi_02_r_voi_03_r_voi_04_a_sample_becomes_a_handle_of_its_model(tmp_path: Path) -> None:
    sample = tmp_path / "me.wav"
    sample.write_bytes(WAV)
    told: list[int] = []
    async with serving(http(body={"id": "vv_k2m9"})) as server, Watched(server.base_url) as watched:
        voice = await watched.service.voices.clone(
            sample, "tts-chatterbox-hd", on_progress=lambda sent, total: told.append(sent)
        )
        assert (voice.id, voice.model) == ("vv_k2m9", "tts-chatterbox-hd")
        assert server.received[0].target == "/api/v1/audio/voices"
        parts = parts_of(server.received[0])
        assert [content for _, content in parts] == [b"tts-chatterbox-hd", WAV]
        assert told


async def test_an_m4a_sample_goes_as_mp4(tmp_path: Path) -> None:
    sample = tmp_path / "me.m4a"
    sample.write_bytes(b"\x00\x00\x00\x20ftypM4A \x00" + b"\x00" * 40)
    async with (
        serving(http(body={"id": "vv_1", "model": "other"})) as server,
        Watched(server.base_url) as watched,
    ):
        assert (await watched.service.voices.clone(sample, "m")).model == "other"
        assert "Content-Type: audio/mp4" in parts_of(server.received[0])[1][0]


@pytest.mark.parametrize("body", [{"id": "k2m9"}, {"id": "vv"}, {}, []])
async def test_r_voi_02_something_else_is_no_handle(body: object, tmp_path: Path) -> None:
    sample = tmp_path / "me.wav"
    sample.write_bytes(WAV)
    async with serving(http(body=body)) as server, Watched(server.base_url) as watched:
        with pytest.raises(BadResponse):
            await watched.service.voices.clone(sample, "m")


async def test_a_sample_that_cannot_do_is_not_uploaded(tmp_path: Path) -> None:
    sample = tmp_path / "me.ogg"
    sample.write_bytes(b"OggS" + b"\x00" * 60)
    async with Watched(handler=answering({})) as watched:
        for path, name in ((sample, "m"), (tmp_path / "absent", "m"), (sample, " ")):
            with pytest.raises(LimitExceeded):
                await watched.service.voices.clone(path, name)
        assert watched.requests == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<!doctype html><html><body>Bad gateway</body></html>" * 3, "audio/mpeg"),
        (b"MZ\x90\x00\x03" + bytes(range(256)), "audio/wav"),
        ("Error: the model is away. Try again later.".encode("utf-16"), "audio/pcm"),
        ("Fehler: das Modell läuft gerade nicht. Später wieder.".encode(), "audio/pcm"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "audio/mpeg"),
        (b"%PDF-1.7\n" + bytes(100), "application/octet-stream"),
        (b"", "audio/mpeg"),
    ],
    ids=["a page", "a program", "utf-16", "utf-8", "a picture", "a document", "nothing"],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_what_is_plainly_no_sound_is_refused_whatever_its_type_says(body: bytes, told: str, whole: bool) -> None:
    async with serving(http(200, body, content_type=told)) as service, Watched(service.base_url) as watched:
        with pytest.raises(WrongMedia):
            if whole:
                await watched.service.speech.synthesize(HELLO)
            else:
                async with watched.service.speech.stream(HELLO) as stream:
                    assert [piece async for piece in stream] == []
        assert watched.exchange.status == 200
        assert len(service.received) == 1


@pytest.mark.parametrize("sample", [b"\x00\x00", b"\xf0\xff", b"\x20\x00", b"\xff\xfe\x01\x00"], ids=bytes.hex)
async def test_quiet_samples_are_not_taken_for_words(sample: bytes) -> None:
    samples = sample * 200
    async with serving(http(200, samples, content_type="audio/pcm")) as service, Watched(service.base_url) as watched:
        sound = await watched.service.speech.synthesize(replace(HELLO, format="pcm"))
        assert sound.data == samples
