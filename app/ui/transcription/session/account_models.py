"""The transcription models that can be chosen: from the service when it answers, from the disk when it does not."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money
from app.core.model_lists import add_model, list_models, replaced_in, saved_models
from app.core.other_model import OtherModel, look_up_model
from app.core.problems import describe
from app.service.errors import ServiceError
from app.service.models import Model
from app.service.pricing import transcription_cost
from app.service.transcription import abilities_of
from app.translation import tr
from app.ui.transcription.state import ModelChoice

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.problems import Problem
    from app.storage.service_cache import ServiceCache

KIND = "asr"


class AccountModels:
    """The transcription models of the account in use."""

    def __init__(self, current_account: CurrentAccount) -> None:
        self.current_account = current_account
        self.service_cache: ServiceCache | None = None
        self.problem: Problem | None = None
        self._models: tuple[Model, ...] = ()
        self._of = ""

    def models(self) -> tuple[Model, ...]:
        return tuple(model for model in self._models if not model.offline)

    def get(self, model_id: str) -> Model | None:
        return next((model for model in self._models if model.id == model_id), None)

    def name_of(self, model_id: str) -> str:
        """The display name, the last part of the id for a model that is not in the list."""
        model = self.get(model_id)
        return model.name if model is not None else model_id.rpartition("/")[2]

    def usable(self, wanted: str) -> str:
        """The wanted model when it is there, else the first that fills lists of times, else the first."""
        models = self.models()
        if not models or any(model.id == wanted for model in models):
            return wanted
        timed = next((model.id for model in models if "word" in (abilities_of(model.id).kinds or ())), "")
        return timed or models[0].id

    def choices(self) -> tuple[ModelChoice, ...]:
        return tuple(self.choice(model.id) for model in self.models())

    def choice(self, model_id: str) -> ModelChoice:
        """What is known of a model, listed or not."""
        model = self.get(model_id)
        known = abilities_of(model_id)
        if model is None:
            return ModelChoice(model_id, self.name_of(model_id), takes_hints=known.takes_hints, kinds=known.kinds)
        second = transcription_cost(model.model_spec.pricing, Decimal(1))
        return ModelChoice(
            id=model.id,
            name=model.name,
            privacy=model.privacy,
            price=tr("{price} per minute", price=money.money(second * 60)) if second is not None else "",
            takes_hints=known.takes_hints,
            kinds=known.kinds,
            usd_per_second=second,
            retires=model.deprecation.ends if model.deprecation is not None else "",
        )

    async def look_up(self, text: str) -> OtherModel:
        """Ask the service for a model by its id. Raises `NotAModel`."""
        return await look_up_model(self.current_account, text, KIND)

    async def add(self, model: Model) -> None:
        """Offer a model that the list need not have."""
        self._models = replaced_in(self._models, model)
        await add_model(self.service_cache, self._of, KIND, model)

    @property
    def blocking_problem(self) -> Problem | None:
        """Why there is no list of models, which nothing can be sent without; None while there is one."""
        return None if self._models else self.problem

    async def load(self) -> None:
        """Take the list that this account was given last."""
        account = self.current_account.account
        if account is None or self._of == account.id:
            return
        self._models, self._of = (), account.id
        saved, _ = await saved_models(self.service_cache, account.id, KIND, self.current_account.leaving)
        if self._of == account.id and not self._models:
            self._models = saved

    async def fetch(self) -> None:
        """Ask the service; a failure becomes `problem` and what was known stays."""
        try:
            models = await list_models(self.current_account, self.service_cache, KIND)
        except ServiceError as error:
            self.problem = describe(error, subject="")
            return
        if models is not None and self.current_account.account is not None:
            self.problem, self._models, self._of = None, models, self.current_account.account.id
