"""The JSON-RPC proxy to blockchain nodes: one call, or up to a hundred in a batch.

An `RpcOperation` is frozen before it is first sent: its bytes and its idempotency key never change, so that sending it
again after a lost answer neither repeats nor alters anything. The service's cache does not know the network, therefore
one key is never used for two of them (R-RPC-34). Calls of one account go one after the other, as the proxy wants.
Source: service specification, crypto JSON-RPC proxy (R-RPC-*).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import count
from typing import Any
from urllib.parse import quote

from app.service.calls import Call, JsonContent, limit
from app.service.client import OnWait, ServiceClient
from app.service.errors import BadResponse
from app.service.exchange import Exchange
from app.service.http.bodies import MIB
from app.service.http.error_bodies import plain_text
from app.service.http.json_large import JSON_LIST, JSON_OBJECT
from app.service.http.time_limits import RPC_S
from app.service.idempotency_keys import check_idempotency_key, new_idempotency_key
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.service.rpc_methods import (
    ERROR_CREDITS,
    STATE_CHANGING,
    USD_PER_CREDIT,
    Estimate,
    call_credits,
    estimate,
    most_credits,
    refusal_of,
)
from app.translation import tr

MAX_BATCH_ITEMS = 100
MAX_RPC_BYTES = 64 * MIB
_NETWORK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
NO_ANSWER = tr("The node did not answer this call.")
SIGNED_PAYLOAD = "signed payload, not kept"

Params = Sequence[object] | Mapping[str, object]
RpcId = int | str | None


class Auto(Enum):
    """The id of a call whose caller does not care: it gets a number."""

    NUMBER = "number"


AUTO = Auto.NUMBER


@dataclass(frozen=True, slots=True)
class RpcItem:
    """One call. `params` as the method wants them: a list, or names and values. `id` is echoed in the response."""

    method: str
    params: Params = ()
    id: RpcId | Auto = AUTO


class RpcOperation:
    """One request to the proxy, ready to be sent, and sent again, byte for byte the same.

    `idempotency_key` is always there when something is changed, so that a repetition is recognized for 24 h.
    """

    def __init__(self, network: str, items: tuple[RpcItem, ...], idempotency_key: str | None, *, batch: bool) -> None:
        self.network = network
        self.items = items
        self.idempotency_key = idempotency_key
        self.batch = batch
        self.ids = ids_of([item.id for item in items])
        bodies = [_body(rpc_id, item) for rpc_id, item in zip(self.ids, items, strict=True)]
        self.content = _RpcContent(bodies if batch else bodies[0], self.changes_state)

    @property
    def changes_state(self) -> bool:
        return any(item.method in STATE_CHANGING for item in self.items)

    @property
    def digest(self) -> str:
        """SHA-256 of the network and the exact bytes, in hexadecimal: the same for the same request."""
        return hashlib.sha256(self.network.encode() + b"\n" + self.content.data).hexdigest()

    @property
    def most_credits(self) -> int:
        """What the price list allows at most, should a method have become one of the dearest tier."""
        return most_credits(self.network, tuple(item.method for item in self.items))

    @property
    def estimate(self) -> Estimate:
        return estimate(self.network, tuple(item.method for item in self.items))


@dataclass(frozen=True, slots=True)
class RpcError:
    """A node's refusal of one call, inside a good answer. `data` is whatever the node added."""

    code: int
    message: str
    data: object = None


@dataclass(frozen=True, slots=True)
class RpcOutcome:
    """What became of one item. `result` may be None and still be a success; look at `error`.

    `unanswered`: nothing in the answer belongs to this item, so that nobody knows whether it was carried out.
    """

    item: RpcItem
    result: object = None
    error: RpcError | None = None
    unanswered: bool = False

    @property
    def may_be_sent(self) -> bool:
        """Whether this is a transaction that may have been sent although no answer says so."""
        return self.unanswered and self.item.method in STATE_CHANGING


