"""One request to the Sandbox as handlers see it, and the responses that they can return."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from app.sandbox.http.connections import MAX_BODY_BYTES, Request, Response
from app.sandbox.http.errors import HttpError, too_large
from app.sandbox.http.limits import Allowance, RateLimitWindow, allowance
from app.sandbox.http.validation import read_json
from app.sandbox.world import Caller, World, iso

if TYPE_CHECKING:
    from app.sandbox.http.scripted_responses import ScriptedResponse
    from app.sandbox.site import Site

JSON_TYPE = "application/json; charset=utf-8"


class SandboxDialect(NamedTuple):
    """The names in which one dialect differs from the other."""

    extension: str
    other_extension: str
    header_prefix: str
    owner: str
    issues_in_errors: bool


DIALECTS = {
    "service": SandboxDialect("service_parameters", "venice_parameters", "x-service-", "rialto", False),
    "venice": SandboxDialect("venice_parameters", "service_parameters", "x-venice-", "venice.ai", True),
}


@dataclass(slots=True)
class Call:
    """What a handler gets. It may add response headers, and says what the call cost and which model served it."""

    request: Request
    site: Site
    request_id: str
    path_values: Mapping[str, str] = field(default_factory=dict)
    known_caller: Caller | None = None
    headers: dict[str, str] = field(default_factory=dict)
    headroom: RateLimitWindow | None = None
    cost_usd: Decimal = Decimal(0)
    model: str = ""
    scripted: ScriptedResponse | None = None

    @property
    def world(self) -> World:
        return self.site.world

    @property
    def names(self) -> SandboxDialect:
        return DIALECTS[self.world.settings.dialect]

    @property
    def caller(self) -> Caller:
        return self.known_caller or self.world.anonymous(from_web_page=self._from_web_page)

    @property
    def _from_web_page(self) -> bool:
        """Whether a page of another site sent this; browsers say so and pages cannot change it."""
        headers, own = self.request.headers, self.request.headers.get("host", "")
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        return elsewhere or headers.get("origin", f"http://{own}") != f"http://{own}"

    def values(self, name: str) -> list[str]:
        """Return every value of a query parameter, repeated or comma-separated or both."""
        raw = [value for key, value in self.request.query if key == name]
        return [part.strip() for value in raw for part in value.split(",") if part.strip()]

    def value(self, name: str) -> str | None:
        """Return the last value of a query parameter; None when absent or empty."""
        return next((value for key, value in reversed(self.request.query) if key == name and value != ""), None)

    def json_object(self) -> dict[str, Any]:
        """Return the JSON object in the body. Raises `HttpError` 413, 415 or 400."""
        if self.request.too_large:
            raise too_large(f"The request body exceeds the limit of {MAX_BODY_BYTES // 1024**2} MB")
        content_type = self.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise HttpError(415)
        try:
            body = read_json(self.request.body)
        except (ValueError, RecursionError):
            raise HttpError(400, "The request body is not JSON") from None
        if not isinstance(body, dict):
            raise HttpError(400, {"error": "Invalid request parameters", "details": {"_errors": ["Expected object"]}})
        return body

    def admit(self, name: str, tier: str) -> None:
        """Count this request against a window of the caller; `HttpError` 429 when it is used up."""
        now = self.world.clock.now()
        allowed = allowance(tier, partner=self.world.settings.partner)
        headroom = self.count(name, allowed)
        if headroom.exceeded:
            self.caller.limit_log.append(
                {
                    "apiKeyId": self.caller.id,
                    "modelId": self.model or f"endpoint:{self.request.path.lstrip('/')}",
                    "rateLimitTier": tier,
                    "rateLimitType": headroom.exceeded,
                    "timestamp": iso(now),
                }
            )
            raise HttpError(429, headers={"Retry-After": str(headroom.resets_in_s)})

    def count(self, name: str, allowed: Allowance) -> RateLimitWindow:
        """Count this request against a window of the caller, unless there are no limits, and return its state."""
        limits = self.caller.limits
        use = limits.peek if self.world.settings.no_limits else limits.admit
        headroom = self.headroom = use(name, allowed, self.world.clock.now())
        return headroom


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else 0.0
    raise TypeError(f"{type(value).__name__} has no JSON form")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


def dump(value: object) -> bytes:
    return _ENCODER.encode(value).encode()


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(status, {"Content-Type": JSON_TYPE, **(headers or {})}, dump(value))


def text_answer(text: str, status: int = 200) -> Response:
    return Response(status, {"Content-Type": "text/plain; charset=utf-8"}, text.encode())


def event_stream(pieces: AsyncIterator[bytes]) -> Response:
    return Response(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}, pieces)
