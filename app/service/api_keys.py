"""The account's API keys: `GET`, `POST`, `PATCH` and `DELETE /api_keys`. Only some keys may use it; others get 401.

Source: public description of the service, API keys; not in its specification, so every field may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, get_args

from pydantic import Field, SecretStr

from app.service.calls import Call, JsonContent, limit, query
from app.service.client import ServiceClient
from app.service.errors import BadResponse, OutcomeUnknown
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr

PATH = "/api_keys"
RESOURCE = "account"
MAX_DESCRIPTION_CHARS = 64
MOST_LIMIT = Decimal(9_999_999_999)
KeyKind = Literal["INFERENCE", "ADMIN"]
LimitPeriod = Literal["EPOCH", "MONTH", "LIFETIME"]  # a day in UTC, a month in UTC, for ever
ModelPrivacy = Literal["ALL", "PRIVATE_TEXT", "PRIVATE_ONLY"]


class Amounts(WireModel):
    """Of money and of daily credits."""

    usd: Decimal | None = None
    diem: Decimal | None = None


class Spent(WireModel):
    week: Amounts = Field(default_factory=Amounts, alias="trailingSevenDays")


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What a key is called, when it ends and what it may spend.

    `expires_on` is `YYYY-MM-DD`, "" for never. `usd` and `diem` are 0 to 9,999,999,999 within `period`, None for no
    limit; `usd` counts bundled and earned credits too.
    """

    description: str
    expires_on: str = ""
    usd: Decimal | None = None
    diem: Decimal | None = None
    period: LimitPeriod = "EPOCH"
    privacy: ModelPrivacy = "ALL"

    def to_body(self, before: KeyTerms | None = None) -> dict[str, object]:
        """The fields that differ from `before` (R-KEY-01). Raises `LimitExceeded`."""
        limit(
            0 < len(self.description) <= MAX_DESCRIPTION_CHARS,
            "description",
            f"1–{MAX_DESCRIPTION_CHARS}",
            tr(
                "A key needs a name of 1 to {max_description_chars} characters.",
                max_description_chars=MAX_DESCRIPTION_CHARS,
            ),
        )
        for name, most in (("usd", self.usd), ("diem", self.diem)):
            allowed = f"0–{MOST_LIMIT}"
            is_possible = most is None or (most.is_finite() and 0 <= most <= MOST_LIMIT)
            limit(is_possible, name, allowed, tr("Enter an amount of 0 or more."))
        body: dict[str, object] = {"description": self.description}
        before = before or KeyTerms("")
        if self.expires_on != before.expires_on:
            body["expiresAt"] = self.expires_on
        if (self.usd, self.diem) != (before.usd, before.diem):
            body["consumptionLimit"] = {"usd": _number(self.usd), "diem": _number(self.diem)}
        if self.period != before.period:
            body["limitPeriod"] = self.period
        if self.privacy != before.privacy:
            body["modelPrivacy"] = self.privacy
        if self.description == before.description:
            del body["description"]
        return body


def _number(amount: Decimal | None) -> float | int | None:
    """An amount as JSON writes it: twelve digits at most, which a float holds exactly enough to read the same."""
    return amount if amount is None else int(amount) if amount == int(amount) else float(amount)


class ApiKey(WireModel):
    """One key as the service lists it; never the key itself. `kind` is "INFERENCE", "ADMIN" or a later word."""

    id: str
    kind: str = Field(default="", alias="apiKeyType")
    description: str = ""
    expires_at: datetime | None = Field(default=None, alias="expiresAt")
    last_used_at: datetime | None = Field(default=None, alias="lastUsedAt")
    last_chars: str = Field(default="", alias="last6Chars")
    limits: Amounts = Field(default_factory=Amounts, alias="consumptionLimits")
    period: str = Field(default="", alias="limitPeriod")
    privacy: str = Field(default="", alias="modelPrivacy")
    spent: Spent = Field(default_factory=Spent, alias="usage")
    spent_in_period: Amounts = Field(default_factory=Amounts, alias="currentPeriodUsage")  # where a limit is set

    @property
    def terms(self) -> KeyTerms:
        """What can be changed; words that are not known yet read as the defaults."""
        return KeyTerms(
            self.description,
            self.expires_at.astimezone(UTC).date().isoformat() if self.expires_at is not None else "",
            self.limits.usd,
            self.limits.diem,
            next((each for each in get_args(LimitPeriod) if each == self.period), "EPOCH"),
            next((each for each in get_args(ModelPrivacy) if each == self.privacy), "ALL"),
        )


class NewApiKey(ApiKey):
    """A key that was just made; the only time that the key itself is told."""

    secret: SecretStr = Field(alias="apiKey")


class ApiKeysResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def list_all(self) -> tuple[ApiKey, ...]:
        """Return every key of the account. Raises `AuthenticationFailed` for a key that may not see them."""
        return ListEnvelope.read(ApiKey, await self._client.get(PATH, resource=RESOURCE)).data

    async def make(self, kind: KeyKind, terms: KeyTerms) -> NewApiKey:
        """Make a key. Sent once: a second try would make a second key.

        Raises `OutcomeUnknown` when a key may have been made that nobody can know any more.
        """
        body = {"apiKeyType": kind, **terms.to_body()}
        content = await self._client.post_json(PATH, body, kind=CallKind.ONCE, resource=RESOURCE)
        try:
            return read_model(NewApiKey, _data(content))
        except BadResponse:
            raise OutcomeUnknown(
                tr("The service created a key but did not return it. Find it in the list and revoke it.")
            ) from None

    async def change(self, key: ApiKey, terms: KeyTerms) -> None:
        """Change what differs from the key as it was listed; nothing is sent where nothing does."""
        body = terms.to_body(key.terms)
        if body:
            call = Call("PATCH", PATH, CallKind.IDEMPOTENT, RESOURCE, content=JsonContent({"id": key.id, **body}))
            async with self._client.fetch(call):
                pass

    async def revoke(self, key_id: str) -> None:
        """End a key for good."""
        call = Call("DELETE", PATH, CallKind.IDEMPOTENT, RESOURCE, query({"id": key_id}))
        async with self._client.fetch(call):
            pass


def _data(content: object) -> object:
    return content.get("data") if isinstance(content, Mapping) else None
