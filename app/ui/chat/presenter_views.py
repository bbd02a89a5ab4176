"""Frozen values for the page, made from what the presenter knows. Functions only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.ui.chat.estimate import (
    TokenCounter,
    count_messages,
    count_tokens,
    hidden_prompt_tokens,
    most_output_tokens,
    turn_cap_usd,
)
from app.ui.chat.options import ChatOptions
from app.ui.chat.state import CostNote
from app.ui.shared import money

if TYPE_CHECKING:
    from app.service.models import Model
    from app.storage.conversations import Message

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)


def count_links(text: str) -> int:
    """How many addresses a message holds that the service could read."""
    return len(set(_LINK.findall(text)))


def estimate_branch(options: ChatOptions, branch: Sequence[Message]) -> int:
    """Tokens of everything that a request on `branch` says, uncorrected."""
    if not branch and not options.system_prompt:
        return 0
    from app.ui.chat.presenter_requests import wire_messages

    return count_messages(str(message.content or "") for message in wire_messages(options, branch))


def learn_from(counter: TokenCounter, options: ChatOptions, path: Sequence[Message]) -> None:
    """Correct the counter by the newest answer of a branch whose tokens the service reported."""
    for place in range(len(path) - 1, 0, -1):
        message = path[place]
        usage = message.usage
        prompt = usage.get("prompt")
        if message.role != "assistant" or usage.get("estimated", True) or not isinstance(prompt, int):
            continue
        if usage.get("calls", 1) == 1:
            counter.learn(message.model, estimate_branch(options, path[:place]), prompt)
        return


def cost_note(
    *,
    model: Model | None,
    options: ChatOptions,
    counter: TokenCounter,
    branch_tokens: int,
    draft: str,
    has_character: bool,
    sandbox: bool,
) -> CostNote:
    """`≤ $0.0046 a turn`, and how that was reckoned."""
    if model is None:
        return CostNote()
    estimated = branch_tokens + (count_tokens(draft) if draft.strip() else 0)
    prompt = counter.at_most(model.id, estimated)
    if not counter.is_tried(model.id):
        prompt += hidden_prompt_tokens(options, has_character)
    cap = turn_cap_usd(model, options, prompt, count_links(draft))
    if cap is None:
        return CostNote("Price not stated", f"{model.name} has no price in the model list.")
    output = most_output_tokens(model, options, prompt) or 0
    detail = (
        f"At most {money.count(prompt)} tokens in and {money.count(output)} out at the list price. "
        "The receipt afterwards shows what it really was."
    )
    if sandbox:
        detail += " Play money: nothing is charged in the Sandbox."
    return CostNote(f"{money.at_most(cap)} a turn", detail)
