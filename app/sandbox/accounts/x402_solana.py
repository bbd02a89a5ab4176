"""Payments on the Solana rail: a partially signed transaction, verified to the last byte and settled in play money.

The Sandbox is the fee payer: it adds the missing signature, which is the transaction's id. Blocks are those of
`solana-mainnet` behind the proxy.
Source: x402, the `exact` scheme on Solana; Solana's transaction format; the SPL programs' instructions.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.sandbox.accounts import signatures
from app.sandbox.accounts.wallet_address import ED25519_KEY_BYTES, Wallet, from_base58, read_wallet, to_base58
from app.sandbox.accounts.x402_terms import (
    DECIMALS,
    MAXIMUM_USD,
    MINIMUM_USD,
    SOLANA_FEE_PAYER,
    SOLANA_MINT,
    SOLANA_NETWORK,
    SOLANA_RECEIVER,
    refused,
    units,
)
from app.sandbox.chains.non_evm_nodes import SOLANA_SLUG, TOKEN_PROGRAM, block_height, slot_at
from app.sandbox.http.errors import Json
from app.sandbox.world import World

FEE_PAYER_SEED = hashlib.sha256(b"Rialto Sandbox: fee payer").digest()
COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111"
ACCOUNTS_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
LIGHTHOUSE = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95"  # wallets add its checks by themselves
SET_LIMIT, SET_PRICE, TRANSFER_CHECKED = 2, 3, 12
MAX_PRICE = 5_000_000  # millionths of a lamport
MAX_TRANSACTION_BYTES = 1232
SIGNATURE_BYTES = 64
PRIME = 2**255 - 19


@dataclass(frozen=True, slots=True)
class Instruction:
    program: str
    accounts: Sequence[str]
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    signers: int
    keys: Sequence[str]
    blockhash: str
    instructions: Sequence[Instruction]


@dataclass(frozen=True, slots=True)
class SolanaPayment:
    """A transfer of `value` base units. `message` is what `signature` is of."""

    version: int
    sender: str
    value: int
    blockhash: str
    memo: str
    message: bytes
    signature: bytes
    receiver: str = SOLANA_RECEIVER
    token: str = SOLANA_MINT

    @property
    def wallet(self) -> Wallet:
        return Wallet("solana", self.sender)

    @property
    def usd(self) -> Decimal:
        return Decimal(self.value).scaleb(-DECIMALS)

    @property
    def network(self) -> str:
        return SOLANA_NETWORK if self.version == 2 else "solana"

    @property
    def key(self) -> str:
        return f"{self.sender} {self.digest.hex()}"

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.message).digest()

    def reference(self) -> str:
        """The transaction's id: the fee payer's signature, which settling adds."""
        return to_base58(signatures.ed25519_sign(FEE_PAYER_SEED, self.message))

    def check_time(self, now: float) -> None:
        """Raises `HttpError` 400 for a block that is none of the newest."""
        if block_height(SOLANA_SLUG, self.blockhash, now) is None:
            raise refused(
                "INVALID_PAYMENT", "The transaction names no recent block; ask for the terms again and sign a new one"
            )

    def check_signature(self) -> None:
        """Call from a worker thread. Raises `HttpError` 400."""
        public = from_base58(self.sender) or b""
        if not signatures.ed25519_signed(public, self.message, self.signature):
            raise refused("INVALID_PAYMENT", "The transaction was not signed by the owner of the tokens")


@dataclass(frozen=True, slots=True)
class Transfer:
    """A payment that was settled, as its chain lists it."""

    signature: str
    sender: str
    memo: str
    at: float


class PlayToken:
    """The play money of this rail, as a node of the chain shows it."""

    mint = SOLANA_MINT

    def __init__(self, world: World) -> None:
        self._balances = world.table(f"play money {SOLANA_MINT}", int)
        self._settled = transfers_of(world)

    def balance(self, account: str) -> int | None:
        return next((units for owner, units in self._balances.items() if _holds(owner, account)), None)

    def transfers(self, account: str) -> list[Json]:
        own = [each for each in self._settled.values() if _holds(each.sender, account)]
        own.sort(key=lambda each: each.at, reverse=True)
        return [
            {
                "signature": each.signature,
                "slot": slot_at(each.at),
                "err": None,
                "memo": f"[{len(each.memo)}] {each.memo}",
                "blockTime": int(each.at),
                "confirmationStatus": "finalized",
            }
            for each in own
        ]


def transfers_of(world: World) -> MutableMapping[str, Transfer]:
    """Return the settled payments by their signature."""
    return world.table("solana transfers", Transfer)


def _holds(owner: str, account: str) -> bool:
    return read_wallet(owner) == Wallet("solana", owner) and token_account(owner) == account


def read_transfer(version: int, text: object) -> SolanaPayment:
    """Decode `payload.transaction` and hold it against the terms. Raises `HttpError` 400."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True) if isinstance(text, str) else b""
        if not 0 < len(data) <= MAX_TRANSACTION_BYTES:
            raise ValueError
        reader = _Reader(data)
        slots = [reader.take(SIGNATURE_BYTES) for _ in range(reader.length())]
        signed = reader.rest
        message = _message(_Reader(signed))
    except (ValueError, IndexError):
        raise refused(
            "INVALID_PAYMENT_FORMAT", "payload.transaction must be base64 of a version 0 transaction"
        ) from None
    transfer = _only_transfer(message)
    sender = transfer.accounts[3]
    if message.keys[0] != SOLANA_FEE_PAYER or message.signers != 2 or len(slots) != 2:
        raise refused(
            "INVALID_PAYMENT", "The transaction must be paid by the fee payer of the terms, and signed by one"
        )
    if sender in (SOLANA_FEE_PAYER, SOLANA_RECEIVER) or sender != message.keys[1]:
        raise refused("INVALID_PAYMENT_PAYER", "This sender cannot pay")
    if transfer.accounts[1] != SOLANA_MINT:
        raise refused("UNSUPPORTED_TOKEN", "The transaction moves another token than the one that was offered")
    if transfer.data[9] != DECIMALS:
        raise refused("INVALID_PAYMENT", f"The token has {DECIMALS} decimals")
    if transfer.accounts[2] != token_account(SOLANA_RECEIVER):
        raise refused("INVALID_PAYMENT_RECIPIENT", "The transaction pays another address")
    if transfer.accounts[0] != token_account(sender):
        raise refused("INVALID_PAYMENT_PAYER", "The tokens must come from the sender’s own token account")
    value = int.from_bytes(transfer.data[1:9], "little")
    if value < units(MINIMUM_USD):
        raise refused("AMOUNT_TOO_LOW", f"The smallest top-up is {MINIMUM_USD} USD")
    if value > units(MAXIMUM_USD):
        raise refused("AMOUNT_TOO_HIGH", f"The largest top-up is {MAXIMUM_USD} USD")
    memo = next((each.data for each in message.instructions if each.program == MEMO_PROGRAM), b"")
    text = memo.decode("utf-8", "replace")
    return SolanaPayment(version, sender, value, message.blockhash, text, signed, slots[1])


