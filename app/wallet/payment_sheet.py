"""The contents of a payment as text, for review before signing and for recovery after a crash.

Nothing here repeats what somebody meant: the sheet is read from the bytes that are hashed, the sent payment from the
header value that was sent.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from app.translation import tr
from app.wallet.addresses import read_evm_address
from app.wallet.errors import AddressRefused, PaymentRefused
from app.wallet.networks import Token
from app.wallet.payment import PreparedPayment, usd_of
from app.wallet.solana_transfer import (
    COMPUTE_UNITS,
    MICROLAMPORTS_PER_UNIT,
    TokenTransfer,
    read_message,
    token_account,
)
from app.wallet.typed_data import MAX_UINT256, TransferAuthorization, read_signed_words
from app.wallet.visible_text import make_visible

MAX_HEADER_CHARS = 16 * 1024

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,77}")
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}")
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")


Group = Literal["domain", "message", "transfer", "fee", "hash", "digest"]


@dataclass(frozen=True, slots=True)
class SignedField:
    """One field of what is signed: its name there, its exact value, and how to read it ("" where it says itself)."""

    name: str
    value: str
    reading: str = ""
    group: Group = "message"


def sign_sheet(prepared: PreparedPayment) -> tuple[SignedField, ...]:
    """Every field of the payment, then its hashes. Raises `PaymentRefused` if the bytes are not the payment."""
    words, token = prepared.authorization, prepared.token
    symbol, network = token.symbol, token.network_name
    known = (
        tr("{symbol} on {network_name} (test money)", symbol=symbol, network_name=network)
        if token.test_money
        else tr("{symbol} on {network_name}", symbol=symbol, network_name=network)
    )
    if isinstance(words, TokenTransfer):
        return _transfer_sheet(prepared, words, known)
    return _authorization_sheet(prepared, words, known)


def _authorization_sheet(
    prepared: PreparedPayment, authorization: TransferAuthorization, known: str
) -> tuple[SignedField, ...]:
    token = prepared.token
    words = read_signed_words(
        authorization.domain_bytes, authorization.struct_bytes, name=token.name, version=token.version
    )
    as_chosen = (
        words.chain_id == token.chain_id
        and words.token == token.address
        and words.sender == authorization.sender
        and words.receiver == prepared.option.receiver
        and usd_of(words.value, token.decimals) == prepared.amount_usd
    )
    if not as_chosen:
        raise _another_payment()
    return (
        SignedField("from", words.sender, tr("your wallet")),
        SignedField("to", words.receiver, tr("as the service stated it")),
        SignedField("value", str(words.value), _amount(words.value, token)),
        SignedField("validAfter", str(words.valid_after), _clock(words.valid_after)),
        SignedField("validBefore", str(words.valid_before), _clock(words.valid_before)),
        SignedField("nonce", "0x" + words.nonce.hex(), tr("used once")),
        SignedField("name", make_visible(token.name), group="domain"),
        SignedField("version", make_visible(token.version), group="domain"),
        SignedField("chainId", str(words.chain_id), token.network_name, "domain"),
        SignedField("verifyingContract", words.token, known, "domain"),
        SignedField(tr("domain hash"), "0x" + authorization.domain_separator.hex(), group="hash"),
        SignedField(tr("message hash"), "0x" + authorization.struct_hash.hex(), group="hash"),
        SignedField(tr("signing hash"), "0x" + authorization.digest.hex(), group="hash"),
    )


def _transfer_sheet(prepared: PreparedPayment, transfer: TokenTransfer, known: str) -> tuple[SignedField, ...]:
    token, option = prepared.token, prepared.option
    words = read_message(transfer.message)
    as_chosen = (
        (words.mint, words.decimals) == (token.address, token.decimals)
        and words.sender == transfer.sender
        and words.source == token_account(transfer.sender, token.address)
        and words.destination == token_account(option.receiver, token.address)
        and option.solana is not None
        and (words.fee_payer, words.blockhash) == (option.solana.fee_payer, option.solana.blockhash)
        and (words.compute_units, words.microlamports_per_unit) == (COMPUTE_UNITS, MICROLAMPORTS_PER_UNIT)
        and usd_of(words.value, token.decimals) == prepared.amount_usd
    )
    if not as_chosen:
        raise _another_payment()
    receiver = option.receiver
    return (
        SignedField("owner", words.sender, tr("your wallet"), "transfer"),
        SignedField("source", words.source, tr("your wallet’s token account"), "transfer"),
        SignedField(
            "destination",
            words.destination,
            tr("the token account of {receiver}, as the service stated it", receiver=receiver),
            "transfer",
        ),
        SignedField("amount", str(words.value), _amount(words.value, token), "transfer"),
        SignedField("decimals", str(words.decimals), group="transfer"),
        SignedField("mint", words.mint, known, "transfer"),
        SignedField("memo", make_visible(words.memo), tr("makes this payment different from any other"), "transfer"),
        SignedField("feePayer", words.fee_payer, tr("the service; it pays the network fee"), "fee"),
        SignedField("computeUnitLimit", str(words.compute_units), group="fee"),
        SignedField("computeUnitPrice", str(words.microlamports_per_unit), tr("millionths of a lamport"), "fee"),
        SignedField("recentBlockhash", words.blockhash, tr("replaced by the newest block when you sign"), "fee"),
        SignedField(tr("message hash"), "0x" + transfer.digest.hex(), "SHA-256", "digest"),
    )


@dataclass(frozen=True, slots=True)
class SentPayment:
    """A payment as its header value says it, to be found among the service's transactions or sent once more.

    `expires_at`: from then on no one can carry it out any more.
    """

    version: int
    network: str
    sender: str
    receiver: str
    value: int
    valid_after: int
    valid_before: int
    nonce: str
    signature: str

    @property
    def expires_at(self) -> datetime:
        return datetime.fromtimestamp(self.valid_before, UTC)

    def amount_usd(self, decimals: int = 6) -> Decimal:
        return usd_of(self.value, decimals)

    def __repr__(self) -> str:
        return f"SentPayment({self.value} from {self.sender} to {self.receiver}, nonce {self.nonce}, signature hidden)"


def read_payment(header_value: str) -> SentPayment:
    """Take a header value apart, whatever its form. Raises `PaymentRefused` for anything that is not a payment."""
    content: object = None
    if len(header_value) <= MAX_HEADER_CHARS:
        with suppress(ValueError, RecursionError):
            content = json.loads(base64.b64decode(header_value.encode("ascii"), validate=True), object_pairs_hook=_once)
    outer = _object(content)
    payload = _object(outer.get("payload"))
    authorization = _object(payload.get("authorization"))
    version = outer.get("x402Version")
    network = outer.get("network", _object(outer.get("accepted", {})).get("network"))
    if version not in (1, 2) or isinstance(version, bool) or not isinstance(version, int):
        raise _unreadable("x402Version")
    if not isinstance(network, str):
        raise _unreadable("network")
    valid_before = _number(authorization, "validBefore")
    if valid_before > 2**33:  # in the year 2242; no clock of ours goes there
        raise _unreadable("validBefore")
    return SentPayment(
        version=version,
        network=make_visible(network),
        sender=_address(authorization, "from"),
        receiver=_address(authorization, "to"),
        value=_number(authorization, "value"),
        valid_after=_number(authorization, "validAfter"),
        valid_before=valid_before,
        nonce=_matching(authorization, "nonce", _NONCE).lower(),
        signature=_matching(payload, "signature", _SIGNATURE).lower(),
    )


def _another_payment() -> PaymentRefused:
    return PaymentRefused("encoding", tr("The signed data does not match your choice."))


def _amount(units: int, token: Token) -> str:
    return f"{usd_of(units, token.decimals):f} {token.symbol}"


def _clock(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that has one name twice: two readers could see two payments in it."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _unreadable("")
    return value


def _number(content: Mapping[str, object], name: str) -> int:
    number = int(_matching(content, name, _DECIMAL))
    if number > MAX_UINT256:
        raise _unreadable(name)
    return number


def _address(content: Mapping[str, object], name: str) -> str:
    value = content.get(name)
    try:
        if isinstance(value, str):
            return read_evm_address(value)
    except AddressRefused:
        pass
    raise _unreadable(name)


def _matching(content: Mapping[str, object], name: str, pattern: re.Pattern[str]) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _unreadable(name)
    return value


def _unreadable(field: str) -> PaymentRefused:
    return PaymentRefused("unreadable", tr("This payment cannot be read."), field)
