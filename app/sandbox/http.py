"""HTTP/1.1 on loopback: one coroutine per connection, requests in, answers out.

Parsing and framing are h11's. The socket side is ours because a stand-in has to misbehave on request (hang up, announce
a length it does not send), which no application server lets its application do, and because it has to be up in 150 ms.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import h11

from app import __version__

MAX_BODY_BYTES = 35 * 1024 * 1024  # the live service's cap for one request body
READ_BYTES = 64 * 1024
SERVER = f"Rialto-Sandbox/{__version__} (a stand-in; play money)"  # on every answer, also on what is no HTTP


class HangUp(Exception):
    """Raised by a body (or by a handler) to end the connection in the middle."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request with its whole body; header names are lower-case, repeated headers joined with a comma."""

    method: str
    path: str  # still percent-encoded, without the query
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    body: bytes = b""
    too_large: bool = False  # the body was cut off at MAX_BODY_BYTES and must not be used


@dataclass(slots=True)
class Answer:
    """What goes back. A body that is an async iterator is sent in chunks as it comes, and always closed."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | AsyncIterator[bytes] = b""
    announced_length: int | None = None  # a lie about Content-Length; the connection is closed after the real body


Handler = Callable[[Request], Awaitable[Answer]]


class Connections:
    """Serves every connection of one listening socket and can end them all."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The `client_connected_cb` of `asyncio.start_server`."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        # asyncio leaves Nagle's algorithm on for sockets it did not make itself: 40 ms between two small writes.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await _Connection(reader, writer, self._handle).run()
        except HangUp:
            pass  # what was written so far still goes out, then the connection ends
        except (ConnectionError, h11.RemoteProtocolError):
            writer.transport.abort()  # whoever was there is gone
        except asyncio.CancelledError:
            writer.transport.abort()  # the server stops; nobody awaits this task's result
        finally:
            self._open.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler) -> None:
        self._reader = reader
        self._writer = writer
        self._handle = handle
        self._wire = h11.Connection(h11.SERVER, max_incomplete_event_size=64 * 1024)

    async def run(self) -> None:
        while True:
            try:
                request = await self._read_request()
            except h11.RemoteProtocolError as error:
                await self._refuse_bytes(error)
                return
            if request is None:
                return
            await self._send(await self._handle(request), with_body=request.method != "HEAD")
            if self._wire.our_state is not h11.DONE or self._wire.their_state is not h11.DONE:
                return
            self._wire.start_next_cycle()

    async def _next_event(self) -> h11.Event | type[h11.PAUSED]:
        while True:
            event = self._wire.next_event()
            if event is not h11.NEED_DATA:
                return event  # type: ignore[return-value]  # NEED_DATA is the only sentinel besides PAUSED
            if self._wire.they_are_waiting_for_100_continue:
                go_on = self._wire.send(h11.InformationalResponse(status_code=100, headers=[]))
                self._writer.write(go_on or b"")
            self._wire.receive_data(await self._reader.read(READ_BYTES))

    async def _read_request(self) -> Request | None:
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            return None  # closed between two requests
        pieces: list[bytes] = []
        size = 0
        while isinstance(event := await self._next_event(), h11.Data):
            size += len(event.data)
            if size <= MAX_BODY_BYTES:
                pieces.append(bytes(event.data))
        if not isinstance(event, h11.EndOfMessage):
            return None  # closed inside a body
        headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        path, _, query = head.target.decode("latin-1").partition("?")
        return Request(
            method=head.method.decode("latin-1"),
            path=path,
            query=tuple(parse_qsl(query, keep_blank_values=True)),
            headers=headers,
            body=b"".join(pieces),
            too_large=size > MAX_BODY_BYTES,
        )

    async def _send(self, answer: Answer, *, with_body: bool) -> None:
        headers = [("Server", SERVER), *answer.headers.items()]
        body = answer.body
        if isinstance(body, bytes):
            length = len(body) if answer.announced_length is None else answer.announced_length
            headers.append(("Content-Length", str(length)))
        else:
            headers.append(("Transfer-Encoding", "chunked"))
        head = self._wire.send(h11.Response(status_code=answer.status, headers=headers)) or b""
        if isinstance(body, bytes):
            if with_body and body:
                head += self._wire.send(h11.Data(data=body)) or b""
            self._writer.write(head)
            await self._writer.drain()
            if with_body and answer.announced_length is not None:
                raise HangUp
        else:
            self._writer.write(head)
            await self._send_pieces(body, with_body=with_body)
        self._write(h11.EndOfMessage())
        await self._writer.drain()

    async def _send_pieces(self, pieces: AsyncIterator[bytes], *, with_body: bool) -> None:
        try:
            async for piece in pieces:
                if self._reader.at_eof():
                    raise HangUp  # the client closed its side: what is generated from now on reaches nobody
                if with_body:
                    self._write(h11.Data(data=piece))
                    await self._writer.drain()
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    def _write(self, event: h11.Event) -> None:
        self._writer.write(self._wire.send(event) or b"")

    async def _refuse_bytes(self, error: h11.RemoteProtocolError) -> None:
        """Answer bytes that are no HTTP, then close."""
        if self._wire.our_state is h11.IDLE:
            text = b'{"error":"This is not an HTTP/1.1 request"}'
            headers = [
                ("Server", SERVER),
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(text))),
                ("Connection", "close"),
            ]
            self._write(h11.Response(status_code=error.error_status_hint, headers=headers))
            self._write(h11.Data(data=text))
            self._write(h11.EndOfMessage())
            await self._writer.drain()
