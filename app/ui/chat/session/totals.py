"""What a chat has used: per model and in all, every branch counted. A module of its own: not before the first paint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core.money import source_of_sum
from app.translation import tr
from app.ui.chat.session.inspector_state import Totals, TotalsRow

if TYPE_CHECKING:
    from app.storage.chat_rows import Message


def totals_of(messages: Iterable[Message], name_of: Callable[[str], str], sandbox: bool) -> Totals:
    """What a chat has used, per model and in all. Every branch counts: each was paid for."""
    by_model: dict[tuple[str, bool], list[Message]] = {}
    for message in messages:
        usage = message.usage
        if message.role == "assistant" and usage:
            is_play = bool(usage.get("sandbox", sandbox))
            by_model.setdefault((message.model, is_play), []).append(message)
    is_mixed = len({is_play for _, is_play in by_model}) > 1
    by_name: dict[tuple[str, bool], list[TotalsRow]] = {}
    for (model, is_play), answers in by_model.items():
        name = name_of(model) or tr("Unknown model")
        label = tr("{name} (play money)", name=name) if is_play and is_mixed else name
        by_name.setdefault((label, is_play), []).append(_row(label, answers, is_play=is_play))
    rows = [_sum(label, each, is_play=is_play) for (label, is_play), each in by_name.items()]
    ordered = tuple(sorted(rows, key=lambda row: row.cost_usd or Decimal(0), reverse=True))
    real, play = [row for row in ordered if not row.is_play], [row for row in ordered if row.is_play]
    if not ordered:
        return Totals()
    total = _sum(tr("This chat"), ordered, is_play=not real)
    if is_mixed:  # tokens are added, money is not
        paid = _sum("", real, is_play=False)
        total = replace(total, cost_usd=paid.cost_usd, cost_source=paid.cost_source)
    return Totals(
        ordered,
        total,
        is_play=not real,
        play=_sum("", play, is_play=True) if is_mixed else None,
    )


def _row(label: str, answers: Sequence[Message], *, is_play: bool) -> TotalsRow:
    usages = [message.usage for message in answers]

    def tokens(name: str) -> int:
        values = [usage.get(name) for usage in usages]
        return sum(value for value in values if isinstance(value, int) and not isinstance(value, bool))

    costs = [message.cost_usd for message in answers if message.cost_usd is not None]
    cost = sum(costs, Decimal(0)) if costs else None
    sources = ["estimated" if usage.get("estimated") else "stated" for usage in usages]
    source = source_of_sum([*sources, *(str(usage.get("cost_source")) for usage in usages)])
    return TotalsRow(
        label, len(answers), tokens("prompt"), tokens("cached"), tokens("completion"), cost, source, is_play
    )


def _sum(label: str, rows: Sequence[TotalsRow], *, is_play: bool) -> TotalsRow:
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return TotalsRow(
        label,
        sum(row.turns for row in rows),
        sum(row.prompt_tokens for row in rows),
        sum(row.cached_tokens for row in rows),
        sum(row.output_tokens for row in rows),
        sum(costs, Decimal(0)) if costs else None,
        source_of_sum(row.cost_source for row in rows),
        is_play,
    )
