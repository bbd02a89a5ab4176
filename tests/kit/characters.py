"""What the tests of the character browser share: a service with many characters, and a browser on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.credentials.accounts import Account
from app.service.service import open_service
from app.storage.database import Database
from app.storage.service_cache import ServiceCache
from app.storage.settings import SettingsStore
from app.ui.characters.presenter import CharactersPresenter
from tests.kit.tasks import CheckedTasks

LIVE = Account(id="acc", name="Main account", base_url="http://service.test/v1")
SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


def character_body(number: int, **changes: Any) -> dict[str, Any]:
    """A record of `GET /characters` as the service writes it."""
    return {
        "id": f"id-{number}",
        "slug": f"slug-{number}",
        "name": f"Person {number}",
        "description": None if number % 7 == 0 else f"Knows everything about {number}.",
        "author": "k3x9q",
        "adult": False,
        "featured": False,
        "webEnabled": number % 2 == 0,
        "modelId": "plain",
        "tags": ["sea", f"tag-{number % 5}"],
        "photoUrl": f"https://pictures.test/{number}.png",
        "shareUrl": f"https://share.test/{number}",
        "createdAt": "2025-12-20T21:28:08.934Z",
        "updatedAt": "2026-01-09T03:23:53.708Z",
        "stats": {
            "averageRating": 4.7,
            "imports": 1000 - number,
            "ratingCount": 24,
            "ratingSum": 113,
            "userRating": None,
        },
        **changes,
    }


@dataclass
class FakeServiceCache:
    """120 characters behind one path; `refuse` answers the next calls with a status instead."""

    rows: list[dict[str, Any]] = field(default_factory=lambda: [character_body(number) for number in range(120)])
    asked: list[httpx.QueryParams] = field(default_factory=list)
    refuse: list[httpx.Response] = field(default_factory=list)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.params)
        if self.refuse:
            return self.refuse.pop(0)
        params = request.url.params
        rows = [row for row in self.rows if row.get("adult", False) == (params.get("isAdult") == "true")]
        if models := params.get_list("modelId"):
            rows = [row for row in rows if row["modelId"] in models]
        if params.get("search"):
            rows = [row for row in rows if params["search"].lower() in row["name"].lower()]
        for tag in params.get_list("tags"):
            rows = [row for row in rows if tag in row["tags"]]
        start, limit = int(params.get("offset", 0)), int(params["limit"])
        return httpx.Response(200, json={"object": "list", "data": rows[start : start + limit]})


@dataclass
class CharactersHarness:
    presenter: CharactersPresenter
    fake: FakeServiceCache
    tasks: TaskScope
    settings: SettingsStore
    current_account: CurrentAccount

    @property
    def state(self) -> Any:
        return self.presenter.state

    @property
    def slugs(self) -> list[str]:
        return [row.slug for row in self.presenter.state.rows]

    async def idle(self) -> None:
        await self.tasks.idle()


@asynccontextmanager
async def open_characters(
    home: Path, *, account: Account = LIVE, fake: FakeServiceCache | None = None, connected: bool = True
) -> AsyncIterator[CharactersHarness]:
    fake = fake or FakeServiceCache()
    tasks = CheckedTasks()
    current_account = CurrentAccount()
    settings = SettingsStore(home / "settings.json")
    service = open_service(
        "http://service.test/v1", "service", None, lambda exchange: None, transport=httpx.MockTransport(fake.handle)
    )
    database = await Database.open(home / "rialto.sqlite3")
    presenter = CharactersPresenter(current_account, settings, tasks, debounce_s=0)
    presenter.service_cache = ServiceCache(database)
    try:
        current_account.use(account, service if connected else None)
        yield CharactersHarness(presenter, fake, tasks, settings, current_account)
    finally:
        await tasks.aclose()
        await service.aclose()
        await database.close()
    tasks.check()
