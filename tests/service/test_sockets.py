"""What only a real socket shows: cut connections, redirects, keep-alive, who hangs up when."""

import asyncio
import gc
import json
import socket
from urllib.parse import urlsplit

import pytest

from app.service.calls import Call, JsonContent
from app.service.chat_types import ChatMessage, ChatRequest, TextDelta
from app.service.errors import BadResponse, ConnectionFailed, NotFound, ServiceError, StreamCut, TimedOut
from app.service.http.network_stream import dial, resolve
from app.service.retry import CallKind
from tests.service.loopback import (
    DONE,
    KEY,
    Received,
    Watched,
    delta,
    event,
    framed,
    http,
    serving,
    stream_head,
    streamed,
)

REQUEST = ChatRequest("m", (ChatMessage("user", "hi"),))


async def test_one_connection_serves_several_calls_also_after_a_stream() -> None:
    answer = streamed([event(delta(content="a")), DONE])
    async with serving(http(body={"n": 1}), answer, http(body={"n": 2})) as server, Watched(server.base_url) as watched:
        assert await watched.client.get("/x") == {"n": 1}
        async with watched.service.chat.stream(REQUEST) as stream:
            async for _ in stream:
                pass
        assert not server.hung_up.is_set()
        assert await watched.client.get("/x") == {"n": 2}
        assert not server.hung_up.is_set()
        assert [received.target for received in server.received] == [
            "/api/v1/x",
            "/api/v1/chat/completions",
            "/api/v1/x",
        ]


@pytest.mark.parametrize("ahead", [b"", b"stray"])
async def test_bytes_after_a_response_are_never_the_next_one(ahead: bytes) -> None:
    """A whole response that nobody asked for, and a body longer than its stated length."""
    refusal = ahead or http(402, {"error": "Not enough credits"})
    first = http(body={"n": 1}) + refusal
    async with serving(first, http(body={"n": 2})) as server, Watched(server.base_url) as watched:
        assert await watched.client.get("/x") == {"n": 1}
        assert await watched.client.get("/x") == {"n": 2}
        assert len(server.received) == 2


async def test_small_calls_do_not_wait_for_one_another_to_be_acknowledged() -> None:
    async with serving(http(body={})) as server:
        stream = await dial(await resolve("127.0.0.1", urlsplit(server.base_url).port or 0))
        sock = stream.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        await stream.aclose()


async def test_nothing_listens() -> None:
    async with serving(b"") as server:
        address = server.base_url
    async with Watched(address) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.ONCE)
        assert (caught.value.code, caught.value.surely_not_sent) == ("refused", True)


