"""What a chat has used: per model and in all, every branch counted. A module of its own: not before the first paint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.chat.session.inspector_state import Totals, TotalsRow

if TYPE_CHECKING:
    from app.storage.chat_rows import Message


def totals_of(messages: Iterable[Message], name_of: Callable[[str], str], sandbox: bool) -> Totals:
    """What a chat has used, per model and in all. Every branch counts: each was paid for."""
    by_model: dict[str, list[Message]] = {}
    estimated, charged = False, False
    for message in messages:
        usage = message.usage
        if message.role == "assistant" and usage:
            by_model.setdefault(message.model, []).append(message)
            estimated |= usage.get("cost_source") == "estimated" or bool(usage.get("estimated"))
            charged |= not usage.get("sandbox", sandbox)
    by_name: dict[str, list[TotalsRow]] = {}
    for model, answers in by_model.items():
        name = name_of(model) or tr("Unknown model")
        by_name.setdefault(name, []).append(_row(name, answers))
    rows = [_sum(name, each) if len(each) > 1 else each[0] for name, each in by_name.items()]
    ordered = tuple(sorted(rows, key=lambda row: row.cost_usd or Decimal(0), reverse=True))
    total = _sum(tr("This chat"), ordered) if ordered else None
    return Totals(ordered, total, is_estimate=estimated, is_play=bool(rows) and not charged)


def _row(label: str, answers: Sequence[Message]) -> TotalsRow:
    usages = [message.usage for message in answers]

    def tokens(name: str) -> int:
        values = [usage.get(name) for usage in usages]
        return sum(value for value in values if isinstance(value, int) and not isinstance(value, bool))

    costs = [message.cost_usd for message in answers if message.cost_usd is not None]
    cost = sum(costs, Decimal(0)) if costs else None
    return TotalsRow(label, len(answers), tokens("prompt"), tokens("cached"), tokens("completion"), cost)


def _sum(label: str, rows: Sequence[TotalsRow]) -> TotalsRow:
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return TotalsRow(
        label,
        sum(row.turns for row in rows),
        sum(row.prompt_tokens for row in rows),
        sum(row.cached_tokens for row in rows),
        sum(row.output_tokens for row in rows),
        sum(costs, Decimal(0)) if costs else None,
    )
