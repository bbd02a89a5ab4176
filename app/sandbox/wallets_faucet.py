"""The faucet wallet: everybody's wallet, full of play money, so that a newcomer can top up at once.

Its key is published here and printed at the start: the Keccak hash of a text. Whoever sends real money to its address
loses it.
"""

from __future__ import annotations

from decimal import Decimal

FAUCET_KEY = "0x6e2617fcdf92426432c55bc050f5b6c3247a57f8be11130039e4929885e28fee"
FAUCET_ADDRESS = "0x7B13257448440a5274826E577D1dcE8EFc8E353E"
FAUCET_FUNDS_USD = Decimal(1_000_000)
GIFT_USD = Decimal(100)  # what `POST /sandbox/faucet` gives when no amount is named
LARGEST_GIFT_USD = Decimal(10_000)


def notice() -> str:
    """The line printed by `python -m app.sandbox`."""
    return f"Play-money wallet {FAUCET_ADDRESS}, {FAUCET_FUNDS_USD:,} USDC, everybody's key {FAUCET_KEY}"
