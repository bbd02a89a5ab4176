"""The Sandbox's clock is turned forwards and back: its chains, their payments and their answers go on."""

from itertools import pairwise
from typing import Any

import pytest
from eth_account import Account

from app.sandbox.accounts.x402_terms import PLAY_ASSET
from app.sandbox.chains.evm_chain import COINBASE, GAS_LIMIT, MOST_EMPTY, EvmChain
from app.sandbox.chains.networks import TEST_ACCOUNTS
from tests.sandbox.support import NOON, Client
from tests.sandbox.wallet_support import WalletClient, v2

ALICE, BOB = (Account.from_key(one.private_key) for one in TEST_ACCOUNTS[1:3])
DAY_S = 86_400
TRANSFERRED = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"  # Transfer(address,address,uint256)


def ask(sandbox: Client, method: str, *params: object, network: str = "base-mainnet") -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
    answer = sandbox.post(f"/crypto/rpc/{network}", body).json()
    assert "result" in answer, answer
    return answer["result"]


def send(sandbox: Client) -> dict[str, Any]:
    """Move a wei from Alice to Bob; return the block it is in."""
    transaction = {
        "to": BOB.address,
        "value": 1,
        "gas": 21_000,
        "maxFeePerGas": 5 * 10**9,
        "maxPriorityFeePerGas": 10**9,
        "nonce": int(ask(sandbox, "eth_getTransactionCount", ALICE.address, "latest"), 16),
        "chainId": 8453,
    }
    raw = "0x" + bytes(ALICE.sign_transaction(transaction).raw_transaction).hex()
    receipt = ask(sandbox, "eth_getTransactionReceipt", ask(sandbox, "eth_sendRawTransaction", raw))
    assert receipt["status"] == "0x1"
    return dict(ask(sandbox, "eth_getBlockByNumber", receipt["blockNumber"], False))


def time_of(block: dict[str, Any]) -> int:
    return int(block["timestamp"], 16)


def test_blocks_follow_the_clock_forwards_and_back(sandbox: Client) -> None:
    first = send(sandbox)
    sandbox.turn_clock(8 * DAY_S)
    ahead = send(sandbox)
    sandbox.turn_clock(0)
    back, next_one = send(sandbox), send(sandbox)
    assert time_of(ahead) == NOON + 8 * DAY_S
    assert time_of(back) == NOON and time_of(next_one) == NOON + 1
    numbers = [int(block["number"], 16) for block in (first, ahead, back, next_one)]
    assert numbers[1] > numbers[0] + 1, "empty blocks lie between"
    assert numbers[1:] == list(range(numbers[1], numbers[1] + 3))
    assert back["parentHash"] == ahead["hash"] and next_one["parentHash"] == back["hash"]


def test_nothing_that_was_mined_is_lost_when_the_clock_is_turned_back(sandbox: Client) -> None:
    sandbox.turn_clock(8 * DAY_S)
    mined = send(sandbox)
    sandbox.turn_clock(-DAY_S)
    assert ask(sandbox, "eth_getBlockByHash", mined["hash"], False)["number"] == mined["number"]
    balance = int(ask(sandbox, "eth_getBalance", BOB.address, "latest"), 16)
    assert balance == 100 * 10**18 + 1
    assert int(ask(sandbox, "eth_getBalance", BOB.address, hex(int(mined["number"], 16) - 1)), 16) == balance - 1
    assert ask(sandbox, "eth_estimateGas", {"from": ALICE.address, "to": BOB.address, "value": "0x1"}) == "0x5208"


def test_contracts_see_the_time_of_their_block(sandbox: Client) -> None:
    """Code that keeps `block.timestamp`: TIMESTAMP, PUSH0, SSTORE, made by a creation that runs it at once."""
    nonce = int(ask(sandbox, "eth_getTransactionCount", ALICE.address, "latest"), 16)
    sandbox.turn_clock(8 * DAY_S)
    fees = {"gas": 100_000, "maxFeePerGas": 5 * 10**9, "maxPriorityFeePerGas": 10**9}
    transaction = {"data": "0x425f55", "value": 0, "nonce": nonce, "chainId": 8453, **fees}
    raw = "0x" + bytes(ALICE.sign_transaction(transaction).raw_transaction).hex()
    receipt = ask(sandbox, "eth_getTransactionReceipt", ask(sandbox, "eth_sendRawTransaction", raw))
    kept = int(ask(sandbox, "eth_getStorageAt", receipt["contractAddress"], "0x0", "latest"), 16)
    block = ask(sandbox, "eth_getBlockByNumber", receipt["blockNumber"], False)
    assert kept == time_of(block) == NOON + 8 * DAY_S


