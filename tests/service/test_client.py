"""The one way out: retries, records, bounds. With a stub in place of the network."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal

import httpx
import pytest

from app.core.paid_call import end_of_call
from app.service.auth import ApiKeyAuth
from app.service.calls import Call, JsonContent, query
from app.service.chat_types import RetryWait
from app.service.errors import (
    AbuseBlocked,
    AuthenticationFailed,
    BadRequest,
    BadResponse,
    ConnectionFailed,
    LimitExceeded,
    RateLimited,
    ServerFailed,
    ServiceError,
    TimedOut,
)
from app.service.exchange import curl_command
from app.service.http.json_text import write_json
from app.service.http.network_dial import Dialer
from app.service.http.network_stream import SocketStream
from app.service.retry import CallKind
from tests.service.loopback import KEY, Watched, answering, http, serving

Handler = Callable[[httpx.Request], httpx.Response]


def in_turn(*answers: httpx.Response | Exception) -> Handler:
    waiting: Iterator[httpx.Response | Exception] = iter(answers)

    def handler(request: httpx.Request) -> httpx.Response:
        answer = next(waiting)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def paid(**changes: object) -> Call:
    return Call("POST", "/chat/completions", CallKind.PAID, "chat", content=JsonContent({"a": 1}), **changes)  # type: ignore[arg-type] # the test names real fields


async def outcome(watched: Watched, call: Call) -> ServiceError | object:
    try:
        async with watched.client.fetch(call) as answer:
            return answer.json()
    except ServiceError as error:
        return error


async def test_r_auth_02_r_gen_02_the_call_as_it_goes_out() -> None:
    async with Watched(handler=answering({"ok": True})) as watched:
        await watched.client.post_json("/x", {"ü": "é"}, kind=CallKind.PAID)
        (request,) = watched.requests
        assert str(request.url) == "http://service.test/api/v1/x"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["accept-encoding"] == "gzip"
        assert request.content == '{"ü":"é"}'.encode()


async def test_r_gen_01_the_base_address_keeps_its_version_segment() -> None:
    async with Watched("http://service.test/api/v1/", handler=answering({})) as watched:
        await watched.client.get("/models/a%2Fb", {"type": "tts", "none": None, "yes": True, "tags": ("a,b", "#c")})
        assert str(watched.requests[0].url) == (
            "http://service.test/api/v1/models/a%2Fb?type=tts&yes=true&tags=a%2Cb&tags=%23c"
        )


def test_query_leaves_out_what_is_empty() -> None:
    assert query({"a": "", "b": None, "c": 0, "d": False, "e": [], "f": ["x", "y"]}) == (
        ("c", "0"),
        ("d", "false"),
        ("f", "x"),
        ("f", "y"),
    )


async def test_a_key_pasted_with_white_space_around_it_is_sent_without() -> None:
    async def pasted() -> str:
        return f" {KEY}\n"

    async with Watched(handler=answering({}), auth=ApiKeyAuth(pasted)) as watched:
        await watched.client.get("/models")
        assert watched.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["line\nbreak", "sch\u00fcssel", "two words", "nul\x00"])
async def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(key: str) -> None:
    async def read() -> str:
        return key

    async with Watched(handler=answering({}), auth=ApiKeyAuth(read)) as watched:
        with pytest.raises(AuthenticationFailed) as caught:
            await watched.client.get("/models")
        assert caught.value.surely_not_sent
        assert key not in str(caught.value)
        assert watched.requests == []


async def test_r_auth_10_the_key_is_in_no_record_repr_or_error() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("broke", request=request)

    async with Watched(handler=refuse) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
    seen: list[object] = [watched.exchange, watched.client.__dict__, ApiKeyAuth(lambda: asyncio.sleep(0, KEY))]
    assert KEY not in repr(seen)
    assert KEY not in curl_command(watched.exchange.request)
    assert "$RIALTO_API_KEY" in curl_command(watched.exchange.request)
    error: BaseException | None = caught.value
    assert error is not None
    assert error.__cause__ is None  # httpx's error holds the request with its headers
    assert error.__context__ is None


@pytest.mark.parametrize(
    ("error", "expected", "surely_not_sent", "tries"),
    [
        (httpx.ConnectError("x"), ConnectionFailed, True, 4),
        (httpx.ConnectTimeout("x"), ConnectionFailed, True, 4),
        (httpx.PoolTimeout("x"), TimedOut, True, 4),
        (httpx.ProxyError("x"), ConnectionFailed, True, 4),
        (httpx.ReadTimeout("x"), TimedOut, False, 1),
        (httpx.WriteTimeout("x"), TimedOut, False, 1),
        (httpx.ReadError("x"), ConnectionFailed, False, 1),
        (httpx.RemoteProtocolError("x"), ConnectionFailed, False, 1),
        (httpx.UnsupportedProtocol("x"), ConnectionFailed, True, 4),
    ],
)
async def test_a_paid_call_is_repeated_only_when_it_surely_was_not_sent(
    error: Exception, expected: type[ServiceError], surely_not_sent: bool, tries: int
) -> None:
    async with Watched(handler=in_turn(*[error] * 4)) as watched:
        failure = await outcome(watched, paid())
        assert type(failure) is expected
        assert isinstance(failure, ServiceError)
        assert failure.surely_not_sent is surely_not_sent
        assert len(watched.requests) == watched.exchange.attempts == tries
        assert watched.exchange.outcome == ("unsent" if surely_not_sent else "unknown")


async def test_a_call_of_which_an_earlier_try_may_have_arrived_is_not_told_as_not_sent() -> None:
    tries = in_turn(httpx.ReadTimeout("x"), *[httpx.ConnectError("x")] * 3)
    async with Watched(handler=tries) as watched:
        failure = await outcome(watched, Call("GET", "/models", CallKind.READ, "models"))
        assert isinstance(failure, ServiceError)
        assert failure.surely_not_sent
        assert (watched.exchange.outcome, watched.exchange.attempts) == ("error", 4)


@pytest.mark.parametrize(
    "last", [[httpx.ConnectError("x")] * 3, [httpx.Response(429, headers={"retry-after": "900"})]], ids=["away", "full"]
)
async def test_a_transaction_that_may_have_arrived_is_not_told_as_failed_whatever_its_last_try_came_to(
    last: list[httpx.Response | Exception],
) -> None:
    async with Watched(handler=in_turn(httpx.ReadTimeout("x"), *last)) as watched:
        failure = await outcome(watched, Call("POST", "/crypto/rpc/x", CallKind.IDEMPOTENT, "crypto"))
        assert isinstance(failure, ServiceError)
        assert (end_of_call(failure), failure.surely_not_sent) == ("unknown", False)
        assert (watched.exchange.outcome, watched.exchange.attempts) == ("unknown", 1 + len(last))


async def test_a_read_is_repeated_whatever_was_lost() -> None:
    answers = in_turn(httpx.ReadError("x"), httpx.ReadTimeout("x"), httpx.Response(200, json={"ok": 1}))
    async with Watched(handler=answers) as watched:
        assert await watched.client.get("/models") == {"ok": 1}
        assert watched.slept == [0.5, 1.0]
        assert (watched.exchange.outcome, watched.exchange.attempts) == ("ok", 3)


async def test_r_err_10_failures_are_repeated_and_one_exchange_tells_of_all_tries() -> None:
    answers = in_turn(
        httpx.Response(500, json={"error": "a"}),
        httpx.Response(503, json={"error": "b"}),
        httpx.Response(429, json={"error": "c"}, headers={"retry-after": "9"}),
        httpx.Response(200, json={"ok": 1}),
    )
    waits: list[RetryWait] = []
    async with Watched(handler=answers) as watched:
        async with watched.client.fetch(paid(), on_wait=waits.append) as answer:
            assert answer.json() == {"ok": 1}
        assert [(wait.reason, wait.wait_s, wait.attempt, wait.message) for wait in waits] == [
            ("server", 0.5, 1, "a"),
            ("server", 1.0, 2, "b"),
            ("rate_limit", 10.0, 3, "c"),
        ]
        assert (watched.exchange.outcome, watched.exchange.status, watched.exchange.attempts) == ("ok", 200, 4)
        assert watched.budget.state.failures == 3


async def test_after_four_tries_the_error_is_the_caller_s() -> None:
    async with Watched(handler=answering({"error": "down"}, 503)) as watched:
        failure = await outcome(watched, paid())
        assert isinstance(failure, ServerFailed)
        assert failure.exchange is watched.exchange
        assert (watched.exchange.error, watched.exchange.outcome, watched.exchange.attempts) == ("down", "error", 4)


@pytest.mark.parametrize(("status", "outcome_word"), [(500, "error"), (502, "unknown"), (504, "unknown")])
async def test_a_gateway_that_gave_up_leaves_it_open_whether_a_paid_call_was_carried_out(
    status: int, outcome_word: str
) -> None:
    async with Watched(handler=answering({"error": "down"}, status)) as watched:
        await outcome(watched, paid())
        assert watched.exchange.outcome == outcome_word  # as its tab says it
    async with Watched(handler=answering({"error": "down"}, status)) as watched:
        with pytest.raises(ServerFailed):
            await watched.client.get("/models")
        assert watched.exchange.outcome == "error"  # a read costs nothing


async def test_a_wait_of_more_than_two_minutes_is_the_person_s_decision() -> None:
    async with Watched(handler=answering({"error": "later"}, 429, retry_after="300")) as watched:
        failure = await outcome(watched, paid())
        assert isinstance(failure, RateLimited)
        assert (failure.retry_after_s, watched.slept) == (300.0, [])


async def test_a_refusal_is_not_repeated() -> None:
    async with Watched(handler=answering({"error": "no"}, 400, cf_ray="ray-7")) as watched:
        failure = await outcome(watched, paid())
        assert isinstance(failure, BadRequest)
        assert (failure.request_id, len(watched.requests)) == ("ray-7", 1)


async def test_r_err_14_the_block_holds_other_calls_and_background_work_gets_the_error() -> None:
    blocked = httpx.Response(429, json={"error": "Too many failed attempts (> 20), wait 30s"})
    async with Watched(handler=in_turn(blocked)) as watched:
        with pytest.raises(AbuseBlocked):
            await watched.client.get("/models", background=True)
        assert watched.budget.state.holding
        task = asyncio.ensure_future(watched.client.get("/models"))
        await asyncio.sleep(0.01)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(watched.requests) == len(watched.exchanges) == 1  # what was never sent is no exchange


async def test_a_held_call_says_so_and_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.retry.FailureBudget.BLOCK_S", 0.05)
    blocked = httpx.Response(429, json={"error": "Too many failed attempts, wait 30s"})
    waits: list[RetryWait] = []
    async with Watched(handler=in_turn(blocked, httpx.Response(200, json={}))) as watched:
        async with watched.client.fetch(paid(), on_wait=waits.append):
            pass
        assert [wait.reason for wait in waits] == ["held"]
        assert watched.exchange.outcome == "ok"


async def test_leaving_an_answer_unread_counts_as_stopped() -> None:
    async with Watched(handler=answering({})) as watched:
        async with watched.client.open(paid()) as answer:
            assert answer.info.status == 200
        assert watched.exchange.outcome == "stopped"


async def test_an_error_of_the_reader_s_own_is_the_exchange_s_too() -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(BadResponse):
            async with watched.client.fetch(paid()):
                raise BadResponse("not what was promised")
        assert (watched.exchange.outcome, watched.exchange.error) == ("error", "not what was promised")


async def test_a_bug_of_the_reader_s_leaves_one_stopped_exchange() -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(ZeroDivisionError):
            async with watched.client.open(paid()):
                raise ZeroDivisionError
        assert watched.exchange.outcome == "stopped"


async def test_cancelled_between_two_tries() -> None:
    async with Watched(handler=answering({"error": "x"}, 503)) as watched:

        async def sleep(seconds: float) -> None:
            raise asyncio.CancelledError

        watched.client._sleep = sleep
        with pytest.raises(asyncio.CancelledError):
            await watched.client.get("/models")
        assert (watched.exchange.outcome, watched.exchange.status) == ("stopped", 503)


async def test_r_hdr_30_the_cost_header_is_a_stated_cost() -> None:
    async with Watched(handler=answering({}, x_service_rpc_cost_usd="0.00001400")) as watched:
        await watched.client.get("/crypto")
        assert (watched.exchange.cost_usd, watched.exchange.cost_source) == (Decimal("0.000014"), "stated")


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"NaN", b'{"a": Infinity}', b"[" * 100_000])
async def test_an_answer_that_is_not_json_is_a_bad_answer(body: bytes) -> None:
    async with Watched(handler=lambda request: httpx.Response(200, content=body)) as watched:
        assert isinstance(await outcome(watched, paid()), BadResponse)
        assert watched.exchange.outcome == "error"


async def test_numbers_with_a_point_stay_exact() -> None:
    body = b'\xef\xbb\xbf{"usd": 0.1234567890123456789, "n": 3}'
    async with Watched(handler=lambda request: httpx.Response(200, content=body)) as watched:
        assert await outcome(watched, paid()) == {"usd": Decimal("0.1234567890123456789"), "n": 3}


def zipped(body: bytes) -> Handler:
    return lambda request: httpx.Response(200, content=body, headers={"content-encoding": "gzip"})


async def test_r_hdr_12_a_compressed_answer_is_read() -> None:
    async with Watched(handler=zipped(gzip.compress(b'{"a": 1}'))) as watched:
        assert await outcome(watched, paid()) == {"a": 1}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (gzip.compress(b'{"a": 1}' * 1000)[:-20], "incomplete"),
        (b"not gzip", "damaged"),
        (b'{"a": 1}', "damaged"),
        (gzip.compress(b"[" + b"0," * 25_000_000 + b"0]"), "larger than"),
    ],
    ids=["cut", "garbage", "plain", "bomb"],
)
async def test_a_damaged_or_monstrous_compressed_answer_is_a_bad_answer(body: bytes, told: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=Raw(body), headers={"content-encoding": "gzip"})

    async with Watched(handler=answer) as watched:
        failure = await outcome(watched, paid(max_bytes=1_000_000))
        assert isinstance(failure, BadResponse)
        assert told in failure.message


class Raw(httpx.AsyncByteStream):
    """Bytes as the network would bring them, which httpx does not look into."""

    def __init__(self, *reads: bytes) -> None:
        self._reads = reads

    async def __aiter__(self):  # type: ignore[no-untyped-def] # an async generator, typed by its base
        for read in self._reads:
            yield read


async def test_deflate_in_both_its_forms_and_unknown_encodings() -> None:
    def answer(encoding: str, body: bytes) -> Handler:
        return lambda request: httpx.Response(200, stream=Raw(body), headers={"content-encoding": encoding})

    async with Watched(handler=answer("deflate", zlib.compress(b"[1]"))) as watched:
        assert await outcome(watched, paid()) == [1]
    async with Watched(handler=answer("identity", b"[1]")) as watched:
        assert await outcome(watched, paid()) == [1]
    for encoding in ("br", "gzip, gzip"):
        async with Watched(handler=answer(encoding, b"[1]")) as watched:
            assert isinstance(await outcome(watched, paid()), BadResponse)


@pytest.mark.parametrize("encoding", ["gzip", "br", ""])
async def test_a_refusal_with_an_unreadable_body_is_still_that_refusal(encoding: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, stream=Raw(b"\x00" * 200_000), headers={"content-encoding": encoding})

    async with Watched(handler=answer) as watched:
        failure = await outcome(watched, paid())
        assert isinstance(failure, ServiceError)
        assert failure.status == 404


async def test_an_answer_over_its_bound_is_refused() -> None:
    async with Watched(handler=lambda request: httpx.Response(200, content=b"[" + b" " * 5000 + b"]")) as watched:
        failure = await outcome(watched, paid(max_bytes=1000))
        assert isinstance(failure, BadResponse)
        assert "larger than" in failure.message


@pytest.mark.parametrize("status", [101, 204, 304])
async def test_a_status_that_is_no_answer(status: int) -> None:
    async with Watched(handler=lambda request: httpx.Response(status)) as watched:
        assert isinstance(await outcome(watched, paid()), BadResponse)


@pytest.mark.parametrize("value", [float("nan"), object(), {1: {2}}])
def test_what_json_cannot_carry_is_refused_before_sending(value: object) -> None:
    with pytest.raises(LimitExceeded):
        JsonContent({"extra": value})


def test_a_broken_surrogate_does_not_stop_a_message() -> None:
    assert write_json({"a": "x\ud800y"}) == ('{"a":"x\ufffdy"}'.encode(),)
    assert write_json({"a": Decimal("1.5"), "b": Decimal(2)}) == (b'{"a":1.5,"b":2}',)


async def test_an_address_that_grows_too_long_is_refused() -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded):
            await watched.client.get("/models", {"search": "x" * 100_000})


async def test_nothing_is_opened_before_the_first_call_and_closing_twice_is_fine() -> None:
    watched = Watched(handler=answering({}))
    await watched.client.aclose()
    await watched.client.aclose()
    assert watched.client._http is None


async def test_a_closed_client_sends_nothing_more_and_leaves_no_connection_open() -> None:
    async with serving(http(500, {"error": "busy"})) as loopback:
        watched = Watched(loopback.base_url)
        going = asyncio.Event()
        closed = asyncio.Event()

        async def sleep(_seconds: float) -> None:
            going.set()
            await closed.wait()

        watched.client._sleep = sleep
        call = asyncio.ensure_future(watched.client.get("/models"))
        await going.wait()
        await watched.client.aclose()
        closed.set()
        with pytest.raises(ServiceError) as late:
            await call
        assert (late.value.code, late.value.surely_not_sent) == ("closed", True)
        with pytest.raises(ConnectionFailed):
            await watched.client.get("/models")
        assert len(loopback.received) == 1
        assert watched.client._http is None
        async with asyncio.timeout(60):
            await loopback.hung_up.wait()


async def test_a_connection_that_is_opened_while_its_client_closes_is_closed_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(http(200, {"data": []})) as loopback:
        dialed, go_on = asyncio.Event(), asyncio.Event()
        open_connection = Dialer.open

        async def open_slowly(self: Dialer, timeout_s: float | None = None) -> SocketStream:
            stream = await open_connection(self, timeout_s)
            dialed.set()
            await go_on.wait()
            return stream

        monkeypatch.setattr(Dialer, "open", open_slowly)
        watched = Watched(loopback.base_url)
        call = asyncio.ensure_future(watched.client.get("/models"))
        await dialed.wait()
        await watched.client.aclose()
        go_on.set()
        with suppress(ServiceError):
            await call
        async with asyncio.timeout(60):
            await loopback.hung_up.wait()


async def test_every_connection_is_closed_even_when_whoever_closes_them_is_cancelled() -> None:
    release = asyncio.Event()
    waiting: list[asyncio.StreamWriter] = []
    open_ends: set[asyncio.StreamReader] = set()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_ends.add(reader)
        waiting.append(writer)
        await reader.read()  # until the other end hangs up
        open_ends.discard(reader)
        release.set()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        watched = Watched(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/v1")
        calls = [asyncio.ensure_future(watched.client.get("/models")) for _ in range(4)]
        async with asyncio.timeout(60):
            while len(waiting) < 4:
                await asyncio.sleep(0.01)
        closing = asyncio.ensure_future(watched.client.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        for call in calls:
            call.cancel()
        await asyncio.gather(closing, *calls, return_exceptions=True)
        async with asyncio.timeout(60):
            while open_ends:
                await asyncio.sleep(0.01)
