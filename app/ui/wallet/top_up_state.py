"""What the top-up shows, as frozen values. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

Step = Literal["amount", "payment", "review", "sending", "done", "unknown", "refused"]
SUGGESTED = (Decimal(5), Decimal(10), Decimal(25), Decimal(50))


@dataclass(frozen=True, slots=True)
class WayToPay:
    """One of the service's options. `reason` says why it cannot be used here, "" when it can."""

    network: str
    token: str
    receiver: str
    least_usd: Decimal | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One field of what is signed."""

    group: str  # "domain", "message", "transfer", "fee", "hash", "digest"
    name: str
    value: str
    reading: str


@dataclass(frozen=True, slots=True)
class TopUpView:
    """One top-up at one moment. `problem` is a sentence about the step that is shown."""

    step: Step = "amount"
    account: str = ""
    address: str = ""
    is_play: bool = False
    watch_only: bool = False
    amount: Decimal = Decimal(5)
    balance: Decimal | None = None
    ways: tuple[WayToPay, ...] = ()
    chosen: int = 0
    holds: Decimal | None = None  # of the token that it pays with, None while nobody has looked
    holds_note: str = ""  # why it is not known
    asking_price: Decimal | None = None  # what looking costs; None: nobody can look from here
    is_looking: bool = False
    rows: tuple[SheetRow, ...] = ()
    checks: tuple[str, ...] = ()
    warning: str = ""  # what a person must not overlook before signing
    document: str = ""  # what is signed, as JSON
    digest: str = ""
    offer_ends: datetime | None = None
    problem: str = ""
    node_wanted: bool = False  # a Solana node, because nobody else names a block
    node: str = ""  # its address, as it is typed
    busy: bool = False
    waits_until: datetime | None = None  # the service asked to wait; `waits_for` says why
    waits_for: str = ""
    credited: Decimal | None = None
    new_balance: Decimal | None = None
    receipt: tuple[tuple[str, str], ...] = ()

    @property
    def holds_too_little(self) -> bool:
        return self.holds is not None and self.holds < self.amount


@dataclass(frozen=True, slots=True)
class PendingTopUp:
    """A payment that was signed and is not settled. It belongs to a wallet, a token and a chain, not to an account.

    `until`: nobody can carry it out after that. `is_over`: that has passed, by this computer's clock and the service's.
    `chain_price`: what asking the chain costs in USD, None where it cannot be asked from here.
    """

    intent_id: str
    account_id: str
    account: str
    amount: Decimal
    sent_at: datetime
    until: datetime
    note: str
    wallet: str = ""
    token: str = ""
    network: str = ""
    is_over: bool = False
    chain_price: Decimal | None = None
    busy: bool = False
