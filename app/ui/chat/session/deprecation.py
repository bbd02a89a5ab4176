"""Announces each model in use that leaves, once: when the service removes it, and what uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.translation import tr, tr_n

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.leaving_models import LeavingModel, TakeBack
    from app.ui.chat.presenter import ChatPresenter
    from app.ui.chat.session.account_models import AccountModels
    from app.ui.chat.session.chat_library import ChatLibrary

MOST_KEPT = 200  # of models that were told of; older ones are long gone


class DeprecationNews(NamedTuple):
    """One sentence, and the chat to show with it: "" for the picker of the chat that is open."""

    sentence: str
    chat_id: str = ""


class ChatModelUses:
    """The chats, projects and presets that remember a model, and the model of new chats."""

    def __init__(self, presenter: ChatPresenter) -> None:
        self._presenter = presenter

    def uses(self, model_id: str) -> Sequence[str]:
        presenter = self._presenter
        if presenter.library is None:
            return ()
        chats = presenter.library.models_in_use().get(model_id, 0)
        projects = sum(each.model == model_id for each in presenter.library.projects.all)
        presets = len(presenter.presets.using_model(model_id)) if presenter.presets is not None else 0
        is_default = presenter.account_models.default_id() == model_id
        return (
            *((tr_n("{n} chat", "{n} chats", chats),) if chats else ()),
            *((tr_n("{n} project", "{n} projects", projects),) if projects else ()),
            *((tr_n("{n} preset", "{n} presets", presets),) if presets else ()),
            *((tr("new chats"),) if is_default else ()),
        )

    async def replace(self, old_id: str, new_id: str) -> TakeBack | None:
        presenter, library = self._presenter, self._presenter.library
        if library is None:
            return None
        chats = library.using(old_id)
        projects = [each.id for each in library.projects.all if each.model == old_id]
        presets = presenter.presets.using_model(old_id) if presenter.presets is not None else ()
        models = presenter.account_models
        was_default = models.default_id() == old_id
        is_open = presenter.opened.model_id == old_id

        async def use(model_id: str) -> None:
            for chat_id in chats:
                await library.change(chat_id, model=model_id)
            for project_id in projects:
                await library.projects.set_model(project_id, model_id)
            if presenter.presets is not None:
                await presenter.presets.set_model(presets, model_id)
            if was_default:
                models.set_default(model_id)
            if is_open:
                presenter.use_model(model_id)
            presenter.publish_all()

        await use(new_id)
        return lambda: use(old_id)


def deprecation_news(
    account: CurrentAccount, account_models: AccountModels, library: ChatLibrary, open_model: str, *, of_chats: bool
) -> DeprecationNews | None:
    """What is to be told now; asking for it counts as telling it, for good. A date that moves is news again.

    `of_chats`: of the models that chats use; else of those that only other tabs use.
    """
    settings = account_models.settings
    told = settings.value.told_retiring
    known = account.leaving.all(account.account.id) if account.account is not None else ()
    in_chats = {*library.models_in_use(), account_models.default_id(), open_model}
    new = (model for model in known if _key(model) not in told and (model.id in in_chats) == of_chats)
    leaving = [model for model in new if account.leaving.uses(model.id)]
    if not leaving:
        return None
    settings.remember(told_retiring=(*told, *(_key(model) for model in leaving))[-MOST_KEPT:])
    if len(leaving) > 1:
        names = ", ".join(f"{model.name} {model.retires}" for model in leaving[:3])
        sentence = (
            tr("Models you use will be retired: {names} and {n} more.", names=names, n=len(leaving) - 3)
            if len(leaving) > 3
            else tr("Models you use will be retired: {names}.", names=names)
        )
    else:
        sentence = tr(
            "{name} {retires}. In use: {uses}.",
            name=leaving[0].name,
            retires=leaving[0].retires,
            uses=account.leaving.uses(leaving[0].id),
        )
    if any(model.id == open_model for model in leaving):
        return DeprecationNews(sentence)
    chats = [chat_id for model in leaving for chat_id in library.using(model.id)]
    return DeprecationNews(sentence, chats[0] if chats else "")


def _key(model: LeavingModel) -> str:
    return f"{model.id} {model.ends}"
