"""Wallets for tests, made with eth_account and cryptography alone: they share no code with either side.

The keys are one repeated byte. Nobody may ever send money to their addresses.
"""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from app.sandbox.accounts.wallet_address import to_base58
from app.sandbox.accounts.x402_terms import EVM_RECEIVER, PLAY_ASSET
from tests.sandbox.support import NOON, Client

SOLANA_REFERENCE = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
TRANSFER = [
    {"name": name, "type": kind}
    for name, kind in (
        ("from", "address"),
        ("to", "address"),
        ("value", "uint256"),
        ("validAfter", "uint256"),
        ("validBefore", "uint256"),
        ("nonce", "bytes32"),
    )
]


def stamp(moment: float | datetime) -> str:
    at = moment if isinstance(moment, datetime) else datetime.fromtimestamp(moment, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def packed(value: object) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()


def unpacked(text: str) -> Any:
    return json.loads(base64.b64decode(text))


@dataclass
class EvmWallet:
    byte: int = 1
    origin: str = ""
    now: float = NOON

    @property
    def key(self) -> str:
        return "0x" + f"{self.byte:02x}" * 32

    @property
    def address(self) -> str:
        return str(Account.from_key(self.key).address)

    def text(self, **changes: Any) -> str:
        """Return a sign-in text. `changes` replace values; None takes the line away."""
        issued = datetime.fromtimestamp(self.now, UTC)
        values: dict[str, Any] = {
            "domain": self.origin.partition("://")[2],
            "address": self.address,
            "statement": "Sign in to the service",
            "URI": self.origin,
            "Version": "1",
            "Chain ID": "8453",
            "Nonce": secrets.token_hex(8),
            "Issued At": stamp(issued),
            "Expiration Time": stamp(issued + timedelta(minutes=4)),
        } | changes
        head = f"{values.pop('domain')} wants you to sign in with your Ethereum account:\n{values.pop('address')}\n\n"
        statement = values.pop("statement")
        lines = [f"{name}: {value}" for name, value in values.items() if value is not None]
        return head + (f"{statement}\n" if statement is not None else "") + "\n" + "\n".join(lines)

    def signed(self, text: str) -> str:
        return "0x" + bytes(Account.sign_message(encode_defunct(text=text), self.key).signature).hex()

    def payload(self, text: str | None = None, **fields: Any) -> dict[str, Any]:
        text = self.text() if text is None else text
        base = {"address": self.address, "message": text, "signature": self.signed(text), "chainId": 8453}
        return {name: value for name, value in {**base, **fields}.items() if value is not None}

    def header(self, text: str | None = None, **fields: Any) -> dict[str, str]:
        return {"X-Sign-In-With-X": packed(self.payload(text, **fields))}

    def authorization(self, **changes: Any) -> dict[str, str]:
        return {
            "from": self.address,
            "to": EVM_RECEIVER,
            "value": "5000000",
            "validAfter": str(int(self.now) - 600),
            "validBefore": str(int(self.now) + 300),
            "nonce": "0x" + secrets.token_hex(32),
        } | changes

    def pays(self, authorization: dict[str, str] | None = None, **domain: Any) -> dict[str, Any]:
        """Return the inner payload of a payment; `domain` changes what the signature is made under."""
        wire = authorization or self.authorization()
        message: dict[str, Any] = {name: wire[name] for name in ("from", "to")}
        message |= {name: int(wire[name]) for name in ("value", "validAfter", "validBefore")}
        message["nonce"] = bytes.fromhex(wire["nonce"][2:])
        whose = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": PLAY_ASSET} | domain
        document = encode_typed_data(whose, {"TransferWithAuthorization": TRANSFER}, message)
        signature = "0x" + bytes(Account.sign_message(document, self.key).signature).hex()
        return {"signature": signature, "authorization": wire}


@dataclass
class SolanaWallet:
    byte: int = 2
    origin: str = ""
    now: float = NOON
    key: Ed25519PrivateKey = field(init=False)

    def __post_init__(self) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([self.byte]) * 32)

    @property
    def address(self) -> str:
        return to_base58(self.key.public_key().public_bytes_raw())

    def header(self, text: str | None = None, *, as_base64: bool = False, **fields: Any) -> dict[str, str]:
        text = self.text() if text is None else text
        raw = self.key.sign(text.encode())
        signature = base64.b64encode(raw).decode() if as_base64 else to_base58(raw)
        base = {"address": self.address, "message": text, "signature": signature}
        more = {"chainId": f"solana:{SOLANA_REFERENCE}", "type": "ed25519"}
        content = {name: value for name, value in {**base, **more, **fields}.items() if value is not None}
        return {"SIGN-IN-WITH-X": packed(content)}

    def text(self, **changes: Any) -> str:
        domain = self.origin.partition("://")[2]
        lines = {
            "URI": self.origin,
            "Version": "1",
            "Chain ID": SOLANA_REFERENCE,
            "Nonce": secrets.token_hex(8),
            "Issued At": stamp(self.now),
        } | changes
        head = f"{domain} wants you to sign in with your Solana account:\n{self.address}\n\n"
        return head + "\n".join(f"{name}: {value}" for name, value in lines.items())


