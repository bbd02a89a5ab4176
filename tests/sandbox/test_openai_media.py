"""The official `openai` client, unmodified, against `python -m app.sandbox`: sound, images and vectors."""

import base64
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from PIL import Image

from app.sandbox.media.sound import decode

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-this-test"
TEXT = "I would like a cup of coffee."
PARAKEET = "nvidia/parakeet-tdt-0.6b-v3"


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    command = [sys.executable, "-m", "app.sandbox", "--port", "0", "--api-key", KEY, "--speed", "0", "--no-local"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as one:
            yield one
        process.terminate()
        assert process.wait(timeout=60) == 0


def test_R_TTS_25_speech_whole_and_R_STT_13_its_transcription(client: openai.OpenAI) -> None:
    spoken = client.audio.speech.create(model="tts-kokoro", voice="af_sky", input=TEXT, response_format="wav")
    assert 1 < decode(spoken.content).duration_s < 4
    heard = client.audio.transcriptions.create(model=PARAKEET, file=("note.wav", spoken.content))
    assert "cup" in heard.text or "coffee" in heard.text
    plain = client.audio.transcriptions.create(
        model=PARAKEET, file=("note.wav", spoken.content), response_format="text"
    )
    assert str(plain).strip() == heard.text


def test_R_TTS_15_speech_while_it_arrives(client: openai.OpenAI, tmp_path: Path) -> None:
    file = tmp_path / "speech.mp3"
    with client.audio.speech.with_streaming_response.create(
        model="tts-kokoro", voice="bm_george", input=f"{TEXT} {TEXT}", extra_body={"streaming": True}
    ) as answer:
        answer.stream_to_file(file)
    assert decode(file.read_bytes()).duration_s > 2


def test_R_TTS_24_a_wrong_voice_is_a_bad_request(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.audio.speech.create(model="tts-orpheus", voice="alloy", input=TEXT)
    assert "Try using a supported voice: dan" in caught.value.response.json()["error"]


def test_R_STT_18_a_large_file_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        client.audio.transcriptions.create(model=PARAKEET, file=("a.wav", b"RIFF0000WAVE" + bytes(26_214_400)))
    assert (caught.value.status_code, caught.value.response.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_R_GEN_05_embeddings(client: openai.OpenAI) -> None:
    answer = client.embeddings.create(model="text-embedding-3-small", input=["tide", "tides"], dimensions=128)
    assert [len(one.embedding) for one in answer.data] == [128, 128]  # asked for as base64, decoded by the client
    assert answer.usage.total_tokens > 0
    plain = client.embeddings.create(model="text-embedding-bge-m3", input="tide", encoding_format="float")
    assert len(plain.data[0].embedding) == 1024


def test_R_GEN_07_images(client: openai.OpenAI) -> None:
    answer = client.images.generate(model="rialto-canvas", prompt="a boat at sunset", size="512x512")
    assert answer.data is not None and answer.data[0].b64_json is not None
    assert Image.open(io.BytesIO(base64.b64decode(answer.data[0].b64_json))).size == (512, 512)


def test_R_EP_12_every_model_can_be_listed(client: openai.OpenAI) -> None:
    kinds = [model.model_dump()["type"] for model in client.models.list(extra_query={"type": "all"})]
    assert {"text", "tts", "asr", "image", "inpaint", "upscale", "embedding", "video"} == set(kinds)
