"""The contracts that stand on every network before anybody comes: many calls in one, and a log of every kind."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode, encode
from eth_utils.crypto import keccak

from app.sandbox.chains.networks import DOLLARS, EVERY_LOG, MULTICALL3, TEST_ACCOUNTS
from tests.sandbox.support import RESOURCES, Client
from tests.sandbox.test_chain_calls import ALICE, BOB, FEES, ask, mined, number
from tests.sandbox.test_chain_simulation import balance_data, transfer_data

CONTRACTS = Path(RESOURCES) / "data" / "contracts"
USDC = DOLLARS["base-mainnet"]
RESULTS = "(bool,bytes)[]"
POOR = transfer_data(BOB.address, 10**30)  # nobody has so much
STRUCTS = {"Color": "uint8", "Point": "(int32,int32,string)"}


@pytest.mark.parametrize("record", sorted(CONTRACTS.glob("*.json")), ids=lambda record: record.stem)
def test_a_contracts_code_is_what_its_source_compiles_to(record: Path) -> None:
    """The compilers are not installed here: the hash changes only together with the source's own."""
    told = json.loads(record.read_text(encoding="utf-8"))
    source = next(path for path in CONTRACTS.glob(f"{record.stem}.*") if path.suffix in (".vy", ".sol"))
    seen = [hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in (source, record.with_suffix(".hex"))]
    assert seen == told["sha256"] and source.name in told["command"]


def calldata(signature: str, *values: object) -> str:
    """Return a call in bytes; the types are those of its signature."""
    types = re.findall(r"\([^)]*\)\[\]|\w+", signature.partition("(")[2])
    return "0x" + (keccak(signature.encode())[:4] + encode(types, values)).hex()


def read(sandbox: Client, answer: str, signature: str, *values: object, **more: Any) -> tuple[Any, ...]:
    call = {"to": MULTICALL3, "data": calldata(signature, *values), **more}
    told = ask(sandbox, "eth_call", call, "latest")
    assert "result" in told, told
    return decode(re.findall(r"\([^)]*\)\[\]|\w+\[\]|\w+", answer), bytes.fromhex(told["result"][2:]))


def pair(data: str, *more: object) -> tuple[Any, ...]:
    return (USDC, *more, bytes.fromhex(data[2:]))


def dollars(result: tuple[bool, bytes]) -> int:
    return int.from_bytes(result[1], "big")


def test_many_calls_are_one(sandbox: Client) -> None:
    ours, theirs = (pair(balance_data(one.address)) for one in (ALICE, BOB))
    block, answers = read(sandbox, "uint256,bytes[]", "aggregate((address,bytes)[])", [ours, theirs])
    assert block == number(sandbox, "eth_blockNumber") + 1 and len(answers) == 2
    assert int.from_bytes(answers[0], "big") == 10_000 * 10**6
    calls = [pair(balance_data(ALICE.address), False), pair(POOR, True)]
    (results,) = read(sandbox, RESULTS, "aggregate3((address,bool,bytes)[])", calls)
    assert [one[0] for one in results] == [True, False] and dollars(results[0]) == 10_000 * 10**6
    assert b"exceeds balance" in results[1][1], "the reason of a call that may fail is handed on"
    for signature, answer in (
        ("tryAggregate(bool,(address,bytes)[])", RESULTS),
        ("tryBlockAndAggregate(bool,(address,bytes)[])", f"uint256,bytes32,{RESULTS}"),
    ):
        *_, tried = read(sandbox, answer, signature, False, [ours, pair(POOR)])
        assert [one[0] for one in tried] == [True, False]
    *_, done = read(sandbox, f"uint256,bytes32,{RESULTS}", "blockAndAggregate((address,bytes)[])", [ours])
    assert dollars(done[0]) == 10_000 * 10**6
    assert read(sandbox, RESULTS, "aggregate3((address,bool,bytes)[])", []) == ((),)


