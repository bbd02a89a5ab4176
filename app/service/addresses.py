"""What the address of a service tells about its operator. Standard library only."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

Origin = tuple[str, str, int | None]  # scheme, host, port


def origin(url: str) -> Origin:
    """Two addresses with the same origin are the same service; credentials never go to another one."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or ""), parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def is_absolute(path: str) -> bool:
    return path.startswith(("https://", "http://"))


def is_loopback(url: str) -> bool:
    """True for a service on this computer, which is reached without TLS and never through a proxy."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return is_localhost(host)


def is_localhost(host: str) -> bool:
    """True for the names that mean this computer everywhere: localhost and all below it (RFC 6761, section 6.3)."""
    return host == "localhost" or host.endswith(".localhost")


def is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
