"""What a call is before it is sent, and the record that grows while it happens."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Protocol

from app.service.amounts import MAX_CHARGE_USD
from app.service.errors import (
    BadResponse,
    ConnectionFailed,
    ContentRefused,
    LimitExceeded,
    OutcomeUnknown,
    RefusedCall,
    ServerFailed,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.service.exchange import CostSource, Exchange, Outcome, RequestRecord
from app.service.http.bodies import MAX_JSON_BYTES
from app.service.http.json_text import write_json
from app.service.http.time_limits import ANSWER_S
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind

Params = tuple[tuple[str, str], ...]
GATEWAY_GAVE_UP = (502, 504)  # it does not know whether the service behind it finished the work
TIMES_EXPECTED = 100  # a call that is told to cost more than so many times what was expected did not cost that
MOST_IF_FREE_USD = Decimal(1)  # the same for what was expected to be free
NEVER_BEGUN = frozenset({"X402_NOT_CONFIGURED"})  # a failure of the server's that says it did nothing


class Content(Protocol):
    """A request body that can be sent more than once, byte for byte the same."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def record(self) -> object:
        """What a person may see of it: a JSON value or a tuple of `FormPart`."""

    def open(self) -> bytes | AsyncIterable[bytes]: ...


class JsonContent:
    """A JSON body, encoded once; one that carries files is sent piece by piece.

    Raises `LimitExceeded` for a value that JSON cannot carry.
    """

    def __init__(self, value: object) -> None:
        self.record = value
        self._pieces = write_json(value)
        self.headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
        if len(self._pieces) > 1:
            self.headers += (("Content-Length", str(sum(map(len, self._pieces)))),)

    def open(self) -> bytes | AsyncIterable[bytes]:
        return self.data if len(self._pieces) == 1 else _Sending(self._pieces)

    @property
    def data(self) -> bytes:
        """All of it at once."""
        return b"".join(self._pieces)


class _Sending:
    """Pieces one after the other, as often as asked; between two, others have their turn."""

    def __init__(self, pieces: tuple[bytes, ...]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make. `path` stands below the account's base address, or is a whole address elsewhere, which then
    gets no credentials. `max_bytes` bounds the answer after decompression. `expected` are statuses of 400 and more
    that are answers here; `secret_headers` are sent and never recorded. `expected_usd` is what it will cost, None where
    only the answer can tell: limits on spending are held against it, and the receipt says it until the answer knows
    better; `expected_units` are what it counts if its response is lost. `refund_usd` is what was paid for it before, by
    the call `refund_of`, and comes back once when a refusal says that credits were given back.
    """

    method: str
    path: str
    kind: CallKind
    resource: str
    params: Params = ()
    content: Content | None = None
    headers: tuple[tuple[str, str], ...] = ()
    accept: str = "application/json"
    authenticated: bool = True
    max_bytes: int = MAX_JSON_BYTES
    answer_s: float = ANSWER_S  # for the whole head of the answer, and for each silence in its body
    background: bool = False  # polling, prefetching: rests while the failure budget is low
    model: str = ""
    expected: tuple[int, ...] = ()
    secret_headers: tuple[tuple[str, str], ...] = ()
    follows_redirects: bool = True
    pace: str = ""  # which limit of calls per minute it counts against
    single: bool = False  # one try, whatever comes of it: a test of the way there
    expected_usd: Decimal | None = None
    expected_units: Mapping[str, int] = field(default_factory=dict)
    refund_usd: Decimal | None = None
    refund_of: str = ""
    paces_itself: bool = False  # a refusal for too many calls is raised at once: the caller waits, and says so

    @property
    def bucket(self) -> str:
        """Which limit of the service a refusal for too many calls is about. A wallet's routes have one each."""
        return self.pace or (self.path if self.resource == "x402" else "")

    @property
    def costs(self) -> bool:
        """Whether carrying it out takes from a balance. A top-up does not: it has a limit of its own."""
        return self.kind in (CallKind.PAID, CallKind.UPLOAD, CallKind.QUEUE) or (
            self.resource == "crypto" and self.method == "POST"
        )

    @property
    def is_asked_for(self) -> bool:
        """Whether the person waits for it now: what costs, or changes something for good, is never sent unasked."""
        return self.costs or self.kind is CallKind.ONCE


def query(values: Mapping[str, object]) -> Params:
    """Query parameters: None and empty are left out, booleans are `true`/`false`, lists repeat the name.

    Repeated rather than joined, because a value may hold a comma (R-CHAR-25).
    """
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, bool):
                pairs.append((name, "true" if each else "false"))
            elif each is not None and each != "":
                pairs.append((name, str(each)))
    return tuple(pairs)


