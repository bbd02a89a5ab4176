"""What the top-up shows, made of what the wallet and the service say. Loads nothing heavy.

A module of its own: the payment reads from top to bottom without the rows that it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.wallet.session.pending_top_ups import as_money
from app.ui.wallet.top_up_state import SheetRow, WayToPay
from app.wallet.networks import SOLANA_NAMES

if TYPE_CHECKING:
    from app.service.chat_types import RetryWait
    from app.service.x402 import Settlement
    from app.wallet.payment_terms import OtherOption, PaymentOption

DOMAIN_ROWS = ("name", "version", "chainId", "verifyingContract")
WAITS = {
    "rate_limit": tr("You have reached this minute’s limit for top-up requests."),
    "server": tr("The service is busy."),
    "connection": tr("The service could not be reached."),
    "held": tr("Many requests failed recently, so Rialto is waiting for a moment."),
}


def wait_words(wait: RetryWait) -> str:
    """Why the top-up waits before it asks once more."""
    return WAITS.get(wait.reason, tr("The service asked Rialto to wait."))


def way(option: PaymentOption) -> WayToPay:
    token = option.token
    return WayToPay(
        network=tr("{network_name}, chain {chain_id}", network_name=token.network_name, chain_id=str(token.chain_id)),
        token=tr("{symbol} (play money)", symbol=token.symbol) if token.test_money else token.symbol,
        receiver=option.receiver,
        least_usd=as_money(option.least_units, token.decimals),
    )


def other_way(option: OtherOption) -> WayToPay:
    network = tr("USDC on Solana") if option.network in SOLANA_NAMES else option.network
    return WayToPay(network=network, token="", receiver="", least_usd=None, reason=option.sentence)


def sheet_row(name: str, value: str, reading: str) -> SheetRow:
    group = "hash" if name.endswith("hash") else "domain" if name in DOMAIN_ROWS else "message"
    return SheetRow(group, name, value, reading)


def receipt_rows(settlement: Settlement) -> tuple[tuple[str, str], ...]:
    receipt = settlement.receipt
    rows = [(tr("Payment"), settlement.payment_id)]
    if receipt is not None:
        rows += [
            (tr("Network"), receipt.network),
            (tr("Payer"), receipt.payer),
            (tr("Transaction"), receipt.transaction),
        ]
    rows.append((tr("Request"), settlement.info.request_id))
    return tuple((name, value) for name, value in rows if value)
