"""A real HTTP proxy and a real SOCKS5 server for tests, with user and password, on loopback.

Both find hosts in a table of their own, so that a test reaches `service.test` through them and by no other way.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class TestProxy:
    """`hosts` maps "name:port" to a port of loopback. `asked` holds what was asked for, `heads` the requests' heads."""

    __test__ = False
    hosts: dict[str, int]
    login: tuple[str, str] | None = None
    refuses: int = 0  # a status (HTTP) or reply (SOCKS) for everything
    port: int = 0
    asked: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    open: int = 0  # tunnels that stand

    async def tunnel(
        self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, yes: bytes = b"", on: bytes = b""
    ) -> None:
        """Connect, say `yes` to the client, pass `on` and everything after it on."""
        there, back = await asyncio.open_connection("127.0.0.1", self.hosts[target])
        writer.write(yes)
        back.write(on)
        self.open += 1
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pour(reader, back))
                group.create_task(_pour(there, writer))
        finally:
            self.open -= 1
            back.close()

    async def speak_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b" ", 2)
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        given = fields.get(b"Proxy-Authorization", b"").removeprefix(b"Basic ")
        if given:
            user, _, password = base64.b64decode(given).decode().partition(":")
            self.logins.append((user, password))
        if self.login is not None and (not self.logins or self.logins[-1] != self.login or not given):
            writer.write(b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n')
            return
        self.asked.append(f"{method.decode()} {target.decode()}")
        if self.refuses:
            writer.write(b"HTTP/1.1 %d No way\r\nContent-Length: 0\r\n\r\n" % self.refuses)
        elif method == b"CONNECT":
            if target.decode() not in self.hosts:
                writer.write(b"HTTP/1.1 502 Unknown\r\nContent-Length: 0\r\n\r\n")
                return
            await self.tunnel(target.decode(), reader, writer, b"HTTP/1.1 200 Go\r\n\r\n")
        else:  # a request in clear text, passed on
            address, _, path = target.decode().removeprefix("http://").partition("/")
            whole = head.replace(target, b"/" + path.encode(), 1)
            await self.tunnel(f"{address}:80", reader, writer, on=whole)

    async def speak_socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.login is not None else 0
        writer.write(bytes((5, wanted if wanted in methods else 0xFF)))
        if wanted not in methods:
            return
        if self.login is not None:
            _, size = await reader.readexactly(2)
            user = (await reader.readexactly(size)).decode()
            password = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
            self.logins.append((user, password))
            writer.write(bytes((1, 0 if (user, password) == self.login else 1)))
            if (user, password) != self.login:
                return
        _, _, _, kind = await reader.readexactly(4)
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(map(str, await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"{host}:{port}")
        reply = self.refuses or (0 if f"{host}:{port}" in self.hosts else 4)
        answer = bytes((5, reply, 0, 1)) + b"\x00" * 6
        if reply:
            writer.write(answer)
        else:
            await self.tunnel(f"{host}:{port}", reader, writer, answer)


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with suppress(ConnectionError, RuntimeError):
        writer.close()


@asynccontextmanager
async def _listening(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    connections: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await handler(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            connections.discard(task)
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in connections:
            task.cancel()
        if connections:
            await asyncio.wait(connections)


@asynccontextmanager
async def http_proxy(proxy: TestProxy, context: ssl.SSLContext | None = None) -> AsyncIterator[TestProxy]:
    async with _listening(proxy.speak_http, context) as proxy.port:
        yield proxy


@asynccontextmanager
async def socks_proxy(proxy: TestProxy) -> AsyncIterator[TestProxy]:
    async with _listening(proxy.speak_socks) as proxy.port:
        yield proxy


@asynccontextmanager
async def tls_in_front_of(port: int, context: ssl.SSLContext) -> AsyncIterator[int]:
    """A TLS server that passes everything on to a port of loopback."""
    pipe = TestProxy({"x": port})

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await pipe.tunnel("x", reader, writer)

    async with _listening(handle, context) as own:
        yield own


@asynccontextmanager
async def speaking(handler: Handler) -> AsyncIterator[int]:
    """A server that says whatever a test wants it to."""
    async with _listening(handler) as port:
        yield port
