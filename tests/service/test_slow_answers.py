"""A server that says nothing, or a byte now and then: every wait has an end, and nothing paid is asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.service.calls import Call, JsonContent
from app.service.chat_types import ChatMessage, ChatRequest, TextDelta
from app.service.errors import PaymentRequired, StreamCut, TimedOut
from app.service.retry import MAX_ATTEMPTS, CallKind
from app.service.speech import SpeechRequest
from tests.service.loopback import (
    DONE,
    Received,
    Reply,
    Watched,
    delta,
    event,
    finish,
    framed,
    http,
    serving,
    stream_head,
)

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n" + b"x-padding: " + b"x" * 5_000
HELLO = ChatRequest("m", (ChatMessage("user", "Hello"),))


def bounded() -> asyncio.Timeout:
    """A client without a limit fails its test, and does not hold up the others."""
    return asyncio.timeout(60)


def dripping(data: bytes, at_once: bytes = b"") -> Reply:
    """Sends a byte every 20 ms until the client has gone."""

    async def reply(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(at_once)
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.02)

    return reply


@pytest.mark.parametrize("kind", [CallKind.PAID, CallKind.UPLOAD, CallKind.QUEUE, CallKind.ONCE])
async def test_a_head_that_drips_ends_in_time_and_what_is_paid_is_not_sent_again(kind: CallKind) -> None:
    async with bounded(), serving(dripping(HEAD)) as service, Watched(service.base_url) as at:
        call = Call("POST", "/x", kind, "x", content=JsonContent({}), answer_s=0.3)
        with pytest.raises(TimedOut) as told:
            async with at.client.fetch(call):
                pass
        assert not told.value.surely_not_sent
        assert at.exchange.outcome == "unknown"
        assert len(service.received) == 1
        async with asyncio.timeout(60):
            await service.hung_up.wait()


async def test_a_free_question_whose_head_drips_is_asked_a_few_times_and_given_up() -> None:
    async with bounded(), serving(dripping(HEAD)) as service, Watched(service.base_url) as at:
        with pytest.raises(TimedOut):
            async with at.client.fetch(Call("GET", "/x", CallKind.READ, "x", answer_s=0.2)):
                pass
        assert len(service.received) == MAX_ATTEMPTS


async def test_a_slow_answer_that_comes_in_time_is_taken() -> None:
    async def slowly(_received: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        writer.write(http(200, {"made": True}))

    async with bounded(), serving(slowly) as service, Watched(service.base_url) as at:
        call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), answer_s=60)
        async with at.client.fetch(call) as answer:
            assert answer.json() == {"made": True}
        assert len(service.received) == 1


@asynccontextmanager
async def reading_late(after_s: float) -> AsyncIterator[str]:
    """A server that leaves most of a request in the line for a while, and answers when it has read it."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await asyncio.sleep(after_s)
        await reader.readexactly(size)
        writer.write(http(200, {"read": size}))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=1 << 16)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_the_time_that_a_request_takes_to_leave_does_not_count() -> None:
    async with bounded(), reading_late(2.0) as address, Watched(address) as at:
        body = {"file": "x" * (24 * 1024 * 1024)}  # more than the line holds
        call = Call("POST", "/x", CallKind.UPLOAD, "x", content=JsonContent(body), answer_s=1.5)
        async with at.client.fetch(call) as answer:
            assert answer.info.status == 200


async def test_an_answer_that_is_read_whole_may_not_drip() -> None:
    at_once = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n["
    async with (
        asyncio.timeout(60),
        serving(dripping(b" " * 8_999, at_once)) as service,
        Watched(service.base_url) as at,
    ):
        call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), answer_s=0.3)
        with pytest.raises(StreamCut, match="too slowly"):
            async with at.client.fetch(call):
                pass
        assert at.exchange.outcome == "cut"
        assert len(service.received) == 1


async def test_sound_that_drips_is_cut_and_what_came_is_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.speech.SPEECH_S", 0.5)
    at_once = b"HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: 9000\r\n\r\nID3" + bytes(200)
    async with (
        asyncio.timeout(60),
        serving(dripping(bytes(8_797), at_once)) as service,
        Watched(service.base_url) as at,
    ):
        came = b""
        with pytest.raises(StreamCut, match="too slowly"):
            async with at.service.speech.stream(SpeechRequest("Hello", "m", "v")) as stream:
                async for piece in stream:
                    came += piece
        assert came.startswith(b"ID3")
        assert at.exchange.outcome == "cut"
        assert len(service.received) == 1


async def test_a_refusal_whose_words_drip_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.client.REFUSAL_S", 0.2)
    at_once = b"HTTP/1.1 402 X\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n{"
    async with (
        asyncio.timeout(60),
        serving(dripping(b" " * 8_999, at_once)) as service,
        Watched(service.base_url) as at,
    ):
        with pytest.raises(PaymentRequired):
            await at.client.get("/x")
        assert len(service.received) == 1


async def test_a_stream_that_only_shows_signs_of_life_is_cut_and_keeps_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.service.chat.CHAT_S", 0.5)

    async def alive(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + framed(event(delta(content="It begins"))))
        for _ in range(3_000):
            writer.write(framed(b": PROCESSING\n\n"))
            await writer.drain()
            await asyncio.sleep(0.02)

    async with bounded(), serving(alive) as service, Watched(service.base_url) as at:
        said = ""
        with pytest.raises(StreamCut):
            async with at.service.chat.stream(HELLO) as stream:
                async for events in stream:
                    said += "".join(each.text for each in events if isinstance(each, TextDelta))
        assert said == "It begins"
        assert at.exchange.outcome == "cut"
        assert len(service.received) == 1


async def test_a_model_that_thinks_behind_signs_of_life_is_waited_for() -> None:
    async def thinking(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head())
        for _ in range(20):
            writer.write(framed(b": PROCESSING\n\n"))
            await writer.drain()
            await asyncio.sleep(0.01)
        for piece in (event(delta(content="At last")), event(finish()), DONE):
            writer.write(framed(piece))
        writer.write(b"0\r\n\r\n")

    async with bounded(), serving(thinking) as service, Watched(service.base_url) as at:
        async with at.service.chat.stream(HELLO) as stream:
            events = [each async for group in stream for each in group]
        assert TextDelta("At last") in events
        assert at.exchange.outcome == "ok"
