"""A real Ethereum virtual machine in this process: py-evm, one chain in memory. The only file that knows it.

A transaction is mined into a block of its own the moment it is sent; one whose nonce is too high waits for the gap to
close. Between transactions there is an empty block every 12 s, made when somebody asks: a chain that nobody looks at
costs nothing. Values leave as plain numbers and bytes; how JSON-RPC writes them is the business of `node_methods`.

What a chain is made of again after a restart is a journal: of each block its time, and its transaction if it has one.

Blocks have the Sandbox's time, at least a second after the block before. When the Sandbox's clock is turned back, the
next block has the time that it is then, earlier than its parent: nothing that was mined is lost, payments signed for
now are good now. That one rule of real chains is given up for a clock that can be turned.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import rlp
from eth.abc import BlockHeaderAPI, ComputationAPI, SignedTransactionAPI, StateAPI
from eth.chains.base import MiningChain
from eth.consensus.noproof import NoProofConsensus
from eth.db.atomic import AtomicDB
from eth.exceptions import Revert, VMError
from eth.vm.forks.prague import PragueVM
from eth.vm.forks.prague.computation import PragueComputation
from eth.vm.forks.prague.constants import PER_EMPTY_ACCOUNT_BASE_COST, SET_CODE_TRANSACTION_TYPE
from eth.vm.forks.prague.state import PragueState
from eth.vm.forks.prague.transactions import Authorization
from eth.vm.opcode_values import JUMPDEST
from eth.vm.spoof import SpoofTransaction
from eth_typing import Address, BlockNumber
from eth_utils.exceptions import ValidationError
from rlp.exceptions import RLPException

from app.sandbox.chains.rpc_values import REVERTED, SERVER_ERROR, RpcError, hexed

GAS_LIMIT = 30_000_000
BLOCK_S = 12
MOST_EMPTY = 100  # blocks made at once: a chain that nobody looked at for 20 minutes stood still before these
WAITING = "waiting "
MOST_ROUNDS = 4  # of naming what a call touches, which may change when its gas does
TIMEOUT_S = 5.0  # of one call; an endless loop would take a minute to use up its gas
ACCESS_ADDRESS_GAS, ACCESS_SLOT_GAS = 2_400, 1_900  # EIP-2930
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
class MinedTransaction:
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
    mined: tuple[MinedTransaction, ...] = ()

    @property
    def number(self) -> int:
        return int(self.header.block_number)


AccessList = tuple[tuple[bytes, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call that leaves no trace. `gas_used`: as a transaction would pay it."""

    frame: Frame
    gas_used: int
    receiver: bytes  # of a new contract, its address
    logs: tuple[Log, ...]


@dataclass(frozen=True, slots=True)
class CallRequest:
    """An `eth_call`: nothing of it stays."""

    sender: bytes
    to: bytes
    gas: int
    value: int
    data: bytes
    access_list: AccessList = ()
    authorizations: tuple[tuple[int, bytes, int, int, int, int], ...] = ()  # chain, address, nonce, parity, r, s
    overrides: tuple[tuple[bytes, Override], ...] = ()


@dataclass(frozen=True, slots=True)
class Override:
    """What one account holds during a call, instead of what it has. `storage` takes the place of all its slots."""

    balance: int | None = None
    nonce: int | None = None
    code: bytes | None = None
    storage: Mapping[int, int] | None = None
    changed: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the journal. `raw`: its signed transaction; the first block has none, nor has an empty one.

    Or, under a name that begins with `WAITING`, a transaction whose nonce is not due yet.
    """

    time: int
    raw: bytes = b""


class _TimeUp(Exception):
    """Ends a computation. Not one of py-evm's errors, which contracts can catch."""


class _LimitedComputation(PragueComputation):
    """Ends at a time on the monotonic clock. There is no way on without a jump or a call, so these look at it."""

    ends_at = math.inf

    @classmethod
    def check_time(cls) -> None:
        if time.monotonic() > cls.ends_at:
            raise _TimeUp

    @classmethod
    def apply_computation(cls, *arguments: Any, **named: Any) -> ComputationAPI:
        cls.check_time()
        return super().apply_computation(*arguments, **named)


def _jump_destination(computation: _LimitedComputation) -> None:
    computation.check_time()
    PragueComputation.opcodes[JUMPDEST](computation=computation)


