"""One payment header, from its base64 to a payment that was verified to the last field.

Both rails, both protocol versions and the flat form are read.
Source: wire reference, "Payment payload"; EIP-3009, EIP-712.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.sandbox.accounts.signatures import signer_of_transfer
from app.sandbox.accounts.wallet_address import Wallet, checksummed
from app.sandbox.accounts.x402_solana import SolanaPayment, read_transfer
from app.sandbox.accounts.x402_terms import (
    DECIMALS,
    EVM_NAMES,
    EVM_NETWORK,
    MAXIMUM_USD,
    MINIMUM_USD,
    PAYMENT_WINDOW_S,
    SCHEME,
    SOLANA_FEE_PAYER,
    SOLANA_MINT,
    SOLANA_NAMES,
    SOLANA_RECEIVER,
    TOKEN_NAME,
    TOKEN_VERSION,
    Terms,
    refused,
    units,
)
from app.sandbox.http.errors import Json
from app.sandbox.http.validation import read_json

HEADERS = ("payment-signature", "x-402-payment", "x-payment")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_DIGITS = re.compile(r"0|[1-9][0-9]{0,77}")  # uint256 has at most 78 digits
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}")
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")


@dataclass(frozen=True, slots=True)
class Authorization:
    """An EIP-3009 transfer. `value` in base units, times in Unix seconds; addresses are checksummed."""

    sender: str
    receiver: str
    value: int
    valid_after: int
    valid_before: int
    nonce: bytes

    def message(self) -> Mapping[str, object]:
        return {
            "from": self.sender,
            "to": self.receiver,
            "value": self.value,
            "validAfter": self.valid_after,
            "validBefore": self.valid_before,
            "nonce": self.nonce,
        }


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment on the EVM rail."""

    version: int
    authorization: Authorization
    signature: bytes
    token: str

    @property
    def wallet(self) -> Wallet:
        return Wallet("evm", self.authorization.sender)

    @property
    def receiver(self) -> str:
        return self.authorization.receiver

    @property
    def value(self) -> int:
        return self.authorization.value

    @property
    def usd(self) -> Decimal:
        return Decimal(self.value).scaleb(-DECIMALS)

    @property
    def network(self) -> str:
        return EVM_NETWORK if self.version == 2 else "base"

    @property
    def key(self) -> str:
        return f"{self.authorization.sender} {self.authorization.nonce.hex()}"

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(repr((self.authorization, self.signature)).encode()).digest()

    def reference(self) -> str:
        return "0x" + hashlib.sha256(self.authorization.nonce + self.signature).hexdigest()

    def check_time(self, now: float) -> None:
        """As the token's contract does: after `validAfter`, before `validBefore`. Raises `HttpError` 400."""
        if now <= self.authorization.valid_after:
            raise refused("INVALID_PAYMENT", "The authorization is not valid yet")
        if now >= self.authorization.valid_before:
            raise refused(
                "INVALID_PAYMENT", "The authorization has expired; ask for the terms again and sign a new one"
            )

    def check_signature(self) -> None:
        """Recover the signer over the whole authorization. Call from a worker thread. Raises `HttpError` 400."""
        signer = signer_of_transfer(Terms(self.token).domain, self.authorization.message(), self.signature)
        if signer != self.authorization.sender:
            raise refused("INVALID_PAYMENT", "The authorization was not signed by its sender for this token and chain")


def read_payment(header: str, terms: Terms) -> Payment | SolanaPayment:
    """Decode a header and hold everything in it that is not the signature against the terms. Raises `HttpError` 400."""
    content = _object(_decoded(header), "The payment")
    version = content.get("x402Version")
    if version not in (1, 2) or isinstance(version, bool):
        raise refused("INVALID_PAYMENT_FORMAT", "x402Version must be 1 or 2")
    accepted = content.get("accepted")
    chosen = content if accepted is None else _object(accepted, "accepted")
    if chosen.get("scheme") != SCHEME:
        raise refused("UNSUPPORTED_SCHEME", f"The scheme must be {SCHEME}")
    network = str(chosen.get("network"))
    if network not in EVM_NAMES | SOLANA_NAMES:
        raise refused("UNSUPPORTED_NETWORK", "The network was not offered")
    payload = _object(content.get("payload"), "payload")
    if network in SOLANA_NAMES:
        transfer = read_transfer(int(version), payload.get("transaction"))
        if accepted is not None:
            offered = {"feePayer": SOLANA_FEE_PAYER}
            _check_accepted(chosen, transfer.value, SOLANA_MINT, SOLANA_RECEIVER, offered, is_evm=False)
        return transfer
    authorization = _authorization(_object(payload.get("authorization"), "payload.authorization"))
    signature = _matching(_SIGNATURE, payload, "signature", "0x and 130 hexadecimal digits")
    if accepted is not None:
        offered = {"name": TOKEN_NAME, "version": TOKEN_VERSION}
        _check_accepted(chosen, authorization.value, terms.token, terms.receiver, offered, is_evm=True)
    _check_authorization(authorization, terms)
    return Payment(int(version), authorization, bytes.fromhex(signature[2:]), terms.token)


