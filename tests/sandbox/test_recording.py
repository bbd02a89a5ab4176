"""Record and replay: a client sees no difference, no key is written down, and nothing else is passed on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from app.sandbox.__main__ import read_arguments
from app.sandbox.http import recording
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from tests.kit.portable import has_mode
from tests.sandbox.support import RESOURCES, Client, running

ASK = [{"role": "user", "content": "How do I stop an answer?"}]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def recorder(sandbox: Client, file: Path, tmp_path: Path) -> Iterator[RunningSandbox]:
    """In front of another Sandbox, which is the service here."""
    options = Options(record=(file, sandbox.running.base_url), local_ports={})
    with start_sandbox(tmp_path, RESOURCES, options=options) as one:
        yield one


def replayed(file: Path, tmp_path: Path) -> Any:
    return running(tmp_path, replay=recording.load(file))


def asked(base_url: str, key: str) -> list[Any]:
    """What a client gets: a list, an answer, a stream, an error, and audio."""
    with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        models = [model.id for model in client.models.list()]
        whole = client.chat.completions.create(model="rialto-handbook", messages=ASK)
        chunks = list(client.chat.completions.create(model="rialto-reasoning", messages=ASK, stream=True))
        with pytest.raises(openai.NotFoundError) as refusal:
            client.chat.completions.create(model="nobody", messages=ASK)
        sound = client.audio.speech.create(model="tts-kokoro", voice="af_sky", input="Hi.", response_format="wav")
        return [models, whole.model_dump(), [chunk.model_dump() for chunk in chunks], str(refusal.value), sound.content]


def test_what_was_recorded_is_given_again_without_the_service_and_without_a_key(
    sandbox: Client, recorder: RunningSandbox, file: Path, tmp_path: Path
) -> None:
    first = asked(recorder.base_url, sandbox.running.api_key)
    assert len(sandbox.control("/log", method="GET")["data"]) == 5, "the service was asked"
    text = file.read_text(encoding="utf-8")
    assert sandbox.running.api_key not in text and text.count("[hidden]") == 5
    assert has_mode(file, 0o600)
    streamed = json.loads(text.splitlines()[2])["response"]["chunks"]
    assert len(streamed) > 1 and all(chunk["wait_s"] >= 0 for chunk in streamed)
    with replayed(file, tmp_path) as again:
        assert asked(again.running.base_url, "whatever") == first
        assert len(sandbox.control("/log", method="GET")["data"]) == 5, "and not asked again"
        unknown = again.post("/chat/completions", {"model": "rialto-handbook", "messages": []})
        assert (unknown.status_code, "was recorded" in unknown.json()["error"]) == (404, True)
        assert again.http.get(f"{again.running.origin}/health").json() == {"status": "ok"}


def test_the_same_question_gets_its_answers_in_their_order_and_then_the_last(
    sandbox: Client, recorder: RunningSandbox, file: Path, tmp_path: Path
) -> None:
    def question(base: str) -> int:
        body = {"model": "rialto-plain", "messages": ASK, "max_tokens": 1}
        return httpx.post(f"{base}/chat/completions", json=body, headers=sandbox.http.headers).status_code

    sandbox.fault("answer", status=503, times=2)
    assert [question(recorder.base_url) for _ in range(3)] == [503, 503, 200]
    with replayed(file, tmp_path) as again:
        assert [question(again.running.base_url) for _ in range(5)] == [503, 503, 200, 200, 200]


def test_a_form_is_known_again_by_its_parts(
    sandbox: Client, recorder: RunningSandbox, file: Path, tmp_path: Path
) -> None:
    def sent(base: str, name: bytes) -> int:
        files = {"file": ("a.wav", name, "audio/wav")}
        return httpx.post(f"{base}/audio/transcriptions", files=files, headers=sandbox.http.headers).status_code

    assert sent(recorder.base_url, b"\xff\xfe no sound") == 400
    with replayed(file, tmp_path) as again:
        assert sent(again.running.base_url, b"\xff\xfe no sound") == 400
        assert sent(again.running.base_url, b"another") == 404


def test_web_pages_cannot_call_through_a_recorder(sandbox: Client, recorder: RunningSandbox) -> None:
    url = f"{recorder.base_url}/models"
    assert httpx.get(url, headers={"origin": "https://example.org"}).status_code == 403
    assert httpx.get(url, headers={"host": "evil.example"}).status_code == 421
    assert sandbox.control("/log", method="GET")["data"] == []


def test_a_service_that_is_not_there_is_told_and_not_written_down(file: Path, tmp_path: Path) -> None:
    with running(tmp_path, record=(file, "http://127.0.0.1:9")) as client:
        answer = client.get("/models")
        assert answer.status_code == 502 and "cannot be reached" in answer.json()["error"]
    assert file.read_text() == ""


def test_an_http_archive_is_replayed(sandbox: Client, tmp_path: Path) -> None:
    models = sandbox.get("/models?type=text")
    file = tmp_path / "log.har"
    sandbox.chat_raw(model="nobody")
    file.write_bytes(sandbox.http.get(f"{sandbox.running.origin}/sandbox/log.har").content)
    with replayed(file, tmp_path) as again:
        assert again.get("/models?type=text").status_code == models.status_code
        assert again.chat_raw(model="nobody").json() == {"error": "The model was not found"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--record", "a.jsonl"], "need each other"),
        (["--service", "https://example.org"], "need each other"),
        (["--record", "a.jsonl", "--service", "http://example.org/v1"], "is not an address"),
        (["--record", "a.jsonl", "--service", "https://me:secret@example.org"], "is not an address"),
        (["--replay", "nowhere.jsonl"], "cannot be read"),
    ],
)
def test_what_cannot_be_recorded_is_told_at_once(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read_arguments(arguments)
    assert told in capsys.readouterr().err


def test_without_a_client_a_sentence_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.sandbox.__main__.find_spec", lambda _name: None)
    with pytest.raises(SystemExit):
        read_arguments(["--record", "a.jsonl", "--service", "https://example.org/v1"])
    assert "pip install httpx" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["{", "7", "{}", '{"request": {}, "response": {}}'])
def test_a_file_that_is_no_recording_is_told_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"\n{line}\n")
    with pytest.raises(ValueError, match="line 2 is not a recorded call"):
        recording.load(file)
    (tmp_path / "a.har").write_text(line)
    with pytest.raises(ValueError, match="not an HTTP Archive"):
        recording.load(tmp_path / "a.har")