def test_many_blocks_within_a_second_stay_in_order(sandbox: Client) -> None:
    times = [time_of(send(sandbox)) for _ in range(5)]
    assert times == list(range(times[0], times[0] + 5))


def test_a_wallet_tops_up_after_the_clock_was_put_right(payer: WalletClient) -> None:
    sandbox = payer.sandbox
    sandbox.turn_clock(8 * DAY_S)
    send(sandbox)
    sandbox.turn_clock(0)
    paid = payer.top_up(v2(payer.wallet.pays()))
    assert paid.status_code == 200, paid.text


def test_the_other_networks_answer_before_and_after(sandbox: Client) -> None:
    sandbox.turn_clock(DAY_S)
    ahead = ask(sandbox, "starknet_blockNumber", network="starknet-mainnet")
    sandbox.turn_clock(-DAY_S)
    behind = ask(sandbox, "starknet_blockNumber", network="starknet-mainnet")
    assert 0 <= behind < ahead


def test_blocks_come_every_12_seconds_of_the_clock_and_each_names_the_one_before(sandbox: Client) -> None:
    first = int(ask(sandbox, "eth_blockNumber"), 16)
    sandbox.turn_clock(61)
    assert int(ask(sandbox, "eth_blockNumber"), 16) == first + 5
    blocks = [ask(sandbox, "eth_getBlockByNumber", hex(number), False) for number in range(first + 6)]
    for parent, block in pairwise(blocks):
        assert block["parentHash"] == parent["hash"]
        assert time_of(block) == time_of(parent) + 12
        assert block["hash"] == ask(sandbox, "eth_getBlockByHash", block["hash"], False)["hash"]
    assert blocks[-1]["transactions"] == [] and blocks[-1]["stateRoot"] == blocks[4]["stateRoot"]
    assert int(blocks[-1]["baseFeePerGas"], 16) < int(blocks[4]["baseFeePerGas"], 16), "nobody wants the room in them"


def test_an_empty_block_is_what_the_machine_makes_of_no_transaction() -> None:
    ours, machine = (EvmChain(1, {}, lambda: NOON, begins_s_ago=30) for _ in range(2))
    ours.go_on()
    for number in (1, 2):
        machine._chain.header = machine._chain.header.copy(gas_limit=GAS_LIMIT)
        machine._chain.mine_all([], timestamp=int(NOON) - 30 + 12 * number, coinbase=COINBASE)
    assert ours.head.header == machine._chain.get_canonical_head()


def test_a_chain_that_nobody_looked_at_for_long_makes_few_blocks_at_once(sandbox: Client) -> None:
    first = int(ask(sandbox, "eth_blockNumber"), 16)
    sandbox.turn_clock(30 * DAY_S)
    assert int(ask(sandbox, "eth_blockNumber"), 16) == first + MOST_EMPTY
    latest = ask(sandbox, "eth_getBlockByNumber", "latest", False)
    assert NOON + 30 * DAY_S - 13 <= time_of(latest) < NOON + 30 * DAY_S


@pytest.mark.parametrize("network", ["base-mainnet", "ethereum-mainnet", "linea-mainnet"])
def test_the_token_was_used_before_anybody_came(sandbox: Client, network: str) -> None:
    filters = {"fromBlock": "0x0", "address": PLAY_ASSET, "topics": [TRANSFERRED]}
    logs = ask(sandbox, "eth_getLogs", filters, network=network)
    assert [int(log["data"], 16) for log in logs] == [25_000_000, 5_000_000, 12_000_000]
    symbol = bytes.fromhex(ask(sandbox, "eth_call", {"to": PLAY_ASSET, "data": "0x95d89b41"}, network=network)[2:])
    assert symbol[64:68] == b"USDC"
