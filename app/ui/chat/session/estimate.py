"""How many tokens a text may have and what a turn can cost at most, before anything is sent.

A tokenizer is not shipped: each model has its own. Characters are counted instead, and the count is corrected by what
the service reported for earlier turns of the same model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.core.number_format import MOST
from app.ui.chat.session.chat_options import MAX_LINKS_READ, ChatOptions, judge

if TYPE_CHECKING:
    from decimal import Decimal

    from app.service.models import Model

CHARS_PER_TOKEN = 4.0  # Latin text with most tokenizers
MESSAGE_TOKENS = 4  # the role and the separators around each message
# Public figure for the service's own prompt, which is added unless it is switched off.
SERVICE_PROMPT_TOKENS = 1_700
CHARACTER_PROMPT_TOKENS = 1_000
UNTRIED_MARGIN = 1.5  # before the first usage report of a model
TRIED_MARGIN = 1.2


def count_tokens(text: str) -> int:
    """About how many tokens `text` has: a quarter of its ASCII characters, and one for each other one.

    Chinese, Japanese and Korean come out near the truth, other scripts a little too high, which is the safe side.
    """
    if not text:
        return 0
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return max(1, round(plain / CHARS_PER_TOKEN) + len(text) - plain)


def count_messages(texts: Iterable[str]) -> int:
    """The same for whole messages, with what a role costs."""
    texts = list(texts)
    plain = sum([len(text) for text in texts if text.isascii()])  # of tens of thousands without a call for each
    others = sum([count_tokens(text) for text in texts if not text.isascii()])
    return round(plain / CHARS_PER_TOKEN) + others + MESSAGE_TOKENS * len(texts)


class TokenCounter:
    """Corrects the count per model from reported usage; the newest report weighs half."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def learn(self, model_id: str, estimated: int, reported: int) -> None:
        """Remember that a context estimated at `estimated` tokens was billed as `reported`."""
        if estimated <= 0 or reported <= 0:
            return
        seen = reported / estimated
        self._factors[model_id] = (self._factors.get(model_id, seen) + seen) / 2

    def is_tried(self, model_id: str) -> bool:
        return model_id in self._factors

    def corrected(self, model_id: str, estimated: int) -> int:
        """The likely number of tokens."""
        return round(estimated * self._factors.get(model_id, 1.0))

    def at_most(self, model_id: str, estimated: int) -> int:
        """A number that the real one should not exceed."""
        margin = TRIED_MARGIN if self.is_tried(model_id) else UNTRIED_MARGIN
        return round(estimated * self._factors.get(model_id, 1.0) * margin)


def hidden_prompt_tokens(options: ChatOptions, has_character: bool) -> int:
    """What the service itself puts in front of a chat that it has not reported on yet."""
    hidden = SERVICE_PROMPT_TOKENS if options.service_prompt else 0
    return hidden + (CHARACTER_PROMPT_TOKENS if has_character else 0)


def most_output_tokens(model: Model, options: ChatOptions, prompt_tokens: int) -> int | None:
    """The longest possible answer: the reply limit, the model's own, or the room left in its context."""
    limits = [limit for limit in (options.reply_limit, model.model_spec.max_completion_tokens) if limit]
    if model.context_tokens:
        limits.append(max(0, model.context_tokens - prompt_tokens))
    return min(limits) if limits else None


def turn_cap_usd(model: Model, options: ChatOptions, prompt_tokens: int, links: int) -> Decimal | None:
    """The most that one turn can cost, or None where the model states no price or no limit.

    Whether tokens hit the prompt cache or fill it is only known afterwards, so the dearer of both is counted.
    """
    from app.service.chat_types import Usage
    from app.service.pricing import SCRAPED_URL_USD, WEB_SEARCH_USD

    output_tokens = most_output_tokens(model, options, prompt_tokens)
    if output_tokens is None:
        return None
    plain = model.chat_cost(Usage(prompt=prompt_tokens, completion=output_tokens))
    filling = model.chat_cost(Usage(prompt=prompt_tokens, completion=output_tokens, cache_created=prompt_tokens))
    if plain is None or filling is None:
        return None
    cap = max(plain, filling)
    controls = judge(options, model)
    if controls.web_search.usable and options.web_search != "off":
        cap += WEB_SEARCH_USD
    if controls.social_posts.usable and options.social_posts:
        cap += WEB_SEARCH_USD  # at least: it is charged by the result
    if options.read_links:
        cap += SCRAPED_URL_USD * min(links, MAX_LINKS_READ)
    return cap


def context_text(tokens: int | None) -> str:
    """A context's size in few signs: `131K`, `65K`, `1M`. Rounded down: it is never shown larger than it is."""
    if not tokens or not 0 < tokens < MOST:
        return ""
    for size, unit in ((1_000_000, "M"), (1_000, "K")):
        if tokens >= size:
            return f"{tokens // size}{unit}"
    return str(tokens)
