"""State of the inspector's pages and the model picker, as frozen values. Loaded when first shown."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.problems import Problem
    from app.core.shown_call import ShownCall
    from app.service.exchange import RequestRecord


@dataclass(frozen=True, slots=True)
class SealedTurn:
    """One message of a sealed request: what was written, and the envelope that the service saw in its place."""

    role: str
    written: str
    seen: str


@dataclass(frozen=True, slots=True)
class RequestView:
    """The Request page of one answer. `call` is None while the chat has not sent anything."""

    call: ShownCall | None = None
    note: str = ""
    sealed: tuple[SealedTurn, ...] = ()  # of a sealed request; the call is as the service saw it

    @property
    def record(self) -> RequestRecord | None:
        return self.call.record if self.call is not None else None


@dataclass(frozen=True, slots=True)
class TotalsRow:
    """One model's share of a chat, or the sum of all."""

    label: str
    turns: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: Decimal | None
    cost_source: str = "stated"
    is_play: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """What the open chat has used, branches that are not shown included: they were paid for too.

    `total` has the cost in real money, where some was spent; `play` is then the sum in play money.
    """

    rows: tuple[TotalsRow, ...] = ()
    total: TotalsRow | None = None
    is_play: bool = False
    play: TotalsRow | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One row of the model picker."""

    id: str
    name: str
    badges: tuple[str, ...]
    context: str
    price_in: str
    price_out: str
    privacy: str
    retires: str = ""  # "retires Feb 1, 2027"
    replacement: str = ""
    is_default: bool = False
    is_favorite: bool = False
    is_current: bool = False
    abilities: frozenset[str] = frozenset()
    tier: str = ""  # the service's letter for how often it may be asked: "S"
    price: Decimal | None = None  # USD for a million tokens in and a million out, to sort by
    tokens: int = 0  # of context
    created: int = 0  # Unix seconds, 0 when it is not stated


@dataclass(frozen=True, slots=True)
class ModelList:
    """Everything the picker shows."""

    rows: tuple[ModelRow, ...] = ()
    loading: bool = False
    saved_note: str = ""  # "Saved 3 hours ago" while the list comes from the disk
    problem: Problem | None = None
    sort: str = "name"
