"""What a wallet holds of the token that it pays with, looked up before anything is signed.

In the Sandbox that is free, and its faucet gives more. Anywhere else it is one call to the chain through the service,
which costs a little, so it is made only when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from app.service.rpc_methods import estimate
from app.service.sandbox_controls import SandboxControls
from app.wallet.networks import USDC_ON_BASE

if TYPE_CHECKING:
    from app.service.service import Service
    from app.wallet.networks import Token

GIFT_USD = Decimal(100)
RPC_NETWORKS = {USDC_ON_BASE.network: "base-mainnet"}  # how the service's proxy names it
BALANCE_OF = "0x70a08231"  # the first bytes of the hash of balanceOf(address)
AUTHORIZATION_STATE = "0xe94a0102"  # of authorizationState(address,bytes32), EIP-3009
WORD_BYTES = 32


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
    return estimate(network, ("eth_call",)).high_usd if network is not None else None


async def held_on_chain(service: Service, token: Token, address: str) -> Decimal | None:
    """Ask the token's contract through the service; None for an answer that is no amount. Raises `ServiceError`."""
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
