"""The Sandbox as a window or a test follows it while it works: what is new, one call, and the log as a file."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import urlencode

from app import __version__
from app.sandbox.http.call import Call, dump, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.request_log import MAX_BODY_BYTES, Details, LoggedRequest, Side
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
    """One call, query, headers and bodies, as far as they are kept: the newest hundred, without anything secret."""
    found = call.world.log.details(call.path_values["id"])
    if found is None:
        raise HttpError(404, "The content of this request is no longer stored")
    line, inside = found
    return json_answer({**line_json(line), **_inside(inside)})


async def json_lines(call: Call) -> Response:
    """The log as one JSON object a line, with headers and bodies where they are kept; nothing secret is in it."""
    log = call.world.log
    rows = []
    for line in log:
        found = log.details(line.request_id)
        rows.append(dump({**line_json(line), **(_inside(found[1]) if found is not None else {"query": []})}))
    body = b"".join(row + b"\n" for row in rows)
    return Response(200, {"Content-Type": "application/jsonl; charset=utf-8"}, body)


async def har(call: Call) -> Response:
    """The newest hundred calls as an HTTP Archive (HAR 1.2), which browsers and HTTP tools open."""
    log = call.world.log
    kept = [found for line in log if (found := log.details(line.request_id)) is not None]
    entries = [_entry(call.site.origin, line, inside) for line, inside in kept]
    creator = {"name": "Rialto Sandbox", "version": __version__}
    return json_answer({"log": {"version": "1.2", "creator": creator, "entries": entries}})


def _entry(origin: str, line: LoggedRequest, inside: Details) -> Json:
    asked, told = inside.request, inside.response
    query = f"?{urlencode(inside.query)}" if inside.query else ""
    milliseconds = round(line.duration_s * 1000, 3)
    request: Json = {
        "method": line.method,
        "url": f"{origin}{line.path}{query}",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(asked.headers),
        "queryString": _pairs(inside.query),
        "headersSize": -1,
        "bodySize": asked.size_bytes,
    }
    if asked.size_bytes:
        request["postData"] = {"mimeType": _type(asked), "params": [], "text": asked.text, **_cut(asked)}
    response: Json = {
        "status": line.status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(told.headers),
        "content": {"size": told.size_bytes, "mimeType": _type(told), "text": told.text, **_cut(told)},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": told.size_bytes,
    }
    return {
        "startedDateTime": iso(line.at),
        "time": milliseconds,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "_model": line.model,
        "_cost_usd": str(line.cost_usd),
        "_scripted_answer": line.scripted_answer,
    }


def _inside(inside: Details) -> Json:
    query = [list(pair) for pair in inside.query]
    return {"query": query, "request": _side(inside.request), "response": _side(inside.response)}


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in pairs]


def _type(side: Side) -> str:
    return next((value for name, value in side.headers if name.lower() == "content-type"), "")


def _cut(side: Side) -> Json:
    if side.kind == "media":
        return {"comment": "Media is not kept"}
    if side.kind == "form":
        return {"comment": "The parts of a form, not its bytes"}
    return {"comment": f"Only the first {MAX_BODY_BYTES} bytes are kept"} if side.size_bytes > MAX_BODY_BYTES else {}


def line_json(line: LoggedRequest) -> Json:
    return {**line._asdict(), "at": iso(line.at), "cost_usd": str(line.cost_usd)}


def _side(side: Side) -> Json:
    return {**side._asdict(), "headers": [list(pair) for pair in side.headers]}


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
