"""What a caller can learn about itself: limits, the log of refusals, balance and usage from the ledger."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.sandbox.accounts.api_keys import issued_of, only_admin
from app.sandbox.accounts.x402_terms import TOP_UP_SKU
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.limits import allowance
from app.sandbox.http.validation import Checker
from app.sandbox.world import Charge, iso

MAX_LOOKBACK_DAYS = 90
KEY_NAME = "Sandbox key"
NO_MODEL = "crypto-rpc"  # what chain calls are booked under begins with it
BESIDE = ("web-search", "x-search", "-voice-clone")  # booked with a model, but not in its units
# What one unit is, by the type of a model.
UNITS = {
    "text": "tokens",
    "embedding": "tokens",
    "tts": "characters",
    "asr": "seconds",
    "video": "seconds",
    "image": "images",
    "inpaint": "images",
    "upscale": "images",
}


async def rate_limits(call: Call) -> Response:
    now = call.world.clock.utc()
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    limits = []
    for entry in await call.site.models.listed("all"):
        allowed = allowance(entry.tier, partner=call.world.settings.partner)
        amounts: list[Json] = [{"amount": allowed.requests, "type": "RPM"}]
        if allowed.tokens is not None:
            amounts.append({"amount": allowed.tokens, "type": "TPM"})
        limits.append({"apiModelId": entry.id, "rateLimits": amounts})
    ledger = call.caller.ledger
    data = {
        "accessPermitted": not ledger.empty,
        "apiTier": {"id": "partner" if call.world.settings.partner else "paid", "isCharged": True},
        "balances": {"USD": ledger.balance_usd, "DIEM": ledger.balance_diem},
        "keyExpiration": None,
        "nextEpochBegins": iso(tomorrow),
        "rateLimits": limits,
    }
    return json_answer({"data": data})


async def rate_limit_log(call: Call) -> Response:
    only_admin(call)
    return json_answer({"object": "list", "data": list(call.caller.limit_log)})


async def balance(call: Call) -> Response:
    only_admin(call)
    ledger = call.caller.ledger
    currency = "DIEM" if ledger.balance_diem > 0 else "USD" if ledger.balance_usd > 0 else None
    return json_answer(
        {
            "canConsume": not ledger.empty,
            "consumptionCurrency": currency,
            "balances": {"usd": ledger.balance_usd, "diem": ledger.balance_diem},
            "diemEpochAllocation": ledger.daily_diem,
        }
    )


async def usage_history(call: Call) -> Response:
    """Ledger lines, oldest first. The cursor is the number of lines already shown, together with the page size."""
    only_admin(call)
    check = Checker(flat_list=call.names.issues_in_errors)
    cursor = call.value("cursor")
    filters = ("startTimestamp", "endTimestamp", "currency", "pageSize")
    if cursor is not None:
        if any(call.value(name) is not None for name in filters):
            check.complain(("cursor",), "The cursor cannot be combined with other parameters")
        parts = cursor.split(".")
        if len(parts) != 4 or not all(re.fullmatch(r"[0-9]{1,15}", part) for part in parts) or not int(parts[1]):
            check.complain(("cursor",), "This is not a cursor of this endpoint")
            check.finish()
        skip, size = int(parts[0]), int(parts[1])
        start, end = float(parts[2]), float(parts[3])
    else:
        skip, size = 0, check.digits(("pageSize",), call.value("pageSize"), 10, 1000) or 1000
        start, end = _moment(check, call, "startTimestamp", 0.0), _moment(check, call, "endTimestamp", 2.0**40)
        if end <= start:
            check.complain(("endTimestamp",), "Must be later than startTimestamp")
    currency = check.choice(("currency",), call.value("currency"), ("USD", "DIEM", "BUNDLED_CREDITS"))
    check.finish()
    lines = [c for c in call.caller.ledger.charges if start <= c.at < end and currency in (None, c.currency)]
    page = lines[skip : skip + size]
    following = f"{skip + size}.{size}.{int(start)}.{int(end)}" if skip + size < len(lines) else None
    call.headers |= {
        "x-pagination-limit": str(size),
        "x-pagination-page": str(skip // size + 1),
        "x-pagination-total": str(len(lines)),
        "x-pagination-total-pages": str(-(-len(lines) // size)),
    }
    if "text/csv" in call.request.headers.get("accept", ""):
        return _as_csv(call, page, following)
    return json_answer({"data": [_as_json(charge) for charge in page], "nextCursor": following})


async def usage_analytics(call: Call) -> Response:
    """Sums over the ledger's spendings, in USD and in daily credits: by day, by model, by key. Payments are none."""
    only_admin(call)

    start, end, shown = _range(call)
    charges = [c for c in call.caller.ledger.charges if start <= c.at < end and c.sku != TOP_UP_SKU]
    by_day, by_model, by_key = _Sums(), _Sums(), _Sums()
    names = {"": KEY_NAME, **{row.id: row.description for row in issued_of(call.world).values()}}
    by_key_and_day: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    by_model_and_day: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    parts: dict[str, _Sums] = defaultdict(_Sums)
    for charge in charges:
        day, name = datetime.fromtimestamp(charge.at, UTC).date().isoformat(), charge.model or charge.sku
        by_day.add(day, charge)
        by_model.add(name, charge)
        by_key.add(charge.key, charge)
        by_key_and_day[day][names.get(charge.key, charge.key)] -= charge.amount_usd
        by_model_and_day[day][name] -= charge.amount_usd
        parts[name].add(charge.sku, charge)
    keys = sorted(by_key.spent, key=lambda key: (-by_key.spent[key], key)) or [""]
    ranked = sorted(by_model.spent, key=lambda name: (-by_model.spent[name], name))
    return json_answer(
        {
            "lookback": shown,
            "byDate": [{"date": day, "USD": by_day.usd[day], "DIEM": by_day.diem[day]} for day in sorted(by_day.spent)],
            "byModel": [_model_line(call, name, by_model, parts[name]) for name in ranked],
            "byModelDaily": [{"date": _unix_ms(day), **by_model_and_day[day]} for day in sorted(by_model_and_day)],
            "topModels": ranked[:10],
            "byKey": [
                {
                    "apiKeyId": key or call.caller.id,
                    "description": names.get(key, key),
                    "totalUsd": by_key.usd[key],
                    "totalDiem": by_key.diem[key],
                    "totalUnits": by_key.units[key],
                }
                for key in keys
            ],
            "byKeyDaily": [{"date": _unix_ms(day), **by_key_and_day[day]} for day in sorted(by_key_and_day)],
            "topKeyNames": [names.get(key, key) for key in keys[:10]],
        }
    )