@dataclass(frozen=True, slots=True)
class RpcResponse:
    """The outcomes in the order of the items. `credits` and `cost_usd` as the service states them, None if it does
    not; 0 for a replay, which charges nothing although its headers repeat the first charge. The stored response to a
    try of this very call, whose own response was lost, is no replay: that try was charged."""

    outcomes: tuple[RpcOutcome, ...]
    credits: int | None
    cost_usd: Decimal | None
    replayed: bool
    request_id: str
    exchange: Exchange
    info: ResponseInfo
    body: bytes = b""  # as it came

    @property
    def outcome(self) -> RpcOutcome:
        return self.outcomes[0]


class CryptoRpcResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._one_at_a_time = asyncio.Lock()

    async def networks(self) -> tuple[str, ...]:
        """Return the networks' slugs, sorted. Raises `ServiceError`."""
        content = await self._client.get("/crypto/rpc/networks", resource="crypto")
        names = content.get("networks") if isinstance(content, Mapping) else None
        if not isinstance(names, list):
            raise BadResponse(tr("The service’s response is not a list of networks."))
        return tuple(sorted(name for name in names if isinstance(name, str)))

    def prepare(
        self, network: str, items: Sequence[RpcItem], *, idempotency_key: str | None = None, batch: bool | None = None
    ) -> RpcOperation:
        """Freeze a request. Raises `LimitExceeded` for what the proxy would refuse, naming every method it would.

        What changes something gets an `idempotency_key` where none is given. `batch` None: one item goes alone.
        """
        limit(
            _NETWORK.fullmatch(network) is not None,
            "network",
            "a slug",
            tr("There is no network “{network}”.", network=network),
        )
        limit(
            1 <= len(items) <= MAX_BATCH_ITEMS,
            "body",
            tr("1 to {max_batch_items}", max_batch_items=MAX_BATCH_ITEMS),
            tr("1 to {max_batch_items} calls.", max_batch_items=MAX_BATCH_ITEMS),
        )
        methods = list(dict.fromkeys(item.method for item in items))
        limit(all(method.strip() for method in methods), "method", "1", tr("Every call names a method."))
        refusals = {method: reason for method in methods if (reason := refusal_of(method)) is not None}
        limit(not refusals, "method", ", ".join(refusals), " ".join(refusals.values()))
        twice = twice_in([item.id for item in items])
        limit(isinstance(twice, Auto), "id", "1", double_id_sentence(twice))
        if idempotency_key is not None:
            check_idempotency_key(idempotency_key)
        changes = not STATE_CHANGING.isdisjoint(methods)
        alone = len(items) == 1 if batch is None else not batch
        limit(not alone or len(items) == 1, "body", "1", tr("Send several calls as a batch."))
        if idempotency_key is None and changes:
            idempotency_key = new_idempotency_key()
        return RpcOperation(network, tuple(items), idempotency_key, batch=not alone)

    async def call(self, network: str, method: str, params: Params = ()) -> RpcResponse:
        """Make one call. An error of the node is in the outcome, not raised. Raises `ServiceError` for the rest."""
        return await self.send(self.prepare(network, (RpcItem(method, params),)))

    async def send(self, operation: RpcOperation, *, on_wait: OnWait | None = None) -> RpcResponse:
        """Send a prepared operation, for the first time or again. Raises `ServiceError`."""
        call = Call(
            "POST",
            f"/crypto/rpc/{quote(operation.network, safe='')}",
            CallKind.IDEMPOTENT,  # reads change nothing, and what changes something carries its key
            "crypto",
            content=operation.content,
            headers=(("Idempotency-Key", operation.idempotency_key),) if operation.idempotency_key else (),
            max_bytes=MAX_RPC_BYTES,
            answer_s=RPC_S,
            pace="crypto",
            expected_usd=operation.estimate.high_usd,
            expected_units={"calls": len(operation.items), "credits": operation.most_credits},
        )
        record = self._client.record(call)
        async with (
            self._one_at_a_time,
            self._client.fetch(call, record=record, on_wait=on_wait) as answer,
        ):
            outcomes = _outcomes(operation, await answer.large_json())
            info = answer.info
            free = info.replayed is True and not record.maybe_done  # else an earlier try was lost, and charged
            told = info.rpc_credits
            claimed = tr("{count} credits", count=told) if told is not None and told > operation.most_credits else ""
            credits_charged = 0 if free else None if claimed else told
            estimated = _estimated_credits(operation, outcomes)
            units = {
                "calls": len(operation.items),
                "credits": credits_charged if credits_charged is not None else estimated,
            }
            if record.exchange.cost_source == "stated":
                record.report(units=units, claimed=claimed)
            else:
                cost = estimated * USD_PER_CREDIT[1]
                record.report(units=units, cost_usd=cost, cost_source="estimated", claimed=claimed)
            cost_usd = record.exchange.cost_usd if record.exchange.cost_source == "stated" else None
            if any(outcome.may_be_sent for outcome in outcomes):
                record.finish("unknown")
        return RpcResponse(
            outcomes, credits_charged, cost_usd, free, info.request_id, record.exchange, info, answer.body
        )


