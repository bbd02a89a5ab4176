"""Certificates on Windows and macOS: the system verifies them, which may take a while, and nothing is sent before."""

import asyncio
import contextlib
import importlib
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpcore
import pytest

from app.service.http.network_stream import SocketStream, dial, resolve
from app.service.http.tls import SystemVerified, truststore_context
from tests.service.proxies import speaking
from tests.service.throwaway_ca import Authority

API = importlib.import_module("truststore._api")  # where its own parts for each system are put together


@contextlib.contextmanager
def handed_to_the_system(context: ssl.SSLContext) -> Iterator[None]:
    """What truststore does on Windows and macOS: OpenSSL verifies nothing."""
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    yield


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Let a function take the place of the verification by Windows."""

    def verified_by(verify: Callable[[], None]) -> None:
        monkeypatch.setattr(API, "_verify_peercerts_impl", lambda *_, **__: verify())
        monkeypatch.setattr(API, "_configure_context", handed_to_the_system)

    return verified_by


async def connected(folder: Path, received: list[bytes]) -> SocketStream:
    authority = Authority("Office CA", folder)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.start_tls(authority.server("localhost"))
        received.append(await reader.read(100))

    async with speaking(handle) as port:
        stream = await (await dial(await resolve("127.0.0.1", port))).start_tls(truststore_context(), "localhost", 10)
        await stream.write(b"a secret")
        await asyncio.sleep(0.1)  # it arrives
        await stream.aclose()
    return stream


async def test_a_system_that_takes_its_time_does_not_hold_the_window_up(
    tmp_path: Path, system: Callable[[Callable[[], None]], None]
) -> None:
    threads: list[threading.Thread] = []

    def verify() -> None:
        threads.append(threading.current_thread())
        time.sleep(0.3)

    system(verify)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.005)

    counting = asyncio.ensure_future(count())
    received: list[bytes] = []
    await connected(tmp_path, received)
    counting.cancel()
    assert len(threads) == 1 and threads[0] is not threading.main_thread()
    assert turns > 20


async def test_a_certificate_that_the_system_refuses_gets_nothing(
    tmp_path: Path, system: Callable[[Callable[[], None]], None]
) -> None:
    def verify() -> None:
        raise ssl.SSLCertVerificationError("not trusted")

    system(verify)
    received: list[bytes] = []
    with pytest.raises(httpcore.ConnectError, match="not trusted"):
        await connected(tmp_path, received)
    await asyncio.sleep(0.05)
    assert b"".join(received) == b""


async def test_nothing_is_sent_over_a_connection_that_nobody_verified(
    tmp_path: Path, system: Callable[[Callable[[], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever uses the context without asking the system gets an error, and no service the request."""
    system(lambda: None)
    monkeypatch.setattr("app.service.http.network_stream.SystemVerified", type("Other", (), {}))
    received: list[bytes] = []
    with contextlib.suppress(httpcore.WriteError):  # asyncio may end the connection after the write
        await connected(tmp_path, received)
    await asyncio.sleep(0.05)
    assert b"".join(received) == b""


def test_the_context_is_trusted_with_verifying() -> None:
    context = truststore_context()
    connection = context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")
    assert isinstance(connection, SystemVerified)
    assert not connection.is_verified
