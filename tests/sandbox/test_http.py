"""Plain HTTP/1.1: framing, keep-alive, odd requests, and who may ask at all. Spoken over bare sockets."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from app.sandbox.error_output import LoopErrors
from app.sandbox.http import connections
from app.sandbox.http.connections import Connections, Request, Response
from app.sandbox.server import listen
from tests.sandbox.support import Client


class Wire:
    """One TCP connection that sends bytes as they are."""

    def __init__(self, sandbox: Client) -> None:
        host, port = sandbox.running.origin.removeprefix("http://").split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        self._file = self._socket.makefile("rb")
        self.key = sandbox.running.api_key

    def send(self, text: str, body: bytes = b"") -> None:
        self._socket.sendall(text.replace("\n", "\r\n").encode() + body)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Read one answer with a Content-Length."""
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self._file.read(int(headers.get("content-length", 0)))

    def at_end(self) -> bool:
        """Whether the other end hung up; where it had not read all, the system says so with an error."""
        try:
            return self._file.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@pytest.fixture
def wire(sandbox: Client) -> Iterator[Wire]:
    connection = Wire(sandbox)
    yield connection
    connection.close()


def test_one_connection_serves_many_requests_also_pipelined_ones(wire: Wire) -> None:
    request = "GET /api/v1/models/rialto-plain HTTP/1.1\nHost: localhost\n\n"
    wire.send(request * 3)
    assert [wire.answer()[0] for _ in range(3)] == [200, 200, 200]
    wire.send(request)
    assert wire.answer()[0] == 200


def test_connection_close_is_obeyed(wire: Wire) -> None:
    wire.send("GET /api/v1/models HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n\n")
    assert wire.answer()[0] == 200
    assert wire.at_end()


def test_a_chunked_request_body_is_read(wire: Wire) -> None:
    head = f"Host: 127.0.0.1\nAuthorization: Bearer {wire.key}\nContent-Type: application/json"
    wire.send(f"POST /api/v1/chat/completions HTTP/1.1\n{head}\nTransfer-Encoding: chunked\n\n")
    for part in (b'{"model":"rialto-plain",', b'"messages":[{"role":"user","content":"hello"}]}'):
        wire.send(f"{len(part):x}\n", part + b"\r\n")
    wire.send("0\n\n")
    status, _, body = wire.answer()
    assert status == 200 and b"chat.completion" in body


def test_a_client_that_waits_for_100_continue_gets_it(wire: Wire) -> None:
    body = b'{"model":"rialto-plain","messages":[{"role":"user","content":"hello"}]}'
    head = f"Host: 127.0.0.1\nAuthorization: Bearer {wire.key}\nContent-Type: application/json"
    wire.send(f"POST /api/v1/chat/completions HTTP/1.1\n{head}\nContent-Length: {len(body)}\nExpect: 100-continue\n\n")
    assert wire.answer()[0] == 100
    wire.send("", body)
    assert wire.answer()[0] == 200


def test_head_has_the_headers_and_no_body(wire: Wire) -> None:
    wire.send("HEAD /api/v1/models HTTP/1.1\nHost: 127.0.0.1\n\n")
    wire.send("GET /api/v1/models/rialto-plain HTTP/1.1\nHost: 127.0.0.1\n\n")
    first = wire._file.readline()
    assert first.startswith(b"HTTP/1.1 200")
    while line := wire._file.readline().strip():
        if line.lower().startswith(b"content-length"):
            assert int(line.split()[1]) > 1000
    assert wire.answer()[0] == 200


def test_bytes_that_are_no_http_are_answered_with_400_and_closed(wire: Wire) -> None:
    wire.send("HELLO SANDBOX\n\n")
    status, _, body = wire.answer()
    assert (status, body) == (400, b'{"error":"This is not an HTTP/1.1 request"}')
    assert wire.at_end()


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.x:1", "localhost:1.evil.example"),
        *("localhost:", "[::1]x", "[::1]:80.evil.example", "localhost:80@evil.example"),
    ],
)
def test_a_web_page_that_points_its_name_here_reads_nothing(wire: Wire, host: str) -> None:
    wire.send(f"GET /api/v1/models HTTP/1.1\nHost: {host}\n\n")
    assert wire.answer()[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.1:1234", "localhost", "LOCALHOST:80", "[::1]:80", "[::1]"])
def test_loopback_names_are_served(wire: Wire, host: str) -> None:
    wire.send(f"GET /api/v1/models HTTP/1.1\nHost: {host}\n\n")
    assert wire.answer()[0] == 200


def test_a_client_that_leaves_in_the_middle_is_charged_and_disturbs_nobody(sandbox: Client) -> None:
    sandbox.control("/settings", {"tokens_per_second": 200})
    request = {
        "model": "rialto-handbook",
        "stream": True,
        "messages": [{"role": "user", "content": "keyboard in chat"}],
    }
    with sandbox.http.stream("POST", f"{sandbox.running.base_url}/chat/completions", json=request) as answer:
        pieces = answer.iter_text()
        assert "chunk" in next(pieces)
    log: list[dict[str, str]] = []
    while not log:  # the line is written when the stream has ended
        log = sandbox.control("/log", method="GET")["data"]
    assert 0 < float(log[0]["cost_usd"]) < 0.001
    assert sandbox.get("/models").status_code == 200


def test_stopping_ends_open_streams_and_may_be_repeated(sandbox: Client) -> None:
    sandbox.control("/settings", {"tokens_per_second": 2})
    request = {"model": "rialto-handbook", "stream": True, "messages": [{"role": "user", "content": "keyboard"}]}
    address = f"{sandbox.running.base_url}/chat/completions"
    with sandbox.http.stream("POST", address, json=request) as answer:
        next(answer.iter_text())
        sandbox.running.stop()
        sandbox.running.stop()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(sandbox.running.origin.rpartition(":")[2])), timeout=60)


