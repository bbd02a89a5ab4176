"""Sockets for httpcore: what has arrived is handed on in one large piece instead of many small ones.

httpcore's own streams cut each read into 64 KiB; a gigabyte then costs more than twice what curl needs. A connection
that receives little touches little of its buffer. And a stream of many small pieces, as a chat's, is fetched a few
times for each image on the screen rather than with every piece: each wake-up of the window's loop costs as much as all
that is then done with a token.
"""

from __future__ import annotations

import asyncio
import mmap
import select
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, zip_longest
from time import monotonic
from typing import Any

from app.service.addresses import is_localhost
from app.service.http.client_library import httpcore
from app.service.http.tls import SystemVerified
from app.translation import tr

READ_BYTES = 1024 * 1024
# Reading pauses with this much room left: the loop of Windows copies all of the 64 KiB that it has read, paused or not.
ROOM_BYTES = 256 * 1024
HANDSHAKE_TIMEOUT_S = 15.0  # httpcore sets none while it speaks with a SOCKS proxy
SMALL_BYTES = 4096  # of a read; what comes in larger ones is gathered already
GATHERS_AFTER = 8  # small reads in a row: the first words of an answer are not held up
GATHERS_WITHIN_S = 0.1  # between two of them; what comes more slowly is handed on as it comes
REST_S = 0.045  # that the system gathers meanwhile
NEXT_ADDRESS_AFTER_S = 0.25  # a host with several addresses: the next one is tried beside the one that hesitates
# A peer that vanished without a word is noticed after about two minutes, whatever the read timeout.
KEEP_ALIVE_OPTIONS = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)] + [
    (socket.IPPROTO_TCP, number, value)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
    if (number := getattr(socket, name, None)) is not None
]

AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]  # as `getaddrinfo` gives it


class _Inbox(asyncio.BufferedProtocol):
    """Fills one buffer that is as old as the connection; stops reading when it is nearly full."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.ended = False
        self.lost = False
        self.error: Exception | None = None
        self._view = memoryview(mmap.mmap(-1, READ_BYTES))  # takes memory only where something was written
        self._filled = 0
        self._is_paused = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._may_write = True

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled > READ_BYTES - ROOM_BYTES and not self._is_paused and self.transport is not None:
            self._is_paused = True
            self.transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self.ended = True
        _wake(self._reader)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = self.lost = True
        self.error = self.error or exc
        self._release()
        _wake(self._reader)
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._may_write = False

    def resume_writing(self) -> None:
        self._may_write = True
        _wake(self._writer)

    # What the stream calls

    @property
    def has_something(self) -> bool:
        return bool(self._filled) or self.ended

    async def take(self) -> bytes:
        """Wait for something and return all of it; b"" at the end. Raises `OSError` when the connection broke."""
        if not self._filled and not self.ended:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if not self._filled and self.error is not None:
            raise self.error
        taken = bytes(self._view[: self._filled])
        self._filled = 0
        self._release()
        if self._is_paused and self.transport is not None:
            self._is_paused = False
            self.transport.resume_reading()
        return taken

    def _release(self) -> None:
        """Give the buffer back once the connection is gone and nothing is left to read."""
        if self.lost and not self._filled:
            self._view = memoryview(b"")

    def abandon(self) -> None:
        """Forget what nobody has read; whoever reads still gets an error."""
        self.error = self.error or ConnectionAbortedError(tr("closed on this side"))
        self._filled = 0
        self._release()

    async def drained(self) -> None:
        """Wait until more may be written. Raises `OSError` when the connection is gone."""
        if not self._may_write and not self.lost:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await self._writer
            finally:
                self._writer = None
        if self.lost:
            raise self.error or ConnectionResetError(tr("the connection is closed"))


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class SocketStream(httpcore.AsyncNetworkStream):
    """One connection, with or without TLS. `socket_transport` is the one below TLS."""

    def __init__(
        self, transport: asyncio.Transport, inbox: _Inbox, socket_transport: asyncio.Transport | None = None
    ) -> None:
        self._transport = transport
        self._inbox = inbox
        self._socket_transport = socket_transport or transport
        self._small_reads = 0  # in a row, since something was written
        self._read_at = 0.0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's own signature
        """Return what has arrived, up to `READ_BYTES`, also when `max_bytes` is less: see this file's first lines."""
        with _as_httpcore(httpcore.ReadTimeout, httpcore.ReadError):
            if self._small_reads >= GATHERS_AFTER and not self._inbox.has_something:
                await self._gather()
            if self._inbox.has_something:  # no clock for what need not be waited for
                taken = await self._inbox.take()
            else:
                async with asyncio.timeout(timeout or HANDSHAKE_TIMEOUT_S):
                    taken = await self._inbox.take()
        now = monotonic()
        quick = len(taken) < SMALL_BYTES and now - self._read_at < GATHERS_WITHIN_S
        self._small_reads = self._small_reads + 1 if quick else 0
        self._read_at = now
        return taken

    async def _gather(self) -> None:
        """Leave what comes to the system for a moment: the loop is not woken for it."""
        self._socket_transport.pause_reading()
        try:
            await asyncio.sleep(REST_S)
        finally:
            self._socket_transport.resume_reading()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's own signature
        if not buffer:
            return
        self._small_reads = 0  # an answer to this is waited for
        with _as_httpcore(httpcore.WriteTimeout, httpcore.WriteError):
            async with asyncio.timeout(timeout or HANDSHAKE_TIMEOUT_S):
                if not self._inbox.lost:
                    self._transport.write(buffer)
                await self._inbox.drained()

    async def aclose(self) -> None:
        """Hang up at once: a service that still answers learns it with its next byte.

        Whoever reads gets an error: a body without a stated length would seem to be whole otherwise.
        """
        self.abort()
        await asyncio.sleep(0)  # the loop closes the socket in its next round

    def abort(self) -> None:
        """The same without waiting for the loop."""
        self._inbox.abandon()
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own signature
    ) -> SocketStream:
        inbox = _Inbox()
        with _as_httpcore(httpcore.ConnectTimeout, httpcore.ConnectError):
            try:
                async with asyncio.timeout(timeout):
                    transport = await asyncio.get_running_loop().start_tls(
                        self._transport, inbox, ssl_context, server_hostname=server_hostname
                    )
                    connection = transport.get_extra_info("ssl_object") if transport is not None else None
                    if isinstance(connection, SystemVerified):
                        await asyncio.to_thread(connection.verify)
            except BaseException:
                await self.aclose()
                raise
        if transport is None:  # asyncio says so when the connection was lost in the meantime
            raise httpcore.ConnectError("the connection was lost")
        inbox.connection_made(transport)  # asyncio leaves it out, because the connection as such is not new
        return SocketStream(transport, inbox, self._socket_transport)

    def get_extra_info(self, info: str) -> object:
        match info:
            case "ssl_object":
                return self._transport.get_extra_info("ssl_object")
            case "client_addr":
                return self._transport.get_extra_info("sockname")
            case "server_addr":
                return self._transport.get_extra_info("peername")
            case "socket":
                return self._transport.get_extra_info("socket")
            case "is_readable":  # asked of a connection that rests: then the other end has hung up
                sock = self._transport.get_extra_info("socket")
                return self._inbox.has_something or sock is None or _is_readable(sock.fileno())
        return None


