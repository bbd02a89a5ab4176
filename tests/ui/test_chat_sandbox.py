"""The chat tab against the real Sandbox over its real socket: cited answers, faults, limits, a killed process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from app.core.money import at_most, cost, short_cost
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.chat_types import TextDelta, ToolCall, ToolCallsFound, Usage, UsageReported
from app.service.models import Model
from app.storage.paths import resources
from app.storage.receipts import Receipts
from app.ui.chat.inspector.totals_page import TotalsModel
from app.ui.chat.session import live_answer
from app.ui.chat.session.answer_writer import Ending, store_ending
from app.ui.chat.session.estimate import TokenCounter
from app.ui.chat.session.live_answer import LiveAnswer
from app.ui.chat.session.view_values import learn_from, likely_prompt
from tests.kit.chat import SandboxChatPresenterHarness, open_sandbox_chat_presenter
from tests.kit.portable import KILL
from tests.kit.waiting import until
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


def list_costs(tab: SandboxChatPresenterHarness) -> list[str]:
    """What the list of chats says that each cost."""
    return [entry.cost for entry in tab.presenter.every_entry()]


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
        os.kill(process.pid, KILL)
        await process.wait()
    shown_chars = int(told)
    assert shown_chars > 20
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        row = tab.rows[-1]
        assert row.state == "interrupted"
        assert len(row.text) == shown_chars
        (left,) = [each for each in await Receipts(tab.database).recent() if each.endpoint.startswith("POST")]
        assert (left.outcome, left.cost_source) == ("cut", "possible")
        assert left.cost_usd is not None and left.cost_usd == left.estimate_usd > 0
        message = await tab.history.message(row.id)
        assert (message.cost_usd, message.usage["cost_source"]) == (left.cost_usd, "possible")
        assert (await tab.history.chat(message.chat_id)).cost_usd == left.cost_usd
        assert row.receipt[0].text == f"{at_most(left.cost_usd)}, play money"
        assert list_costs(tab) == [at_most(left.cost_usd)]
        tab.presenter.message_actions.act(row.id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].state == "complete"
        assert tab.rows[-1].text.startswith(row.text)
        both = (await tab.history.message(row.id)).cost_usd
        assert both is not None and both > left.cost_usd
        assert tab.rows[-1].receipt[0].text == f"{at_most(both)}, play money", (
            "the first part is as uncertain as before"
        )
        assert list_costs(tab) == [at_most(both)]


async def test_a_stopped_answer_costs_up_to_its_expected_price_until_the_balance_tells(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    """Receipt, message, chat and list agree before and after."""
    with silent_service(tmp_home / "slow-sandbox") as box:
        async with open_sandbox_chat_presenter(tmp_home, box) as tab:
            tab.presenter.send("What happens when an answer is cut off?")
            await until(lambda: len(tab.rows) == 2 and len(tab.rows[-1].text) > 20)
            tab.presenter.stop()
            await tab.tasks.idle()
            (kept,) = [each for each in await Receipts(tab.database).recent() if each.endpoint.startswith("POST")]
            assert (kept.outcome, kept.cost_source, kept.cost_usd) == ("stopped", "possible", kept.estimate_usd)
            assert kept.cost_usd is not None
            message = await tab.history.message(tab.rows[-1].id)
            assert (message.cost_usd, message.usage["cost_source"]) == (kept.cost_usd, "possible")
            assert tab.rows[-1].receipt[0].text == f"{at_most(kept.cost_usd)}, play money"
            total = tab.presenter.totals().total
            assert total is not None and cost(total.cost_usd, total.cost_source) == at_most(kept.cost_usd)
            assert TotalsModel.cells(total)[-1] == short_cost(kept.cost_usd, "possible")
            assert list_costs(tab) == [at_most(kept.cost_usd)]
            assert await tab.receipt_recorder.correct(kept.id, Decimal("0.00042"), "estimated")
            await tab.tasks.idle()
            assert tab.rows[-1].receipt[0].text == "about $0.00042, play money"
            chat = await tab.history.chat(message.chat_id)
            assert (chat.cost_usd, (await tab.history.message(message.id)).cost_usd) == (Decimal("0.00042"),) * 2
            total = tab.presenter.totals().total
            assert total is not None and TotalsModel.cells(total)[-1] == "~$0.00042"
            assert list_costs(tab) == ["$0.00042"]


async def test_the_tokens_of_an_answer_that_only_calls_a_function_are_shown(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    live = LiveAnswer("c", "m", "m", clock=lambda: 1.0)
    live.append((ToolCallsFound((ToolCall("1", "weather", '{"town": "Whitby", "day": "tomorrow"}'),)),))
    assert live.output_tokens >= 10, "counted, where the service does not"
    live.append((UsageReported(Usage(prompt=146, completion=30, total=176), Decimal("0.001")),))
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        await tab.say("Hello")
        message = await tab.history.message(tab.rows[-1].id)
        ending = Ending("complete", None, tab.presenter.answers.exchange_of(message.id))
        live.message_id = message.id
        stored = await store_ending(tab.history, live, ending, error_text="", sandbox=True, earlier=message)
        assert stored.usage["completion"] - message.usage["completion"] == 30


async def test_a_second_question_is_expected_to_cost_what_the_first_one_did_and_its_own_words(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    """The service's own prompt is there once, and does not grow with the chat."""
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        await tab.say("Hi")
        first = await tab.history.message(tab.rows[-1].id)
        await tab.say("And how do I stop an answer that takes too long?")
        second = await tab.history.message(tab.rows[-1].id)
        options, path = tab.presenter.opened.sent_options, tab.presenter.opened.thread.path(second.id)
        counter = TokenCounter()
        learn_from(counter, options, path[:2])
        guess = likely_prompt(counter, options, first.model, path[:3])
        assert first.usage["prompt"] < guess <= second.usage["prompt"] * 1.5
        assert abs(guess - second.usage["prompt"]) < abs(counter.corrected(first.model, 60) - second.usage["prompt"])


