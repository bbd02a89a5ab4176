"""Transcription: rules R-STT, with sound that the Sandbox itself has spoken."""

import base64
import io
from functools import cache

import av
import httpx
import numpy as np
import pytest

from app.sandbox import installed_engines
from app.sandbox.media.sound import Samples, decode, encode, resample
from app.sandbox.media.speech_engine import Delivery, speak
from app.sandbox.media.transcription_engine import _decoder, _words, spans
from tests.sandbox.support import Client

pytestmark = pytest.mark.usefixtures("heard_once")

PARAKEET = "nvidia/parakeet-tdt-0.6b-v3"
WHISPER = "openai/whisper-large-v3"
MODELS = {
    PARAKEET: {"word", "segment", "char"},
    WHISPER: {"word", "segment"},
    "fal-ai/wizper": {"segment"},
    "elevenlabs/scribe-v2": {"word"},
    "stt-xai-v1": {"word"},
}
TEXT = "The train leaves at seven. I would like a cup of coffee."


@cache
def samples(text: str = TEXT) -> Samples:
    """16 kHz, one channel."""
    spoken, rate_hz = speak(text, Delivery("en-us", "klatt4", 50, 150))
    return resample(spoken, rate_hz, 16_000)


def container(kind: str, codec: str) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=kind) as out:
        stream = out.add_stream(codec, rate=48_000 if codec == "libopus" else 16_000, layout="mono")
        wave = resample(samples(), 16_000, stream.rate or 16_000)
        frame = av.AudioFrame.from_ndarray(wave.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = stream.rate or 16_000
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return buffer.getvalue()


@cache
def file(suffix: str) -> bytes:
    if suffix in ("m4a", "mp4"):
        return container("ipod" if suffix == "m4a" else "mp4", "aac")
    if suffix == "webm":
        return container("webm", "libopus")
    if suffix in ("ogg", "oga"):
        return encode(samples(), 16_000, "opus")
    return encode(samples(), 16_000, "wav" if suffix == "wave" else suffix)


def upload(sandbox: Client, data: bytes, name: str = "note.wav", **fields: str) -> httpx.Response:
    url = f"{sandbox.running.base_url}/audio/transcriptions"
    return sandbox.http.post(url, files={"file": (name, data)}, data={"model": PARAKEET, **fields})


def errors(before: str, after: str) -> float:
    """Word error rate."""
    said, heard = (text.lower().replace(".", "").replace(",", "").split() for text in (before, after))
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1] / len(said)


@pytest.mark.parametrize("suffix", ["aac", "flac", "m4a", "mp3", "mp4", "oga", "ogg", "wav", "wave", "webm"])
def test_R_GEN_10_R_STT_05_R_STT_13_R_STT_14_all_ten_formats_are_decoded_and_recognised(
    sandbox: Client, suffix: str
) -> None:
    answer = upload(sandbox, file(suffix), f"note.{suffix}")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert set(body) == {"text", "duration"}
    assert body["duration"] == pytest.approx(len(samples()) / 16_000, abs=0.2)
    assert errors(TEXT, body["text"]) < 0.45, body["text"]
    assert "cup of coffee" in body["text"]


@pytest.mark.parametrize("name", ["note.txt", "note.aiff", "note.wma"])
def test_R_STT_05_other_formats_are_400(sandbox: Client, name: str) -> None:
    answer = upload(sandbox, file("wav"), name)
    assert answer.status_code == 400
    assert "wave" in answer.json()["details"]["file"]["_errors"][0]


def test_R_STT_05_bytes_of_another_kind_are_400_under_any_name(sandbox: Client) -> None:
    assert upload(sandbox, b"%PDF-1.7 and so on", "note.wav").status_code == 400
    assert upload(sandbox, file("flac"), "note").status_code == 200


def test_R_STT_03_a_json_body_is_400(sandbox: Client) -> None:
    answer = sandbox.post("/audio/transcriptions", {"model": PARAKEET})
    assert answer.status_code == 400
    assert answer.json()["details"]["_errors"] == ["Expected multipart/form-data"]