async def resolve(host: str, port: int) -> list[AddressInfo]:
    """The addresses of a host, IPv6 and IPv4 in turns. Raises `OSError` (`socket.gaierror`) for an unknown host.

    Names of this computer are not asked for, so that nobody can say that they are another's (RFC 6761, section 6.3).
    """
    if is_localhost(host):
        return [
            (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port)),
            (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("::1", port, 0, 0)),
        ]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:  # a label that is empty or longer than 63 characters
        raise socket.gaierror(socket.EAI_NONAME, "no such name") from None
    first = [each for each in found if each[0] == found[0][0]]
    others = [each for each in found if each[0] != found[0][0]]
    return [each for each in chain.from_iterable(zip_longest(first, others)) if each is not None]


async def dial(addresses: list[AddressInfo]) -> SocketStream:
    """Connect to the first address that answers. Raises `OSError`: the one of the address that was tried first."""
    loop = asyncio.get_running_loop()
    errors: list[OSError] = []
    winner: socket.socket | None = None

    async def attempt(info: AddressInfo) -> None:
        nonlocal winner
        sock = socket.socket(info[0], socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, info[4])
        except OSError as error:
            sock.close()
            errors.append(error)
        except BaseException:
            sock.close()
            raise
        else:
            if winner is None:
                winner = sock
            else:
                sock.close()

    async def race(group: asyncio.TaskGroup) -> None:
        tasks: list[asyncio.Task[None]] = []
        for info in addresses:
            tasks.append(group.create_task(attempt(info)))
            await asyncio.wait(tasks[-1:], timeout=NEXT_ADDRESS_AFTER_S if info is not addresses[-1] else None)
            if winner is not None:
                break
        while winner is None and any(not task.done() for task in tasks):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            tasks = [task for task in tasks if not task.done()]
        for task in tasks:
            task.cancel()

    try:
        async with asyncio.TaskGroup() as group:
            await race(group)
    except BaseException:
        if winner is not None:  # it came about in the very moment in which nobody wanted it any more
            winner.close()
        raise
    if winner is None:
        raise errors[0] if errors else OSError(tr("no address"))
    return await _stream_over(winner)


async def _stream_over(sock: socket.socket) -> SocketStream:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a head and a body sent apart would wait for each other
    for option in KEEP_ALIVE_OPTIONS:
        sock.setsockopt(*option)
    try:
        transport, inbox = await asyncio.get_running_loop().create_connection(_Inbox, sock=sock)
    except BaseException:
        sock.close()
        raise
    return SocketStream(transport, inbox)


def _is_readable(number: int) -> bool:
    """Whether the system holds something for a socket that the loop has not fetched yet; true for a closed one."""
    if number < 0:
        return True
    if sys.platform == "win32" or not hasattr(select, "poll"):  # select takes no number above 1023
        return bool(select.select([number], [], [], 0)[0])
    poller = select.poll()
    poller.register(number, select.POLLIN)
    return bool(poller.poll(0))


@contextmanager
def _as_httpcore(timed_out: type[Exception], broken: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:  # also what the system says of a connection attempt: before `OSError`, its parent
        raise timed_out(str(error)) from error
    except OSError as error:  # `ssl.SSLError` is one
        raise broken(str(error)) from error
