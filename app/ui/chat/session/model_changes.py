"""What becomes different when another model takes the place of one. Compared from the list of models alone."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money
from app.translation import listed, tr
from app.ui.chat.session.estimate import context_text

if TYPE_CHECKING:
    from app.service.models import Model

# Words for what a model can do → its capability, in the order in which they are told.
ABILITIES: tuple[tuple[str, str], ...] = (
    (tr("images"), "supports_vision"),
    (tr("multiple images at once"), "supports_multiple_images"),
    (tr("audio"), "supports_audio_input"),
    (tr("videos"), "supports_video_input"),
    (tr("reasoning"), "supports_reasoning"),
    (tr("effort levels"), "supports_reasoning_effort"),
    (tr("functions"), "supports_function_calling"),
    (tr("JSON output"), "supports_response_schema"),
    (tr("web search"), "supports_web_search"),
    (tr("its own search"), "supports_x_search"),
    (tr("sealed chats"), "supports_e2ee"),
)
PRIVACY = {"private": tr("Its requests are private."), "anonymized": tr("Its requests are anonymous.")}


def changes(old: Model, new: Model) -> tuple[str, ...]:
    """One line for each difference that a person notices; () when there is none."""
    lines = []
    if old.context_tokens != new.context_tokens and old.context_tokens and new.context_tokens:
        before, after = context_text(old.context_tokens), context_text(new.context_tokens)
        lines.append(
            tr("Its context is larger: {after} tokens instead of {before}.", after=after, before=before)
            if new.context_tokens > old.context_tokens
            else tr("Its context is smaller: {after} tokens instead of {before}.", after=after, before=before)
        )
    for words, before_usd, after_usd in (
        (tr("Input"), old.price_input, new.price_input),
        (tr("Output"), old.price_output, new.price_output),
    ):
        lines += _price(words, before_usd, after_usd)
    gained = [word for word, name in ABILITIES if _can(new, name) and not _can(old, name)]
    lost = [word for word, name in ABILITIES if _can(old, name) and not _can(new, name)]
    if gained:
        lines.append(tr("It adds {listed}.", listed=listed(gained)))
    if lost:
        lines.append(tr("It loses {listed}.", listed=listed(lost)))
    if old.privacy != new.privacy and new.privacy:
        lines.append(PRIVACY.get(new.privacy) or tr("Its requests are {privacy}.", privacy=new.privacy))
    return tuple(lines)


def _price(words: str, before: Decimal | None, after: Decimal | None) -> list[str]:
    if before is None or after is None or before == after:
        return []
    new, old = money.money(after), money.money(before)
    return [
        tr("{words} costs more: {new} per million tokens instead of {old}.", words=words, new=new, old=old)
        if after > before
        else tr("{words} costs less: {new} per million tokens instead of {old}.", words=words, new=new, old=old)
    ]


def _can(model: Model, name: str) -> bool:
    return bool(getattr(model.capabilities, name, False))
