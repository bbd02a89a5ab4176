"""Our sockets under httpcore: large pieces, flow control both ways, several addresses, ends of every kind."""

from __future__ import annotations

import asyncio
import gc
import mmap
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore
import pytest

from app.service.http import network_stream
from app.service.http.network_stream import READ_BYTES, ROOM_BYTES, SocketStream, _Inbox, dial, resolve
from tests.kit.waiting import until
from tests.service.proxies import speaking
from tests.service.throwaway_ca import Authority


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[SocketStream, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A stream and the other end of its connection."""
    other: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
    over = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other.set_result((reader, writer))
        await over.wait()

    async with speaking(handle) as port:
        stream = await dial(await resolve("127.0.0.1", port))
        try:
            yield stream, *(await other)
        finally:
            over.set()
            await stream.aclose()


async def test_what_came_while_nobody_read_is_one_piece_and_no_more_than_fits() -> None:
    async with pair() as (stream, _, writer):
        writer.write(b"x" * (3 * READ_BYTES))
        sizes = []
        while sum(sizes) < 3 * READ_BYTES:
            while not stream._inbox._is_paused and sum(sizes) + stream._inbox._filled < 3 * READ_BYTES:
                await asyncio.sleep(0.001)  # let it fill: a full buffer stops the reading
            sizes.append(len(await stream.read(1)))
        assert READ_BYTES - ROOM_BYTES < max(sizes) <= READ_BYTES
        assert len(sizes) <= 5


class PausedTransport(asyncio.Transport):
    """Does what it is asked for only after the piece at hand, like the one of Windows' loop."""

    paused = False

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


@pytest.mark.parametrize("first", [1, 20_000, 64 * 1024])
async def test_the_loop_of_windows_always_finds_room_for_a_piece(first: int) -> None:
    """It reads 64 KiB, and fills the buffer with all of them before it looks whether reading was paused."""
    inbox, transport = _Inbox(), PausedTransport()
    inbox.connection_made(transport)
    taken = 0
    piece = b"x" * 64 * 1024
    feed = asyncio.protocols._feed_data_to_buffered_proto
    feed(inbox, piece[:first])
    for _ in range(3):
        while not transport.paused:
            feed(inbox, piece)
        taken = max(taken, len(await inbox.take()))
    assert taken > READ_BYTES - ROOM_BYTES
    inbox.connection_lost(None)


async def test_a_writer_waits_for_a_reader_and_hears_when_there_is_none_any_more() -> None:
    async with pair() as (stream, reader, writer):
        block = b"x" * (4 * 1024 * 1024)
        writing = asyncio.ensure_future(stream.write(block * 8, 5))
        await asyncio.sleep(0.01)
        assert not writing.done()
        read = 0
        while read < len(block) * 8:
            read += len(await reader.read(1024 * 1024))
        await writing
        await stream.write(b"")
        writing = asyncio.ensure_future(stream.write(block * 16, 5))
        await asyncio.sleep(0.01)
        writer.transport.abort()
        with pytest.raises(httpcore.WriteError):
            await writing
        with pytest.raises(httpcore.WriteError):
            await stream.write(b"more", 1)


async def test_nobody_reads_or_writes_for_too_long() -> None:
    async with pair() as (stream, _, _writer):
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(1, 0.01)
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(b"x" * (64 * 1024 * 1024), 0.01)


async def test_an_end_is_an_end_and_a_break_is_an_error() -> None:
    async with pair() as (stream, _, writer):
        writer.write(b"last")
        writer.close()
        assert await stream.read(10, 1) == b"last"
        assert await stream.read(10, 1) == b""
        assert stream.get_extra_info("is_readable") is True
    async with pair() as (stream, _, writer):
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # close with a reset
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
        with pytest.raises(httpcore.ReadError):
            await stream.read(10, 1)


async def test_closing_under_a_reader_is_an_error_and_no_end() -> None:
    async with pair() as (stream, _, _writer):
        reading = asyncio.ensure_future(stream.read(10, 5))
        await asyncio.sleep(0)
        await stream.aclose()
        with pytest.raises(httpcore.ReadError):
            await reading


def buffers() -> int:
    return sum(isinstance(each, mmap.mmap) for each in gc.get_objects())


async def test_a_connection_that_is_gone_keeps_no_buffer() -> None:
    before = buffers()
    async with pair() as (stream, _, writer):
        assert buffers() == before + 1
        writer.write(b"the last words")
        writer.close()
        assert await stream.read(1000, 60) == b"the last words"
        await until(lambda: buffers() == before)
        assert await stream.read(1000, 60) == b""


async def test_what_nobody_read_of_a_connection_that_was_closed_here_is_not_kept() -> None:
    before = buffers()
    async with pair() as (stream, _, writer):
        writer.write(b"the rest of an answer that was stopped")
        await until(lambda: stream.get_extra_info("is_readable"))
        for _ in range(3):
            await asyncio.sleep(0)  # the loop fetches it
        await stream.aclose()
        await until(lambda: buffers() == before)
        with pytest.raises(httpcore.ReadError):
            await stream.read(1000, 60)


async def test_a_connection_that_received_little_takes_little() -> None:
    tracemalloc.start()
    try:
        async with pair() as (stream, _, writer):
            writer.write(b"little")
            assert await stream.read(1000, 60) == b"little"
            assert tracemalloc.get_traced_memory()[1] < READ_BYTES / 2
    finally:
        tracemalloc.stop()


async def test_what_httpcore_asks_of_a_connection() -> None:
    async with pair() as (stream, _, writer):
        assert stream.get_extra_info("client_addr") == writer.get_extra_info("peername")
        assert stream.get_extra_info("server_addr") == writer.get_extra_info("sockname")
        own = stream.get_extra_info("socket")
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert stream.get_extra_info("ssl_object") is None
        assert stream.get_extra_info("anything else") is None
        assert stream.get_extra_info("is_readable") is False
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)
        assert stream.get_extra_info("is_readable") is True


