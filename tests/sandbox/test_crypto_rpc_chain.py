"""What the chains do: money moves, contracts run, logs are found, calls are traced."""

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data

from app.sandbox.chains.non_evm_nodes import SOLANA_SLUG, STARTED_AT, latest_block
from app.wallet.solana_transfer import key_bytes
from tests.sandbox.support import NOON, Client
from tests.sandbox.test_crypto_rpc import (
    ALICE,
    BASE,
    BOB,
    GWEI,
    USDC,
    balance_of,
    item,
    refusal,
    result,
    send,
    signed,
    transfer,
    word,
)

NEWCOMER = Account.from_key(b"\x07" * 32)
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def sent(sandbox: Client, raw: str, network: str = BASE) -> str:
    return str(result(sandbox, "eth_sendRawTransaction", raw, network=network))


def dollars(sandbox: Client, owner: str, block: str = "latest") -> int:
    return int(result(sandbox, "eth_call", balance_of(owner), block), 16)


def test_R_GEN_12_a_transfer_moves_money_and_pays_gas(sandbox: Client) -> None:
    before = int(result(sandbox, "eth_getBalance", ALICE.address, "latest"), 16)
    digest = sent(sandbox, signed(0, NEWCOMER.address, 5 * 10**17))
    receipt = result(sandbox, "eth_getTransactionReceipt", digest)
    fee = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    assert (receipt["status"], receipt["gasUsed"], receipt["blockNumber"]) == ("0x1", "0x5208", "0x6")
    assert int(result(sandbox, "eth_getBalance", NEWCOMER.address, "latest"), 16) == 5 * 10**17
    assert int(result(sandbox, "eth_getBalance", ALICE.address, "latest"), 16) == before - 5 * 10**17 - fee
    assert int(result(sandbox, "eth_getBalance", NEWCOMER.address, "0x0"), 16) == 0
    assert result(sandbox, "eth_getTransactionCount", ALICE.address, "latest") == "0x1"
    block = result(sandbox, "eth_getBlockByNumber", "latest", True)
    assert block["transactions"][0]["hash"] == digest and int(block["timestamp"], 16) >= NOON
    by_hash = result(sandbox, "eth_getBlockByHash", block["hash"], False)
    assert by_hash["transactions"] == [digest]
    assert result(sandbox, "eth_getTransactionByHash", digest) == block["transactions"][0]
    assert result(sandbox, "eth_getTransactionByBlockNumberAndIndex", "0x6", "0x0")["hash"] == digest
    assert result(sandbox, "eth_getBlockReceipts", "latest") == [receipt]


def test_each_network_has_money_of_its_own(sandbox: Client) -> None:
    sent(sandbox, signed(0))
    assert result(sandbox, "eth_blockNumber", network="ethereum-mainnet") == "0x5"
    assert result(sandbox, "eth_getTransactionCount", ALICE.address, "latest", network="ethereum-mainnet") == "0x0"
    assert (
        "invalid chain id"
        in refusal(sandbox, "eth_sendRawTransaction", signed(0), network="ethereum-mainnet")["message"]
    )


def test_the_play_dollar_moves_and_its_logs_are_found(sandbox: Client) -> None:
    assert (
        bytes.fromhex(result(sandbox, "eth_call", {"to": USDC, "data": "0x95d89b41"}, "latest")[2:])[64:68] == b"USDC"
    )
    assert dollars(sandbox, ALICE.address) == 10_000 * 10**6
    digest = sent(sandbox, signed(0, USDC, 0, data=transfer(2_500_000, NEWCOMER.address)))
    sent(sandbox, signed(1, USDC, 0, data=transfer(1, BOB.address)))
    assert (dollars(sandbox, NEWCOMER.address), dollars(sandbox, NEWCOMER.address, "0x0")) == (2_500_000, 0)
    logs = result(sandbox, "eth_getLogs", {"fromBlock": "0x0", "address": USDC, "topics": [TRANSFER]})
    assert [log["blockNumber"] for log in logs] == ["0x6", "0x7"]
    assert (logs[0]["transactionHash"], int(logs[0]["data"], 16)) == (digest, 2_500_000)
    to_newcomer = [TRANSFER, None, ["0x" + word(NEWCOMER.address)]]
    assert result(sandbox, "eth_getLogs", {"fromBlock": "earliest", "topics": to_newcomer}) == logs[:1]
    block_hash = logs[1]["blockHash"]
    assert result(sandbox, "eth_getLogs", {"blockHash": block_hash}) == logs[1:]
    assert result(sandbox, "eth_getLogs", {"fromBlock": "0x0", "address": BOB.address}) == []
    assert result(sandbox, "eth_getLogs", {"fromBlock": "0x99"}) == []


