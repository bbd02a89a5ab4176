"""Calls that leave no trace: what they may name beside the call itself, how they fail, and how long they may take."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from eth_account import Account

from app.sandbox.chains.networks import TEST_ACCOUNTS
from tests.sandbox.support import Client

ALICE, BOB = (Account.from_key(one.private_key) for one in TEST_ACCOUNTS[1:3])
EMPTY = Account.from_key(TEST_ACCOUNTS[3].private_key).address
SOME_ADDRESS = "0x" + "12" * 20
FORTY_TWO = "0x602a60005260206000f3"  # returns 42
SLOT_ZERO = "0x5f545f5260205ff3"  # returns what is in its first slot
ENDLESS = "0x5b600056"  # JUMPDEST, PUSH1 0, JUMP
FEES: dict[str, Any] = {"gas": 100_000, "maxFeePerGas": 5 * 10**9, "maxPriorityFeePerGas": 10**9}


def ask(sandbox: Client, method: str, *params: object) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
    found: dict[str, Any] = sandbox.post("/crypto/rpc/base-mainnet", body).json()
    return found


def number(sandbox: Client, method: str, *params: object) -> int:
    answer = ask(sandbox, method, *params)
    assert "result" in answer, answer
    return int(answer["result"], 16)


def mined(sandbox: Client, transaction: dict[str, Any]) -> dict[str, Any]:
    raw = "0x" + bytes(ALICE.sign_transaction(transaction).raw_transaction).hex()
    digest = ask(sandbox, "eth_sendRawTransaction", raw)
    assert "result" in digest, digest
    receipt: dict[str, Any] = ask(sandbox, "eth_getTransactionReceipt", digest["result"])["result"]
    return receipt


def test_an_estimate_with_an_access_list_is_enough_for_the_transaction(sandbox: Client) -> None:
    entries = [{"address": SOME_ADDRESS, "storageKeys": ["0x" + "00" * 32, "0x" + "00" * 31 + "01"]}]
    call = {"from": ALICE.address, "to": BOB.address, "value": "0x1", "accessList": entries}
    gas = number(sandbox, "eth_estimateGas", call)
    assert gas == 21_000 + 2_400 + 2 * 1_900
    fees = {"gas": gas, "gasPrice": 5 * 10**9}
    transaction = {"type": 1, "chainId": 8453, "nonce": 0, "to": BOB.address, "value": 1, "accessList": entries, **fees}
    assert mined(sandbox, transaction)["status"] == "0x1"


def test_an_estimate_with_an_authorization_list_is_enough_for_the_transaction(sandbox: Client) -> None:
    signed = BOB.sign_authorization({"chainId": 8453, "address": SOME_ADDRESS, "nonce": 0})
    shown = {"chainId": "0x2105", "address": SOME_ADDRESS, "nonce": "0x0"}
    shown |= {"yParity": hex(signed.y_parity), "r": hex(signed.r), "s": hex(signed.s)}
    call = {"from": ALICE.address, "to": BOB.address, "authorizationList": [shown]}
    gas = number(sandbox, "eth_estimateGas", call)
    assert 46_000 <= gas <= 60_000
    transaction = {"chainId": 8453, "nonce": 0, "to": BOB.address, "value": 0, "authorizationList": [signed]}
    assert mined(sandbox, {**transaction, **FEES, "gas": gas})["status"] == "0x1"
    code = ask(sandbox, "eth_getCode", BOB.address, "latest")["result"]
    assert code == "0xef0100" + SOME_ADDRESS[2:]
    assert "invalid params" in ask(sandbox, "eth_estimateGas", {**call, "authorizationList": [{}]})["error"]["message"]


def test_what_an_account_holds_can_be_overridden_for_one_call(sandbox: Client) -> None:
    call = {"to": SOME_ADDRESS}
    slot = "0x" + "00" * 32
    assert number(sandbox, "eth_call", call, "latest", {SOME_ADDRESS: {"code": FORTY_TWO}}) == 42
    for name in ("state", "stateDiff"):
        overrides = {SOME_ADDRESS: {"code": SLOT_ZERO, name: {slot: "0x" + "00" * 31 + "07"}}}
        assert number(sandbox, "eth_call", call, "latest", overrides) == 7
    rich = {"from": EMPTY, "to": BOB.address, "value": "0xde0b6b3a7640000"}
    assert number(sandbox, "eth_estimateGas", rich, "latest", {EMPTY: {"balance": "0xffffffffffffffffff"}}) == 21_000
    assert ask(sandbox, "eth_call", call, "latest")["result"] == "0x", "and only for that one"
    traced = ask(
        sandbox,
        "debug_traceCall",
        call,
        "latest",
        {"tracer": "callTracer", "stateOverrides": {SOME_ADDRESS: {"code": FORTY_TWO}}},
    )
    assert int(traced["result"]["output"], 16) == 42


@pytest.mark.parametrize(
    "params",
    [
        [{SOME_ADDRESS: {"movePrecompileToAddress": SOME_ADDRESS}}],
        [{SOME_ADDRESS: {"state": {}, "stateDiff": {}}}],
        [{SOME_ADDRESS: {"balance": "0x" + "f" * 65}}],
        [{"0x12": {}}],
        [None, {"number": "0x1"}],
    ],
)
def test_an_override_that_is_not_served_is_never_ignored(sandbox: Client, params: list[object]) -> None:
    assert ask(sandbox, "eth_call", {"to": SOME_ADDRESS}, "latest", *params)["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas", "trace_call"])
def test_too_little_money_has_the_same_words_everywhere(sandbox: Client, method: str) -> None:
    call = {"from": EMPTY, "to": BOB.address, "value": "0x1"}
    params = [call, ["trace"], "latest"] if method == "trace_call" else [call, "latest"]
    error = ask(sandbox, method, *params)["error"]
    assert error["code"] == -32000
    assert error["message"].startswith("insufficient funds for gas * price + value: ")
    assert error["message"].endswith("have 0 want 1")
    transaction = {"to": BOB.address, "value": 1, "nonce": 0, "chainId": 8453, **FEES}
    empty = Account.from_key(TEST_ACCOUNTS[3].private_key)
    raw = "0x" + bytes(empty.sign_transaction(transaction).raw_transaction).hex()
    sent = ask(sandbox, "eth_sendRawTransaction", raw)["error"]["message"]
    assert sent.startswith("insufficient funds for gas * price + value: ")


def test_an_endless_loop_is_ended_after_five_seconds(sandbox: Client) -> None:
    began = time.monotonic()
    overrides = {SOME_ADDRESS: {"code": ENDLESS}}
    answer = ask(sandbox, "eth_call", {"to": SOME_ADDRESS, "gas": hex(500_000_000)}, "latest", overrides)
    assert answer["error"] == {"code": -32000, "message": "execution aborted (timeout = 5s)"}
    assert time.monotonic() - began >= 5
    assert number(sandbox, "eth_call", {"to": SOME_ADDRESS}, "latest", {SOME_ADDRESS: {"code": FORTY_TWO}}) == 42


def test_calls_that_call_themselves_without_a_jump_are_ended_too(
    sandbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sandbox.chains.evm_chain.TIMEOUT_S", 0.2)
    addresses = [f"0x{number:040x}" for number in range(1_000, 1_030)]
    overrides = {
        here: {"code": "0x" + f"5f5f5f5f5f73{following[2:]}5af1" * 2} for here, following in pairwise(addresses)
    }
    answer = ask(sandbox, "eth_call", {"to": addresses[0]}, "latest", overrides)
    assert "timeout" in answer["error"]["message"]


def test_calls_nested_too_deeply_are_refused_in_words(sandbox: Client) -> None:
    overrides = {SOME_ADDRESS: {"code": "0x5f5f5f5f5f305af1"}}  # CALL to itself with all the gas
    assert (
        "nested too deeply" in ask(sandbox, "eth_call", {"to": SOME_ADDRESS}, "latest", overrides)["error"]["message"]
    )


def test_a_transaction_that_computes_too_long_is_refused_and_leaves_nothing(
    sandbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sandbox.chains.evm_chain.TIMEOUT_S", 0.2)
    endless = {"data": ENDLESS, "value": 0, "nonce": 0, "chainId": 8453, **FEES, "gas": 30_000_000}
    raw = "0x" + bytes(ALICE.sign_transaction(endless).raw_transaction).hex()
    assert "timeout" in ask(sandbox, "eth_sendRawTransaction", raw)["error"]["message"]
    monkeypatch.setattr("app.sandbox.chains.evm_chain.TIMEOUT_S", 60.0)
    assert mined(sandbox, {"to": BOB.address, "value": 1, "nonce": 0, "chainId": 8453, **FEES})["status"] == "0x1"