def test_times_of_an_answer_leave_out_what_was_waited_before_it_was_asked_for() -> None:
    """A passphrase that takes a quarter of a minute to type is no part of them."""
    now = [0.0]
    live = LiveAnswer("c", "m", "m", clock=lambda: now[0])
    now[0] = 15.2
    live.begin(0.2)
    live.append((TextDelta("So"),))
    assert live.first_token_s == pytest.approx(0.2)
    now[0] = 16.2
    assert live.elapsed_s == pytest.approx(1.2)


def test_a_cut_answer_costs_the_search_that_was_asked_for() -> None:
    spec = {"pricing": {"input": {"usd": 1}, "output": {"usd": 2}}}
    model = Model.model_validate({"id": "m", "model_spec": spec, "type": "text"})
    live = LiveAnswer("c", "m", "m", clock=lambda: 0.0, searched=True, model=model, prompt_tokens=1)
    live.append((TextDelta("So"),))
    cost = live.cost_so_far
    assert cost is not None and cost > Decimal("0.01"), "whether or not its results have come"
    live.append((UsageReported(Usage(prompt=1, completion=1, total=2), None),))
    cost = live.cost_so_far
    assert cost is not None and cost < Decimal("0.01"), "a whole answer without results has not searched"


def test_each_part_of_an_endless_sentence_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    class Watched:
        def search(self, text: str, at: int) -> object:
            looked.append(len(text) - at)
            return live_answer.re.compile(r"[.]\s").search(text, at)

    monkeypatch.setattr(live_answer, "SENTENCE", Watched())
    live = LiveAnswer("c", "m", "m", clock=lambda: 1.0)
    for _ in range(100):
        live.append([TextDelta("word " * 100)])
        assert not live.has_sentence
    assert sum(looked) < 2 * len(live.text)
    live.append([TextDelta("end. Next")])
    assert live.has_sentence
