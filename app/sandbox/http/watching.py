"""`GET /sandbox/watch` and `/sandbox/log/{id}`: the Sandbox as a window or a test follows it while it works."""

from __future__ import annotations

from dataclasses import asdict

from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import Json, Refusal
from app.sandbox.http.request_log import LoggedRequest, Side
from app.sandbox.http.validation import Checker
from app.sandbox.world import iso

LONGEST_WAIT_S = 25.0


async def watch(call: Call) -> Response:
    """Answer as soon as something is new, or after `wait_s` (0 to 25, default 0).

    `epoch`, `revision` and `after` (the number of the last line) are those of the answer before, so that nothing is
    told twice and nothing is missed. Without them, everything there is comes at once.
    """
    check = Checker()
    known = {name: check.digits((name,), call.value(name)) for name in ("epoch", "revision", "after")}
    wait_s = min(LONGEST_WAIT_S, max(0.0, _seconds(check, call)))
    check.finish()
    world = call.world
    log = world.log
    if known["epoch"] == log.epoch and known["revision"] is not None:
        await log.wait(known["revision"], wait_s)
    after = known["after"] if known["epoch"] == log.epoch and known["after"] is not None else 0
    ledger = call.caller.ledger
    return json_answer(
        {
            "epoch": log.epoch,
            "revision": log.revision,
            "last": log.last,
            "lines": [{"number": number, **line_json(line)} for number, line in log.after(after)],
            "now": iso(world.clock.now()),
            "clock_offset_s": world.clock.offset_s,
            "books_since": iso(world.books_since),
            "balance": {"usd": str(ledger.balance_usd), "diem": str(ledger.balance_diem)},
            "settings": asdict(world.settings),
            "faults": world.faults.as_json(),
        }
    )


async def details(call: Call) -> Response:
    """One call with headers and bodies, as far as they are kept: the newest hundred, without anything secret."""
    found = call.world.log.details(call.path_values["id"])
    if found is None:
        raise Refusal(404, "The content of this request is no longer stored")
    line, inside = found
    return json_answer({**line_json(line), "request": _side(inside.request), "response": _side(inside.response)})


def line_json(line: LoggedRequest) -> Json:
    return {**asdict(line), "at": iso(line.at), "cost_usd": str(line.cost_usd)}


def _side(side: Side) -> Json:
    return {**asdict(side), "headers": [list(pair) for pair in side.headers]}


def _seconds(check: Checker, call: Call) -> float:
    raw = call.value("wait_s")
    try:
        seconds = float(raw or 0)
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:
        check.complain(("wait_s",), "Expected number, received string")
        return 0.0
    return seconds
