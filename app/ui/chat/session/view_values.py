"""Frozen values for the page, made from what the presenter knows. Functions only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money, number_format
from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import attachments_of
from app.ui.chat.session.chat_options import ChatOptions, judge
from app.ui.chat.session.estimate import (
    TokenCounter,
    context_text,
    count_messages,
    count_tokens,
    hidden_prompt_tokens,
    most_output_tokens,
    turn_cap_usd,
)
from app.ui.chat.state import CostNote

if TYPE_CHECKING:
    from app.service.models import Model
    from app.storage.chat_rows import Message
    from app.ui.chat.session.open_chat import OpenChat

_LINK = re.compile(r"https?://[^\s<>()\[\]\"'`]+", re.IGNORECASE)


def links_in(text: str) -> tuple[str, ...]:
    """The addresses in a message that the service could read, each once, in their order (R-EXT-10)."""
    return tuple(dict.fromkeys(link.rstrip(".,;:!?") for link in _LINK.findall(text)))


def count_links(text: str) -> int:
    """How many addresses a message holds that the service could read."""
    return len(links_in(text))


def estimate_branch(options: ChatOptions, branch: Sequence[Message]) -> int:
    """Tokens of everything that a request on `branch` says, uncorrected.

    Counted from the messages themselves: making a request of a long chat only to count it takes longer than a frame.
    """
    prompt = options.system_prompt if options.system_prompt.strip() else ""
    written = count_messages([message.content for message in branch if message.content or message.role == "user"])
    carrying = (attachments_of(message.attachments) for message in branch if message.attachments)
    attached = sum(each.tokens for group in carrying for each in group)
    return written + attached + (count_messages((prompt,)) if prompt else 0)


def report_in(options: ChatOptions, path: Sequence[Message]) -> tuple[str, int, int] | None:
    """The newest answer of a branch whose tokens the service reported: its model, our estimate, and the report."""
    for place in range(len(path) - 1, 0, -1):
        message = path[place]
        usage = message.usage
        prompt = usage.get("prompt")
        if message.role != "assistant" or usage.get("estimated", True) or not isinstance(prompt, int):
            continue
        return (message.model, estimate_branch(options, path[:place]), prompt) if usage.get("calls", 1) == 1 else None
    return None


def likely_prompt(counter: TokenCounter, options: ChatOptions, model_id: str, branch: Sequence[Message]) -> int:
    """About how many tokens the service will count of `branch`: what it counted last, and what has come since."""
    estimated, report = estimate_branch(options, branch), report_in(options, branch)
    if report is not None and report[0] == model_id:
        _, before, reported = report
        return reported + max(0, estimated - before)
    return counter.corrected(model_id, estimated)


def learn_from(counter: TokenCounter, options: ChatOptions, path: Sequence[Message]) -> None:
    """Correct the counter by the newest report in a branch."""
    report = report_in(options, path)
    if report is not None:
        counter.learn(*report)


def cost_note(
    *,
    model: Model | None,
    model_id: str = "",
    options: ChatOptions,
    counter: TokenCounter,
    branch_tokens: int,
    draft: str,
    has_character: bool,
    sandbox: bool,
    attachment_tokens: int = 0,
    finding: Decimal | None = None,
) -> CostNote:
    """`up to $0.0046`, how that was reckoned, and which links of the draft would be read.

    `model_id` is given for a model that the service does not list; `finding` is what embedding the message costs.
    """
    links = links_in(draft) if options.read_links else ()
    own = (count_tokens(draft) if draft.strip() else 0) + attachment_tokens
    own_text = tr("{own} tok", own=number_format.count(own)) if own else ""
    if model is None and model_id:
        detail = tr("{model_id} is not on this service.", model_id=model_id)
        return CostNote(tr("Price unknown"), detail, own_text, warns=True, links=links)
    if model is None:
        return CostNote(tokens=own_text, links=links)
    estimated = branch_tokens + own
    likely = counter.corrected(model.id, estimated)
    if model.context_tokens and likely > model.context_tokens:
        detail = tr(
            "This chat has about {likely} tokens, but {name} can read only {context_tokens}. The service may refuse it "
            "or ignore its beginning.",
            likely=number_format.count(likely),
            name=model.name,
            context_tokens=number_format.count(model.context_tokens),
        )
        over = tr("Over the {context_text} context", context_text=context_text(model.context_tokens))
        return CostNote(over, detail, own_text, warns=True, links=links)
    prompt = counter.at_most(model.id, estimated)
    if not counter.is_tried(model.id):
        prompt += hidden_prompt_tokens(options, has_character)
    cap = turn_cap_usd(model, options, prompt, len(links))
    if cap is None:
        return CostNote(
            tr("Price not stated"), tr("{name} has no price in the model list.", name=model.name), own_text, links=links
        )
    cap += finding or 0
    output = most_output_tokens(model, options, prompt) or 0
    details = [
        tr(
            "Up to {prompt} tokens in and {output} out at the list price. The receipt shows the actual cost.",
            prompt=number_format.count(prompt),
            output=number_format.count(output),
        )
    ]
    if sandbox:
        details.append(tr("Paid with the Sandbox’s play money."))
    if own:
        details.append(tr_n("Your message has about {n} token.", "Your message has about {n} tokens.", own))
    if finding is not None:
        words = tr("Up to {price} of that is for finding passages by meaning.", price=money.money(finding))
        details.append(words)
    if judge(options, model).social_posts.usable and options.social_posts:
        details.append(tr("The model’s own search is charged per result, which cannot be known in advance."))
    return CostNote(f"{money.at_most(cap)}", " ".join(details), own_text, links=links)


def cap_text(opened: OpenChat, model_ids: Sequence[str]) -> str:
    """`up to $0.0121` for all of them together; "" when one of them states no price."""
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