async def test_a_server_that_hangs_up_without_a_word() -> None:
    async def hang_up(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(hang_up) as server, Watched(server.base_url) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        assert caught.value.surely_not_sent is False
        assert (watched.exchange.outcome, len(server.received)) == ("unknown", 1)


async def test_a_read_cut_in_the_middle_of_its_body_is_asked_again() -> None:
    async def half(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(http(body={"n": 1})[:-4])
        writer.close()

    async with serving(half, http(body={"n": 1})) as server, Watched(server.base_url) as watched:
        assert await watched.client.get("/x") == {"n": 1}
        assert watched.exchange.attempts == 2


async def test_a_paid_answer_cut_in_the_middle_is_not_asked_again() -> None:
    async def half(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(http(body={"n": 1})[:-4])
        writer.close()

    async with serving(half) as server, Watched(server.base_url) as watched:
        with pytest.raises(StreamCut):
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        assert (watched.exchange.outcome, len(server.received)) == ("cut", 1)


async def test_a_server_that_never_answers() -> None:
    async def wait(received: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), answer_s=0.05)
    async with serving(wait) as server, Watched(server.base_url) as watched:
        with pytest.raises(TimedOut):
            async with watched.client.fetch(call):
                pass
        assert watched.exchange.outcome == "unknown"


@pytest.mark.parametrize(
    "noise", [b"\x00\x01garbage\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nbad\r\n\r\n"]
)
async def test_bytes_that_are_no_http(noise: bytes) -> None:
    async with serving(noise) as server, Watched(server.base_url) as watched:
        with pytest.raises(ServiceError):
            await watched.client.post_json("/x", {}, kind=CallKind.ONCE)


async def test_r_auth_02_a_redirect_to_another_host_is_not_followed_and_gets_no_key() -> None:
    async with serving(http(body={"stolen": True})) as elsewhere:
        target = f"{elsewhere.base_url}/models"
        async with serving(http(302, location=target)) as server, Watched(server.base_url) as watched:
            with pytest.raises(BadResponse) as caught:
                await watched.client.get("/models")
        assert "another host" in caught.value.message
        assert elsewhere.received == []


async def test_a_redirect_within_the_service_is_followed_with_the_key() -> None:
    moved = http(307, location="/api/v2/models")
    async with serving(moved, http(body={"ok": 1})) as server, Watched(server.base_url) as watched:
        assert await watched.client.get("/models") == {"ok": 1}
        assert [received.target for received in server.received] == ["/api/v1/models", "/api/v2/models"]
        assert server.received[1].headers["authorization"] == f"Bearer {KEY}"


async def test_a_post_is_redirected_only_with_its_body() -> None:
    async with (
        serving(http(308, location="/api/v2/x"), http(body={"ok": 1})) as server,
        Watched(server.base_url) as watched,
    ):
        assert await watched.client.post_json("/x", {"a": 1}, kind=CallKind.PAID) == {"ok": 1}
        assert server.received[1].json == {"a": 1}
    async with serving(http(303, location="/api/v2/x")) as server, Watched(server.base_url) as watched:
        with pytest.raises(BadResponse):
            await watched.client.post_json("/x", {"a": 1}, kind=CallKind.PAID)
        assert len(server.received) == 1


async def test_redirects_in_circles_end() -> None:
    async with serving(http(302, location="/api/v1/models")) as server, Watched(server.base_url) as watched:
        with pytest.raises(BadResponse):
            await watched.client.get("/models")
        assert len(server.received) == 6


async def test_r_auth_02_a_download_elsewhere_carries_no_credentials_and_may_be_redirected() -> None:
    async with (
        serving(http(body=b"film", content_type="video/mp4")) as store,
        serving(http(302, location=f"{store.base_url}/film")) as elsewhere,
        Watched("http://127.0.0.1:9/v1") as watched,
    ):
        call = Call("GET", f"{elsewhere.base_url}/signed?token=1", CallKind.READ, "video")
        async with watched.client.fetch(call) as answer:
            assert answer.body == b"film"
        assert watched.exchange.request.authenticated is False
        received = [*elsewhere.received, *store.received]
        assert [one.target for one in received] == ["/api/v1/signed?token=1", "/api/v1/film"]
        assert not any("authorization" in one.headers for one in received)


async def test_a_strange_host_s_refusals_do_not_count() -> None:
    async with serving(http(404, {"error": "gone"})) as elsewhere, Watched("http://127.0.0.1:9/v1") as watched:
        for _ in range(30):
            with pytest.raises(NotFound):
                await watched.client.get(f"{elsewhere.base_url}/picture")
        assert watched.budget.state.failures == 0


async def test_cookies_are_not_kept() -> None:
    async with serving(http(body={}, set_cookie="a=1"), http(body={})) as server, Watched(server.base_url) as watched:
        await watched.client.get("/x")
        await watched.client.get("/x")
        assert "cookie" not in server.received[1].headers


async def test_stopping_a_stream_hangs_up_at_once() -> None:
    async def endless(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head())
        while True:
            writer.write(framed(event(delta(content="x"))))
            await writer.drain()
            await asyncio.sleep(0.005)

    async with serving(endless) as server, Watched(server.base_url) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            async for _ in stream:
                break
        async with asyncio.timeout(60):
            await server.hung_up.wait()
        assert watched.exchange.outcome == "stopped"


async def test_cancelling_a_task_that_streams_hangs_up_and_is_not_swallowed() -> None:
    async def silent(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + framed(event(delta(content="x"))))
        await writer.drain()
        await asyncio.sleep(60)

    started = asyncio.Event()

    async def read(watched: Watched) -> None:
        async with watched.service.chat.stream(REQUEST) as stream:
            async for _ in stream:
                started.set()

    async with serving(silent) as server, Watched(server.base_url) as watched:
        task = asyncio.ensure_future(read(watched))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(60):
            while not watched.exchanges:
                await asyncio.sleep(0)
        assert watched.exchange.outcome == "stopped"


async def test_an_emoji_cut_in_three_reads_arrives_whole() -> None:
    payload = event(delta(content="🦜")).replace(b"\\ud83e\\udd9c", "🦜".encode())
    at = payload.index("🦜".encode())
    cuts = [payload[: at + 1], payload[at + 1 : at + 2], payload[at + 2 :]]

    async def slowly(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head())
        for cut in [*cuts, DONE]:
            writer.write(framed(cut))
            await writer.drain()
            await asyncio.sleep(0.002)
        writer.write(b"0\r\n\r\n")

    async with (
        serving(slowly) as server,
        Watched(server.base_url) as watched,
        watched.service.chat.stream(REQUEST) as stream,
    ):
        found = [each async for events in stream for each in events if isinstance(each, TextDelta)]
    assert found == [TextDelta("🦜")]


@pytest.mark.parametrize("ending", ["hang up", "end without [DONE]"])
async def test_a_stream_that_ends_early_is_cut_and_its_text_was_given(ending: str) -> None:
    async def cut(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head(x_request_id="r-1") + framed(event(delta(content="half"))))
        if ending != "hang up":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    text: list[str] = []
    async with serving(cut) as server, Watched(server.base_url) as watched:
        with pytest.raises(StreamCut) as caught:
            async with watched.service.chat.stream(REQUEST) as stream:
                async for events in stream:
                    text += [each.text for each in events if isinstance(each, TextDelta)]
    assert text == ["half"]
    assert caught.value.request_id == "r-1"
    assert (watched.exchange.outcome, watched.exchange.status) == ("cut", 200)
    assert caught.value.exchange is watched.exchange


async def test_a_stream_silent_for_too_long_is_cut() -> None:
    async def silent(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + framed(event(delta(content="x"))))
        await writer.drain()
        await asyncio.sleep(60)

    call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), answer_s=2.0)
    async with serving(silent) as server, Watched(server.base_url) as watched:
        with pytest.raises(StreamCut):
            async with watched.client.open(call) as answer:
                async for _ in answer.pieces():
                    pass


