"""The models that the service is going to remove: one place for every list and every response, and for every tab.

A tab registers what of its own remembers a model (`ModelUser`), so that all of it can be counted and moved at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from PySide6.QtCore import QObject, Signal

from app.core.undo import UndoCommand
from app.formats import current, written
from app.translation import tr

if TYPE_CHECKING:
    from app.core.undo import UndoStack
    from app.service.exchange import Exchange
    from app.service.models import Model

MOST_MODELS = 500  # of one account; a list may be untrusted
MAX_NAME_CHARS = 120
LEAVING = tr("Leaving soon")  # of models, as a filter
TakeBack: TypeAlias = Callable[[], Awaitable[None]]


class LeavingModel(NamedTuple):
    """`ends` is ISO 8601 as the service sent it, "" where it gave no date. `replacement` is a model's id or ""."""

    id: str
    name: str
    ends: str = ""
    replacement: str = ""
    replacement_name: str = ""

    @property
    def retires(self) -> str:
        """`retires Feb 1, 2027`."""
        try:
            ends = datetime.fromisoformat(self.ends)
        except ValueError:
            return tr("retires soon")
        return tr("retires {date}", date=written(ends, current().date))


class LeavingNotice(NamedTuple):
    """What a tab says of the model that it uses. `can_replace`: the replacement is one of its models, too."""

    model_id: str
    name: str
    retires: str  # "retires Feb 1, 2027"
    replacement_id: str = ""
    replacement_name: str = ""
    uses: str = ""  # "3 chats, 1 preset"
    can_replace: bool = False


class ModelUser(Protocol):
    """Something that remembers a model by its id."""

    def uses(self, model_id: str) -> Sequence[str]:
        """What uses the model, such as "3 chats"; nothing where nothing does."""

    async def replace(self, old_id: str, new_id: str) -> TakeBack | None:
        """Use another model from now on. Return what takes it back; None where nothing was changed."""


class LeavingModels(QObject):
    """`changed`: of some account something new is known. `announced` has a sentence for a toast, once for each model.
    `replace_requested` has a tab, and the ids of two models.
    """

    changed = Signal()
    announced = Signal(str)
    replace_requested = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, dict[str, LeavingModel]] = {}  # account id -> model id
        self._names: dict[str, dict[str, str]] = {}
        self._heard: set[tuple[str, str]] = set()  # what a response said: a list that is silent takes nothing back
        self._users: list[ModelUser] = []

    def add_user(self, user: ModelUser) -> None:
        self._users.append(user)

    def hear_models(self, account_id: str, models: Iterable[Model], *, is_saved: bool = False) -> None:
        """Take the `deprecation` of every record of a list. A saved one may be older than what is known."""
        known, names = self._known.setdefault(account_id, {}), self._names.setdefault(account_id, {})
        before = dict(known)
        listed = tuple(models)[: MOST_MODELS * 4]
        names.update((model.id, model.name) for model in listed)
        for model in listed:
            if is_saved and (model.deprecation is None or model.id in known):
                continue
            if model.deprecation is None:
                if (account_id, model.id) not in self._heard:
                    known.pop(model.id, None)  # it stays after all
                continue
            replacement = model.deprecation.replacement_model_id
            self._take(known, LeavingModel(model.id, model.name, model.deprecation.ends, replacement))
        if known != before:
            self.changed.emit()

    def hear(self, account_id: str, exchange: Exchange) -> None:
        """Take the warning of a response, also where the list does not know of it."""
        info = exchange.info
        if info is None or not (info.deprecation_warning or info.deprecation_date or info.deprecated):
            return
        model_id = info.model_id or exchange.model
        if not model_id:
            return
        known = self._known.setdefault(account_id, {})
        self._heard.add((account_id, model_id))
        before = known.get(model_id)
        name = (info.model_name or self._name(account_id, model_id))[:MAX_NAME_CHARS]
        ends = info.deprecation_date or (before.ends if before is not None else "")
        replacement = info.deprecated_replacement or (before.replacement if before is not None else "")
        told = LeavingModel(model_id, before.name if before is not None else name, ends, replacement)
        if before is None or (not before.ends and told.ends) or (not before.replacement and told.replacement):
            self._take(known, told)
            self.changed.emit()

    @staticmethod
    def _take(known: dict[str, LeavingModel], model: LeavingModel) -> None:
        if model.id in known or len(known) < MOST_MODELS:
            known[model.id] = model

    def all(self, account_id: str) -> tuple[LeavingModel, ...]:
        """Every model of an account that leaves, with the name of what takes its place."""
        return tuple(self._named(account_id, each) for each in self._known.get(account_id, {}).values())

    def one(self, account_id: str, model_id: str) -> LeavingModel | None:
        """Return what is known of a model's end; an id may have a suffix such as `:web_search=on`."""
        known = self._known.get(account_id, {})
        found = known.get(model_id) or known.get(model_id.partition(":")[0])
        return self._named(account_id, found) if found is not None else None

    def uses(self, model_id: str) -> str:
        """What uses a model, in all tabs: `3 chats, 1 preset, Speech`; "" for nothing."""
        return ", ".join(words for user in self._users for words in user.uses(model_id))

    async def replace_everywhere(self, old_id: str, new_id: str) -> TakeBack:
        """Let everything that uses a model use another one; return what takes all of it back. Raises `StorageError`."""
        done = [await user.replace(old_id, new_id) for user in self._users]

        async def take_back() -> None:
            for each in reversed(done):
                if each is not None:
                    await each()

        return take_back

    async def move(self, undo_stack: UndoStack, tab: str, old_id: str, new_id: str, account_id: str) -> None:
        """Use another model everywhere, which can be undone as something that was done in `tab`."""
        take_back = await self.replace_everywhere(old_id, new_id)
        new, old = self._name(account_id, new_id), self._name(account_id, old_id)
        text = tr("Now using {new} instead of {old}", new=new, old=old)
        undo_stack.push(UndoCommand(tab, text, lambda _ids: take_back(), (old_id,)))
        self.changed.emit()

    def _name(self, account_id: str, model_id: str) -> str:
        return self._names.get(account_id, {}).get(model_id, model_id)

    def _named(self, account_id: str, model: LeavingModel) -> LeavingModel:
        name = self._name(account_id, model.replacement) if model.replacement else ""
        return model._replace(replacement_name=name)


class FormModel:
    """The model that is chosen in the form of a tab, which is called `words` among what uses a model."""

    def __init__(self, words: str, read: Callable[[], str], choose: Callable[[str], object]) -> None:
        self._words = words
        self._read = read
        self._choose = choose

    def uses(self, model_id: str) -> Sequence[str]:
        return (self._words,) if model_id and self._read() == model_id else ()

    async def replace(self, old_id: str, new_id: str) -> TakeBack | None:
        if self._read() != old_id:
            return None
        self._choose(new_id)

        async def take_back() -> None:
            if self._read() == new_id:  # else something was chosen since
                self._choose(old_id)

        return take_back
