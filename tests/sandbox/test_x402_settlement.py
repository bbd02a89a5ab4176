"""What becomes of a verified payment: settled once, receipts, replays, faults, the chain: rules R-WAL-03 to 07."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import httpx
import pytest

from app.sandbox.accounts import x402_settlement
from app.sandbox.accounts.x402_payment import Payment, read_payment
from app.sandbox.accounts.x402_settlement import PlayMoney, SettlementFailed
from app.sandbox.accounts.x402_terms import (
    EVM_RECEIVER,
    PLAY_ASSET,
    Terms,
)
from tests.sandbox.wallet_support import EvmWallet, WalletClient, code, flat, unpacked, v2


def test_a_payer_without_play_money_is_refused_and_may_try_again(wallet: WalletClient) -> None:
    payment = v2(wallet.wallet.pays())
    answer = wallet.top_up(payment)
    assert code(answer) == "PAYMENT_VERIFICATION_FAILED" and "faucet" in answer.json()["message"]
    wallet.fund("5")
    assert wallet.top_up(payment).status_code == 200
    assert code(wallet.top_up(v2(wallet.wallet.pays()))) == "PAYMENT_VERIFICATION_FAILED"


def test_R_WAL_03_the_same_payment_is_credited_once_and_gets_the_same_receipt(payer: WalletClient) -> None:
    payment = payer.wallet.pays()
    first = payer.top_up(v2(payment))
    payer.sandbox.turn_clock(3600)  # long after it expired
    for form, name in ((v2(payment), "X-402-Payment"), (flat(payment), "X-PAYMENT"), (v2(payment), "X-PAYMENT")):
        again = payer.top_up(form, name)
        assert (again.status_code, again.json()) == (200, first.json())
        assert again.headers["PAYMENT-RESPONSE"] == first.headers["PAYMENT-RESPONSE"]
    assert payer.known()["usd"] == "5.000000"


def test_a_replay_that_is_not_quite_the_same_is_refused(payer: WalletClient) -> None:
    first = payer.wallet.pays()
    nonce = first["authorization"]["nonce"]
    assert payer.top_up(v2(first)).status_code == 200
    more = payer.wallet.pays(payer.wallet.authorization(nonce=nonce, value="6000000"))
    assert code(payer.top_up(v2(more))) == "X402_INVALID_PAYMENT"
    forged = first | {"signature": more["signature"]}
    assert code(payer.top_up(v2(forged))) == "X402_INVALID_PAYMENT"
    assert code(payer.top_up(v2(first), content=b"{}")) == "X402_INVALID_PAYMENT"
    assert payer.known()["usd"] == "5.000000"
    other = EvmWallet(byte=3, origin=payer.wallet.origin)
    anonymous = WalletClient(payer.sandbox, payer.http, other)
    anonymous.fund()
    assert anonymous.top_up(v2(other.pays(other.authorization(nonce=nonce)))).status_code == 200


def test_two_at_the_same_moment_are_one_payment(payer: WalletClient) -> None:
    payment = v2(payer.wallet.pays())
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(payer.top_up(payment).status_code)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409} and 200 in statuses
    assert (payer.known()["usd"], payer.known()["usdc"]) == ("5.000000", "95.000000")


def test_the_fault_settlement_failed_moves_nothing(payer: WalletClient) -> None:
    payer.sandbox.fault("settlement_failed", times=1)
    payment = v2(payer.wallet.pays())
    answer = payer.top_up(payment)
    assert code(answer, 402) == "SETTLEMENT_FAILED"
    response = unpacked(answer.headers["PAYMENT-RESPONSE"])
    assert (response["success"], response["errorReason"]) == (False, "settlement_failed")
    assert (payer.known()["usd"], payer.known()["usdc"]) == ("0", "100.000000")
    assert payer.top_up(payment).status_code == 200


def test_the_fault_in_progress_is_cured_by_the_same_header(payer: WalletClient) -> None:
    payer.sandbox.fault("payment_in_progress", times=2)
    payment = v2(payer.wallet.pays())
    assert [code(payer.top_up(payment), 409) for _ in range(2)] == ["PAYMENT_IN_PROGRESS"] * 2
    assert payer.top_up(payment).status_code == 200
    assert payer.known()["usd"] == "5.000000"


@pytest.mark.parametrize(("landed", "usd"), [(None, "5.000000"), (True, "5.000000"), (False, "0")])
def test_the_fault_timeout_may_have_landed(payer: WalletClient, landed: bool | None, usd: str) -> None:
    payer.sandbox.fault("settlement_timeout", times=1, **({} if landed is None else {"landed": landed}))
    payment = v2(payer.wallet.pays())
    assert code(payer.top_up(payment), 504) == "SETTLEMENT_TIMEOUT"
    assert payer.known()["usd"] == usd
    assert payer.top_up(payment).json()["data"]["newBalance"] == 5
    assert payer.known()["usd"] == "5.000000"


def test_the_fault_terms_v1_speaks_the_first_version(wallet: WalletClient) -> None:
    wallet.sandbox.fault("terms_v1", times=1)
    answer = wallet.top_up()
    body = answer.json()
    assert (answer.status_code, body["x402Version"]) == (402, 1)
    assert "PAYMENT-REQUIRED" not in answer.headers
    (entry,) = body["accepts"]
    assert (entry["network"], entry["maxAmountRequired"]) == ("base", "5000000")
    assert {"resource", "description", "mimeType", "payTo", "asset", "extra"} < set(entry)


def test_ten_top_up_calls_a_minute_whoever_calls(wallet: WalletClient) -> None:
    answers = [wallet.top_up() for _ in range(11)]
    assert [answer.status_code for answer in answers] == [402] * 10 + [429]
    assert set(answers[-1].json()) == {"error"}
    wallet.sandbox.turn_clock(60)
    assert wallet.top_up().status_code == 402


def test_R_WAL_05_credentials_are_not_looked_at(wallet: WalletClient) -> None:
    address = f"{wallet.sandbox.running.base_url}/x402/top-up"
    for headers in ({"Authorization": "Bearer wrong"}, {"X-Sign-In-With-X": "e30="}):
        assert wallet.http.post(address, headers=headers).status_code == 402


def test_the_faucet_wallet_can_top_up_at_once(wallet: WalletClient) -> None:
    from eth_account import Account

    own = wallet.http.get(f"{wallet.sandbox.running.origin}/sandbox/faucet").json()["wallet"]

    class Faucet(EvmWallet):
        @property
        def key(self) -> str:
            return str(own["private_key"])

    wallet.wallet = Faucet(origin=wallet.wallet.origin)
    assert Account.from_key(wallet.wallet.key).address == own["address"]
    assert wallet.top_up(v2(wallet.wallet.pays())).status_code == 200
    assert wallet.chat().status_code == 200


async def test_a_ledger_without_a_chain_moves_what_is_there() -> None:
    terms = Terms(PLAY_ASSET)
    payment = read_payment(flat(EvmWallet().pays()), terms)
    money = PlayMoney({})
    with pytest.raises(SettlementFailed):
        await money.transfer(payment)
    await money.give(payment.authorization.sender, 5_000_000)
    assert len(await money.transfer(payment)) == 66
    assert await money.balance(EVM_RECEIVER) == 5_000_000
    assert await money.balance(payment.authorization.sender) == 0


def test_a_top_up_is_a_transaction_that_the_chain_knows(payer: WalletClient) -> None:
    def rpc(method: str, *params: object) -> Any:
        item = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = payer.sandbox.post("/crypto/rpc/base-mainnet", item)
        return answer.json()["result"]

    def dollars(address: str) -> int:
        data = "0x70a08231" + address[2:].lower().rjust(64, "0")
        return int(rpc("eth_call", {"to": PLAY_ASSET, "data": data}, "latest"), 16)

    assert dollars(payer.wallet.address) == 100_000_000
    payment = payer.wallet.pays()
    answer = payer.top_up(v2(payment))
    receipt = rpc("eth_getTransactionReceipt", unpacked(answer.headers["PAYMENT-RESPONSE"])["transaction"])
    assert (receipt["status"], receipt["to"]) == ("0x1", PLAY_ASSET.lower())
    assert len(receipt["logs"]) == 2  # AuthorizationUsed, Transfer
    assert (dollars(payer.wallet.address), dollars(EVM_RECEIVER)) == (95_000_000, 5_000_000)


def test_the_contract_has_the_last_word(payer: WalletClient) -> None:
    """Its clock is that of its block: after many within one second, it is ahead of the Sandbox's."""
    for _ in range(5):
        payer.fund("1")
    soon = payer.wallet.authorization(validBefore=str(int(payer.wallet.now) + 3))
    answer = payer.top_up(v2(payer.wallet.pays(soon)))
    assert code(answer, 402) == "SETTLEMENT_FAILED" and "expired" in answer.json()["message"]
    assert payer.known()["usd"] == "0"


