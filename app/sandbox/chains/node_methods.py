"""The methods of an Ethereum node over one `EvmChain`: parameters in, results in JSON-RPC's form out."""

from __future__ import annotations

from collections.abc import Callable

from eth.abc import StateAPI
from eth_typing import Address
from eth_utils.crypto import keccak

from app.sandbox.chains.evm_chain import (
    GAS_LIMIT,
    TIP,
    Block,
    CallRequest,
    EvmChain,
    Frame,
    Outcome,
    Override,
    raise_if_failed,
)
from app.sandbox.chains.evm_json import (
    block_json,
    call_tree,
    flat_traces,
    logs_json,
    matches,
    placed_traces,
    receipt_json,
    transaction_json,
)
from app.sandbox.chains.rpc_values import (
    METHOD_NOT_FOUND,
    REVERTED,
    SERVER_ERROR,
    RpcError,
    address,
    at,
    data_bytes,
    hexed,
    invalid,
    listed,
    number,
    quantity,
    record,
)
from app.sandbox.chains.state_proofs import proof_json
from app.sandbox.http.errors import Json

CLIENT = "RialtoSandbox/py-evm"
MOST_PROOFS = 1024
VM_ERROR = -32015  # of a simulated call that failed without a revert
LATEST = ("latest", "pending", "safe", "finalized")


