"""Admission and billing of every paid call that is no chat: the model, its headers, the balance, the ledger line."""

from __future__ import annotations

from decimal import Decimal

from app.sandbox.accounts.api_keys import is_for_private_models, refuse_capped
from app.sandbox.http.call import Call
from app.sandbox.http.errors import HttpError
from app.sandbox.media.media_models import MediaModel
from app.sandbox.model_catalog import removal_date
from app.sandbox.world import Charge


def find_model(call: Call, wanted: str, model_type: str) -> MediaModel:
    """Return the model and name it in the answer's headers. Raises `HttpError` 404."""
    model = call.site.models.media_model(wanted, model_type)
    if model is None:
        raise HttpError(404, "The model was not found")
    if model.privacy != "private" and is_for_private_models(call):
        text = (
            f"This API key is set to “Private only”, but `{model.id}` is an Anonymous model. Choose a Private, TEE, or "
            "E2EE model, or change the model privacy setting of this API key."
        )
        raise HttpError(403, text)
    call.model = model.id
    prefix = call.names.header_prefix
    call.headers |= {
        f"{prefix}model-id": model.id,
        f"{prefix}model-name": model.name,
        f"{prefix}model-router": "rialto-sandbox",
    }
    add_leaving_headers(call, model.id)
    return model


def refuse_unpaid(call: Call) -> None:
    """Raise `HttpError` 402 when nothing is left to pay with, or this key may spend no more (R-KEY-04)."""
    if call.caller.key:
        refuse_capped(call)
    if call.caller.ledger.empty:
        raise HttpError(402)


def charge(call: Call, sku: str, units: Decimal | int, price_usd: Decimal, *, seconds: float | None = None) -> Decimal:
    """Take `units × price_usd` from the caller's balance and return it."""
    units = Decimal(units)
    usd = units * price_usd
    now = call.world.clock.now()
    line = Charge(now, sku, units, price_usd, -usd, call.request_id, call.model, seconds=seconds)
    call.caller.charge(line)
    call.cost_usd += usd
    return usd


def add_leaving_headers(call: Call, model_id: str, replaced_by: str = "") -> None:
    """Warn of a model that is going to be removed (R-HDR-19, R-HDR-20)."""
    told = replaced_by or call.site.models.replacement_of(model_id, call.world.settings.leaving_model)
    if told is not None:
        prefix = call.names.header_prefix
        removed_on = removal_date(call.world.clock.utc()).date().isoformat()
        warning = f"{model_id} is deprecated and will be removed on {removed_on}."
        call.headers[f"{prefix}model-deprecation-warning"] = f"{warning} Use {told}." if told else warning
        call.headers[f"{prefix}model-deprecation-date"] = removed_on