@pytest.fixture
def table(wallet: WalletClient, monkeypatch: pytest.MonkeyPatch) -> WalletClient:
    """A Sandbox on a computer without the chain's engine."""
    monkeypatch.setattr(x402_settlement, "installed", lambda _: False)
    return wallet


def test_without_a_chain_a_top_up_works_the_same(table: WalletClient) -> None:
    table.fund()
    payment = v2(table.wallet.pays())
    first = table.top_up(payment)
    assert first.status_code == 200 and table.top_up(payment).json() == first.json()
    assert (table.known()["usd"], table.known()["usdc"]) == ("5.000000", "95.000000")


def test_while_a_payment_is_being_settled_it_is_409(table: WalletClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table.fund()
    goes_on, begun = threading.Event(), threading.Event()
    settle = PlayMoney.transfer

    async def slowly(money: PlayMoney, payment: Payment) -> str:
        begun.set()
        await asyncio.to_thread(goes_on.wait, 60)
        return await settle(money, payment)

    monkeypatch.setattr(PlayMoney, "transfer", slowly)
    payment = v2(table.wallet.pays())
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(table.top_up(payment)))
    thread.start()
    assert begun.wait(60)
    assert code(table.top_up(payment), 409) == "PAYMENT_IN_PROGRESS"
    goes_on.set()
    thread.join()
    assert answers[0].status_code == 200
    assert table.top_up(payment).json() == answers[0].json()


def test_a_transfer_that_fails_leaves_the_payment_to_be_tried_again(
    table: WalletClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> str:
        raise SettlementFailed("The chain is away")

    table.fund()
    payment = v2(table.wallet.pays())
    with monkeypatch.context() as broken:
        broken.setattr(PlayMoney, "transfer", fail)
        answer = table.top_up(payment)
        assert code(answer, 402) == "SETTLEMENT_FAILED" and "The chain is away" in answer.json()["message"]
        broken.setattr(PlayMoney, "give", fail)
        gift = {"address": table.wallet.address}
        assert table.http.post(f"{table.sandbox.running.origin}/sandbox/faucet", json=gift).status_code == 503
    assert table.top_up(payment).status_code == 200


def test_without_eth_account_wallets_are_told_what_to_install(
    wallet: WalletClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet.fund()
    headers, payment = wallet.wallet.header(), v2(wallet.wallet.pays())
    monkeypatch.setitem(sys.modules, "eth_keys.exceptions", None)
    for answer in (wallet.chat(headers), wallet.top_up(payment)):
        assert answer.status_code == 501 and "pip install eth-account" in answer.json()["error"]
