"""Topping up on the second rail, through the window: what is shown is what is signed, once, until its block is over."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.sandbox.chains.non_evm_nodes import SOLANA_SLUG, latest_block
from app.service.client import OnWait
from app.service.x402 import TopUpRequirements, X402Resource
from app.ui.wallet.session import pending_top_ups
from app.ui.wallet.session.holdings import held_on_chain, price_of_asking
from app.wallet.networks import tokens_of
from app.wallet.solana_transfer import BLOCKS_VALID, read_message
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness
from tests.ui.wallet.test_open_payments import left_open, not_now, press, refuses_another, two_hours_later

OTHER = "J2xccRtuG43drESLYznHhLhQkLTdfepcKYbiQ9BsJVaf"
OTHER_MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"  # the real one, which the Sandbox may not ask for
USD = Decimal("7.25")


async def pay(wallet: WalletHarness, dialog: Any) -> None:
    dialog.go.click()
    await until(lambda: wallet.top_up.step in ("done", "unknown", "refused") or wallet.top_up.problem)


async def nothing_was_signed(wallet: WalletHarness) -> bool:
    """No payment; asking the proxy needs a sign-in."""
    kinds = {row.kind for row in await wallet.keys.signed_lately()}
    return await wallet.intents.recent("x402") == () and "payment" not in kinds


def forge(monkeypatch: pytest.MonkeyPatch, extra: Mapping[str, object], after: int = 0, **changes: object) -> None:
    """From the answer number `after` on, the Solana entry is changed."""
    real = X402Resource.top_up_requirements
    answers = [0]

    async def forged(self: X402Resource, *, on_wait: OnWait | None = None) -> TopUpRequirements:
        terms = await real(self, on_wait=on_wait)
        answers[0] += 1
        if answers[0] <= after:
            return terms
        entries: list[Mapping[str, object]] = []
        for each in terms.options:
            fields = each["extra"]
            if str(each["network"]).startswith("solana"):
                assert isinstance(fields, Mapping)
                each = {**each, "extra": {**fields, **extra}, **changes}
            entries.append(each)
        return replace(terms, options=tuple(entries))

    monkeypatch.setattr(X402Resource, "top_up_requirements", forged)


@contextmanager
def node(answer: bytes | None = None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A Solana node on this computer, and what it was asked; it knows the newest block, or sends `answer`."""
    asked: list[dict[str, Any]] = []

    class Node(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({**body, "headers": {name.lower() for name in self.headers}})
            blockhash, height = latest_block(SOLANA_SLUG, time.time())
            value = {"blockhash": blockhash, "lastValidBlockHeight": height}
            content = {"jsonrpc": "2.0", "id": 1, "result": {"context": {"slot": 1}, "value": value}}
            data = json.dumps(content).encode() if answer is None else answer
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_r_wal_06_r_wal_07_r_wal_09_a_solana_wallet_tops_up_with_the_block_of_the_terms(
    wallet: WalletHarness,
) -> None:
    account = await wallet.solana_wallet()
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review", wallet.top_up.problem
    shown = {row.name: row for row in dialog.sheet.rows}
    assert (shown["owner"].value, shown["amount"].value) == (account.address, "7250000")
    other = next(way for way in wallet.top_up.ways if way.reason)
    assert "This wallet cannot pay on Base" in other.reason
    await asyncio.sleep(0.5)  # for the next block
    await pay(wallet, dialog)
    assert (wallet.top_up.step, wallet.top_up.problem) == ("done", "")
    assert (wallet.top_up.credited, wallet.top_up.new_balance) == (USD, USD)
    (intent,) = await wallet.intents.recent("x402")
    sent = json.loads(base64.b64decode(str(intent.request["header"])))
    signed = read_message(base64.b64decode(sent["payload"]["transaction"])[129:])
    now = {row.name: row.value for row in wallet.top_up.rows}
    assert signed.blockhash == now["recentBlockhash"] == sent["accepted"]["extra"]["recentBlockhash"]
    assert signed.blockhash != shown["recentBlockhash"].value, "a newer one was signed, and is shown"
    assert signed.memo == shown["memo"].value == now["memo"]
    await wallet.leave(dialog)
    state = await wallet.wallet_state(account)
    assert (Decimal(state["usd"]), Decimal(state["usdc"])) == (USD, 100 - USD)


FORGED: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "mint": ({}, {"asset": OTHER_MINT}, "a token that is not USDC on Sandbox (Solana)"),
    "decimals": ({"decimals": 9}, {}, "other decimal places"),
    "recipient": ({}, {"payTo": "0x" + "ab" * 20}, "recipient is wrong"),
    "hidden recipient": ({}, {"payTo": OTHER + "\u200b"}, "hidden characters"),
    "block": ({"recentBlockhash": "nothing"}, {}, "a block that does not exist"),
    "height": ({"lastValidBlockHeight": "soon"}, {}, "a block that does not exist"),
    "fee payer": ({"feePayer": "0x12"}, {}, "no valid address that pays the network fee"),
    "token program": ({"tokenProgram": OTHER}, {}, "another token program"),
}


