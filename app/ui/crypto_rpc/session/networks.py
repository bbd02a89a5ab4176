"""Networks as people call them: a title for each slug, and the groups of the picker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.service.rpc_methods import Family, call_credits, family_of
from app.translation import tr

FAVORITES, USED_LATELY = tr("Favorites"), tr("Recently used")
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
    is_favorite: bool = False
    is_current: bool = False

    @property
    def chain(self) -> str:
        """The chain's id in words."""
        return tr("none") if self.chain_id is None else str(self.chain_id)


def network_title(slug: str) -> str:
    """`base-mainnet` is "Base mainnet"; what is unknown reads like its slug."""
    chain, _, kind = slug.partition("-")
    name = _WORDS.get(chain, chain.capitalize())
    return f"{name} {kind.replace('-', ' ')}".strip()


def is_test_network(slug: str) -> bool:
    return any(word in slug for word in _TEST_WORDS)


def group_title(family: Family, *, is_test: bool) -> str:
    title = FAMILY_TITLES[family]
    return tr("{family} test networks", family=title) if is_test else tr("{family} networks", family=title)


def network_rows(
    slugs: Iterable[str],
    chain_ids: Mapping[str, int | None],
    favourites: Iterable[str],
    current: str,
    used: Sequence[str] = (),
) -> tuple[NetworkRow, ...]:
    """The networks in the order of the picker: favorites, those used lately (the last one first), then by family,
    main networks before test networks."""
    starred = frozenset(favourites)
    rows = []
    for slug in slugs:
        family = family_of(slug)
        usual = USED_LATELY if slug in used else group_title(family, is_test=is_test_network(slug))
        group = FAVORITES if slug in starred else usual
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
    order = {FAVORITES: 0, USED_LATELY: 1}
    for family in FAMILY_TITLES:
        for is_test in (False, True):
            order[group_title(family, is_test=is_test)] = len(order)
    lately = {slug: place for place, slug in enumerate(used)}
    return tuple(
        sorted(rows, key=lambda row: (order[row.group], lately.get(row.slug, 0) * (order[row.group] == 1), row.title))
    )


def coin_of(slug: str) -> str:
    """What the network's values are counted in."""
    return _COINS.get(slug.partition("-")[0], "ether")
