"""TLS trust: the operating system's certificates, loaded once.

Loading them costs tens of milliseconds, so it happens on first use, in a thread, and one context serves every account.
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    return truststore_context()


def truststore_context() -> ssl.SSLContext:
    """A context that asks Windows or macOS whether a certificate is trusted, once `SystemVerified.verify` is called.

    truststore asks within the handshake, which is on the event loop; the system may look up revocations meanwhile.
    """
    import truststore  # 16 ms, and not needed on most machines

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # truststore has no public way to verify later
    verify = importlib.import_module("truststore._api")._verify_peercerts  # noqa: SLF001

    class Verified(SystemVerified):
        def verify(self) -> None:
            verify(self, server_hostname=self.server_hostname)
            self.is_verified = True

    context._ctx.sslobject_class = Verified  # noqa: SLF001 - as above
    return context


class SystemVerified(ssl.SSLObject):
    """A connection whose handshake is over and whose certificate may not be verified yet: then nothing can be sent."""

    is_verified = False

    def verify(self) -> None:
        """Ask the system; blocks. Raises `ssl.SSLCertVerificationError`."""
        raise NotImplementedError

    def write(self, data: Any) -> int:
        if not self.is_verified:
            raise ssl.SSLError(ssl.SSL_ERROR_SSL, tr("the certificate has not been verified"))
        return super().write(data)


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
