"""What clients ask of a node before they send: proofs, access lists, simulated blocks, and money to begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rlp
from eth_account import Account
from eth_utils.crypto import keccak
from trie import HexaryTrie

from app.sandbox.chains.networks import DOLLARS, TEST_ACCOUNTS
from tests.sandbox.support import Client, running
from tests.sandbox.test_chain_calls import ALICE, BOB, EMPTY, FEES, FORTY_TWO, SOME_ADDRESS, ask, mined, number

USDC = DOLLARS["base-mainnet"]
ONE_LOG = "0x600160005260aa60206000a100"  # stores 1 and logs it under topic 0xaa
CUSTOM_ERROR = "0x63deadbeef6000526004601cfd"  # reverts with four bytes


def transfer_data(to: str, amount: int) -> str:
    return "0xa9059cbb" + to[2:].lower().rjust(64, "0") + f"{amount:064x}"


def balance_data(of: str) -> str:
    return "0x70a08231" + of[2:].lower().rjust(64, "0")


def test_a_proof_convinces_whoever_knows_the_state_root_alone(sandbox: Client) -> None:
    mined(sandbox, {"to": BOB.address, "value": 1, "nonce": 0, "chainId": 8453, **FEES})
    root = bytes.fromhex(ask(sandbox, "eth_getBlockByNumber", "latest", False)["result"]["stateRoot"][2:])
    place = "0x" + keccak((1).to_bytes(32, "big") + bytes.fromhex(ALICE.address[2:]).rjust(32, b"\0")).hex()
    for owner in (ALICE.address, USDC, SOME_ADDRESS):
        proof = ask(sandbox, "eth_getProof", owner, ["0x3", place, "0x7777"], "latest")["result"]
        nodes = [rlp.decode(bytes.fromhex(node[2:])) for node in proof["accountProof"]]
        held = HexaryTrie.get_from_proof(root, keccak(bytes.fromhex(owner[2:])), nodes)
        if owner == SOME_ADDRESS:
            assert held == b"" and (proof["nonce"], proof["balance"]) == ("0x0", "0x0")
            continue
        account = [int(proof["nonce"], 16), int(proof["balance"], 16), proof["storageHash"], proof["codeHash"]]
        numbers = [int.from_bytes(part, "big") for part in rlp.decode(held)]
        assert numbers == [value if isinstance(value, int) else int(value, 16) for value in account]
        assert account[1] == number(sandbox, "eth_getBalance", owner, "latest")
        for slot in proof["storageProof"]:
            stored = number(sandbox, "eth_getStorageAt", owner, slot["key"], "latest")
            assert int(slot["value"], 16) == stored
            if owner == USDC:
                parts = [rlp.decode(bytes.fromhex(node[2:])) for node in slot["proof"]]
                storage_root = bytes.fromhex(proof["storageHash"][2:])
                found = HexaryTrie.get_from_proof(storage_root, keccak(bytes.fromhex(slot["key"][2:])), parts)
                assert int.from_bytes(rlp.decode(found) if found else b"", "big") == stored
    assert int(proof["balance"], 16) == 0


def test_an_access_list_names_what_a_call_touches_and_its_gas_is_what_the_transaction_pays(sandbox: Client) -> None:
    data = transfer_data(BOB.address, 5)
    call = {"from": ALICE.address, "to": USDC, "data": data}
    told = ask(sandbox, "eth_createAccessList", call, "latest")["result"]
    (entry,) = told["accessList"]
    assert entry["address"] == USDC.lower() and len(entry["storageKeys"]) >= 2 and "error" not in told
    listed: dict[str, Any] = {"accessList": told["accessList"], "type": 2}
    receipt = mined(sandbox, {"to": USDC, "data": data, "nonce": 0, "chainId": 8453, **listed, **FEES})
    assert receipt["status"] == "0x1"
    assert int(told["gasUsed"], 16) == int(receipt["gasUsed"], 16)
    plain = ask(sandbox, "eth_createAccessList", {"from": ALICE.address, "to": BOB.address}, "latest")["result"]
    assert plain == {"accessList": [], "gasUsed": hex(21_000)}
    poor = ask(sandbox, "eth_createAccessList", {**call, "data": transfer_data(BOB.address, 10**20)}, "latest")
    assert poor["result"]["error"].startswith("execution reverted")


def test_calls_of_a_simulated_block_see_each_other_and_leave_nothing(sandbox: Client) -> None:
    before = number(sandbox, "eth_call", {"to": USDC, "data": balance_data(EMPTY)}, "latest")
    calls = [
        {"from": ALICE.address, "to": USDC, "data": transfer_data(EMPTY, 7)},
        {"to": USDC, "data": balance_data(EMPTY)},
        {"to": SOME_ADDRESS},
        {"from": EMPTY, "to": USDC, "data": transfer_data(EMPTY, 10**12)},
        {"from": EMPTY, "to": BOB.address, "value": "0x9"},
    ]
    overrides = {SOME_ADDRESS: {"code": ONE_LOG}, EMPTY: {"balance": "0x10"}}
    asked = {"blockStateCalls": [{"calls": calls, "stateOverrides": overrides}]}
    (block,) = ask(sandbox, "eth_simulateV1", asked, "latest")["result"]
    moved, read, logged, poor, sent = block["calls"]
    assert [one["status"] for one in block["calls"]] == ["0x1", "0x1", "0x1", "0x0", "0x1"]
    assert int(read["returnData"], 16) == before + 7
    assert len(moved["logs"]) == 1 and moved["logs"][0]["address"] == USDC.lower()
    assert logged["logs"][0]["topics"] == ["0x" + "aa".rjust(64, "0")] and logged["logs"][0]["logIndex"] == "0x1"
    assert poor["error"]["code"] == 3 and poor["error"]["message"].startswith("execution reverted")
    assert sent["gasUsed"] == hex(21_000)
    assert int(block["gasUsed"], 16) == sum(int(one["gasUsed"], 16) for one in block["calls"])
    assert int(block["number"], 16) == number(sandbox, "eth_blockNumber") + 1
    assert number(sandbox, "eth_call", {"to": USDC, "data": balance_data(EMPTY)}, "latest") == before
    short = {"blockStateCalls": [{"calls": [{"from": EMPTY, "to": BOB.address, "value": "0x1"}]}]}
    assert "insufficient funds" in ask(sandbox, "eth_simulateV1", short, "latest")["error"]["message"]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"blockStateCalls": []},
        {"blockStateCalls": [{}, {}]},
        {"blockStateCalls": ["x"]},
        {"blockStateCalls": [{"calls": [{"to": "0x1"}]}]},
        {"blockStateCalls": [{"blockOverrides": {"number": "0x1"}}]},
        {"blockStateCalls": [{}], "traceTransfers": True},
        None,
    ],
)
def test_a_simulation_that_is_not_served_is_never_half_done(sandbox: Client, asked: object) -> None:
    assert ask(sandbox, "eth_simulateV1", asked, "latest")["error"]["code"] == -32602


def test_a_custom_error_reaches_the_caller_as_its_data(sandbox: Client) -> None:
    overrides = {SOME_ADDRESS: {"code": CUSTOM_ERROR}}
    error = ask(sandbox, "eth_call", {"to": SOME_ADDRESS}, "latest", overrides)["error"]
    assert error == {"code": 3, "message": "execution reverted", "data": "0xdeadbeef"}
    assert number(sandbox, "eth_call", {"to": SOME_ADDRESS}, "latest", {SOME_ADDRESS: {"code": FORTY_TWO}}) == 42


@pytest.fixture
def funding(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, fund_any=True, no_limits=True) as client:
        yield client


def test_every_address_begins_with_play_money_once_when_that_was_asked_for(funding: Client, sandbox: Client) -> None:
    wallet = Account.from_key(b"\x21" * 32)
    assert number(sandbox, "eth_getBalance", wallet.address, "latest") == 0
    spent = {"to": BOB.address, "value": 99 * 10**18, "nonce": 0, "chainId": 8453, **FEES}
    raw = "0x" + bytes(wallet.sign_transaction(spent).raw_transaction).hex()
    assert "result" in ask(funding, "eth_sendRawTransaction", raw), "the first thing it does is to send"
    assert 0 < number(funding, "eth_getBalance", wallet.address, "latest") < 10**18, "and nobody fills it up again"
    price = 5 * 10**9
    all_of_it = {"to": BOB.address, "value": 100 * 10**18 - 21_000 * price, "gas": 21_000, "gasPrice": price}
    spender = Account.from_key(b"\x23" * 32)
    raw = "0x" + bytes(spender.sign_transaction({**all_of_it, "nonce": 0, "chainId": 8453}).raw_transaction).hex()
    assert "result" in ask(funding, "eth_sendRawTransaction", raw)
    assert number(funding, "eth_getBalance", spender.address, "latest") == 0, "not even who spent everything"
    reader = Account.from_key(b"\x22" * 32).address
    assert number(funding, "eth_call", {"to": USDC, "data": balance_data(reader)}, "latest") == 10_000 * 10**6
    assert number(funding, "eth_getBalance", reader, "latest") == 100 * 10**18
    assert number(funding, "eth_getBalance", EMPTY, "latest") == 0, "the empty account is for tests of just that"
    assert number(funding, "eth_getBalance", TEST_ACCOUNTS[1].address, "latest") == 100 * 10**18
    for wrong in ("0x12", None, 5):
        assert "error" in ask(funding, "eth_getBalance", wrong, "latest")
