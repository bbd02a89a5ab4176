"""Sends each request the way its host is reached, and keeps the connections of each way.

What goes wrong at a proxy is told apart from what goes wrong at the service: nothing reached the service then.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from app.service.http.client_library import httpcore, httpx
from app.service.http.network import ConnectionRoute, Network, Proxy, UnusableProxy
from app.service.http.network_dial import Dialer, Fault, HopFailed, Step, sentence_of
from app.service.http.network_stream import SocketStream
from app.translation import tr

MAX_CONNECTIONS = 40
MAX_IDLE_CONNECTIONS = 10
IDLE_CONNECTION_S = 60.0


class ProxyFailed(httpx.ProxyError):
    """The proxy is not there, or says no. `code` begins with "proxy"; the sentence is for people, without secrets."""

    def __init__(self, sentence: str, code: str = "proxy") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


class _HopError(httpcore.ConnectError):
    """A `HopFailed` on its way through httpcore."""

    def __init__(self, failed: HopFailed, host: str) -> None:
        super().__init__(str(failed))
        self.failed = failed
        self.host = host


class NetworkTransport(httpx.AsyncBaseTransport):
    """The connections of one account. After a change of the network, calls under way end on those they have."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._generation = network.generation
        self._pools: dict[tuple[ConnectionRoute, bool], _Pool] = {}
        self._retired: set[_Pool] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises `httpx.TransportError`, `ProxyFailed` among them, and what asking for the way raises."""
        try:
            way = await self._network.way(str(request.url))
        except UnusableProxy as error:
            raise ProxyFailed(
                tr("The system uses a proxy of type {kind}, which Rialto does not support.", kind=error.kind[:20]),
                "proxy_kind",
            ) from None
        pool = await self._pool(way, forwards=way.proxy is not None and _is_forwarded(request, way.proxy))
        pool.active += 1
        failure: httpx.TransportError
        try:
            answer = await pool.connections.handle_async_request(_core_request(request))
        except _HopError as error:
            failure = _hop_failure(error, way.proxy)
        except _CORE_ERRORS as error:
            failure = _as_httpx(error)
        except BaseException:
            await self.release(pool)
            raise
        else:
            stream = _Body(answer.stream, pool, self, answer.extensions.get("network_stream"))
            if answer.status == 407 and way.proxy is not None:  # in clear text the proxy answers in the service's place
                await stream.aclose()
                fault: Fault = "credentials_refused" if way.proxy.user else "credentials_wanted"
                raise _proxy_failed(HopFailed("proxy_answer", fault), request.url.host, way.proxy)
            return httpx.Response(answer.status, headers=answer.headers, stream=stream, extensions=answer.extensions)
        await self.release(pool)
        # `explain` finds out why by its causes; nothing among them holds the request
        raise failure

    async def aclose(self) -> None:
        pools = [*self._pools.values(), *self._retired]
        self._pools.clear()
        self._retired.clear()
        for pool in pools:
            await pool.aclose()

    async def _pool(self, way: ConnectionRoute, *, forwards: bool) -> _Pool:
        if self._generation != self._network.generation:
            self._generation = self._network.generation
            before, self._pools = self._pools, {}
            self._retired.update(before.values())
            for retired in before.values():
                await self._close_if_done(retired)
        if (way, forwards) not in self._pools:
            self._pools[way, forwards] = _Pool(way, forwards=forwards)
        return self._pools[way, forwards]

    async def release(self, pool: _Pool) -> None:
        """One request less is on this pool."""
        pool.active -= 1
        await self._close_if_done(pool)

    async def _close_if_done(self, pool: _Pool) -> None:
        if pool in self._retired and not pool.active:
            self._retired.discard(pool)
            await pool.aclose()


class _Pool:
    """The connections of one way, and how many requests are on them."""

    def __init__(self, way: ConnectionRoute, *, forwards: bool) -> None:
        self.active = 0
        self._backend = _ForwardBackend(way) if forwards else _Backend(way)
        self.connections = _connections(way, self._backend, forwards=forwards)

    async def aclose(self) -> None:
        """Close every connection, those that are just being opened as well."""
        self._backend.close()  # at once: who waits for the others may be cancelled meanwhile
        await self.connections.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of a response; its end sets the connection free, or closes it if bytes are left over."""

    def __init__(self, stream: object, pool: _Pool, transport: NetworkTransport, connection: object) -> None:
        assert isinstance(stream, AsyncIterable)
        self._stream = stream
        self._connection = connection
        self._pool: _Pool | None = pool
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        failure: httpx.TransportError | None = None
        try:
            async for part in self._stream:
                yield part
        except _CORE_ERRORS as error:
            failure = _as_httpx(error)
        if failure is not None:
            raise failure

    async def aclose(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            if isinstance(self._connection, SocketStream) and _has_leftover(self._stream):
                self._connection.abort()
            close = getattr(self._stream, "aclose", None)
            if close is not None:
                with suppress(*_CORE_ERRORS):  # it may have been closed under us, with all others
                    await close()
        finally:
            await self._transport.release(pool)


def _has_leftover(stream: object) -> bool:
    """Return whether bytes follow the end of a response. They would be read as the response to the next request.

    httpcore has no public way to ask: h11 keeps what was read beyond the end, and passes it on to the next cycle.
    """
    connection = getattr(getattr(stream, "_stream", None), "_connection", None)
    state = getattr(connection, "_h11_state", None)
    return state is not None and bool(state.trailing_data[0])


class _Backend(httpcore.AsyncNetworkBackend):
    """Opens the connections of one way; httpcore does not notice the proxy unless it has to speak with it itself."""

    def __init__(self, way: ConnectionRoute) -> None:
        self._way = way
        self._streams: WeakSet[SocketStream] = WeakSet()
        self.is_closed = False

    def close(self) -> None:
        """Hang up on every connection, and on those that are just being opened."""
        self.is_closed = True
        for stream in self._streams:
            stream.abort()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> SocketStream:
        try:
            stream = await Dialer(self._way, host, port).open(timeout)
        except HopFailed as failed:
            raise _HopError(failed, host) from failed
        if self.is_closed:  # httpcore forgets the connections that it is opening when it is closed
            await stream.aclose()
            raise httpcore.ConnectError("closed")
        self._streams.add(stream)
        return stream


class _ForwardBackend(_Backend):
    """Opens connections to the proxy itself, for requests in clear text that it forwards."""

    def __init__(self, way: ConnectionRoute) -> None:
        super().__init__(ConnectionRoute(None, way.context))

    async def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> SocketStream:
        try:
            return await super().connect_tcp(host, port, *args, **options)
        except _HopError as error:
            step: Step = "proxy_name" if error.failed.step == "name" else "proxy"
            failed = HopFailed(step, error.failed.fault, cause=error.failed)
            raise _HopError(failed, host) from error


def _is_forwarded(request: httpx.Request, proxy: Proxy) -> bool:
    """An HTTP proxy is given requests in clear text whole: many let nothing but TLS through a tunnel."""
    return request.url.scheme == "http" and proxy.kind != "socks5"


def _connections(way: ConnectionRoute, backend: _Backend, *, forwards: bool) -> httpcore.AsyncConnectionPool:
    context = way.context or _no_context()
    proxy = way.proxy
    if proxy is None or not forwards:
        return httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_CONNECTION_S,
            network_backend=backend,
        )
    return httpcore.AsyncHTTPProxy(
        httpcore.URL(scheme=proxy.kind, host=proxy.host, port=proxy.port, target="/"),
        (proxy.user.encode(), proxy.password.encode()) if proxy.user else None,
        ssl_context=context,
        proxy_ssl_context=context if proxy.kind == "https" else None,
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=MAX_IDLE_CONNECTIONS,
        keepalive_expiry=IDLE_CONNECTION_S,
        network_backend=backend,
    )


