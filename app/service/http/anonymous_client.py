"""Fetches public files without account, cookies or credentials, over the same connections as everything else.

For the update feed and for images that the authors of characters put anywhere. What answers is not trusted: it may
send without end, compressed or slowly.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

from app.service.addresses import origin
from app.service.errors import BadResponse, ServiceError, TimedOut
from app.service.http.bodies import BoundedBody
from app.service.http.client_library import httpx
from app.service.http.network import Network
from app.service.http.network_transport import NetworkTransport
from app.service.http.tls import empty_context
from app.service.http.transport_failures import failure_of
from app.translation import tr

MAX_REDIRECTS = 3
USER_AGENT = "Rialto"


class AnonymousClient:
    """`asked` is called with the host of each request. Close it with `aclose`."""

    def __init__(self, network: Network, within_s: float, asked: Callable[[str], object] = lambda _host: None) -> None:
        self._transport = NetworkTransport(network)
        self._within_s = within_s
        self._asked = asked
        self._http: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.aclose()
        else:
            await self._transport.aclose()

    async def get(self, address: str, max_bytes: int) -> bytes:
        """Return a body of at most `max_bytes`, following redirects inside its origin. Raises `ServiceError`."""
        host = urlsplit(address).hostname or ""
        failure: ServiceError
        try:
            async with asyncio.timeout(self._within_s):
                return await self._get(address, max_bytes)
        except TimeoutError:
            failure = TimedOut(tr("{host} did not answer in time.", host=host), code="timeout")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            failure = failure_of(error, host)
        raise failure  # out here: the error of httpx holds the request

    async def _get(self, address: str, max_bytes: int) -> bytes:
        if self._http is None:
            self._http = httpx.AsyncClient(
                transport=self._transport,
                verify=empty_context(),  # the transport brings its own
                trust_env=False,
                follow_redirects=False,
                timeout=self._within_s,
                cookies=no_cookies(),
                headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
            )
        url = address
        for _ in range(MAX_REDIRECTS + 1):
            self._asked(urlsplit(url).hostname or "")
            # `auth=None` would let httpx take a user and password out of the address
            async with self._http.stream("GET", url, auth=httpx.Auth()) as response:
                target = response.headers.get("location") if response.is_redirect else None
                if target is None:
                    return await _body(response, max_bytes)
                url = str(response.url.join(target))
            if origin(url) != origin(address):
                break
        raise BadResponse(tr("The server redirected the request elsewhere."))


def no_cookies() -> CookieJar:
    """A jar that keeps nothing."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


async def _body(response: httpx.Response, max_bytes: int) -> bytes:
    if response.status_code != httpx.codes.OK:
        raise BadResponse(
            tr("The server answered with an error ({status}).", status=str(response.status_code)),
            status=response.status_code,
        )
    bound = BoundedBody(response.headers.get("content-encoding"), max_bytes)
    pieces: list[bytes] = []
    assert isinstance(response.stream, AsyncIterable)
    async for read in response.stream:  # httpx would inflate each piece whole
        pieces.extend(bound.pieces(read))
    bound.finish()
    return b"".join(pieces)
