"""Blocks, transactions, receipts, logs and call traces as nodes write them in JSON-RPC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.sandbox.chains.evm_chain import Block, Frame, Log, MinedTransaction, reason_of
from app.sandbox.chains.rpc_values import hexed
from app.sandbox.http.errors import Json


def block_json(block: Block, *, full: bool) -> Json:
    header = block.header
    return {
        "number": hex(block.number),
        "hash": hexed(header.hash),
        "parentHash": hexed(header.parent_hash),
        "nonce": hexed(header.nonce),
        "sha3Uncles": hexed(header.uncles_hash),
        "logsBloom": _bloom(header.bloom),
        "transactionsRoot": hexed(header.transaction_root),
        "stateRoot": hexed(header.state_root),
        "receiptsRoot": hexed(header.receipt_root),
        "miner": hexed(header.coinbase),
        "difficulty": hex(header.difficulty),
        "extraData": hexed(header.extra_data),
        "size": hex(block.size),
        "gasLimit": hex(header.gas_limit),
        "gasUsed": hex(header.gas_used),
        "timestamp": hex(header.timestamp),
        "mixHash": hexed(header.mix_hash),
        "baseFeePerGas": hex(header.base_fee_per_gas),
        "blobGasUsed": hex(header.blob_gas_used),
        "excessBlobGas": hex(header.excess_blob_gas),
        "parentBeaconBlockRoot": hexed(header.parent_beacon_block_root),
        "withdrawalsRoot": hexed(header.withdrawals_root),
        "withdrawals": [],
        "requestsHash": hexed(header.requests_hash),
        "uncles": [],
        "transactions": [
            transaction_json(mined.transaction, block, index) if full else hexed(mined.hash)
            for index, mined in enumerate(block.mined)
        ],
    }


def transaction_json(transaction: Any, block: Block | None, index: int = 0) -> Json:
    """Return one of py-evm's transactions; `block` is None while it still waits for its turn."""
    kind = _kind(transaction)
    to = bytes(transaction.to)
    body: Json = {
        "hash": hexed(transaction.hash),
        "type": hex(kind),
        "chainId": hex(transaction.chain_id),
        "nonce": hex(transaction.nonce),
        "from": hexed(transaction.sender),
        "to": hexed(to) if to else None,
        "value": hex(transaction.value),
        "gas": hex(transaction.gas),
        "input": hexed(transaction.data),
        "r": hex(transaction.r),
        "s": hex(transaction.s),
        "blockHash": hexed(block.header.hash) if block else None,
        "blockNumber": hex(block.number) if block else None,
        "transactionIndex": hex(index) if block else None,
    }
    if kind == 0:
        return {**body, "gasPrice": hex(transaction.gas_price), "v": hex(transaction.v)}
    parity = hex(transaction.y_parity)
    body |= {"v": parity, "yParity": parity}
    body["accessList"] = [
        {"address": hexed(address), "storageKeys": [hexed(int(slot).to_bytes(32, "big")) for slot in slots]}
        for address, slots in transaction.access_list
    ]
    if kind == 1:
        return {**body, "gasPrice": hex(transaction.gas_price)}
    tip, most = transaction.max_priority_fee_per_gas, transaction.max_fee_per_gas
    paid = most if block is None else block.mined[index].gas_price
    return {**body, "maxPriorityFeePerGas": hex(tip), "maxFeePerGas": hex(most), "gasPrice": hex(paid)}


def receipt_json(block: Block, index: int) -> Json:
    mined = block.mined[index]
    to = bytes(mined.transaction.to)
    return {
        "transactionHash": hexed(mined.hash),
        "transactionIndex": hex(index),
        "blockHash": hexed(block.header.hash),
        "blockNumber": hex(block.number),
        "from": hexed(mined.sender),
        "to": hexed(to) if to else None,
        "cumulativeGasUsed": hex(sum(one.gas_used for one in block.mined[: index + 1])),
        "gasUsed": hex(mined.gas_used),
        "effectiveGasPrice": hex(mined.gas_price),
        "contractAddress": hexed(mined.created) if mined.created and mined.succeeded else None,
        "logs": list(logs_json(block, index)),
        "logsBloom": _bloom(mined.bloom),
        "status": hex(int(mined.succeeded)),
        "type": hex(_kind(mined.transaction)),
    }