def test_a_socket_that_the_loop_has_not_looked_at_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for without_poll in (False, True):
        ours, theirs = socket.socketpair()
        if without_poll:
            monkeypatch.delattr(network_stream.select, "poll")
        with ours, theirs:
            assert not network_stream._is_readable(ours.fileno())
            theirs.send(b"x")
            assert network_stream._is_readable(ours.fileno())
    assert network_stream._is_readable(-1)


async def test_the_next_address_is_tried_when_one_refuses_or_hesitates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_stream, "NEXT_ADDRESS_AFTER_S", 0.02)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    full = socket.socket()  # its queue is full: a connection to it hesitates for ever
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    fillers = []
    for _ in range(4):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(full.getsockname())
        fillers.append(filler)
    try:
        async with speaking(handle) as port:
            good = await resolve("127.0.0.1", port)
            refusing = await resolve("127.0.0.1", 9)
            hesitating = await resolve("127.0.0.1", full.getsockname()[1])
            for addresses in (refusing + good, hesitating + good, hesitating + refusing + good, good + refusing):
                stream = await dial(addresses)
                assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
                await stream.aclose()
            for addresses in (refusing, refusing + refusing):
                with pytest.raises(ConnectionRefusedError):
                    await dial(addresses)
            with pytest.raises(OSError, match="no address"):
                await dial([])
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await dial(hesitating)
    finally:
        for each in (*fillers, full):
            each.close()


async def test_a_name_that_cannot_be_one() -> None:
    for name in ("no-such-host.invalid", "a" * 64 + ".example", "..", ""):
        if name:
            with pytest.raises(socket.gaierror):
                await resolve(name, 80)


@pytest.mark.parametrize("name", ["localhost", "service.localhost"])
async def test_nobody_is_asked_for_the_names_of_this_computer(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def elsewhere(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, 1, 6, "", ("203.0.113.9", 1))]

    monkeypatch.setattr(socket, "getaddrinfo", elsewhere)
    assert [info[4][:2] for info in await resolve(name, 80)] == [("127.0.0.1", 80), ("::1", 80)]


