"""A server between a program and a Sandbox that lets calls happen and then loses, cuts or spoils the answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from app.sandbox.server import RunningSandbox

Way = Literal["pass", "never", "hang_up", "head", "half", "gateway", "spoil", "slow"]
WAYS: tuple[Way, ...] = get_args(Way)
SLOW_S = 0.4


@dataclass
class Meddler:
    """Meddles with the next POST to one of the service's paths as `way` says, then with none, unless `keeps_on`.

    "never": the Sandbox does not get the call. "hang_up": it does, and the answer is lost. "head" and "half": so much
    of the answer arrives. "gateway": 502 in its place. "spoil": no JSON and no media. "slow": it comes late.
    """

    sandbox: RunningSandbox
    base_url: str = ""
    api_key: str = ""
    way: Way = "pass"
    keeps_on: bool = False
    served: asyncio.Event = field(default_factory=asyncio.Event)  # the Sandbox has answered

    _connections: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._connections.discard(task)

    async def ended(self) -> None:
        """Wait until every connection is closed."""
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the one request of a connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        fields = {
            name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        }
        body = await _body(reader, fields)
        way: Way = "pass"
        if head.startswith(b"POST") and b" /sandbox/" not in head.split(b"\r\n")[0]:
            way = self.way
            self.way = way if self.keeps_on else "pass"
        if way == "never":
            return
        target = urlsplit(self.sandbox.base_url)
        there, back = await asyncio.open_connection(target.hostname, target.port)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"transfer-"))]
        if b"transfer-encoding" in fields:
            lines.insert(1, b"Content-Length: %d" % len(body))
        lines.insert(1, b"Connection: close")
        back.write(b"\r\n".join(lines) + body)
        try:
            if way == "pass":
                while piece := await there.read(65_536):
                    writer.write(piece)
                    await writer.drain()
                return
            answer = await there.read()
        finally:
            back.close()
        self.served.set()
        begin = answer.index(b"\r\n\r\n") + 4
        if way == "head":
            writer.write(answer[:begin])
        elif way == "half":
            writer.write(answer[: begin + (len(answer) - begin) // 2])
        elif way == "gateway":
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        elif way == "spoil":
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
            )
        elif way == "slow":
            await asyncio.sleep(SLOW_S)
            writer.write(answer)
        await writer.drain()


async def _body(reader: asyncio.StreamReader, fields: dict[bytes, bytes]) -> bytes:
    if fields.get(b"transfer-encoding", b"").lower() != b"chunked":
        return await reader.readexactly(int(fields.get(b"content-length", b"0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


@asynccontextmanager
async def meddling(sandbox: RunningSandbox) -> AsyncIterator[Meddler]:
    meddler = Meddler(sandbox, api_key=sandbox.api_key)
    server = await asyncio.start_server(meddler.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    meddler.base_url = f"http://127.0.0.1:{port}{urlsplit(sandbox.base_url).path}"
    try:
        yield meddler
    finally:
        server.close()
        await meddler.ended()