def test_a_failed_call_says_why(sandbox: Client) -> None:
    call = {"from": NEWCOMER.address, "to": USDC, "data": transfer(1)}
    error = refusal(sandbox, "eth_call", call, "latest")
    assert error["code"] == 3 and error["message"] == "execution reverted: ERC20: transfer amount exceeds balance"
    assert error["data"].startswith("0x08c379a0")
    assert refusal(sandbox, "eth_estimateGas", call)["code"] == 3
    digest = sent(sandbox, signed(0, USDC, 0, data=transfer(10**15)))
    assert result(sandbox, "eth_getTransactionReceipt", digest)["status"] == "0x0"


def test_gas_estimates_are_enough_and_not_far_off(sandbox: Client) -> None:
    call = {"from": ALICE.address, "to": USDC, "data": transfer(5)}
    estimate = int(result(sandbox, "eth_estimateGas", call), 16)
    digest = sent(sandbox, signed(0, USDC, 0, data=transfer(5), gas=estimate))
    receipt = result(sandbox, "eth_getTransactionReceipt", digest)
    assert receipt["status"] == "0x1" and int(receipt["gasUsed"], 16) <= estimate <= 1.3 * int(receipt["gasUsed"], 16)
    assert (
        int(result(sandbox, "eth_estimateGas", {"from": ALICE.address, "to": BOB.address, "value": "0x1"}), 16)
        == 21_000
    )


def test_a_contract_is_deployed_and_called(sandbox: Client) -> None:
    answer_42 = "602a60005260206000f3"  # returns 42
    create = "0x" + "69" + answer_42 + "600052" + "600a6016f3"
    raw = ALICE.sign_transaction(
        {"nonce": 0, "gas": 200_000, "gasPrice": 5 * GWEI, "value": 0, "data": create, "chainId": 8453}
    )
    receipt = result(sandbox, "eth_getTransactionReceipt", sent(sandbox, "0x" + bytes(raw.raw_transaction).hex()))
    assert receipt["to"] is None and receipt["type"] == "0x0"
    where = receipt["contractAddress"]
    assert result(sandbox, "eth_getCode", where, "latest") == "0x" + answer_42
    assert int(result(sandbox, "eth_call", {"to": where}, "latest"), 16) == 42
    assert result(sandbox, "trace_transaction", receipt["transactionHash"])[0]["type"] == "create"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (signed(0, gas=20_000), "intrinsic gas too low"),
        (signed(0, gas=31_000_000), "exceeds block gas limit"),
        (signed(0, value=10**24), "insufficient funds"),
        (signed(0, maxFeePerGas=1, maxPriorityFeePerGas=1), "max fee per gas less than block base fee"),
        ("0x", "invalid transaction"),
        ("0x02c0", "invalid transaction"),
    ],
)
def test_transactions_that_cannot_be_mined_are_refused(sandbox: Client, raw: str, words: str) -> None:
    error = refusal(sandbox, "eth_sendRawTransaction", raw)
    assert words in error["message"] and error["code"] == -32000


def test_nonces_are_kept_in_order_and_gaps_wait(sandbox: Client) -> None:
    later = sent(sandbox, signed(1))
    assert result(sandbox, "eth_getTransactionReceipt", later) is None
    assert result(sandbox, "eth_getTransactionByHash", later)["blockNumber"] is None
    assert result(sandbox, "txpool_status") == {"pending": "0x0", "queued": "0x1"}
    owner = ALICE.address.lower()
    assert result(sandbox, "txpool_content")["queued"][owner]["1"]["hash"] == later
    assert "1 wei" in result(sandbox, "txpool_inspect")["queued"][owner]["1"]
    assert refusal(sandbox, "eth_sendRawTransaction", signed(1))["message"] == "already known"
    sent(sandbox, signed(0))
    assert result(sandbox, "eth_getTransactionReceipt", later)["status"] == "0x1"
    assert result(sandbox, "eth_getTransactionCount", ALICE.address, "pending") == "0x2"
    assert "nonce too low" in refusal(sandbox, "eth_sendRawTransaction", signed(0, value=3))["message"]


