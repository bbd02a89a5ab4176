"""A Console killed while a request is on its way; what caps and the service's refusals say; large answers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.core.tasks import TaskScope
from app.service.auth import ApiKeyAuth
from app.service.documented_limits import LIMITS
from app.service.rpc_methods import refusal_of
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.session.sending import SEND_ANYWAY
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.portable import KILL
from tests.kit.waiting import until
from tests.ui.killed_transaction import BOB, NETWORK, POINTS, AliceSigns, transfer
from tests.ui.killing import KilledPrograms, killed_programs
from tests.ui.rpc_contract import ALICE

KEY = "killed-on-its-way"
NEVER = json.loads((resources() / "data" / "rpc_methods.json").read_text())["never"]


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        yield window


async def arm(window: ConsoleHarness, name: str, **values: object) -> None:
    """Arm one of the Sandbox's faults, for requests to nodes."""
    async with httpx.AsyncClient(headers=permission(window), timeout=60) as http:
        address = f"{window.sandbox.origin}/sandbox/faults/{name}"
        answer = await http.put(address, json={"path": "/crypto/rpc/", "times": 1, **values})
        assert answer.status_code == 200, answer.text


async def test_r_rpc_36_a_request_of_a_killed_process_is_unknown_and_free_to_send_again(
    window: ConsoleHarness, tmp_path: Path
) -> None:
    running = window.sandbox
    await arm(window, "slow", seconds=0.4)
    path = tmp_path / "killed" / "rialto.db"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_rpc", str(path), running.base_url, running.api_key, KEY),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert (await process.stdout.readline()).decode().strip() == "on its way"
        while not await answered_by_service(window):
            await asyncio.sleep(0.02)
    os.kill(process.pid, KILL)
    await process.wait()
    database = await Database.open(path)
    try:
        window.presenter.sent.calls = None
        await window.presenter.start(database)
        await window.settle()
        assert [(entry.title, entry.badge) for entry in window.entries][-1] in (
            ("eth_blockNumber", "Unknown"),
            ("eth_blockNumber", ""),  # the answer came before the signal did
        )
        window.presenter.sent.changed.emit(())
        (kept,) = await RpcCalls(database).recent()
        window.presenter.open_call(kept.id)
        await window.settle()
        is_lost = kept.state == "unknown"  # else the answer came before the signal did
        assert (window.draft.key == KEY) == is_lost
        await window.send()
        assert window.shown_run is not None
        assert window.shown_run.replayed == is_lost
        assert (("Charged", "0 cr", "ok") in window.shown_run.facts) == is_lost
    finally:
        await window.tasks.idle()
        await database.close()


@pytest.fixture(scope="module")
def killed() -> Iterator[KilledPrograms]:
    with killed_programs("tests.ui.killed_transaction") as found:
        yield found


async def number(window: ConsoleHarness, method: str, *params: object) -> int:
    answer = await window.service.crypto_rpc.call(NETWORK, method, list(params))
    return int(str(answer.outcome.result), 16)


@pytest.mark.parametrize("point", POINTS)
async def test_a_killed_transaction_is_sent_at_most_once_and_its_hash_is_kept(
    killed: KilledPrograms, window: ConsoleHarness, tmp_path: Path, point: str
) -> None:
    path, running, ether = tmp_path / "killed" / "rialto.db", window.sandbox, 10**18
    nonce = await number(window, "eth_getTransactionCount", ALICE, "pending")
    before = await number(window, "eth_getBalance", BOB, "latest")
    assert await killed.kill(str(path), running.base_url, running.api_key, point) == point
    is_sent, is_kept = point in ("carried out", "answered"), point != "signed"
    moved = 2 * ether if is_sent else 0
    assert await number(window, "eth_getBalance", BOB, "latest") == before + moved
    database = await Database.open(path)
    try:
        window.presenter.sent.calls = None
        await window.presenter.start(database)
        await window.settle()
        sent = [each for each in await RpcCalls(database).recent() if each.transactions]
        assert [each.state for each in sent] == (["answered" if point == "answered" else "unknown"] if is_kept else [])
        hashes = [str(each) for call in sent for each in call.transactions.values()]
        for each in hashes:
            found = await window.service.crypto_rpc.call(NETWORK, "eth_getTransactionByHash", [each])
            assert (found.outcome.result is not None) == is_sent
        window.presenter.use_network(NETWORK)
        transacting = window.presenter.transacting
        transacting.wallets = AliceSigns()
        ready = await transacting.prepare(transfer("1"))
        assert ready.transaction.nonce == nonce + is_sent
        warned = " ".join(ready.question.warnings)
        assert [each in warned for each in hashes] == [point != "answered"] * len(hashes)
        await transacting.sign_and_send(ready, lambda: None)
        await window.settle()
        assert await number(window, "eth_getBalance", BOB, "latest") == before + moved + ether
        assert await number(window, "eth_getTransactionCount", ALICE, "latest") == nonce + is_sent + 1
    finally:
        await window.tasks.idle()
        await database.close()


