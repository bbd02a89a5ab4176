"""The controls of the Sandbox, over HTTP like everything else of it: what it is, what was asked of it, how it fails.

They stand beside the service's own paths, under `/sandbox/`, and cost nothing: no receipt is made of them. Nothing is
tried again by itself; each control can be used twice without harm. All of it raises `ServiceError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import Field

from app.service.auth import ApiKeyAuth
from app.service.calls import Call, JsonContent, query
from app.service.client import ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import LimitExceeded
from app.service.http.time_limits import ANSWER_S
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr

LONGEST_WAIT_S = 25.0  # of one look that waits for news
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Engine(WireModel):
    """What does a part of the Sandbox's work. `state`: missing, idle (not asked for yet) or loaded."""

    name: str
    title: str = ""
    does: str = ""
    version: str = ""
    licence: str = ""
    state: str = ""
    install: str = ""  # packages, as pip names them
    remedy: str = ""  # how a missing one gets here, in words
    missing: tuple[str, ...] = ()


class LogLine(WireModel):
    """One call that the Sandbox served. `status` 0: the connection was cut without an answer."""

    number: int
    request_id: str
    at: datetime
    method: str = ""
    path: str = ""
    status: int = 0
    duration_s: float = 0.0
    model: str = ""
    cost_usd: Decimal = Decimal(0)


class Side(WireModel):
    """One direction of a call, without secrets. `kind`: text, form, media or none; `text` may be the beginning only."""

    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "none"
    text: str = ""
    size_bytes: int = 0


class CallDetails(WireModel):
    request: Side
    response: Side


class Purse(WireModel):
    """The play money of the key."""

    usd: Decimal = Decimal(0)
    diem: Decimal = Decimal(0)


class Behavior(WireModel):
    """How it serves: whose names, how fast, which keys."""

    dialect: str = ""
    tokens_per_second: float = 0.0
    any_key: bool = False
    partner: bool = False


class SandboxStatus(WireModel):
    """How the Sandbox stands, and the log lines that were not seen before. `faults`: name → what it was given."""

    epoch: int
    revision: int
    last: int
    lines: tuple[LogLine, ...] = ()
    now: datetime | None = None
    clock_offset_s: float = 0.0
    books_since: datetime | None = None  # older calls are in no book of its: it began anew then
    balance: Purse = Field(default_factory=Purse)
    settings: Behavior = Field(default_factory=Behavior)
    faults: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)

    @property
    def active(self) -> int:
        """How many test controls are switched on now."""
        return len(self.faults) + (self.clock_offset_s != 0)


class SealedRoot(WireModel):
    """The root certificate of the Sandbox's enclave, by its fingerprint, and the address of its lists."""

    name: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    lists: str


class SandboxControls:
    """Speaks to one running Sandbox. Open with its base address and key, close with `aclose`."""

    def __init__(self, base_url: str, key: str) -> None:
        """Raises `LimitExceeded` for an address that is not on this computer."""
        parts = urlsplit(base_url)
        if parts.hostname not in LOOPBACK:
            raise LimitExceeded(tr("The Sandbox is on this computer."), field="base_url", limit="127.0.0.1")

        async def read_key() -> str:
            return key

        self._client = ServiceClient(
            f"{parts.scheme}://{parts.netloc}/sandbox",
            DIALECTS["service"],
            ApiKeyAuth(read_key),
            on_exchange=lambda _exchange: None,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    # Looking

    async def engines(self) -> tuple[Engine, ...]:
        return ListEnvelope.read(Engine, await self._ask("GET", "/engines")).data

    async def status(self, seen: SandboxStatus | None = None, *, wait_s: float = 0.0) -> SandboxStatus:
        """Return how it stands. After `seen`, wait up to `wait_s` for something that is new."""
        known: dict[str, object] = {"wait_s": min(wait_s, LONGEST_WAIT_S)}
        if seen is not None:
            known |= {"epoch": seen.epoch, "revision": seen.revision, "after": seen.last}
        content = await self._ask("GET", "/watch", params=known, answer_s=LONGEST_WAIT_S + 10)
        return read_model(SandboxStatus, content)

    async def details(self, request_id: str) -> CallDetails:
        """What was in one call. Raises `NotFound` when it is not kept any more."""
        return read_model(CallDetails, await self._ask("GET", f"/log/{quote(request_id, safe='')}"))

    async def sealed_root(self) -> SealedRoot:
        """What evidence of the Sandbox's enclave ends at. Made anew with each start of the Sandbox."""
        return read_model(SealedRoot, await self._ask("GET", "/sealed/root"))

    # Setting

    async def set_fault(self, name: str, values: Mapping[str, object]) -> None:
        """Let it misbehave as `name` says, until its `times` are used up or it is cleared."""
        await self._ask("PUT", f"/faults/{name}", dict(values))

    async def clear_fault(self, name: str) -> None:
        await self._ask("DELETE", f"/faults/{name}")

    async def set_clock(self, offset_s: float) -> None:
        """Put its clock that many seconds ahead of (or behind) the real one."""
        await self._ask("PUT", "/clock", {"offset_s": offset_s})

    async def set_balance(self, usd: Decimal) -> None:
        await self._ask("PUT", "/balance", {"usd": str(usd)})

    async def set_behavior(self, **changes: object) -> None:
        """Change `dialect`, `tokens_per_second`, `any_key` or `partner`; the rest stays."""
        await self._ask("PUT", "/settings", changes)

    async def clear_all(self) -> None:
        """Switch off every fault and put the clock right; balances and log stay."""
        await self._ask("DELETE", "/faults")
        await self.set_clock(0)

    async def reset(self) -> None:
        """Set everything back to how it was when it started: balances, callers, jobs, chains, log, clock, faults."""
        await self._ask("POST", "/reset")

    async def held(self, address: str) -> Decimal:
        """Return what a wallet holds of the play dollars."""
        content = await self._ask("GET", f"/wallets/{quote(address, safe='')}")
        return Decimal(str(content["usdc"])) if isinstance(content, Mapping) and "usdc" in content else Decimal(0)

    async def give(self, address: str, usd: Decimal) -> Decimal:
        """Send play dollars to a wallet; return what it holds then."""
        content = await self._ask("POST", "/faucet", {"address": address, "amount": str(usd)})
        return Decimal(str(content["usdc"])) if isinstance(content, Mapping) and "usdc" in content else Decimal(0)

    async def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        params: Mapping[str, object] | None = None,
        answer_s: float = ANSWER_S,
    ) -> object:
        call = Call(
            method,
            path,
            CallKind.ONCE,  # the person sees what failed and presses again
            "sandbox",
            query(params or {}),
            JsonContent(body) if body is not None else None,
            answer_s=answer_s,
        )
        async with self._client.fetch(call) as answer:
            return answer.json()
