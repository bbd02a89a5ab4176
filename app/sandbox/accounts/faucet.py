"""The faucet wallet: everybody's wallet, full of play money, so that a newcomer can top up at once.

Its key is published here and printed at the start: the hash of a text. It is the first of the accounts with play money
on the Sandbox's chains, too. Whoever sends real money to its address loses it.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal

FAUCET_KEY = "0x" + hashlib.sha256(b"Rialto Sandbox test account: faucet").hexdigest()
FAUCET_ADDRESS = "0x32039A48f9599f57eCee4dCced9c86A746Efe1dd"
FAUCET_FUNDS_USD = Decimal(1_000_000_000)
GIFT_USD = Decimal(100)  # what `POST /sandbox/faucet` gives when no amount is named
LARGEST_GIFT_USD = Decimal(10_000)
GIFT_ETHER, LARGEST_GIFT_ETHER = Decimal(1), Decimal(100)  # for the gas of what a wallet does on the chain


def notice() -> str:
    """The line printed by `python -m app.sandbox`."""
    return f"Play-money wallet {FAUCET_ADDRESS}, {FAUCET_FUNDS_USD:,} USDC, everybody’s key {FAUCET_KEY}"
