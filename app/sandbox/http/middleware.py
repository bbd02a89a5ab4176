"""What happens around every handler: who calls, may they, what is logged, and which headers go back."""

from __future__ import annotations

import asyncio
import gzip
import re
import secrets
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from app.sandbox.http.call import JSON_TYPE, Call, dump, json_answer
from app.sandbox.http.connections import HangUp, Request, Response
from app.sandbox.http.errors import ABUSE_TEXT, WORDS, HttpError, Json, shaped
from app.sandbox.http.faults import CALLER
from app.sandbox.http.limits import Allowance, allowance
from app.sandbox.http.request_log import Capture, Details, LoggedRequest, key_of, shown_query, side
from app.sandbox.http.routes import API_ROOT, ROUTES, Route
from app.sandbox.http.scripted_responses import merged
from app.sandbox.installed_engines import without_library
from app.sandbox.site import Site
from app.sandbox.world import iso

if TYPE_CHECKING:
    from app.sandbox.accounts.wallets import Visit

VERSION = "20261127.125000"  # <YYYYMMDD>.<HHMMSS>; moved by hand when what the Sandbox serves changes
GZIP_FROM_BYTES = 1024
SHORT_ROOT = "/v1/"  # where clients with a fixed path look for it; the log names the full path
DOWNLOADS = "/downloads/"  # pre-signed addresses: no key, and yet they can be told to misbehave
_HOST = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
OWN_HOSTS = frozenset(("127.0.0.1", "localhost", "[::1]"))
SIGN_IN_HEADERS = frozenset({"sign-in-with-x", "x-sign-in-with-x"})
PAYMENT_HEADERS = frozenset({"payment-signature", "x-402-payment", "x-payment"})


