"""Decodes a signed transaction from its bytes, so that it can be reviewed before it is sent.

The five kinds of transaction that Ethereum chains take (EIP-155, 2930, 1559, 4844, 7702), each with the fields and the
order of its proposal. The hash is the one that the chain will know it by. Recovering the sender loads eth_account the
first time, which takes over half a second: call `read_transaction` in a thread.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from app.translation import tr
from app.wallet.addresses import checksum_address, keccak256
from app.wallet.errors import TransactionRefused
from app.wallet.libraries import load_eth_account

MAX_TRANSACTION_BYTES = 1_048_576  # blobs with their proofs stay below; everything else is far smaller

_LEGACY = ("nonce", "gas_price", "gas", "to", "value", "data", "v", "r", "s")
_SIGNATURE = ("y_parity", "r", "s")
_FEES = ("max_priority_fee", "max_fee", "gas", "to", "value", "data", "access_list")
_TYPED: dict[int, tuple[str, ...]] = {
    1: ("chain_id", "nonce", "gas_price", "gas", "to", "value", "data", "access_list", *_SIGNATURE),
    2: ("chain_id", "nonce", *_FEES, *_SIGNATURE),
    3: ("chain_id", "nonce", *_FEES, "max_blob_fee", "blob_hashes", *_SIGNATURE),
    4: ("chain_id", "nonce", *_FEES, "authorizations", *_SIGNATURE),
}
_KIND_NAMES = {0: "legacy", 1: "EIP-2930", 2: "EIP-1559", 3: "EIP-4844 (blobs)", 4: "EIP-7702 (delegation)"}
_LISTS = ("access_list", "blob_hashes", "authorizations")
_RAW = ("to", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction in plain values: wei, gas units, checksummed addresses.

    `to` is "" where a contract is created. `chain_id` is None for the oldest form, which is valid on every chain.
    `max_fee` is what one unit of gas may cost at most.
    """

    kind: str
    sender: str
    to: str
    value: int
    nonce: int
    gas: int
    max_fee: int
    max_priority_fee: int | None
    chain_id: int | None
    data: bytes
    authorizations: int = 0  # accounts that would run other code from then on

    @property
    def most_wei(self) -> int:
        """The most that can leave the account: value and the whole gas at its highest price."""
        return self.value + self.gas * self.max_fee

    @property
    def document(self) -> str:
        """What is signed, as JSON with one field on each line."""
        values = {
            "chainId": self.chain_id,
            "nonce": self.nonce,
            "from": self.sender,
            "to": self.to,
            "value": str(self.value),
            "gas": self.gas,
            "maxFeePerGas": self.max_fee,
            "maxPriorityFeePerGas": self.max_priority_fee,
            "data": "0x" + self.data.hex(),
        }
        return json.dumps(values, indent=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedTransaction(Transaction):
    """One that can be sent. `hash` is what the chain will know it by."""

    hash: str


def transaction_hash(raw: bytes) -> str:
    """The hash of the raw bytes, as the service's audit keeps it."""
    return "0x" + keccak256(raw).hex()


def read_transaction(text: str) -> SignedTransaction:
    """Read the argument of `eth_sendRawTransaction`. Raises `TransactionRefused` with a sentence."""
    raw = _bytes_of(text)
    kind = raw[0] if raw[0] < 0x80 else 0
    if kind and kind not in _TYPED:
        raise TransactionRefused(
            "kind", tr("Rialto cannot read this type of transaction: 0x{kind}.", kind=f"{kind:02x}")
        )
    names = _TYPED[kind] if kind else _LEGACY
    items = _items(raw[1:] if kind else raw)
    network_form = kind == 3 and len(items) in (4, 5) and isinstance(items[0], list)
    if network_form:  # blobs, commitments and proofs travel beside it; the hash is without them
        items = _list(items[0])
    if len(items) != len(names):
        raise TransactionRefused(
            "fields",
            tr(
                "A signed transaction of this kind has {count} fields, not {count2}.",
                count=len(names),
                count2=len(items),
            ),
        )
    named = dict(zip(names, items, strict=True))
    lists = {name: _list(named.pop(name)) for name in _LISTS if name in named}
    fields = {name: _bytes(value) for name, value in named.items()}
    numbers = {name: int.from_bytes(value, "big") for name, value in fields.items() if name not in _RAW}
    return SignedTransaction(
        kind=_KIND_NAMES[kind],
        hash=_hash_without_blobs(items) if network_form else transaction_hash(raw),
        sender=_sender(raw),
        to=_receiver(fields["to"]),
        value=numbers["value"],
        nonce=numbers["nonce"],
        gas=numbers["gas"],
        max_fee=numbers.get("max_fee", numbers.get("gas_price", 0)),
        max_priority_fee=numbers.get("max_priority_fee"),
        chain_id=numbers["chain_id"] if kind else _legacy_chain(numbers["v"]),
        data=fields["data"],
        authorizations=len(lists.get("authorizations", ())),
    )


def _bytes_of(text: str) -> bytes:
    text = text.strip()
    if text[:2] not in ("0x", "0X") or len(text) % 2 or len(text) < 4:
        raise TransactionRefused(
            "hex", tr("A signed transaction is 0x followed by an even number of hexadecimal digits.")
        )
    if len(text) > 2 * MAX_TRANSACTION_BYTES + 2:
        raise TransactionRefused("large", tr("This transaction is too large."))
    try:
        return bytes.fromhex(text[2:])
    except ValueError as error:
        raise TransactionRefused("hex", tr("A signed transaction contains only hexadecimal digits.")) from error


def _items(encoded: bytes) -> list[object]:
    import rlp

    try:
        items = rlp.decode(encoded)
    except (rlp.exceptions.RLPException, RecursionError) as error:
        raise TransactionRefused("encoding", tr("This signed transaction is incomplete.")) from error
    return _list(items)


def _list(value: object) -> list[object]:
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise TransactionRefused("fields", tr("The fields of this transaction are not in the right order."))
    return list(value)


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TransactionRefused("fields", tr("The fields of this transaction are not in the right order."))
    return value


def _hash_without_blobs(items: object) -> str:
    import rlp

    return transaction_hash(b"\x03" + rlp.encode(items))


def _receiver(digits: bytes) -> str:
    if not digits:
        return ""
    if len(digits) != 20:
        raise TransactionRefused("to", tr("The recipient of this transaction is not an address."))
    return checksum_address(digits)


def _legacy_chain(v: int) -> int | None:
    """EIP-155: v is 35 or 36 more than twice the chain; 27 and 28 name no chain."""
    return (v - 35) // 2 if v >= 35 else None


def _sender(raw: bytes) -> str:
    """Whose signature it is. Raises `TransactionRefused` when it is nobody's."""
    load_eth_account()
    from eth_account import Account

    try:
        return str(Account.recover_transaction(raw))
    except Exception as error:  # the library raises a dozen kinds, from ValueError to those of its curve
        raise TransactionRefused("signature", tr("The signature of this transaction is not valid.")) from error
