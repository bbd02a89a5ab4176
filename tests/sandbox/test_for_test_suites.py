"""What test suites of other programs need: no limits, the same ids again, web pages, readiness, usual names, pytest."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from app.sandbox.__main__ import read_arguments
from app.sandbox.model_catalog import DEFAULT_MODELS
from app.sandbox.server import RunningSandbox
from tests.sandbox.support import RESOURCES, Client, running
from tests.sandbox.test_standalone import start

pytest_plugins = ["pytester"]
PAGE = "http://localhost:5173"


@pytest.fixture
def easy(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, no_limits=True, default_models=True, cors=(PAGE,)) as client:
        yield client


def openai_of(sandbox: RunningSandbox, base_url: str = "") -> openai.OpenAI:
    return openai.OpenAI(base_url=base_url or sandbox.base_url, api_key=sandbox.api_key, max_retries=0)


def test_without_limits_nothing_is_refused_for_coming_too_often(easy: Client) -> None:
    asked = {"model": "rialto-search", "messages": [{"role": "user", "content": "x"}], "temperature": 9}
    assert {easy.post("/chat/completions", asked).status_code for _ in range(25)} == {400}
    assert {easy.chat_raw("hi", model="rialto-search", max_tokens=1).status_code for _ in range(25)} == {200}
    block = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
    assert {easy.post("/crypto/rpc/base-mainnet", block).status_code for _ in range(105)} == {200}
    assert {easy.get("/tee/attestation?model=rialto-sealed").status_code for _ in range(12)} == {200}
    left = easy.get("/models").headers
    assert left["x-ratelimit-remaining-requests"] == left["x-ratelimit-limit-requests"]
    easy.control("/settings", {"no_limits": False})
    codes = [easy.chat_raw("hi", model="rialto-search", max_tokens=1).status_code for _ in range(21)]
    assert codes == [200] * 20 + [429]


def ids(sandbox: Client) -> list[Any]:
    tool = {"type": "function", "function": {"name": "get_weather"}}
    chat = sandbox.chat("weather", tools=[tool])
    video = {"model": "rialto-reel-text-to-video", "prompt": "A boat", "duration": "3s", "resolution": "360p"}
    image = sandbox.post("/image/generate", {"model": "rialto-canvas", "prompt": "A lake", "width": 64, "height": 64})
    return [
        chat["id"],
        chat["choices"][0]["message"]["tool_calls"][0]["id"],
        sandbox.get("/models").headers["cf-ray"],
        sandbox.post("/video/queue", {**video, "aspect_ratio": "16:9"}).json()["queue_id"],
        image.json()["id"],
        image.json()["images"],
    ]


def test_a_seed_gives_the_same_ids_and_images_again_also_after_a_reset(tmp_path: Path) -> None:
    found = []
    for number, seed in enumerate((7, 7, 8, None)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with running(folder, seed=seed) as sandbox:
            found.append(ids(sandbox))
            if seed == 7:
                assert ids(sandbox) != found[-1]
                sandbox.control("/reset", method="POST")
                for _ in range(number):
                    sandbox.http.get(f"{sandbox.running.origin}/health")
                assert ids(sandbox) == found[-1]
    assert found[0] == found[1]
    for other in (found[2], found[3]):
        assert not set(map(str, found[0])) & set(map(str, other))


def test_pages_of_a_named_origin_may_call_and_read_and_no_others(easy: Client, sandbox: Client) -> None:
    url = f"{easy.running.base_url}/chat/completions"
    asks = {"Origin": PAGE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    with httpx.Client(trust_env=False, timeout=60) as browser:
        allowed = browser.options(url, headers=asks)
        assert (allowed.status_code, allowed.content) == (204, b"")
        assert allowed.headers["access-control-allow-origin"] == PAGE
        assert allowed.headers["access-control-allow-headers"] == "authorization"
        assert "POST" in allowed.headers["access-control-allow-methods"]
        for origin in ("http://localhost:5174", "https://localhost:5173", "null", "*"):
            refused = browser.options(url, headers={**asks, "Origin": origin})
            assert refused.status_code == 405 and "access-control-allow-origin" not in refused.headers
        assert browser.options(url, headers={**asks, "Host": "rebound.example"}).status_code == 421
        assert browser.options(f"{sandbox.running.base_url}/models", headers=asks).status_code == 405
    read = easy.get("/models", headers={"Origin": PAGE})
    assert read.headers["access-control-allow-origin"] == PAGE and read.headers["vary"] == "Origin, Accept-Encoding"
    refused = easy.get("/nothing", headers={"Origin": PAGE})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (404, PAGE)
    assert "access-control-allow-origin" not in easy.get("/models").headers
    assert "access-control-allow-origin" not in sandbox.get("/models", headers={"Origin": PAGE}).headers
    logged = [(line["method"], line["status"]) for line in easy.control("/log", method="GET")["data"]]
    assert ("OPTIONS", 204) not in logged and ("OPTIONS", 405) in logged


def test_health_is_told_without_a_key_and_uses_nothing(sandbox: Client, bare: httpx.Client) -> None:
    assert bare.get(f"{sandbox.running.origin}/health").json() == {"status": "ok"}
    assert sandbox.control("/log", method="GET")["data"] == []


def test_v1_is_served_beside_api_v1(sandbox: Client) -> None:
    with openai_of(sandbox.running, f"{sandbox.running.origin}/v1") as client:
        said = client.chat.completions.create(
            model="rialto-handbook", messages=[{"role": "user", "content": "How do I stop an answer?"}]
        )
    assert "Esc" in (said.choices[0].message.content or "")
    assert sandbox.control("/log", method="GET")["data"][-1]["path"] == "/api/v1/chat/completions"
    assert httpx.get(f"{sandbox.running.origin}/v1/characters", trust_env=False).status_code == 401


def test_the_openai_client_finds_its_usual_models_and_voices(easy: Client) -> None:
    with openai_of(easy.running) as client:
        for name in DEFAULT_MODELS["text"]:
            said = client.chat.completions.create(
                model=name, messages=[{"role": "user", "content": "How do I stop an answer?"}]
            )
            assert "Esc" in (said.choices[0].message.content or ""), name
        sound = client.audio.speech.create(
            model="tts-1", voice="alloy", input="The weather is nice.", response_format="wav"
        )
        other = client.audio.speech.create(
            model="gpt-4o-mini-tts", voice="onyx", input="The weather is nice.", response_format="wav"
        )
        assert sound.content[:4] == b"RIFF" and sound.content != other.content
        heard = client.audio.transcriptions.create(model="whisper-1", file=("a.wav", sound.content, "audio/wav"))
        assert heard.text
        drawn = client.images.generate(model="gpt-image-1", prompt="A lake", size="1024x1024")
        assert drawn.data and drawn.data[0].b64_json
        assert client.models.retrieve("gpt-4o").id == "rialto-handbook"
    easy.control("/settings", {"default_models": False})
    assert easy.chat_raw(model="gpt-4o").status_code == 404
    assert easy.post("/audio/speech", {"model": "tts-kokoro", "voice": "alloy", "input": "Hi"}).status_code == 400


@pytest.mark.parametrize("kind", DEFAULT_MODELS)
def test_every_usual_name_means_a_model_that_is_there(easy: Client, kind: str) -> None:
    listed = {model["id"] for model in easy.get("/models", params={"type": kind}).json()["data"]}
    assert set(DEFAULT_MODELS[kind].values()) <= listed
    told = easy.get("/models/compatibility_mapping", params={"type": kind}).json()["data"]
    assert dict(DEFAULT_MODELS[kind]).items() <= told.items()


def test_the_ready_file_is_there_when_it_answers_and_gone_when_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "ready.json"
    file.write_text("of one that was killed", encoding="utf-8")
    options = ("--no-limits", "--default-models", "--seed", "3", "--cors", PAGE, "--ready-file", str(file))
    with start(*options) as process:
        assert process.stdout is not None and process.stderr is not None
        base_url = process.stdout.readline().strip()
        while not file.exists():
            time.sleep(0.01)
        ready = json.loads(file.read_text(encoding="utf-8"))
        assert ready == {"url": base_url, "pid": process.pid}
        health = httpx.get(base_url.replace("/api/v1", "/health"), headers={"Origin": PAGE}, trust_env=False)
        assert health.headers["access-control-allow-origin"] == PAGE
        headers = {"Authorization": "Bearer local-dev-key"}
        state = httpx.get(base_url.replace("/api/v1", "/sandbox/state"), headers=headers, trust_env=False).json()
        assert state["settings"]["no_limits"] and state["settings"]["default_models"]
        process.terminate()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--cors", "*"),
        ("--cors", "localhost:5173"),
        ("--cors", "http://localhost:5173/"),
        ("--cors", "null"),
        ("--ready-file", "no/such/folder/file"),
        ("--ready-file", "."),
        ("--seed", "x"),
    ],
)
def test_a_wrong_option_is_told(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments([option, value])
    assert ended.value.code == 2 and f"argument {option}: " in capsys.readouterr().err.splitlines()[-1]


USES = """
import os

