"""A pytest plugin: the fixture `sandbox` is a Sandbox that every test finds as new.

Switch it on with `pytest -p app.sandbox.pytest_plugin`; where Rialto is installed, pytest finds it by itself. Each
process has one Sandbox of its own, so tests may run in parallel with pytest-xdist.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from app.sandbox import RESOURCES
from app.sandbox.server import Options, RunningSandbox, start_sandbox

TIMEOUT_S = 60
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy


class SandboxFixture:
    """What a test gets: where the Sandbox is, and its controls."""

    def __init__(self, running: RunningSandbox) -> None:
        self.url = running.base_url  # for a client's base URL
        self.origin = running.origin  # the same without a path
        self.key = running.api_key

    def answer(
        self,
        answer: dict[str, Any] | str,
        *,
        match: dict[str, Any] | None = None,
        times: int | None = None,
        name: str | None = None,
    ) -> None:
        """Add a scripted answer behind those there are. A text alone is a chat that says it."""
        said = {"text": answer} if isinstance(answer, str) else answer
        entry = {"name": name, "match": match, "times": times, "answer": said}
        self.control("/answers", {key: value for key, value in entry.items() if value is not None}, "POST")

    def log(self) -> list[dict[str, Any]]:
        """Return what was asked since the test began, oldest first."""
        return list(self.control("/log", method="GET")["data"])

    def sent(self) -> list[Any]:
        """Return the JSON bodies of the newest hundred requests of the test, oldest first.

        Raises `ValueError` for one of over 8 KB, of which only the beginning is kept.
        """
        asked = [
            entry["request"].get("postData", {}) for entry in self.control("/log.har", method="GET")["log"]["entries"]
        ]
        return [json.loads(body["text"]) for body in asked if body.get("mimeType", "").startswith("application/json")]

    def reset(self) -> None:
        self.control("/reset", method="POST")

    def control(self, path: str, body: object = None, method: str = "PUT") -> Any:
        """Use any control under /sandbox. Raises `ValueError` with the answer for one that is refused."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.origin}/sandbox{path}", data, headers, method=method)  # noqa: S310
        try:
            with _direct.open(request, timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read())
        except urllib.request.HTTPError as refusal:
            raise ValueError(f"{method} {path}: {refusal.read().decode()}") from None


@pytest.fixture(scope="session")
def sandbox_options() -> Options:
    """How the Sandbox behaves; override it in a conftest.py."""
    return Options(tokens_per_second=0, no_limits=True, default_models=True, seed=0, local_ports={})


@pytest.fixture(scope="session")
def sandbox_of_session(sandbox_options: Options, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), RESOURCES, options=sandbox_options) as running:
        yield running


@pytest.fixture
def sandbox(sandbox_of_session: RunningSandbox) -> SandboxFixture:
    """A Sandbox without the traces of other tests: `url`, `key`, `answer(…)`, `sent()`, `log()`, `control(…)`."""
    fixture = SandboxFixture(sandbox_of_session)
    fixture.reset()
    return fixture
