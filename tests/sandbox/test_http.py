"""Plain HTTP/1.1: framing, keep-alive, odd requests, and who may ask at all. Spoken over bare sockets."""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from app.sandbox.http import Answer, Connections, Request
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
        return self._file.read(1) == b""

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


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.x:1"])
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

    async def handle(_: Request) -> Answer:
        option = writers[0].get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        return Answer(200 if option else 500)

    connections = Connections(handle)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await connections.serve(reader, writer)

    listener = listen(0)
    server = await asyncio.start_server(serve, sock=listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    server.close()
    await connections.close()
    await server.wait_closed()