class _RpcContent(JsonContent):
    """The frozen bytes. What is shown and copied leaves signed transactions out (R-RPC-41)."""

    def __init__(self, value: object, secret: bool) -> None:
        super().__init__(value)
        if secret:
            self.record = [_unsigned(item) for item in value] if isinstance(value, list) else _unsigned(value)


def _unsigned(item: object) -> object:
    if isinstance(item, dict) and item.get("method") in STATE_CHANGING:
        return {**item, "params": [SIGNED_PAYLOAD]}
    return item


def ids_of(wanted: Sequence[RpcId | Auto]) -> tuple[RpcId, ...]:
    """The ids under which calls go out: their own, else their places from 1, or the next numbers that are free."""
    taken = {id_of(each) for each in wanted if each is not AUTO}
    found: list[RpcId] = []
    for place, each in enumerate(wanted, start=1):
        if isinstance(each, Auto):
            free = (
                place
                if place not in taken
                else next(number for number in count(len(wanted) + 1) if number not in taken)
            )
            taken.add(free)
            found.append(free)
        else:
            found.append(each)
    return tuple(found)


def twice_in(wanted: Sequence[RpcId | Auto]) -> RpcId | Auto:
    """The first id that two calls have, as a node may tell it: 1 and "1" are the same. `AUTO` when there is none."""
    seen: set[int | str | None] = set()
    for each in wanted:
        if not isinstance(each, Auto):
            if id_of(each) in seen:
                return each
            seen.add(id_of(each))
    return AUTO


def double_id_sentence(twice: RpcId | Auto) -> str:
    return tr(
        "Two calls have the ID {id}.", id=json.dumps(None if isinstance(twice, Auto) else twice, ensure_ascii=False)
    )


def _body(rpc_id: RpcId, item: RpcItem) -> dict[str, object]:
    if type(item.params) is list:  # nearly always, and asking for it is quicker than asking for what it is not
        params: object = item.params.copy()
    else:
        params = dict(item.params) if isinstance(item.params, Mapping) else list(item.params)
    return {"jsonrpc": "2.0", "id": rpc_id, "method": item.method, "params": params}


def _outcomes(operation: RpcOperation, content: object) -> tuple[RpcOutcome, ...]:
    """Match answers to items by id: the order of a batch's answers means nothing (R-RPC-10)."""
    items = operation.items
    if not operation.batch:
        if not isinstance(content, JSON_OBJECT):
            raise BadResponse(tr("The node’s response is not a JSON-RPC response."))
        return (_outcome(items[0], content if is_answer_to(content, operation.ids[0], items[0].method) else None),)
    if isinstance(content, JSON_OBJECT) and "error" in content:
        refused = _outcome(items[0], content).error
        return tuple(RpcOutcome(item, error=refused) for item in items)  # the node refused the batch as a whole
    if not isinstance(content, JSON_LIST):
        raise BadResponse(tr("The node’s response is not a batch."))
    answers: list[Any] = content if isinstance(content, list) else list(content)
    by_id, refusal = answers_by_id([each for each in answers if type(each) in JSON_OBJECT])
    found: list[RpcOutcome] = []
    for rpc_id, item in zip(operation.ids, items, strict=True):
        answer = by_id.get(id_of(rpc_id))
        found.append(_outcome(item, answer if answer and has_id(answer, rpc_id, item.method) else None, refusal))
    return tuple(found)


