"""`/sandbox/…`: what a test, or the Settings page, sets and reads. Every control can be repeated without harm."""

from __future__ import annotations

from dataclasses import asdict

from app.sandbox.http.call import DIALECTS, Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.faults import NAMES
from app.sandbox.http.log_endpoints import line_json
from app.sandbox.http.scripted_responses import read
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.world import iso

LARGEST_OFFSET_S = 1e9  # 31 years

LIMIT_TYPES = ("user", "api_key", "global")


async def state(call: Call) -> Response:
    """Everything at a glance: clock, balance, settings, faults, and what is served."""
    world = call.world
    return json_answer(
        {
            "base_url": f"{call.site.origin}/api/v1",
            "now": iso(world.clock.now()),
            "clock_offset_s": world.clock.offset_s,
            "balance": _balance(call),
            "settings": asdict(world.settings),
            "faults": world.faults.as_json(),
            "requests": len(world.log),
            "local_models": [entry.id for entry in await call.site.local_servers.models()],
        }
    )


async def log(call: Call) -> Response:
    """The request log, newest last: no bodies, no headers, no keys."""
    return json_answer({"object": "list", "data": [line_json(line) for line in call.world.log]})


async def last_prompt(call: Call) -> Response:
    """The prompt of the last chat as the model got it: default system prompts first, the caller's after."""
    if call.world.last_prompt is None:
        raise HttpError(404, "No chat has been served yet")
    return json_answer(call.world.last_prompt)


async def faults(call: Call) -> Response:
    """List what is armed, or disarm all of it. With `?scope=key` what is armed for the caller's key alone."""
    whose = _scope(call)
    if call.request.method == "DELETE":
        call.world.faults.disarm_all(whose)
    return json_answer({"armed": call.world.faults.as_json(whose), "known": NAMES})


async def fault(call: Call) -> Response:
    """Arm or disarm one. With `?scope=key` it strikes requests with the caller's key alone."""
    name, whose = call.path_values["name"], _scope(call)
    if name not in NAMES:
        raise HttpError(404, f"There is no fault called {name}; there are {', '.join(NAMES)}")
    if call.request.method == "DELETE":
        call.world.faults.disarm(name, whose)
    else:
        call.world.faults.arm(name, _body(call), whose)
    return json_answer({"armed": call.world.faults.as_json(whose)})


async def answers(call: Call) -> Response:
    """List scripted answers. PUT takes the body's in place of all, POST adds them, DELETE forgets every one."""
    listed, method = call.world.answers, call.request.method
    if method == "DELETE":
        listed.replace(())
    elif method == "PUT":
        listed.replace(read(_body(call)))
    elif method == "POST":
        listed.add(read(_body(call)))
    return json_answer({"answers": listed.as_json()})


async def answer(call: Call) -> Response:
    call.world.answers.remove(call.path_values["name"])
    return json_answer({"answers": call.world.answers.as_json()})


async def answers_schema(call: Call) -> Response:
    text = (call.site.data_files / "answers.schema.json").read_bytes()
    return Response(200, {"Content-Type": "application/schema+json"}, text)


async def unscripted(_call: Call) -> Response:
    """A path that only scripted answers speak of, and none of them matches this request."""
    raise HttpError(404, "No scripted answer matches this request")


async def preflight(call: Call) -> Response:
    """What a browser asks before a web page of an allowed origin may call."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
        "Access-Control-Allow-Headers": call.request.headers.get("access-control-request-headers", ""),
        "Access-Control-Max-Age": "600",
    }
    return Response(204, headers)


async def clock(call: Call) -> Response:
    """Set how far the Sandbox's clock is ahead of (or behind) the real one: `{"offset_s": 60}`.

    With `?scope=key` how far the caller's time is ahead of that of all others; limits, jobs and balances follow it.
    """
    whose = _scope(call)
    check = Checker()
    body = _body(call)
    offset_s = check.number(("offset_s",), body.get("offset_s"), -LARGEST_OFFSET_S, LARGEST_OFFSET_S)
    if body.get("offset_s") is None:
        check.complain(("offset_s",), REQUIRED)
    check.finish()
    world_clock = call.world.clock
    if whose:
        world_clock.offsets_s[whose] = float(offset_s or 0)
    else:
        world_clock.offset_s = float(offset_s or 0)
    told = world_clock.offsets_s[whose] if whose else world_clock.offset_s
    return json_answer({"now": iso(world_clock.now()), "offset_s": told})


async def balance(call: Call) -> Response:
    """Set the caller's balance: `{"usd": "0.05", "diem": "1"}`; either may be left out. DIEM comes again every day."""
    body = _body(call)
    ledger = call.caller.ledger
    check = Checker()
    usd, diem = (check.amount((name,), body.get(name)) for name in ("usd", "diem"))
    check.finish()
    ledger.balance_usd = ledger.balance_usd if usd is None else usd
    if diem is not None:
        ledger.give_daily(diem, call.world.clock.now())
    return json_answer(_balance(call))


async def settings(call: Call) -> Response:
    """Change what is named and leave the rest."""
    check = Checker()
    body = _body(call)
    changes: Json = {
        "dialect": check.choice(("dialect",), body.get("dialect"), DIALECTS),
        "tokens_per_second": check.number(("tokens_per_second",), body.get("tokens_per_second"), 0),
        "partner": check.boolean(("partner",), body.get("partner")),
        "staff": check.boolean(("staff",), body.get("staff")),
        "timestamp_header": check.boolean(("timestamp_header",), body.get("timestamp_header")),
        "retry_count_header": check.integer(("retry_count_header",), body.get("retry_count_header"), 0),
        "auth_refreshed_header": check.boolean(("auth_refreshed_header",), body.get("auth_refreshed_header")),
        "limit_type": check.choice(("limit_type",), body.get("limit_type"), LIMIT_TYPES),
        "leaving_model": check.text(("leaving_model",), body.get("leaving_model")),
        "any_key": check.boolean(("any_key",), body.get("any_key")),
        "no_limits": check.boolean(("no_limits",), body.get("no_limits")),
        "fund_any": check.boolean(("fund_any",), body.get("fund_any")),
        "default_models": check.boolean(("default_models",), body.get("default_models")),
    }
    check.finish()
    for name, value in changes.items():
        if value is not None:
            setattr(call.world.settings, name, value)
    return json_answer(asdict(call.world.settings))


async def reset(call: Call) -> Response:
    """Forget callers, balances, faults, limits and the log; set clock, settings and scripted answers back."""
    call.world.reset()
    return json_answer({"reset": True})


def _scope(call: Call) -> str:
    """Return whom a control is for: the id of the caller with `?scope=key`, otherwise "", which is all."""
    check = Checker()
    scope = check.choice(("scope",), call.value("scope"), ("all", "key"))
    check.finish()
    return call.caller.id if scope == "key" else ""


def _body(call: Call) -> Json:
    return call.json_object() if call.request.body else {}


def _balance(call: Call) -> Json:
    ledger = call.caller.ledger
    return {"usd": str(ledger.balance_usd), "diem": str(ledger.balance_diem)}