def test_an_answer_of_any_length_passes_through(sandbox: Client) -> None:
    long = "0x6110005ff3"  # returns 4 KiB
    stranger = "0x" + "34" * 20
    call = {"to": MULTICALL3, "data": calldata("aggregate3((address,bool,bytes)[])", [(stranger, False, b"")])}
    told = ask(sandbox, "eth_call", call, "latest", {stranger: {"code": long}})["result"]
    ((_, answer),) = decode([RESULTS], bytes.fromhex(told[2:]))[0]
    assert len(answer) == 2**12


@pytest.mark.parametrize(
    ("signature", "values"),
    [
        ("aggregate((address,bytes)[])", [[pair(POOR)]]),
        ("tryAggregate(bool,(address,bytes)[])", [True, [pair(POOR)]]),
        ("blockAndAggregate((address,bytes)[])", [[pair(POOR)]]),
        ("aggregate3((address,bool,bytes)[])", [[pair(POOR, False)]]),
        ("aggregate3Value((address,bool,uint256,bytes)[])", [[pair(POOR, False, 0)]]),
    ],
)
def test_a_call_that_must_not_fail_ends_all_of_them(sandbox: Client, signature: str, values: list[object]) -> None:
    error = ask(sandbox, "eth_call", {"to": MULTICALL3, "data": calldata(signature, *values)}, "latest")["error"]
    assert (error["code"], error["message"]) == (3, "execution reverted: Multicall3: call failed")


def test_calls_with_money_spend_exactly_what_was_sent(sandbox: Client) -> None:
    signature = "aggregate3Value((address,bool,uint256,bytes)[])"
    data = calldata(signature, [(BOB.address, False, 3, b""), (ALICE.address, False, 4, b"")])
    before = number(sandbox, "eth_getBalance", BOB.address, "latest")
    sent = {"to": MULTICALL3, "data": data, "nonce": 0, "chainId": 8453, **FEES}
    assert mined(sandbox, {**sent, "value": 7})["status"] == "0x1"
    assert number(sandbox, "eth_getBalance", BOB.address, "latest") == before + 3
    call = {"from": ALICE.address, "to": MULTICALL3, "data": data, "value": "0x8"}
    assert ask(sandbox, "eth_call", call, "latest")["error"]["message"].endswith("Multicall3: value mismatch")


def test_the_block_the_chain_and_balances_are_told(sandbox: Client) -> None:
    (ether,) = read(sandbox, "uint256", "getEthBalance(address)", ALICE.address)
    assert ether == number(sandbox, "eth_getBalance", ALICE.address, "latest")
    head = ask(sandbox, "eth_getBlockByNumber", "latest", False)["result"]
    (last,) = read(sandbox, "bytes32", "getLastBlockHash()")
    (older,) = read(sandbox, "bytes32", "getBlockHash(uint256)", int(head["number"], 16) - 1)
    assert ("0x" + last.hex(), "0x" + older.hex()) == (head["hash"], head["parentHash"])
    facts = {
        name: read(sandbox, "uint256", f"{name}()")[0]
        for name in ("getChainId", "getBlockNumber", "getCurrentBlockTimestamp", "getCurrentBlockGasLimit")
    }
    assert facts["getChainId"] == 8453 and facts["getBlockNumber"] == int(head["number"], 16) + 1
    assert facts["getCurrentBlockTimestamp"] > int(head["timestamp"], 16)
    assert facts["getCurrentBlockGasLimit"] == int(head["gasLimit"], 16)
    assert read(sandbox, "address", "getCurrentBlockCoinbase()")[0] == head["miner"]
    for name in ("getBasefee", "getCurrentBlockDifficulty"):
        assert read(sandbox, "uint256", f"{name}()")[0] >= 0


