"""The block that a payment on Solana names, where the payment terms name none.

The account's own service is asked first, if its proxy has the chain. It charges for that, and a wallet that needs a
top-up may have nothing left; then a node is asked that the person names.
A module of its own: the payment reads from top to bottom without it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from app.service.errors import ServiceError
from app.service.x402 import NEWEST_BLOCK, newest_block_of
from app.translation import tr
from app.wallet.errors import PaymentRefused
from app.wallet.payment_terms import PaymentOption, with_block

if TYPE_CHECKING:
    from app.service.service import Service

NETWORK = "solana-mainnet"  # how the service's proxy names it
NO_BLOCK = "no_block"


async def with_newest_block(service: Service, option: PaymentOption, node: str) -> PaymentOption:
    """Return the option with a block, unchanged if it has one. `node`: an address, "" for none.

    Raises `PaymentRefused`, with the code "no_block" where a node is wanted.
    """
    if option.solana is None or option.solana.blockhash:
        return option
    block = None
    with suppress(ServiceError):
        if NETWORK in await service.crypto_rpc.networks():
            answer = await service.crypto_rpc.call(NETWORK, NEWEST_BLOCK)
            block = newest_block_of(answer.outcome.result)
    reason = tr("The service does not name a recent block of Solana. Enter the address of a Solana node.")
    if block is None and node:
        try:
            block = await service.x402.newest_block(node)
        except ServiceError as error:
            reason = tr("The Solana node cannot be used. {reason}", reason=str(error))
    if block is None:
        raise PaymentRefused(NO_BLOCK, reason, "extra.recentBlockhash")
    return with_block(option, block)
