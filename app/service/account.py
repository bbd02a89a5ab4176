"""The caller's limits and balances: `GET /api_keys/rate_limits`, and the log of limits that were hit.

Reading the limits is also how a key is checked: it works with any key and never costs anything.
Source: service specification, account (R-EP-10, R-EP-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from pydantic import Field

from app.service import amounts
from app.service.client import ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import BadResponse, NotFound
from app.service.rate_limiter import text_pace
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr


class Limit(WireModel):
    """So many of something: `type` is "RPM" (requests a minute), "RPD" (a day) or "TPM" (tokens a minute)."""

    amount: Decimal = Decimal(0)
    type: str = ""


class ModelLimits(WireModel):
    model_id: str = Field(default="", alias="apiModelId")
    limits: tuple[Limit, ...] = Field(default=(), alias="rateLimits")

    def amount(self, limit_type: str) -> Decimal | None:
        return next((each.amount for each in self.limits if each.type == limit_type), None)


class ApiTier(WireModel):
    id: str = ""
    is_charged: bool = Field(default=False, alias="isCharged")


class Balances(WireModel):
    """What the key can spend now. One unit of DIEM is one USD of daily credit."""

    usd: Decimal | None = Field(default=None, alias="USD")
    diem: Decimal | None = Field(default=None, alias="DIEM")
    bundled: Decimal | None = Field(default=None, alias="BUNDLED_CREDITS")

    @property
    def others(self) -> dict[str, Decimal]:
        """Balances of other kinds, such as earned credits, by the service's own names."""
        told = {name: amounts.balance(value) for name, value in (self.model_extra or {}).items()}
        return {name: amount for name, amount in told.items() if amount is not None}


class RateLimits(WireModel):
    """What the caller may do. `access_permitted` is the service's own verdict on the key."""

    access_permitted: bool = Field(True, alias="accessPermitted")
    tier: ApiTier = Field(default_factory=ApiTier, alias="apiTier")
    balances: Balances = Field(default_factory=Balances)
    key_expires_at: datetime | None = Field(default=None, alias="keyExpiration")
    next_epoch_at: datetime | None = Field(default=None, alias="nextEpochBegins")
    models: tuple[ModelLimits, ...] = Field(default=(), alias="rateLimits")

    def for_model(self, model_id: str) -> ModelLimits | None:
        return next((each for each in self.models if each.model_id == model_id), None)


class LimitHit(WireModel):
    """One entry of the log. `limit_type` is "RPM", "RPD", "TPM" or a name of the failure budget."""

    model_id: str = Field(default="", alias="modelId")
    tier: str = Field(default="", alias="rateLimitTier")
    limit_type: str = Field(default="", alias="rateLimitType")
    at: datetime | None = Field(default=None, alias="timestamp")


class AccountResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._log_path = client.dialect.rate_limit_log_path

    async def rate_limits(self, *, background: bool = False) -> RateLimits:
        """Return limits and balances; also the way to check a key. Raises `AuthenticationFailed` for a wrong one.

        The calls of each text model keep to the limits that stand there from now on. Who asks while somebody asks with
        the same key gets the same answer.
        """
        limits = await self._client.key_limits()
        return await limits.share(
            self._client.address_of("/api_keys/rate_limits"),
            lambda: self._rate_limits(background=background),
            background=background,
        )

    async def _rate_limits(self, *, background: bool) -> RateLimits:
        content = await self._client.get("/api_keys/rate_limits", resource="account", background=background)
        data = content.get("data") if isinstance(content, Mapping) else None
        if not isinstance(data, Mapping):
            raise BadResponse(tr("The service’s response is not a list of limits."))
        limits = read_model(RateLimits, data)
        for each in limits.models:
            requests, tokens = each.amount("RPM"), each.amount("TPM")
            if requests is not None and requests >= 1:
                self._client.limits.pace.set(text_pace(each.model_id), int(requests), int(tokens) if tokens else None)
        return limits

    async def limit_log(self) -> tuple[LimitHit, ...]:
        """Return the last limits that were hit, newest as the service orders them. May need an admin key.

        Two paths are in use; the other one is tried once when the first is not there, and remembered (R-EP-11).
        """
        try:
            content = await self._client.get(self._log_path, resource="account")
        except NotFound:
            other = next(
                dialect.rate_limit_log_path
                for dialect in DIALECTS.values()
                if dialect.rate_limit_log_path != self._log_path
            )
            content = await self._client.get(other, resource="account")
            self._log_path = other
        return ListEnvelope.read(LimitHit, content).data
