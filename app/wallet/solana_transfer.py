"""What a payment on Solana signs: a version 0 message that moves one token, and nothing else.

The bytes are built here and read again for the sign sheet, so that it shows what is signed. The message has four
instructions: two limits of the network fee, the transfer, and a memo that makes each payment different. The service's
fee payer signs too, later; its signature slot is left empty.
Source: Solana's transaction format; the SPL programs Token, Associated Token Account and Memo; x402 `exact` on Solana.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.translation import tr
from app.wallet import base58
from app.wallet.addresses import ED25519_KEY_BYTES, read_solana_address
from app.wallet.errors import PaymentRefused

COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111"
TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"  # noqa: S105 - a program's address
MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
ACCOUNTS_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
PROGRAMS = (COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM, MEMO_PROGRAM)
VERSION_0 = 0x80
COMPUTE_UNITS = 20_000
MICROLAMPORTS_PER_UNIT = 1  # the fee payer's; services refuse a higher price
SET_LIMIT, SET_PRICE, TRANSFER_CHECKED = 2, 3, 12  # the first byte of an instruction says what it is
MAX_MEMO_BYTES = 256
BLOCKS_VALID = 150  # for so many blocks after the one that it names, the network takes a message
MAX_UNITS = 2**64 - 1
SIGNATURE_BYTES = 64

_FIELD = 2**255 - 19
_CURVE_D = -121665 * pow(121666, -1, _FIELD) % _FIELD


@dataclass(frozen=True, slots=True)
class TokenTransfer:
    """Move `value` base units of `mint` from `sender` to `receiver`; `fee_payer` pays the network.

    Addresses and `blockhash` are base58. The network takes the transfer until the block `last_valid_height`, None
    where nobody said which one that is; it is not part of what is signed.
    """

    mint: str
    decimals: int
    fee_payer: str
    sender: str
    receiver: str
    value: int
    memo: str
    blockhash: str
    last_valid_height: int | None = None

    @property
    def source(self) -> str:
        return token_account(self.sender, self.mint)

    @property
    def destination(self) -> str:
        return token_account(self.receiver, self.mint)

    @property
    def message(self) -> bytes:
        """The bytes that are signed."""
        if not 0 < self.value <= MAX_UNITS:
            raise PaymentRefused("number", tr("A number in the payment does not fit into 64 bits."))
        accounts = (self.source, self.mint, self.destination, self.sender)
        amount = self.value.to_bytes(8, "little") + bytes([self.decimals])
        instructions: tuple[tuple[str, tuple[str, ...], bytes], ...] = (
            (COMPUTE_BUDGET_PROGRAM, (), bytes([SET_LIMIT]) + COMPUTE_UNITS.to_bytes(4, "little")),
            (COMPUTE_BUDGET_PROGRAM, (), bytes([SET_PRICE]) + MICROLAMPORTS_PER_UNIT.to_bytes(8, "little")),
            (TOKEN_PROGRAM, accounts, bytes([TRANSFER_CHECKED]) + amount),
            (MEMO_PROGRAM, (), self.memo.encode()),
        )
        changed = sorted((self.source, self.destination), key=key_bytes)
        read = sorted((*PROGRAMS, self.mint), key=key_bytes)
        keys = (self.fee_payer, self.sender, *changed, *read)
        if len(set(keys)) != len(keys):
            raise PaymentRefused("encoding", tr("The payment uses one address for two purposes."))
        place = {key: bytes([at]) for at, key in enumerate(keys)}
        parts = [bytes([VERSION_0, 2, 1, len(read)]), _length(len(keys)), *map(key_bytes, keys)]
        parts += [key_bytes(self.blockhash), _length(len(instructions))]
        for program, used, data in instructions:
            parts += [place[program], _length(len(used)), *(place[each] for each in used), _length(len(data)), data]
        return b"".join((*parts, _length(0)))  # no address lookup tables

    @property
    def digest(self) -> bytes:
        """SHA-256 of the message: what identifies the payment before the fee payer has signed."""
        return hashlib.sha256(self.message).digest()

    def payload(self, signature: str) -> Mapping[str, object]:
        """The inner part of a payment header; `signature` is the sender's, base58."""
        signatures = bytes(SIGNATURE_BYTES) + bytes(base58.decode(signature))
        return {"transaction": base64.b64encode(_length(2) + signatures + self.message).decode()}

    def document(self) -> str:
        """What is signed, as JSON to look at; its last field is the message itself."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "last_valid_height"}
        accounts = {"source": self.source, "destination": self.destination}
        message = base64.b64encode(self.message).decode()
        return json.dumps({"version": 0, **fields, **accounts, "message": message}, indent=2, ensure_ascii=True)


@dataclass(frozen=True, slots=True)
class SignedTransfer:
    """The fields as they stand in the bytes that are signed."""

    fee_payer: str
    sender: str
    source: str
    destination: str
    mint: str
    value: int
    decimals: int
    memo: str
    blockhash: str
    compute_units: int
    microlamports_per_unit: int


READ_BACK = tuple(name for name in SignedTransfer.__slots__ if hasattr(TokenTransfer, name))  # what both have


def read_message(message: bytes) -> SignedTransfer:
    """Take a message apart again. Raises `PaymentRefused` when it is anything else than one transfer."""
    reader = _Reader(message)
    try:
        version, *counts = reader.take(4)
        keys = [base58.encode(reader.take(ED25519_KEY_BYTES)) for _ in range(reader.length())]
        blockhash = base58.encode(reader.take(ED25519_KEY_BYTES))
        calls = [
            (keys[reader.take(1)[0]], [keys[at] for at in reader.take(reader.length())], reader.take(reader.length()))
            for _ in range(reader.length())
        ]
        tables = reader.length()
        memo = calls[3][2].decode()
        (source, mint, destination, sender), amount = calls[2][1], calls[2][2]
    except (IndexError, ValueError):
        raise _not_a_transfer() from None
    limit, price = calls[0][2], calls[1][2]
    programs = [program for program, _, _ in calls]
    is_transfer = (
        (version, counts, tables, reader.is_at_end) == (VERSION_0, [2, 1, 4], 0, True)
        and programs == [COMPUTE_BUDGET_PROGRAM, COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM, MEMO_PROGRAM]
        and (keys[1], {*keys[2:4]}) == (sender, {source, destination})
        and {*keys[4:]} == {*PROGRAMS, mint}
        and not any(used for _, used, _ in (calls[0], calls[1], calls[3]))
        and (limit[0], len(limit), price[0], len(price)) == (SET_LIMIT, 5, SET_PRICE, 9)
        and (amount[0], len(amount)) == (TRANSFER_CHECKED, 10)
    )
    if not is_transfer:
        raise _not_a_transfer()
    return SignedTransfer(
        fee_payer=keys[0],
        sender=sender,
        source=source,
        destination=destination,
        mint=mint,
        value=int.from_bytes(amount[1:9], "little"),
        decimals=amount[9],
        memo=memo,
        blockhash=blockhash,
        compute_units=int.from_bytes(limit[1:], "little"),
        microlamports_per_unit=int.from_bytes(price[1:], "little"),
    )


@lru_cache(64)
def token_account(owner: str, mint: str) -> str:
    """Return the address at which `owner` holds a token: the first one derived that no key can belong to."""
    seeds = key_bytes(owner) + key_bytes(TOKEN_PROGRAM) + key_bytes(mint)
    for bump in range(255, -1, -1):
        data = seeds + bytes([bump]) + key_bytes(ACCOUNTS_PROGRAM) + b"ProgramDerivedAddress"
        address = hashlib.sha256(data).digest()
        if not is_on_curve(address):
            return base58.encode(address)
    raise PaymentRefused("account", tr("This address cannot hold the token."))  # a chance of 1 in 2^256


def is_on_curve(key: bytes) -> bool:
    """Whether 32 bytes are a point of the Ed25519 curve: only then can a private key belong to them."""
    y = int.from_bytes(key, "little") & (2**255 - 1)
    x_squared = (y * y - 1) * pow(_CURVE_D * y * y + 1, -1, _FIELD) % _FIELD
    return pow(x_squared, (_FIELD - 1) // 2, _FIELD) in (0, 1)


def key_bytes(text: str) -> bytes:
    """Return the 32 bytes of an address or a block's hash. Raises `AddressRefused`."""
    return bytes(base58.decode(read_solana_address(text)))


class _Reader:
    """Takes bytes from the front. Raises `ValueError` at the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) != count:
            raise ValueError("the message ends too early")
        self._at += count
        return part

    def length(self) -> int:
        """A compact length of one or two bytes; nothing here is longer than 16 KiB."""
        first = self.take(1)[0]
        return first if first < 128 else first & 127 | self.take(1)[0] << 7


def _length(count: int) -> bytes:
    return bytes([count]) if count < 128 else bytes([count & 127 | 128, count >> 7])


def _not_a_transfer() -> PaymentRefused:
    return PaymentRefused("encoding", tr("The data to sign is not a transfer of this token."))
