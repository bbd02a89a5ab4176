"""A real socket that answers with the bytes a test gives it, and a client without one."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx

from app.service.auth import ApiKeyAuth
from app.service.client import ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import CredentialUnavailable
from app.service.exchange import Exchange
from app.service.http.network import Network
from app.service.key_limits import LimitsRegistry
from app.service.retry import FailureBudget
from app.service.service import Service

KEY = "sk-very-secret-0123456789"
Reply = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass(slots=True)
class Loopback:
    """Answers the requests it gets with `replies`, in order; the last one again and again."""

    base_url: str = ""
    replies: list[bytes | Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)  # a client closed its connection

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                received = await _receive(reader)
                self.received.append(received)
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if isinstance(reply, bytes):
                    writer.write(reply)
                else:
                    await reply(received, writer)
                await writer.drain()
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.hung_up.set()
            writer.close()


async def _receive(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, target, headers, body)


@asynccontextmanager
async def serving(*replies: bytes | Reply) -> AsyncIterator[Loopback]:
    loopback = Loopback(replies=list(replies))
    connections: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await loopback.handle(reader, writer)
        except asyncio.CancelledError:
            writer.close()  # the test is over; asyncio's server would report a cancelled handler as a crash
        finally:
            connections.discard(task)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    loopback.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/v1"
    try:
        yield loopback
    finally:
        server.close()
        for task in connections:
            task.cancel()
        if connections:
            await asyncio.wait(connections)


def http(status: int = 200, body: object = b"", **headers: str) -> bytes:
    """A whole answer; a body that is no bytes goes as JSON. Header names are written with `_` for `-`."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\ncontent-length: {len(content)}\r\n{head}\r\n".encode() + content


def stream_head(**headers: str) -> bytes:
    lines = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}
    return (
        "HTTP/1.1 200 OK\r\n"
        + "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        + "\r\n"
    ).encode()


def framed(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def streamed(pieces: Iterable[bytes], **headers: str) -> bytes:
    """A chunked answer, each piece an HTTP chunk of its own."""
    return stream_head(**headers) + b"".join(framed(piece) for piece in pieces) + b"0\r\n\r\n"


def event(content: object) -> bytes:
    return b"data: " + (content if isinstance(content, bytes) else json.dumps(content).encode()) + b"\n\n"


def delta(**fields: object) -> dict[str, object]:
    return {"model": "m", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def finish(reason: str = "stop") -> dict[str, object]:
    return {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


DONE = event(b"[DONE]")


async def read_key() -> str:
    return KEY


class Watched:
    """A service whose exchanges, waits and budget a test can look at, and whose waits take no time."""

    def __init__(
        self,
        base_url: str = "http://service.test/api/v1",
        *,
        handler: Callable[[httpx.Request], httpx.Response] | None = None,
        dialect: str = "service",
        auth: httpx.Auth | None = None,
        network: Network | None = None,
        registry: LimitsRegistry | None = None,
    ) -> None:
        self.exchanges: list[Exchange] = []
        self.slept: list[float] = []
        self.reached: list[str] = []
        self.ahead_s = 0.0  # what the waits so far would have taken
        self.requests: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            assert handler is not None
            self.requests.append(request)
            return handler(request)

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.ahead_s += seconds
            await asyncio.sleep(0)

        self.client = ServiceClient(
            base_url,
            DIALECTS[dialect],
            auth or ApiKeyAuth(read_key),
            on_exchange=self.exchanges.append,
            on_reach=self.reached.append,
            registry=registry or LimitsRegistry(lambda: time.monotonic() + self.ahead_s),
            transport=httpx.MockTransport(answer) if handler is not None else None,
            network=network,
            sleep=sleep,
            jitter=lambda: 1.0,
        )
        self.service = Service(self.client)

    async def __aenter__(self) -> Watched:
        with suppress(CredentialUnavailable):  # of a key that a test locked
            await self.client.key_limits()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.service.aclose()

    @property
    def budget(self) -> FailureBudget:
        return self.client.limits.budget

    @property
    def exchange(self) -> Exchange:
        assert len(self.exchanges) == 1, self.exchanges
        return self.exchanges[0]


def answering(body: object, status: int = 200, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx.Response(status, json=body, headers=names)