def logs_json(block: Block, index: int) -> Iterator[Json]:
    before = sum(len(mined.logs) for mined in block.mined[:index])
    for number, log in enumerate(block.mined[index].logs):
        yield {
            "address": hexed(log.address),
            "topics": [hexed(topic) for topic in log.topics],
            "data": hexed(log.data),
            "blockNumber": hex(block.number),
            "blockHash": hexed(block.header.hash),
            "blockTimestamp": hex(block.header.timestamp),
            "transactionHash": hexed(block.mined[index].hash),
            "transactionIndex": hex(index),
            "logIndex": hex(before + number),
            "removed": False,
        }


def matches(log: Log, addresses: set[bytes], topics: list[set[bytes] | None]) -> bool:
    """`topics`: one set of allowed values per position, None for any."""
    if addresses and log.address not in addresses:
        return False
    if len(topics) > len(log.topics):
        return False
    return all(wanted is None or topic in wanted for topic, wanted in zip(log.topics, topics, strict=False))


def call_tree(frame: Frame) -> Json:
    """The form of `debug_…` with the call tracer."""
    tree: Json = {
        "type": frame.kind,
        "from": hexed(frame.sender),
        "to": hexed(frame.to),
        "gas": hex(frame.gas),
        "gasUsed": hex(frame.gas_used),
        "input": hexed(frame.input),
        "output": hexed(frame.output),
    }
    if frame.kind not in ("STATICCALL", "DELEGATECALL"):
        tree["value"] = hex(frame.value)
    if frame.error:
        tree["error"] = frame.error
        if reason := reason_of(frame.output):
            tree["revertReason"] = reason
    if frame.inner:
        tree["calls"] = [call_tree(inner) for inner in frame.inner]
    return tree


def flat_traces(frame: Frame, where: tuple[int, ...] = ()) -> Iterator[Json]:
    """The form of `trace_…`: every call of the tree, outer ones first."""
    action: Json = {"from": hexed(frame.sender), "gas": hex(frame.gas), "value": hex(frame.value)}
    result: Json | None
    if frame.kind == "CREATE":
        action["init"] = hexed(frame.input)
        result = {"address": hexed(frame.to), "code": hexed(frame.output), "gasUsed": hex(frame.gas_used)}
    else:
        action |= {"to": hexed(frame.to), "input": hexed(frame.input), "callType": frame.kind.lower()}
        result = {"gasUsed": hex(frame.gas_used), "output": hexed(frame.output)}
    trace: Json = {
        "action": action,
        "subtraces": len(frame.inner),
        "traceAddress": list(where),
        "type": "create" if frame.kind == "CREATE" else "call",
    }
    yield {**trace, "error": frame.error} if frame.error else {**trace, "result": result}
    for number, inner in enumerate(frame.inner):
        yield from flat_traces(inner, (*where, number))


def placed_traces(block: Block, index: int) -> list[Json]:
    mined: MinedTransaction = block.mined[index]
    place = {
        "blockHash": hexed(block.header.hash),
        "blockNumber": block.number,
        "transactionHash": hexed(mined.hash),
        "transactionPosition": index,
    }
    return [{**trace, **place} for trace in flat_traces(mined.frame)]


def _kind(transaction: object) -> int:
    """Return 0 for a legacy transaction, else the number of its type."""
    return int(getattr(transaction, "type_id", None) or 0)


def _bloom(bloom: int) -> str:
    return hexed(int(bloom).to_bytes(256, "big"))
