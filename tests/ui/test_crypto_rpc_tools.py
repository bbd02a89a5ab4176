"""Longer work of the Console: agreed on first, never over its budget, stopped at once, joined and kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit

from app.core.spending_limits import SpendingLimits
from app.core.tasks import TaskScope
from app.service.auth import ApiKeyAuth
from app.service.service import open_service
from app.ui.crypto_rpc.call_rows import CallDelegate
from app.ui.crypto_rpc.response_pane import TABLE
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.job_plans import NoPlan, Plan, SheetPlan, WatchPlan, log_plan, sheet_plan
from app.ui.crypto_rpc.session.jobs import Job
from app.ui.crypto_rpc.session.log_ranges import BlockRange, LogSearch
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.tools import Tools, _balances
from app.ui.crypto_rpc.tool_dialog import ToolDialog
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.sandbox import controls_of
from tests.kit.waiting import until
from tests.ui.rpc_contract import ALICE, CHAIN, creation, signed

NETWORK = "base-mainnet"
BOB = "0x3535353535353535353535353535353535353535"


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        window.presenter.use_network(NETWORK)
        window.presenter.tools = Tools(window.presenter.jobs, tmp_path / "answers")
        yield window


def field(dialog: Dialog, name: str) -> QLineEdit:
    return next(each for each in dialog.findChildren(QLineEdit) if each.accessibleName() == name)


def write(line: QLineEdit, text: str) -> None:
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)


async def mined(window: ConsoleHarness, blocks: int) -> None:
    """Put transactions on the chain, one block each."""
    for nonce in range(blocks):
        raw, _ = signed(nonce, data=creation())
        answer = await window.service.crypto_rpc.call(NETWORK, "eth_sendRawTransaction", [raw])
        assert answer.outcome.error is None, CHAIN


async def test_a_search_for_logs_says_its_price_first_and_joins_what_it_finds(
    window: ConsoleHarness, tmp_path: Path
) -> None:
    await mined(window, 3)
    window.run("Search logs over many blocks…")
    dialog = await window.dialog()
    assert isinstance(dialog, ToolDialog)
    write(field(dialog, "First block"), "0")
    write(field(dialog, "Blocks per request"), "1")
    write(field(dialog, "Maximum requests"), "10")
    assert dialog.price.text().startswith("At most 10 requests, 200 credits, $0.00013 to $0.00014.")
    assert window.entries == []
    press(dialog, "Search")
    await window.settle()
    bar = window.main.job
    assert "Search complete" in bar.note.text()
    job = window.job
    assert job is not None
    asked = [json.loads((await window.presenter.runs.read(entry.id)).body)["id"] for entry in window.entries]
    assert len(asked) == job.view.requests <= 10
    assert window.shown_run is not None
    assert isinstance(window.shown_run.outcomes[0].value, list)
    press(bar, "Close")
    assert bar.isHidden()


async def test_the_list_shows_what_longer_work_sends_while_it_works(window: ConsoleHarness) -> None:
    may_end = asyncio.Event()

    async def work(job: Job) -> str:
        for method in ("eth_blockNumber", "eth_gasPrice"):
            await job.ask(NETWORK, [CallRow(1, method)], key=f"list-{method}")
        await may_end.wait()
        return "Done."

    jobs = window.presenter.jobs
    assert jobs.start(Plan("Two requests", requests=2, credits=1_000), work)
    await until(lambda: len(window.entries) == 2)
    assert jobs.is_running
    may_end.set()
    await window.settle()
    assert len(window.entries) == 2


async def test_a_search_without_budget_is_not_begun(window: ConsoleHarness) -> None:
    window.run("Search logs over many blocks…")
    dialog = await window.dialog()
    assert isinstance(dialog, ToolDialog)
    write(field(dialog, "First block"), "0")
    write(field(dialog, "Last block"), "1000000")
    write(field(dialog, "Maximum requests"), "3")
    assert "at least 501 requests" in dialog.fault.text()
    assert not dialog.go.isEnabled()
    press(dialog, "Cancel")
    await window.settle()
    assert window.entries == []


@given(st.integers(0, 5_000), st.integers(1, 400), st.integers(1, 60), st.integers(0, 2**32))
def test_ranges_follow_each_other_without_gap_or_overlap_within_the_budget(
    blocks: int, width: int, budget: int, refusals: int
) -> None:
    search = LogSearch(BlockRange(10, 10 + blocks), most_blocks=width, most_calls=budget)
    expected, asked = 10, 0
    while not search.is_over:
        each = search.next_range()
        asked += 1
        refused, refusals = refusals & 1, refusals >> 1
        if refused and each.blocks > 1:
            search.refused(each)
            continue
        assert each.first == expected
        expected = each.last + 1
    assert asked <= budget
    assert search.next_block == expected
    assert search.is_complete == (expected == 11 + blocks)


async def test_balances_of_many_addresses_and_a_token_come_as_one_batch_and_one_table(window: ConsoleHarness) -> None:
    from app.sandbox.chains.networks import DOLLARS

    window.run("Balances of many addresses…")
    dialog = await window.dialog()
    boxes = {each.accessibleName(): each for each in dialog.findChildren(QPlainTextEdit)}
    boxes["Addresses"].setPlainText(f"{ALICE}\n{BOB}, {ALICE}")
    boxes["Token contracts (leave empty for the native coin only)"].setPlainText(DOLLARS[NETWORK])
    assert isinstance(dialog, ToolDialog)
    assert dialog.price.text().startswith("At most 1 request, 120 credits")
    press(dialog, "Read balances")
    await window.settle()
    assert window.shown_run is not None
    rows = window.shown_run.outcomes[0].value
    assert isinstance(rows, list)
    assert [row["address"] for row in rows] == [ALICE, BOB]
    assert [Decimal(row["ether"]) for row in rows] == [100, 0]
    assert all(Decimal(row["USDC"]) >= 0 for row in rows)
    assert [entry.title for entry in window.entries] == ["6 calls in a batch"]
    assert window.table_view.model() is window.table_view.cells


async def test_chain_heads_of_several_networks_are_watched_and_stop_when_nobody_looks(window: ConsoleHarness) -> None:
    window.run("Watch chain heads…")
    dialog = await window.dialog()
    for box in dialog.findChildren(QCheckBox):
        box.setChecked(box.accessibleName() in ("Base mainnet", "Ethereum mainnet"))
    write(field(dialog, "Interval in seconds"), "60")
    write(field(dialog, "Rounds"), "5")
    assert isinstance(dialog, ToolDialog)
    assert dialog.price.text().startswith("At most 10 requests, 200 credits")
    press(dialog, "Watch")
    await until(lambda: window.shown_run is not None)
    assert window.shown_run is not None
    rows = window.shown_run.outcomes[0].value
    assert isinstance(rows, list)
    assert {row["network"] for row in rows} == {"Base mainnet", "Ethereum mainnet"}
    assert all(isinstance(row["block"], int) for row in rows)
    assert window.response_tabs.currentIndex() == TABLE  # what was joined is a table first of all
    assert list(window.page.running_work()) == ["Watching chain heads"]
    window.main.hide()
    await window.settle()
    job = window.job
    assert job is not None
    assert (job.view.sentence, job.view.requests) == ("Stopped.", 2)


async def test_all_rounds_of_a_watch_are_one_row_that_opens_the_last(window: ConsoleHarness) -> None:
    await window.presenter.jobs.send(NETWORK, [CallRow(1, "eth_blockNumber", [])], key="", batch=False)
    plan = WatchPlan("Watching", 6, 120, networks=(NETWORK, "ethereum-mainnet"), pause_s=0, rounds=3)
    assert window.presenter.tools.start(plan)
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_getBlockByNumber"] * 2 + ["eth_blockNumber"]
    watched = window.entries[1]
    assert watched.second == "Base mainnet · 3 times"
    assert watched.right.startswith("60 cr")
    window.page.open_call(watched.id)
    await window.settle()
    run = window.shown_run
    assert run is not None
    assert (len(run.runs), run.id) == (3, run.runs[-1][0])
    delegate = window.list.view.itemDelegate()
    assert isinstance(delegate, CallDelegate)
    assert delegate.marked == watched.id
    window.presenter.sent.move_to_trash((watched.id,))
    await window.settle()
    assert [entry.title for entry in window.entries] == ["eth_getBlockByNumber", "eth_blockNumber"]
    window.undo()
    await window.settle()
    assert [entry.second for entry in window.entries if entry.id == watched.id] == ["Base mainnet · 3 times"]


async def test_a_request_is_repeated_under_new_keys_until_escape(window: ConsoleHarness) -> None:
    window.run("Repeat request…")
    dialog = await window.dialog()
    write(field(dialog, "Interval in seconds"), "3600")
    write(field(dialog, "Number of times"), "3")
    press(dialog, "Repeat")
    await until(lambda: len(window.entries) == 1 and window.shown_run is not None)
    assert window.page.handle_escape()
    await window.settle()
    keys = await window.database.fetch("SELECT idempotency_key FROM rpc_calls")
    assert len({str(row[0]) for row in keys}) == 1
    assert window.job_text() == "Stopped."


async def test_what_changes_a_chain_is_never_repeated(window: ConsoleHarness) -> None:
    raw, _ = signed(0, data=creation())
    window.type_json(call("eth_sendRawTransaction", raw))
    window.run("Repeat request…")
    dialog = await window.dialog()
    assert isinstance(dialog, ToolDialog)
    assert "never repeated" in dialog.fault.text()
    assert not dialog.go.isEnabled()
    press(dialog, "Cancel")
    await window.settle()


def test_an_address_with_a_typing_error_makes_no_plan() -> None:
    wrong = ALICE[:-1] + ("0" if ALICE[-1] != "0" else "1")
    with pytest.raises(NoPlan, match="checksum"):
        sheet_plan(NETWORK, f"{BOB} {wrong}", "")
    with pytest.raises(NoPlan, match="at least one address"):
        sheet_plan(NETWORK, " ", "")
    with pytest.raises(NoPlan, match="is before"):
        log_plan(NETWORK, {}, "10", "9", "100", "5")


async def test_in_the_sandbox_the_examples_find_something(window: ConsoleHarness) -> None:
    """A newcomer who changes nothing: a search for logs finds transfers, a call has an answer."""
    window.run("Search logs over many blocks…")
    dialog = await window.dialog()
    assert isinstance(dialog, ToolDialog)
    write(field(dialog, "First block"), "0")
    press(dialog, "Search")
    await window.settle()
    run = window.shown_run
    assert run is not None
    found = run.outcomes[0].value
    assert isinstance(found, list) and len(found) >= 3
    window.presenter.remove_calls([0])
    window.presenter.add_method("eth_call")
    row = window.calls[-1]
    answer = await window.service.crypto_rpc.call(NETWORK, row.method, row.params)
    assert int(str(answer.outcome.result), 16) > 0


@pytest.mark.parametrize("symbol", ["address", "ether"])
def test_a_token_that_calls_itself_like_another_column_hides_nothing(symbol: str) -> None:
    def outcome(value: str) -> CallOutcome:
        return CallOutcome(1, "eth_call", value, is_error=False, credits=1)

    name = f"{32:064x}{len(symbol):064x}{symbol.encode().hex():<064}"
    answers = [outcome(f"0x{0:064x}"), outcome(f"0x{name}"), outcome(hex(10**18)), outcome(f"0x{7:064x}")]
    plan = SheetPlan("Balances", 1, 1, network=NETWORK, addresses=(BOB,), tokens=(CHAIN,))
    (row,) = _balances(plan, answers)
    assert row == {"address": BOB, "ether": "1", f"{symbol} {CHAIN}": "7"}


async def test_a_job_is_held_against_the_limits_with_all_that_it_can_cost(window: ConsoleHarness) -> None:
    """One request fits into the limit, twenty do not: none leaves, and the bar leads to the limit."""

    async def no(_question: object) -> bool:
        return False

    account = window.current_account.account
    assert account is not None

    async def key() -> str:
        return str(window.sandbox.api_key)

    limits = SpendingLimits(lambda: {"hard day": "0.00005"}, lambda: (), no, str)
    auth = ApiKeyAuth(key)
    gate = limits.gate(account)
    service = open_service(window.sandbox.base_url, "service", auth, lambda _exchange: None, gate=gate)
    window.current_account.use(account, service)
    await window.settle()
    helped: list[str] = []
    window.page.help_requested.connect(helped.append)
    window.run("Repeat request…")
    dialog = await window.dialog()
    write(field(dialog, "Number of times"), "20")
    press(dialog, "Repeat")
    await window.settle()
    bar = window.main.job
    assert "This would exceed your daily limit" in bar.note.text()
    assert "All 20 requests together may cost $0.00028" in bar.note.text()
    assert "Repeating" not in bar.words.accessibleName()
    assert window.job.view.requests == 0
    assert await controls_of(window.sandbox).paid(f"/crypto/rpc/{NETWORK}") == 0
    press(bar, "Change the limit…")
    assert helped == ["limits:day"]
    await service.aclose()


async def test_the_credits_of_a_day_hold_the_last_request_of_a_job(window: ConsoleHarness) -> None:
    async def work(job: Job) -> str:
        for number in range(3):
            await job.ask(NETWORK, [CallRow(1, "eth_blockNumber")], key=f"day-{number}")
        return "Done."

    assert window.presenter.jobs.start(Plan("Three requests", requests=3, credits=1_000), work)
    await window.settle()
    assert window.presenter.caps.view.credits == 60