class Middleware:
    """The one entrance: `await gate.handle(request)`."""

    def __init__(self, site: Site, cors: frozenset[str] = frozenset(), hosts: frozenset[str] = frozenset()) -> None:
        """`cors`: origins whose web pages may call and read. `hosts`: further names that it may be called by."""
        self._site = site
        self._world = site.world
        self._cors = cors
        self._hosts = OWN_HOSTS | hosts

    async def handle(self, request: Request) -> Response:
        CALLER.set("")  # the one before on this connection may have come with another key
        if request.path.startswith(SHORT_ROOT):
            request = request._replace(path=f"/api{request.path}")
        in_api = request.path.startswith(API_ROOT) and not self._is_preflight(request)
        # Controls and polls for /health take no id of a seed: how many there are is up to chance.
        call = Call(request, self._site, f"{self._world.token(8) if in_api else secrets.token_hex(8)}-LOC")
        started_at = self._world.clock.now()
        balance = None
        visit: Visit | None = None
        try:
            route = self._find(call)
            visit = await self._identify(route, call)
            if call.known_caller is not None:
                CALLER.set(call.known_caller.id)
                started_at = self._world.clock.now()
            call.caller.ledger.refill(started_at)
            if in_api:
                balance = (call.caller.ledger.balance_usd, call.caller.ledger.balance_diem)
                self._refuse_blocked(call)
                if route.credentials != "payment" and not PAYMENT_HEADERS.isdisjoint(request.headers):
                    text = "Only POST /x402/top-up accepts payments"
                    raise HttpError(400, {"error": text, "code": "PAYMENT_HEADER_NOT_ACCEPTED"})
            if visit is not None and visit.refusal is not None:
                raise visit.refusal
            if route.needs_key(request) and call.known_caller is None:
                raise self._without_credentials(route, call)
            if visit is not None and route.credentials == "any" and not route.public:
                visit.admit(call)
            may_misbehave = in_api or request.path.startswith(DOWNLOADS)
            answer = (await self._misbehave(call) if may_misbehave else None) or await self._work(route, call)
        except HttpError as refusal:
            answer = json_answer(refusal.body, refusal.status, refusal.headers)
        except HangUp:
            if visit is not None:
                visit.leave()
            if in_api:
                self._log(call, Response(0), Capture(), started_at)
            raise
        except ModuleNotFoundError as error:
            answer = json_answer({"error": without_library(error)}, 501)
        except Exception:
            traceback.print_exc(file=sys.stderr)  # a mistake of ours; the caller sees what a real service would send
            answer = json_answer({"error": WORDS[500]}, 500)
        if in_api:
            self._count_failure(call, answer)
            self._add_service_headers(call, answer, balance)
        plain = answer.body
        self._finish(call, answer)
        if visit is not None:
            visit.end(answer)
        if in_api:
            self._log_when_done(call, answer, plain, started_at)
        elif request.method not in ("GET", "HEAD"):
            self._world.log.changed()  # a control was used: whoever watches sees it at once
        self._world.save()
        return answer

    async def _work(self, route: Route, call: Call) -> Response:
        if route.limit:
            call.admit(route.limit, route.limit)
        if not call.request.path.startswith(API_ROOT):
            return await route.handler(call)
        call.scripted = self._world.answers.take(call.request)
        if call.scripted is None:
            return await route.handler(call)
        scripted = call.scripted.scripted
        await asyncio.sleep(scripted.wait_s)
        try:
            answer = await route.handler(call) if scripted.is_chat else Response(scripted.status, {}, scripted.body)
        except HttpError:
            self._world.answers.give_back(call.scripted)
            call.scripted = None
            raise
        answer.headers = merged(answer.headers, scripted.headers)
        return answer

    def _find(self, call: Call) -> Route:
        host = _HOST.fullmatch(call.request.headers.get("host", "").lower())
        if host is None or host[1] not in self._hosts:
            raise HttpError(421)  # a web page that made its own name point here must not read anything
        if self._is_preflight(call.request):
            return Route(("OPTIONS",), (), "http.controls.preflight", open=True)
        segments = tuple(unquote(part) for part in call.request.path.strip("/").split("/"))
        method = "GET" if call.request.method == "HEAD" else call.request.method
        allowed: set[str] = set()
        for route in ROUTES:
            values = route.match(segments)
            if values is None:
                continue
            if method in route.methods:
                call.path_values = values
                return route
            allowed.update(route.methods)
        if call.request.path.startswith(API_ROOT) and self._world.answers.cover(call.request.path, method):
            return Route((method,), segments, "http.controls.unscripted", limit="other")
        if allowed:
            raise HttpError(405, headers={"Allow": ", ".join(sorted(allowed))})
        raise HttpError(404, f"There is no {call.request.path} here")

    def _is_preflight(self, request: Request) -> bool:
        asks = request.method == "OPTIONS" and "access-control-request-method" in request.headers
        return asks and request.headers.get("origin") in self._cors

    async def _identify(self, route: Route, call: Call) -> Visit | None:
        """Find out who calls. A wallet counts before a key; what came of its sign-in is returned."""
        if route.open:
            return None
        headers = call.request.headers
        in_api = call.request.path.startswith(API_ROOT)
        if in_api and not SIGN_IN_HEADERS.isdisjoint(headers):
            if route.credentials == "key":
                return None
            from app.sandbox.accounts.wallets import arrive

            visit = await arrive(call, explain=route.credentials != "wallet")
            call.known_caller = visit.caller
            return visit
        if route.credentials == "wallet" and self._world.settings.dialect == "venice":
            return None
        scheme, _, key = headers.get("authorization", "").partition(" ")
        call.known_caller = self._world.caller_of(key.strip()) if scheme.lower() == "bearer" else None
        return None

    def _without_credentials(self, route: Route, call: Call) -> HttpError:
        """401, or where the live service says how to pay instead: 402."""
        if self._world.settings.dialect != "venice" or route.credentials == "key":
            return HttpError(401)
        if "authorization" in call.request.headers or not call.request.path.startswith(API_ROOT):
            return HttpError(401)
        from app.sandbox.accounts.x402_terms import discovery

        return discovery(call, payable=route.credentials == "any")

    def _refuse_blocked(self, call: Call) -> None:
        if self._world.settings.no_limits:
            return
        left = call.caller.abuse.blocked_for_s(self._world.clock.now())
        if left:
            raise HttpError(429, ABUSE_TEXT, {"Retry-After": str(left)})

    def _count_failure(self, call: Call, answer: Response) -> None:
        now = self._world.clock.now()
        if answer.status < 400 or self._world.settings.no_limits or call.caller.abuse.blocked_for_s(now):
            return
        if call.caller.abuse.failed(now):
            call.caller.limit_log.append(
                {
                    "apiKeyId": call.caller.id,
                    "modelId": call.model or "model:unknown",
                    "rateLimitTier": "paid",
                    "rateLimitType": "FAILED_REQUESTS",
                    "timestamp": iso(now),
                }
            )

    async def _misbehave(self, call: Call) -> Response | None:
        """Let the armed faults strike. Returns the answer that takes the place of the work, if one does."""
        faults, path = self._world.faults, call.request.path
        if (slow := faults.take_fault("slow", path)) is not None:
            await asyncio.sleep(float(slow.get("seconds", 1)))
        if faults.take_fault("drop", path) is not None:
            raise HangUp
        if (lie := faults.take_fault("lie", path)) is not None:
            return _lie(str(lie.get("kind", "length")))
        if (told := faults.take_fault("answer", path)) is not None:
            return self._told(call, told)
        return None

    def _told(self, call: Call, told: Json) -> Response:
        status = int(told.get("status", 500))
        text = str(told.get("text") or WORDS.get(status, "Error"))
        body = told["body"] if "body" in told else shaped(str(told.get("shape", "E1")), status, text)
        headers = {str(name): str(value) for name, value in told.get("headers", {}).items()}
        if status == 429:
            call.headroom = call.caller.limits.peek("other", self._roomy(), self._world.clock.now())
            headers.setdefault("x-ratelimit-type", self._world.settings.limit_type)
        if body is None or isinstance(body, str):
            return Response(status, {"Content-Type": "text/html; charset=utf-8", **headers}, (body or "").encode())
        return Response(status, {"Content-Type": JSON_TYPE, **headers}, dump(body))

    def _roomy(self) -> Allowance:
        return allowance("other", partner=self._world.settings.partner)

    def _add_service_headers(self, call: Call, answer: Response, balance: tuple[object, object] | None) -> None:
        now = self._world.clock.now()
        prefix = call.names.header_prefix
        headroom = call.headroom or call.caller.limits.peek("other", self._roomy(), now)
        settings = self._world.settings
        # What has no limit on tokens of its own says what is left of those of the smallest text models.
        tokens = call.caller.limits.peek("XS", allowance("XS", partner=settings.partner), now).headers()
        headers = {"CF-RAY": call.request_id, f"{prefix}version": VERSION, **tokens, **headroom.headers()}
        if not settings.no_limits:
            headers["x-ratelimit-type"] = settings.limit_type
        if settings.auth_refreshed_header and call.known_caller is not None:
            headers["x-auth-refreshed"] = "true"
        if settings.timestamp_header:
            headers[f"{prefix}timestamp"] = iso(now)
        if settings.retry_count_header is not None:
            headers["x-retry-count"] = str(settings.retry_count_header)
        if answer.status >= 400:
            headers[f"{prefix}host-name"] = "rialto-sandbox"
        if call.known_caller is not None and balance is not None:
            headers[f"{prefix}balance-usd"], headers[f"{prefix}balance-diem"] = str(balance[0]), str(balance[1])
        answer.headers = {**headers, **call.headers, **answer.headers}

    def _finish(self, call: Call, answer: Response) -> None:
        from email.utils import formatdate

        answer.headers.setdefault("Date", formatdate(self._world.clock.now(), usegmt=True))
        answer.headers.setdefault("X-Content-Type-Options", "nosniff")
        # No web page shows an image of ours, or us in a frame, to find out that Rialto runs.
        answer.headers |= {"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY"}
        if self._cors:
            answer.headers["Vary"] = "Origin"
            if (origin := call.request.headers.get("origin", "")) in self._cors:
                answer.headers |= {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*"}
        wanted = call.request.headers.get("accept-encoding", "").lower()
        if "gzip" not in wanted or not isinstance(answer.body, bytes) or len(answer.body) <= GZIP_FROM_BYTES:
            return
        if answer.announced_length is None and not answer.headers.get("Content-Type", "").startswith("image/"):
            answer.body = gzip.compress(answer.body, 5, mtime=0)
            answer.headers["Content-Encoding"] = "gzip"
            answer.headers["Vary"] = "Origin, Accept-Encoding" if self._cors else "Accept-Encoding"

    def _log_when_done(
        self, call: Call, answer: Response, plain: bytes | AsyncIterator[bytes], started_at: float
    ) -> None:
        """Put the call into the log as soon as its answer has ended. `plain` is the body before it was compressed."""
        capture = Capture()
        if isinstance(plain, bytes) or isinstance(answer.body, bytes):
            capture.add(plain if isinstance(plain, bytes) else b"")
            self._log(call, answer, capture, started_at)
        else:  # a stream is never compressed, and whoever waits for its end already has it in hand
            answer.body = _then(answer.body, capture, lambda: self._log(call, answer, capture, started_at))

    def _log(self, call: Call, answer: Response, capture: Capture, started_at: float) -> None:
        request, clock = call.request, self._world.clock
        key = key_of(request.headers)
        inside = Details(
            side(request.headers, request.body, len(request.body), key),
            side(answer.headers, capture.head, capture.size_bytes, key),
            shown_query(request.query, key),
        )
        line = LoggedRequest(
            started_at,
            call.request_id,
            request.method,
            request.path,
            answer.status,
            max(0.0, clock.now() - started_at),
            call.model,
            call.cost_usd,
            call.scripted.name if call.scripted is not None else "",
        )
        self._world.log.append(line, inside)
        self._world.save()  # a stream is charged at its end


async def _then(pieces: AsyncIterator[bytes], capture: Capture, note: Callable[[], None]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            capture.add(piece)
            yield piece
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
        note()


def _lie(kind: str) -> Response:
    headers = {"Content-Type": JSON_TYPE}
    if kind == "length":
        return Response(200, headers, b'{"object":"list","data":[', announced_length=4096)
    if kind == "json":
        return Response(200, headers, b'{"object":"list","data":[{"id":')
    if kind == "html":
        return Response(200, headers, b"<html><body>Service portal: accept the terms to go on</body></html>")
    if kind == "type":
        return Response(200, {"Content-Type": "text/html"}, b'{"object":"list","data":"none"}')
    return Response(200, headers, b"")
