"""Figures that everybody can compute again: keys made of one repeated byte, published vectors, fixed times.

Nobody may ever send money to an address of these keys.
"""

from __future__ import annotations

from datetime import UTC, datetime

from app.wallet.addresses import Chain
from app.wallet.keys import read_private_key
from app.wallet.networks import USDC_ON_BASE
from app.wallet.signer import Ed25519Signer, EthAccountSigner, PrivateKey
from app.wallet.typed_data import TransferAuthorization

KEY = "0x" + "01" * 32
ADDRESS = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
SEED = "02" * 32
SOLANA_ADDRESS = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu"
RECEIVER = "0x" + "22" * 20
NONCE_TEXT = "0123456789abcdef"
SIGNED_AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
PAID_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PHRASE = "test test test test test test test test test test test junk"

SIGN_IN_SIGNATURE = (
    "0xb86ef6fdccc2a24df1b2a173a58f64207a69fffce4409dbd3434a8d390c96efc"
    "106cb8f3e0aabf89e8012fd61a9d96400afbc8b7af15ac1fd8ac1cf640fd01a81c"
)
SIGN_IN_DIGEST = "e715d59b729b9c56da0e68e9c0ba28535759d4d8986247d30567cf0b9ee9854f"
SOLANA_SIGNATURE = "3WqNjxrWS2d9HiecrVdNLHpRwMKus9xdfE42ESpFCm59A2ETiBheznhzLHCRKY7XoWzC4X64JFLe25dur6akBA67"
PAYMENT_SIGNATURE = (
    "0xf1d65b707b9cda6edb73f6b80d6f33b9b4190cdcc8b1d98d11151cd31a69a3b2"
    "6703b6085d60140ee003b1d5f979fdb3d68bfee844b8c2c894b2411d0d7450851c"
)
DOMAIN_SEPARATOR = "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f"
STRUCT_HASH = "baac3c9f4d7aa0dd27f166bec608cc55fdcb621a4df70d3a45aa3bda784a559c"
PAYMENT_DIGEST = "aebdee08cf72db572c86bb7019300dbe7be6e2248b1ea422c9d2d1becb9f57da"
TERMS: dict[str, object] = {
    "scheme": "exact",
    "network": "eip155:8453",
    "amount": "5000000",
    "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "payTo": RECEIVER,
    "maxTimeoutSeconds": 300,
    "extra": {"name": "USD Coin", "version": "2"},
}
OLD_TERMS: dict[str, object] = {
    "scheme": "exact",
    "network": "base",
    "maxAmountRequired": "5000000",
    "resource": "https://service.test/api/v1/x402/top-up",
    "description": "Top up",
    "mimeType": "application/json",
    "payTo": RECEIVER,
    "maxTimeoutSeconds": 300,
    "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "extra": {"name": "USD Coin", "version": "2"},
}
AUTHORIZATION = TransferAuthorization(
    token_name="USD Coin",
    token_version="2",
    chain_id=8453,
    token=USDC_ON_BASE.address,
    sender=ADDRESS,
    receiver=RECEIVER,
    value=5_000_000,
    valid_after=1_767_322_445,
    valid_before=1_767_323_345,
    nonce=b"\xab" * 32,
)


def message_of(chain: Chain) -> str:
    """The sign-in message that the signatures above are of."""
    kind, address, chain_id = {
        "evm": ("Ethereum", ADDRESS, "8453"),
        "solana": ("Solana", SOLANA_ADDRESS, "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
    }[chain]
    return "\n".join(
        [
            f"api.venice.ai wants you to sign in with your {kind} account:",
            address,
            "",
            "Sign in to Venice AI",
            "",
            "URI: https://api.venice.ai",
            "Version: 1",
            f"Chain ID: {chain_id}",
            f"Nonce: {NONCE_TEXT}",
            "Issued At: 2026-01-02T03:04:05.678Z",
            "Expiration Time: 2026-01-02T03:08:05.678Z",
        ]
    )


class Store:
    """A key store that counts how often it is asked and keeps what it handed out, to see it wiped."""

    def __init__(self, text: str, chain: Chain) -> None:
        self.text = text
        self.chain: Chain = chain
        self.given: list[PrivateKey] = []

    async def __call__(self) -> PrivateKey:
        self.given.append(read_private_key(self.text, self.chain))
        return self.given[-1]


def evm_signer() -> EthAccountSigner:
    return EthAccountSigner(ADDRESS, Store(KEY, "evm"))


def solana_signer() -> Ed25519Signer:
    return Ed25519Signer(SOLANA_ADDRESS, Store(SEED, "solana"))
