"""One account's way to its service: connections, credentials, retries, limits on what comes back.

The only caller of httpx. HTTP/1.1 on purpose: closing a connection is how a stopped answer stops costing money, and
httpx's HTTP/2 lets a stream that nobody reads any more run on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext, suppress
from decimal import Decimal
from importlib import import_module
from urllib.parse import urlsplit

from app.service.addresses import is_absolute, origin
from app.service.auth import NO_AUTH, Credential
from app.service.calls import Call, CallRecord, Content, JsonContent, query
from app.service.chat_types import RetryWait
from app.service.dialect import Dialect
from app.service.errors import (
    AbuseBlocked,
    BadResponse,
    ConnectionFailed,
    CredentialUnavailable,
    LimitExceeded,
    RateLimited,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.service.exchange import NOT_SHOWN, Exchange, RequestRecord
from app.service.http.anonymous_client import USER_AGENT, no_cookies
from app.service.http.bodies import MAX_ERROR_BYTES, BoundedBody, too_large
from app.service.http.client_library import httpx
from app.service.http.error_bodies import decode_refusal, misdirected
from app.service.http.json_large import LARGE_BYTES, read_large_json
from app.service.http.json_text import read_json
from app.service.http.network import Network
from app.service.http.network_transport import NetworkTransport
from app.service.http.time_limits import CONNECT_S, POOL_S, REFUSAL_S, SLOWEST_BYTES_PER_S, WRITE_S
from app.service.http.tls import empty_context
from app.service.http.transport_failures import failure_of, is_unsafe_redirect, redirect_target
from app.service.key_limits import KeyLimits, LimitsRegistry
from app.service.response_info import ResponseInfo, read_response_info
from app.service.retry import MAX_RESET_WAIT_S, BudgetState, CallKind, jitter, wait_before_retry, wait_reason
from app.service.wallet_auth import ClockRetry, WalletAuth
from app.translation import tr

MAX_REDIRECTS = 5
LOADED_BY_FIRST_CALL = ("httpcore", "h11", "anyio._backends._asyncio", "app.service.http.network_transport")

OnWait = Callable[[RetryWait], None]
# Asked once before a call that may cost money, with the id of its exchange; returns what it may cost in USD, None where
# no price is known. Raises `LimitExceeded`: nothing is sent.
Gate = Callable[[Call, str], Awaitable[Decimal | None]]


class ServiceResponse:
    """An answer whose status is good. Its body is read once, decompressed, and bounded."""

    def __init__(self, response: httpx.Response, info: ResponseInfo, call: Call, record: CallRecord) -> None:
        self.info = info
        self.record = record
        self.body = b""  # filled for whole answers
        self.complete = False
        self._response = response
        self._max_bytes = call.max_bytes
        self._answer_s = call.answer_s
        self._bound = BoundedBody(info.content_encoding, call.max_bytes)

    def pieces(self, *, may_rest: bool = False) -> AsyncGenerator[bytes, None]:
        """Give the body as it arrives. Raises `StreamCut` when it breaks off, `BadResponse` over its bound.

        `may_rest`: it comes word by word, and whoever reads it sees to it that something comes; else what drips is cut.
        """
        return self._pieces() if may_rest else self._steady_pieces()

    async def _steady_pieces(self) -> AsyncGenerator[bytes, None]:
        begun, size = time.monotonic(), 0
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                size += len(piece)
                if time.monotonic() - begun > self._answer_s + size / SLOWEST_BYTES_PER_S:
                    raise self.cut(tr("The response arrived too slowly."))
                yield piece

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        failure = ""
        try:
            if self.info.content_encoding in (None, "identity"):
                left = self._max_bytes
                async for read in _reads(self._response):  # as lean as it can be: chat passes here once per word
                    left -= len(read)
                    if left < 0:
                        raise too_large(self._max_bytes)
                    yield read
            else:
                async for read in _reads(self._response):
                    for piece in self._bound.pieces(read):
                        yield piece
                self._bound.finish()
        except httpx.TimeoutException:
            failure = tr("The response stopped arriving.")
        except (httpx.HTTPError, httpx.StreamError):
            failure = tr("The connection broke before the response was complete.")
        if failure:  # raised out here, so that httpx's error and the request it holds are not its context
            raise self.cut(failure)
        self.complete = True

    def cut(self, sentence: str) -> StreamCut:
        """The error of an answer that ends here."""
        return StreamCut(sentence, status=self.info.status, info=self.info, request_id=self.info.request_id)

    async def read(self) -> None:
        """Read the whole body into `body`. What announces more than the bound is refused before a byte of it comes."""
        announced = self.info.content_length
        if announced is not None and announced > self._max_bytes:
            raise self._answered(too_large(self._max_bytes))
        try:
            self.body = b"".join([piece async for piece in self.pieces()])
        except StreamCut as cut:
            cut.arrived = False  # half of it is of no use to anybody
            raise

    def json(self, *, exact: bool = True) -> object:
        """The body as JSON, numbers with a point as Decimal unless not `exact`. Raises `BadResponse`."""
        try:
            return read_json(self.body, exact=exact)
        except BadResponse as error:
            raise self._answered(error) from None

    async def large_json(self) -> object:
        """The same for an answer that may be tens of megabytes: in a thread, and text until it is looked at.

        Raises `BadResponse`.
        """
        if len(self.body) <= LARGE_BYTES:
            return self.json()
        try:
            return await asyncio.to_thread(read_large_json, self.body)
        except BadResponse as error:
            raise self._answered(error) from None

    def _answered(self, error: BadResponse) -> BadResponse:
        error.status, error.info, error.request_id = self.info.status, self.info, self.info.request_id
        return error

    async def aclose(self) -> None:
        await self._response.aclose()


class ServiceClient:
    """Sends calls for one account and tells `on_exchange` about each of them exactly once.

    `base_url` already ends at the version segment. `auth` goes to the origin of `base_url` and nowhere else. `registry`
    holds the limits of all keys, so that clients with one key share them; `limit_class` says which documented ones
    are meant. `on_budget` hears when calls begin or cease to be held. `on_reach` hears after each try "" when the
    service answered, else the code of what is in the way (dns, network, timeout, refused, …). `network` is shared
    between accounts and knows proxies and certificates; `transport` takes its place. `on_unsent` hears the exchange's
    id of a call that `on_exchange` is not told about, since it never left. Nothing is opened, read or loaded before
    the first call.
    """

    def __init__(
        self,
        base_url: str,
        dialect: Dialect,
        auth: httpx.Auth | None,
        *,
        on_exchange: Callable[[Exchange], None],
        on_reach: Callable[[str], None] | None = None,
        on_budget: Callable[[BudgetState], None] | None = None,
        registry: LimitsRegistry | None = None,
        limit_class: str = "paid",
        transport: httpx.AsyncBaseTransport | None = None,
        network: Network | None = None,
        gate: Gate | None = None,
        on_unsent: Callable[[str], object] | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = jitter,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.dialect = dialect
        self.limits = KeyLimits()  # until the first call, for which the key is read
        self._registry = registry or LimitsRegistry()
        self._limit_class = limit_class
        self._knows_limits = False
        self._auth = auth
        self._on_exchange = on_exchange
        self._on_budget = on_budget or (lambda _state: None)
        self._on_reach = on_reach or (lambda _code: None)
        self._gate = gate
        self._on_unsent = on_unsent or (lambda _exchange_id: None)
        self._transport = transport
        self._network = network or Network()
        self._sleep = sleep
        self._jitter = jitter
        self._origin = origin(self.base_url)
        self._http: httpx.AsyncClient | None = None
        self._is_closed = False
        self._opening = asyncio.Lock()

    async def get(
        self, path: str, params: Mapping[str, object] | None = None, *, resource: str = "", background: bool = False
    ) -> object:
        """Return the JSON of a GET. Raises `ServiceError`."""
        call = Call("GET", path, CallKind.READ, resource, query(params or {}), background=background)
        async with self.fetch(call) as answer:
            return answer.json()

    async def post_json(
        self, path: str, body: object, *, kind: CallKind, resource: str = "", model: str = ""
    ) -> object:
        """Return the JSON that a POST of `body` answers. Raises `ServiceError`."""
        call = Call("POST", path, kind, resource, content=JsonContent(body), model=model)
        async with self.fetch(call) as answer:
            return answer.json()

    @property
    def sign_in_header(self) -> str:
        """The header of a wallet's sign-in, "" for an account with a key."""
        return self._auth.header_name if isinstance(self._auth, WalletAuth) else ""

    def record(self, call: Call) -> CallRecord:
        """The record of a call about to be made; `open` and `fetch` make one themselves unless given it."""
        return CallRecord.begin(call, self._request_record(call), self._on_exchange)

    @asynccontextmanager
    async def open(
        self, call: Call, *, record: CallRecord | None = None, on_wait: OnWait | None = None
    ) -> AsyncIterator[ServiceResponse]:
        """Send `call` and yield the answer with its body unread. Closes it whatever happens. Raises `ServiceError`.

        The call counts as stopped when the block ends before `ServiceResponse.complete` is true.
        """
        async with self._settled(call, record, on_wait, _unread) as answer:
            yield answer

    @asynccontextmanager
    async def fetch(
        self, call: Call, *, record: CallRecord | None = None, on_wait: OnWait | None = None
    ) -> AsyncIterator[ServiceResponse]:
        """Send `call` and yield the answer with its `body` read; a body that breaks off is tried again if harmless."""
        async with self._settled(call, record, on_wait, ServiceResponse.read) as answer:
            yield answer

    async def key_limits(self) -> KeyLimits:
        """The limits of the key that calls go out with. Raises `ServiceError` when the key cannot be read."""
        if not self._knows_limits:
            credential = await self._auth.credential() if isinstance(self._auth, Credential) else ""
            if not self._knows_limits:
                self._knows_limits = True
                self.limits = self._registry.of(self.base_url, credential, self._limit_class)
                self.limits.budget.listen(self._on_budget)
        return self.limits

    async def rest(self, seconds: float) -> None:
        """Wait between tries that a caller makes by itself."""
        await self._sleep(seconds)

    async def aclose(self) -> None:
        """Close every connection. Calls under way are cut off, later ones are not sent."""
        self._is_closed = True
        self._knows_limits = True  # a call that is being given up listens to nothing any more
        self.limits.budget.forget_listener(self._on_budget)
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    @asynccontextmanager
    async def _settled(
        self,
        call: Call,
        record: CallRecord | None,
        on_wait: OnWait | None,
        receive: Callable[[ServiceResponse], Awaitable[None]],
    ) -> AsyncIterator[ServiceResponse]:
        """The one place where a call ends: whatever the way out, the record is finished once and the answer closed."""
        record = record or self.record(call)
        answer: ServiceResponse | None = None
        try:
            async with await self._place_of(call):
                answer = await self._answer(call, record, on_wait, receive)
                yield answer
        except ServiceError as error:
            record.finish(record.outcome_of(error), error)
            raise
        finally:
            try:
                if answer is not None:
                    await answer.aclose()
            finally:
                record.finish("ok" if answer is not None and answer.complete else "stopped")
                if not record.exchange.attempts:
                    self._on_unsent(record.exchange.id)

    async def _place_of(self, call: Call) -> AbstractAsyncContextManager[object]:
        """What a call holds from its first try until its response is read: a wallet has few places for paid calls."""
        if call.costs and isinstance(self._auth, WalletAuth):
            return (await self.key_limits()).wallet_places
        return nullcontext()

    async def _answer(
        self,
        call: Call,
        record: CallRecord,
        on_wait: OnWait | None,
        receive: Callable[[ServiceResponse], Awaitable[None]],
    ) -> ServiceResponse:
        """Try until there is an answer that was received, or an error that is not worth another try."""

        def tell(reason: str, wait_s: float, message: str = "") -> None:
            if on_wait is not None:
                on_wait(RetryWait(reason, wait_s, record.exchange.attempts, message))

        if self._gate is not None and call.costs:
            record.expect(await self._gate(call, record.exchange.id))
        second_chance = ClockRetry(self._auth)
        longest_s = 0.0  # the longest wait so far that no window ended: no later one is shorter
        was_unlocked = False
        while True:
            sent = record.exchange.attempts
            try:
                return await self._attempt(call, record, tell, receive)
            except CredentialUnavailable as error:
                record.held_back(sent)
                if not error.locked or was_unlocked or not await self._unlocked_for(call):
                    raise
                was_unlocked = True
                continue
            except ServiceError as error:
                record.failed(error)
                if second_chance.taken(error):
                    continue
                attempts = record.exchange.attempts
                wait_s = wait_before_retry(call.kind, error, attempts, self._jitter) if attempts else None
                if wait_s is None or call.single or self._is_closed or _is_the_callers(call, error):
                    raise
                record.lost(error)
                if not isinstance(error, RateLimited):
                    wait_s = longest_s = max(wait_s, longest_s)
                if wait_s:
                    tell(wait_reason(error), wait_s, error.message)
            await self._sleep(wait_s)

    async def _unlocked_for(self, call: Call) -> bool:
        """Ask the person to unlock what `call` needs, if it is they who wait for it."""
        unlock = self._auth.unlock if isinstance(self._auth, Credential) else None
        return unlock is not None and call.is_asked_for and await unlock()

    async def _attempt(
        self,
        call: Call,
        record: CallRecord,
        tell: Callable[[str, float], None],
        receive: Callable[[ServiceResponse], Awaitable[None]],
    ) -> ServiceResponse:
        own = not is_absolute(call.path)  # a strange host's refusals are not on the service's list
        limits = await self._limits_for(call)
        await limits.pace.turn(call.pace, lambda seconds: tell("pace", seconds))
        admission = None
        if own:
            await self._keep_to(limits, call, tell)
            admission = await limits.budget.admit(background=call.background, on_hold=lambda s: tell("held", s))
        left = False
        try:
            http = await self._open_http()
            record.attempted()
            left = True
            response = await self._reach(http, call, limits) if own else await self._send(http, call)
            if admission is not None:
                admission.answered(response.status_code)
        except BaseException as error:
            if admission is not None and left and not getattr(error, "surely_not_sent", False):
                admission.lost()
            raise
        finally:
            if admission is not None:
                admission.close()
        try:
            info = read_response_info(response.status_code, response.headers.multi_items(), self.dialect)
            record.answered(info)
            if own:
                limits.pace.observe(call.pace, info.limit_requests, info.limit_tokens, info.cap_limit)
            if response.status_code >= 400 and response.status_code not in call.expected:
                body = await _beginning(response, info)
                refusal = decode_refusal(info, body)
                record.refused(await self._without_key(body))
                if own and isinstance(refusal, AbuseBlocked):
                    limits.budget.block()
                elif own and isinstance(refusal, RateLimited) and refusal.retry_after_s:
                    limits.met(call.bucket, refusal.retry_after_s)
                raise refusal
            if response.status_code < 200 or 300 <= response.status_code < 400:
                raise misdirected(info)
            limits.passed(call.bucket)
            answer = ServiceResponse(response, info, call, record)
            await receive(answer)
        except BaseException:
            await response.aclose()
            raise
        return answer

    async def _without_key(self, body: bytes) -> str:
        """The text of a body, which may repeat the key that it refuses."""
        text = body.decode("utf-8", "replace")
        with suppress(ServiceError):
            key = await self._auth.credential() if isinstance(self._auth, Credential) else ""
            return text.replace(key, NOT_SHOWN) if key else text
        return ""

    async def _limits_for(self, call: Call) -> KeyLimits:
        """Those of the key, also for a call that goes without it, unless the key cannot be read."""
        if call.authenticated and not is_absolute(call.path):
            return await self.key_limits()
        with suppress(ServiceError):
            return await self.key_limits()
        return self.limits

    async def _keep_to(self, limits: KeyLimits, call: Call, tell: Callable[[str, float], None]) -> None:
        """Wait for the end of a limit that a call of the same key has met. Raises where nobody waits for that."""
        if call.background and call.kind is CallKind.READ and (away := limits.unreachable_error) is not None:
            raise away
        while (wait_s := limits.resets_in_s(call.bucket)) and not call.single:
            by_itself = call.background or call.paces_itself
            if wait_s > MAX_RESET_WAIT_S and not by_itself:
                return  # too long to wait: a person asked for it, and the service may accept it now
            if wait_s > MAX_RESET_WAIT_S or by_itself:
                raise RateLimited(tr("This key has reached a limit."), retry_after_s=wait_s, surely_not_sent=True)
            tell("rate_limit", wait_s)
            await self._sleep(wait_s)

    async def _reach(self, http: httpx.AsyncClient, call: Call, limits: KeyLimits) -> httpx.Response:
        """Send once, and tell whether the service could be reached at all."""
        try:
            response = await self._send(http, call)
        except ConnectionFailed as failure:
            if failure.code != "address" and not self._is_closed:  # one never left, the other was cut off by us
                limits.record_unreachable(failure)
                self._on_reach(failure.code or "network")
            raise
        limits.reached()
        self._on_reach("")
        return response

    async def _send(self, http: httpx.AsyncClient, call: Call) -> httpx.Response:
        """Send once, following redirects inside the origin only. Raises what became of the connection."""
        url = self._url(call)
        for _ in range(MAX_REDIRECTS + 1):
            if http.is_closed:
                raise _closed()
            own = not is_absolute(call.path) and origin(url) == self._origin
            request = http.build_request(
                call.method,
                url,
                headers=[*self._headers(call), *(call.secret_headers if own else ())],
                content=call.content.open() if call.content is not None else None,
                timeout=httpx.Timeout(connect=CONNECT_S, read=call.answer_s, write=WRITE_S, pool=POOL_S),
            )
            failure: ServiceError
            try:
                # `auth=None` would let httpx take a user and password out of the address
                trusted = own and call.authenticated
                response = await _head(http, request, self._auth if trusted else NO_AUTH, call.answer_s)
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                failure = failure_of(error, request.url.host)
            else:
                target = redirect_target(response, call)
                if target is None:
                    return response
                await response.aclose()
                if not is_absolute(call.path) and origin(target) != self._origin:
                    raise BadResponse(
                        tr(
                            "The service redirected the request to {hostname}, another host.",
                            hostname=urlsplit(target).hostname or target,
                        ),
                        status=response.status_code,
                    )
                if is_unsafe_redirect(url, target):
                    raise BadResponse(
                        tr("The download was redirected to an address that is not allowed."),
                        status=response.status_code,
                    )
                url = target
                continue
            raise failure  # out here, so that httpx's error, which holds the request, is not its context
        raise BadResponse(tr("The service redirected the request in a loop."))

    async def _open_http(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._http is None and not self._is_closed:
                self._http = await asyncio.to_thread(self._build_http)
            http = self._http
            if http is None or self._is_closed:  # whoever still holds a closed client would open one that nobody closes
                self._http = None
                if http is not None:
                    await http.aclose()
                raise _closed()
            return http

    def _build_http(self) -> httpx.AsyncClient:
        """Runs in a thread: what httpx loads for its first call would hold the window for several frames."""
        for name in LOADED_BY_FIRST_CALL:
            with suppress(ImportError):
                import_module(name)

        return httpx.AsyncClient(
            transport=self._transport or NetworkTransport(self._network),
            verify=empty_context(),  # the transport brings its own
            trust_env=False,
            follow_redirects=False,
            cookies=no_cookies(),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"},
        )

    def address_of(self, path: str) -> str:
        """Return the full URL of a path below the account's address."""
        return self.base_url + path

    def _url(self, call: Call) -> str:
        base = call.path if is_absolute(call.path) else self.base_url + call.path
        try:
            return str(httpx.URL(base, params=call.params)) if call.params else base
        except httpx.InvalidURL:
            raise LimitExceeded(tr("The request address is too long."), field="url", limit="65536") from None

    def _headers(self, call: Call) -> list[tuple[str, str]]:
        content: Content | None = call.content
        return [("Accept", call.accept), *(content.headers if content is not None else ()), *call.headers]

    def _request_record(self, call: Call) -> RequestRecord:
        return RequestRecord(
            method=call.method,
            path=call.path,
            url=self._url(call),
            headers=(*self._headers(call), *((name, NOT_SHOWN) for name, _ in call.secret_headers)),
            body=call.content.record if call.content is not None else None,
            authenticated=call.authenticated and self._auth is not None and not is_absolute(call.path),
            sign_in_header=self.sign_in_header,
        )


async def _head(
    http: httpx.AsyncClient, request: httpx.Request, auth: httpx.Auth | None, limit_s: float
) -> httpx.Response:
    """Send, and return the answer once its head is whole: at most `limit_s` after the request has left.

    httpx's own limit is about each read: a byte now and then would begin it anew, for ever. Raises what httpx raises.
    """
    limit = asyncio.timeout(None)

    async def note(step: str, _: object) -> None:
        if step.endswith("receive_response_headers.started"):
            limit.reschedule(asyncio.get_running_loop().time() + limit_s)

    request.extensions = {**request.extensions, "trace": note}
    try:
        async with limit:
            return await http.send(request, stream=True, auth=auth)
    except TimeoutError:
        if not limit.expired():
            raise
    raise httpx.ReadTimeout("The response headers took too long.", request=request)


def _reads(response: httpx.Response) -> AsyncIterable[bytes]:
    """The body as the network delivers it. Not `aiter_raw`, which cuts and counts it once more."""
    stream = response.stream
    if not isinstance(stream, AsyncIterable):
        raise BadResponse(tr("The response cannot be read."))
    return stream


def _is_the_callers(call: Call, error: ServiceError) -> bool:
    """Whether the next try is not made here: what asks in the background asks again by itself, at its own pace."""
    if isinstance(error, AbuseBlocked | ConnectionFailed | TimedOut):
        return call.background
    return call.paces_itself and isinstance(error, RateLimited)


async def _unread(_: ServiceResponse) -> None:
    """Leave the body for the caller."""


async def _beginning(response: httpx.Response, info: ResponseInfo) -> bytes:
    """As much of a refusal's body as can be had; what is missing or too much does not hide the refusal."""
    pieces: list[bytes] = []
    try:
        bound = BoundedBody(info.content_encoding, MAX_ERROR_BYTES)
        async with asyncio.timeout(REFUSAL_S):
            async for read in _reads(response):
                pieces.extend(bound.pieces(read))
    except (httpx.HTTPError, httpx.StreamError, BadResponse, TimeoutError):
        return b"".join(pieces)
    return b"".join(pieces)


def _closed() -> ConnectionFailed:
    return ConnectionFailed(tr("This connection was closed."), code="closed", surely_not_sent=True)