def _no_context() -> ssl.SSLContext:
    """A context that believes nobody: httpcore would load certificates otherwise, also where no TLS is spoken."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _core_request(request: httpx.Request) -> httpcore.Request:
    url = httpcore.URL(
        scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path
    )
    return httpcore.Request(
        request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
    )


def _hop_failure(error: _HopError, proxy: Proxy | None) -> httpx.TransportError:
    failed = error.failed
    if proxy is not None and failed.step.startswith("proxy"):
        return _proxy_failed(failed, error.host, proxy)
    kind = httpx.ConnectTimeout if failed.fault == "timeout" else httpx.ConnectError
    failure = kind(str(error))
    failure.__cause__ = failed
    return failure


def _proxy_failed(failed: HopFailed, host: str, proxy: Proxy) -> ProxyFailed:
    code = "proxy_auth" if failed.fault.startswith("credentials") else "proxy"
    return ProxyFailed(sentence_of(failed, host, proxy), code)


_CORE_ERRORS = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol)


def _as_httpx(error: Exception) -> httpx.TransportError:
    """The error of httpx that has the name of httpcore's; its causes come along."""
    kinds = (getattr(httpx, kind.__name__, None) for kind in type(error).__mro__)
    kind = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, httpx.TransportError))
    failure: httpx.TransportError = kind(str(error))
    failure.__cause__ = error
    return failure
