"""The chat tab against the real Sandbox over its real socket: cited answers, faults, limits, a killed process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from tests.kit.chat import open_sandbox_chat_presenter
from tests.ui.silent_service import silent_service


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


async def test_a_question_about_rialto_gets_a_true_cited_answer(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        assert tab.presenter.head().model_name
        row = await tab.say("Where does Rialto keep my API key?")
        assert row.state == "complete"
        assert "keyring" in row.text
        assert "[REF]" in row.text
        assert row.sources
        assert row.citations
        assert "play money" in row.receipt[0].text


async def test_a_cut_stream_keeps_its_text_and_continues(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        await tab.fault("cut", after=120, times=1, path="/chat/completions")
        row = await tab.say("What can I try in the Sandbox?")
        assert row.state == "interrupted"
        kept = row.text
        assert kept
        tab.presenter.message_actions.act(row.id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].id == row.id
        assert tab.rows[-1].state == "complete"
        assert tab.rows[-1].text.startswith(kept)
        assert len(tab.rows[-1].text) > len(kept)


async def test_an_error_inside_the_stream_keeps_what_came(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        await tab.fault("in_band_error", after=60, times=1, path="/chat/completions")
        row = await tab.say("What happens when an answer is cut off?")
        assert row.state in ("interrupted", "failed")
        assert row.text


async def test_a_busy_service_is_tried_again_by_itself(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
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
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        await tab.fault("answer", status=402, times=1, path="/chat/completions")
        row = await tab.say("Hello")
        assert row.state == "failed"
        assert row.problem is not None
        assert "Not enough credits" in row.problem.what


async def test_the_think_tag_model_thinks_apart_from_its_answer(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
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
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        row = tab.rows[-1]
        assert row.state == "interrupted"
        assert len(row.text) == shown_chars
        tab.presenter.message_actions.act(row.id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].state == "complete"
        assert tab.rows[-1].text.startswith(row.text)
