"""A wallet's sign-in header, from its base64 to the wallet that signed it. Each way to fail has its own code.

Source: wire reference, "Sign-in header" and "Sign-in failures" (R-AUTH-03 to 08).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.sandbox.accounts import signatures
from app.sandbox.accounts.sign_in_codes import SignInRefused
from app.sandbox.accounts.sign_in_message import SignInMessage, message_of_fields, read_message
from app.sandbox.accounts.wallet_address import Chain, Wallet, from_base58, read_wallet
from app.sandbox.http.validation import read_json

HEADERS = ("sign-in-with-x", "x-sign-in-with-x")  # the canonical one first: it counts when both are sent
EVM_CHAIN_ID = 8453
SOLANA_REFERENCE = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
MAX_AGE = timedelta(minutes=5)
MAX_AHEAD = timedelta(seconds=30)  # of Issued At before our clock, and of `timestamp` around Issued At
REMEMBERED_S = 330.0  # nonces: longer than a header can be used
ED25519_SIGNATURE_BYTES = 64


@dataclass(frozen=True, slots=True)
class SignIn:
    """One header's content. Nothing about it has been verified yet but its form."""

    wallet: Wallet
    text: str
    message: SignInMessage
    signature: bytes
    sent_at_ms: float | None  # the header's own `timestamp`


def read_sign_in(header: str) -> SignIn:
    """Decode one header value. Raises `SignInRefused`."""
    fields = _fields(header)
    wallet = read_wallet(fields.get("address"))
    if wallet is None:
        raise SignInRefused("INVALID_WALLET", "address is not a wallet address")
    chain_id = _chain_id(fields, wallet.chain)
    text = fields.get("message")
    if text is None:
        text = message_of_fields(fields, wallet.address, wallet.chain, chain_id or "")
    if not isinstance(text, str):
        raise SignInRefused("INVALID_PAYLOAD", "message must be a string")
    message = read_message(text)
    _check_wallet(wallet, message)
    _check_chain(chain_id, message)
    kind = fields.get("type")
    if kind not in (("ed25519",) if wallet.chain == "solana" else (None, "eip191")):
        raise SignInRefused("INVALID_PAYLOAD", "type does not match this kind of wallet")
    sent_at_ms = fields.get("timestamp")
    if sent_at_ms is not None and (isinstance(sent_at_ms, bool) or not isinstance(sent_at_ms, int | float)):
        raise SignInRefused("INVALID_PAYLOAD", "timestamp must be Unix milliseconds")
    return SignIn(wallet, text, message, _signature(fields.get("signature"), wallet.chain), sent_at_ms)


def check_sign_in(sign_in: SignIn, domains: Collection[str], now: datetime) -> None:
    """Check domain and times against ours. Raises `SignInRefused`."""
    message = sign_in.message
    if message.domain not in domains:
        raise SignInRefused("DOMAIN_MISMATCH", f"The message signs in to {message.domain}, which is not this server")
    issued_at = message.issued_at
    if sign_in.sent_at_ms is not None:
        apart_ms = abs(sign_in.sent_at_ms - round(issued_at.timestamp() * 1000))
        if not apart_ms <= MAX_AHEAD.total_seconds() * 1000:
            raise SignInRefused("TIMESTAMP_MISMATCH", "timestamp is more than 30 s away from Issued At")
    if issued_at - now > MAX_AHEAD:
        raise SignInRefused("FUTURE_TIMESTAMP", "The message was issued more than 30 s in the future")
    if now - issued_at > MAX_AGE or (message.expires_at is not None and now >= message.expires_at):
        raise SignInRefused("EXPIRED", "The sign-in has expired; sign a new one")
    if message.not_before is not None and now < message.not_before:
        raise SignInRefused("NOT_BEFORE", "The sign-in is not valid yet")


def check_signature(sign_in: SignIn) -> None:
    """Recover the signer and compare. Call from a worker thread. Raises `SignInRefused`."""
    wallet = sign_in.wallet
    if wallet.chain == "evm":
        right = signatures.signer_of_text(sign_in.text, sign_in.signature) == wallet.address
    else:
        public_key = from_base58(wallet.address) or b""
        right = signatures.ed25519_signed(public_key, sign_in.text.encode(), sign_in.signature)
    if not right:
        raise SignInRefused("INVALID_SIGNATURE", "The message was not signed by this wallet")


