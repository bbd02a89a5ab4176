"""What the top-up shows, made of what the wallet and the service say. Loads nothing heavy.

A module of its own: the payment reads from top to bottom without the rows that it shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from app.core.money import money
from app.translation import tr, tr_n
from app.ui.wallet.session.pending_top_ups import as_money
from app.ui.wallet.top_up_state import SheetRow, WayToPay
from app.wallet.networks import KNOWN_TOKENS

if TYPE_CHECKING:
    from app.service.chat_types import RetryWait
    from app.service.x402 import Settlement
    from app.wallet.payment import PreparedPayment
    from app.wallet.payment_sheet import SignedField
    from app.wallet.payment_terms import OtherOption, PaymentOption

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
        network=(
            tr("{network_name}, chain {chain_id}", network_name=token.network_name, chain_id=str(token.chain_id))
            if token.chain_id
            else token.network_name
        ),
        token=tr("{symbol} (play money)", symbol=token.symbol) if token.test_money else token.symbol,
        receiver=option.receiver,
        least_usd=as_money(option.least_units, token.decimals),
    )


def other_way(option: OtherOption) -> WayToPay:
    known = next((each for each in KNOWN_TOKENS if each.on(option.network)), None)
    network = option.network
    if known is not None:
        network = tr("{token} on {network}", token=known.symbol, network=known.network_name)
    return WayToPay(network=network, token="", receiver="", least_usd=None, reason=option.sentence)


def sheet_rows(fields: Iterable[SignedField]) -> tuple[SheetRow, ...]:
    return tuple(SheetRow(each.group, each.name, each.value, each.reading) for each in fields)


def review_checks(prepared: PreparedPayment, now: datetime, ends: datetime) -> tuple[str, ...]:
    """What was compared before the review is shown, a sentence each."""
    token = prepared.token
    minutes = max(1, round((ends - now).total_seconds() / 60))
    if prepared.option.solana is None:
        own = (
            tr("The chain is {chain_id} in both places", chain_id=str(token.chain_id)),
            tr_n("The permission expires in {n} minute", "The permission expires in {n} minutes", minutes),
        )
    else:
        own = (
            tr("The transaction moves this token once and does nothing else"),
            tr_n(
                "Once signed, it expires in about {n} minute", "Once signed, it expires in about {n} minutes", minutes
            ),
        )
    return (
        tr("The amount is the {amount} you chose", amount=money(prepared.amount_usd)),
        tr("The recipient is the one the service just named"),
        tr(
            "The token is {symbol} on {network_name}, at the known address",
            symbol=token.symbol,
            network_name=token.network_name,
        ),
        *own,
        tr("The terms contain no hidden fields"),
    )


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
