"""What a chat has used: per model and in all, every branch counted."""

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
    rows: dict[str, TotalsRow] = {}
    estimated, charged = False, False
    for message in messages:
        if message.role != "assistant" or not message.usage:
            continue
        usage = message.usage
        name = name_of(message.model) or tr("Unknown model")
        row = rows.get(name) or TotalsRow(name, 0, 0, 0, 0, None)
        rows[name] = _added(row, message)
        estimated |= usage.get("cost_source") == "estimated" or bool(usage.get("estimated"))
        charged |= not usage.get("sandbox", sandbox)
    ordered = tuple(sorted(rows.values(), key=lambda row: row.cost_usd or Decimal(0), reverse=True))
    total = _sum(ordered) if ordered else None
    return Totals(ordered, total, is_estimate=estimated, is_play=bool(rows) and not charged)


def _added(row: TotalsRow, message: Message) -> TotalsRow:
    def number(name: str) -> int:
        value = message.usage.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    cost = row.cost_usd
    if message.cost_usd is not None:
        cost = (cost or Decimal(0)) + message.cost_usd
    return TotalsRow(
        row.label,
        row.turns + 1,
        row.prompt_tokens + number("prompt"),
        row.cached_tokens + number("cached"),
        row.output_tokens + number("completion"),
        cost,
    )


def _sum(rows: Sequence[TotalsRow]) -> TotalsRow:
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return TotalsRow(
        tr("This chat"),
        sum(row.turns for row in rows),
        sum(row.prompt_tokens for row in rows),
        sum(row.cached_tokens for row in rows),
        sum(row.output_tokens for row in rows),
        sum(costs, Decimal(0)) if costs else None,
    )