def _decoded(header: str) -> object:
    try:
        return read_json(base64.b64decode(header.encode("ascii"), validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise refused("INVALID_PAYMENT_FORMAT", "The payment header is not base64 of JSON") from None


def _object(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise refused("INVALID_PAYMENT_FORMAT", f"{what} must be an object")
    return value


def _matching(pattern: re.Pattern[str], fields: Mapping[str, object], name: str, form: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise refused("INVALID_PAYMENT_FORMAT", f"{name} must be {form}")
    return value


def _authorization(fields: Json) -> Authorization:
    sender, receiver = fields.get("from"), fields.get("to")
    if not isinstance(sender, str) or not _ADDRESS.fullmatch(sender):
        raise refused("INVALID_PAYMENT_PAYER", "from is not an address")
    if not isinstance(receiver, str) or not _ADDRESS.fullmatch(receiver):
        raise refused("INVALID_PAYMENT_RECIPIENT", "to is not an address")
    whole = "a whole number in decimal digits, as text"
    numbers = [int(_matching(_DIGITS, fields, name, whole)) for name in ("value", "validAfter", "validBefore")]
    if max(numbers) >= 2**256:
        raise refused("INVALID_PAYMENT_FORMAT", "A number does not fit into 256 bits")
    nonce = bytes.fromhex(_matching(_NONCE, fields, "nonce", "0x and 64 hexadecimal digits")[2:])
    return Authorization(checksummed(sender), checksummed(receiver), numbers[0], numbers[1], numbers[2], nonce)


def _check_accepted(
    chosen: Json, value: int, token: str, receiver: str, offered: Mapping[str, str], *, is_evm: bool
) -> None:
    """The repeated terms must be those that were offered; the amount may be raised, and then in both places."""
    if not _same(chosen.get("asset"), token, is_evm):
        raise refused("UNSUPPORTED_TOKEN", "accepted.asset is not the token that was offered")
    if not _same(chosen.get("payTo"), receiver, is_evm):
        raise refused("INVALID_PAYMENT_RECIPIENT", "accepted.payTo is not the receiver that was offered")
    amount = _matching(_DIGITS, chosen, "amount", "a whole number in decimal digits, as text")
    if int(amount) not in (units(MINIMUM_USD), value):
        raise refused("INVALID_AMOUNT", "accepted.amount is neither what was offered nor what was signed")
    extra = chosen.get("extra")
    if not isinstance(extra, dict) or any(extra.get(name) != each for name, each in offered.items()):
        raise refused("INVALID_PAYMENT", "accepted.extra is not what was offered")
    if chosen.get("maxTimeoutSeconds") != PAYMENT_WINDOW_S:
        raise refused("INVALID_PAYMENT", "accepted.maxTimeoutSeconds is not what was offered")


def _check_authorization(authorization: Authorization, terms: Terms) -> None:
    if authorization.receiver != terms.receiver:
        raise refused("INVALID_PAYMENT_RECIPIENT", "The authorization pays another address")
    if int(authorization.sender, 16) == 0 or authorization.sender == authorization.receiver:
        raise refused("INVALID_PAYMENT_PAYER", "This sender cannot pay")
    if authorization.value < units(MINIMUM_USD):
        raise refused("AMOUNT_TOO_LOW", f"The smallest top-up is {MINIMUM_USD} USD")
    if authorization.value > units(MAXIMUM_USD):
        raise refused("AMOUNT_TOO_HIGH", f"The largest top-up is {MAXIMUM_USD} USD")


def _same(value: object, address: str, is_evm: bool) -> bool:
    """Only addresses of the EVM rail may differ in case."""
    return value == address or (is_evm and isinstance(value, str) and value.lower() == address.lower())