import httpx
import pytest
from app.sandbox.server import Options


def said(sandbox, model="any"):
    headers = {"Authorization": f"Bearer {sandbox.key}"}
    body = {"model": model, "messages": [{"role": "user", "content": "Weather?"}]}
    answer = httpx.post(f"{sandbox.url}/chat/completions", json=body, headers=headers, trust_env=False, timeout=60)
    return answer.raise_for_status().json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("number", range(8))
def test_scripted(sandbox, number):
    assert sandbox.log() == [] and sandbox.control("/answers", method="GET")["answers"] == []
    sandbox.answer(f"Rain {number}.", match={"words": ["weather"]}, times=1)
    sandbox.answer({"status": 503}, name="down")
    assert said(sandbox) == f"Rain {number}."
    with pytest.raises(httpx.HTTPStatusError, match="503"):
        said(sandbox)
    assert [line["scripted_answer"] for line in sandbox.log()] == ["answer-1", "down"]
    assert [asked["messages"][0]["content"] for asked in sandbox.sent()] == ["Weather?", "Weather?"]


def test_its_own_work(sandbox):
    assert said(sandbox, "gpt-4o")
    sandbox.reset()
    assert sandbox.log() == [] and sandbox.sent() == []


def test_a_wrong_script_names_its_field(sandbox):
    with pytest.raises(ValueError, match="words"):
        sandbox.answer("x", match={"words": "x"})
