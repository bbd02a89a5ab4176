"""A running Sandbox and a raw HTTP client: what every test of the stand-in speaks through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.sandbox.server import Options, RunningSandbox, start_sandbox

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
NOON = 1_795_608_000.0  # 2026-11-25 12:00:00 UTC


@dataclass
class Client:
    """Raw HTTP against one Sandbox, with its key, and its controls."""

    running: RunningSandbox
    http: httpx.Client
    log: list[str] = field(default_factory=list)

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return self.http.get(self.running.base_url + path, **kwargs)

    def post(self, path: str, body: Any = None, **kwargs: Any) -> httpx.Response:
        return self.http.post(self.running.base_url + path, json=body, **kwargs)

    def control(self, path: str, body: Any = None, method: str = "PUT") -> Any:
        answer = self.http.request(method, f"{self.running.origin}/sandbox{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def fault(self, name: str, **values: Any) -> None:
        self.control(f"/faults/{name}", values)

    def turn_clock(self, offset_s: float) -> None:
        self.control("/clock", {"offset_s": offset_s})

    def balance(self) -> str:
        return str(self.control("/state", method="GET")["balance"]["usd"])

    def chat_raw(self, question: str = "How do I stop an answer?", **body: Any) -> httpx.Response:
        messages = body.pop("messages", [{"role": "user", "content": question}])
        return self.post("/chat/completions", {"model": "rialto-handbook", "messages": messages, **body})

    def chat(self, question: str = "How do I stop an answer?", **body: Any) -> dict[str, Any]:
        answer = self.chat_raw(question, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def said(self, question: str = "How do I stop an answer?", **body: Any) -> str:
        return str(self.chat(question, **body)["choices"][0]["message"]["content"])

    def stream(self, question: str = "How do I stop an answer?", **body: Any) -> list[Any]:
        """Return the decoded events of a streamed answer, "[DONE]" among them."""
        answer = self.chat_raw(question, stream=True, **body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        return events_of(answer.text)


def events_of(text: str) -> list[Any]:
    datas = [block.removeprefix("data: ") for block in text.split("\n\n") if block]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def deltas(events: list[Any], name: str, index: int = 0) -> str:
    """Join one text field of one choice over all chunks."""
    choices = [choice for event in events if event != "[DONE]" for choice in event.get("choices", ())]
    return "".join(choice["delta"].get(name) or "" for choice in choices if choice["index"] == index)


def as_new(sandbox: RunningSandbox) -> RunningSandbox:
    """Let a Sandbox that many tests speak with forget the ones before: a quick computer reaches its limits a minute."""
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    httpx.post(f"{sandbox.origin}/sandbox/reset", headers=headers, trust_env=False, timeout=60).raise_for_status()
    return sandbox


@contextmanager
def running(tmp_path: Path, **options: Any) -> Iterator[Client]:
    """A Sandbox without pauses, without a look at other programs, and with a clock that stands still."""
    defaults: dict[str, Any] = {"tokens_per_second": 0.0, "local_ports": {}}
    clock = options.pop("clock", lambda: NOON)
    port = options.pop("port", 0)
    sandbox = start_sandbox(tmp_path, RESOURCES, port=port, clock=clock, options=Options(**{**defaults, **options}))
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with sandbox, httpx.Client(headers=headers, timeout=60, verify=False, trust_env=False) as http:
        yield Client(sandbox, http)
