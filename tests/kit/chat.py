"""A chat tab without its window: real storage, real service layer, and a service at the other end of a stub socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.service import Service, open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.history import History
from app.storage.settings import SettingsStore
from app.ui.chat.presenter import ChatPresenter
from tests.kit.tasks import CheckedTasks

ACCOUNT = Account(id="acc", name="Main account", base_url="http://service.test/v1")
SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


def model_body(model_id: str = "plain", name: str = "Plain", **changes: Any) -> dict[str, Any]:
    """A record of `GET /models` as the service writes it."""
    capabilities = {"supportsWebSearch": True, "supportsReasoning": True, **changes.pop("capabilities", {})}
    spec = {
        "name": name,
        "privacy": "private",
        "availableContextTokens": 32_000,
        "maxCompletionTokens": 1_000,
        "pricing": {"input": {"usd": 1.0, "diem": 1.0}, "output": {"usd": 4.0, "diem": 4.0}},
        "capabilities": capabilities,
        "traits": ["default"] if model_id == "plain" else [],
        **changes,
    }
    return {"id": model_id, "object": "model", "type": "text", "owned_by": "x", "model_spec": spec}


def text_chunk(text: str, **delta: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "plain",
        "choices": [{"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}],
    }


USAGE = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "plain",
    "choices": [],
    "usage": {
        "prompt_tokens": 812,
        "completion_tokens": 164,
        "total_tokens": 976,
        "prompt_tokens_details": {"cached_tokens": 512},
    },
    "cost": {"usd": 0.0007, "diem": 0},
}
DONE = b"data: [DONE]\n\n"


def sse(body: object) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


@dataclass
class FakeService:
    """Answers chat with what `pieces` say; `gates` hold a stream back until a test opens them.

    `answers` are taken one per call: an async generator function of bytes, or a whole `httpx.Response`.
    """

    requests: list[dict[str, Any]] = field(default_factory=list)
    answers: list[Callable[[], AsyncIterator[bytes]] | httpx.Response] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=lambda: [model_body(), model_body("other", "Other")])
    closed: int = 0

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"object": "list", "data": self.models, "type": "text"})
        self.requests.append(json.loads(request.content))
        answer = self.answers.pop(0) if self.answers else whole("Hello.")
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(
            200,
            headers={"content-type": "text/event-stream", "cf-ray": "ray-1", "x-ratelimit-remaining-requests": "68"},
            stream=_Stream(answer(), self),
        )


class _Stream(httpx.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes], service: FakeService) -> None:
        self._pieces = pieces
        self._service = service

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        self._service.closed += 1


def whole(*texts: str, usage: bool = True) -> Callable[[], AsyncIterator[bytes]]:
    """An answer that arrives in pieces and ends as it should."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in texts:
            yield sse(text_chunk(text))
            await asyncio.sleep(0)
        if usage:
            yield sse(USAGE)
        yield DONE

    return pieces


def cut(*texts: str) -> Callable[[], AsyncIterator[bytes]]:
    """An answer that ends without saying that it is complete."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in texts:
            yield sse(text_chunk(text))
            await asyncio.sleep(0)

    return pieces


def held(gate: asyncio.Event, first: str, rest: str = "") -> Callable[[], AsyncIterator[bytes]]:
    """An answer whose second half waits for the test."""

    async def pieces() -> AsyncIterator[bytes]:
        yield sse(text_chunk(first))
        await gate.wait()
        yield sse(text_chunk(rest)) + sse(USAGE) + DONE

    return pieces


@dataclass
class ChatPresenterHarness:
    """Everything under one chat tab, and what it told the page."""

    presenter: ChatPresenter
    history: History
    tasks: TaskScope
    current_account: CurrentAccount
    settings: SettingsStore
    fake: FakeService
    database: Database
    undo_stack: UndoStack
    told: dict[str, list[Any]] = field(default_factory=dict)

    def text_of(self, place: int) -> str:
        """The text of a shown row, the last one for -1."""
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()[place].text

    @property
    def rows(self) -> Any:
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()

    async def say(self, text: str) -> None:
        """Send and wait for the end of the answer."""
        self.presenter.send(text)
        await self.tasks.idle()


def watch(desk: ChatPresenterHarness) -> None:
    """Write down every signal's newest values."""
    presenter = desk.presenter
    for name in ("entries_changed", "head_changed", "cost_changed", "draft_replaced", "totals_changed", "notice"):
        desk.told[name] = []
        getattr(presenter, name).connect(lambda *values, name=name: desk.told[name].append(values))


@asynccontextmanager
async def open_chat_presenter(
    home: Path, *, account: Account = ACCOUNT, fake: FakeService | None = None, with_models: bool = True
) -> AsyncIterator[ChatPresenterHarness]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed."""
    fake = fake or FakeService()
    tasks = CheckedTasks()
    settings = SettingsStore(home / "settings.json")
    current_account = CurrentAccount()

    async def read_key() -> str:
        return "sk-test-0123456789abcdef"

    service: Service = open_service(
        "http://service.test/v1",
        "service",
        ApiKeyAuth(read_key),
        lambda exchange: None,
        transport=httpx.MockTransport(fake.handle),
    )
    database = await Database.open(home / "rialto.sqlite3")
    history = History(database)
    presenter = ChatPresenter(current_account, settings, tasks, undo_stack := UndoStack())
    desk = ChatPresenterHarness(presenter, history, tasks, current_account, settings, fake, database, undo_stack)
    watch(desk)
    try:
        current_account.use(account, service)
        if with_models:
            current_account.set_numbers(models=await service.models.list("text"))
        await presenter.start(history, Catalogue(database))
        await tasks.idle()
        yield desk
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        settings.save()
        await database.close()
    tasks.check()
