"""A real Ethereum virtual machine in this process: py-evm, one chain in memory. The only file that knows it.

A transaction is mined into a block of its own the moment it is sent; one whose nonce is too high waits for the gap to
close. Values leave as plain numbers and bytes; how JSON-RPC writes them is the business of `chains_answers`.

Blocks have the Sandbox's time, at least a second after the block before. When the Sandbox's clock is turned back, the
next block has the time that it is then, earlier than its parent: nothing that was mined is lost, payments signed for
now are good now. That one rule of real chains is given up for a clock that can be turned.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import rlp
from eth.abc import BlockHeaderAPI, ComputationAPI, SignedTransactionAPI, StateAPI
from eth.chains.base import MiningChain
from eth.consensus.noproof import NoProofConsensus
from eth.db.atomic import AtomicDB
from eth.exceptions import Revert, VMError
from eth.vm.forks.prague import PragueVM
from eth.vm.spoof import SpoofTransaction
from eth_typing import Address, BlockNumber
from eth_utils.exceptions import ValidationError
from rlp.exceptions import RLPException

from app.sandbox.chains_values import REVERTED, SERVER_ERROR, RpcError, hexed

GAS_LIMIT = 30_000_000
FIRST_BASE_FEE = 1_000_000_000  # wei
TIP = 1_000_000_000  # wei; what the chain suggests
COINBASE = b"rialto sandbox miner"  # 20 bytes: an address that nobody has the key of
REVERT = "execution reverted"
REASON = bytes.fromhex("08c379a0")  # the selector of Error(string)


@dataclass(frozen=True, slots=True)
class Account:
    """What an account holds in the first block. Storage: slot to number."""

    balance_wei: int = 0
    code: bytes = b""
    storage: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Log:
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Frame:
    """One call inside a transaction. `kind`: CALL, CREATE, STATICCALL or DELEGATECALL; `error` "" when it went well."""

    kind: str
    sender: bytes
    to: bytes
    value: int
    gas: int
    gas_used: int
    input: bytes
    output: bytes
    error: str
    inner: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Mined:
    """One transaction with its outcome."""

    transaction: SignedTransactionAPI
    hash: bytes
    sender: bytes
    succeeded: bool
    gas_used: int
    gas_price: int
    bloom: int
    created: bytes | None
    logs: tuple[Log, ...]
    frame: Frame


@dataclass(frozen=True, slots=True)
class Block:
    header: Any  # py-evm's header: hash, state_root, timestamp, base_fee_per_gas and so on
    size: int
    mined: tuple[Mined, ...] = ()

    @property
    def number(self) -> int:
        return int(self.header.block_number)


@dataclass(frozen=True, slots=True)
class CallRequest:
    """An `eth_call`: nothing of it stays."""

    sender: bytes
    to: bytes
    gas: int
    value: int
    data: bytes


class _TurnableVM(PragueVM):
    """Takes a block that is earlier than its parent, in all else as strict as the real one."""

    @classmethod
    def validate_header(cls, header: BlockHeaderAPI, parent_header: BlockHeaderAPI) -> None:
        later = max(header.timestamp, parent_header.timestamp + 1)
        super().validate_header(header.copy(timestamp=later), parent_header)


class EvmChain:
    """Not safe for several threads at once: whoever uses it holds a lock."""

    def __init__(self, chain_id: int, accounts: Mapping[bytes, Account], now: Callable[[], float]) -> None:
        """`now` gives Unix seconds, the time of the next block."""
        self.chain_id = chain_id
        self._now = now
        self._mined_at = now()  # on the Sandbox's clock, when the newest block came
        vm = _TurnableVM.configure(consensus_class=NoProofConsensus)
        chain_class = MiningChain.configure(
            f"Chain{chain_id}", vm_configuration=((BlockNumber(0), vm),), chain_id=chain_id
        )
        genesis: dict[str, Any] = {
            "coinbase": COINBASE,
            "difficulty": 0,
            "gas_limit": GAS_LIMIT,
            "timestamp": int(now()),
            "base_fee_per_gas": FIRST_BASE_FEE,
            "extra_data": b"rialto sandbox",
        }
        state: dict[Any, Any] = {
            Address(address): {
                "balance": account.balance_wei,
                "nonce": 1 if account.code else 0,
                "code": account.code,
                "storage": dict(account.storage),
            }
            for address, account in accounts.items()
        }
        self._chain: Any = chain_class.from_genesis(AtomicDB(), genesis, state)
        first = self._chain.get_canonical_block_by_number(BlockNumber(0))
        self.blocks: list[Block] = [Block(first.header, _size(first))]
        self.by_hash: dict[bytes, tuple[Block, int]] = {}  # transaction hash -> block and index
        self.waiting: dict[tuple[bytes, int], SignedTransactionAPI] = {}  # (sender, nonce)

    @property
    def head(self) -> Block:
        return self.blocks[-1]

    def next_base_fee(self) -> int:
        return int(self._chain.header.base_fee_per_gas)

    def state(self, block: Block) -> StateAPI:
        """Return the accounts as they are after a block, for reading."""
        state: StateAPI = self._chain.get_vm(block.header).state
        return state

    # Sending

    def decode(self, raw: bytes) -> SignedTransactionAPI:
        """Return a signed transaction. Raises `RpcError`, also for one that is meant for another chain."""
        try:
            transaction = self._chain.get_vm().get_transaction_builder().decode(raw)
            chain_id, _ = transaction.chain_id, transaction.sender  # whose sender cannot be recovered is invalid
        except (RLPException, ValidationError, ValueError, TypeError, IndexError, KeyError) as error:
            raise RpcError(SERVER_ERROR, f"invalid transaction: {error}") from None
        except Exception as error:  # eth_keys has no common base for what it raises about bad signatures
            raise RpcError(SERVER_ERROR, f"invalid signature: {error}") from None
        if chain_id is None:
            raise RpcError(SERVER_ERROR, "only replay-protected (EIP-155) transactions allowed over RPC")
        if chain_id != self.chain_id:
            raise RpcError(SERVER_ERROR, f"invalid chain id for signer: have {chain_id} want {self.chain_id}")
        result: SignedTransactionAPI = transaction
        return result

    def send(self, transaction: SignedTransactionAPI) -> bytes:
        """Mine a transaction, or keep it until its nonce is due. Returns its hash. Raises `RpcError`."""
        if transaction.hash in self.by_hash or transaction in self.waiting.values():
            raise RpcError(SERVER_ERROR, "already known")
        sender = bytes(transaction.sender)
        due = self.state(self.head).get_nonce(Address(sender))
        if transaction.nonce < due:
            message = f"nonce too low: next nonce {due}, tx nonce {transaction.nonce}"
            raise RpcError(SERVER_ERROR, message)
        self._check(transaction, sender)
        if transaction.nonce > due:
            self.waiting[sender, transaction.nonce] = transaction
            return bytes(transaction.hash)
        self._mine(transaction)
        while (following := self.waiting.pop((sender, due := due + 1), None)) is not None:
            try:
                self._check(following, sender)
                self._mine(following)
            except RpcError:
                break  # dropped, as a node drops what can no longer be paid
        return bytes(transaction.hash)

    def _check(self, transaction: SignedTransactionAPI, sender: bytes) -> None:
        base_fee = self.next_base_fee()
        if transaction.gas > GAS_LIMIT:
            raise RpcError(SERVER_ERROR, "exceeds block gas limit")
        if transaction.gas < transaction.intrinsic_gas:
            message = f"intrinsic gas too low: gas {transaction.gas}, minimum needed {transaction.intrinsic_gas}"
            raise RpcError(SERVER_ERROR, message)
        offered = transaction.max_fee_per_gas
        if offered < base_fee:
            message = f"max fee per gas less than block base fee: maxFeePerGas: {offered}, baseFee: {base_fee}"
            raise RpcError(SERVER_ERROR, message)
        have = self.state(self.head).get_balance(Address(sender))
        want = transaction.gas * offered + transaction.value
        if have < want:
            message = f"insufficient funds for gas * price + value: have {have} want {want}"
            raise RpcError(SERVER_ERROR, message)

    def _mine(self, transaction: SignedTransactionAPI) -> None:
        time = self._time_after(self.head)
        self._chain.header = self._chain.header.copy(timestamp=time)  # what contracts see while they run
        base_fee = self.next_base_fee()
        try:
            result, receipts, computations = self._chain.mine_all([transaction], timestamp=time, coinbase=COINBASE)
        except ValidationError as error:
            raise RpcError(SERVER_ERROR, str(error)) from None
        imported = result.imported_block
        receipt, computation = receipts[0], computations[0]
        gas_used = int(receipt.gas_used)
        message = computation.msg
        mined = Mined(
            transaction,
            bytes(transaction.hash),
            bytes(transaction.sender),
            succeeded=not computation.is_error,
            gas_used=gas_used,
            gas_price=base_fee + min(transaction.max_priority_fee_per_gas, transaction.max_fee_per_gas - base_fee),
            bloom=int(receipt.bloom),
            created=bytes(message.storage_address) if message.is_create else None,
            logs=tuple(
                Log(bytes(log.address), tuple(topic.to_bytes(32, "big") for topic in log.topics), bytes(log.data))
                for log in receipt.logs
            ),
            frame=frame_of(computation, gas_used),
        )
        block = Block(imported.header, _size(imported), (mined,))
        self.blocks.append(block)
        self._mined_at = self._now()
        self.by_hash[mined.hash] = (block, 0)

    def _time_after(self, block: Block) -> int:
        """Unix seconds of a block behind this one, mined now."""
        now = self._now()
        if now < self._mined_at:  # the clock was turned back
            return int(now)
        return max(int(now), int(block.header.timestamp) + 1)

    # Asking

    def call(self, request: CallRequest, block: Block) -> Frame:
        """Run a call on the state after a block, for free, and forget it. Raises `RpcError` when it cannot start."""
        with self._free_state(block) as state:
            return frame_of(self._run(state, request), None)

    def estimate(self, request: CallRequest, block: Block) -> int:
        """Return the least gas with which a call succeeds. Raises `RpcError`, with the reason of a revert."""
        raise_if_failed(self.call(request, block))
        with self._free_state(block) as state:
            transaction = self._transaction(state, request)
            try:
                return int(self._chain.gas_estimator(state, transaction))
            except (VMError, ValidationError) as error:
                raise RpcError(SERVER_ERROR, str(error)) from None

    @contextmanager
    def _free_state(self, block: Block) -> Iterator[StateAPI]:
        vm = self._chain.get_vm(block.header)
        header = vm.generate_block_from_parent_header_and_coinbase(block.header, Address(COINBASE)).header
        free = header.copy(base_fee_per_gas=0, timestamp=self._time_after(block))
        hashes = itertools.chain((block.header.hash,), vm.previous_hashes)
        state: StateAPI = vm.build_state(vm.chaindb.db, free, vm.chain_context, hashes)
        snapshot = state.snapshot()
        yield state
        state.revert(snapshot)

    def _transaction(self, state: StateAPI, request: CallRequest) -> Any:
        unsigned = self._chain.get_vm().create_unsigned_transaction(
            nonce=state.get_nonce(Address(request.sender)),
            gas_price=0,
            gas=min(request.gas, GAS_LIMIT),
            to=Address(request.to),
            value=request.value,
            data=request.data,
        )
        return SpoofTransaction(unsigned, from_=Address(request.sender))

    def _run(self, state: StateAPI, request: CallRequest) -> ComputationAPI:
        try:
            return state.costless_execute_transaction(self._transaction(state, request))
        except ValidationError as error:
            raise RpcError(SERVER_ERROR, str(error)) from None


def frame_of(computation: ComputationAPI, gas_used: int | None) -> Frame:
    """Return a finished computation as a tree. `gas_used`: of the whole transaction, where that is known."""
    message = computation.msg
    kind = "CALL"
    if message.is_create:
        kind = "CREATE"
    elif message.is_static:
        kind = "STATICCALL"
    elif message.code_address != message.to:
        kind = "DELEGATECALL"
    error = ""
    if computation.is_error:
        error = REVERT if isinstance(computation.error, Revert) else str(computation.error)
    to = message.storage_address if message.is_create else message.code_address
    used = computation.get_gas_used() if gas_used is None else gas_used
    return Frame(
        kind,
        bytes(message.sender),
        bytes(to),
        int(message.value),
        int(message.gas),
        int(used),
        bytes(message.data if not message.is_create else message.code),
        bytes(computation.output),
        error,
        tuple(frame_of(child, None) for child in computation.children),
    )


def raise_if_failed(frame: Frame) -> None:
    """Raise the `RpcError` with which nodes report a failed call: code 3 and the data of a revert."""
    if not frame.error:
        return
    if frame.error != REVERT:
        raise RpcError(SERVER_ERROR, frame.error)
    reason = reason_of(frame.output)
    raise RpcError(REVERTED, f"{REVERT}: {reason}" if reason else REVERT, hexed(frame.output))


def reason_of(output: bytes) -> str:
    """Return the text in an `Error(string)`, or ""."""
    if not output.startswith(REASON) or len(output) < 68:
        return ""
    length = int.from_bytes(output[36:68], "big")
    return output[68 : 68 + length].decode("utf-8", "replace")


def _size(block: Any) -> int:
    return len(rlp.encode(block))
