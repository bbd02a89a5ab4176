"""Models of other programs on this computer: found, listed, spoken to. The other program is a real server."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from app.sandbox.chat import local_servers
from tests.sandbox.support import Client, deltas, running


class ModelServer(ThreadingHTTPServer):
    """A small OpenAI-compatible server that says its prompt backwards, or what it was told to say."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.script: list[dict[str, Any]] | None = None
        self.status = 200
        self.hangs_up = False


class Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version: ClassVar[str] = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.dumps({"object": "list", "data": [{"id": "tiny:latest", "object": "model"}, {"id": "org/small"}]})
        self._head(200, "application/json", len(body))
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(asked)
        if self.server.status != 200:
            self._head(self.server.status, "application/json", 20)
            self.wfile.write(b'{"error":"no memory"}'[:20])
            return
        backwards = asked["messages"][-1]["content"][::-1]
        words = [{"content": f"{word} "} for word in backwards.split()]
        self._head(200, "text/event-stream", None)
        for delta in self.server.script or words:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if self.server.hangs_up:
            self.close_connection = True
            return
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self._event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _head(self, status: int, kind: str, length: int | None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if length is None:
            self.send_header("connection", "close")
        else:
            self.send_header("content-length", str(length))
        self.end_headers()

    def _event(self, event: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps({"id": "x", "model": "tiny", **event}).encode() + b"\n\n")


@pytest.fixture(autouse=True)
def _a_busy_computer_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "KNOCK_TIMEOUT_S", 60.0)
    monkeypatch.setattr(local_servers, "LIST_TIMEOUT_S", 60.0)


@pytest.fixture
def neighbor() -> Iterator[ModelServer]:
    with ModelServer() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def sandbox(tmp_path: Path, neighbor: ModelServer) -> Iterator[Client]:
    with running(tmp_path, local_ports={"ollama": neighbor.server_port}) as client:
        yield client


MODEL = "ollama/tiny@latest"


def test_the_models_of_the_other_program_are_listed_as_free(sandbox: Client) -> None:
    records = {model["id"]: model for model in sandbox.get("/models").json()["data"]}
    assert {MODEL, "ollama/org/small", "rialto-handbook"} <= set(records)
    spec = records[MODEL]["model_spec"]
    assert spec["name"] == "tiny:latest"
    assert spec["pricing"]["input"]["usd"] == spec["pricing"]["output"]["usd"] == 0
    assert sandbox.get("/models/ollama%2Ftiny@latest").json()["id"] == MODEL


def test_a_chat_is_really_passed_on_and_costs_nothing(sandbox: Client, neighbor: ModelServer) -> None:
    sandbox.control("/balance", {"usd": "0"})
    answer = sandbox.chat("abc def", model=MODEL, temperature=0.3, max_completion_tokens=50)
    assert answer["choices"][0]["message"]["content"] == "fed cba "
    assert (answer["model"], answer["cost"]["usd"]) == (MODEL, 0)
    assert answer["usage"] == {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    asked = neighbor.asked[0]
    assert (asked["model"], asked["temperature"], asked["stream"]) == ("tiny:latest", 0.3, True)
    assert "service_parameters" not in asked
    assert sandbox.balance() == "0"


def test_it_streams_as_it_comes(sandbox: Client) -> None:
    events = sandbox.stream("abc def", model=MODEL)
    assert deltas(events, "content") == "fed cba "
    assert events[-1] == "[DONE]" and events[-3]["choices"][0]["finish_reason"] == "stop"
    assert all(event["model"] == MODEL for event in events[:-1])


def test_character_and_search_results_go_along(sandbox: Client, neighbor: ModelServer) -> None:
    extension = {"character_slug": "night-editor", "enable_web_search": "on", "enable_web_citations": True}
    sandbox.chat("How do I stop an answer?", model=MODEL, service_parameters=extension)
    system = " ".join(m["content"] for m in neighbor.asked[0]["messages"] if m["role"] == "system")
    assert "You are Night Editor" in system
    assert "Press Esc or the Stop button" in system and "[REF]n[/REF]" in system


def test_reasoning_and_tool_calls_pass_through(sandbox: Client, neighbor: ModelServer) -> None:
    part = {"index": 0, "id": "call_9", "type": "function", "function": {"name": "get_time", "arguments": '{"zo'}}
    more = {"index": 0, "function": {"arguments": 'ne":"UTC"}'}}
    other = {"index": 0, "id": "call_10", "type": "function", "function": {"name": "get_day", "arguments": "{}"}}
    neighbor.script = [{"reasoning_content": "Hm. "}, *({"tool_calls": [piece]} for piece in (part, more, other))]
    tools = [{"type": "function", "function": {"name": "get_time"}}]
    choice = sandbox.chat("time?", model=MODEL, tools=tools)["choices"][0]
    assert neighbor.asked[0]["tools"] == tools
    assert choice["message"]["reasoning_content"] == "Hm. "
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in choice["message"]["tool_calls"]
    ]
    assert calls == [("call_9", "get_time", '{"zone":"UTC"}'), ("call_10", "get_day", "{}")]
    assert choice["finish_reason"] == "tool_calls"


def test_think_tags_split_over_chunks_are_stripped_when_asked(sandbox: Client, neighbor: ModelServer) -> None:
    neighbor.script = [{"content": piece} for piece in ("<th", "ink>secret ", "plan</thi", "nk>\n\n", "Hello")]
    assert sandbox.said("hi", model=MODEL) == "<think>secret plan</think>\n\nHello"
    extension = {"strip_thinking_response": True}
    assert sandbox.said("hi", model=MODEL, service_parameters=extension) == "Hello"
    assert deltas(sandbox.stream("hi", model=MODEL, service_parameters=extension), "content") == "Hello"


def test_a_refusal_of_the_other_program_is_told(sandbox: Client, neighbor: ModelServer) -> None:
    neighbor.status = 507
    for stream in (False, True):
        answer = sandbox.chat_raw("hi", model=MODEL, stream=stream)
        assert answer.status_code == 502
        assert "no memory" in answer.json()["error"]


def test_a_break_in_the_middle_is_an_error_inside_the_stream(sandbox: Client, neighbor: ModelServer) -> None:
    neighbor.script = [{"content": "One "}]
    neighbor.hangs_up = True
    events = sandbox.stream("hi", model=MODEL)
    assert deltas(events[:-2], "content") in ("One ", "One")
    assert events[-1] == "[DONE]"


def test_a_program_that_has_gone_is_no_longer_listed(tmp_path: Path, neighbor: ModelServer) -> None:
    port = neighbor.server_port
    with running(tmp_path, local_ports={"gone": 9, "ollama": port}) as sandbox:
        assert sandbox.control("/state", method="GET")["local_models"] == [MODEL, "ollama/org/small"]


def test_something_else_on_the_port_is_not_taken_for_a_model_server(tmp_path: Path, sandbox: Client) -> None:
    port = int(sandbox.running.origin.rpartition(":")[2])
    with running(tmp_path, local_ports={"vllm": port}) as other:
        assert other.control("/state", method="GET")["local_models"] == []
