"""The chat tab against the real Sandbox over its real socket: cited answers, faults, limits, a killed process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.auth import ApiKeyAuth
from app.service.service import open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.history import History
from app.storage.paths import resources
from app.storage.settings import SettingsStore
from app.ui.chat.presenter import ChatPresenter
from app.ui.conversation.message_rows import MessageRow
from tests.kit.sandbox import OnSandbox
from tests.kit.tasks import CheckedTasks
from tests.ui.silent_service import silent_service


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@dataclass
class Tab(OnSandbox):
    presenter: ChatPresenter
    history: History
    tasks: TaskScope
    sandbox: RunningSandbox

    @property
    def rows(self) -> tuple[MessageRow, ...]:
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()

    async def say(self, text: str) -> MessageRow:
        self.presenter.send(text)
        await self.tasks.idle()
        return self.rows[-1]


@asynccontextmanager
async def open_tab(home: Path, sandbox: RunningSandbox) -> AsyncIterator[Tab]:
    tasks = CheckedTasks()
    current_account = CurrentAccount()

    async def read_key() -> str:
        return sandbox.api_key

    service = open_service(sandbox.base_url, "service", ApiKeyAuth(read_key), lambda exchange: None)
    database = await Database.open(home / "rialto.sqlite3")
    presenter = ChatPresenter(current_account, SettingsStore(home / "settings.json"), tasks, UndoStack())
    tab = Tab(presenter, History(database), tasks, sandbox)
    try:
        current_account.use(Account(id="box", name="Sandbox", base_url=sandbox.base_url, kind="sandbox"), service)
        await presenter.start(tab.history, Catalogue(database))
        presenter.refresh_models()
        await tasks.idle()
        yield tab
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        presenter._settings.save()
        await database.close()
    tasks.check()


async def test_a_question_about_rialto_gets_a_true_cited_answer(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        assert tab.presenter.head().model_name
        row = await tab.say("Where does Rialto keep my API key?")
        assert row.state == "complete"
        assert "keyring" in row.text
        assert "[REF]" in row.text
        assert row.sources
        assert row.citations
        assert "play money" in row.receipt[0].text


async def test_a_cut_stream_keeps_its_text_and_continues(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        await tab.fault("cut", after=120, times=1, path="/chat/completions")
        row = await tab.say("What can I try in the Sandbox?")
        assert row.state == "interrupted"
        kept = row.text
        assert kept
        tab.presenter.act(row.id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].id == row.id
        assert tab.rows[-1].state == "complete"
        assert tab.rows[-1].text.startswith(kept)
        assert len(tab.rows[-1].text) > len(kept)


async def test_an_error_inside_the_stream_keeps_what_came(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        await tab.fault("in_band_error", after=60, times=1, path="/chat/completions")
        row = await tab.say("What happens when an answer is cut off?")
        assert row.state in ("interrupted", "failed")
        assert row.text


async def test_a_busy_service_is_tried_again_by_itself(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        said: list[str] = []
        tab.presenter.answers.changed.connect(
            lambda row: said.append(problem.what if (problem := tab.presenter.answers.problem_of(row)) else "")
        )
        await tab.fault("answer", status=503, times=1, path="/chat/completions")
        row = await tab.say("What can I try in the Sandbox?")
        assert row.state == "complete"
        assert row.problem is None
        assert "The service is busy" in said


async def test_an_empty_balance_is_explained(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        await tab.fault("answer", status=402, times=1, path="/chat/completions")
        row = await tab.say("Hello")
        assert row.state == "failed"
        assert row.problem is not None
        assert "Not enough credits" in row.problem.what


async def test_the_think_tag_model_thinks_apart_from_its_answer(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_tab(tmp_home, sandbox) as tab:
        tab.presenter.use_model("rialto-think-tags")
        row = await tab.say("Where does Rialto keep my API key?")
        assert row.reasoning
        assert "<think>" not in row.text
        tab.presenter.set_option("thinking", False)
        row = await tab.say("And where is my history?")
        assert not row.reasoning


async def test_killed_mid_answer_the_text_is_there_after_a_restart(tmp_home: Path, sandbox: RunningSandbox) -> None:
    """SIGKILL while an answer streams: its row is on disk, marked interrupted, with Continue."""
    with silent_service(tmp_home / "silent-sandbox") as box:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.ui.killed_chat",
            str(tmp_home),
            box.base_url,
            box.api_key,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        )
        assert process.stdout is not None
        async with asyncio.timeout(60):
            told = (await process.stdout.readline()).decode().strip()
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
    shown_chars = int(told)
    assert shown_chars > 20
    async with open_tab(tmp_home, sandbox) as tab:
        row = tab.rows[-1]
        assert row.state == "interrupted"
        assert len(row.text) == shown_chars
        tab.presenter.act(row.id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].state == "complete"
        assert tab.rows[-1].text.startswith(row.text)