@pytest.mark.parametrize("case", FORGED)
async def test_r_wal_09_forged_terms_are_refused_with_the_reason(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    extra, changes, reason = FORGED[case]
    account = await wallet.solana_wallet()
    forge(monkeypatch, extra, **changes)
    dialog = await wallet.review(account)
    said = " ".join([dialog.problem.text(), *(way.reason for way in wallet.top_up.ways)])
    assert reason in said, said
    assert wallet.top_up.step == "payment"
    assert await nothing_was_signed(wallet)
    await wallet.leave(dialog)


async def test_r_wal_09_this_wallet_as_the_fee_payer_is_refused(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.solana_wallet()
    forge(monkeypatch, {"feePayer": account.address})
    dialog = await wallet.review(account)
    assert "pay the network fee itself" in dialog.problem.text()
    assert await nothing_was_signed(wallet)
    await wallet.leave(dialog)


@pytest.mark.parametrize(
    ("extra", "changes"), [({"feePayer": OTHER}, {}), ({}, {"payTo": OTHER}), ({"memo": "another"}, {})]
)
async def test_r_wal_04_terms_that_change_before_signing_are_not_signed(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, extra: dict[str, object], changes: dict[str, object]
) -> None:
    account = await wallet.solana_wallet()
    forge(monkeypatch, extra, after=2, **changes)
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review"
    await pay(wallet, dialog)
    assert "changed its terms" in dialog.problem.text() and "Nothing was signed" in dialog.problem.text()
    assert await nothing_was_signed(wallet)
    await wallet.leave(dialog)


async def test_a_watched_solana_wallet_says_that_it_cannot_pay(wallet: WalletHarness) -> None:
    account = await wallet.keys.add_watched("Watched", OTHER, wallet.sandbox_account)
    dialog = await wallet.open_top_up(account)
    dialog.go.click()
    assert "Pay from the program with the key" in dialog.problem.text()
    await wallet.leave(dialog)


async def test_a_service_that_names_no_block_is_asked_for_one_through_its_proxy(wallet: WalletHarness) -> None:
    account = await wallet.solana_wallet()
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="1")
    await wallet.fault("terms_without_block", times=9)
    dialog = await wallet.review(account)
    assert (wallet.top_up.step, wallet.top_up.problem) == ("review", "")
    await pay(wallet, dialog)
    assert wallet.top_up.step == "done", wallet.top_up.problem
    await wallet.leave(dialog)
    assert Decimal((await wallet.wallet_state(account))["usdc"]) == 100 - USD


async def test_a_wallet_without_credits_asks_the_node_that_the_person_names_once(wallet: WalletHarness) -> None:
    account = await wallet.solana_wallet()
    await wallet.fault("terms_without_block", times=99)
    dialog = await wallet.review(account)
    assert "Enter the address of a Solana node" in dialog.problem.text()
    assert dialog.node.isVisibleTo(dialog) and dialog.node.hasFocus()
    with node() as (address, asked):
        wallet.top_ups.set_node("http://node.example")
        dialog.go.click()
        await until(lambda: "https://" in wallet.top_up.problem)  # in the clear, only on this computer
        assert wallet.settings.value.solana_node == ""
        wallet.top_ups.set_node(address)
        dialog.go.click()
        await until(lambda: wallet.top_up.step == "review")
        await pay(wallet, dialog)
        assert wallet.top_up.step == "done", wallet.top_up.problem
    assert [each["method"] for each in asked] == ["getLatestBlockhash"] * 2
    assert not any("sign-in" in name or name == "authorization" for each in asked for name in each["headers"])
    assert wallet.settings.value.solana_node == address, "it is asked for once"
    await wallet.leave(dialog)
    dialog = await wallet.open_top_up(account)
    assert wallet.top_up.node == address
    await wallet.leave(dialog)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"result": null}',
        b'{"error": {"code": -32601, "message": "no"}}',
        b'{"result": {"value": {"blockhash": "x", "lastValidBlockHeight": 1}}}',
        b'{"result": {"value": {"blockhash": 7}}}',
        b'{"result": {"value": {}}}',
    ],
)
async def test_a_node_with_a_senseless_answer_is_named_and_nothing_is_signed(
    wallet: WalletHarness, answer: bytes
) -> None:
    account = await wallet.solana_wallet()
    await wallet.fault("terms_without_block", times=99)
    with node(answer) as (address, _):
        wallet.settings.remember(solana_node=address)
        dialog = await wallet.review(account)
    assert (wallet.top_up.step, bool(dialog.problem.text())) == ("payment", True)
    assert await nothing_was_signed(wallet)
    await wallet.leave(dialog)


