"""The typed client of the controls, against a running Sandbox."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from app.service.errors import AuthenticationFailed, BadRequest, ConnectionFailed, LimitExceeded, NotFound
from app.service.sandbox_controls import SandboxControls
from tests.sandbox.support import Client, running


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path) as client:
        yield client


@pytest.fixture
async def controls(sandbox: Client) -> AsyncIterator[SandboxControls]:
    opened = SandboxControls(sandbox.running.base_url, sandbox.running.api_key)
    yield opened
    await opened.aclose()


async def test_engines_say_what_they_are(controls: SandboxControls) -> None:
    engines = {engine.name: engine for engine in await controls.engines()}
    assert {"chat", "speech", "transcription", "chains", "images", "video", "embeddings"} <= set(engines)
    speech = engines["speech"]
    assert speech.state in ("missing", "idle", "loaded") and "espeak" in speech.install and speech.licence


async def test_a_look_tells_news_only_and_at_once(controls: SandboxControls, sandbox: Client) -> None:
    first = await controls.status()
    assert (first.lines, first.active, first.balance.usd) == ((), 0, Decimal(100))
    waiting = asyncio.create_task(controls.status(first, wait_s=20))
    answer = await asyncio.to_thread(sandbox.chat_raw)
    news = await asyncio.wait_for(waiting, 15)
    (line,) = news.lines
    assert (line.method, line.path, line.status, line.model) == (
        "POST",
        "/api/v1/chat/completions",
        200,
        "rialto-handbook",
    )
    assert line.request_id == answer.headers["cf-ray"] and line.cost_usd > 0
    assert news.balance.usd == 100 - line.cost_usd
    details = await controls.details(line.request_id)
    assert "rialto-handbook" in details.request.text and "chat.completion" in details.response.text
    assert ("authorization", "[hidden]") in details.request.headers


async def test_faults_and_clock_are_counted_as_active_until_all_is_cleared(
    controls: SandboxControls, sandbox: Client
) -> None:
    await controls.set_fault("answer", {"status": 503, "times": 2})
    await controls.set_fault("slow", {"seconds": 0.01})
    await controls.set_clock(3600)
    look = await controls.status()
    assert look.active == 3 and look.faults["answer"]["times"] == 2 and look.clock_offset_s == 3600
    assert (await asyncio.to_thread(sandbox.get, "/models")).status_code == 503
    await controls.clear_fault("slow")
    await controls.clear_all()
    assert (await controls.status()).active == 0
    assert (await asyncio.to_thread(sandbox.get, "/models")).status_code == 200


async def test_money_behaviour_and_reset(controls: SandboxControls) -> None:
    await controls.set_balance(Decimal("0.10"))
    await controls.set_behavior(any_key=True, tokens_per_second=12, dialect="venice")
    look = await controls.status()
    assert look.balance.usd == Decimal("0.10")
    assert (look.settings.any_key, look.settings.tokens_per_second, look.settings.dialect) == (True, 12, "venice")
    await controls.reset()
    look = await controls.status(look)
    assert (look.balance.usd, look.settings.any_key, look.lines) == (Decimal(100), False, ())


async def test_the_faucet_gives_play_money(controls: SandboxControls) -> None:
    assert await controls.give("0x" + "ab" * 20, Decimal("12.5")) == Decimal("12.5")


async def test_refusals_are_service_errors(controls: SandboxControls, sandbox: Client) -> None:
    with pytest.raises(BadRequest):
        await controls.set_fault("answer", {"status": 200})
    with pytest.raises(NotFound):
        await controls.details("../state")
    anonymous = SandboxControls(sandbox.running.base_url, "wrong")
    with pytest.raises(AuthenticationFailed):
        await anonymous.status()
    await anonymous.aclose()


async def test_it_speaks_to_this_computer_only() -> None:
    with pytest.raises(LimitExceeded):
        SandboxControls("http://sandbox.example/api/v1", "key")


async def test_a_stopped_sandbox_ends_a_look_that_waits(sandbox: Client) -> None:
    controls = SandboxControls(sandbox.running.base_url, sandbox.running.api_key)
    seen = await controls.status()
    waiting = asyncio.create_task(controls.status(seen, wait_s=20))
    await asyncio.sleep(0)
    await asyncio.to_thread(sandbox.running.stop)
    with pytest.raises(ConnectionFailed):
        await asyncio.wait_for(waiting, 15)
    with pytest.raises(ConnectionFailed):
        await controls.status()
    await controls.aclose()


def test_controls_leave_no_line_in_the_log(sandbox: Client) -> None:
    with httpx.Client(headers=sandbox.http.headers, trust_env=False, verify=False, timeout=60) as http:
        http.get(f"{sandbox.running.origin}/sandbox/watch").raise_for_status()
    assert sandbox.control("/log", method="GET")["data"] == []
