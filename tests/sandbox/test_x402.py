"""The top-up: terms, verification to the last field, settlement once, receipts, faults: rules R-WAL-01 to 07, -09."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest
from Crypto.Hash import keccak

from app.sandbox import x402_settlement
from app.sandbox.errors import Refusal
from app.sandbox.wallets_address import checksummed, to_base58
from app.sandbox.wallets_signatures import CURVE_ORDER
from app.sandbox.x402_payment import Payment, check_signature, check_times, read_payment
from app.sandbox.x402_settlement import PlayMoney, SettlementFailed
from app.sandbox.x402_terms import (
    EVM_RECEIVER,
    PLAY_ASSET,
    REAL_ASSET,
    SOLANA_FEE_PAYER,
    SOLANA_MINT,
    SOLANA_RECEIVER,
    Terms,
)
from tests.sandbox.support import NOON
from tests.sandbox.wallet_support import EvmWallet, WalletClient, flat, packed, unpacked, v2
from tests.wallet import figures

OTHER = EvmWallet(byte=3)


@pytest.fixture
def payer(wallet: WalletClient) -> WalletClient:
    wallet.fund()
    return wallet


def code(answer: httpx.Response, status: int = 400) -> str:
    body = answer.json()
    assert answer.status_code == status, answer.text
    assert {"error", "message"} <= set(body) and body["message"]
    return str(body["error"])


def test_R_WAL_01_02_05_and_09_the_terms_name_two_rails_and_need_no_headers(wallet: WalletClient) -> None:
    answer = wallet.top_up()
    body = answer.json()
    assert (answer.status_code, set(body)) == (402, {"x402Version", "accepts"})
    evm, other = body["accepts"]
    assert evm == {
        "scheme": "exact",
        "network": "eip155:8453",
        "amount": "5000000",
        "asset": PLAY_ASSET.lower(),
        "payTo": EVM_RECEIVER,
        "maxTimeoutSeconds": 300,
        "extra": {"name": "USD Coin", "version": "2"},
    }
    assert (other["network"], other["amount"]) == ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "5000000")
    assert set(other["extra"]) == {"name", "version", "feePayer"}
    assert unpacked(answer.headers["PAYMENT-REQUIRED"]) == body


def test_R_WAL_09_the_venice_dialect_names_the_token_that_its_clients_know(venice_wallet: WalletClient) -> None:
    evm = venice_wallet.top_up().json()["accepts"][0]
    assert (evm["asset"], evm["payTo"]) == (REAL_ASSET.lower(), EVM_RECEIVER)
    venice_wallet.fund()
    payment = venice_wallet.wallet.pays(verifyingContract=REAL_ASSET)
    assert venice_wallet.top_up(v2(payment, asset=REAL_ASSET), "PAYMENT-SIGNATURE").status_code == 200
    worthless = venice_wallet.wallet.pays()
    assert code(venice_wallet.top_up(v2(worthless))) == "UNSUPPORTED_TOKEN"
    assert code(venice_wallet.top_up(flat(worthless))) == "INVALID_PAYMENT"


def test_the_addresses_of_the_terms_are_hashes_so_nobody_has_their_keys() -> None:
    def digest(text: str) -> bytes:
        return keccak.new(digest_bits=256, data=text.encode()).digest()

    for address, other, text in (
        (PLAY_ASSET, SOLANA_MINT, "Rialto Sandbox: play money"),
        (EVM_RECEIVER, SOLANA_RECEIVER, "Rialto Sandbox: receiver"),
    ):
        assert checksummed("0x" + digest(text)[-20:].hex()) == address
        assert to_base58(digest(text)) == other
    assert to_base58(digest("Rialto Sandbox: fee payer")) == SOLANA_FEE_PAYER


@pytest.mark.parametrize("name", ["X-402-Payment", "PAYMENT-SIGNATURE", "X-PAYMENT", "payment-signature"])
def test_R_WAL_03_06_and_07_all_three_header_names_add_credits(payer: WalletClient, name: str) -> None:
    answer = payer.top_up(v2(payer.wallet.pays()), name)
    assert answer.status_code == 200
    body = answer.json()
    assert body["success"] is True
    assert set(body["data"]) == {"walletAddress", "amountCredited", "newBalance", "paymentId"}
    assert body["data"]["walletAddress"] == payer.wallet.address
    assert (body["data"]["amountCredited"], body["data"]["newBalance"]) == (5, 5)
    response = unpacked(answer.headers["PAYMENT-RESPONSE"])
    assert (response["success"], response["network"]) == (True, "eip155:8453")
    assert response["payer"] == payer.wallet.address
    assert len(response["transaction"]) == 66
    known = payer.known()
    assert (known["usd"], known["usdc"]) == ("5.000000", "95.000000")
    assert payer.chat().status_code == 200  # R-WAL-08


@pytest.mark.parametrize(
    "form",
    [
        v2,
        flat,
        lambda payment: flat(payment, 2, "base"),
        lambda payment: flat(payment, 1, "base"),
        lambda payment: flat(payment, 1, "eip155:8453"),
        lambda payment: v2(payment, network="base"),
        lambda payment: v2(payment, asset=PLAY_ASSET, payTo=EVM_RECEIVER.lower()),
    ],
)
def test_R_WAL_03_every_form_in_use_is_read(payer: WalletClient, form: Callable[[dict[str, Any]], str]) -> None:
    assert payer.top_up(form(payer.wallet.pays())).status_code == 200


def test_protocol_version_1_gets_its_receipt_under_its_own_name_too(payer: WalletClient) -> None:
    answer = payer.top_up(flat(payer.wallet.pays(), 1, "base"), "X-PAYMENT")
    assert answer.headers["X-PAYMENT-RESPONSE"] == answer.headers["PAYMENT-RESPONSE"]
    assert unpacked(answer.headers["PAYMENT-RESPONSE"])["network"] == "base"


@pytest.mark.parametrize("usd", ["5", "5.000001", "37.5", "10000"])
def test_R_WAL_04_amounts_from_5_to_10000_usd_are_credited_exactly(payer: WalletClient, usd: str) -> None:
    payer.fund("10000")
    units = str(int(Decimal(usd) * 1_000_000))
    payment = payer.wallet.pays(payer.wallet.authorization(value=units))
    answer = payer.top_up(v2(payment, amount="5000000"))  # the entry of accepts, unchanged
    assert answer.json()["data"]["amountCredited"] == float(usd)
    assert Decimal(payer.known()["usd"]) == Decimal(usd)


@pytest.mark.parametrize(
    ("expected", "units"),
    [("AMOUNT_TOO_LOW", 4_999_999), ("AMOUNT_TOO_LOW", 0), ("AMOUNT_TOO_HIGH", 10_000_000_001)],
)
def test_R_WAL_04_less_and_more_are_refused(payer: WalletClient, expected: str, units: int) -> None:
    payment = payer.wallet.pays(payer.wallet.authorization(value=str(units)))
    assert code(payer.top_up(flat(payment))) == expected
    assert code(payer.top_up(v2(payment))) == expected


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("UNSUPPORTED_SCHEME", {"scheme": "upto"}),
        ("UNSUPPORTED_SCHEME", {"scheme": None}),
        ("UNSUPPORTED_NETWORK", {"network": "eip155:1"}),
        ("UNSUPPORTED_NETWORK", {"network": "solana"}),
        ("UNSUPPORTED_NETWORK", {"network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}),
        ("UNSUPPORTED_NETWORK", {"network": ["base"]}),
        ("UNSUPPORTED_TOKEN", {"asset": REAL_ASSET}),
        ("UNSUPPORTED_TOKEN", {"asset": None}),
        ("INVALID_PAYMENT_RECIPIENT", {"payTo": OTHER.address}),
        ("INVALID_AMOUNT", {"amount": "5000001"}),
        ("INVALID_AMOUNT", {"amount": "4000000"}),
        ("INVALID_PAYMENT_FORMAT", {"amount": 5000000}),
        ("INVALID_PAYMENT_FORMAT", {"amount": "5e6"}),
        ("INVALID_PAYMENT", {"extra": {"name": "USDC", "version": "2"}}),
        ("INVALID_PAYMENT", {"extra": {"name": "USD Coin"}}),
        ("INVALID_PAYMENT", {"extra": None}),
        ("INVALID_PAYMENT", {"maxTimeoutSeconds": 3000}),
    ],
)
def test_R_WAL_06_the_repeated_terms_must_be_those_offered(
    payer: WalletClient, expected: str, changes: dict[str, Any]
) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays(), **changes))) == expected
    assert payer.known()["usdc"] == "100.000000"


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("INVALID_PAYMENT_PAYER", {"from": "nobody"}),
        ("INVALID_PAYMENT_PAYER", {"from": "0x" + "00" * 20}),
        ("INVALID_PAYMENT_PAYER", {"from": EVM_RECEIVER}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": OTHER.address}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": "0x12"}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": None}),
        ("INVALID_PAYMENT_FORMAT", {"value": 5000000}),
        ("INVALID_PAYMENT_FORMAT", {"value": "05000000"}),
        ("INVALID_PAYMENT_FORMAT", {"value": "-5000000"}),
        ("INVALID_PAYMENT_FORMAT", {"value": str(2**256)}),
        ("INVALID_PAYMENT_FORMAT", {"validAfter": "now"}),
        ("INVALID_PAYMENT_FORMAT", {"validBefore": None}),
        ("INVALID_PAYMENT_FORMAT", {"nonce": "0xabab"}),
        ("INVALID_PAYMENT_FORMAT", {"nonce": "ab" * 32}),
        ("INVALID_PAYMENT", {"value": "6000000"}),
        ("INVALID_PAYMENT", {"validAfter": "0"}),
        ("INVALID_PAYMENT", {"validBefore": str(int(NOON) + 301)}),
        ("INVALID_PAYMENT", {"nonce": "0x" + "ab" * 32}),
        ("INVALID_PAYMENT", {"from": OTHER.address}),
    ],
)
def test_R_WAL_06_a_field_changed_after_signing_is_found(
    payer: WalletClient, expected: str, changes: dict[str, Any]
) -> None:
    payment = payer.wallet.pays()
    payment["authorization"] = payment["authorization"] | changes
    assert code(payer.top_up(flat(payment))) == expected
    assert payer.known()["usdc"] == "100.000000"


@pytest.mark.parametrize(
    "domain",
    [{"name": "USDC"}, {"version": "1"}, {"chainId": 1}, {"verifyingContract": REAL_ASSET}],
)
def test_R_WAL_06_the_signature_is_bound_to_name_version_chain_and_token(
    payer: WalletClient, domain: dict[str, Any]
) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays(**domain)))) == "INVALID_PAYMENT"


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("0x" + "11" * 64, "INVALID_PAYMENT_FORMAT"),
        ("11" * 65, "INVALID_PAYMENT_FORMAT"),
        (None, "INVALID_PAYMENT_FORMAT"),
        ("0x" + "00" * 65, "INVALID_PAYMENT"),
        ("0x" + "ff" * 65, "INVALID_PAYMENT"),
        ("0x" + f"{5:064x}" + "11" * 32 + "1b", "INVALID_PAYMENT"),
    ],
)
def test_R_WAL_06_a_wrong_signature_is_refused(payer: WalletClient, signature: str | None, expected: str) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays() | {"signature": signature}))) == expected


def test_R_WAL_06_the_other_form_of_a_signature_is_refused_as_the_contract_does(payer: WalletClient) -> None:
    payment = payer.wallet.pays()
    raw = bytes.fromhex(payment["signature"][2:])
    high_s = CURVE_ORDER - int.from_bytes(raw[32:64], "big")
    twin = raw[:32] + high_s.to_bytes(32, "big") + bytes([27 + 28 - raw[64]])
    assert code(payer.top_up(v2(payment | {"signature": "0x" + twin.hex()}))) == "INVALID_PAYMENT"
    assert payer.top_up(v2(payment)).status_code == 200


@pytest.mark.parametrize(
    ("after_s", "before_s", "status"), [(-1, 30, 200), (0, 300, 400), (-600, 0, 400), (-600, -300, 400), (60, 300, 400)]
)
def test_R_WAL_06_the_window_is_open_after_one_moment_and_before_the_other(
    payer: WalletClient, after_s: int, before_s: int, status: int
) -> None:
    window = {"validAfter": str(int(NOON) + after_s), "validBefore": str(int(NOON) + before_s)}
    answer = payer.top_up(v2(payer.wallet.pays(payer.wallet.authorization(**window))))
    assert answer.status_code == status


@pytest.mark.parametrize(
    "payment",
    [
        "not base64",
        packed([]),
        packed({}),
        packed({"x402Version": 3}),
        packed({"x402Version": True, "scheme": "exact", "network": "base"}),
        packed({"x402Version": 2, "accepted": "all"}),
        packed({"x402Version": 2, "scheme": "exact", "network": "base"}),
        packed({"x402Version": 2, "scheme": "exact", "network": "base", "payload": {"signature": "0x"}}),
        base64.b64encode(b"[" * 20_000).decode(),
    ],
)
def test_R_WAL_03_what_is_no_payment_is_400(payer: WalletClient, payment: str) -> None:
    assert code(payer.top_up(payment)) == "INVALID_PAYMENT_FORMAT"


def test_two_different_payments_in_one_request_are_refused(payer: WalletClient) -> None:
    address = f"{payer.sandbox.running.base_url}/x402/top-up"
    first, second = v2(payer.wallet.pays()), v2(payer.wallet.pays())
    both = payer.http.post(address, headers={"X-402-Payment": first, "X-PAYMENT": second})
    assert code(both) == "INVALID_PAYMENT_FORMAT"
    same = payer.http.post(address, headers={"X-402-Payment": first, "PAYMENT-SIGNATURE": first})
    assert same.status_code == 200


def test_a_payer_without_play_money_is_refused_and_may_try_again(wallet: WalletClient) -> None:
    payment = v2(wallet.wallet.pays())
    answer = wallet.top_up(payment)
    assert code(answer) == "PAYMENT_VERIFICATION_FAILED" and "faucet" in answer.json()["message"]
    wallet.fund("5")
    assert wallet.top_up(payment).status_code == 200
    assert code(wallet.top_up(v2(wallet.wallet.pays()))) == "PAYMENT_VERIFICATION_FAILED"


def test_the_same_payment_is_credited_once_and_gets_the_same_receipt(payer: WalletClient) -> None:
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
    stranger = WalletClient(payer.sandbox, payer.http, other)
    stranger.fund()
    assert stranger.top_up(v2(other.pays(other.authorization(nonce=nonce)))).status_code == 200


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


def test_R_WAL_06_the_published_vectors_hold() -> None:
    terms = Terms(REAL_ASSET, "0x" + "22" * 20)
    payload = {
        "signature": figures.PAYMENT_SIGNATURE,
        "authorization": {
            "from": figures.ADDRESS,
            "to": figures.RECEIVER,
            "value": "5000000",
            "validAfter": "1767322445",
            "validBefore": "1767323345",
            "nonce": "0x" + "ab" * 32,
        },
    }
    forms: list[dict[str, Any]] = [
        {"x402Version": 2, "accepted": figures.TERMS, "payload": payload},
        {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "payload": payload},
    ]
    for content in forms:
        payment = read_payment(packed(content), terms)
        check_times(payment.authorization, figures.PAID_AT.timestamp())
        check_signature(payment, terms)
        for late in (1767322445, 1767323345):
            with pytest.raises(Refusal):
                check_times(payment.authorization, late)
        changed = replace(payment, authorization=replace(payment.authorization, value=5_000_001))
        with pytest.raises(Refusal) as caught:
            check_signature(changed, terms)
        assert json.loads(json.dumps(caught.value.body))["error"] == "INVALID_PAYMENT"


async def test_a_ledger_without_a_chain_moves_what_is_there() -> None:
    terms = Terms(PLAY_ASSET)
    payment = read_payment(flat(EvmWallet().pays()), terms)
    money = PlayMoney()
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
    """Its clock is that of its last block, which may be ahead of the Sandbox's when that was turned back."""
    payer.sandbox.turn_clock(3600)
    payer.fund("1")
    payer.sandbox.turn_clock(0)
    answer = payer.top_up(v2(payer.wallet.pays()))
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
        await asyncio.to_thread(goes_on.wait, 10)
        return await settle(money, payment)

    monkeypatch.setattr(PlayMoney, "transfer", slowly)
    payment = v2(table.wallet.pays())
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(table.top_up(payment)))
    thread.start()
    assert begun.wait(10)
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
        assert answer.status_code == 503 and "pip install eth-account" in answer.json()["error"]