def test_R_STT_04_base64_text_is_400(sandbox: Client) -> None:
    url = f"{sandbox.running.base_url}/audio/transcriptions"
    text = base64.b64encode(file("wav")).decode()
    answer = sandbox.http.post(url, files={"model": (None, PARAKEET), "file": (None, text)})
    assert answer.status_code == 400
    assert "binary" in answer.json()["details"]["file"]["_errors"][0]


def test_R_STT_06_R_STT_18_R_ERR_05_R_LIM_20_more_than_25_mb_is_413_with_the_code(sandbox: Client) -> None:
    answer = upload(sandbox, b"RIFF0000WAVE" + bytes(26_214_400 - 11))
    assert answer.status_code == 413
    assert set(answer.json()) == {"code", "error"}
    assert answer.json()["code"] == "PAYLOAD_TOO_LARGE" and "25 MB" in answer.json()["error"]
    assert upload(sandbox, bytes(36 * 1024 * 1024)).json()["code"] == "PAYLOAD_TOO_LARGE"


def test_R_STT_06_exactly_25_mb_is_not_too_large(sandbox: Client) -> None:
    assert upload(sandbox, b"RIFF0000WAVE" + bytes(26_214_400 - 12)).status_code == 422


def test_R_STT_07_R_EP_04_the_five_models(sandbox: Client) -> None:
    ids = [model["id"] for model in sandbox.get("/models?type=asr").json()["data"]]
    assert ids == list(MODELS)
    assert sandbox.get("/models/openai%2Fwhisper-large-v3").json()["id"] == WHISPER
    assert upload(sandbox, file("wav"), model="whisper-1").status_code == 404


def test_R_STT_08_json_or_text(sandbox: Client) -> None:
    answer = upload(sandbox, file("wav"), response_format="text", timestamps="true")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text == upload(sandbox, file("wav"), response_format="json").json()["text"]
    for other in ("srt", "vtt", "verbose_json"):
        wrong = upload(sandbox, file("wav"), response_format=other)
        assert wrong.status_code == 400 and wrong.json()["details"]["response_format"]["_errors"]


@pytest.mark.parametrize("model", MODELS)
def test_R_STT_09_R_STT_15_R_STT_16_R_STT_17_each_model_gives_its_own_kinds_of_times(
    sandbox: Client, model: str
) -> None:
    body = upload(sandbox, file("wav"), model=model, timestamps="true").json()
    assert set(body["timestamps"]) == MODELS[model]
    for kind, items in body["timestamps"].items():
        assert all(set(item) == {"text" if kind == "segment" else kind, "start", "end"} for item in items)
        starts = [item["start"] for item in items]
        assert starts == sorted(starts) and all(item["start"] <= item["end"] for item in items)
        assert starts[0] >= 0 and items[-1]["end"] <= body["duration"] + 0.01
    if "char" in body["timestamps"]:
        letters = "".join(item["char"] for item in body["timestamps"]["char"])
        assert letters == "".join(item["word"] for item in body["timestamps"]["word"])
    if "segment" in body["timestamps"]:
        assert len(body["timestamps"]["segment"]) == 2
        joined = "".join(item["text"] for item in body["timestamps"]["segment"])
        assert joined.strip() == body["text"]


def test_R_STT_09_times_are_off_by_default_and_a_form_string(sandbox: Client) -> None:
    assert "timestamps" not in upload(sandbox, file("wav"), timestamps="false").json()
    assert upload(sandbox, file("wav"), timestamps="yes").status_code == 400


def test_R_STT_02_R_STT_10_R_STT_11_R_STT_12_hints_are_echoed_by_models_that_take_them(sandbox: Client) -> None:
    assert upload(sandbox, file("wav"), model=WHISPER, language="de").json()["language"] == "de"
    assert "language" not in upload(sandbox, file("wav"), model=PARAKEET, language="de").json()
    assert "language" not in upload(sandbox, file("wav"), model=WHISPER).json()