"""


def with_plugins(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """Return the options for a pytest with these and no other plugins, whose imports take a second of a processor."""
    monkeypatch.setenv("PYTHONPATH", str(RESOURCES.parent))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return [option for name in names for option in ("-p", name)]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_fixture_serves_tests_of_others_alone_and_in_parallel(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    plugins = with_plugins(monkeypatch, "app.sandbox.pytest_plugin", "xdist")
    pytester.makepyfile(USES)
    done = pytester.runpytest_subprocess(*plugins, "-n", workers)
    done.assert_outcomes(passed=10)


def test_its_options_can_be_others(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = with_plugins(monkeypatch, "app.sandbox.pytest_plugin")
    pytester.makeconftest(
        """
import pytest
from app.sandbox.server import Options


@pytest.fixture(scope="session")
def sandbox_options():
    return Options(dialect="venice", local_ports={})
"""
    )
    pytester.makepyfile(
        """
def test_dialect(sandbox):
    assert sandbox.control("/state", method="GET")["settings"]["dialect"] == "venice"
"""
    )
    done = pytester.runpytest_subprocess(*plugins)
    done.assert_outcomes(passed=1)


def control_of(client: Client, key: str, path: str, body: Any = None, method: str = "PUT") -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    answer = client.http.request(method, f"{client.running.origin}/sandbox{path}", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_faults_and_time_of_one_key_disturb_no_other(tmp_path: Path) -> None:
    with running(tmp_path, any_key=True) as client:
        models = f"{client.running.base_url}/models"

        def status(key: str) -> int:
            return client.http.get(models, headers={"Authorization": f"Bearer {key}"}).status_code

        def day(key: str) -> str:
            return client.http.get(models, headers={"Authorization": f"Bearer {key}"}).headers["date"][:16]

        control_of(client, "one", "/faults/answer?scope=key", {"status": 503, "times": 1})
        control_of(client, "two", "/faults/answer?scope=key", {"status": 418})
        control_of(client, "two", "/faults/slow", {"seconds": 0, "path": "/nowhere"})
        assert [status(key) for key in ("one", "one", "two", "three", "two")] == [503, 200, 418, 200, 418]
        assert set(control_of(client, "two", "/faults?scope=key", method="GET")["armed"]) == {"answer"}
        assert set(control_of(client, "two", "/faults", method="GET")["armed"]) == {"slow"}
        assert control_of(client, "two", "/faults?scope=key", method="DELETE")["armed"] == {}
        assert status("two") == 200 and set(control_of(client, "one", "/faults", method="GET")["armed"]) == {"slow"}

        before = day("three")
        told = control_of(client, "one", "/clock?scope=key", {"offset_s": 86_400})
        assert told["offset_s"] == 86_400
        assert day("one") != before == day("three") == day("two")
        control_of(client, "two", "/clock", {"offset_s": 86_400})
        assert day("two") == day("three") != before and day("one") not in (before, day("two"))
        control_of(client, "one", "/reset", method="POST")
        assert day("one") == before
        url = f"{client.running.origin}/sandbox/clock?scope=all-of-them"
        assert client.http.put(url, json={"offset_s": 1}).status_code == 400


def test_a_fault_of_one_key_comes_before_that_of_all_also_in_a_stream(sandbox: Client) -> None:
    sandbox.fault("cut", after=100, times=1)
    sandbox.control("/faults/cut?scope=key", {"after": 10, "times": 1})
    said = []
    for _ in range(3):
        try:
            said.append(len(sandbox.chat_raw(stream=True).text))
        except httpx.RemoteProtocolError:
            said.append(0)
    assert said[:2] == [0, 0] and said[2] > 0
