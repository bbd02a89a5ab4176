"""TLS trust: the operating system's certificates, loaded once.

Loading them costs tens of milliseconds, so it happens on first use, in a thread, and one context serves every account.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

from app.service.errors import ConnectionFailed
from app.translation import tr


class TlsTrust:
    """Makes the shared TLS context when first asked. `ca_files` are PEM files believed besides the system's."""

    def __init__(self, ca_files: tuple[Path, ...] = (), build: Callable[[], ssl.SSLContext] | None = None) -> None:
        self._ca_files = ca_files
        self._build = build or system_context
        self._context: ssl.SSLContext | None = None
        self._lock = asyncio.Lock()

    async def context(self) -> ssl.SSLContext:
        """Return the context. Raises `ConnectionFailed` when a certificate file of the person's cannot be read."""
        async with self._lock:
            if self._context is None:
                self._context = await asyncio.to_thread(self._make)
            return self._context

    def _make(self) -> ssl.SSLContext:
        context = self._build()
        if self._ca_files:
            # Own certificates are often a server's only one, or made without all that Python 3.13 asks for.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        for path in self._ca_files:
            try:
                context.load_verify_locations(cafile=str(path))
            except (OSError, ssl.SSLError) as error:
                reason = error.strerror or tr("not a PEM certificate")
                raise ConnectionFailed(
                    tr("The certificate file {name} cannot be used: {reason}.", name=path.name, reason=reason),
                    code="ca_file",
                    surely_not_sent=True,
                ) from None
        return context


def system_context() -> ssl.SSLContext:
    """A verifying context over the operating system's certificates.

    On Linux the standard library loads them once; truststore reads the whole bundle again for every connection, 30 ms
    on the event loop each time. Elsewhere, and where OpenSSL's own paths hold nothing, truststore asks the system.
    """
    if sys.platform == "linux":
        context = ssl.create_default_context()
        if context.cert_store_stats()["x509_ca"]:
            return context
    import truststore  # 16 ms, and not needed on most machines

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def trusted_authorities() -> int | None:
    """Return how many certificate authorities this computer trusts; None where only the system itself knows."""
    if sys.platform != "linux":
        return None
    # truststore loads them into the context of a connection that begins
    connection = system_context().wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")
    loaded = connection.context.cert_store_stats()["x509_ca"]
    looked_up = ssl.get_default_verify_paths().capath  # a folder of which OpenSSL reads a file when a server needs it
    return loaded or (sum(1 for _ in Path(looked_up).iterdir()) if looked_up else 0)


def empty_context() -> ssl.SSLContext:
    """A context that believes nobody: for addresses without TLS, where loading certificates would be waste."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
