"""Voice cloning: rules R-VOI."""

import io

import httpx
import numpy as np
import pytest
import soundfile

from app.sandbox.media import media_models
from app.sandbox.media.pitch import pitch_of
from app.sandbox.media.sound import decode, encode, resample
from tests.sandbox.support import Client

RATE_HZ = 16_000


def sample(pitch_hz: float = 120.0, duration_s: float = 6.0, kind: str = "WAV") -> bytes:
    """A buzz with the overtones of a voice."""
    at = np.arange(int(RATE_HZ * duration_s)) / RATE_HZ
    wave = sum(np.sin(2 * np.pi * pitch_hz * k * at) / k for k in range(1, 9)) * 0.2
    buffer = io.BytesIO()
    soundfile.write(buffer, wave, RATE_HZ, format=kind)
    return buffer.getvalue()


def upload(sandbox: Client, data: bytes, name: str = "me.wav", **fields: str) -> httpx.Response:
    url = f"{sandbox.running.base_url}/audio/voices"
    return sandbox.http.post(url, files={"file": (name, data)}, data=fields)


def handle_of(sandbox: Client, data: bytes) -> str:
    return str(upload(sandbox, data, model="tts-chatterbox-hd").json()["id"])


def say(sandbox: Client, voice: str, model: str = "tts-chatterbox-hd") -> httpx.Response:
    return sandbox.post("/audio/speech", {"input": "Hello again, old friend.", "model": model, "voice": voice})


def test_R_EP_14_R_VOI_01_R_VOI_02_a_sample_becomes_a_handle(sandbox: Client) -> None:
    for name, kind in (("me.wav", "WAV"), ("me.flac", "FLAC"), ("me.mp3", "MP3")):
        answer = upload(sandbox, sample(kind=kind), name)
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"id", "model"}
        assert answer.json()["id"].startswith("vv_") and answer.json()["model"] == "tts-chatterbox-hd"


def test_R_VOI_03_R_VOI_06_the_handle_speaks_through_the_ordinary_endpoint(sandbox: Client) -> None:
    answer = say(sandbox, handle_of(sandbox, sample()))
    assert answer.status_code == 200
    assert answer.content.startswith(b"RIFF")


def test_the_clone_is_as_high_as_the_sample(sandbox: Client) -> None:
    low = pitch_of(decode(say(sandbox, handle_of(sandbox, sample(90))).content))
    high = pitch_of(decode(say(sandbox, handle_of(sandbox, sample(260))).content))
    assert low < 130 < 180 < high


def test_R_VOI_04_another_model_is_400(sandbox: Client) -> None:
    handle = handle_of(sandbox, sample())
    answer = say(sandbox, handle, "tts-orpheus")
    assert answer.status_code == 400
    assert "belongs to the model tts-chatterbox-hd" in answer.json()["details"]["voice"]["_errors"][0]
    assert "does not support cloned voices" in say(sandbox, "vv_none", "tts-orpheus").text
    assert "There is no voice vv_none" in say(sandbox, "vv_none").text


def test_R_VOI_04_another_model_is_400_even_when_it_can_clone(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    how = media_models.CLONING["tts-chatterbox-hd"]
    monkeypatch.setattr(media_models, "CLONING", {"tts-chatterbox-hd": how, "tts-orpheus": how})
    assert say(sandbox, handle_of(sandbox, sample()), "tts-orpheus").status_code == 400


def test_R_VOI_05_only_models_that_can_clone_advertise_it(sandbox: Client) -> None:
    specs = {model["id"]: model["model_spec"] for model in sandbox.get("/models?type=tts").json()["data"]}
    assert [name for name, spec in specs.items() if "voice_cloning" in spec] == ["tts-chatterbox-hd"]
    assert specs["tts-chatterbox-hd"]["voice_cloning"]["min_sample_seconds"] == 5


def test_a_handle_expires_after_seven_days_on_the_sandbox_clock(sandbox: Client) -> None:
    handle = handle_of(sandbox, sample())
    sandbox.turn_clock(7 * 86_400 - 1)
    assert say(sandbox, handle).status_code == 200
    sandbox.turn_clock(7 * 86_400)
    answer = say(sandbox, handle)
    assert answer.status_code == 400 and "expired" in answer.text


def test_more_than_25_mb_is_413_with_the_code(sandbox: Client) -> None:
    answer = upload(sandbox, b"RIFF" + bytes(26_214_400))
    assert (answer.status_code, answer.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert "25 MB" in answer.json()["error"]


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"not a sound at all", "me.wav", "decoded"),
        (encode(np.zeros(RATE_HZ * 6, np.int16), RATE_HZ, "wav"), "me.wav", "No voice"),
        (sample(), "me.ogg", "Expected a file of type"),
    ],
)
def test_the_sample_is_listened_to(sandbox: Client, data: bytes, name: str, words: str) -> None:
    answer = upload(sandbox, data, name)
    assert answer.status_code == 400
    assert words in answer.json()["details"]["file"]["_errors"][0]


def test_a_short_sample_is_taken_with_a_warning(sandbox: Client) -> None:
    answer = upload(sandbox, sample(duration_s=3))
    assert answer.status_code == 200
    assert answer.headers["x-service-warning"] == "The sample lasts 3.0 s; 5 s or more are recommended"
    assert "x-service-warning" not in upload(sandbox, sample()).headers
    assert len(say(sandbox, answer.json()["id"]).content) > 10_000


def test_other_models_and_other_bodies_are_refused(sandbox: Client) -> None:
    assert upload(sandbox, sample(), model="tts-kokoro").status_code == 400
    assert upload(sandbox, sample(), model="tts-minimax-speech-02-hd").status_code == 403
    assert sandbox.post("/audio/voices", {"file": "x"}).status_code == 415
    url = f"{sandbox.running.base_url}/audio/voices"
    missing = sandbox.http.post(url, files={"other": ("a.wav", b"x")})
    assert missing.json()["details"]["file"]["_errors"] == ["Required"]
    broken = sandbox.http.post(
        url, content=b"--x\r\nnonsense", headers={"content-type": "multipart/form-data; boundary=x"}
    )
    assert broken.status_code == 400
    unbounded = sandbox.http.post(url, content=b"x", headers={"content-type": "multipart/form-data"})
    assert unbounded.status_code == 400


def test_silence_and_noise_have_no_pitch() -> None:
    from app.sandbox.media.sound import Sound

    noise = np.random.default_rng(1).normal(0, 3000, RATE_HZ).astype(np.int16)
    assert pitch_of(Sound(np.zeros(RATE_HZ, np.int16), RATE_HZ)) == 0
    assert pitch_of(Sound(noise, RATE_HZ)) == 0
    assert pitch_of(Sound(resample(decode(sample(200)).samples, RATE_HZ, 22_050), 22_050)) == pytest.approx(
        200, rel=0.03
    )