class _WatchedState(PragueState):
    """Knows which accounts and slots were touched."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.touched: dict[bytes, set[int]] = {}

    def mark_address_warm(self, address: Address) -> None:
        self.touched.setdefault(bytes(address), set())
        super().mark_address_warm(address)

    def mark_storage_warm(self, address: Address, slot: int) -> None:
        self.touched.setdefault(bytes(address), set()).add(slot)
        super().mark_storage_warm(address, slot)


class _TurnableVM(PragueVM):
    """Takes a block that is earlier than its parent, in all else as strict as the real one."""

    @classmethod
    def validate_header(cls, header: BlockHeaderAPI, parent_header: BlockHeaderAPI) -> None:
        later = max(header.timestamp, parent_header.timestamp + 1)
        super().validate_header(header.copy(timestamp=later), parent_header)


class EvmChain:
    """Not safe for several threads at once: whoever uses it holds a lock."""

    def __init__(
        self,
        chain_id: int,
        accounts: Mapping[bytes, Account],
        now: Callable[[], float],
        journal: MutableMapping[str, Step] | None = None,
        *,
        begins_s_ago: int = 0,
    ) -> None:
        """`now` gives Unix seconds, the time of the next block. What `journal` holds is mined again.

        Raises `RpcError` for a journal of another chain.
        """
        self.chain_id = chain_id
        self._now = now
        self._journal: MutableMapping[str, Step] = {} if journal is None else journal
        first_step = self._journal.setdefault("0", Step(int(now()) - begins_s_ago))
        self._mined_at: float = first_step.time  # on the Sandbox's clock, when the newest block came
        opcodes = {**PragueComputation.opcodes, JUMPDEST: _jump_destination}
        self._computation: Any = type("Computation", (_LimitedComputation,), {"opcodes": opcodes})
        state_class = type("State", (_WatchedState,), {"computation_class": self._computation})
        vm = _TurnableVM.configure(consensus_class=NoProofConsensus, _state_class=state_class)
        chain_class = MiningChain.configure(
            f"Chain{chain_id}", vm_configuration=((BlockNumber(0), vm),), chain_id=chain_id
        )
        genesis: dict[str, Any] = {
            "coinbase": COINBASE,
            "difficulty": 0,
            "gas_limit": GAS_LIMIT,
            "timestamp": first_step.time,
            "base_fee_per_gas": FIRST_BASE_FEE,
            "extra_data": b"rialto sandbox",
        }
        genesis_state: dict[Any, Any] = {
            Address(address): {
                "balance": account.balance_wei,
                "nonce": 1 if account.code else 0,
                "code": account.code,
                "storage": dict(account.storage),
            }
            for address, account in accounts.items()
        }
        self._chain: Any = chain_class.from_genesis(AtomicDB(), genesis, genesis_state)
        first = self._chain.get_canonical_block_by_number(BlockNumber(0))
        self.blocks: list[Block] = [Block(first.header, _size(first))]
        self.by_hash: dict[bytes, tuple[Block, int]] = {}  # transaction hash -> block and index
        self.waiting: dict[tuple[bytes, int], SignedTransactionAPI] = {}  # (sender, nonce)
        for name, step in list(self._journal.items())[1:]:
            if name.startswith(WAITING):
                transaction = self.decode(step.raw)
                self.waiting[bytes(transaction.sender), transaction.nonce] = transaction
            elif step.raw:
                self._mine(self.decode(step.raw), step.time)
            else:
                self._add_empty(step.time)

    @property
    def head(self) -> Block:
        return self.blocks[-1]

    def next_base_fee(self) -> int:
        return int(self._chain.header.base_fee_per_gas)

    def state(self, block: Block) -> StateAPI:
        """Return the accounts as they are after a block, for reading."""
        state: StateAPI = self._chain.get_vm(block.header).state
        return state

    def nonce_of(self, owner: bytes) -> int:
        return self.state(self.head).get_nonce(Address(owner))

    def is_unused(self, owner: bytes) -> bool:
        """Whether an address never sent anything, holds no ether and is no contract."""
        state, place = self.state(self.head), Address(owner)
        return not (state.get_nonce(place) or state.get_balance(place) or state.get_code(place))

    def go_on(self) -> None:
        """Add the empty blocks that are due. The second that it is now is left to a transaction."""
        now = self._now()
        if now < self._mined_at:
            return  # the clock was turned back
        head = int(self.head.header.timestamp)
        due = (int(now) - 1 - head) // BLOCK_S
        for number in range(max(1, due - MOST_EMPTY + 1), due + 1):
            self._add_empty(head + number * BLOCK_S)
            self._journal[str(self.head.number)] = Step(head + number * BLOCK_S)

    def add_past(self, transaction: SignedTransactionAPI, number: int) -> None:
        """Mine a transaction into the block of that number after the first one, some time ago."""
        at = int(self.blocks[0].header.timestamp) + number * BLOCK_S
        self._mine(transaction, at)
        self._journal[str(self.head.number)] = Step(at, bytes(transaction.encode()))

    def _add_empty(self, at: int) -> None:
        """What `mine_all` would make of no transaction, without running a machine for it."""
        parent = self.head.header
        header = self._chain.create_header_from_parent(parent, timestamp=at, coinbase=COINBASE, gas_limit=GAS_LIMIT)
        self._chain.chaindb.persist_header(header)
        self._chain.header = self._chain.create_header_from_parent(header)
        self.blocks.append(Block(header, self.blocks[0].size))
        self._mined_at = at

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
            self._journal[_waiting(transaction)] = Step(0, bytes(transaction.encode()))
            return bytes(transaction.hash)
        self._mine_now(transaction)
        while (following := self.waiting.pop((sender, due := due + 1), None)) is not None:
            self._journal.pop(_waiting(following), None)
            try:
                self._check(following, sender)
                self._mine_now(following)
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
        _check_funds(self.state(self.head), sender, transaction.gas * offered + transaction.value)

    def _mine_now(self, transaction: SignedTransactionAPI) -> None:
        at = self._time_after(self.head)
        with self._limited():
            self._mine(transaction, at)
        self._mined_at = self._now()
        self._journal[str(self.head.number)] = Step(at, bytes(transaction.encode()))

    @contextmanager
    def _limited(self) -> Iterator[None]:
        self._computation.ends_at = time.monotonic() + TIMEOUT_S
        try:
            yield
        except _TimeUp:
            raise RpcError(SERVER_ERROR, f"execution aborted (timeout = {TIMEOUT_S:.0f}s)") from None
        except RecursionError:  # real machines go 1024 deep; this one runs on Python's own stack
            raise RpcError(SERVER_ERROR, "the calls are nested too deeply for this Sandbox") from None
        finally:
            self._computation.ends_at = math.inf

    def _mine(self, transaction: SignedTransactionAPI, at: int) -> None:
        self._chain.header = self._chain.header.copy(
            timestamp=at, gas_limit=GAS_LIMIT
        )  # what contracts see while they run
        base_fee = self.next_base_fee()
        try:
            result, receipts, computations = self._chain.mine_all([transaction], timestamp=at, coinbase=COINBASE)
        except ValidationError as error:
            raise RpcError(SERVER_ERROR, str(error)) from None
        imported = result.imported_block
        receipt, computation = receipts[0], computations[0]
        gas_used = int(receipt.gas_used)
        message = computation.msg
        mined = MinedTransaction(
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
        self._mined_at = at
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
        with self._free_state(block, request) as state:
            return frame_of(self._run(state, request), None)

    def estimate(self, request: CallRequest, block: Block) -> int:
        """Return the least gas with which a call succeeds. Raises `RpcError`, with the reason of a revert."""
        raise_if_failed(self.call(request, block))
        with self._free_state(block, request) as state:
            transaction = self._transaction(state, request)
            try:
                return int(self._chain.gas_estimator(state, transaction))
            except (VMError, ValidationError) as error:
                raise RpcError(SERVER_ERROR, str(error)) from None

    def access_list(self, request: CallRequest, block: Block) -> tuple[AccessList, int, str]:
        """Return what a call touches beside sender and receiver, its gas with that named, and its error."""
        named = request.access_list
        for _ in range(MOST_ROUNDS):
            with self._free_state(block, replace(request, access_list=named)) as state:
                outcome = self._outcome(state, replace(request, access_list=named))
                # Named by every transaction anyway, unless it is for their slots.
                known = {request.sender, outcome.receiver, COINBASE, *map(bytes, self._computation.get_precompiles())}
                touched = cast(_WatchedState, state).touched
                found = tuple(
                    (address, tuple(sorted(slots)))
                    for address, slots in sorted(touched.items())
                    if slots or address not in known
                )
            if found == named:
                break
            named = found
        return found, outcome.gas_used, outcome.frame.error

    def simulate(
        self, requests: Sequence[CallRequest], overrides: tuple[tuple[bytes, Override], ...], block: Block
    ) -> tuple[Block, list[Outcome]]:
        """Run calls one after the other in a block behind `block`, which is forgotten. Raises `RpcError`."""
        nobody = CallRequest(bytes(20), bytes(20), 0, 0, b"", overrides=overrides)
        with self._free_state(block, nobody) as state:
            outcomes = []
            for request in requests:
                _check_funds(state, request.sender, request.value)
                outcomes.append(self._outcome(state, request))
        used = sum(outcome.gas_used for outcome in outcomes)
        return Block(self._next_header(block).copy(gas_used=used), self.blocks[0].size), outcomes

    def _outcome(self, state: StateAPI, request: CallRequest) -> Outcome:
        computation = self._run(state, request)
        intrinsic = self._transaction(state, request).intrinsic_gas
        used = intrinsic + computation.get_gas_used()
        refund = 0 if computation.is_error else min(computation.get_gas_refund(), used // 5)
        floor = 21_000 + 10 * sum(4 if byte else 1 for byte in request.data)  # EIP-7623
        logs = tuple(
            Log(bytes(address), tuple(topic.to_bytes(32, "big") for topic in topics), bytes(data))
            for address, topics, data in computation.get_log_entries()
        )
        gas_used = max(used - refund, floor)
        return Outcome(frame_of(computation, gas_used), gas_used, bytes(computation.msg.storage_address), logs)

    def nodes(self) -> Any:
        """Return the database of the state's trie nodes, by hash."""
        return self._chain.chaindb.db

    def _next_header(self, block: Block) -> Any:
        """The header of a block in which gas costs nothing."""
        vm = self._chain.get_vm(block.header)
        header = vm.generate_block_from_parent_header_and_coinbase(block.header, Address(COINBASE)).header
        return header.copy(base_fee_per_gas=0, gas_limit=GAS_LIMIT, timestamp=self._time_after(block))

    @contextmanager
    def _free_state(self, block: Block, request: CallRequest) -> Iterator[StateAPI]:
        vm = self._chain.get_vm(block.header)
        free = self._next_header(block)
        hashes = itertools.chain((block.header.hash,), vm.previous_hashes)
        state: StateAPI = vm.build_state(vm.chaindb.db, free, vm.chain_context, hashes)
        for owner, override in request.overrides:
            _override(state, Address(owner), override)
        _check_funds(state, request.sender, request.value)
        with self._limited():
            yield state  # nothing of it is ever persisted

    def _transaction(self, state: StateAPI, request: CallRequest) -> Any:
        unsigned = self._chain.get_vm().create_unsigned_transaction(
            nonce=state.get_nonce(Address(request.sender)),
            gas_price=0,
            gas=min(request.gas, GAS_LIMIT),
            to=Address(request.to),
            value=request.value,
            data=request.data,
        )
        more: dict[str, Any] = {}
        gas = sum(ACCESS_ADDRESS_GAS + ACCESS_SLOT_GAS * len(slots) for _, slots in request.access_list)
        if request.access_list:
            more["access_list"] = request.access_list
        if request.authorizations:
            more |= {"type_id": SET_CODE_TRANSACTION_TYPE}
            more["authorization_list"] = [Authorization(*one) for one in request.authorizations]
            gas += PER_EMPTY_ACCOUNT_BASE_COST * len(request.authorizations)
        if gas:
            more["intrinsic_gas"] = unsigned.intrinsic_gas + gas
        return SpoofTransaction(unsigned, from_=Address(request.sender), **more)

    def _run(self, state: StateAPI, request: CallRequest) -> ComputationAPI:
        try:
            return state.costless_execute_transaction(self._transaction(state, request))
        except ValidationError as error:
            raise RpcError(SERVER_ERROR, str(error)) from None


def _waiting(transaction: SignedTransactionAPI) -> str:
    return f"{WAITING}{hexed(bytes(transaction.hash))}"


def _check_funds(state: StateAPI, sender: bytes, want: int) -> None:
    """Raise `RpcError` with the words by which clients know this error."""
    have = state.get_balance(Address(sender))
    if have < want:
        message = f"insufficient funds for gas * price + value: address {hexed(sender)} have {have} want {want}"
        raise RpcError(SERVER_ERROR, message)


def _override(state: StateAPI, owner: Address, override: Override) -> None:
    if override.balance is not None:
        state.set_balance(owner, override.balance)
    if override.nonce is not None:
        state.set_nonce(owner, override.nonce)
    if override.code is not None:
        state.set_code(owner, override.code)
    if override.storage is not None:
        state.delete_storage(owner)
    for slot, value in {**(override.storage or {}), **override.changed}.items():
        state.set_storage(owner, slot, value)


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