async def test_a_payment_stays_open_until_its_block_has_passed(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.solana_wallet()
    intent = await left_open(wallet, account, landed=False)
    await refuses_another(wallet, account)
    await two_hours_later(wallet, monkeypatch)
    last = int(intent.request["last_valid_height"])
    with monkeypatch.context() as patch:
        for height in (None, last + BLOCKS_VALID):  # nobody says, or the chain is at that very block
            forge(patch, {"lastValidBlockHeight": height})
            await press(wallet, "button")
            assert (await wallet.intents.one(intent.id)).state == "unknown"
        await refuses_another(wallet, account)
    assert await press(wallet, "button") == pending_top_ups.EXPIRED
    assert (await wallet.intents.one(intent.id)).state == "failed"
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review", "another one may be signed now"
    await wallet.leave(dialog)


@pytest.mark.parametrize("landed", [True, False])
async def test_the_chain_tells_whether_a_payment_was_carried_out_for_the_price_on_the_button(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, landed: bool
) -> None:
    account = await wallet.solana_wallet()
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="1")
    await left_open(wallet, account, landed=landed)
    monkeypatch.setattr(X402Resource, "transactions", not_now)
    (card,) = wallet.payment_cards()
    assert card.chain.text() == "Ask the chain for $0.000021"
    said = await press(wallet, "chain")
    if landed:
        assert said == pending_top_ups.CARRIED_OUT
        return
    assert said == "The chain does not show it yet."
    await refuses_another(wallet, account)
    await two_hours_later(wallet, monkeypatch)
    assert await press(wallet, "chain") == pending_top_ups.NOT_CARRIED_OUT


async def test_the_balance_on_the_chain_is_read_for_a_wallet_of_a_real_service(wallet: WalletHarness) -> None:
    account = await wallet.solana_wallet("42.5")
    (token,) = tokens_of("solana", is_sandbox=True)
    assert price_of_asking(token) == Decimal("0.000021")
    async with wallet.switch.service_of(wallet.sandbox_account) as service:
        assert await held_on_chain(service, token, account.address) == Decimal("42.5")
        assert await held_on_chain(service, token, OTHER) is None
