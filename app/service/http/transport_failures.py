"""Turns httpx failures and redirects into our own errors."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Literal

from app.service.addresses import is_loopback
from app.service.calls import Call
from app.service.errors import ConnectionFailed, ServiceError, TimedOut
from app.service.http.client_library import httpx
from app.service.http.time_limits import CONNECT_S
from app.translation import tr


def failure_of(error: Exception, host: str) -> ServiceError:
    """What httpx raised on the way to `host`, as an error of ours that does not hold the request."""
    match error:
        case httpx.ConnectTimeout():
            return ConnectionFailed(
                tr("No connection to {host} within {connect_s} s.", host=host, connect_s=f"{CONNECT_S:g}"),
                code="timeout",
                surely_not_sent=True,
            )
        case httpx.PoolTimeout():
            return TimedOut(tr("Too many requests are already in progress."), code="pool", surely_not_sent=True)
        case httpx.TimeoutException():
            return TimedOut(tr("{host} did not answer in time.", host=host), code="timeout")
        case httpx.ProxyError():
            return ConnectionFailed(
                getattr(error, "sentence", tr("The proxy refused to connect.")),
                code=getattr(error, "code", "proxy"),
                surely_not_sent=True,
            )
        case httpx.ConnectError():
            code, sentence = explain(error, host)
            return ConnectionFailed(sentence, code=code, surely_not_sent=True)
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | httpx.InvalidURL():
            return ConnectionFailed(tr("This request cannot be sent."), code="address", surely_not_sent=True)
        case _:
            return ConnectionFailed(tr("The connection to {host} broke before it answered.", host=host), code="network")


def redirect_target(response: httpx.Response, call: Call) -> str | None:
    """Where a redirect leads, if it may be followed: a GET anywhere, anything else only when method and body stay."""
    location = response.headers.get("location")
    follow = (301, 302, 303, 307, 308) if call.method in ("GET", "HEAD") else (307, 308)
    if location is None or response.status_code not in follow or not call.follows_redirects:
        return None
    try:
        return str(response.url.join(location))
    except httpx.InvalidURL:
        return None


def is_unsafe_redirect(url: str, target: str) -> bool:
    """Whether a redirect gives up TLS, or leads from another computer to this one, whose servers trust whoever asks."""
    gives_up_tls = url.startswith("https://") and not target.startswith("https://")
    return gives_up_tls or (is_loopback(target) and not is_loopback(url))


ConnectionFault = Literal["dns", "refused", "certificate", "tls", "network"]
MAX_CAUSES = 24


def explain(error: BaseException, host: str) -> tuple[ConnectionFault, str]:
    """Return the fault and a sentence naming `host`. The most telling cause in the chain counts."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "certificate", tr(
                "The certificate of {host} is not trusted: {verify_message}.",
                host=host,
                verify_message=cause.verify_message.rstrip("."),
            )
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "dns", tr("There is no host named {host}, or DNS is not reachable.", host=host)
        if isinstance(cause, ssl.SSLError):
            return "tls", tr("A secure connection to {host} could not be made.", host=host)
        if isinstance(cause, ConnectionRefusedError):
            return "refused", tr("Nothing responds at {host}.", host=host)
    return "network", tr("{host} cannot be reached.", host=host)


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException] = [error]
    for _ in range(MAX_CAUSES):
        if not waiting:
            return
        each = waiting.pop(0)
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting.extend(each.exceptions)
        for below in (each.__cause__, each.__context__):
            if below is not None:
                waiting.append(below)
