"""Which methods the proxy passes on, and what each costs.

A module of its own: the proxy's price list, to be held beside the reference.

Credits of a call: the network's base times its tier. Large wins over advanced, advanced over standard, and within a
tier names win over patterns. Source: wire reference, R-RPC-17 to 29.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

MULTIPLIERS = {"large": 4, "advanced": 2, "standard": 1}


@dataclass(frozen=True, slots=True)
class Methods:
    families: dict[str, dict[str, tuple[str, ...]]]  # family -> tier -> names; a trailing * stands for anything
    never: frozenset[str]
    credits_for_an_error: int
    usd_per_credit: Decimal

    def multiplier(self, family: str, method: str) -> int | None:
        """Return 1, 2 or 4; None for a method that this family's networks do not take."""
        if method in self.never:
            return None
        tiers = self.families[family]
        for tier, multiplier in MULTIPLIERS.items():
            if any(_fits(method, pattern) for pattern in tiers.get(tier, ())):
                return multiplier
        return None


def _fits(method: str, pattern: str) -> bool:
    return method.startswith(pattern[:-1]) if pattern.endswith("*") else method == pattern


@cache
def methods(data: Path) -> Methods:
    """`data`: the folder with rpc_methods.json."""
    table = json.loads((data / "rpc_methods.json").read_text(encoding="utf-8"))
    return Methods(
        {family: {tier: tuple(names) for tier, names in tiers.items()} for family, tiers in table["families"].items()},
        frozenset(name for names in table["never"].values() for name in names),
        int(table["credits_for_an_error"]),
        Decimal(table["usd_per_credit"]),
    )
