"""A top-up whose program is killed, at every point of it: at most one debit, the truth on screen, no key anywhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.ui.kit.theme import Theme
from app.wallet import base58
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness, open_wallet
from tests.sandbox.support import Client, running
from tests.ui.wallet.killed_top_up import AGAIN, AMOUNT, POINTS

ROOT = Path(__file__).resolve().parents[3]
USD = Decimal(AMOUNT)
NEVER_LEFT = ("before-intent", "after-intent", "signed", "after-signature")
LANDED = tuple(f"{way}{point}" for way in ("", "again ") for point in ("carried-out", "before-answer-is-kept"))
SETTLED = ("answer-kept", "again answer-kept")


def kill_at(point: str, home: Path, client: Client) -> None:
    told = {"base_url": client.running.base_url, "origin": client.running.origin, "api_key": client.running.api_key}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.ui.wallet.killed_top_up", str(home), point],
        input=json.dumps(told) + "\n",
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]


def traces_of(key: str, folder: Path) -> list[str]:
    """Files that hold the key in any form that it could be written in."""
    raw = bytes.fromhex(key.removeprefix("0x"))
    forms = [raw, raw.hex().encode(), raw.hex().upper().encode(), base58.encode(raw).encode()]
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


async def _again(wallet: WalletHarness, client: Client) -> None:
    """The keyring still has the key, as a real one would."""
    key = client.control("/faucet", method="GET")["wallet"]["private_key"]
    for account in wallet.book.list():
        if account.kind == "wallet":
            await wallet.place.write(account.id, key)


@pytest.mark.parametrize("point", POINTS)
async def test_r_wal_06_r_wal_07_a_killed_top_up_debits_at_most_once_and_the_window_tells_the_truth(
    point: str, tmp_path: Path, theme: Theme, qapp: QApplication
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with running(tmp_path / "sandbox", clock=time.time) as client:
        faucet = client.control("/faucet", method="GET")["wallet"]
        held = Decimal(faucet["usdc"])
        if point in AGAIN:
            kill_at("before-send", home, client)  # it left a payment open
        kill_at(point, home, client)
        assert traces_of(faucet["private_key"], home) == []

        def debited() -> Decimal:
            return held - Decimal(client.control("/faucet", method="GET")["wallet"]["usdc"])

        async with open_wallet(home, client.running, theme) as wallet:
            await _again(wallet, client)
            assert debited() == (USD if point in (*LANDED, *SETTLED) else 0)
            cards = wallet.payment_cards()
            if point in NEVER_LEFT:
                assert cards == []
                assert [each.state for each in await wallet.intents.recent("x402")] in ([], ["cancelled"])
            elif point in SETTLED:
                assert cards == []
                assert [each.state for each in await wallet.intents.recent("x402")] == ["answered"]
                assert json.loads((home / "open-payments.json").read_text()) == {"payments": []}
            else:
                account = next(each for each in wallet.book.list() if each.kind == "wallet")
                dialog = await wallet.review(account)
                assert "still open" in dialog.problem.text()  # no second payment while the first is not known
                dialog.reject()
                await until(lambda: wallet.top_up_dialog is None)
                (card,) = wallet.payment_cards()
                card.again.click()
                await until(lambda: not wallet.top_ups.open.payments)
                assert [each.state for each in await wallet.intents.recent("x402")] == ["answered"]
                assert debited() == USD
                state = await wallet.wallet_state(account)
                assert Decimal(state["usd"]) == USD
        assert traces_of(faucet["private_key"], home) == []