def v2(payload: dict[str, Any], **accepted: Any) -> str:
    """A payment of version 2, as a header value."""
    terms = {
        "scheme": "exact",
        "network": "eip155:8453",
        "amount": payload["authorization"]["value"],
        "asset": PLAY_ASSET.lower(),
        "payTo": EVM_RECEIVER,
        "maxTimeoutSeconds": 300,
        "extra": {"name": "USD Coin", "version": "2"},
    } | accepted
    return packed({"x402Version": 2, "accepted": terms, "payload": payload})


def flat(payload: dict[str, Any], version: int = 2, network: str = "eip155:8453") -> str:
    return packed({"x402Version": version, "scheme": "exact", "network": network, "payload": payload})


@dataclass
class WalletClient:
    """A Sandbox, a wallet, and an HTTP client without any credential of its own."""

    sandbox: Client
    http: httpx.Client
    wallet: EvmWallet

    def credit(self, usd: str, wallet: EvmWallet | SolanaWallet | None = None) -> None:
        address = (wallet or self.wallet).address
        self.sandbox.control(f"/wallets/{address}", {"usd": usd})

    def known(self, address: str | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self.sandbox.control(f"/wallets/{address or self.wallet.address}", method="GET")
        return found

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        headers = self.wallet.header() if headers is None else headers
        return self.http.get(self.sandbox.running.base_url + path, headers=headers)

    def chat(self, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        headers = self.wallet.header() if headers is None else headers
        messages = [{"role": "user", "content": "How do I stop an answer?"}]
        content = {"model": "rialto-handbook", "messages": messages, **body}
        return self.http.post(f"{self.sandbox.running.base_url}/chat/completions", json=content, headers=headers)

    def top_up(self, payment: str | None = None, name: str = "X-402-Payment", content: bytes = b"") -> httpx.Response:
        headers = {} if payment is None else {name: payment}
        return self.http.post(f"{self.sandbox.running.base_url}/x402/top-up", headers=headers, content=content)

    def fund(self, usd: str = "100") -> None:
        """Give the wallet play money on the token's ledger."""
        origin = self.sandbox.running.origin
        gift = {"address": self.wallet.address, "amount": usd}
        self.http.post(f"{origin}/sandbox/faucet", json=gift).raise_for_status()


def code(answer: httpx.Response, status: int = 400) -> str:
    """Return the code of a top-up's refusal, which stands in `error` (E9)."""
    body = answer.json()
    assert answer.status_code == status, answer.text
    assert {"error", "message"} <= set(body) and body["message"]
    return str(body["error"])
