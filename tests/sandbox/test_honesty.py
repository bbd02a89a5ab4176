"""The Sandbox says what it is: in every answer, at its address, in its models and in the files it makes."""

import io
import socket

import httpx
import pytest
from PIL import ExifTags, Image

from app.sandbox import installed_engines
from app.sandbox.http.connections import SERVER
from app.sandbox.media.sound import MADE_BY as SPOKEN
from tests.sandbox.support import Client


def test_every_answer_names_the_sandbox(sandbox: Client, bare: httpx.Client) -> None:
    origin = sandbox.running.origin
    answers = [
        sandbox.get("/models"),
        sandbox.chat_raw(),
        sandbox.chat_raw(stream=True),
        sandbox.get("/nothing"),
        bare.get(f"{sandbox.running.base_url}/characters"),
        bare.get(f"{origin}/"),
        bare.get(f"{origin}/handbook"),
        bare.put(f"{origin}/sandbox/reset"),
        sandbox.http.get(f"{origin}/sandbox/state"),
    ]
    assert {answer.headers["server"] for answer in answers} == {SERVER}
    assert SERVER.startswith("Rialto-Sandbox/") and "play money" in SERVER


def test_so_does_an_answer_to_what_is_no_http(sandbox: Client) -> None:
    with socket.create_connection(("127.0.0.1", int(sandbox.running.origin.rpartition(":")[2])), timeout=60) as wire:
        wire.sendall(b"what is this?\r\n\r\n")
        assert f"Server: {SERVER}".encode() in wire.recv(4096)


def test_a_browser_is_told_at_the_root(sandbox: Client, bare: httpx.Client) -> None:
    page = bare.get(f"{sandbox.running.origin}/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/plain")
    assert "stand-in" in page.text and "play money" in page.text and sandbox.running.base_url in page.text
    assert sandbox.running.api_key not in page.text


def test_no_model_pretends_to_be_one(sandbox: Client) -> None:
    honest = (
        "Not a language model",
        "handbook",
        "Not an image model",
        "Not a video model",
        "Not an embedding model",
        "espeak-ng",
        "PocketSphinx",
        "does not understand",
        "Counts words",
        "Sandbox",
        "previous reader",
        "unavailable model",
    )
    for model in sandbox.get("/models", params={"type": "all"}).json()["data"]:
        about = model["model_spec"]["description"]
        assert any(word.lower() in about.lower() for word in honest), f"{model['id']}: {about}"
        assert model["owned_by"] == "rialto"


@pytest.mark.parametrize("name", ["mp3", "opus", "flac", "wav"])
def test_speech_says_who_spoke(name: str, sandbox: Client) -> None:
    body = {"model": "tts-kokoro", "input": "Hello.", "response_format": name}
    assert SPOKEN.encode() in sandbox.post("/audio/speech", body).content


@pytest.mark.parametrize("name", ["png", "jpeg", "webp"])
def test_images_say_who_drew_them(name: str, sandbox: Client) -> None:
    body = {
        "model": "rialto-canvas",
        "prompt": "a boat",
        "format": name,
        "return_binary": True,
        "width": 64,
        "height": 64,
    }
    data = sandbox.post("/image/generate", body).content
    image = Image.open(io.BytesIO(data))
    told = image.info.get("Software") or image.getexif().get(ExifTags.Base.Software)
    assert "Rialto Sandbox" in str(told)


def test_a_video_says_who_made_it() -> None:
    import av

    from app.sandbox.media.video_engine import render_video

    with av.open(io.BytesIO(render_video("a boat", 0.2, (64, 64), sound=False))) as video:
        assert "Rialto Sandbox" in video.metadata["comment"]


def test_engines_tell_version_licence_and_state(sandbox: Client) -> None:
    def engines() -> dict[str, dict[str, object]]:
        return {one["name"]: one for one in sandbox.control("/engines", method="GET")["data"]}

    assert all(one["licence"] for one in engines().values())
    assert all(one["version"] for one in engines().values() if one["installed"])
    assert {one["state"] for one in engines().values()} <= {"missing", "idle", "loaded"}
    sandbox.chat()
    assert engines()["chat"]["state"] == "loaded"


def test_an_engine_that_is_not_installed_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = installed_engines.Engine("x", "y", ("no_such_module",), "no-such-package")
    assert (engine.state, engine.version) == ("missing", "")