async def test_a_stream_whose_server_lingers_after_done_ends_soon() -> None:
    hung_up_first: list[bool] = []

    async def linger(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + framed(DONE))
        await writer.drain()
        await asyncio.sleep(60)
        hung_up_first.append(True)

    async with serving(linger) as server, Watched(server.base_url) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            async for _ in stream:
                pass
        assert not hung_up_first
        assert watched.exchange.outcome == "ok"


async def test_a_service_on_this_computer_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with serving(http(body={"ok": 1})) as server, Watched(server.base_url) as watched:
        assert await watched.client.get("/x") == {"ok": 1}


async def test_the_body_is_the_same_bytes_in_every_try() -> None:
    async with serving(http(503, {"error": "x"}), http(body={})) as server, Watched(server.base_url) as watched:
        body = {"b": 1, "a": [1, 2, {"z": "ü"}]}
        await watched.client.post_json("/x", body, kind=CallKind.PAID)
        first, second = server.received
        assert first.body == second.body == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def test_no_stream_or_connection_is_left_for_the_collector() -> None:
    """With warnings as errors, a generator or socket finalised by the collector would fail this test."""
    async with (
        serving(streamed([event(delta(content="x"))] * 3 + [DONE])) as server,
        Watched(server.base_url) as watched,
    ):
        stream = watched.service.chat.stream(REQUEST)
        async with stream:
            async for _ in stream:
                break
        watched.service.chat.stream(REQUEST)  # prepared, never asked for
        del stream
        gc.collect()
    assert len(watched.exchanges) == 1