def token_account(owner: str, mint: str = SOLANA_MINT) -> str:
    """Return where `owner` keeps the token: the first derived address that is no point of the curve."""
    seeds = b"".join(from_base58(each) or b"" for each in (owner, TOKEN_PROGRAM, mint))
    end = (from_base58(ACCOUNTS_PROGRAM) or b"") + b"ProgramDerivedAddress"
    candidates = (hashlib.sha256(seeds + bytes([bump]) + end).digest() for bump in range(255, -1, -1))
    return to_base58(next(each for each in candidates if not _is_point(each)))


def _is_point(data: bytes) -> bool:
    y_squared = (int.from_bytes(data, "little") % 2**255) ** 2
    d = -121665 * pow(121666, -1, PRIME)
    x_squared = (y_squared - 1) * pow(d * y_squared + 1, -1, PRIME)
    return pow(x_squared, (PRIME - 1) // 2, PRIME) <= 1


def _only_transfer(message: Message) -> Instruction:
    """Return the transfer. Raises `HttpError` 400 when the transaction does anything else."""
    kinds = [each.program for each in message.instructions]
    if not 3 <= len(kinds) <= 6 or kinds[:3] != [COMPUTE_BUDGET, COMPUTE_BUDGET, TOKEN_PROGRAM]:
        raise refused("INVALID_PAYMENT", "The transaction must set limit and price and move the token, in this order")
    limit, price, transfer, *others = message.instructions
    if limit.data[:1] != bytes([SET_LIMIT]) or len(limit.data) != 5:
        raise refused("INVALID_PAYMENT", "The first instruction must set the compute unit limit")
    if price.data[:1] != bytes([SET_PRICE]) or len(price.data) != 9:
        raise refused("INVALID_PAYMENT", "The second instruction must set the compute unit price")
    if int.from_bytes(price.data[1:], "little") > MAX_PRICE:
        raise refused("INVALID_PAYMENT", "The compute unit price is too high")
    if transfer.data[:1] != bytes([TRANSFER_CHECKED]) or len(transfer.data) != 10 or len(transfer.accounts) != 4:
        raise refused("INVALID_PAYMENT", "The third instruction must be TransferChecked")
    if any(each.program not in (MEMO_PROGRAM, LIGHTHOUSE) for each in others):
        raise refused("INVALID_PAYMENT", "The transaction may carry a memo and checks besides")
    if any(SOLANA_FEE_PAYER in each.accounts for each in message.instructions):
        raise refused("INVALID_PAYMENT", "The fee payer only pays the fee")
    return transfer


def _message(reader: _Reader) -> Message:
    if reader.take(1) != b"\x80":
        raise ValueError("not version 0")
    signers = reader.take(3)[0]
    keys = [to_base58(reader.take(ED25519_KEY_BYTES)) for _ in range(reader.length())]
    blockhash = to_base58(reader.take(ED25519_KEY_BYTES))
    instructions = []
    for _ in range(reader.length()):
        program = keys[reader.take(1)[0]]
        accounts = [keys[at] for at in reader.take(reader.length())]
        instructions.append(Instruction(program, accounts, reader.take(reader.length())))
    if reader.length() or reader.rest or len(set(keys)) != len(keys):
        raise ValueError("lookup tables, or more than a message")
    return Message(signers, keys, blockhash, instructions)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.rest = data

    def take(self, count: int) -> bytes:
        part, self.rest = self.rest[:count], self.rest[count:]
        if len(part) != count:
            raise ValueError("too short")
        return part

    def length(self) -> int:
        first = self.take(1)[0]
        return first if first < 0x80 else first - 0x80 + (self.take(1)[0] << 7)