def answers_by_id(
    answers: Sequence[Mapping[str, object]],
) -> tuple[dict[int | str | None, Mapping[str, object]], Mapping[str, object] | None]:
    """Return the answers of a batch by `id_of`, and the error without an id, if there is one, that is for the rest."""
    by_id: dict[int | str | None, Mapping[str, object]] = {}
    refusal: Mapping[str, object] | None = None
    for is_exact in (True, False):  # an answer with the very id comes before one that has it as text
        for each in answers:
            told = each.get("id")
            number = id_of(told)
            if number is not None and (type(told) is int) == is_exact:
                by_id.setdefault(number, each)
            elif told is None and each.get("error") is None:
                by_id.setdefault(None, each)
            elif told is None and refusal is None:
                refusal = each
    return by_id, refusal


def id_of(told: object) -> int | str | None:
    """The id that an answer states: some nodes return a number as text or with a fraction. None for no id at all."""
    if isinstance(told, bool):
        return None
    if isinstance(told, int):
        return told
    if isinstance(told, float | Decimal):
        return int(told) if -(2**53) < told < 2**53 and told == int(told) else None  # NaN is in no range
    if isinstance(told, str):
        return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else told
    return None


def is_answer_to(answer: Mapping[str, object], wanted: object, method: str) -> bool:
    """Whether an answer that came alone belongs to the one call that was made.

    A node that could not read the call refuses it without an id. A result without one is taken for a read alone: that
    of a transaction says whether money moves.
    """
    if answer.get("id") is None:
        return wanted is None or method not in STATE_CHANGING or answer.get("error") is not None
    return has_id(answer, wanted, method)


def has_id(answer: Mapping[str, object], wanted: object, method: str) -> bool:
    """True if an answer has the id of a call. The result of a transaction needs the very same one."""
    told = answer.get("id")
    if type(told) is type(wanted) or method not in STATE_CHANGING or answer.get("error") is not None:
        return id_of(told) == id_of(wanted)
    return False


def _outcome(
    item: RpcItem, answer: Mapping[str, object] | None, refusal: Mapping[str, object] | None = None
) -> RpcOutcome:
    """`refusal` is the error of a node that does not say which calls it is for: those without an answer."""
    if answer is None and refusal is not None:
        return RpcOutcome(item, error=_outcome(item, refusal).error, unanswered=True)
    if answer is None:
        return RpcOutcome(item, error=RpcError(0, NO_ANSWER), unanswered=True)
    error = answer.get("error")
    if error is None:
        if "result" in answer:
            return RpcOutcome(item, answer["result"])
        empty = RpcError(0, tr("The node’s response has neither a result nor an error."))
        return RpcOutcome(item, error=empty, unanswered=True)
    if not isinstance(error, Mapping):
        return RpcOutcome(item, error=RpcError(0, plain_text(str(error))))
    code, message = error.get("code"), error.get("message")
    return RpcOutcome(
        item,
        error=RpcError(
            code if isinstance(code, int) else 0,
            plain_text(message) if isinstance(message, str) else tr("The node refused this call."),
            error.get("data"),
        ),
    )


def _estimated_credits(operation: RpcOperation, outcomes: tuple[RpcOutcome, ...]) -> int:
    """What the price list says; what nobody answered may have been carried out, and cost as much."""
    return sum(
        ERROR_CREDITS
        if outcome.error and not outcome.unanswered
        else call_credits(operation.network, outcome.item.method)
        for outcome in outcomes
    )