def limit(allowed: bool, field_name: str, limit_text: str, message: str) -> None:
    """Raise `LimitExceeded` unless `allowed`: the check before sending that names the field and the limit."""
    if not allowed:
        raise LimitExceeded(message, field=field_name, limit=limit_text)


def is_outcome_unknown(kind: CallKind, error: ServiceError) -> bool:
    """Whether a call that costs something may have been carried out although it ended in `error`.

    Where money itself moves, a service that failed, or answered what cannot be read, may have moved it first.
    """
    if error.surely_not_sent or kind in (CallKind.READ, CallKind.IDEMPOTENT):
        return False
    if isinstance(error, (ConnectionFailed, TimedOut, OutcomeUnknown)):
        return True
    if error.code in NEVER_BEGUN:
        return False
    spoiled = kind is CallKind.ONCE and isinstance(error, (ServerFailed, StreamCut, BadResponse))
    return spoiled or error.status in GATEWAY_GAVE_UP


def is_surely_undone(error: ServiceError) -> bool:
    """Whether a try that ended in `error` surely did nothing: it never arrived, or was refused at the door."""
    return error.surely_not_sent or (isinstance(error, RefusedCall) and error.status not in GATEWAY_GAVE_UP)


@dataclass(slots=True)
class CallRecord:
    """The growing account of one call. `finish` hands it to `on_exchange`, once, if anything was sent at all.

    A cost is never below 0 and never far above what was expected; any other is unknown and kept as a claim. Where the
    cost is unknown when the call ends, and the service may have carried it out, what was expected counts.
    """

    call: Call
    on_exchange: Callable[[Exchange], None]
    exchange: Exchange
    finished: bool = False
    maybe_sent: bool = False  # by a try before the last
    lost_tries: int = 0  # before the last, that may have been carried out, whatever the last one came to
    _in_flight: bool = False  # the last try has neither failed nor been refused
    _begun: float = field(default_factory=time.monotonic)

    @classmethod
    def begin(cls, call: Call, request: RequestRecord, on_exchange: Callable[[Exchange], None]) -> CallRecord:
        exchange = Exchange(
            id=uuid.uuid4().hex,
            started_at=datetime.now(UTC),
            request=request,
            model=call.model,
            outcome="stopped",
            attempts=0,
            resource=call.resource,
            estimate_usd=call.expected_usd,
        )
        return cls(call, on_exchange, exchange)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the last try began."""
        return time.monotonic() - self._begun

    @property
    def maybe_done(self) -> bool:
        """True if a try before the last may have been carried out."""
        return self.lost_tries > 0

    def expect(self, usd: Decimal | None) -> None:
        """Take what the call may cost at most, as it was held against the limits."""
        self._change(estimate_usd=usd)

    def attempted(self) -> None:
        """A try begins. Times are those of the last one: a wait for a person or a limit is no part of them."""
        self._in_flight, self._begun = True, time.monotonic()
        self._change(attempts=self.exchange.attempts + 1, started_at=datetime.now(UTC))

    def failed(self, error: ServiceError) -> None:
        """Take why the last try ended; another may follow."""
        self._in_flight = False
        self.maybe_sent |= not error.surely_not_sent

    def lost(self, error: ServiceError) -> None:
        """Take why a try ended that is followed by another one."""
        self.lost_tries += not is_surely_undone(error)

    def held_back(self, attempts: int) -> None:
        """Take back `attempted`: nothing left this computer after so many tries."""
        self._in_flight = False
        self._change(attempts=attempts)

    def answered(self, info: ResponseInfo) -> None:
        model = info.model_id or self.exchange.model
        cost: dict[str, object] = {}
        told, claimed = self._bounded(info.rpc_cost_usd)
        if info.replayed and not self.maybe_done:  # although its headers repeat what the first time cost
            cost = {"cost_usd": Decimal(0), "cost_source": "stated"}
        elif told is not None:
            cost = {"cost_usd": told, "cost_source": "stated"}
        elif self.call.expected_usd is not None and info.status < 300:
            cost = {"cost_usd": self.call.expected_usd, "cost_source": "estimated"}
        self._change(status=info.status, info=info, model=model, claimed=info.claimed or claimed, **cost)

    def refused(self, body: str) -> None:
        """Keep the text of a refusal."""
        self._change(refused_body=body)

    def report(
        self,
        *,
        model: str = "",
        units: Mapping[str, int] | None = None,
        cost_usd: Decimal | None = None,
        cost_source: CostSource = "stated",
        claimed: str = "",
    ) -> None:
        """Add what a resource read from the answer's body. `claimed` is an amount there that cannot be meant."""
        cost_usd, impossible = self._bounded(cost_usd)
        told: dict[str, object] = {}
        if model:
            told["model"] = model
        if units is not None:
            told["units"] = dict(units)
        if cost_usd is not None:
            told |= {"cost_usd": cost_usd, "cost_source": cost_source}
        if claimed or impossible:
            told["claimed"] = claimed or impossible
        if told:
            self._change(**told)

    def finish(self, outcome: Outcome, error: ServiceError | None = None) -> None:
        """Close the record and tell `on_exchange`. A second call does nothing."""
        if self.finished:
            return
        self.finished = True
        if isinstance(error, ContentRefused) and error.credits_refunded and self.call.refund_usd is not None:
            self._change(cost_usd=-self.call.refund_usd, cost_source="estimated")
            if self.call.refund_of:  # a refusal that is read again replaces this receipt
                self._change(id=f"{self.call.refund_of}-refund")
        self._count_the_possible(outcome, error)
        self._change(outcome=outcome, error=error.message if error else "", duration_s=self.elapsed_s)
        if self.exchange.attempts:
            if error is not None:
                error.exchange = self.exchange
                error.surely_not_sent &= outcome != "unknown"
            self.on_exchange(self.exchange)

    def _bounded(self, cost_usd: Decimal | None) -> tuple[Decimal | None, str]:
        """Return a cost that can be, or None and what was claimed."""
        if cost_usd is None:
            return None, ""
        expected = self.exchange.estimate_usd
        most = MAX_CHARGE_USD if expected is None else TIMES_EXPECTED * expected or MOST_IF_FREE_USD
        return (cost_usd, "") if 0 <= cost_usd <= most else (None, f"{cost_usd:f} USD")

    def _count_the_possible(self, outcome: Outcome, error: ServiceError | None) -> None:
        """Let what may have been charged count where nobody told what was: for the last try, and for lost ones."""
        now = self.exchange
        if not self.call.costs or now.estimate_usd is None:
            return
        undone = is_surely_undone(error) if error is not None else not self._in_flight
        may_be_more = outcome in ("cut", "stopped", "unknown") and now.cost_source == "estimated"
        open_tries = int(not undone and (now.cost_usd is None or may_be_more))
        known = Decimal(0) if open_tries else now.cost_usd or Decimal(0)
        units = {} if open_tries else dict(now.units)
        if any(name == "Idempotency-Key" for name, _ in self.call.headers):  # carried out once
            open_tries = max(open_tries, int(self.maybe_done and now.cost_usd is None))
        else:
            open_tries += self.lost_tries
        if open_tries:
            possible = max(known + open_tries * now.estimate_usd, now.cost_usd or Decimal(0))
            for name, count in self.call.expected_units.items():
                units[name] = units.get(name, 0) + open_tries * count
            self._change(cost_usd=possible, cost_source="possible", units={**now.units, **units})

    def outcome_of(self, error: ServiceError) -> Outcome:
        """A paid call that was lost on the way may have been carried out: nobody can know, so nobody claims to."""
        if is_outcome_unknown(self.call.kind, error) or (self.maybe_done and self.call.costs):
            return "unknown"
        if error.surely_not_sent and not self.maybe_sent:
            return "unsent"
        return "cut" if isinstance(error, StreamCut) else "error"

    def _change(self, **changes: object) -> None:
        self.exchange = replace(self.exchange, **changes)  # type: ignore[arg-type] # names are the dataclass's own