def test_calls_are_traced(sandbox: Client) -> None:
    digest = sent(sandbox, signed(0, USDC, 0, data=transfer(7)))
    tree = result(sandbox, "debug_traceTransaction", digest, {"tracer": "callTracer"})
    assert (tree["type"], tree["to"], tree["input"]) == ("CALL", USDC.lower(), transfer(7))
    assert tree["gasUsed"] == result(sandbox, "eth_getTransactionReceipt", digest)["gasUsed"]
    traces = result(sandbox, "trace_transaction", digest)
    assert traces == result(sandbox, "trace_block", "latest") and traces[0]["traceAddress"] == []
    replay = result(sandbox, "trace_replayTransaction", digest, ["trace"])
    assert int(replay["output"], 16) == 1
    assert result(sandbox, "trace_replayBlockTransactions", "0x6", ["trace"])[0]["transactionHash"] == digest
    failing = {"from": NEWCOMER.address, "to": USDC, "data": transfer(1)}
    shown = result(sandbox, "debug_traceCall", failing, "latest", {"tracer": "callTracer"})
    assert shown["revertReason"] == "ERC20: transfer amount exceeds balance"
    assert result(sandbox, "debug_traceCall", failing, "latest")["failed"] is True
    assert result(sandbox, "trace_call", failing, ["trace"], "latest")["trace"][0]["error"] == "execution reverted"


def test_an_authorised_transfer_is_paid_by_somebody_else_and_only_once(sandbox: Client) -> None:
    domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": USDC}
    kinds = [("from", "address"), ("to", "address"), ("value", "uint256"), ("validAfter", "uint256"),
             ("validBefore", "uint256"), ("nonce", "bytes32")]  # fmt: skip
    types = {"TransferWithAuthorization": [{"name": name, "type": kind} for name, kind in kinds]}
    message = {"from": BOB.address, "to": NEWCOMER.address, "value": 5_000_000, "validAfter": 0,
               "validBefore": 2**40, "nonce": b"\x01" * 32}  # fmt: skip
    typed = encode_typed_data(domain, types, message)
    signature = BOB.sign_message(typed)
    data = "0xe3ee160e" + "".join(
        word(value) for value in (BOB.address, NEWCOMER.address, 5_000_000, 0, 2**40, "0x" + "01" * 32, signature.v)
    )
    data += f"{signature.r:064x}{signature.s:064x}"
    sent(sandbox, signed(0, USDC, 0, data=data, gas=200_000))
    assert dollars(sandbox, NEWCOMER.address) == 5_000_000
    again = refusal(sandbox, "eth_call", {"from": ALICE.address, "to": USDC, "data": data}, "latest")
    assert "authorization is used" in again["message"]
    forged = data.replace(word(5_000_000), word(6_000_000)).replace("01" * 32, "02" * 32)
    assert "invalid signature" in refusal(sandbox, "eth_call", {"to": USDC, "data": forged}, "latest")["message"]


def test_blocks_that_are_not_there_are_null_and_their_state_an_error(sandbox: Client) -> None:
    assert result(sandbox, "eth_getBlockByNumber", "0x63", False) is None
    assert result(sandbox, "eth_getBlockByHash", "0x" + "11" * 32, False) is None
    assert refusal(sandbox, "eth_getBalance", ALICE.address, "0x63")["message"] == "header not found"
    assert result(sandbox, "eth_getTransactionReceipt", "0x" + "11" * 32) is None
    assert result(sandbox, "eth_getUncleByBlockNumberAndIndex", "0x0", "0x0") is None
    assert result(sandbox, "eth_getBlockTransactionCountByNumber", "0x0") == "0x0"
    assert refusal(sandbox, "eth_getLogs", {"blockHash": "0x" + "11" * 32})["message"] == "unknown block"
    assert result(sandbox, "eth_getBalance", ALICE.address, {"blockNumber": "0x0"}) == hex(100 * 10**18)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eth_getBalance", ["0x12", "latest"]),
        ("eth_getBalance", [ALICE.address, "yesterday"]),
        ("eth_call", ["nothing", "latest"]),
        ("eth_call", [{"to": USDC, "gas": 5}, "latest"]),
        ("eth_getLogs", [{"topics": ["0x12"]}]),
        ("eth_getTransactionReceipt", ["0xzz"]),
        ("eth_feeHistory", ["0x1", "latest", "half"]),
    ],
)
def test_wrong_parameters_are_an_error_of_the_item(sandbox: Client, method: str, params: list[object]) -> None:
    assert refusal(sandbox, method, *params)["code"] == -32602