class _Sums:
    """What was spent under each of several names. `spent` is USD and daily credits together: one for one."""

    def __init__(self) -> None:
        self.usd: dict[str, Decimal] = defaultdict(Decimal)
        self.diem: dict[str, Decimal] = defaultdict(Decimal)
        self.spent: dict[str, Decimal] = defaultdict(Decimal)
        self.units: dict[str, Decimal] = defaultdict(Decimal)

    def add(self, name: str, charge: Charge) -> None:
        (self.diem if charge.currency == "DIEM" else self.usd)[name] -= charge.amount_usd
        self.spent[name] -= charge.amount_usd
        refunded = charge.amount_usd > 0  # takes no units with it
        if not refunded and (name == charge.sku or not charge.sku.endswith(BESIDE)):
            self.units[name] += charge.units


def _model_line(call: Call, name: str, sums: _Sums, parts: _Sums) -> Json:
    """One model, or one service without a model (chain calls, searches), with what it was paid for."""
    kind = _kind(call, name)
    line: Json = {
        "modelName": name,
        "unitType": _unit(kind),
        "totalUsd": sums.usd[name],
        "totalDiem": sums.diem[name],
        "totalUnits": sums.units[name],
    }
    if kind:
        line["modelType"] = kind
    if len(parts.spent) > 1:
        line["breakdown"] = [
            {
                "sku": sku,
                "totalUsd": parts.usd[sku],
                "totalDiem": parts.diem[sku],
                "totalUnits": parts.units[sku],
            }
            for sku in sorted(parts.spent)
        ]
    return line