def events() -> list[tuple[str, list[str], list[str], bool]]:
    """Return of each event in the source its signature, the types in topics, those in data, and if it is anonymous."""
    found = []
    source = (CONTRACTS / "every_log.sol").read_text(encoding="utf-8")
    for name, fields, rest in re.findall(r"event (\w+)\(([^)]*)\)\s*(anonymous)?;", source):
        words = [field.split() for field in fields.split(",") if field]
        types = [re.sub(r"^\w+", lambda kind: STRUCTS.get(kind[0], kind[0]), one[0]) for one in words]
        indexed = ["indexed" in one for one in words]
        found.append(
            (
                f"{name}({','.join(types)})",
                [kind for kind, is_topic in zip(types, indexed, strict=True) if is_topic],
                [kind for kind, is_topic in zip(types, indexed, strict=True) if not is_topic],
                bool(rest),
            )
        )
    return found


def test_there_is_a_log_of_every_kind_before_anybody_came(sandbox: Client) -> None:
    logs = ask(sandbox, "eth_getLogs", {"fromBlock": "0x0", "address": EVERY_LOG})["result"]
    declared = events()
    assert len(logs) == len(declared) == 17
    values: dict[str, tuple[Any, ...]] = {}
    for log, (signature, topics, data, is_anonymous) in zip(logs, declared, strict=True):
        expected = [] if is_anonymous else ["0x" + keccak(signature.encode()).hex()]
        assert log["topics"][: len(expected)] == expected, signature
        assert len(log["topics"]) == len(expected) + len(topics), signature
        values[signature] = decode(data, bytes.fromhex(log["data"][2:]))
    assert {len(log["topics"]) for log in logs} == {0, 1, 2, 3, 4}
    assert values["Unsigned(uint8,uint256,uint128,uint256)"] == (2**128 - 1, 0)
    assert values["Signed(int8,int256,int64,int256)"] == (-1, 2**255 - 1)
    assert values["Text(string,string)"] == ("Grüße, 世界 🌍",) and values["Bytes(bytes,bytes)"] == (b"",)
    arrays = "Arrays(uint16[],uint16[],bool[3],string[])"
    assert values[arrays][:2] == ((1, 0, 2**16 - 1), (True, False, True)) and len(values[arrays][2]) == 2
    far = ((-(2**31), 2**31 - 1, "far"), ((0, 1, ""),))
    assert values["Struct((int32,int32,string),(int32,int32,string),(int32,int32,string)[])"] == far
    texts = ["0x" + keccak("Grüße, 世界 🌍".encode()).hex()]
    assert [log["logIndex"] for log in logs if log["topics"][1:] == texts] == ["0x7"], "a topic holds a text's hash"


def test_a_log_is_found_by_any_of_its_topics(sandbox: Client) -> None:
    def found(*topics: object) -> list[str]:
        logs = ask(sandbox, "eth_getLogs", {"fromBlock": "0x0", "address": EVERY_LOG, "topics": list(topics)})["result"]
        return [log["logIndex"] for log in logs]

    dave = "0x" + TEST_ACCOUNTS[-1].address[2:].lower().rjust(64, "0")
    word = "0x" + keccak(b"Rialto").hex()
    one = "0x" + f"{1:064x}"
    assert found(None, one, dave) == found(None, None, dave) == ["0xb"]
    assert found(one) == found(one, dave, word, one) == ["0xf"], "the first topic of an anonymous log is a value"
    assert found(None, None, None, word) == ["0xb"] and found(None, None, [one, word]) == ["0x5", "0xf"]


def test_whoever_calls_gets_the_logs_again(sandbox: Client) -> None:
    data = calldata("emitAll()")
    receipt = mined(sandbox, {"to": EVERY_LOG, "data": data, "value": 0, "nonce": 0, "chainId": 8453, **FEES})
    assert receipt["status"] == "0x1" and len(receipt["logs"]) == 17
    listed = sandbox.control("/chains", method="GET")
    assert (listed["multicall3"], listed["every_log"]) == (MULTICALL3, EVERY_LOG)