class Nonces:
    """Which nonce each wallet has used in the last 5.5 minutes."""

    def __init__(self, used: MutableMapping[str, float] | None = None) -> None:
        """`used`: what is remembered, oldest first."""
        self._used: MutableMapping[str, float] = {} if used is None else used

    def use(self, address: str, nonce: str, now: float) -> None:
        """Raises `SignInRefused` when this wallet has used this nonce before. `now`: Unix seconds."""
        while self._used:
            first = next(iter(self._used))
            if now - self._used[first] < REMEMBERED_S:
                break
            del self._used[first]
        name = f"{address} {nonce}"
        if name in self._used:
            raise SignInRefused("NONCE_REUSED", "This sign-in was used before; sign a new one for every request")
        self._used[name] = now


def _fields(header: str) -> Mapping[str, object]:
    try:
        fields = read_json(base64.b64decode(header.encode("ascii"), validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise SignInRefused("INVALID_PAYLOAD", "The header is not base64 of JSON") from None
    if not isinstance(fields, dict):
        raise SignInRefused("INVALID_PAYLOAD", "The header's JSON is not an object")
    return fields


def _chain_id(fields: Mapping[str, object], chain: Chain) -> str | None:
    """Return `8453` or the other chain's reference, whichever form it came in; None when it was left out."""
    value = fields.get("chainId")
    if value is None:
        return None
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    reference = text.removeprefix("eip155:" if chain == "evm" else "solana:")
    if not re.fullmatch(r"[0-9]+" if chain == "evm" else r"[1-9A-HJ-NP-Za-km-z]{1,64}", reference):
        raise SignInRefused("INVALID_CHAIN_ID", "chainId does not name a chain of this kind of wallet")
    return reference


def _check_wallet(wallet: Wallet, message: SignInMessage) -> None:
    signed = read_wallet(message.address)
    if signed is None or signed.chain != message.chain:
        raise SignInRefused("INVALID_WALLET", "The message names no wallet of its kind")
    if signed != wallet:
        raise SignInRefused("ADDRESS_MISMATCH", "The message is for a wallet other than address")
    if signed.address != message.address:
        raise SignInRefused("INVALID_WALLET", "The address in the message is not in its EIP-55 form")


def _check_chain(chain_id: str | None, message: SignInMessage) -> None:
    evm = message.chain == "evm"
    if evm and not re.fullmatch(r"[0-9]+", message.chain_id):
        raise SignInRefused("INVALID_CHAIN_ID", "Chain ID is not a bare number")
    if chain_id is not None and chain_id != message.chain_id:
        raise SignInRefused("CHAIN_MISMATCH", "chainId is not the Chain ID of the message")
    if message.chain_id != (str(EVM_CHAIN_ID) if evm else SOLANA_REFERENCE):
        raise SignInRefused("UNSUPPORTED_CHAIN", f"Wallets sign in on chain {EVM_CHAIN_ID} or {SOLANA_REFERENCE}")


def _signature(value: object, chain: Chain) -> bytes:
    """Return the bytes. Raises INVALID_PAYLOAD for no text, INVALID_SIGNATURE for what cannot be a signature."""
    if not isinstance(value, str):
        raise SignInRefused("INVALID_PAYLOAD", "signature must be a string")
    if chain == "evm":
        if not re.fullmatch(r"0x[0-9a-fA-F]{130}", value):
            raise SignInRefused("INVALID_SIGNATURE", "The signature is not 0x and 130 hexadecimal digits")
        return bytes.fromhex(value[2:])
    raw = from_base58(value)
    if raw is None or len(raw) != ED25519_SIGNATURE_BYTES:
        try:
            raw = base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error):
            raw = b""
    if len(raw) != ED25519_SIGNATURE_BYTES:
        raise SignInRefused("INVALID_SIGNATURE", "The signature is not 64 bytes in base58 or base64")
    return raw