class EvmAnswers:
    """`answer(method, params)` on one chain. Raises `RpcError`."""

    def __init__(self, chain: EvmChain) -> None:
        self.chain = chain
        named: dict[str, Callable[[object], object]] = {
            "web3_clientVersion": lambda _: CLIENT,
            "web3_sha3": lambda p: hexed(keccak(data_bytes(at(p, 0)))),
            "net_version": lambda _: str(chain.chain_id),
            "net_listening": lambda _: True,
            "net_peerCount": lambda _: "0x0",
            "eth_chainId": lambda _: hex(chain.chain_id),
            "eth_protocolVersion": lambda _: "0x44",
            "eth_syncing": lambda _: False,
            "eth_blockNumber": lambda _: hex(chain.head.number),
            "eth_gasPrice": lambda _: hex(chain.next_base_fee() + TIP),
            "eth_maxPriorityFeePerGas": lambda _: hex(TIP),
            "eth_blobBaseFee": lambda _: "0x1",
            "eth_feeHistory": self._fee_history,
            "eth_getBalance": lambda p: hex(self._state(p, 1).get_balance(Address(address(at(p, 0))))),
            "eth_getCode": lambda p: hexed(self._state(p, 1).get_code(Address(address(at(p, 0))))),
            "eth_getTransactionCount": self._transaction_count,
            "eth_getStorageAt": self._storage_at,
            "eth_call": self._call,
            "eth_estimateGas": lambda p: hex(chain.estimate(_request(at(p, 0), at(p, 2)), self._block(at(p, 1)))),
            "eth_createAccessList": self._access_list,
            "eth_simulateV1": self._simulate,
            "eth_getProof": self._proof,
            "eth_sendRawTransaction": lambda p: hexed(chain.send(chain.decode(data_bytes(at(p, 0))))),
            "eth_getBlockByNumber": lambda p: self._block_json(self._maybe(at(p, 0)), at(p, 1)),
            "eth_getBlockByHash": lambda p: self._block_json(self._by_hash(at(p, 0)), at(p, 1)),
            "eth_getBlockReceipts": self._block_receipts,
            "eth_getBlockTransactionCountByNumber": lambda p: self._count(self._maybe(at(p, 0))),
            "eth_getBlockTransactionCountByHash": lambda p: self._count(self._by_hash(at(p, 0))),
            "eth_getUncleCountByBlockNumber": lambda p: None if self._maybe(at(p, 0)) is None else "0x0",
            "eth_getUncleCountByBlockHash": lambda p: None if self._by_hash(at(p, 0)) is None else "0x0",
            "eth_getUncleByBlockNumberAndIndex": lambda _: None,
            "eth_getUncleByBlockHashAndIndex": lambda _: None,
            "eth_getTransactionByHash": self._transaction,
            "eth_getTransactionByBlockNumberAndIndex": lambda p: self._indexed(self._maybe(at(p, 0)), at(p, 1)),
            "eth_getTransactionByBlockHashAndIndex": lambda p: self._indexed(self._by_hash(at(p, 0)), at(p, 1)),
            "eth_getTransactionReceipt": self._receipt,
            "eth_getLogs": self._logs,
            "eth_supportedEntryPoints": lambda _: [],
            "txpool_status": self._pool_status,
            "txpool_content": lambda _: {"pending": {}, "queued": self._pool(lambda tx: transaction_json(tx, None))},
            "txpool_inspect": lambda _: {"pending": {}, "queued": self._pool(_in_words)},
            "trace_transaction": lambda p: self._traced(at(p, 0), placed_traces),
            "trace_block": self._trace_block,
            "trace_replayTransaction": lambda p: self._traced(at(p, 0), _replayed),
            "trace_replayBlockTransactions": self._replay_block,
            "trace_call": self._trace_call,
            "debug_traceTransaction": lambda p: self._traced(at(p, 0), self._tracer(at(p, 1))),
            "debug_traceCall": self._debug_call,
            "zks_L1ChainId": lambda _: "0x1",
            "zks_L1BatchNumber": lambda _: hex(chain.head.number // 10),
            "zks_gasPerPubdata": lambda _: "0xc350",
            "linea_estimateGas": self._linea_estimate,
            "bor_getCurrentValidators": lambda _: [],
        }
        arb = {f"arb{name}": named[name] for name in tuple(named) if name.startswith("trace_")}
        self._named = {**named, **arb}

    def answer(self, method: str, params: object) -> object:
        function = self._named.get(method)
        if function is None:
            raise RpcError(METHOD_NOT_FOUND, f"the method {method} does not exist/is not available")
        self.chain.go_on()
        return function(params)

    # Where to look

    def _maybe(self, name: object) -> Block | None:
        """Return the block of a name, a number, or an object with either; None for one that is not there yet."""
        if isinstance(name, dict):
            if "blockHash" in name:
                return self._by_hash(name["blockHash"])
            name = name.get("blockNumber")
        if name is None or name in LATEST:
            return self.chain.head
        number = 0 if name == "earliest" else quantity(name, "block number")
        return self.chain.blocks[number] if number < len(self.chain.blocks) else None

    def _block(self, name: object) -> Block:
        block = self._maybe(name)
        if block is None:
            raise RpcError(SERVER_ERROR, "header not found")
        return block

    def _by_hash(self, value: object) -> Block | None:
        wanted = data_bytes(value, "block hash", 32)
        return next((block for block in self.chain.blocks if block.header.hash == wanted), None)

    def _state(self, params: object, index: int) -> StateAPI:
        return self.chain.state(self._block(at(params, index)))

    def _place(self, value: object) -> tuple[Block, int] | None:
        return self.chain.by_hash.get(data_bytes(value, "transaction hash", 32))

    # Accounts

    def _transaction_count(self, params: object) -> str:
        owner = Address(address(at(params, 0)))
        count = self.chain.state(self._block(at(params, 1))).get_nonce(owner)
        if at(params, 1) == "pending":
            while (owner, count) in self.chain.waiting:
                count += 1
        return hex(count)

    def _storage_at(self, params: object) -> str:
        slot = quantity(at(params, 1), "slot")
        state = self.chain.state(self._block(at(params, 2)))
        return hexed(state.get_storage(Address(address(at(params, 0))), slot).to_bytes(32, "big"))

    # Calls

    def _call(self, params: object) -> str:
        if at(params, 3):
            raise invalid("values of the block cannot be overridden here")
        frame = self.chain.call(_request(at(params, 0), at(params, 2)), self._block(at(params, 1)))
        raise_if_failed(frame)
        return hexed(frame.output)

    def _access_list(self, params: object) -> Json:
        request = _request(at(params, 0), at(params, 2))
        named, gas_used, error = self.chain.access_list(request, self._block(at(params, 1)))
        entries = [
            {"address": hexed(owner), "storageKeys": [hexed(slot.to_bytes(32, "big")) for slot in slots]}
            for owner, slots in named
        ]
        answer: Json = {"accessList": entries, "gasUsed": hex(gas_used)}
        return {**answer, "error": error} if error else answer

    def _simulate(self, params: object) -> list[Json]:
        asked = record(at(params, 0), "the simulation")
        wanted = [record(one, "a simulated block") for one in listed(asked.get("blockStateCalls"))]
        if len(wanted) != 1:
            raise invalid("exactly one block can be simulated here")
        for name in ("traceTransfers", "validation"):
            if asked.get(name):
                raise invalid(f"{name} is not served here")
        if wanted[0].get("blockOverrides"):
            raise invalid("values of the block cannot be overridden here")
        requests = [_request(one) for one in listed(wanted[0].get("calls"))]
        overrides = _request({}, wanted[0].get("stateOverrides")).overrides
        block, outcomes = self.chain.simulate(requests, overrides, self._block(at(params, 1)))
        calls: list[Json] = []
        logged = 0
        for index, outcome in enumerate(outcomes):
            calls.append(_simulated(outcome, block, index, logged))
            logged += len(outcome.logs)
        return [{**block_json(block, full=False), "calls": calls}]

    def _proof(self, params: object) -> Json:
        slots = [number(one, "storage key", 256) for one in listed(at(params, 1))]
        block = self._block(at(params, 2))
        if len(slots) > MOST_PROOFS:
            raise invalid(f"at most {MOST_PROOFS} storage keys can be proven at once")
        return proof_json(self.chain.nodes(), block.header.state_root, address(at(params, 0)), slots)

    def _trace_call(self, params: object) -> Json:
        frame = self.chain.call(_request(at(params, 0)), self._block(at(params, 2)))
        return _replay_json(frame)

    def _debug_call(self, params: object) -> object:
        options = record(at(params, 2, {}), "the tracer's options")
        if options.get("blockOverrides"):
            raise invalid("values of the block cannot be overridden here")
        frame = self.chain.call(_request(at(params, 0), options.get("stateOverrides")), self._block(at(params, 1)))
        return _debug_json(frame, options)

    def _linea_estimate(self, params: object) -> Json:
        gas = self.chain.estimate(_request(at(params, 0)), self.chain.head)
        fee = hex(self.chain.next_base_fee())
        return {"gasLimit": hex(gas), "baseFeePerGas": fee, "priorityFeePerGas": hex(TIP)}

    def _fee_history(self, params: object) -> Json:
        count = at(params, 0)
        wanted = count if isinstance(count, int) else quantity(count, "block count")
        last = self._block(at(params, 1)).number
        blocks = self.chain.blocks[max(0, last + 1 - wanted) : last + 1]
        percentiles = at(params, 2) or []
        if not isinstance(percentiles, list):
            raise invalid("reward percentiles must be an array")
        following = self.chain.blocks[last + 1 : last + 2]
        fee = following[0].header.base_fee_per_gas if following else self.chain.next_base_fee()
        history: Json = {
            "oldestBlock": hex(blocks[0].number if blocks else last),
            "baseFeePerGas": [hex(block.header.base_fee_per_gas) for block in blocks] + [hex(fee)],
            "gasUsedRatio": [block.header.gas_used / block.header.gas_limit for block in blocks],
        }
        if percentiles:
            history["reward"] = [[hex(TIP) for _ in percentiles] for _ in blocks]
        return history

    # Blocks and transactions

    def _block_json(self, block: Block | None, full: object) -> Json | None:
        return None if block is None else block_json(block, full=full is True)

    def _count(self, block: Block | None) -> str | None:
        return None if block is None else hex(len(block.mined))

    def _block_receipts(self, params: object) -> list[Json] | None:
        block = self._maybe(at(params, 0))
        return None if block is None else [receipt_json(block, index) for index in range(len(block.mined))]

    def _indexed(self, block: Block | None, index: object) -> Json | None:
        number = quantity(index, "index")
        if block is None or number >= len(block.mined):
            return None
        return transaction_json(block.mined[number].transaction, block, number)

    def _transaction(self, params: object) -> Json | None:
        place = self._place(at(params, 0))
        if place is not None:
            return self._indexed(place[0], hex(place[1]))
        wanted = data_bytes(at(params, 0))
        waiting = (one for one in self.chain.waiting.values() if one.hash == wanted)
        return next((transaction_json(one, None) for one in waiting), None)

    def _receipt(self, params: object) -> Json | None:
        place = self._place(at(params, 0))
        return None if place is None else receipt_json(*place)

    def _logs(self, params: object) -> list[Json]:
        wanted = record(at(params, 0, {}), "the filter")
        if wanted.get("blockHash") is not None:
            block = self._by_hash(wanted["blockHash"])
            if block is None:
                raise RpcError(SERVER_ERROR, "unknown block")
            blocks = [block]
        else:
            first, last = self._maybe(wanted.get("fromBlock")), self._maybe(wanted.get("toBlock"))
            start = len(self.chain.blocks) if first is None else first.number
            blocks = self.chain.blocks[start : self.chain.head.number + 1 if last is None else last.number + 1]
        who = wanted.get("address")
        addresses = {address(one) for one in (who if isinstance(who, list) else [who]) if one is not None}
        asked = wanted.get("topics")
        if not isinstance(asked, list | None):
            raise invalid("topics must be an array")
        topics = [_topic(one) for one in asked or ()]
        return [
            found
            for block in blocks
            for index, mined in enumerate(block.mined)
            for log, found in zip(mined.logs, logs_json(block, index), strict=True)
            if matches(log, addresses, topics)
        ]

    # The pool, and traces

    def _pool_status(self, _: object) -> Json:
        return {"pending": "0x0", "queued": hex(len(self.chain.waiting))}

    def _pool(self, show: Callable[[object], object]) -> Json:
        queued: Json = {}
        for (owner, nonce), transaction in self.chain.waiting.items():
            queued.setdefault(hexed(owner), {})[str(nonce)] = show(transaction)
        return queued

    def _traced(self, value: object, show: Callable[[Block, int], object]) -> object:
        place = self._place(value)
        if place is None:
            raise RpcError(SERVER_ERROR, "transaction not found")
        return show(*place)

    def _trace_block(self, params: object) -> list[Json]:
        block = self._block(at(params, 0))
        return [trace for index in range(len(block.mined)) for trace in placed_traces(block, index)]

    def _replay_block(self, params: object) -> list[Json]:
        block = self._block(at(params, 0))
        return [{**_replayed(block, i), "transactionHash": hexed(one.hash)} for i, one in enumerate(block.mined)]

    def _tracer(self, options: object) -> Callable[[Block, int], object]:
        return lambda block, index: _debug_json(block.mined[index].frame, options)


def _request(value: object, overrides: object = None) -> CallRequest:
    fields = record(value, "the call")
    data = fields.get("input") if fields.get("input") is not None else fields.get("data", "0x")
    return CallRequest(
        sender=address(fields["from"], "from") if fields.get("from") else bytes(20),
        to=address(fields["to"], "to") if fields.get("to") else b"",
        gas=quantity(fields.get("gas"), "gas", GAS_LIMIT),
        value=number(fields.get("value"), "value", 256, 0),
        data=data_bytes(data, "input"),
        access_list=tuple(
            (
                address(one.get("address"), "accessList address"),
                tuple(int.from_bytes(data_bytes(key, "storage key", 32)) for key in listed(one.get("storageKeys"))),
            )
            for one in (record(each, "an accessList entry") for each in listed(fields.get("accessList")))
        ),
        authorizations=tuple(
            _authorization(record(one, "an authorization")) for one in listed(fields.get("authorizationList"))
        ),
        overrides=tuple(
            (address(owner, "overridden account"), _override(record(one, "an override")))
            for owner, one in record({} if overrides is None else overrides, "the overrides").items()
        ),
    )


def _simulated(outcome: Outcome, block: Block, index: int, logged: int) -> Json:
    """One call of a simulated block; `logged` is the number of logs before it."""
    frame = outcome.frame
    place = {
        "blockNumber": hex(block.number),
        "blockHash": hexed(block.header.hash),
        "blockTimestamp": hex(block.header.timestamp),
        "transactionHash": hexed(bytes(32)),  # nothing was signed
        "transactionIndex": hex(index),
        "removed": False,
    }
    told: Json = {
        "returnData": hexed(frame.output),
        "logs": [
            {
                "address": hexed(log.address),
                "topics": [hexed(topic) for topic in log.topics],
                "data": hexed(log.data),
                "logIndex": hex(logged + position),
                **place,
            }
            for position, log in enumerate(outcome.logs)
        ],
        "gasUsed": hex(outcome.gas_used),
        "status": "0x0" if frame.error else "0x1",
    }
    try:
        raise_if_failed(frame)
    except RpcError as error:
        code = REVERTED if error.code == REVERTED else VM_ERROR
        told["error"] = {"code": code, "message": error.message, "data": hexed(frame.output)}
    return told


def _authorization(fields: Json) -> tuple[int, bytes, int, int, int, int]:
    parity = fields.get("yParity") if fields.get("yParity") is not None else fields.get("v")
    return (
        number(fields.get("chainId"), "chainId", 256),
        address(fields.get("address")),
        number(fields.get("nonce"), "nonce", 64),
        number(parity, "yParity", 8) % 27,  # 27 and 28 in the older form
        number(fields.get("r"), "r", 256),
        number(fields.get("s"), "s", 256),
    )


def _override(fields: Json) -> Override:
    unknown = fields.keys() - {"balance", "nonce", "code", "state", "stateDiff"}
    if unknown:
        raise invalid(f"{min(unknown)} cannot be overridden here")
    if fields.get("state") is not None and fields.get("stateDiff") is not None:
        raise invalid("an account has both state and stateDiff")
    return Override(
        balance=None if fields.get("balance") is None else number(fields["balance"], "balance", 256),
        nonce=None if fields.get("nonce") is None else number(fields["nonce"], "nonce", 64),
        code=None if fields.get("code") is None else data_bytes(fields["code"], "code"),
        storage=None if fields.get("state") is None else _slots(fields["state"]),
        changed={} if fields.get("stateDiff") is None else _slots(fields["stateDiff"]),
    )


def _slots(value: object) -> dict[int, int]:
    return {
        number(slot, "slot", 256): number(held, "slot value", 256)
        for slot, held in record(value, "the storage").items()
    }


def _topic(value: object) -> set[bytes] | None:
    if value is None:
        return None
    return {data_bytes(one, "topic", 32) for one in (value if isinstance(value, list) else [value])}


def _replay_json(frame: Frame) -> Json:
    return {"output": hexed(frame.output), "stateDiff": None, "trace": list(flat_traces(frame)), "vmTrace": None}


def _replayed(block: Block, index: int) -> Json:
    return _replay_json(block.mined[index].frame)


def _debug_json(frame: Frame, options: object) -> Json:
    """The call tracer's tree; without that tracer the summary, since single steps are not kept."""
    if isinstance(options, dict) and options.get("tracer") == "callTracer":
        return call_tree(frame)
    value = frame.output.hex()
    return {"gas": frame.gas_used, "failed": bool(frame.error), "returnValue": value, "structLogs": []}


def _in_words(transaction: object) -> str:
    seen = transaction_json(transaction, None)
    fee = int(seen["gasPrice"], 16)
    return f"{seen['to'] or 'contract creation'}: {int(seen['value'], 16)} wei + {int(seen['gas'], 16)} gas × {fee} wei"
