"""The account's API keys: `GET`, `POST` and `DELETE /api_keys`. Only some keys may use it; the others get 401.

Source: public description of the service, API keys; not in its specification, so every field may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field, SecretStr

from app.service.calls import Call, limit, query
from app.service.client import ServiceClient
from app.service.errors import BadResponse, OutcomeUnknown
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr

PATH = "/api_keys"
RESOURCE = "account"
MAX_DESCRIPTION_CHARS = 64
KeyKind = Literal["INFERENCE", "ADMIN"]


class Amounts(WireModel):
    """Of money and of daily credits."""

    usd: Decimal | None = None
    diem: Decimal | None = None


class Spent(WireModel):
    week: Amounts = Field(default_factory=Amounts, alias="trailingSevenDays")


class ApiKey(WireModel):
    """One key as the service lists it; never the key itself. `kind` is "INFERENCE", "ADMIN" or a later word."""

    id: str
    kind: str = Field(default="", alias="apiKeyType")
    description: str = ""
    created_at: datetime | None = Field(default=None, alias="createdAt")
    expires_at: datetime | None = Field(default=None, alias="expiresAt")
    last_used_at: datetime | None = Field(default=None, alias="lastUsedAt")
    last_chars: str = Field(default="", alias="last6Chars")
    limits: Amounts = Field(default_factory=Amounts, alias="consumptionLimits")
    period: str = Field(default="", alias="limitPeriod")
    spent: Spent = Field(default_factory=Spent, alias="usage")


class NewApiKey(ApiKey):
    """A key that was just made; the only time that the key itself is told."""

    secret: SecretStr = Field(alias="apiKey")


class ApiKeysResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def list_all(self) -> tuple[ApiKey, ...]:
        """Return every key of the account. Raises `AuthenticationFailed` for a key that may not see them."""
        return ListEnvelope.read(ApiKey, await self._client.get(PATH, resource=RESOURCE)).data

    async def make(self, description: str, kind: KeyKind, expires_on: str = "") -> NewApiKey:
        """Make a key; `expires_on` is `YYYY-MM-DD`, or "" for never. Sent once: a second try would make a second key.

        Raises `OutcomeUnknown` when a key may have been made that nobody can know any more.
        """
        limit(
            0 < len(description) <= MAX_DESCRIPTION_CHARS,
            "description",
            f"1–{MAX_DESCRIPTION_CHARS}",
            tr(
                "A key needs a name of 1 to {max_description_chars} characters.",
                max_description_chars=MAX_DESCRIPTION_CHARS,
            ),
        )
        body: dict[str, object] = {"apiKeyType": kind, "description": description}
        if expires_on:
            body["expiresAt"] = expires_on
        content = await self._client.post_json(PATH, body, kind=CallKind.ONCE, resource=RESOURCE)
        try:
            return read_model(NewApiKey, _data(content))
        except BadResponse:
            raise OutcomeUnknown(
                tr("The service created a key but did not return it. Find it in the list and revoke it.")
            ) from None

    async def revoke(self, key_id: str) -> None:
        """End a key for good."""
        call = Call("DELETE", PATH, CallKind.IDEMPOTENT, RESOURCE, query({"id": key_id}))
        async with self._client.fetch(call):
            pass


def _data(content: object) -> object:
    return content.get("data") if isinstance(content, Mapping) else None
