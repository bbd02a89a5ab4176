"""What is promised in the Sandbox holds over a restart of Rialto, and what is copied from it works when pasted."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from decimal import Decimal

import httpx
import pytest
from PySide6.QtGui import QGuiApplication

from app.bootstrap.rialto import Rialto
from tests.journeys.paying_tabs import console
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]


async def in_sandbox(rialto: Rialto) -> tuple[str, str]:
    """Use the Sandbox as somebody does who chooses it; return its address and key."""
    rialto.accounts.use(rialto.account_services.sandbox_account().id)
    await until(
        lambda: rialto.account_services.sandbox.address() is not None and rialto.current_account.service is not None
    )
    address = rialto.account_services.sandbox.address()
    assert address is not None
    return address


def asked(running: tuple[str, str], method: str, path: str, **more: object) -> httpx.Response:
    headers = {"authorization": f"Bearer {running[1]}"}
    return httpx.request(method, running[0] + path, headers=headers, timeout=60, trust_env=False, **more)  # type: ignore[arg-type]


async def test_balance_and_a_queued_video_are_there_when_rialto_starts_again(start: Start) -> None:
    order = {"model": "rialto-reel-text-to-video", "prompt": "a boat", "duration": "3s"}
    async with start() as rialto:
        running = await in_sandbox(rialto)
        job = await asyncio.to_thread(lambda: asked(running, "POST", "/video/queue", json=order).json())
        left = asked(running, "GET", "/billing/balance").json()["balances"]["usd"]
    async with start() as rialto:
        again = await in_sandbox(rialto)
        assert again[1] != running[1], "the key is new each time"
        kept = await asyncio.to_thread(lambda: asked(again, "GET", "/billing/balance").json()["balances"]["usd"])
        assert Decimal(str(kept)) == Decimal(str(left)) < 100
        found = await asyncio.to_thread(lambda: asked(again, "POST", "/video/retrieve", json=job))
        assert found.status_code == 200


@pytest.mark.parametrize("form", ["curl", "python", "cast"])
async def test_a_command_copied_from_the_console_names_where_the_sandbox_is(start: Start, form: str) -> None:
    async with start() as rialto:
        base_url, key = await in_sandbox(rialto)
        rialto.window.show_tab("crypto_rpc")
        await until(lambda: rialto.window.tab("crypto_rpc") is not None and console(rialto).presenter.draft.rows)
        told: list[str] = []
        console(rialto).toast_requested.connect(lambda sentence, *_: told.append(sentence))
        console(rialto).copy_as(form)
        text = QGuiApplication.clipboard().text()
        assert f"{base_url}/crypto/rpc/" in text and key not in text
        assert "new address and key each time" in told[0] and "$RIALTO_API_KEY" in told[0]
        if form == "curl" and shutil.which("curl"):
            environment = {**os.environ, "RIALTO_API_KEY": key, "no_proxy": "127.0.0.1"}
            done = await asyncio.to_thread(
                subprocess.run, ["sh", "-c", text], env=environment, capture_output=True, text=True, timeout=60
            )
            assert '"jsonrpc":"2.0"' in done.stdout, done.stderr