def _kind(call: Call, name: str) -> str:
    """The type of a model as `GET /models` has it, "" for what is none."""
    if name.startswith(NO_MODEL):
        return ""
    return next((one.type for one in call.site.media_models if one.id == name), "text")


def _unit(kind: str) -> str:
    """What is counted for a type of model."""
    return UNITS.get(kind, "credits")


async def usage_is_gone(_: Call) -> Response:
    link = '</api/v1/billing/usage-history>; rel="successor-version"'
    headers = {"Deprecation": "true", "Sunset": "Sat, 01 Aug 2026 00:00:00 GMT", "Link": link}
    raise HttpError(410, "This endpoint is gone. Use /billing/usage-history.", headers)


def _as_json(charge: Charge) -> Json:
    line: Json = {
        "timestamp": iso(charge.at),
        "sku": charge.sku,
        "units": charge.units,
        "pricePerUnitUsd": charge.price_per_unit_usd,
        "amount": charge.amount_usd,
        "currency": charge.currency,
        "notes": "API Inference",
        "inferenceDetails": None,
    }
    if charge.prompt_tokens is not None:
        line["inferenceDetails"] = {
            "requestId": charge.request_id,
            "promptTokens": charge.prompt_tokens,
            "completionTokens": charge.completion_tokens,
            "inferenceExecutionTime": round((charge.seconds or 0) * 1000),
        }
    return line


def _as_csv(call: Call, charges: list[Charge], following: str | None) -> Response:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["timestamp", "sku", "units", "pricePerUnitUsd", "amount", "currency", "notes"])
    for charge in charges:
        line = _as_json(charge)
        writer.writerow(
            [line[name] for name in ("timestamp", "sku", "units", "pricePerUnitUsd", "amount", "currency", "notes")]
        )
    if following:
        call.headers["x-next-cursor"] = following
    headers = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="usage-history.csv"',
    }
    return Response(200, headers, table.getvalue().encode())


def _moment(check: Checker, call: Call, name: str, otherwise: float) -> float:
    raw = call.value(name)
    if raw is None:
        return otherwise
    try:
        return datetime.fromisoformat(raw.replace("Z", "+00:00")).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        check.complain((name,), "Invalid datetime")
        return otherwise


def _range(call: Call) -> tuple[float, float, str]:
    """Return Unix seconds from and to, and the text for `lookback`."""
    check = Checker(flat_list=call.names.issues_in_errors)
    now = call.world.clock.utc()
    first, last = call.value("startDate"), call.value("endDate")
    days = 7
    if first is None and last is None:
        lookback = call.value("lookback") or "7d"
        number = re.fullmatch(r"([0-9]{1,3})d", lookback)
        if number is None or not 1 <= int(number[1]) <= MAX_LOOKBACK_DAYS:
            check.complain(("lookback",), f"Expected 1d to {MAX_LOOKBACK_DAYS}d")
        else:
            days = int(number[1])
        check.finish()
        return (now - timedelta(days=days)).timestamp(), (now + timedelta(seconds=1)).timestamp(), f"{days}d"
    bounds: list[Any] = []
    for name, value in (("startDate", first), ("endDate", last)):
        try:
            bounds.append(datetime.strptime(value or "", "%Y-%m-%d").replace(tzinfo=UTC))
        except ValueError:
            check.complain((name,), "Expected YYYY-MM-DD")
    check.finish()
    return bounds[0].timestamp(), (bounds[1] + timedelta(days=1)).timestamp(), f"{first}..{last}"


def _unix_ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
