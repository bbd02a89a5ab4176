"""The models that an account may use, one list for each kind: as the service lists them, or as it did last."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from app.storage.errors import StorageError

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.leaving_models import LeavingModels
    from app.service.models import Model
    from app.storage.service_cache import ServiceCache

MODEL_LISTS = "models"


ADDED_MODELS = "added_models"  # that someone asked for by id; the service's list need not have them
MOST_ADDED = 50


async def saved_models(
    service_cache: ServiceCache | None, account_id: str, kind: str, leaving: LeavingModels | None = None
) -> tuple[tuple[Model, ...], datetime | None]:
    """Return the models that were listed last, and when, with those that were added; nothing that cannot be read.

    `leaving` hears which of them the service is going to remove.
    """
    listed, saved_at = await _read(service_cache, account_id, MODEL_LISTS, kind)
    models = with_added(listed, await added_models(service_cache, account_id, kind))
    if leaving is not None:
        leaving.hear_models(account_id, models, is_saved=True)
    return models, saved_at


async def added_models(service_cache: ServiceCache | None, account_id: str, kind: str) -> tuple[Model, ...]:
    """Return the models that were added by id, the newest last."""
    return (await _read(service_cache, account_id, ADDED_MODELS, kind))[0]


async def add_model(service_cache: ServiceCache | None, account_id: str, kind: str, model: Model) -> None:
    """Keep a model that was asked for by id among those of its kind, over restarts and new lists."""
    others = [one for one in await added_models(service_cache, account_id, kind) if one.id != model.id]
    await _write(service_cache, account_id, ADDED_MODELS, kind, (*others, model)[-MOST_ADDED:])


def with_added(models: tuple[Model, ...], added: tuple[Model, ...]) -> tuple[Model, ...]:
    """Return a list with the added models that it does not have. An empty list stays empty: it says that nothing is
    known yet."""
    listed = {model.id for model in models}
    return (*models, *(model for model in added if model.id not in listed)) if models else models


def replaced_in(models: tuple[Model, ...], model: Model) -> tuple[Model, ...]:
    """Return a list with this record of a model, in its place or at the end."""
    if any(one.id == model.id for one in models):
        return tuple(model if one.id == model.id else one for one in models)
    return (*models, model)


async def _read(
    service_cache: ServiceCache | None, account_id: str, what: str, kind: str
) -> tuple[tuple[Model, ...], datetime | None]:
    from app.service.errors import BadResponse
    from app.service.models import Model
    from app.service.wire import ListEnvelope

    saved = await service_cache.load(account_id, what, kind) if service_cache is not None else None
    if saved is not None:
        with suppress(BadResponse):  # written by another version
            return ListEnvelope.read(Model, {"data": saved.value}).data, saved.saved_at
    return (), None


async def _write(
    service_cache: ServiceCache | None, account_id: str, what: str, kind: str, models: tuple[Model, ...]
) -> None:
    if service_cache is not None and models:
        rows = [model.model_dump(mode="json", by_alias=True) for model in models]
        with suppress(StorageError):
            await service_cache.save(account_id, what, kind, rows)


async def save_models(
    service_cache: ServiceCache | None, account_id: str, kind: str, models: tuple[Model, ...]
) -> None:
    """Keep a list for the next start. A disk that refuses costs no more than one request then."""
    await _write(service_cache, account_id, MODEL_LISTS, kind, models)


async def list_models(
    current_account: CurrentAccount, service_cache: ServiceCache | None, kind: str, *, background: bool = False
) -> tuple[Model, ...] | None:
    """Ask the service, save its list, and return it with the models that were added.

    None where another account is in use by then. Raises `ServiceError`.
    """
    service, account = current_account.service, current_account.account
    if service is None or account is None:
        return None
    models = tuple(await service.models.list(kind, background=background))
    if service is not current_account.service:
        return None
    current_account.leaving.hear_models(account.id, models)
    await save_models(service_cache, account.id, kind, models)
    models = with_added(models, await added_models(service_cache, account.id, kind))
    return models if service is current_account.service else None
