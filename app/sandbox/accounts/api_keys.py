"""API keys that make API keys: `/api_keys`. A key made here calls at once, until it ends.

Keys share the money of the key that made them. What a key may spend counts its own charges within its period
(R-KEY-03).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import Checker
from app.sandbox.world import Caller, PersistentDict, World, fingerprint, iso

MAX_KEYS = 500
MAX_DESCRIPTION_CHARS = 64
KINDS = ("INFERENCE", "ADMIN")
PERIODS = ("EPOCH", "MONTH", "LIFETIME")
PRIVACIES = ("ALL", "PRIVATE_TEXT", "PRIVATE_ONLY")
MOST_LIMIT = 9_999_999_999
CHANGEABLE = ("id", "description", "expiresAt", "consumptionLimit", "limitPeriod", "modelPrivacy")


@dataclass(slots=True)
class IssuedKey:
    """One key. The key itself is not kept, only what tells it from others."""

    id: str
    kind: str
    description: str
    last_chars: str
    created_at: float
    expires_at: float | None
    period: str
    privacy: str
    account: str  # the id of the caller whose money it spends
    last_used_at: float | None = None
    limit_usd: Decimal | None = None
    limit_diem: Decimal | None = None

    @property
    def limits(self) -> dict[str, Decimal]:
        """What it may spend within a period, by currency."""
        both = {"USD": self.limit_usd, "DIEM": self.limit_diem}
        return {currency: most for currency, most in both.items() if most is not None}

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "apiKeyType": self.kind,
            "description": self.description,
            "createdAt": iso(self.created_at),
            "expiresAt": iso(self.expires_at) if self.expires_at is not None else None,
            "lastUsedAt": iso(self.last_used_at) if self.last_used_at is not None else None,
            "last6Chars": self.last_chars,
            "consumptionLimits": {"usd": self.limit_usd, "diem": self.limit_diem, "vcu": None},
            "limitPeriod": self.period,
            "modelPrivacy": self.privacy,
        }


def issued_caller(world: World, caller_id: str) -> tuple[bool, Caller | None]:
    """Return whether a key of this fingerprint was made here, and who calls with it: None after its end."""
    rows = issued_of(world)
    row = rows.get(caller_id)
    if row is None:
        return False, None
    now = world.clock.now()
    if row.expires_at is not None and now >= row.expires_at:
        return True, None
    row.last_used_at = now
    rows[caller_id] = row
    caller = world.issued.get(caller_id)
    if caller is None:
        ledger = world.caller(row.account).ledger
        caller = world.issued[caller_id] = Caller(caller_id, row.created_at, ledger, key=row.id)
    return True, caller


def issued_of(world: World) -> PersistentDict[IssuedKey]:
    """The keys that were made here, by the fingerprints of their letters."""
    return world.table("keys", IssuedKey)


def only_admin(call: Call) -> None:
    """Raise `HttpError` 401 for a key that may call models and see nothing of the account."""
    row = issued_of(call.world).get(call.caller.id)
    if row is not None and row.kind == "INFERENCE":
        raise HttpError(401, "This needs an admin key")


def refuse_capped(call: Call) -> None:
    """Raise `HttpError` 402 for a key that has spent what it may within its period."""
    row = issued_of(call.world).get(call.caller.id)
    if row is None:
        return
    spent = _spent(call, row, _period_start(row.period, call.world.clock.utc()))
    for currency, most in row.limits.items():
        if spent[currency] >= most:
            text = (
                f"API key {currency} spend limit exceeded. Your account may still have {currency} balance, but this "
                f"API key has reached its configured {currency} spending limit."
            )
            raise HttpError(402, text)


def is_for_private_models(call: Call) -> bool:
    """Whether the caller's key may list and use private models only (R-KEY-05).

    Every text model of the Sandbox is private, so that a key for private text may use all of them.
    """
    row = issued_of(call.world).get(call.caller.id) if call.caller.key else None
    return row is not None and row.privacy == "PRIVATE_ONLY"


def _spent(call: Call, row: IssuedKey, start: float) -> dict[str, Decimal]:
    """What a key spent since `start`, by currency; what it was given back is taken off."""
    spent = {"USD": Decimal(0), "DIEM": Decimal(0)}
    for line in call.caller.ledger.charges:
        if line.key == row.id and line.at >= start:
            spent[line.currency] -= line.amount_usd
    return spent


def _period_start(period: str, now: datetime) -> float:
    """When the period began that `now` is in: the day, the month, or the beginning of time."""
    midnight = datetime.combine(now.date(), time(), UTC)
    return {"EPOCH": midnight, "MONTH": midnight.replace(day=1)}[period].timestamp() if period != "LIFETIME" else 0.0


async def listed(call: Call) -> Response:
    only_admin(call)
    account = _account(call)
    own = [_shown(call, row) for row in issued_of(call.world).values() if row.account == account.id]
    rows = [_own_row(call), *own]
    return json_answer({"object": "list", "data": rows})


async def made(call: Call) -> Response:
    only_admin(call)
    body, now = call.json_object(), call.world.clock.now()
    check = Checker(flat_list=call.names.issues_in_errors)
    kind = check.choice(("apiKeyType",), body.get("apiKeyType"), KINDS)
    description, terms = _terms(check, body, now)
    for name in ("apiKeyType", "description"):
        if body.get(name) is None:
            check.complain((name,), "Required")
    check.finish()
    assert kind is not None
    assert description is not None
    if len(issued_of(call.world)) >= MAX_KEYS:
        raise HttpError(400, f"There are {MAX_KEYS} keys already")
    text = f"sandbox-{secrets.token_hex(20)}"
    row = IssuedKey(
        str(uuid4()),
        kind,
        description,
        text[-6:],
        now,
        terms.pop("expires_at", None),
        terms.pop("period", "EPOCH"),
        terms.pop("privacy", "ALL"),
        _account(call).id,
        **terms,
    )
    issued_of(call.world)[fingerprint(text)] = row
    shown = row.as_json()
    shown["consumptionLimit"] = shown.pop("consumptionLimits")
    return json_answer({"success": True, "data": {**shown, "apiKey": text}})


async def changed(call: Call) -> Response:
    """Change the fields of a key that are sent, and no others (R-KEY-01)."""
    only_admin(call)
    body, now = call.json_object(), call.world.clock.now()
    check = Checker(flat_list=call.names.issues_in_errors)
    wanted = check.text(("id",), body.get("id"))
    description, terms = _terms(check, body, now)
    for name in body:
        if name not in CHANGEABLE:
            check.complain((name,), "Unrecognized key")
    check.finish()
    rows = issued_of(call.world)
    for caller_id, row in rows.items():
        if row.id == wanted and row.account == _account(call).id:
            rows[caller_id] = replace(row, description=description or row.description, **terms)
            return json_answer({"success": True, "data": _shown(call, rows[caller_id])})
    raise HttpError(400, "API key not found or expired")


def _terms(check: Checker, body: Json, now: float) -> tuple[str | None, dict[str, Any]]:
    """Read the description, and of what can be changed later the fields that are there."""
    description = check.text(("description",), body.get("description"), longest=MAX_DESCRIPTION_CHARS)
    terms: dict[str, Any] = {}
    if "expiresAt" in body:
        terms["expires_at"] = _end(check, check.text(("expiresAt",), body["expiresAt"]), now)
    if "limitPeriod" in body:
        terms["period"] = check.choice(("limitPeriod",), body["limitPeriod"], PERIODS)
    if "modelPrivacy" in body:
        terms["privacy"] = check.choice(("modelPrivacy",), body["modelPrivacy"], PRIVACIES)
    limits = body.get("consumptionLimit")
    if limits is not None and not isinstance(limits, dict):
        check.complain(("consumptionLimit",), "Expected object")
    for currency in ("usd", "diem"):
        if isinstance(limits, dict) and currency in limits:
            most = check.number(("consumptionLimit", currency), limits[currency], 0, MOST_LIMIT)
            terms[f"limit_{currency}"] = None if most is None else Decimal(str(most))
    return description, terms


def _shown(call: Call, row: IssuedKey) -> Json:
    """A key as it is listed: with what it spent, and where it has a limit, within its period."""
    now = call.world.clock.utc()
    week = _spent(call, row, (now - timedelta(days=7)).timestamp())
    usage: Json = {"trailingSevenDays": {"usd": str(week["USD"]), "diem": str(week["DIEM"]), "vcu": "0"}}
    shown = {**row.as_json(), "usage": usage}
    if row.limits:
        period = _spent(call, row, _period_start(row.period, now))
        shown["currentPeriodUsage"] = {"usd": str(period["USD"]), "diem": str(period["DIEM"])}
    return shown


async def revoked(call: Call) -> Response:
    only_admin(call)
    wanted = call.value("id")
    if wanted is None:
        raise HttpError(400, "Which key? Send its ID.")
    if wanted == _account(call).id:
        raise HttpError(400, "The key of the Sandbox itself cannot be revoked")
    rows = issued_of(call.world)
    for caller_id, row in rows.items():
        if row.id == wanted and row.account == _account(call).id:
            del rows[caller_id]
            return json_answer({"success": True})
    raise HttpError(404, "There is no key with that ID")


def _account(call: Call) -> Caller:
    """Whose money the caller's key spends."""
    row = issued_of(call.world).get(call.caller.id)
    return call.caller if row is None else call.world.caller(row.account)


def _own_row(call: Call) -> Json:
    """The key that the Sandbox began with. Its letters are known to nobody here."""
    account = _account(call)
    return {
        "id": account.id,
        "apiKeyType": "ADMIN",
        "description": "Sandbox key",
        "createdAt": iso(account.created_at),
        "expiresAt": None,
        "lastUsedAt": iso(call.world.clock.now()),
        "last6Chars": "",
        "consumptionLimits": {},
        "limitPeriod": "EPOCH",
        "modelPrivacy": "ALL",
    }


def _end(check: Checker, text: str | None, now: float) -> float | None:
    """When a key ends: a moment, or the first moment of a day; never for "" and None."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        check.complain(("expiresAt",), "Expected YYYY-MM-DD or a moment in ISO 8601")
        return None
    at = datetime.combine(at.date(), time(), UTC) if "T" not in text else at
    moment = (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()
    if moment <= now:
        check.complain(("expiresAt",), "Must be in the future")
    return moment
