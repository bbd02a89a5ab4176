"""The models that can be chosen: from the service when it answers, from the disk when it does not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money, time_format
from app.core.leaving_models import LEAVING, LeavingModel
from app.core.model_lists import (
    add_model,
    added_models,
    list_models,
    replaced_in,
    save_models,
    saved_models,
    with_added,
)
from app.core.problems import Problem, describe, for_account
from app.translation import tr
from app.ui.chat.session.cached_model import CachedModel
from app.ui.chat.session.estimate import context_text
from app.ui.chat.session.seal import ENCLAVE, SEALED
from app.ui.kit.lists.rows import build_rows

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.models import Model
    from app.storage.service_cache import ServiceCache
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.inspector_state import ModelList, ModelRow

# Ability shown as a badge → the capability it stands for, in the order of the badges.
KIND = "text"
FRESH_S = 300.0  # the list changes a few times a week
ABILITIES: tuple[tuple[str, str], ...] = (
    (SEALED, "supports_e2ee"),
    (ENCLAVE, "supports_tee_attestation"),
    (tr("Vision"), "supports_vision"),
    (tr("Reasoning"), "supports_reasoning"),
    (tr("Functions"), "supports_function_calling"),
    (tr("Web"), "supports_web_search"),
    (tr("Audio in"), "supports_audio_input"),
    (tr("Video in"), "supports_video_input"),
    (tr("Code"), "optimized_for_code"),
)


def utc_now() -> datetime:
    return datetime.now(UTC)


class AccountModels:
    """The text models of the account in use: what the window knows, else what was fetched here, else what is saved."""

    def __init__(self, current_account: CurrentAccount, settings: SettingsStore) -> None:
        self.current_account = current_account
        self.settings = settings
        self.service_cache: ServiceCache | None = None
        self.now: Callable[[], datetime] = utc_now
        self.loading = False
        self.problem: Problem | None = None
        self._fetched: tuple[Model, ...] = ()
        self._fetched_at: datetime | None = None
        self._saved: tuple[Model, ...] = ()
        self._saved_at: datetime | None = None
        self._on_disk: tuple[Model, ...] = ()
        self._merged: tuple[tuple[Model, ...], tuple[Model, ...], tuple[Model, ...]] = (), (), ()
        self._default: tuple[tuple[Model, ...], str, str] = ((), "", "")  # what came of these models and this choice

    def models(self) -> tuple[Model, ...]:
        listed, added = self._fetched or self.current_account.models or self._saved, self.current_account.added_models
        if not added:
            return listed
        if listed is not self._merged[0] or added is not self._merged[1]:
            self._merged = listed, added, with_added(listed, added)
        return self._merged[2]

    async def add(self, model: Model) -> None:
        """Offer a model that the list need not have."""
        self.current_account.added_models = replaced_in(self.current_account.added_models, model)
        await add_model(self.service_cache, self._account_id, KIND, model)

    def forget(self) -> None:
        """Another account is in use: its models are not these."""
        self._fetched, self._fetched_at, self._saved, self._saved_at, self._on_disk = (), None, (), None, ()
        self.problem, self.loading = None, False

    async def load_saved(self) -> None:
        """Take the list that this account was given last, so that the picker works with no network."""
        account_id = self._account_id
        saved, saved_at = await saved_models(self.service_cache, account_id, KIND, self.current_account.leaving)
        added = await added_models(self.service_cache, account_id, KIND)
        if account_id == self._account_id:
            self._saved, self._saved_at, self.current_account.added_models = saved, saved_at, added

    async def save(self) -> None:
        """Keep the list for the next start, when it is a new one."""
        models = self._fetched or self.current_account.models
        if models != self._on_disk:
            self._on_disk = models
            await save_models(self.service_cache, self._account_id, KIND, models)

    @property
    def is_stale(self) -> bool:
        """True when the list should be asked for again: it is free, but not worth asking for at every look."""
        if not self.current_account.models and not self._fetched:
            return True
        return self._fetched_at is None or (self.now() - self._fetched_at).total_seconds() > FRESH_S

    @property
    def blocking_problem(self) -> Problem | None:
        """Why there is no list of models, which nothing can be sent without; None while there is one."""
        if self.problem is None or self.models():
            return None
        return for_account(self.problem, self.current_account.account)

    async def fetch(self) -> None:
        """Ask the service for its text models. A failure becomes `problem`; what was shown stays."""
        from app.service.errors import ServiceError

        self.loading, self.problem = True, None
        try:
            fetched = await list_models(self.current_account, self.service_cache, KIND)
        except ServiceError as error:
            self.problem = describe(error, subject="")
        else:
            if fetched is not None:
                self._fetched, self._fetched_at, self._on_disk = fetched, self.now(), fetched
        finally:
            self.loading = False

    def get(self, model_id: str) -> Model | None:
        return next((model for model in self.models() if model.id == model_id), None)

    def is_missing(self, model_id: str) -> bool:
        """Whether the service's list is there and does not have this model."""
        return bool(model_id) and bool(self.models()) and self.get(model_id) is None

    def name_of(self, model_id: str) -> str:
        """The display name, the id itself for a model that is not in the list."""
        model = self.get(model_id)
        return model.name if model is not None else model_id

    @property
    def _account_id(self) -> str:
        return self.current_account.account.id if self.current_account.account is not None else ""

    def default_id(self) -> str:
        """The person's own choice for new chats, else the one that the service calls its default (never a fixed id)."""
        chosen = self.settings.value.default_model.get(self._account_id, "")
        models = self.models()
        if models is not self._default[0] or chosen != self._default[1]:
            self._default = models, chosen, _default_id(models, chosen)
        return self._default[2]

    def glimpse(self, model_id: str) -> CachedModel | None:
        """What was last known of this model, or of the usual one for "", while there is no list; None for another."""
        found = CachedModel.read(self.settings.value.glimpse) if not self.models() else None
        fits = found is not None and found.account_id == self._account_id and model_id in ("", found.id)
        return found if fits else None

    def remember_glimpse(self) -> None:
        """Keep what the next start shows in its first frame; on disk with whatever is saved next."""
        model = self.get(self.default_id())
        if model is not None:
            self.settings.remember(glimpse=CachedModel.of(self._account_id, model, price_line(model)).write())

    def cheapest(self, fits: Callable[[Model], bool] = lambda _model: True) -> Model | None:
        """The one that fits whose tokens cost least, in and out taken together; None when none states its prices."""
        offered = (model for model in self.models() if not model.offline and fits(model))
        priced = [model for model in offered if model.price_input and model.price_output]
        return min(priced, key=lambda model: (model.price_input or 0) + (model.price_output or 0), default=None)

    def set_default(self, model_id: str) -> None:
        self.settings.remember(default_model={**self.settings.value.default_model, self._account_id: model_id})

    def toggle_favorite(self, model_id: str) -> None:
        before = self.settings.value.favourite_models
        after = tuple(each for each in before if each != model_id) if model_id in before else (*before, model_id)
        self.settings.remember(favourite_models=after)

    def list_for(self, current_id: str) -> ModelList:
        """What the picker shows, by name; the picker orders them. Models that are offline are left out."""
        from app.ui.chat.session.inspector_state import ModelList

        favourites = set(self.settings.value.favourite_models)
        default = self.default_id()

        def row(model: Model) -> ModelRow:
            return _row(
                model,
                self.current_account.leaving_model(model.id),
                favourite=model.id in favourites,
                default=model.id == default,
                current=model.id == current_id,
                tier=self._tier(model),
            )

        offered = (model for model in self.models() if not model.offline or model.id == current_id)
        rows = build_rows(offered, row)
        rows.sort(key=lambda row: row.name.casefold())
        note = ""
        if not self.current_account.models and not self._fetched and self._saved_at is not None:
            note = tr("Saved {saved_at}", saved_at=time_format.when(self._saved_at, self.now()))
        problem = None if rows else self.problem
        return ModelList(tuple(rows), self.loading, note, problem, self.settings.value.model_sort)

    def set_sort(self, sort: str) -> None:
        """Keep the order of the picker for the next time."""
        self.settings.remember(model_sort=sort)

    def _tier(self, model: Model) -> str:
        """How often the account may ask this model, as the service's letter; "" until it has said so."""
        from app.service.documented_limits import LIMITS
        from app.service.rate_limiter import text_pace

        service, account = self.current_account.service, self.current_account.account
        if service is None:
            return ""
        told = service.client.limits.pace.told(text_pace(model.id))
        return LIMITS[account.limit_class if account is not None else "paid"].tier(told)


