"""The Console without its window: real storage and service layer, and a real Sandbox with its chains."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.core.caller import Caller
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.auth import ApiKeyAuth
from app.service.service import Service, open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.crypto_rpc.state import CallEntry, RunView, SendQuestion


@dataclass
class ConsolePresenterHarness:
    """What a test holds: the presenter, what it said last, and how it is answered."""

    presenter: CryptoRpcPresenter
    tasks: TaskScope
    caller: Caller
    service: Service
    running: RunningSandbox
    database: Database
    undo_stack: UndoStack
    agree: bool = True
    questions: list[SendQuestion] = field(default_factory=list)
    notices: list[tuple[str, str, str]] = field(default_factory=list)
    entries: tuple[CallEntry, ...] = ()

    def __post_init__(self) -> None:
        self.presenter.ask = self._answer
        self.presenter.notice.connect(lambda *words: self.notices.append(words))
        self.presenter.calls_changed.connect(self._list)

    async def _answer(self, question: SendQuestion) -> bool:
        self.questions.append(question)
        return self.agree

    def _list(self, entries: tuple[CallEntry, ...]) -> None:
        self.entries = entries

    async def send(self) -> RunView | None:
        """Send the draft and wait for the end of it."""
        self.presenter.send()
        await self.tasks.idle()
        return self.presenter.run

    def write(self, text: str) -> None:
        """Type a request as JSON."""
        self.presenter.edit(lambda draft: draft.set_text(text), typed=True)

    async def restart(self) -> CryptoRpcPresenter:
        """Another presenter over the same files, as after a new start."""
        await self.presenter.aclose()
        presenter = CryptoRpcPresenter(self.caller, self.tasks, resources() / "data", UndoStack())
        await presenter.start(self.database)
        await self.tasks.idle()
        return presenter


@asynccontextmanager
async def open_console_presenter(folder: Path, tasks: TaskScope) -> AsyncIterator[ConsolePresenterHarness]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(folder / "sandbox", resources(), options=options) as running:
        account = Account(id="box", name="Sandbox", base_url=running.base_url, kind="sandbox")

        async def key() -> str:
            return running.api_key

        database = await Database.open(folder / "data" / "rialto.db")
        caller = Caller()
        service = open_service(running.base_url, "service", ApiKeyAuth(key), lambda _exchange: None)
        try:
            caller.use(account, service)
            presenter = CryptoRpcPresenter(caller, tasks, resources() / "data", undo_stack := UndoStack())
            desk = ConsolePresenterHarness(presenter, tasks, caller, service, running, database, undo_stack)
            await presenter.start(database)
            await tasks.idle()
            yield desk
        finally:
            await tasks.aclose()
            await service.aclose()
            await database.close()
