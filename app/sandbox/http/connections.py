"""HTTP/1.1 on loopback: one coroutine per connection, requests in, answers out.

Parsing and framing are h11's. The socket side is ours because a stand-in has to misbehave on request (hang up, announce
a length it does not send), which no application server lets its application do, and because it has to be up in 150 ms.

Nobody can lock the others out: a request has to be sent within a time, and when there are too many connections the one
that has waited longest for its next request makes room.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qsl

import h11

from app import __version__

MAX_BODY_BYTES = 35 * 1024 * 1024  # the live service's cap for one request body
READ_BYTES = 64 * 1024
HEAD_S = 30.0  # from the first byte of a request to the last of its headers
IDLE_S = 75.0  # from the end of an answer to the first byte of the next request
BODY_S = 300.0  # for all of a body, which comes from this computer
STALL_S = 30.0  # between two pieces of it
TURN_S = 0.005  # of one turn of the loop, for requests that begin
MOST_CONNECTIONS = 500
OTHER_FILES = 100  # that the process may have open beside its connections
SERVER_NAME = "Rialto-Sandbox"
SERVER = f"{SERVER_NAME}/{__version__} (a stand-in; play money)"  # on every answer, also on what is no HTTP


class _TooSlow(Exception):
    """The rest of a request does not come."""


class HangUp(Exception):
    """Raised by a body (or by a handler) to end the connection in the middle."""


class Request(NamedTuple):
    """One request with its whole body; header names are lower-case, repeated headers joined with a comma."""

    method: str
    path: str  # still percent-encoded, without the query
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    body: bytes = b""
    too_large: bool = False  # the body was cut off at MAX_BODY_BYTES and must not be used


@dataclass(slots=True)
class Response:
    """What goes back. A body that is an async iterator is sent in chunks as it comes, and always closed."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | AsyncIterator[bytes] = b""
    announced_length: int | None = None  # a lie about Content-Length; the connection is closed after the real body


# Each name and value as RFC 9110 has them, and none that says where the answer ends.
_PLAIN_HEADERS = re.compile(
    rb"(?:(?!content-length:|transfer-encoding:|connection:)[!#$%&'*+.^_`|~0-9a-z-]+: [\t\x20-\x7e]*\r\n)*",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"http://([^/?#]*)([/?].*)?", re.IGNORECASE)
Handler = Callable[[Request], Awaitable[Response]]


class _Turns:
    """Leaves room in each turn of the loop for the streams whose next piece is due.

    Two hundred requests that come at once would otherwise all be worked on in one turn, a third of a second.
    """

    def __init__(self) -> None:
        self._ends_at: float | None = None  # on the loop's clock; None while no request has begun in this turn
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def begin(self) -> None:
        """Return when a request may begin: at once, unless others have used up this turn or came before."""
        loop = asyncio.get_running_loop()
        if self._ends_at is None:
            self._open(loop)
        elif self._waiting or loop.time() >= self._ends_at:
            turn = loop.create_future()
            self._waiting.append(turn)
            await turn

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ends_at = loop.time() + TURN_S
        loop.call_soon(self._end)

    def _end(self) -> None:
        self._ends_at = None
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # whose connection has not ended meanwhile
                turn.set_result(None)
                self._open(turn.get_loop())
                return