def test_parameters_must_be_a_list_here(sandbox: Client) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": {"address": ALICE.address}}
    assert send(sandbox, body).json()["error"]["code"] == -32602


def test_fees(sandbox: Client) -> None:
    sent(sandbox, signed(0))
    history = result(sandbox, "eth_feeHistory", "0x2", "latest", [25, 75])
    assert history["oldestBlock"] == "0x5" and len(history["baseFeePerGas"]) == 3 and len(history["reward"][0]) == 2
    price, tip = (int(result(sandbox, name), 16) for name in ("eth_gasPrice", "eth_maxPriorityFeePerGas"))
    assert price == tip + int(history["baseFeePerGas"][-1], 16)
    assert set(result(sandbox, "linea_estimateGas", {"to": BOB.address}, network="linea-mainnet")) == {
        "gasLimit", "baseFeePerGas", "priorityFeePerGas"
    }  # fmt: skip


def test_small_questions(sandbox: Client) -> None:
    assert result(sandbox, "net_version") == "8453" and result(sandbox, "eth_syncing") is False
    assert result(sandbox, "web3_sha3", "0x") == "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert int(result(sandbox, "eth_getStorageAt", USDC, "0x3", "latest"), 16) == 1_000_040_000 * 10**6
    assert result(sandbox, "web3_clientVersion").startswith("RialtoSandbox/")


def test_the_other_families_answer_a_few_methods(sandbox: Client) -> None:
    assert result(sandbox, "starknet_chainId", network="starknet-sepolia") == "0x" + b"SN_SEPOLIA".hex()
    number = result(sandbox, "starknet_blockNumber", network="starknet-mainnet")
    block = result(sandbox, "starknet_getBlockWithTxHashes", "latest", network="starknet-mainnet")
    earlier = result(sandbox, "starknet_getBlockWithTxHashes", {"block_number": number - 1}, network="starknet-mainnet")
    assert block["parent_hash"] == earlier["block_hash"]
    assert (
        refusal(sandbox, "starknet_getBlockWithTxHashes", {"block_number": -1}, network="starknet-mainnet")["code"]
        == 24
    )
    assert refusal(sandbox, "starknet_getBlockWithTxHashes", "old", network="starknet-mainnet")["code"] == -32602
    assert refusal(sandbox, "starknet_call", network="starknet-mainnet")["code"] == -32601
    sandbox.turn_clock(30)
    assert result(sandbox, "starknet_blockNumber", network="starknet-mainnet") == number + 1
    assert result(sandbox, "getHealth", network="solana-mainnet") == "ok"
    assert result(sandbox, "getBalance", "x", network="solana-devnet")["value"] == 0
    assert 32 <= len(result(sandbox, "getLatestBlockhash", network="solana-devnet")["value"]["blockhash"]) <= 44
    assert result(sandbox, "getEpochInfo", network="solana-devnet")["slotsInEpoch"] == 432_000


def test_the_accounts_with_play_money_are_listed_and_a_reset_makes_new_chains(sandbox: Client) -> None:
    listed = sandbox.control("/chains", method="GET")
    accounts = {one["name"]: one for one in listed["accounts"]}
    assert Account.from_key(accounts["faucet"]["private_key"]).address == accounts["faucet"]["address"]
    assert dollars(sandbox, accounts["faucet"]["address"]) == 10**15
    assert listed["dollars"][BASE] == USDC and len(listed["networks"]) == 27
    sent(sandbox, signed(0))
    sandbox.control("/reset")
    assert result(sandbox, "eth_blockNumber") == "0x5"


def test_a_batch_runs_in_order(sandbox: Client) -> None:
    batch = [item("eth_sendRawTransaction", signed(0), id=1), item("eth_blockNumber", id=2)]
    assert send(sandbox, batch).json()[1]["result"] == "0x6"


def test_every_block_of_solana_has_a_hash_of_32_bytes() -> None:
    """One in 256 begins with a zero."""
    hashes = {latest_block(SOLANA_SLUG, STARTED_AT + seconds)[0] for seconds in range(1_000)}
    assert {len(key_bytes(each)) for each in hashes} == {32}