def _default_id(models: tuple[Model, ...], chosen: str) -> str:
    offered = [model for model in models if not model.offline]
    if any(model.id == chosen for model in offered):
        return chosen
    marked = next((model for model in offered if "default" in model.model_spec.traits), None)
    first = marked or (offered[0] if offered else None)
    return first.id if first is not None else chosen


def _row(
    model: Model, leaving: LeavingModel | None, *, favourite: bool, default: bool, current: bool, tier: str
) -> ModelRow:
    from app.ui.chat.session.inspector_state import ModelRow

    abilities = tuple(name for name, capability in ABILITIES if getattr(model.capabilities, capability))
    known = model.price_input is not None and model.price_output is not None
    also = ((tr("Caching"), model.price_cached_input is not None), (LEAVING, leaving is not None))
    return ModelRow(
        id=model.id,
        name=model.name,
        badges=abilities,
        context=context_text(model.context_tokens),
        price_in=_price(model.price_input),
        price_out=_price(model.price_output),
        privacy=model.privacy,
        retires=leaving.retires if leaving is not None else "",
        replacement=leaving.replacement if leaving is not None else "",
        is_default=default,
        is_favorite=favourite,
        is_current=current,
        abilities=frozenset((*abilities, *(word for word, holds in also if holds))),
        tier=tier,
        price=(model.price_input or Decimal(0)) + (model.price_output or Decimal(0)) if known else None,
        tokens=model.context_tokens or 0,
        created=model.created or 0,
    )


def retires_text(model: Model) -> str:
    """`retires Feb 1, 2027`, or "" for a model that stays."""
    gone = model.deprecation
    return LeavingModel(model.id, model.name, gone.ends).retires if gone is not None else ""


def price_line(model: Model) -> str:
    """`131K context, $0.70 in and $2.80 out per million tokens`, as much of it as is known."""
    parts = (
        [tr("{context_text} context", context_text=context_text(model.context_tokens))] if model.context_tokens else []
    )
    if model.price_input is not None and model.price_output is not None:
        prices = tr(
            "{price_input} in and {price_output} out",
            price_input=money.money(model.price_input),
            price_output=money.money(model.price_output),
        )
        parts.append(tr("{prices} per million tokens", prices=prices))
    return ", ".join(parts)


def _price(amount: Decimal | None) -> str:
    return "" if amount is None else money.bare(amount)
