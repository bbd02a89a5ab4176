"""Networks as people call them: a title for each slug, and the groups of the picker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.service.rpc_methods import Family, call_credits, family_of

_WORDS = {"bsc": "BNB Chain", "zksync": "zkSync Era"}
_TEST_WORDS = ("testnet", "sepolia", "holesky", "fuji", "amoy", "devnet", "goerli", "hoodi")
FAMILY_TITLES: Mapping[Family, str] = {"evm": "EVM", "starknet": "Starknet", "solana": "Solana"}
# Native coins, for reading values; every other EVM network counts in ether.
_COINS = {"polygon": "POL", "bsc": "BNB", "avalanche": "AVAX"}


@dataclass(frozen=True, slots=True)
class NetworkRow:
    """One network of the picker. `credits` is what a standard call costs there; `chain_id` None where none is known."""

    slug: str
    title: str
    group: str
    family: Family
    credits: int
    chain_id: int | None = None
    coin: str = "ether"
    is_favourite: bool = False
    is_current: bool = False


def network_title(slug: str) -> str:
    """`base-mainnet` is "Base mainnet"; what is unknown reads like its slug."""
    chain, _, kind = slug.partition("-")
    name = _WORDS.get(chain, chain.capitalize())
    return f"{name} {kind.replace('-', ' ')}".strip()


def is_test_network(slug: str) -> bool:
    return any(word in slug for word in _TEST_WORDS)


def network_rows(
    slugs: Iterable[str], chain_ids: Mapping[str, int | None], favourites: Iterable[str], current: str
) -> tuple[NetworkRow, ...]:
    """The networks in the order of the picker: favourites, then by family, main networks before test networks."""
    starred = frozenset(favourites)
    rows = []
    for slug in slugs:
        family = family_of(slug)
        kind = "test networks" if is_test_network(slug) else "networks"
        group = "Favourites" if slug in starred else f"{FAMILY_TITLES[family]} {kind}"
        rows.append(
            NetworkRow(
                slug,
                network_title(slug),
                group,
                family,
                call_credits(slug, "eth_call"),
                chain_ids.get(slug),
                coin_of(slug),
                slug in starred,
                slug == current,
            )
        )
    order = {"Favourites": 0}
    for place, family_title in enumerate(FAMILY_TITLES.values()):
        order[f"{family_title} networks"] = 1 + 2 * place
        order[f"{family_title} test networks"] = 2 + 2 * place
    return tuple(sorted(rows, key=lambda row: (order[row.group], row.title)))


def coin_of(slug: str) -> str:
    """What the network's values are counted in."""
    return _COINS.get(slug.partition("-")[0], "ether")
