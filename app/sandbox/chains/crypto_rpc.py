"""`GET /crypto/rpc/networks` and `POST /crypto/rpc/{network}`: JSON-RPC to the Sandbox's own chains, for credits."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.sandbox.accounts.x402_terms import PLAY_ASSET
from app.sandbox.chains.networks import (
    DOLLARS,
    EVERY_LOG,
    MULTICALL3,
    TEST_ACCOUNTS,
    Chains,
    Network,
    chains_of,
    networks,
)
from app.sandbox.chains.rpc_memory import PAID, STAFF, UNLIMITED, audit, audit_of, capped, memory_of
from app.sandbox.chains.rpc_methods import Methods, methods
from app.sandbox.chains.rpc_values import RpcError, data_bytes, hexed
from app.sandbox.charges import charge, refuse_unpaid
from app.sandbox.http.call import Call, dump, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json, too_large
from app.sandbox.http.validation import REQUIRED, Checker, Path, kind_of, read_json
from app.sandbox.installed_engines import need

MAX_ITEMS = 100
KEY = re.compile(r"[A-Za-z0-9_-]{1,255}")
SENDS = "eth_sendRawTransaction"


@dataclass(frozen=True, slots=True)
class Item:
    method: str
    params: object
    id: object
    multiplier: int


async def list_networks(call: Call) -> Response:
    return json_answer({"networks": list(networks(call.site.data_files))})


async def pass_on(call: Call) -> Response:
    world, now = call.world, call.world.clock.now()
    request_id = secrets.token_urlsafe(24)
    memory = memory_of(world, call.caller)
    caps = UNLIMITED if world.settings.no_limits else STAFF if world.settings.staff else PAID
    call.headers |= {"X-Request-ID": request_id, **memory.count(now, caps)}
    network = _network(call)
    call.model = f"crypto-rpc:{network.slug}"
    body = _json_body(call)
    table = methods(call.site.data_files)
    items = _checked(call, body, network, table)
    key = call.request.headers.get("idempotency-key", "")
    key = key if KEY.fullmatch(key) else ""  # a malformed one counts as none
    kept = memory.kept(key, call.request.body, now) if key else None
    if kept is not None:
        return Response(200, {**kept.headers, "Idempotent-Replayed": "true"}, kept.body)
    most = sum(network.base_credits * item.multiplier for item in items)
    if memory.credits_today(now) + most > caps.credits_per_day:
        raise capped(f"credits-per-24-hours cap of {caps.credits_per_day} exceeded", {})
    _refuse_unaffordable(call, most * table.usd_per_credit)
    if network.family == "evm":
        need("chains")
    chains = chains_of(world, call.site.data_files)
    answers, spent = await asyncio.to_thread(_answers, chains, network, items, table)
    _record_sent(call, network, request_id, items, answers)
    memory.spent.append((now, spent))
    cost = charge(call, f"crypto-rpc-{network.slug}", spent, table.usd_per_credit)
    if isinstance(body, list) and world.faults.take_fault("shuffle_batch", call.request.path) is not None:
        answers = [*answers[1:], *answers[:1]]
    payload = dump(answers if isinstance(body, list) else answers[0])
    prefix = "X-Service-RPC-" if call.names.header_prefix == "x-service-" else "X-Venice-RPC-"
    headers = {
        "Content-Type": "application/json",
        f"{prefix}Credits": str(spent),
        f"{prefix}Cost-USD": f"{cost:.8f}",
    }
    if key:
        memory.keep(key, call.request.body, now, payload, headers)
    return Response(200, headers, payload)


def _network(call: Call) -> Network:
    slug = call.path_values["network"]
    network = networks(call.site.data_files).get(slug)
    if network is None:
        check = _checker(call)
        check.complain(("network",), f"There is no network {slug}")
        check.finish()
    assert network is not None
    return network


def _checker(call: Call) -> Checker:
    return Checker(flat_list=call.names.issues_in_errors)


def _json_body(call: Call) -> object:
    if call.request.too_large:
        raise too_large("The request body is too large")
    if call.request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HttpError(415)
    try:
        return read_json(call.request.body)
    except (ValueError, RecursionError):
        raise HttpError(400, "The request body is not JSON") from None


def _checked(call: Call, body: object, network: Network, table: Methods) -> list[Item]:
    """Return the items. Raises `HttpError` 400: first for what is malformed, then naming every unsupported method."""
    check = _checker(call)
    batch = isinstance(body, list)
    raw: list[Any] = body if isinstance(body, list) else [body]
    if not raw:
        check.complain((), "The batch is empty")
    elif len(raw) > MAX_ITEMS:
        check.complain((), f"The batch has {len(raw)} items; at most {MAX_ITEMS} are allowed")
    else:
        for index, item in enumerate(raw):
            _check_item(check, (index,) if batch else (), item)
    check.finish()
    named: list[Json] = list(raw)  # every one of them is an object by now
    multipliers = [table.multiplier(network.family, item["method"]) for item in named]
    offending = [item["method"] for item, found in zip(named, multipliers, strict=True) if found is None]
    if offending:
        names = list(dict.fromkeys(offending))
        raise HttpError(
            400,
            {
                "error": f"Unsupported RPC method(s): {', '.join(names)}",
                "details": {"_errors": [_why(name, network, table) for name in names]},
            },
        )
    return [
        Item(item["method"], item.get("params"), item.get("id"), found or 1)
        for item, found in zip(named, multipliers, strict=True)
    ]


def _check_item(check: Checker, path: Path, item: object) -> None:
    if not isinstance(item, dict):
        check.complain(path, f"Expected object, received {kind_of(item)}")
        return
    if item.get("jsonrpc") != "2.0":
        wrong = (
            f'Invalid literal value, expected "2.0", received {item["jsonrpc"]!r}' if "jsonrpc" in item else REQUIRED
        )
        check.complain((*path, "jsonrpc"), wrong)
    method = check.text((*path, "method"), item.get("method"))
    if item.get("method") is None or method == "":
        check.complain((*path, "method"), REQUIRED)
    if not isinstance(item.get("params", []), list | dict):
        check.complain((*path, "params"), f"Expected array, received {kind_of(item['params'])}")
    if not isinstance(item.get("id"), str | int | float | None) or isinstance(item.get("id"), bool):
        check.complain((*path, "id"), f"Expected a JSON-RPC id, received {kind_of(item['id'])}")


def _why(method: str, network: Network, table: Methods) -> str:
    if method in table.never:
        if "ubscribe" in method:
            return f"{method}: subscriptions need a connection that stays open; this proxy answers HTTP only"
        if "ilter" in method:
            return f"{method}: filters are not kept between requests; use eth_getLogs"
    return f"{method}: not supported on {network.slug}"


def _refuse_unaffordable(call: Call, most_usd: Decimal) -> None:
    refuse_unpaid(call)
    ledger = call.caller.ledger
    if ledger.balance_usd + ledger.balance_diem < most_usd:
        raise HttpError(402)


def _answers(chains: Chains, network: Network, items: list[Item], table: Methods) -> tuple[list[Json], int]:
    """Return one answer per item, and the credits of all."""
    answers, spent = [], 0
    for item in items:
        answer: Json = {"jsonrpc": "2.0", "id": item.id}
        try:
            answer["result"] = chains.answer(network, item.method, item.params)
            spent += network.base_credits * item.multiplier
        except RpcError as error:
            answer["error"] = error.as_json()
            spent += table.credits_for_an_error
        answers.append(answer)
    return answers, spent


def _record_sent(call: Call, network: Network, request_id: str, items: list[Item], answers: list[Json]) -> None:
    for item, answer in zip(items, answers, strict=True):
        if item.method == SENDS and "result" in answer:
            audit(call.world, call.caller, network.slug, request_id, str(answer["result"]))
        elif item.method == SENDS and isinstance(item.params, list) and item.params:
            _record_refused(call, network, request_id, item.params[0])


def _record_refused(call: Call, network: Network, request_id: str, raw: object) -> None:
    """A transaction that the node refused was sent all the same."""
    from eth_utils.crypto import keccak

    try:
        digest = hexed(keccak(data_bytes(raw)))
    except RpcError:
        return  # no transaction at all
    audit(call.world, call.caller, network.slug, request_id, digest)


# Controls


async def audit_log(call: Call) -> Response:
    """`GET /sandbox/rpc_audit`: every sent transaction by its hash, newest last."""
    return json_answer({"object": "list", "data": list(audit_of(call.world).values())})


async def accounts(call: Call) -> Response:
    """`GET /sandbox/chains`: networks, accounts with play money and their keys, and where the play dollar lives."""
    need("chains")

    listed = await asyncio.to_thread(_listed_accounts)
    found: Mapping[str, Network] = networks(call.site.data_files)
    return json_answer(
        {
            "networks": [{"slug": one.slug, "family": one.family, "chain_id": one.chain_id} for one in found.values()],
            "accounts": listed,
            "dollars": dict(DOLLARS),
            "token": PLAY_ASSET,  # on every network, as the two that follow
            "multicall3": MULTICALL3,
            "every_log": EVERY_LOG,
        }
    )


def _listed_accounts() -> list[Json]:
    return [{"name": one.name, "address": one.address, "private_key": hexed(one.private_key)} for one in TEST_ACCOUNTS]
