"""A top-up whose program is killed, at every point of it: at most one debit, the truth on screen, no key anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.ui.kit.theme import Theme
from app.wallet import base58
from app.wallet.keys import read_private_key
from app.wallet.signer import derived_address
from tests.kit.portable import KILL
from tests.kit.waiting import until
from tests.kit.wallet import SOLANA_KEY, WalletHarness, open_wallet
from tests.sandbox.support import Client, running
from tests.ui.wallet.killed_top_up import AGAIN, AMOUNT, POINTS
from tests.ui.wallet.test_open_payments import both_clocks_later

ROOT = Path(__file__).resolve().parents[3]
USD = Decimal(AMOUNT)
NEVER_LEFT = ("before-intent", "after-intent", "signed", "after-signature")
LANDED = tuple(f"{way}{point}" for way in ("", "again ") for point in ("carried-out", "before-answer-is-kept"))
SETTLED = ("answer-kept", "again answer-kept")


BLOCK_IS_OVER = (
    *("after-intent", "signed", "after-file", "before-send", "carried-out", "before-answer-is-kept", "answer-kept"),
    *("refused", *AGAIN),
)


def kill_at(point: str, home: Path, client: Client, rail: str = "evm") -> None:
    told = {"base_url": client.running.base_url, "origin": client.running.origin, "api_key": client.running.api_key}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.ui.wallet.killed_top_up", str(home), rail, point],
        input=json.dumps(told) + "\n",
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert abs(ended.returncode) == KILL, ended.stderr[-2000:]


def traces_of(key: str, folder: Path) -> list[str]:
    """Files that hold the key in any form that it could be written in."""
    raw = bytes.fromhex(key.removeprefix("0x"))
    pair = read_private_key(key, "evm" if key.startswith("0x") else "solana").to_text()
    forms = [raw, raw.hex().encode(), raw.hex().upper().encode(), base58.encode(raw).encode(), pair.encode()]
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


async def _again(wallet: WalletHarness, key: str) -> None:
    """The keyring still has the key, as a real one would."""
    for account in wallet.book.list():
        if account.kind == "wallet":
            await wallet.place.write(account.id, key)


@dataclass(frozen=True)
class Payer:
    """The wallet of a rail, as the Sandbox knows it."""

    client: Client
    key: str
    address: str
    held: Decimal

    @classmethod
    def of(cls, rail: str, client: Client) -> Payer:
        if rail == "solana":
            address = derived_address(read_private_key(SOLANA_KEY, "solana"))
            return cls(client, SOLANA_KEY, address, Decimal(100))  # the gift of the program that is killed
        faucet = client.control("/faucet", method="GET")["wallet"]
        return cls(client, faucet["private_key"], faucet["address"], Decimal(faucet["usdc"]))

    def debited(self) -> Decimal:
        return self.held - Decimal(self.client.control(f"/wallets/{self.address}", method="GET")["usdc"])


@pytest.mark.parametrize("rail", ["evm", "solana"])
@pytest.mark.parametrize("point", POINTS)
async def test_r_wal_06_r_wal_07_a_killed_top_up_debits_at_most_once_and_the_window_tells_the_truth(
    point: str, rail: str, tmp_path: Path, theme: Theme, qapp: QApplication
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with running(tmp_path / "sandbox", clock=time.time) as client:
        payer = Payer.of(rail, client)
        if point in AGAIN:
            kill_at("before-send", home, client, rail)  # it left a payment open
        kill_at(point, home, client, rail)
        assert traces_of(payer.key, home) == []
        async with open_wallet(home, client.running, theme) as wallet:
            await _again(wallet, payer.key)
            assert payer.debited() == (USD if point in (*LANDED, *SETTLED) else 0)
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
                assert "still open" in await wallet.blocked_top_up(account)  # no second while the first is not known
                (card,) = wallet.payment_cards()
                card.again.click()
                await until(lambda: not wallet.top_ups.open.payments)
                assert [each.state for each in await wallet.intents.recent("x402")] == ["answered"]
                assert payer.debited() == USD
                state = await wallet.wallet_state(account)
                assert Decimal(state["usd"]) == USD
        assert traces_of(payer.key, home) == []


@pytest.mark.parametrize("point", BLOCK_IS_OVER)
async def test_r_wal_06_r_wal_09_a_killed_payment_on_solana_is_settled_once_after_its_block_is_over(
    point: str, tmp_path: Path, theme: Theme, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it can no longer arrive: it is looked up instead of sent again, and another one may be paid."""
    home = tmp_path / "home"
    home.mkdir()
    with running(tmp_path / "sandbox", clock=time.time) as client:
        payer = Payer.of("solana", client)
        if point in AGAIN:
            kill_at("before-send", home, client, "solana")
        kill_at(point, home, client, "solana")
        has_arrived = point in (*LANDED, *SETTLED)
        async with open_wallet(home, client.running, theme) as wallet:
            await _again(wallet, payer.key)
            assert payer.debited() == (USD if has_arrived else 0)
            account = next(each for each in wallet.book.list() if each.kind == "wallet")
            await wallet.control("/clock", "PUT", offset_s=7200)
            both_clocks_later(wallet, monkeypatch, timedelta(hours=2))
            if point not in (*NEVER_LEFT, *SETTLED):
                (card,) = wallet.payment_cards()
                card.button.click()  # looks, and sends nothing
                await wallet.tasks.idle()
                (intent,) = await wallet.intents.recent("x402")
                assert intent.state == ("answered" if has_arrived else "failed")
            assert wallet.payment_cards() == []
            if not has_arrived:
                dialog = await wallet.review(account)
                dialog.go.click()
                await until(lambda: wallet.top_up.step in ("done", "unknown", "refused"))
                await wallet.leave(dialog)
            assert payer.debited() == USD
            assert Decimal((await wallet.wallet_state(account))["usd"]) == USD
        assert traces_of(payer.key, home) == []