class Connections:
    """Serves every connection of one listening socket and can end them all."""

    def __init__(self, handle: Handler, most: int | None = None) -> None:
        """`most`: connections at once; as many as the system's limit on open files allows when it is not given."""
        self._handle = handle
        self._most = _affordable() if most is None else most
        self._open: dict[asyncio.Task[None], _Connection] = {}
        self._turns = _Turns()
        self._is_closed = False

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The `client_connected_cb` of `asyncio.start_server`.

        No coroutine: a connection is known from the turn of the loop in which it comes, so `close` forgets none.
        """
        if self._is_closed:
            writer.transport.abort()
            return
        connection = _Connection(reader, writer, self._handle, self._turns)
        has_room = len(self._open) < self._most or self._make_room()
        task = asyncio.get_running_loop().create_task(self._serve(connection, writer, has_room=has_room))
        self._open[task] = connection
        task.add_done_callback(lambda done: self._end(done, writer))

    async def _serve(self, connection: _Connection, writer: asyncio.StreamWriter, *, has_room: bool) -> None:
        # asyncio leaves Nagle's algorithm on for sockets it did not make itself: 40 ms between two small writes.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if has_room:
                await connection.run()
            else:
                await connection.refuse(503, "There are too many connections")
        except HangUp:
            pass  # what was written so far still goes out, then the connection ends
        except (ConnectionError, h11.RemoteProtocolError):
            writer.transport.abort()  # whoever was there is gone

    def _end(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        """Also for a task that was canceled before it began, which runs nothing of its own."""
        del self._open[task]
        if task.cancelled():
            writer.transport.abort()  # the server stops, or makes room
        writer.close()

    def _make_room(self) -> bool:
        """End the connection that has waited longest for a request. False when all of them are being answered."""
        waiting = [(one.waiting_since, task, one) for task, one in self._open.items() if one.waiting_since is not None]
        if not waiting:
            return False
        _, task, connection = min(waiting, key=lambda each: each[0] or 0.0)
        connection.waiting_since = None
        task.cancel()
        return True

    async def close(self) -> None:
        """End all connections, and each that still comes."""
        self._is_closed = True
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)


def _affordable() -> int:
    files = MOST_CONNECTIONS + OTHER_FILES
    if sys.platform != "win32":  # there is no such limit on sockets
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(16, min(MOST_CONNECTIONS, files - OTHER_FILES))


class _Connection:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler, turns: _Turns
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handle = handle
        self._turns = turns
        self.waiting_since: float | None = None  # on the loop's clock, while a request's head is awaited
        self._ends_at = math.inf
        self._has_begun = False
        self._wire = h11.Connection(h11.SERVER, max_incomplete_event_size=64 * 1024)

    async def run(self) -> None:
        while True:
            try:
                request = await self._read_request()
            except h11.RemoteProtocolError as error:
                await self.refuse(error.error_status_hint, "This is not an HTTP/1.1 request")
                return
            except _TooSlow:
                await self.refuse(408, "The request is incomplete")
                return
            if request is None:
                return
            await self._turns.begin()
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
            self._wire.receive_data(await self._read())

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        stalled_at = loop.time() + STALL_S if self.waiting_since is None else math.inf
        timer = loop.call_at(min(self._ends_at, stalled_at), self._reader.set_exception, _TooSlow())
        try:
            data = await self._reader.read(READ_BYTES)
        finally:
            timer.cancel()
        if self.waiting_since is not None and not self._has_begun:
            self._has_begun = True
            self._ends_at = asyncio.get_running_loop().time() + HEAD_S
        return data

    async def _head(self) -> h11.Request | None:
        """Return the next request's head; None when the connection ends before it."""
        now = asyncio.get_running_loop().time()
        self.waiting_since, self._ends_at, self._has_begun = now, now + IDLE_S, False
        try:
            head = await self._next_event()
        except _TooSlow:
            if self._has_begun:
                raise
            return None
        self.waiting_since, self._ends_at = None, asyncio.get_running_loop().time() + BODY_S
        return head if isinstance(head, h11.Request) else None

    async def _read_request(self) -> Request | None:
        head = await self._head()
        if head is None:
            return None
        names = [name for name, _ in head.headers]
        if b"content-length" in names and b"transfer-encoding" in names:
            raise h11.RemoteProtocolError("two lengths of one body", error_status_hint=400)
        pieces: list[bytes] = []
        size = 0
        if self._wire.they_are_waiting_for_100_continue and b"content-length" in names:
            size = int(dict(head.headers)[b"content-length"])
        if size > MAX_BODY_BYTES:  # nothing of it has been sent yet, and nothing of it will be read
            return self._request(head, b"", too_large=True)
        size = 0
        while isinstance(event := await self._next_event(), h11.Data):
            size += len(event.data)
            if size <= MAX_BODY_BYTES:
                pieces.append(bytes(event.data))
        if not isinstance(event, h11.EndOfMessage):
            return None  # closed inside a body
        return self._request(head, b"".join(pieces), too_large=size > MAX_BODY_BYTES)

    def _request(self, head: h11.Request, body: bytes, *, too_large: bool) -> Request:
        headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        target = head.target.decode("latin-1")
        if whole := _ABSOLUTE.fullmatch(target):  # as it is sent to a proxy; then its own host counts (RFC 9112, 3.2.2)
            headers["host"], target = whole[1], whole[2] or "/"
        path, _, query = target.partition("?")
        return Request(
            method=head.method.decode("latin-1"),
            path=path,
            query=tuple(parse_qsl(query, keep_blank_values=True)),
            headers=headers,
            body=body,
            too_large=too_large,
        )

    async def _send(self, answer: Response, *, with_body: bool) -> None:
        framing: list[tuple[str, str]] = []
        body = answer.body
        if isinstance(body, bytes):
            length = len(body) if answer.announced_length is None else answer.announced_length
            if answer.status != 204:  # RFC 9110, 8.6
                framing.append(("Content-Length", str(length)))
        else:
            framing.append(("Transfer-Encoding", "chunked"))
        head = self._head_of(answer, framing)
        if isinstance(body, bytes):
            if with_body and body:
                head += self._wire.send(h11.Data(data=body)) or b""
            self._writer.write(head)
            if with_body and answer.announced_length is not None:
                await self._writer.drain()
                raise HangUp
        else:
            self._writer.write(head)
            await self._send_pieces(body, with_body=with_body)
        self._write(h11.EndOfMessage())
        await self._writer.drain()

    def _head_of(self, answer: Response, framing: list[tuple[str, str]]) -> bytes:
        """h11 is told what frames the answer; the rest it would look at name by name, a sixth of a whole request."""
        lines = [f"{name}: {value}\r\n" for name, value in ({"Server": SERVER} | answer.headers).items()]
        plain = "".join(lines).encode("ascii")
        if plain.count(b"\r\n") != len(lines) or _PLAIN_HEADERS.fullmatch(plain) is None:
            raise ValueError(f"a header that cannot be sent is among {sorted(answer.headers)}")
        head = self._wire.send(h11.Response(status_code=answer.status, headers=framing)) or b""
        first, end, rest = head.partition(b"\r\n")
        return first + end + plain + rest

    async def _send_pieces(self, pieces: AsyncIterator[bytes], *, with_body: bool) -> None:
        in_chunks = self._wire.their_http_version != b"1.0"
        try:
            async for piece in pieces:
                if self._reader.at_eof():
                    raise HangUp  # the client closed its side: what is generated from now on reaches nobody
                if with_body and piece:
                    # As h11 frames it, which looks at its state for each of ten thousand small pieces a second.
                    self._writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if in_chunks else piece)
                    await self._writer.drain()
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    def _write(self, event: h11.Event) -> None:
        self._writer.write(self._wire.send(event) or b"")

    async def refuse(self, status: int, text: str) -> None:
        """Answer what never became a request, then close."""
        if self._wire.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        body = json.dumps({"error": text}, separators=(",", ":")).encode()
        headers = [
            ("Server", SERVER),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        self._write(h11.Response(status_code=status, headers=headers))
        self._write(h11.Data(data=body))
        self._write(h11.EndOfMessage())
        await self._writer.drain()
