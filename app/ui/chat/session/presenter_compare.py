"""What asking several models the same can cost at most."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money
from app.ui.chat.session.estimate import count_tokens, hidden_prompt_tokens, turn_cap_usd
from app.ui.chat.session.presenter_views import count_links

if TYPE_CHECKING:
    from app.ui.chat.session.presenter_open import OpenChat


def cap_text(opened: OpenChat, model_ids: Sequence[str]) -> str:
    """`≤ $0.0121` for all of them together; "" when one of them states no price."""
    total = Decimal(0)
    draft = opened.draft
    tokens = opened.branch_tokens() + (count_tokens(draft) if draft.strip() else 0)
    tokens += sum(each.tokens for each in opened.attachments)
    for model_id in model_ids:
        model = opened.account_models.get(model_id)
        if model is None:
            return ""
        prompt = opened.counter.at_most(model_id, tokens)
        if not opened.counter.is_tried(model_id):
            prompt += hidden_prompt_tokens(opened.options, opened.character is not None)
        cap = turn_cap_usd(model, opened.options, prompt, count_links(draft))
        if cap is None:
            return ""
        total += cap
    return money.at_most(total) if total else ""