def test_a_port_in_use_is_an_error_at_once(sandbox: Client) -> None:
    with pytest.raises(OSError):
        listen(int(sandbox.running.origin.rpartition(":")[2]))


async def test_small_answers_do_not_wait_for_nagle() -> None:
    writers: list[asyncio.StreamWriter] = []

    async def handle(_: Request) -> Response:
        option = writers[0].get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        return Response(200 if option else 500)

    connections = Connections(handle)

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        connections.serve(reader, writer)

    listener = listen(0)
    server = await asyncio.start_server(serve, sock=listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    server.close()
    await connections.close()
    await server.wait_closed()


GET = "GET /api/v1/models/rialto-plain HTTP/1.1\nHost: localhost\n\n"


def test_the_absolute_form_that_is_sent_to_a_proxy_is_served_by_its_own_host(wire: Wire) -> None:
    wire.send("GET http://127.0.0.1:80/api/v1/models/rialto-plain?x=1 HTTP/1.1\nHost: evil.example\n\n")
    assert wire.answer()[0] == 200
    wire.send("GET HTTP://localhost HTTP/1.1\nHost: localhost\n\n")
    assert wire.answer()[0] == 200
    wire.send("GET http://evil.example/api/v1/models HTTP/1.1\nHost: localhost\n\n")
    assert wire.answer()[0] == 421


def test_a_broken_chunk_is_answered_with_400(wire: Wire) -> None:
    wire.send("POST /api/v1/chat/completions HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\nzz\nhello\n")
    assert wire.answer()[0] == 400
    assert wire.at_end()


@pytest.mark.parametrize("lengths", [("Content-Length: 5", "Transfer-Encoding: chunked"), ("Content-Length: 5, 6",)])
def test_a_body_of_two_lengths_is_refused_and_the_connection_ended(wire: Wire, lengths: tuple[str, ...]) -> None:
    head = "\n".join(("POST /api/v1/chat/completions HTTP/1.1", "Host: localhost", *lengths))
    wire.send(f"{head}\n\n0\n\n{GET}")
    assert wire.answer()[0] == 400
    assert wire.at_end(), "what follows could be read as a second request, or not"


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(wire: Wire) -> None:
    head = f"Host: localhost\nAuthorization: Bearer {wire.key}\nContent-Type: application/json"
    length = 400 * 1024**2
    wire.send(f"POST /api/v1/embeddings HTTP/1.1\n{head}\nContent-Length: {length}\nExpect: 100-continue\n\n")
    assert wire.answer()[0] == 413
    assert wire.at_end()


def test_a_request_that_does_not_come_to_its_end_is_ended(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEAD_S", "STALL_S"):
        monkeypatch.setattr(f"app.sandbox.http.connections.{name}", 0.2)
    for begun in ("POST / HTTP/1.1\nX: ", "POST /api/v1/models HTTP/1.1\nHost: localhost\nContent-Length: 9\n\nab"):
        wire = Wire(sandbox)
        wire.send(begun)
        assert wire.answer()[0] == 408
        assert wire.at_end()
        wire.close()


def test_a_connection_that_asks_nothing_more_is_ended(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sandbox.http.connections.IDLE_S", 0.2)
    wire = Wire(sandbox)
    wire.send(GET)
    assert wire.answer()[0] == 200
    assert wire.at_end(), "without a word"
    wire.close()


def test_the_times_are_what_is_promised() -> None:
    assert (connections.HEAD_S, connections.IDLE_S) == (30, 75)


def test_many_half_sent_requests_lock_nobody_out(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [Wire(sandbox) for _ in range(connections.MOST_CONNECTIONS + 20)]
    for wire in held:
        with suppress(ConnectionError):  # the first ones made room already
            wire.send("POST / HTTP/1.1\nX: ")
    other = Wire(sandbox)
    other.send(GET)
    assert other.answer()[0] == 200
    assert held[0].at_end(), "the one that waited longest made room"
    held[-1].send("y\nHost: localhost\n\n")
    assert held[-1].answer()[0] == 405
    for wire in (other, *held):
        wire.close()


async def test_when_all_connections_are_being_answered_one_more_is_told_so() -> None:
    free = asyncio.Event()

    async def handle(_: Request) -> Response:
        await free.wait()
        return Response(200)

    connections = Connections(handle, most=1)
    listener = listen(0)
    server = await asyncio.start_server(connections.serve, sock=listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    while not any(one.waiting_since is None for one in connections._open.values()):
        await asyncio.sleep(0)
    late, late_writer = await asyncio.open_connection(*listener.getsockname())
    assert (await late.read()).startswith(b"HTTP/1.1 503")
    free.set()
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    for each in (writer, late_writer):
        each.close()
    server.close()
    await connections.close()
    await server.wait_closed()


def test_a_complaint_of_the_loop_is_told_once_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors, clock = LoopErrors(), [100.0]
    monkeypatch.setattr("app.sandbox.error_output.time.monotonic", lambda: clock[0])
    complaint = {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many open files")}
    with asyncio.Runner() as runner:
        for _ in range(1000):
            errors(runner.get_loop(), complaint)
        clock[0] += 61
        errors(runner.get_loop(), complaint)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["Sandbox: socket.accept() out of system resource: Too many open files"] * 2


@pytest.mark.parametrize("path", ["/", "/api/v1/models", "/api/v1/nothing", "/handbook"])
def test_no_web_page_shows_anything_of_it(wire: Wire, path: str) -> None:
    wire.send(f"GET {path} HTTP/1.1\nHost: localhost\n\n")
    headers = wire.answer()[1]
    assert headers["cross-origin-resource-policy"] == "same-origin" and headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("mark", ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Origin: null"])
def test_a_web_page_cannot_spend_what_strangers_share(wire: Wire, mark: str) -> None:
    for _ in range(25):
        wire.send(f"GET /api/v1/nothing HTTP/1.1\nHost: localhost\n{mark}\n\n")
        wire.answer()
    for _ in range(12):
        wire.send(f"POST /api/v1/x402/top-up HTTP/1.1\nHost: localhost\n{mark}\nContent-Length: 0\n\n")
        assert wire.answer()[0] == 429, "its own budget is spent"
    wire.send(GET)
    assert wire.answer()[0] == 200
    wire.send("POST /api/v1/x402/top-up HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n")
    assert wire.answer()[0] == 402, "which is how a top-up begins"


async def test_a_connection_that_comes_in_the_turn_of_the_stop_is_closed() -> None:
    """Whether its task has begun or not, and also when it was accepted after everything else was closed."""

    async def handle(_request: Request) -> Response:
        raise AssertionError("nobody asked")

    served = Connections(handle)
    accepted: list[asyncio.StreamWriter] = []
    several = asyncio.Semaphore(0)

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        served.serve(reader, writer)
        if len(accepted) == 1:
            closing.append(asyncio.ensure_future(served.close()))
        several.release()

    closing: list[asyncio.Future[None]] = []
    listener = listen(0)
    server = await asyncio.start_server(serve, sock=listener)
    ends = []
    for _ in range(2):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        ends.append((reader, writer))
        await several.acquire()
    await closing[0]
    for reader, writer in ends:
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
    assert all(writer.transport.is_closing() for writer in accepted)
    server.close()
    await server.wait_closed()


async def test_requests_that_come_at_once_leave_room_for_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """One begins in each turn of the loop once its time is used up, in their order, and one that has left is passed."""
    monkeypatch.setattr("app.sandbox.http.connections.TURN_S", 0.0)
    turn, begun = 0, []
    loop = asyncio.get_running_loop()

    def tick() -> None:
        nonlocal turn, ticking
        turn += 1
        ticking = loop.call_soon(tick)

    async def handle(request: Request) -> Response:
        begun.append((turn, request.path))
        return Response(body=b"x")

    served = Connections(handle)
    listener = listen(0)
    server = await asyncio.start_server(served.serve, sock=listener)
    clients = [socket.create_connection(listener.getsockname()) for _ in range(6)]
    while len(served._open) < len(clients):
        await asyncio.sleep(0)
    ticking = loop.call_soon(tick)
    for number, client in enumerate(clients):  # nothing of the loop runs between these
        client.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
    while not begun:
        await asyncio.sleep(0)
    leaving = next(number for number in range(6) if begun[0][1] != f"/{number}")
    list(served._open)[leaving].cancel()
    while len(begun) < 5:
        await asyncio.sleep(0)
    ticking.cancel()
    assert len({at for at, _ in begun}) == 5, begun
    assert {path for _, path in begun} == {f"/{number}" for number in range(6) if number != leaving}
    for client in clients:
        client.close()
    server.close()
    await served.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    "headers", [{"X": "a\r\nY: b"}, {"X\r\nY": "b"}, {"Content-Length": "3"}, {"connection": "close"}, {"X": "\x00"}]
)
async def test_a_header_that_cannot_be_sent_never_is(headers: dict[str, str]) -> None:
    async def handle(_request: Request) -> Response:
        return Response(headers=headers, body=b"x")

    told = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.set_result(context["exception"]))
    served = Connections(handle)
    listener = listen(0)
    server = await asyncio.start_server(served.serve, sock=listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    server.close()
    await served.close()
    await server.wait_closed()
    assert isinstance(await told, ValueError)