async def test_addresses_of_both_kinds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*_: object, **__: object) -> list[tuple[object, ...]]:
        six, four = socket.AF_INET6, socket.AF_INET
        return [(six, 1, 6, "", ("a", 1)), (six, 1, 6, "", ("b", 1)), (four, 1, 6, "", ("c", 1))]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    assert [info[4][0] for info in await resolve("x", 1)] == ["a", "c", "b"]


async def test_tls_that_is_refused_or_never_begins_closes_the_connection(tmp_path: Path) -> None:
    async with pair() as (stream, reader, _):
        with pytest.raises(httpcore.ConnectTimeout):
            await stream.start_tls(ssl.create_default_context(), "localhost", 0.02)
        while await reader.read(4096):
            pass
    context = Authority("Office CA", tmp_path).server("localhost")

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.start_tls(context)

    async with speaking(handle) as port:
        stream = await dial(await resolve("127.0.0.1", port))
        with pytest.raises(httpcore.ConnectError) as caught:
            await stream.start_tls(ssl.create_default_context(), "localhost", 2)
        assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


async def test_a_connection_lost_in_the_moment_of_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(*_: object, **__: object) -> None:
        return None

    async with pair() as (stream, _, _writer):
        monkeypatch.setattr(asyncio.get_running_loop(), "start_tls", lost, raising=False)
        with pytest.raises(httpcore.ConnectError):
            await stream.start_tls(ssl.create_default_context(), "localhost", 1)


async def test_a_connection_that_comes_about_when_nobody_wants_it_any_more_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With warnings as errors, a socket left to the collector would fail this test."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with speaking(handle) as port:
        addresses = await resolve("127.0.0.1", port)
        for turns in range(6):
            dialling = asyncio.ensure_future(dial(addresses))
            for _ in range(turns):
                await asyncio.sleep(0)
            dialling.cancel()
            try:
                stream = await dialling
            except asyncio.CancelledError:
                continue
            await stream.aclose()


PIECES = 60


async def _trickle(writer: asyncio.StreamWriter) -> None:
    for number in range(PIECES):
        writer.write(b"%03d" % number)
        await writer.drain()
        await asyncio.sleep(0.004)


async def _read_all(stream: SocketStream) -> list[bytes]:
    reads: list[bytes] = []
    while sum(map(len, reads)) < 3 * PIECES:
        reads.append(await stream.read(65536, 5))
    return reads


@pytest.mark.parametrize("secure", [False, True])
async def test_many_small_pieces_are_gathered_and_the_first_ones_are_not(
    secure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_stream, "GATHERS_WITHIN_S", 1e12)  # however slow this machine is
    authority = Authority("Office CA", tmp_path)
    begin = asyncio.Event()

    async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if secure:
            await writer.start_tls(authority.server("localhost"))
        await begin.wait()
        await _trickle(writer)

    async with speaking(handle) as port:
        stream = await dial(await resolve("127.0.0.1", port))
        if secure:
            context = ssl.create_default_context(cafile=str(authority.file))
            stream = await stream.start_tls(context, "localhost", 10)
        begin.set()
        reads = await _read_all(stream)
        await stream.aclose()
    assert b"".join(reads) == b"".join(b"%03d" % number for number in range(PIECES))
    assert len(reads) < PIECES * 2 / 3
    assert sum(map(len, reads[network_stream.GATHERS_AFTER + 1 :])) > 3 * len(reads)


async def test_an_answer_to_what_was_just_written_is_not_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_stream, "REST_S", 3600.0)
    async with pair() as (stream, reader, writer):
        for _ in range(3 * network_stream.GATHERS_AFTER):
            await stream.write(b"ask")
            await reader.readexactly(3)
            writer.write(b"answer")
            assert await stream.read(65536, 5) == b"answer"


async def test_who_gives_up_while_it_gathers_leaves_a_connection_that_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_stream, "REST_S", 3600.0)
    monkeypatch.setattr(network_stream, "GATHERS_WITHIN_S", 1e12)
    async with pair() as (stream, _reader, writer):
        for _ in range(network_stream.GATHERS_AFTER):
            writer.write(b"piece")
            assert await stream.read(65536, 5) == b"piece"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await stream.read(65536, 5)
        await stream.write(b"ask")
        writer.write(b"more")
        assert await stream.read(65536, 5) == b"more"
