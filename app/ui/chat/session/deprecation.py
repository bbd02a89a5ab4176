"""Announces each deprecated model in use once: when the service removes it, and which chats use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.translation import tr, tr_n
from app.ui.chat.session.account_models import retires_text
from app.ui.chat.state import DeprecatedModel

if TYPE_CHECKING:
    from app.service.models import Model
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.account_models import AccountModels
    from app.ui.chat.session.chat_library import ChatLibrary
    from app.ui.chat.session.open_chat import OpenChat

MOST_KEPT = 200  # of models that were told of; older ones are long gone


@dataclass(frozen=True, slots=True)
class DeprecationNews:
    """One sentence, and the chat to show with it: "" for the picker of the chat that is open."""

    sentence: str
    chat_id: str = ""


def deprecation_news(
    account_models: AccountModels, library: ChatLibrary, settings: SettingsStore, open_model: str
) -> DeprecationNews | None:
    """What is to be told now; asking for it counts as telling it, for good. A date that moves is news again."""
    used = library.models_in_use()
    default = account_models.default_id()
    told = settings.value.told_retiring
    leaving = [
        model
        for model in account_models.models()
        if model.deprecation is not None and (model.id in used or model.id == default) and _key(model) not in told
    ]
    if not leaving:
        return None
    settings.remember(told_retiring=(*told, *(_key(model) for model in leaving))[-MOST_KEPT:])
    if len(leaving) > 1:
        names = ", ".join(f"{model.name} {retires_text(model)}" for model in leaving[:3])
        sentence = (
            tr("Models you use will be retired: {names} and {n} more.", names=names, n=len(leaving) - 3)
            if len(leaving) > 3
            else tr("Models you use will be retired: {names}.", names=names)
        )
    else:
        sentence = f"{leaving[0].name} {retires_text(leaving[0])}. {_users(used.get(leaving[0].id, 0))}"
    if any(model.id == open_model for model in leaving):
        return DeprecationNews(sentence)
    chats = [chat_id for model in leaving for chat_id in library.using(model.id)]
    return DeprecationNews(sentence, chats[0] if chats else "")


def deprecated_model(opened: OpenChat, library: ChatLibrary) -> DeprecatedModel | None:
    """The open chat's model, when the service will remove it."""
    model = opened.model
    if model is None or model.deprecation is None:
        return None
    replacement_id = model.deprecation.replacement_model_id
    return DeprecatedModel(
        model.id,
        model.name,
        retires_text(model),
        replacement_id,
        opened.account_models.name_of(replacement_id) if replacement_id else "",
        library.models_in_use().get(model.id, 0),
        can_replace=opened.account_models.get(replacement_id) is not None,
    )


def _key(model: Model) -> str:
    return f"{model.id} {model.deprecation.ends if model.deprecation is not None else ''}"


def _users(chats: int) -> str:
    if not chats:
        return tr("New chats use it.")
    return tr_n("{n} chat uses it.", "{n} chats use it.", chats)
