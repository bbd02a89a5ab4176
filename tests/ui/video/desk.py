"""A video tab without its window: real storage, a real Sandbox with its clock turned, and quick waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.core.caller import Caller
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.intents import Intents
from app.storage.video_jobs import VideoJob
from app.ui.video.presenter import VideoPresenter

PAUSE_S = 0.005
PACE = 0.02  # of a second for a second of the poller
PROMPT = "a boat at sunset"
TEXT_MODEL = "rialto-reel-text-to-video"
PICTURE_MODEL = "rialto-reel-image-to-video"
PRIVATE_MODEL = "rialto-reel-private"


class Controls:
    """A Sandbox that runs somewhere, and its knobs."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.origin = base_url.removesuffix("/api/v1")

    async def put(self, path: str, body: dict[str, Any]) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60) as http:
            answer = await http.put(f"{self.origin}/sandbox/{path}", json=body)
            assert answer.status_code == 200, answer.text

    async def turn_clock(self, seconds: float) -> None:
        """Let so much time pass at the Sandbox, since the beginning."""
        await self.put("clock", {"offset_s": seconds})

    async def fault(self, name: str, **values: object) -> None:
        await self.put(f"faults/{name}", dict(values))

    async def reset_faults(self) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60) as http:
            answer = await http.delete(f"{self.origin}/sandbox/faults")
            assert answer.status_code == 200, answer.text

    async def reset(self) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60) as http:
            answer = await http.post(f"{self.origin}/sandbox/reset")
            assert answer.status_code == 200, answer.text

    async def calls(self, path: str) -> list[dict[str, Any]]:
        """The requests of a path that the Sandbox answered, oldest first."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60) as http:
            answer = await http.get(f"{self.origin}/sandbox/log")
        return [line for line in answer.json()["data"] if line["path"].endswith(path)]

    async def paid_jobs(self) -> int:
        """How many films were queued and paid for."""
        return sum(line["status"] == 200 for line in await self.calls("/video/queue"))


@dataclass
class Desk:
    """Everything under one video tab."""

    presenter: VideoPresenter
    tasks: TaskScope
    caller: Caller
    service: Service
    database: Database
    controls: Controls
    exchanges: list[Exchange]
    undo_stack: UndoStack
    notices: list[str] = field(default_factory=list)

    async def until(self, fact: Callable[[], object], seconds: float = 60.0) -> None:
        async with asyncio.timeout(seconds):
            while not fact():
                await asyncio.sleep(PAUSE_S)

    @property
    def jobs(self) -> tuple[VideoJob, ...]:
        return self.presenter.book.jobs()

    @property
    def job(self) -> VideoJob:
        """The last one that was ordered."""
        return self.jobs[0]

    def is_newest(self, prompt: str) -> bool:
        return self.job.prompt == prompt

    async def fill(self, prompt: str = PROMPT, model: str = TEXT_MODEL, **values: object) -> None:
        """Fill in the form and wait for its price."""
        form = self.presenter.form
        await self.until(lambda: form.model(model) is not None)
        form.set(model=model, **{"duration": "3s", **values, "prompt": prompt})
        await self.until(lambda: form.exact)

    async def order(self, prompt: str = PROMPT, model: str = TEXT_MODEL, **values: object) -> VideoJob:
        """Order a film and wait until the service has it, or until it is clear that it has not."""
        before = {job.id for job in self.jobs}
        await self.fill(prompt, model, **values)
        assert self.presenter.queue()
        await self.until(lambda: {job.id for job in self.jobs} - before)
        job_id = next(iter({job.id for job in self.jobs} - before))
        await self.until(lambda: self.state(job_id) not in ("waiting", "sending") or self.one(job_id).held)
        return self.one(job_id)

    def one(self, job_id: str) -> VideoJob:
        job = self.presenter.book.get(job_id)
        assert job is not None
        return job

    def state(self, job_id: str) -> str:
        return self.one(job_id).state

    async def reaches(self, job_id: str, *states: str) -> VideoJob:
        await self.until(lambda: self.state(job_id) in states)
        return self.one(job_id)

    async def done(self, job_id: str) -> VideoJob:
        """Let the film become ready and be fetched."""
        await self.controls.turn_clock(10)
        return await self.reaches(job_id, "saved", "cleaned")


@asynccontextmanager
async def open_desk(
    home: Path, controls: Controls, *, transport: httpx.AsyncBaseTransport | None = None, pace: float = PACE
) -> AsyncIterator[Desk]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed."""
    crashes: list[Exception] = []
    tasks = TaskScope(crashes.append)
    caller = Caller()
    exchanges: list[Exchange] = []

    async def read_key() -> str:
        return controls.api_key

    service = open_service(controls.base_url, "service", ApiKeyAuth(read_key), exchanges.append, transport=transport)
    database = await Database.open(home / "rialto.db")
    presenter = VideoPresenter(caller, tasks, home / "videos", undo_stack := UndoStack())
    presenter.poller.pace = presenter.sending.pace = pace
    presenter.form.quote_after_s = 0.0
    desk = Desk(presenter, tasks, caller, service, database, controls, exchanges, undo_stack)
    presenter.notice.connect(lambda sentence, *_: desk.notices.append(sentence))
    try:
        account = Account(id="box", name="Sandbox", base_url=controls.base_url, kind="sandbox")
        caller.use(account, service)
        await Intents(database).settle_after_start()
        await presenter.start(database, Catalogue(database))
        yield desk
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
    assert crashes == []
