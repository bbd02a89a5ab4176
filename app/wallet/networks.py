"""The networks and tokens that this program knows by itself. What is not in here is not signed.

Source: the service's specification (payments run on one EVM chain and one other mainnet), the token issuer's list of
contracts, CAIP-2 for the names.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.wallet.addresses import Chain

EVM_CHAIN_ID = 8453
SOLANA_REFERENCE = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_NETWORK = f"solana:{SOLANA_REFERENCE}"


@dataclass(frozen=True, slots=True)
class Token:
    """A token that may be paid with. `name` and `version` are those of its contract's EIP-712 domain.

    `aliases` are older names of the network, for the protocol's first version. `test_money`: worth nothing, and the
    window says so. Tokens on Solana have neither a chain's number nor such a domain.
    """

    network: str  # CAIP-2: "eip155:8453"
    address: str  # checksummed; on Solana the mint
    symbol: str
    network_name: str
    chain_id: int = 0
    name: str = ""
    version: str = ""
    decimals: int = 6
    aliases: tuple[str, ...] = ()
    test_money: bool = False

    @property
    def chain(self) -> Chain:
        """The kind of key that pays with it."""
        return "evm" if self.chain_id else "solana"

    def on(self, network: str) -> bool:
        return network == self.network or network in self.aliases


USDC_ON_BASE = Token(
    network=f"eip155:{EVM_CHAIN_ID}",
    chain_id=EVM_CHAIN_ID,
    address="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    symbol="USDC",
    name="USD Coin",
    version="2",
    network_name="Base",
    aliases=("base",),
)
USDC_ON_SOLANA = Token(
    network=SOLANA_NETWORK,
    address="EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    symbol="USDC",
    network_name="Solana",
    aliases=("solana",),
)
KNOWN_TOKENS: tuple[Token, ...] = (USDC_ON_BASE, USDC_ON_SOLANA)
# The Sandbox's tokens are named like the real ones and have addresses that no chain knows: what is signed for them is
# worthless everywhere else. Only for accounts that are the Sandbox; no other service may be paid with them.
PLAY_MONEY = Token(
    network=f"eip155:{EVM_CHAIN_ID}",
    chain_id=EVM_CHAIN_ID,
    address="0xA434427E4FE827775149d3A2212c83ec6Fb83033",
    symbol="USDC",
    name="USD Coin",
    version="2",
    network_name="Sandbox",
    aliases=("base",),
    test_money=True,
)
PLAY_MONEY_ON_SOLANA = Token(
    network=SOLANA_NETWORK,
    address="3rTEoPu4A2YhRTnS1gjoHEpJPuF13wfKinvGfLozYmPY",
    symbol="USDC",
    network_name="Sandbox (Solana)",
    aliases=("solana",),
    test_money=True,
)
SANDBOX_TOKENS: tuple[Token, ...] = (PLAY_MONEY, PLAY_MONEY_ON_SOLANA)


def tokens_of(chain: Chain, *, is_sandbox: bool) -> tuple[Token, ...]:
    """Return what a wallet of this kind of chain may pay with."""
    return tuple(each for each in (SANDBOX_TOKENS if is_sandbox else KNOWN_TOKENS) if each.chain == chain)


def sign_in_chain_id(chain: Chain) -> str:
    """The chain as a sign-in message names it: the bare number, or the bare reference of the other chain."""
    return str(EVM_CHAIN_ID) if chain == "evm" else SOLANA_REFERENCE
