"""What a caller can learn about itself: limits, the log of refusals, balance and usage from the ledger."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.sandbox.call import Call, json_answer
from app.sandbox.errors import Json, Refusal
from app.sandbox.http import Answer
from app.sandbox.limits import allowance
from app.sandbox.validation import Checker
from app.sandbox.world import Charge, iso

MAX_LOOKBACK_DAYS = 90


async def rate_limits(call: Call) -> Answer:
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


async def rate_limit_log(call: Call) -> Answer:
    return json_answer({"object": "list", "data": list(call.caller.limit_log)})


async def balance(call: Call) -> Answer:
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


async def usage_history(call: Call) -> Answer:
    """Ledger lines, oldest first. The cursor is the number of lines already shown, together with the page size."""
    check = Checker(flat_list=call.names.issues_in_errors)
    cursor = call.value("cursor")
    filters = ("startTimestamp", "endTimestamp", "currency", "pageSize")
    if cursor is not None:
        if any(call.value(name) is not None for name in filters):
            check.complain(("cursor",), "The cursor cannot be combined with other parameters")
        parts = cursor.split(".")
        if len(parts) != 4 or not all(part.isdigit() for part in parts):
            check.complain(("cursor",), "This is not a cursor of this endpoint")
            check.finish()
        skip, size = int(parts[0]), int(parts[1])
        start, end = float(parts[2]), float(parts[3])
    else:
        skip, size = 0, _whole(check, call, "pageSize", 10, 1000) or 1000
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


async def usage_analytics(call: Call) -> Answer:
    start, end, shown = _range(call)
    charges = [c for c in call.caller.ledger.charges if start <= c.at < end]
    days: dict[str, Decimal] = defaultdict(Decimal)
    models: dict[str, dict[str, Decimal]] = defaultdict(lambda: {"usd": Decimal(0), "units": Decimal(0)})
    daily: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for charge in charges:
        day = datetime.fromtimestamp(charge.at, UTC).date().isoformat()
        days[day] -= charge.amount_usd
        models[charge.model]["usd"] -= charge.amount_usd
        models[charge.model]["units"] += charge.units
        daily[day][charge.model] -= charge.amount_usd
    total = sum(days.values(), Decimal(0))
    ranked = sorted(models, key=lambda name: -models[name]["usd"])
    key_name = "Sandbox key"
    return json_answer(
        {
            "lookback": shown,
            "byDate": [{"date": day, "USD": days[day], "DIEM": 0} for day in sorted(days)],
            "byModel": [
                {
                    "modelName": name,
                    "unitType": "tokens",
                    "modelType": "text",
                    "totalUsd": models[name]["usd"],
                    "totalDiem": 0,
                    "totalUnits": models[name]["units"],
                }
                for name in ranked
            ],
            "byModelDaily": [{"date": _unix_ms(day), **daily[day]} for day in sorted(daily)],
            "topModels": ranked[:10],
            "byKey": [
                {
                    "apiKeyId": call.caller.id,
                    "description": key_name,
                    "totalUsd": total,
                    "totalDiem": 0,
                    "totalUnits": sum((c.units for c in charges), Decimal(0)),
                }
            ],
            "byKeyDaily": [{"date": _unix_ms(day), key_name: days[day]} for day in sorted(days)],
            "topKeyNames": [key_name],
        }
    )


async def usage_is_gone(_: Call) -> Answer:
    link = '</api/v1/billing/usage-history>; rel="successor-version"'
    headers = {"Deprecation": "true", "Sunset": "Sat, 01 Aug 2026 00:00:00 GMT", "Link": link}
    raise Refusal(410, "This endpoint is gone. Use /billing/usage-history.", headers)


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


def _as_csv(call: Call, charges: list[Charge], following: str | None) -> Answer:
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
    return Answer(200, headers, table.getvalue().encode())


def _whole(check: Checker, call: Call, name: str, low: int, high: int) -> int | None:
    raw = call.value(name)
    if raw is None:
        return None
    if not raw.isdigit():
        check.complain((name,), "Expected integer, received string")
        return None
    return check.integer((name,), int(raw), low, high)


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
        number = lookback.removesuffix("d")
        if not (lookback.endswith("d") and number.isdigit() and 1 <= int(number) <= MAX_LOOKBACK_DAYS):
            check.complain(("lookback",), f"Expected 1d to {MAX_LOOKBACK_DAYS}d")
        else:
            days = int(number)
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
