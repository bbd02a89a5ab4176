"""What a wallet holds of the token that it pays with, looked up before anything is signed.

In the Sandbox that is free, and its faucet gives more. Anywhere else it is one call to the chain through the service,
which costs a little, so it is made only when somebody asks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.service.rpc_methods import estimate
from app.service.sandbox_controls import SandboxControls
from app.wallet.networks import USDC_ON_BASE, USDC_ON_SOLANA
from app.wallet.solana_transfer import token_account

if TYPE_CHECKING:
    from app.service.service import Service
    from app.wallet.networks import Token

GIFT_USD = Decimal(100)
# How the service's proxy names a network.
RPC_NETWORKS = {USDC_ON_BASE.network: "base-mainnet", USDC_ON_SOLANA.network: "solana-mainnet"}
BALANCE_OF = "0x70a08231"  # the first bytes of the hash of balanceOf(address)
AUTHORIZATION_STATE = "0xe94a0102"  # of authorizationState(address,bytes32), EIP-3009
WORD_BYTES = 32
HELD_ON_SOLANA, SIGNED_ON_SOLANA = "getTokenAccountBalance", "getSignaturesForAddress"
MAX_SIGNATURES = 1000  # as many as nodes return at once


class SandboxHoldings:
    """Wallets of the Sandbox that runs now. `running`: its address and key, None while none runs."""

    def __init__(self, running: Callable[[], tuple[str, str] | None]) -> None:
        self._running = running

    async def held(self, address: str, *, gift_usd: Decimal | None = None) -> Decimal | None:
        """Return what a wallet holds in USDC, after a gift where one is named; None while no Sandbox runs.

        Raises `ServiceError`.
        """
        where = self._running()
        if where is None:
            return None
        controls = SandboxControls(*where)
        try:
            return await (controls.held(address) if gift_usd is None else controls.give(address, gift_usd))
        finally:
            await controls.aclose()


def price_of_asking(token: Token) -> Decimal | None:
    """What one question to the token's contract costs in USD; None for a chain that the service's proxy is not known
    to have.
    """
    network = RPC_NETWORKS.get(token.network)
    if network is None:
        return None
    methods = ("eth_call",) if token.chain == "evm" else (HELD_ON_SOLANA, SIGNED_ON_SOLANA)
    return max(estimate(network, (each,)).high_usd for each in methods)


async def held_on_chain(service: Service, token: Token, address: str) -> Decimal | None:
    """Ask the token's contract through the service; None for an answer that is no amount. Raises `ServiceError`."""
    if token.chain == "solana":
        return await _held_on_solana(service, token, address)
    call = {"to": token.address, "data": f"{BALANCE_OF}{address.removeprefix('0x').lower():0>64}"}
    answer = await service.crypto_rpc.call(RPC_NETWORKS[token.network], "eth_call", [call, "latest"])
    told = answer.outcome.result
    try:
        units = int(told, 16) if isinstance(told, str) and len(told) == 2 + 2 * WORD_BYTES else None
    except ValueError:
        units = None
    return Decimal(units).scaleb(-token.decimals) if units is not None else None


async def used_on_chain(service: Service, token: Token, address: str, nonce: str) -> bool | None:
    """Whether a signed payment was carried out, by the token's contract; `nonce` is `0x` and 64 hexadecimal digits.

    None for an answer that is neither yes nor no. Raises `ServiceError`.
    """
    words = f"{address.removeprefix('0x').lower():0>64}{nonce.removeprefix('0x').lower():0>64}"
    call = {"to": token.address, "data": f"{AUTHORIZATION_STATE}{words}"}
    answer = await service.crypto_rpc.call(RPC_NETWORKS[token.network], "eth_call", [call, "latest"])
    told = answer.outcome.result
    yes_or_no = {f"0x{0:064x}": False, f"0x{1:064x}": True}
    return yes_or_no.get(told) if isinstance(told, str) else None


async def _held_on_solana(service: Service, token: Token, address: str) -> Decimal | None:
    account = await asyncio.to_thread(token_account, address, token.address)
    outcome = (await service.crypto_rpc.call(RPC_NETWORKS[token.network], HELD_ON_SOLANA, [account])).outcome
    value = outcome.result.get("value") if isinstance(outcome.result, Mapping) else None
    units = value.get("amount") if isinstance(value, Mapping) else None
    is_number = isinstance(units, str) and units.isascii() and units.isdecimal() and len(units) <= 20  # 64 bits
    return Decimal(units).scaleb(-token.decimals) if is_number and isinstance(units, str) else None


async def paid_on_solana(service: Service, token: Token, address: str, memo: str, since: datetime) -> bool | None:
    """Whether a transfer with a memo of its own left the wallet's token account since then, by a node.

    None where the answer does not reach back so far. Raises `ServiceError`.
    """
    account = await asyncio.to_thread(token_account, address, token.address)
    params = [account, {"limit": MAX_SIGNATURES}]
    listed = (await service.crypto_rpc.call(RPC_NETWORKS[token.network], SIGNED_ON_SOLANA, params)).outcome.result
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        return None
    if any(each.get("memo") == f"[{len(memo)}] {memo}" and each.get("err", "?") is None for each in listed):
        return True
    times = [each.get("blockTime") for each in listed]
    reaches_back = len(listed) < MAX_SIGNATURES or any(
        isinstance(at, int) and 0 < at < since.timestamp() for at in times
    )
    return False if reaches_back else None
