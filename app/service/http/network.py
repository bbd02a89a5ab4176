"""How a host is reached: directly or through a proxy, and which certificates are trusted.

One `Network` serves all accounts. The proxy's password is read when a connection needs it and is in no repr.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from app.service.addresses import is_loopback, origin
from app.service.http.tls import TlsTrust

ProxyMode = Literal["system", "none", "manual"]
ProxyKind = Literal["http", "https", "socks5"]
ReadPassword = Callable[[], Awaitable[str]]  # raises `ServiceError` when the place for secrets does not open

SYSTEM_HOLDS_S = 60.0  # how long an answer of the operating system's is believed
_KIND_OF_SCHEME: dict[str, ProxyKind] = {
    "http": "http",
    "https": "https",
    "socks": "socks5",
    "socks5": "socks5",
    "socks5h": "socks5",
}
_USUAL_PORT = {"http": 80, "https": 443, "socks5": 1080}


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """What the person chose. `bypass` names hosts that are called straight; without a user no password is sent."""

    proxy_mode: ProxyMode = "system"
    proxy_kind: ProxyKind = "http"
    proxy_host: str = ""
    proxy_port: int = 0
    proxy_user: str = ""
    bypass: tuple[str, ...] = ()
    ca_files: tuple[Path, ...] = ()

    @property
    def has_manual_proxy(self) -> bool:
        return self.proxy_mode == "manual" and bool(self.proxy_host) and 0 < self.proxy_port < 65536


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. `password` stays out of every repr."""

    kind: ProxyKind
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def address(self) -> str:
        """Host and port as a person writes them; never the user or the password."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectionRoute:
    """How to reach one origin: through `proxy` or straight, and with which context where TLS is spoken."""

    proxy: Proxy | None
    context: ssl.SSLContext | None


class UnusableProxy(ValueError):
    """The operating system names a proxy of a kind that Rialto does not speak. `kind` is its scheme."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Network:
    """Knows the way to every host. `generation` goes up with each change: who keeps connections compares it."""

    def __init__(
        self,
        settings: NetworkSettings | None = None,
        read_password: ReadPassword | None = None,
        *,
        trust: Callable[[tuple[Path, ...]], TlsTrust] = TlsTrust,
        system: Callable[[str], Proxy | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`system` tells the operating system's proxy for an address; it may wait for a name server."""
        self.settings = settings or NetworkSettings()
        self.generation = 0
        self._read_password = read_password
        self._make_trust = trust
        self._trust = trust(self.settings.ca_files)
        self._system = system or system_proxy
        self._clock = clock
        self._known: dict[tuple[str, str, int | None], tuple[ConnectionRoute, float]] = {}

    def change(self, settings: NetworkSettings) -> None:
        """Go other ways from the next call on; calls under way end on theirs."""
        if settings.ca_files != self.settings.ca_files:
            self._trust = self._make_trust(settings.ca_files)
        self.settings = settings
        self.forget()

    def forget(self) -> None:
        """Read password and certificates again for the next connection: the password changed, or was locked away."""
        self._known.clear()
        self.generation += 1

    async def way(self, url: str) -> ConnectionRoute:
        """Return the way to the origin of `url`.

        Raises `ConnectionFailed` for a certificate file that cannot be used, `UnusableProxy`, and what reading the
        password raises.
        """
        key = origin(url)
        known = self._known.get(key)
        if known is not None and known[1] > self._clock():
            return known[0]
        generation = self.generation
        proxy = await self.proxy(url)
        secure = key[0] == "https" or (proxy is not None and proxy.kind == "https")
        way = ConnectionRoute(proxy, await self._trust.context() if secure else None)
        if generation == self.generation:  # what was asked before a change is not kept after it
            until = self._clock() + SYSTEM_HOLDS_S if self.settings.proxy_mode == "system" else float("inf")
            self._known[key] = (way, until)
        return way

    async def proxy(self, url: str) -> Proxy | None:
        """Return the proxy for `url`, None to go straight there. This computer is never called through a proxy."""
        settings = self.settings
        if settings.proxy_mode == "none" or is_loopback(url):
            return None
        if settings.proxy_mode == "system":
            return await asyncio.to_thread(self._system, url)
        if not settings.has_manual_proxy or is_bypassed(url, settings.bypass):
            return None
        proxy = Proxy(settings.proxy_kind, settings.proxy_host, settings.proxy_port, settings.proxy_user)
        if settings.proxy_user and self._read_password is not None:
            proxy = replace(proxy, password=await self._read_password())
        return proxy


def is_bypassed(url: str, entries: tuple[str, ...]) -> bool:
    """Whether a list of exceptions names the host of `url`.

    An entry is a host (its subdomains included), `*.example.net` or `.example.net` for the same, an IP address, a
    block such as `10.0.0.0/8`, `<local>` for names without a dot, or `*` for everything; `host:port` for one port.
    """
    _, host, port = origin(url)
    host = host.rstrip(".").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    for entry in entries:
        wanted, wanted_port = _split_entry(entry.strip().lower())
        if wanted_port is not None and wanted_port != port:
            continue
        if wanted == "*" or (wanted == "<local>" and address is None and "." not in host):
            return True
        if address is not None:
            if _holds(wanted, address):
                return True
            continue
        name = wanted.removeprefix("*").strip(".")
        if name and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _split_entry(entry: str) -> tuple[str, int | None]:
    """Host and port of an entry; a bare IPv6 address has colons and no port."""
    head, _, tail = entry.rpartition(":")
    if head and tail.isdigit() and (":" not in head or head.endswith("]")):
        return head.strip("[]"), int(tail)
    return entry.strip("[]"), None


def _holds(block: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(block, strict=False)
    except ValueError:
        return False


def system_proxy(url: str) -> Proxy | None:
    """The operating system's proxy for `url`: environment variables, else the settings of macOS or Windows.

    May wait for a name server: call it in a thread. Raises `UnusableProxy`.
    """
    scheme, host, port = origin(url)
    proxies = urllib.request.getproxies()
    # what is said of both schemes in one word counts after what is said of this one
    text = proxies.get(scheme) or proxies.get("all") or proxies.get("socks") or ""
    if not text or urllib.request.proxy_bypass(f"{host}:{port}") or urllib.request.proxy_bypass(host):
        return None
    return read_proxy(text)


def read_proxy(text: str) -> Proxy | None:
    """A proxy from `scheme://user:password@host:port`, as environment variables hold it; None if it names no host."""
    parts = urlsplit(text if "://" in text else f"http://{text}")
    kind = _KIND_OF_SCHEME.get(parts.scheme.lower())
    if kind is None:
        raise UnusableProxy(parts.scheme)
    try:
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(kind, parts.hostname, port or _USUAL_PORT[kind], user, password)
