"""An Images tab with everything under it: real storage, the real Sandbox at the other end."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.core.budget import Budget, Question
from app.core.caller import Caller
from app.core.ledger import Ledger
from app.core.tabs import tab_of
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.images import StoredImage
from app.storage.intents import Intents
from app.storage.receipts import Receipts
from app.ui.images.page import ImagesPage
from app.ui.images.presenter import ImagesPresenter
from app.ui.images.presenter_changes import ImageChanges
from app.ui.kit.theme import Theme

SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


@dataclass
class Desk:
    page: ImagesPage
    presenter: ImagesPresenter
    changes: ImageChanges
    tasks: TaskScope
    caller: Caller
    database: Database
    sandbox: RunningSandbox
    home: Path
    undo_stack: UndoStack
    toasts: list[tuple[str, str, str]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    async def until(self, fact: Callable[[], Any]) -> None:
        """Wait for a thing; the limit is for tests that would never end."""
        async with asyncio.timeout(60):
            while not fact():
                await asyncio.sleep(0.005)

    def write(self, text: str) -> None:
        """Type a prompt."""
        self.page.form.prompt.setPlainText(text)
        self.page.form.flush()

    async def made(self) -> list[StoredImage]:
        """Press the button, wait for the end of it, and return what is new."""
        before = set(self.presenter.library.rows)
        self.page.form.make.click()
        await self.until(lambda: set(self.presenter.library.rows) - before or self.presenter.problem)
        await self.still()
        return [image for key, image in self.presenter.library.rows.items() if key not in before]

    async def still(self) -> None:
        """Wait until no call is on its way."""
        await self.until(lambda: self.presenter.calls == 0 and not self._plans())

    def _plans(self) -> bool:
        return any(image.state == "sending" for image in self.presenter.library.rows.values())

    @property
    def paid(self) -> list[Exchange]:
        """The paid calls, without lists of models and styles."""
        return [each for each in self.exchanges if each.request.method == "POST"]

    def file_of(self, image: StoredImage) -> bytes:
        return self.presenter.files.path(image).read_bytes()

    async def armed(self) -> dict[str, Any]:
        """Return the faults that have not struck yet."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.sandbox.api_key}"}, timeout=60) as http:
            answer = await http.get(f"{self.sandbox.origin}/sandbox/faults")
            found: dict[str, Any] = answer.json()["armed"]
            return found

    async def fault(self, name: str, **values: object) -> None:
        """Arm one of the Sandbox's faults."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.sandbox.api_key}"}, timeout=60) as http:
            answer = await http.put(f"{self.sandbox.origin}/sandbox/faults/{name}", json=values)
            assert answer.status_code == 200, answer.text


@asynccontextmanager
async def open_desk(
    home: Path, sandbox: RunningSandbox, theme: Theme, *, models: bool = True, limits: Mapping[str, str] | None = None
) -> AsyncIterator[Desk]:
    """A started tab on the data folder `home`. Fails when any of its tasks crashed.

    `limits`: what may be spent, as the settings keep it; the numbers of the window follow each answer.
    """
    crashes: list[Exception] = []
    exchanges: list[Exchange] = []
    tasks = TaskScope(crashes.append)
    caller = Caller()

    key = f"{sandbox.api_key}-{secrets.token_hex(4)}"  # the Sandbox counts 20 images a minute for each key

    async def read_key() -> str:
        return key

    async def ask(_question: Question) -> bool:
        return False

    budget = Budget(lambda: limits or {}, lambda: caller.models, ask, tab_of)
    ledger = Ledger(caller, tasks, budget=budget)
    record = ledger.recorder(SANDBOX)

    def keep(exchange: Exchange) -> None:
        exchanges.append(exchange)
        record(exchange)

    service = open_service(sandbox.base_url, "service", ApiKeyAuth(read_key), keep, gate=budget.gate(SANDBOX))
    database = await Database.open(home / "rialto.sqlite3")
    await ledger.start(Receipts(database))
    await Intents(database).settle_after_start()  # as the window does before it hands the database on
    presenter = ImagesPresenter(caller, tasks, home / "data", undo_stack := UndoStack())
    changes = ImageChanges(presenter)
    page = ImagesPage(theme, presenter, changes, tasks, home / "cache")
    desk = Desk(page, presenter, changes, tasks, caller, database, sandbox, home, undo_stack, exchanges=exchanges)
    page.toast_wanted.connect(lambda *words: desk.toasts.append(words))
    panes = ((page.form, (324, 800)), (page.gallery, (760, 800)), (page.side, (312, 800)))
    try:
        caller.use(SANDBOX, service)
        await presenter.start(database, Catalogue(database))
        if models:
            await desk.until(lambda: presenter.styles)
        for pane, size in panes:
            pane.resize(*size)
            pane.show()
        yield desk
    finally:
        page.form.flush()
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
        for pane, _ in panes:
            pane.close()
            pane.deleteLater()
    if crashes:
        raise crashes[0]
