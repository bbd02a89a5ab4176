"""API keys that make API keys: `GET`, `POST` and `DELETE /api_keys`. A key made here calls at once, until it ends.

Keys share the money of the key that made them. Limits on what a key may spend are not kept here, so one that is asked
for is refused instead of being forgotten.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, time
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

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "apiKeyType": self.kind,
            "description": self.description,
            "createdAt": iso(self.created_at),
            "expiresAt": iso(self.expires_at) if self.expires_at is not None else None,
            "lastUsedAt": iso(self.last_used_at) if self.last_used_at is not None else None,
            "last6Chars": self.last_chars,
            "consumptionLimits": {},
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
        caller = world.issued[caller_id] = Caller(caller_id, row.created_at, ledger)
    return True, caller


def issued_of(world: World) -> PersistentDict[IssuedKey]:
    """The keys that were made here, by the fingerprints of their letters."""
    return world.table("keys", IssuedKey)


def only_admin(call: Call) -> None:
    """Raise `HttpError` 401 for a key that may call models and see nothing of the account."""
    row = issued_of(call.world).get(call.caller.id)
    if row is not None and row.kind == "INFERENCE":
        raise HttpError(401, "This needs an admin key")


async def listed(call: Call) -> Response:
    only_admin(call)
    account = _account(call)
    own = [row.as_json() for row in issued_of(call.world).values() if row.account == account.id]
    rows = [_own_row(call), *own]
    return json_answer({"object": "list", "data": rows})


async def made(call: Call) -> Response:
    only_admin(call)
    body, now = call.json_object(), call.world.clock.now()
    check = Checker(flat_list=call.names.issues_in_errors)
    kind = check.choice(("apiKeyType",), body.get("apiKeyType"), KINDS)
    description = check.text(("description",), body.get("description"), longest=MAX_DESCRIPTION_CHARS)
    period = check.choice(("limitPeriod",), body.get("limitPeriod"), PERIODS)
    privacy = check.choice(("modelPrivacy",), body.get("modelPrivacy"), PRIVACIES)
    expires_at = _end(check, check.text(("expiresAt",), body.get("expiresAt")), now)
    for name in ("apiKeyType", "description"):
        if body.get(name) is None:
            check.complain((name,), "Required")
    if body.get("consumptionLimit") is not None:
        check.complain(("consumptionLimit",), "The Sandbox does not support spending limits per key")
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
        expires_at,
        period or "EPOCH",
        privacy or "ALL",
        _account(call).id,
    )
    issued_of(call.world)[fingerprint(text)] = row
    shown = row.as_json()
    shown["consumptionLimit"] = shown.pop("consumptionLimits")
    return json_answer({"success": True, "data": {**shown, "apiKey": text}})


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
