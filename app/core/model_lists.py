"""The models that an account may use, one list for each kind: as the service lists them, or as it did last."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from app.storage.errors import StorageError

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.models import Model
    from app.storage.service_cache import ServiceCache

MODEL_LISTS = "models"


async def saved_models(
    service_cache: ServiceCache | None, account_id: str, kind: str
) -> tuple[tuple[Model, ...], datetime | None]:
    """Return the models that were listed last, and when; nothing where none of it can be read."""
    from app.service.errors import BadResponse
    from app.service.models import Model
    from app.service.wire import ListEnvelope

    saved = await service_cache.load(account_id, MODEL_LISTS, kind) if service_cache is not None else None
    if saved is not None:
        with suppress(BadResponse):  # written by another version
            return ListEnvelope.read(Model, {"data": saved.value}).data, saved.saved_at
    return (), None


async def save_models(
    service_cache: ServiceCache | None, account_id: str, kind: str, models: tuple[Model, ...]
) -> None:
    """Keep a list for the next start. A disk that refuses costs no more than one request then."""
    if service_cache is not None and models:
        rows = [model.model_dump(mode="json", by_alias=True) for model in models]
        with suppress(StorageError):
            await service_cache.save(account_id, MODEL_LISTS, kind, rows)


async def list_models(
    current_account: CurrentAccount, service_cache: ServiceCache | None, kind: str, *, background: bool = False
) -> tuple[Model, ...] | None:
    """Ask the service and save its list. None where another account is in use by then. Raises `ServiceError`."""
    service, account = current_account.service, current_account.account
    if service is None or account is None:
        return None
    models = tuple(await service.models.list(kind, background=background))
    if service is not current_account.service:
        return None
    await save_models(service_cache, account.id, kind, models)
    return models
