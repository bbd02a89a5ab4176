"""Speech synthesis: rules R-TTS, with every answer decoded again."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.sandbox import installed_engines
from app.sandbox.media.sound import decode, encode, resample
from tests.sandbox.support import Client, running

TEXT = "The tide turns at noon. The harbour light burns all night."
MODELS = {
    "tts-kokoro": 54, "tts-qwen3-0-6b": 9, "tts-qwen3-1-7b": 9, "tts-xai-v1": 26, "tts-inworld-1-5-max": 14,
    "tts-chatterbox-hd": 9, "tts-orpheus": 8, "tts-elevenlabs-turbo-v2-5": 21, "tts-minimax-speech-02-hd": 15,
    "tts-gemini-3-1-flash": 30, "tts-gradium-v1": 12,
}  # fmt: skip
MAGIC = {"mp3": (b"\xff\xf3", b"\xff\xfb", b"ID3"), "opus": (b"OggS",), "aac": (b"\xff\xf1", b"\xff\xf9"),
         "flac": (b"fLaC",), "wav": (b"RIFF",)}  # fmt: skip


def ask(sandbox: Client, text: str = TEXT, model: str = "tts-kokoro", **more: Any) -> httpx.Response:
    return sandbox.post("/audio/speech", {"input": text, "model": model, **more})


def spoken(sandbox: Client, text: str = TEXT, model: str = "tts-kokoro", **more: Any) -> bytes:
    answer = ask(sandbox, text, model, **more)
    assert answer.status_code == 200, answer.text
    return answer.content


def seconds(data: bytes) -> float:
    return decode(data).duration_s


def complaint(answer: httpx.Response, field: str) -> str:
    assert answer.status_code == 400
    body = answer.json()
    assert body["details"]["_errors"] == []
    return str(body["details"][field]["_errors"][0])


@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav"])
@pytest.mark.parametrize("streaming", [False, True])
def test_R_EP_05_R_NS_06_R_GEN_09_R_TTS_12_R_TTS_15_R_TTS_25_every_format_is_real_sound(
    sandbox: Client, name: str, streaming: bool
) -> None:
    answer = ask(sandbox, response_format=name, streaming=streaming)
    assert answer.headers["content-type"] == f"audio/{'mpeg' if name == 'mp3' else name}"
    assert answer.content.startswith(MAGIC[name])
    sound = decode(answer.content)
    assert 3.0 < sound.duration_s < 4.5
    assert np.abs(sound.samples.astype(int)).max() > 5000


def test_R_TTS_12_pcm_is_bare_samples_at_the_rate_of_the_model(sandbox: Client) -> None:
    for model, rate_hz in (("tts-kokoro", 24_000), ("tts-xai-v1", 24_000), ("tts-gradium-v1", 48_000)):
        raw = spoken(sandbox, model=model, response_format="pcm")
        wav = decode(spoken(sandbox, model=model, response_format="wav"))
        assert wav.rate_hz == rate_hz
        assert np.array_equal(np.frombuffer(raw, "<i2"), wav.samples)


def test_R_TTS_12_another_format_is_400_and_so_is_one_the_model_does_not_write(sandbox: Client) -> None:
    assert "Expected 'mp3'" in complaint(ask(sandbox, response_format="ogg"), "response_format")
    text = complaint(ask(sandbox, model="tts-orpheus", response_format="mp3"), "response_format")
    assert text == "tts-orpheus does not write mp3; it writes wav"


def test_R_TTS_15_streaming_sends_one_piece_per_sentence(sandbox: Client) -> None:
    body = {"input": TEXT, "model": "tts-kokoro", "response_format": "pcm", "streaming": True}
    url = f"{sandbox.running.base_url}/audio/speech"
    with sandbox.http.stream("POST", url, json=body) as answer:
        assert answer.headers["transfer-encoding"] == "chunked"
        pieces = [piece for piece in answer.iter_raw() if piece]
    whole = spoken(sandbox, response_format="pcm")
    assert b"".join(pieces) == whole
    assert "content-length" in ask(sandbox, response_format="pcm").headers


def test_R_TTS_15_a_streamed_wav_says_that_its_length_is_not_known_yet(sandbox: Client) -> None:
    data = spoken(sandbox, response_format="wav", streaming=True)
    assert data[4:8] == data[40:44] == b"\xff\xff\xff\xff"
    whole = spoken(sandbox, response_format="wav")
    length = int.from_bytes(whole[40:44], "little")
    assert int.from_bytes(whole[4:8], "little") == len(whole) - 8  # with the words behind the sound
    assert data[44:] == whole[44 : 44 + length]


@pytest.mark.parametrize(
    ("text", "status"), [("a", 200), ("a" * 4096, 200), ("", 400), ("  \n", 400), ("a" * 4097, 400)]
)
def test_R_TTS_02_R_LIM_21_the_text_has_1_to_4096_characters(sandbox: Client, text: str, status: int) -> None:
    answer = ask(sandbox, text, response_format="wav")
    assert answer.status_code == status
    if status == 400:
        assert complaint(answer, "input")


def test_a_text_without_anything_to_say_is_400(sandbox: Client) -> None:
    assert "spoken" in complaint(ask(sandbox, "… — !?"), "input")


def test_R_TTS_03_the_language_hint_has_2_to_32_characters(sandbox: Client) -> None:
    assert complaint(ask(sandbox, language="e"), "language")
    assert complaint(ask(sandbox, language="e" * 33), "language")
    assert ask(sandbox, language="en").status_code == 200


def test_R_TTS_04_R_TTS_05_R_TTS_06_hints_take_the_form_of_the_model_and_unknown_ones_are_ignored(
    sandbox: Client,
) -> None:
    plain = spoken(sandbox, model="tts-xai-v1", response_format="wav")
    assert spoken(sandbox, model="tts-xai-v1", response_format="wav", language="de") != plain
    assert spoken(sandbox, model="tts-xai-v1", response_format="wav", language="German") == plain
    assert spoken(sandbox, model="tts-xai-v1", response_format="wav", language="Klingon") == plain
    names = spoken(sandbox, model="tts-qwen3-0-6b")
    assert spoken(sandbox, model="tts-qwen3-0-6b", language="German") != names
    assert spoken(sandbox, model="tts-qwen3-0-6b", language="de") == names
    locale = spoken(sandbox, model="tts-gemini-3-1-flash", language="English (UK)", response_format="wav")
    assert locale != spoken(sandbox, model="tts-gemini-3-1-flash", language="English (US)", response_format="wav")
    assert spoken(sandbox, response_format="wav", language="German") == spoken(sandbox, response_format="wav")


def test_R_TTS_07_an_unknown_model_is_404_and_a_missing_one_400(sandbox: Client) -> None:
    assert ask(sandbox, model="tts-none").status_code == 404
    assert ask(sandbox, model="rialto-handbook").status_code == 404
    answer = sandbox.post("/audio/speech", {"speed": 9})
    details = answer.json()["details"]
    assert (answer.status_code, set(details)) == (400, {"_errors", "input", "model", "speed"})


def test_R_TTS_08_R_TTS_09_R_TTS_21_R_TTS_22_R_TTS_23_R_NS_08_all_eleven_models_list_their_voices(
    sandbox: Client,
) -> None:
    records = {model["id"]: model for model in sandbox.get("/models?type=tts").json()["data"]}
    assert {name: len(record["model_spec"]["voices"]) for name, record in records.items()} == MODELS
    kokoro = records["tts-kokoro"]["model_spec"]["voices"]
    assert (kokoro[0], kokoro[-1], len(set(kokoro))) == ("af_alloy", "em_santa", 54)
    assert sandbox.get("/models/tts-kokoro").json() == records["tts-kokoro"]


@pytest.mark.parametrize("model", MODELS)
def test_R_TTS_20_every_voice_of_every_model_speaks(sandbox: Client, model: str) -> None:
    sandbox.control("/settings", {"partner": True})
    spec = sandbox.get(f"/models/{model}").json()["model_spec"]
    wanted = "wav" if "wav" in spec["supported_formats"] else spec["default_format"]
    clips = {voice: spoken(sandbox, "Noon.", model, voice=voice, response_format=wanted) for voice in spec["voices"]}
    assert all(0.2 < seconds(clip) < 3 for clip in clips.values())
    assert len(set(clips.values())) == len(clips), "no two voices of a model sound the same"
    default = spoken(sandbox, "Noon.", model, response_format=wanted)
    assert default == clips[spec["default_voice"]]


def test_R_TTS_10_R_LIM_22_the_style_prompt_has_at_most_500_characters(sandbox: Client) -> None:
    assert ask(sandbox, prompt="x" * 500).status_code == 200
    assert complaint(ask(sandbox, prompt="x" * 501), "prompt")


@pytest.mark.parametrize(
    ("rule", "field", "values", "flag", "text"),
    [
        ("R-TTS-11", "prompt", ("slow and deep", "fast and bright"), "supportsPromptParam", TEXT),
        ("R-TTS-17", "temperature", (0.4, 2.0), "supportsTemperatureParam", TEXT),
        ("R-TTS-19", "top_p", (0.1, 1.0), "supportsTopPParam", TEXT),
    ],
)
def test_R_TTS_11_R_TTS_17_R_TTS_19_parameters_count_only_where_the_model_advertises_them(
    sandbox: Client, rule: str, field: str, values: tuple[object, object], flag: str, text: str
) -> None:
    for record in sandbox.get("/models?type=tts").json()["data"]:
        model = record["id"]
        also = {"temperature": 2.0} if field == "top_p" else {}
        one, other = (spoken(sandbox, text, model, **also, **{field: value}) for value in values)
        assert (one != other) == record["model_spec"][flag], f"{rule} {model}"
    assert {record["id"] for record in sandbox.get("/models?type=tts").json()["data"]} == set(MODELS)


def test_R_TTS_13_R_LIM_23_speed_is_0_25_to_4(sandbox: Client) -> None:
    assert complaint(ask(sandbox, speed=0.24), "speed") and complaint(ask(sandbox, speed=4.01), "speed")
    lengths = [seconds(spoken(sandbox, speed=speed, response_format="wav")) for speed in (0.25, 0.5, 1, 2, 4)]
    ratios = [lengths[2] / length for length in lengths]
    assert ratios == pytest.approx([0.25, 0.5, 1, 2, 4], rel=0.15)


def test_R_TTS_13_models_clamp_or_ignore_the_speed(sandbox: Client) -> None:
    def length(model: str, speed: float) -> float:
        return seconds(spoken(sandbox, model=model, speed=speed))

    assert length("tts-xai-v1", 4.0) == pytest.approx(length("tts-xai-v1", 1.5), rel=0.01)
    assert length("tts-orpheus", 4.0) == pytest.approx(length("tts-orpheus", 1.0), rel=0.01)


def test_R_TTS_14_speed_is_1_when_left_out(sandbox: Client) -> None:
    assert spoken(sandbox) == spoken(sandbox, speed=1.0)


def test_R_TTS_16_R_TTS_18_temperature_and_top_p_have_bounds(sandbox: Client) -> None:
    answer = ask(sandbox, temperature=2.1, top_p=1.1)
    assert set(answer.json()["details"]) == {"_errors", "temperature", "top_p"}
    assert ask(sandbox, temperature=0, top_p=0).status_code == 200


def test_R_TTS_24_R_ERR_09_a_voice_of_another_model_is_400_naming_the_valid_ones(sandbox: Client) -> None:
    answer = ask(sandbox, model="tts-orpheus", voice="Leo")
    assert answer.status_code == 400
    assert "Try using a supported voice: dan, jess, leah, leo, mia, tara, zac, zoe" in answer.json()["error"]
    assert complaint(answer, "voice")


def test_R_GEN_13_characters_are_charged_and_an_empty_balance_is_402(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "1"})
    spoken(sandbox, "a" * 1000, streaming=True)
    spoken(sandbox, "a" * 1000)
    assert sandbox.balance() == "0.9930000"
    line = sandbox.get("/billing/usage-history").json()["data"][0]
    assert (line["sku"], line["units"], line["amount"]) == ("tts-kokoro-characters", 1000.0, -0.0035)
    sandbox.control("/balance", {"usd": "0"})
    assert ask(sandbox).status_code == 402


def test_R_LIM_06_audio_is_60_requests_a_minute(sandbox: Client) -> None:
    answer = ask(sandbox, "Noon.")
    assert answer.headers["x-ratelimit-limit-requests"] == "60"
    assert answer.headers["x-service-model-id"] == "tts-kokoro"


def test_R_TTS_01_the_endpoint_wants_a_credential(sandbox: Client, bare: httpx.Client) -> None:
    assert bare.post(f"{sandbox.running.base_url}/audio/speech", json={"input": "a"}).status_code == 401


def test_the_other_dialect_adds_the_flat_list(venice: Client) -> None:
    answer = ask(venice, speed=9)
    assert answer.json()["issues"][0]["path"] == ["speed"]
    assert ask(venice).headers["x-venice-model-id"] == "tts-kokoro"


def test_without_the_engine_the_answer_is_501_and_says_what_to_install(
    sandbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "espeakng_loader" else real(name))
    answer = ask(sandbox)
    assert answer.status_code == 501
    assert "espeak-ng" in answer.json()["error"] and "rialto[sandbox]" in answer.json()["error"]
    state = sandbox.control("/engines", method="GET")
    speech = next(one for one in state["data"] if one["name"] == "speech")
    assert (speech["installed"], speech["missing"]) == (False, ["espeakng_loader"])
    assert sandbox.chat_raw().status_code == 200


def test_without_pyav_everything_but_aac_is_spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "av" else real(name))
    with running(tmp_path) as sandbox:
        spec = sandbox.get("/models/tts-kokoro").json()["model_spec"]
        assert "aac" not in spec["supported_formats"]
        assert ask(sandbox, response_format="aac").status_code == 501
        assert ask(sandbox, response_format="mp3").status_code == 200


def test_another_rate_keeps_pitch_and_length() -> None:
    tone = (8000 * np.sin(2 * np.pi * 440 * np.arange(22_050) / 22_050)).astype(np.int16)
    other = resample(tone, 22_050, 48_000)
    spectrum = np.abs(np.fft.rfft(other))
    assert (len(other), int(np.argmax(spectrum))) == (48_000, 440)
    assert decode(encode(other, 48_000, "wav")).samples.tolist() == other.tolist()


def test_sound_in_stereo_is_mixed_down() -> None:
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, np.stack([np.full(800, 0.5), np.full(800, -0.5)], axis=1), 8000, format="WAV")
    assert np.abs(decode(buffer.getvalue()).samples).max() <= 1


def test_streamed_speech_can_be_cut_off(sandbox: Client) -> None:
    sandbox.fault("cut", after=700, times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        ask(sandbox, response_format="pcm", streaming=True)
    assert ask(sandbox, response_format="pcm", streaming=True).status_code == 200


def test_endless_recordings_are_not_decoded_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.sandbox.media import sound

    hush = encode(np.zeros(16_000 * 3, np.int16), 16_000, "flac")
    monkeypatch.setattr(sound, "LONGEST_S", 2.0)
    with pytest.raises(sound.NotSound, match="longer than"):
        decode(hush)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("input", 7), ("model", 7), ("voice", 7), ("response_format", "midi"), ("speed", "fast"), ("streaming", "yes"),
        ("language", 7), ("prompt", 7), ("temperature", "hot"), ("top_p", "high"),
    ],
)  # fmt: skip
def test_R_NS_07_every_field_has_its_wire_name(sandbox: Client, name: str, wrong: object) -> None:
    answer = sandbox.post("/audio/speech", {"input": TEXT, "model": "tts-kokoro", name: wrong})
    assert complaint(answer, name)


TWO_AT_ONCE = """
import threading, time
from app.sandbox.media import speech_engine

made = []


class SlowEngine(speech_engine._Espeak):
    def __init__(self):
        made.append(self)
        time.sleep(0.2)
        super().__init__()


speech_engine._Espeak = SlowEngine
delivery = speech_engine.Delivery("en")
threads = [threading.Thread(target=speech_engine.speak, args=(f"Word {n}", delivery)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(made) == 1, made
"""


def test_the_engine_is_started_once_however_many_ask_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", TWO_AT_ONCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
