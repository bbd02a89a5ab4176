"""What is being filled in: models and what they take, the draft on the disk, and the price of every change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import money
from app.core.draft_autosave import DraftAutosave, with_kept
from app.core.model_lists import add_model, list_models, replaced_in, saved_models
from app.core.other_model import OtherModel, look_up_model
from app.core.problems import describe
from app.core.typed_text import UndoableForm
from app.service.errors import LimitExceeded, ServiceError
from app.service.models import Model
from app.service.video import VideoRequest
from app.translation import tr
from app.ui.video.model_constraints import (
    KINDS,
    Form,
    FormErrors,
    ModelConstraints,
    constraints_of,
    fitted,
    form_from,
    refusal_of,
    sent_media,
    sent_values,
)
from app.ui.video.session.media_files import data_url, length_of, problems_of
from app.ui.video.state import FormView, ModelChoice, Quote

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.form_drafts import FormDraftStore
    from app.storage.service_cache import ServiceCache

QUOTE_AFTER_S = 0.35
_PRICED = ("model", "duration", "resolution", "aspect_ratio", "audio", "factor")


def _emptied(form: Form) -> Form:
    keep = ("kind", "model", "duration", "resolution", "aspect_ratio", "audio", "factor", "task", "clean_after")
    return Form(**{name: getattr(form, name) for name in keep})


class VideoForm(QObject):
    """`replaced` tells that the fields are to be filled anew; `changed` that something beside them is."""

    changed = Signal(object)  # FormView
    replaced = Signal(object)  # FormView

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope, undo_stack: UndoStack) -> None:
        super().__init__()
        self._undoable = UndoableForm(
            "video", undo_stack, read=lambda: self.form, write=self._use, is_empty=lambda form: form == _emptied(form)
        )
        self._current_account = current_account
        self._tasks = tasks
        self._autosave = DraftAutosave(tasks, "video draft")
        self.service_cache: ServiceCache | None = None
        self.quote_after_s = QUOTE_AFTER_S
        self.form = Form()
        self.quote = Quote()
        self.price: Decimal | None = None
        self.exact = False  # the price belongs to what is filled in now
        current_account.numbers_changed.connect(self._numbers_changed)
        self._models: tuple[Model, ...] = ()
        self._constraints: dict[str, ModelConstraints] = {}  # by the model's id: read once, asked for at every key
        self._problem = ""
        self._asked = False
        self._looked_at: Mapping[str, Any] = {}  # the files that were looked at last
        self._wrong_files: Mapping[str, str] = {}  # field → what is wrong with its file

    # Models

    def refresh_models(self) -> None:
        if self._current_account.service is not None:
            self._tasks.replace("video models", self._read_models)

    async def _read_models(self) -> None:
        account = self._current_account.account
        if account is not None and not self._models:
            saved, _ = await saved_models(self.service_cache, account.id, "video", self._current_account.leaving)
            if saved:
                self._take(saved)
        try:
            models = await list_models(self._current_account, self.service_cache, "video", background=True)
        except ServiceError as error:
            self._problem = describe(error, subject="").sentence
            self._take(self._models)
            return
        if models is not None:
            self._problem = ""
            self._take(models)

    async def look_up_model(self, text: str) -> OtherModel:
        """Ask the service for a model by its id. Raises `NotAModel`."""
        return await look_up_model(self._current_account, text, "video")

    async def use_other_model(self, other: OtherModel) -> None:
        """Make videos with a model that the list need not have."""
        account = self._current_account.account
        if account is not None:
            await add_model(self.service_cache, account.id, "video", other.model)
        self._take(replaced_in(self._models, other.model))
        self.set(model=other.model.id)

    def forget_models(self) -> None:
        """Another account has other models and prices."""
        self._models, self._constraints = (), {}
        self._asked = False
        self._set_price(None, Quote())

    def _take(self, models: tuple[Model, ...]) -> None:
        self._models = tuple(model for model in models if not model.offline)
        self._constraints = {model.id: constraints_of(model) for model in self._models}
        self._asked = True
        self._settle()
        self._look_at_files()
        self.replaced.emit(self.view())
        self._request_quote()

    def model(self, model_id: str) -> Model | None:
        return next((model for model in self._models if model.id == model_id), None)

    def name_of(self, model_id: str) -> str:
        model = self.model(model_id)
        return model.name if model is not None else model_id

    @property
    def takes(self) -> ModelConstraints | None:
        return self._constraints.get(self.form.model)

    def _settle(self) -> None:
        """Choose a model of the wanted kind where the wanted one is not to be had, and what it takes."""
        if not self._models:
            return
        wanted = self.model(self.form.model)
        if wanted is None or self._kind_of(wanted) != self.form.kind:
            of_kind = [model for model in self._models if self._kind_of(model) == self.form.kind]
            wanted = next(iter(of_kind), wanted or self._models[0])
        self.form = fitted(replace(self.form, model=wanted.id), self._constraints[wanted.id])

    def _kind_of(self, model: Model) -> str:
        return self._constraints[model.id].kind

    # Filling in

    @property
    def has_started(self) -> bool:
        """Whether what was kept has been read."""
        return self._autosave.drafts is not None

    async def start(self, drafts: FormDraftStore) -> None:
        kept = (await self._autosave.open(drafts)).get("form")
        if isinstance(kept, dict):
            typed, self.form = self.form, form_from(kept)
            self.form = replace(
                self.form,
                prompt=with_kept(typed.prompt, self.form.prompt, " "),
                negative=with_kept(typed.negative, self.form.negative, ", "),
            )
            if typed.prompt or typed.negative:
                self._autosave.save_soon(form=self.form.to_json())
        self._settle()
        self.replaced.emit(self.view())

    def set(self, **values: Any) -> None:
        """Change fields of the form; another model or kind brings its own choices along."""
        before = self.form
        self.form = replace(before, **values)
        refit = self.form.model != before.model or self.form.kind != before.kind
        if self.form.model != before.model:
            model = self.model(self.form.model)
            self.form = replace(self.form, kind=constraints_of(model).kind if model is not None else self.form.kind)
        if refit:
            self._settle()
        self._autosave.save_soon(form=self.form.to_json())
        self._look_at_files()
        same = all(getattr(self.form, name) == getattr(before, name) for name in _PRICED)
        if not same or self._videos_of(self.form) != self._videos_of(before):
            self._request_quote()
        (self.replaced if refit else self.changed).emit(self.view())

    def use(self, form: Form, done: str) -> None:
        """Fill in another form: a job that is used again. `done` is offered with Undo: "Settings reused"."""
        self._undoable.replace(form, done)

    def _use(self, form: Form) -> None:
        self.form = form
        self._settle()
        self._look_at_files()
        self._autosave.save_soon(form=self.form.to_json())
        self.replaced.emit(self.view())
        self._request_quote()

    def clear(self) -> None:
        """Empty what was written and chosen; model and shape stay."""
        self.use(_emptied(self.form), tr("Form cleared"))

    async def save(self) -> None:
        """Write down what was not written yet. Raises `StorageError`."""
        await self._autosave.save()

    # The files

    @property
    def media(self) -> Mapping[str, Any]:
        """The paths of what would be sent, by the service's own names."""
        takes = self.takes
        return sent_media(self.form, takes) if takes is not None else {}

    @property
    def files_are_known(self) -> bool:
        """True once the files that are chosen now have been looked at."""
        return self._looked_at == self.media

    def _look_at_files(self) -> None:
        if self.files_are_known:
            return
        if self.media:
            self._tasks.replace("video media", self._read_files, self.media)
        else:
            self._looked_at, self._wrong_files = {}, {}

    async def _read_files(self, media: Mapping[str, Any]) -> None:
        wrong = await asyncio.to_thread(problems_of, media)
        self._looked_at, self._wrong_files = media, wrong
        self.changed.emit(self.view())

    # The price

    def _videos_of(self, form: Form) -> tuple[str, ...]:
        """The videos of a form on which its price depends."""
        takes = self.takes
        enlarged = (form.film,) if takes is not None and takes.factors else ()
        return (*form.along.films, *enlarged)

    @property
    def _can_be_priced(self) -> bool:
        """What it costs to enlarge a video depends on the video."""
        return self.takes is not None and not (self.takes.factors and not self.form.film)

    def _request_quote(self) -> None:
        self.exact = False
        if self._current_account.service is None or not self._can_be_priced:
            self._set_price(None, Quote())
            return
        self._set_price(self.price, replace(self.quote, asking=True))
        self._tasks.replace("video quote", self._fetch_quote)

    async def _fetch_quote(self) -> None:
        await asyncio.sleep(self.quote_after_s)
        service, takes = self._current_account.service, self.takes
        if service is None or takes is None or not self._can_be_priced:
            return
        try:
            videos = self.form.along.films if takes.limits.of("films") else ()
            length_s = await asyncio.to_thread(length_of, videos) if videos else None
            request = VideoRequest(**sent_values(self.form, takes))
            if takes.factors:
                video = await asyncio.to_thread(data_url, Path(self.form.film), "video_url")
                request = replace(request, video_url=video)
            price = await service.video.quote(request, reference_videos_s=length_s)
        except LimitExceeded as error:
            self._set_price(None, Quote(note=error.message))
        except ServiceError as error:
            self._set_price(None, Quote(note=tr("Price unknown: {what}.", what=describe(error, subject="").what)))
        else:
            self.exact = True
            self._set_price(price, self._words(price))

    def _words(self, price: Decimal | None) -> Quote:
        if price is None:
            return Quote(note=tr("The service gives no price for this."))
        left = money.after(price, self._current_account.balance, is_play=self._current_account.is_sandbox)
        words = f"{left[:1].upper()}{left[1:]}" if left else tr("Estimate. Prices can change until it is queued.")
        return Quote(money.money(price), words)

    def _numbers_changed(self) -> None:
        """The balance that the price is held against is another one."""
        if self.exact and self._words(self.price) != self.quote:
            self._set_price(self.price, self._words(self.price))

    def _set_price(self, price: Decimal | None, quote: Quote) -> None:
        self.price, self.quote = price, quote
        self.changed.emit(self.view())

    # What the page is told

    def view(self) -> FormView:
        takes = self.takes
        kinds_there = {takes.kind for takes in self._constraints.values()}
        note = ""
        if not self._models:
            note = self._problem or (tr("The service has no video models.") if self._asked else "")
        return FormView(
            form=self.form,
            takes=takes,
            models=tuple(ModelChoice(model.id, model.name, self._kind_of(model)) for model in self._models),
            kinds=tuple(kind for kind in KINDS if kind[0] in kinds_there),
            refusal=FormErrors({**refusal_of(self.form, takes).fields, **self._wrong_files}),
            wrong_files=self._wrong_files,
            is_looking=not self.files_are_known,
            quote=self.quote,
            note=note,
        )
