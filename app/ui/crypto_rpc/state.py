"""What the Console shows: plain values that the presenter makes and the widgets draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from app.core.problems import Problem
from app.formats import format_number
from app.service.crypto_rpc import MAX_BATCH_ITEMS
from app.service.documented_limits import LIMITS
from app.service.rpc_methods import Tier
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import TextProblem
from app.ui.crypto_rpc.session.methods import ParameterHelp
from app.ui.crypto_rpc.session.networks import NetworkRow
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.parameter_fields import FieldView

EditorMode = Literal["rows", "json"]
CONTRACT_CALLS = frozenset({"eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall", "trace_call"})
TIER_WORDS: dict[Tier, str] = {
    "standard": tr("Standard ×1"),
    "advanced": tr("Advanced ×2"),
    "large": tr("Large ×4"),
    "unknown": tr("Unknown"),
}


@dataclass(frozen=True, slots=True)
class RowView:
    """One call of the batch as its row shows it. `refusal`: why it cannot be sent; `warning`: why it may be refused."""

    id: int
    method: str
    params: str
    tier: Tier
    credits: int
    refusal: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class SelectedCall:
    """The call in the editor below the rows."""

    id: int
    method: str
    params: str  # readable JSON
    help: str = ""
    parameters: tuple[ParameterHelp, ...] = ()
    problem: TextProblem | None = None
    fields: tuple[FieldView, ...] = ()
    field_problem: str = ""  # in the form that is shown


@dataclass(frozen=True, slots=True)
class DraftView:
    """The request that is being written."""

    network: NetworkRow
    rows: tuple[RowView, ...] = ()
    selected: SelectedCall | None = None
    mode: EditorMode = "rows"
    text: str = ""
    problems: tuple[TextProblem, ...] = ()
    credits: int = 0
    low_usd: Decimal = Decimal(0)
    high_usd: Decimal = Decimal(0)
    key_used: bool = True
    key: str = ""
    key_note: str = ""
    key_problem: str = ""
    missing: tuple[str, ...] = ()  # variables without a value
    can_send: bool = False
    sending: bool = False
    problem: Problem | None = None  # why the last sending was refused before it left
    rest: int = 0  # calls of the other part of a batch that was split

    @property
    def excess(self) -> str:
        """Why so many calls cannot go at once, "" for as many as can."""
        if len(self.rows) <= MAX_BATCH_ITEMS:
            return ""
        return tr(
            "This batch has {count} calls. The service accepts up to {max_batch_items}.",
            count=format_number(len(self.rows)),
            max_batch_items=MAX_BATCH_ITEMS,
        )

    @property
    def refusals(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.refusal for row in self.rows if row.refusal))


@dataclass(frozen=True, slots=True)
class CallEntry:
    """One request of the list at the left."""

    id: str
    group: str
    title: str
    second: str
    right: str
    tone: str = ""  # "ok", "warn", "bad", "" of the badge
    badge: str = ""
    mono: bool = False
    at: datetime | None = None

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.title, self.badge, self.second, self.right) if part)


@dataclass(frozen=True, slots=True)
class CollectionEntry:
    """One collection of the list. `requests`: name and second line of each; `trouble`: why it cannot be used."""

    file: str
    name: str
    requests: tuple[tuple[str, str], ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class SentTransaction:
    """A transaction that was sent, and what became of it. `details`: gas and fee in words.

    `watched`: Rialto looks for its receipt by itself. `check_price`: what looking once costs.
    """

    hash: str
    state: Literal["waiting", "mined", "reverted", "unknown"]
    block: str = ""
    details: str = ""
    reason: str = ""
    contract: str = ""  # that it created
    watched: bool = False
    check_price: str = ""

    @property
    def words(self) -> str:
        """What became of it, in one sentence."""
        if self.state == "mined":
            return tr("In block {block}, {details}.", block=self.block, details=self.details)
        if self.state == "reverted" and self.reason:
            reason = self.reason.rstrip(".")
            return tr(
                "Reverted in block {block}: {reason}. {details}.",
                block=self.block,
                reason=reason,
                details=self.details,
            )
        if self.state == "reverted":
            return tr("Reverted in block {block}, {details}.", block=self.block, details=self.details)
        if self.state == "waiting":
            return tr("Sent. Waiting for a block…") if self.watched else tr("Sent. Not in a block when last checked.")
        return tr("It is not clear whether this transaction was sent.")


@dataclass(frozen=True, slots=True)
class RunView:
    """One run of a request: what came back, and what it cost."""

    id: str
    title: str
    network: str
    state: str  # "open", "answered", "failed", "unknown"
    replayed: bool = False
    replay_note: str = ""
    facts: tuple[tuple[str, str, str], ...] = ()  # label, value, tone
    request_id: str = ""
    outcomes: tuple[CallOutcome, ...] = ()
    items: tuple[Mapping[str, object], ...] = ()  # what was asked, without what was signed
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    body_kept: bool = True
    runs: tuple[tuple[str, str], ...] = ()  # id and title of every run of the same request
    problem: Problem | None = None
    note: str = ""
    transactions: tuple[tuple[str, str], ...] = ()  # computed here: id of the item, hash
    sent: tuple[SentTransaction, ...] = ()
    decoded: tuple[tuple[int, str], ...] = field(default_factory=tuple)  # call id and what its bytes say
    says_more: bool = False  # decoded, as the types of what was called are known
    slug: str = ""  # of the network, "" for what was put together
    row_id: str = ""  # the row of the list that stands for it: the first of a job's equal requests

    @property
    def results(self) -> int:
        return sum(not outcome.is_error for outcome in self.outcomes)

    @property
    def errors(self) -> int:
        return sum(outcome.is_error for outcome in self.outcomes)


def spoken_result(run: RunView) -> str:
    """What a screen reader says when an answer has come: how many results and errors, and what they cost."""
    parts = [tr_n("{n} result", "{n} results", run.results)] if run.results or not run.errors else []
    if run.errors:
        parts.append(tr_n("{n} error", "{n} errors", run.errors))
    spent = [outcome.credits for outcome in run.outcomes if outcome.credits is not None]
    charged = tr_n("{n} credit", "{n} credits", sum(spent)) if spent else ""
    parts.append(tr("Replayed, no charge.") if run.replayed else charged)
    return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class CapsView:
    """What the two caps still allow, counted here (R-RPC-44, R-RPC-45)."""

    requests: int = 0
    requests_limit: int = LIMITS["paid"].crypto
    credits: int = 0
    credits_limit: int = LIMITS["paid"].credits_a_day
    resets_at: datetime | None = None  # when the oldest request of the minute stops counting


@dataclass(frozen=True, slots=True)
class SendQuestion:
    """What a person confirms before something on a chain is changed. `warnings` name what does not fit."""

    title: str
    network: str
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()
    action: str = tr("Send")