async def answered_by_service(window: ConsoleHarness) -> bool:
    """True as soon as the Sandbox has carried out the request of the other process."""
    async with httpx.AsyncClient(headers=permission(window), timeout=60) as http:
        lines = (await http.get(f"{window.sandbox.origin}/sandbox/log")).json()["data"]
    return any("/crypto/rpc/ethereum" in str(line["path"]) for line in lines)


def permission(window: ConsoleHarness) -> dict[str, str]:
    return {"Authorization": f"Bearer {window.sandbox.api_key}"}


async def test_r_rpc_44_the_hundred_and_first_request_of_a_minute_stays_here(window: ConsoleHarness) -> None:
    calls = window.presenter.calls
    assert calls is not None
    now = datetime.now(UTC)
    for number in range(LIMITS["paid"].crypto):
        await calls.begin("box", "ethereum-mainnet", "[]", at=now, digest=f"d{number}")
    await window.send()
    problem = window.presenter.view().problem
    assert problem is not None
    assert "100 requests were sent within a minute" in str(problem)
    assert window.error_card.isVisible()
    assert window.page.status_headroom() is not None


async def test_r_rpc_45_what_would_go_over_the_credits_of_a_day_is_not_sent(window: ConsoleHarness) -> None:
    calls = window.presenter.calls
    assert calls is not None
    before = datetime.now(UTC) - timedelta(hours=2)
    await calls.begin("box", "ethereum-mainnet", "[]", at=before, digest="d", estimate_credits=9_999_990)
    await window.send()
    problem = window.presenter.view().problem
    assert problem is not None
    assert "10,000,000 credits per 24 hours" in str(problem)
    assert "10 are left" in str(problem)
    window.error_card.findChild(Button, SEND_ANYWAY).click()
    await window.settle()
    assert window.presenter.view().problem is None
    assert window.presenter.run is not None, "the service may well take it"
    window.presenter.caps.refresh()
    await window.settle()
    assert window.credits_text() == "10M / 10M"


async def test_r_rpc_43_the_caps_own_message_is_spoken_while_it_waits_and_stop_ends_it(window: ConsoleHarness) -> None:
    body = {"error": "Rate limit exceeded", "customMessage": "requests-per-minute cap of 100 exceeded"}
    await arm(window, "answer", status=429, body=body, times=None)
    window.key("Ctrl+Return")
    await until(window.error_card.isVisible)
    problem = window.presenter.view().problem
    assert problem is not None
    assert "requests-per-minute cap of 100 exceeded" in problem.what
    assert problem.countdown_until is not None
    assert window.page.handle_escape()
    await window.settle()
    assert window.error_card.isHidden()
    assert (window.entries[0].badge, window.entries[0].right[:11]) == ("429", "not charged")  # it was sent, and refused


async def test_r_rpc_43_where_credits_are_missing_no_other_model_is_offered(window: ConsoleHarness) -> None:
    await arm(window, "answer", status=402, body={"error": "Insufficient balance"})
    await window.send()
    run = window.shown_run
    assert run is not None
    assert run.problem is not None
    assert [action.id for action in run.problem.actions] == ["sandbox-money"]
    assert window.entries[0].badge == "402"


async def test_r_rpc_23_every_unsupported_method_is_refused_here_with_its_reason(window: ConsoleHarness) -> None:
    for method in (name for names in NEVER.values() for name in names):
        window.type_json([call("eth_chainId"), call(method)])
        reason = refusal_of(method)
        assert reason is not None
        assert reason in window.request.fault.text()
        assert not window.can_send()
    await window.send()
    assert window.entries == []


async def test_fifty_megabytes_are_kept_and_opened_again(window: ConsoleHarness) -> None:
    calls = window.presenter.calls
    assert calls is not None
    items = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{}]})
    log = {"address": "0x" + "35" * 20, "data": "0x" + "00" * 400, "topics": ["0x" + "11" * 32] * 3}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": [log] * 47_000}).encode()
    assert len(body) > 50_000_000
    kept = await calls.begin("box", "ethereum-mainnet", items, at=datetime.now(UTC), digest="large")
    await calls.answered(kept.id, body, status=200, credits=20, cost_usd=None)
    window.presenter.runs.open(kept.id)
    await window.settle()
    assert window.shown_run is not None
    assert window.shown_run.results == 1
    assert window.tree_rows.rowCount(window.tree_rows.index(0, 0)) <= 2_000


async def test_two_gigabytes_are_refused_politely_without_being_read(window: ConsoleHarness) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2147483648\r\n\r\n[")
        try:
            await writer.drain()
        except OSError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    async with server:

        async def key() -> str:
            return "sk-test"

        port = server.sockets[0].getsockname()[1]
        large = open_service(f"http://127.0.0.1:{port}", "service", ApiKeyAuth(key), lambda _exchange: None)
        window.current_account.use(window.current_account.account, large)
        await window.settle()
        await window.send()
        await large.aclose()
    run = window.shown_run
    assert run is not None
    assert run.problem is not None
    assert "larger than the 64 MiB" in run.problem.what
    assert "Request less at a time" in run.problem.meaning
    assert window.response.card.isVisible()
    press(window.response.card, "Edit")
    assert window.request.params.hasFocus()
    assert window.entries[0].badge