@pytest.mark.parametrize(
    "data",
    [b"", b"RIFF0000WAVEjunk", encode(np.zeros(32_000, np.int16), 16_000, "wav"), file("mp4")[:64]],
    ids=["empty", "corrupt", "silent", "cut"],
)
def test_R_STT_19_empty_silent_and_corrupt_sound_is_422_in_the_standard_form(sandbox: Client, data: bytes) -> None:
    answer = upload(sandbox, data)
    assert (answer.status_code, set(answer.json())) == (422, {"error"})


def test_R_STT_19_R_NS_05_all_invalid_fields_stand_in_one_tree(sandbox: Client) -> None:
    url = f"{sandbox.running.base_url}/audio/transcriptions"
    answer = sandbox.http.post(url, files={"response_format": (None, "pdf")})
    assert set(answer.json()["details"]) == {"_errors", "file", "model", "response_format"}


def test_R_GEN_13_seconds_are_charged_and_an_empty_balance_is_402(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "1"})
    body = upload(sandbox, file("wav")).json()
    line = sandbox.get("/billing/usage-history").json()["data"][0]
    assert line["units"] == body["duration"] and line["amount"] == pytest.approx(-0.0001 * body["duration"])
    sandbox.control("/balance", {"usd": "0"})
    assert upload(sandbox, file("wav")).status_code == 402


def test_R_STT_01_R_LIM_06_credentials_and_limits(sandbox: Client, bare: httpx.Client) -> None:
    answer = upload(sandbox, b"")
    assert answer.headers["x-ratelimit-limit-requests"] == "60"
    url = f"{sandbox.running.base_url}/audio/transcriptions"
    assert bare.post(url, files={"file": ("a.wav", b"")}).status_code == 401


def test_without_the_engine_the_answer_is_501_and_names_it(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "pocketsphinx" else real(name))
    answer = upload(sandbox, file("wav"))
    assert answer.status_code == 501 and "PocketSphinx" in answer.json()["error"]


def test_speech_without_pauses_is_cut_into_pieces_of_bearable_length() -> None:
    levels = np.full(50 * 65, 4000.0)  # 65 s
    found = spans(levels)
    assert len(found) == 4
    assert sum(end - start for start, end in found) == 65 * 16_000
    assert spans(np.zeros(100)) == []


def test_times_count_from_the_start_of_the_recording(sandbox: Client) -> None:
    late = np.concatenate((np.zeros(48_000, np.int16), samples()))
    body = upload(sandbox, encode(late, 16_000, "flac"), "a.flac", timestamps="true").json()
    assert body["timestamps"]["word"][0]["start"] == pytest.approx(3.0, abs=0.3)
    assert decode(file("wav")).rate_hz == 16_000


@pytest.fixture
def heard_each_time(heard_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sandbox.media.transcription_engine._words", _words)


@pytest.mark.usefixtures("heard_each_time")
def test_the_same_recording_is_heard_the_same_whatever_was_heard_before(sandbox: Client) -> None:
    low = resample(*speak("High water comes at six.", Delivery("en-us", "klatt4", 20, 170)), 16_000)
    other = encode(low, 16_000, "wav")
    heard = [upload(sandbox, data).json()["text"] for data in (file("wav"), other, file("wav"), other, other)]
    assert heard[0] == heard[2] and heard[1] == heard[3] == heard[4]
    assert errors(TEXT, heard[0]) < 0.2


@pytest.mark.usefixtures("heard_each_time")
def test_the_same_recording_is_heard_the_same_whatever_came_before(sandbox: Client) -> None:
    text = "Seven ships came home."
    _decoder.cache_clear()  # a recogniser that has heard nothing yet
    asked = {"model": "tts-kokoro", "voice": "af_sky", "input": text, "response_format": "mp3"}
    recording = sandbox.post("/audio/speech", asked).content
    at = np.arange(16_000 * 2)
    tone = encode((np.sin(at * 2 * np.pi * 440 / 16_000) * 12_000).astype(np.int16), 16_000, "wav")
    noise = encode(np.random.default_rng(1).normal(0, 9_000, 16_000).astype(np.int16), 16_000, "wav")
    heard = []
    for before in (None, tone, noise):
        if before is not None:
            upload(sandbox, before)
        heard.append(upload(sandbox, recording, "said.mp3", timestamps="true").json())
    assert heard[1:] == heard[:1] * 2
