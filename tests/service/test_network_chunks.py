"""A read of many small chunks comes as one piece, and reads the same as h11 alone would read it."""

from __future__ import annotations

import h11
import pytest

from app.service.http.network_chunks import SMALL_BYTES, read_whole_reads

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
WORDS = b"5\r\nHello\r\n2;note=1\r\n, \r\n5\r\nworld\r\n"
END = b"0\r\nX-Trailer: yes\r\n\r\n"


@pytest.fixture
def connection() -> h11.Connection:
    read_whole_reads()
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "service")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(HEAD)
    assert isinstance(connection.next_event(), h11.Response)
    return connection


def test_what_came_together_is_one_piece_and_the_end_follows(connection: h11.Connection) -> None:
    connection.receive_data(WORDS + END)
    words, end = connection.next_event(), connection.next_event()
    assert isinstance(words, h11.Data) and words.data == b"Hello, world"
    assert isinstance(end, h11.EndOfMessage) and end.headers.raw_items() == [(b"X-Trailer", b"yes")]
    assert connection.their_state is h11.DONE


@pytest.mark.parametrize("at", range(1, len(WORDS + END)))
def test_wherever_a_read_ends_the_same_is_read(connection: h11.Connection, at: int) -> None:
    whole, body, pieces = WORDS + END, b"", 0
    for part in (whole[:at], whole[at:]):
        connection.receive_data(part)
        while isinstance(event := connection.next_event(), h11.Data):
            body += event.data
            pieces += 1
    assert (body, connection.their_state) == (b"Hello, world", h11.DONE)
    assert pieces <= 2


def test_what_came_before_a_broken_chunk_is_kept(connection: h11.Connection) -> None:
    connection.receive_data(WORDS + b"no size\r\n")
    words = connection.next_event()
    assert isinstance(words, h11.Data) and words.data == b"Hello, world"
    with pytest.raises(h11.RemoteProtocolError):
        connection.next_event()


def test_large_chunks_are_not_joined(connection: h11.Connection) -> None:
    chunk = b"%x\r\n%b\r\n" % (SMALL_BYTES, bytes(SMALL_BYTES))
    connection.receive_data(2 * chunk)
    sizes = []
    while isinstance(event := connection.next_event(), h11.Data):
        sizes.append(len(event.data))
    assert sizes == [SMALL_BYTES, SMALL_BYTES]
