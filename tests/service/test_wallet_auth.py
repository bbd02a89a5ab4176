"""The sign-in header on its way out: fresh each time, to one origin, by the service's clock."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from app.service.auth import ApiKeyAuth
from app.service.calls import Call, JsonContent
from app.service.dialect import DIALECTS
from app.service.errors import AuthenticationFailed, ConnectionFailed, ServiceError
from app.service.exchange import curl_command
from app.service.key_limits import WALLET_CALLS_AT_ONCE
from app.service.retry import CallKind
from app.service.wallet_auth import ClockRetry, WalletAuth
from tests.kit.waiting import until
from tests.service.loopback import KEY, Watched, http, serving

PAID = Call("POST", "/chat/completions", CallKind.PAID, "chat", content=JsonContent({}))
BASE_URL = "https://service.test/api/v1"
NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
Handler = Callable[[httpx.Request], httpx.Response]


class Wallet:
    """Makes headers that can be told apart, and remembers the skew that each was asked for."""

    def __init__(self) -> None:
        self.skews: list[timedelta] = []

    async def __call__(self, skew: timedelta) -> str:
        self.skews.append(skew)
        return f"c2lnbi1pbi0{len(self.skews)}"


class Locked(Exception):
    pass


def signing(wallet: Wallet, base_url: str = BASE_URL, name: str = "X-Sign-In-With-X", **more: object) -> WalletAuth:
    return WalletAuth(base_url, name, wallet, clock=lambda: NOW, **more)  # type: ignore[arg-type] # real names


def dated(ahead_s: float, status: int = 200, body: object = None, **headers: str) -> httpx.Response:
    date = format_datetime(NOW + timedelta(seconds=ahead_s), usegmt=True)
    return httpx.Response(status, json=body or {}, headers={"date": date, **headers})


def refused(code: str = "", ahead_s: float = 0.0) -> httpx.Response:
    body = {"error": "Sign-in refused", **({"code": code} if code else {})}
    return dated(ahead_s, 401, body)


def in_turn(*answers: httpx.Response) -> Handler:
    waiting = iter(answers)
    return lambda request: next(waiting)


def sent(watched: Watched, name: str = "x-sign-in-with-x") -> list[str | None]:
    return [request.headers.get(name) for request in watched.requests]


@pytest.mark.parametrize("dialect", ["service", "venice"])
async def test_r_auth_03_the_header_has_the_name_of_the_dialect_and_no_other(dialect: str) -> None:
    wallet = Wallet()
    auth = signing(wallet, name=DIALECTS[dialect].siwx_header)
    async with Watched(BASE_URL, handler=in_turn(dated(0)), dialect=dialect, auth=auth) as watched:
        await watched.client.get("/models")
        headers = watched.requests[0].headers
    names = {each.siwx_header.lower() for each in DIALECTS.values()}
    assert [name for name in headers if name in names] == [DIALECTS[dialect].siwx_header.lower()]


async def test_r_auth_04_a_wallet_never_sends_a_key_as_well() -> None:
    auth = signing(Wallet())
    request = httpx.Request("GET", f"{BASE_URL}/x", headers={"Authorization": f"Bearer {KEY}"})
    flow = auth.async_auth_flow(request)
    await anext(flow)
    assert "authorization" not in request.headers
    assert request.headers["x-sign-in-with-x"]
    await flow.aclose()


async def test_r_auth_04_a_key_sends_no_sign_in() -> None:
    async with Watched(BASE_URL, handler=in_turn(dated(0))) as watched:
        await watched.client.get("/models")
        assert sent(watched) == [None]


async def test_r_auth_05_each_attempt_is_signed_afresh() -> None:
    wallet = Wallet()
    handler = in_turn(dated(0, 503), dated(0, 429), dated(0))
    async with Watched(BASE_URL, handler=handler, auth=signing(wallet)) as watched:
        await watched.client.get("/models")
        values = sent(watched)
    assert len(values) == 3
    assert len(set(values)) == 3
    assert watched.exchange.attempts == 3


async def test_r_auth_05_a_redirect_inside_the_origin_is_signed_afresh() -> None:
    wallet = Wallet()
    moved = httpx.Response(307, headers={"location": "/api/v1/elsewhere"})
    async with Watched(BASE_URL, handler=in_turn(moved, dated(0)), auth=signing(wallet)) as watched:
        await watched.client.get("/models")
        assert len(set(sent(watched))) == 2


@pytest.mark.parametrize(
    "url",
    [
        "https://other.test/api/v1/x",
        "http://service.test/api/v1/x",
        "https://service.test:8443/api/v1/x",
        "https://service.test.evil.example/x",
    ],
)
async def test_r_auth_02_another_origin_gets_no_sign_in(url: str) -> None:
    wallet = Wallet()
    request = httpx.Request("GET", url)
    flow = signing(wallet).async_auth_flow(request)
    await anext(flow)
    assert "x-sign-in-with-x" not in request.headers
    assert wallet.skews == []
    with pytest.raises(StopAsyncIteration):
        await flow.asend(dated(500))


async def test_r_auth_02_a_download_from_another_host_gets_no_sign_in() -> None:
    wallet = Wallet()
    async with Watched(BASE_URL, handler=in_turn(dated(0)), auth=signing(wallet)) as watched:
        async with watched.client.fetch(Call("GET", "https://files.test/clip", CallKind.READ, "video")):
            pass
        assert sent(watched) == [None]
    assert wallet.skews == []


@pytest.mark.parametrize("ahead_s", [-240, -31, 45, 3600, 30 * 86400])
async def test_the_clock_is_set_by_any_answer_and_used_from_the_next_call_on(ahead_s: float) -> None:
    wallet = Wallet()
    told: list[timedelta] = []
    auth = signing(wallet, on_skew=told.append)
    async with Watched(BASE_URL, handler=lambda _: dated(ahead_s, 404), auth=auth) as watched:
        for _ in range(3):
            with pytest.raises(ServiceError):
                await watched.client.get("/models")
    assert wallet.skews == [timedelta(), timedelta(seconds=ahead_s), timedelta(seconds=ahead_s)]
    assert told == [timedelta(seconds=ahead_s)]


async def test_a_clock_that_is_right_again_is_told_too() -> None:
    told: list[timedelta] = []
    auth = signing(Wallet(), on_skew=told.append)
    answers = in_turn(dated(100), dated(100), dated(0), dated(2))
    async with Watched(BASE_URL, handler=answers, auth=auth) as watched:
        for _ in range(4):
            await watched.client.get("/models")
    assert told == [timedelta(seconds=100), timedelta()]


@pytest.mark.parametrize(
    "headers",
    [
        {"date": "yesterday"},
        {"date": ""},
        {"date": "Fri, 31 Feb 2026 25:00:00 GMT"},
        {"date": format_datetime(NOW - timedelta(days=4000), usegmt=True)},
        {"date": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"date": format_datetime(NOW - timedelta(hours=2), usegmt=True), "age": "7200"},
        {"date": format_datetime(NOW + timedelta(seconds=4), usegmt=True)},
        {},
    ],
)
async def test_a_date_that_says_nothing_about_the_clock_is_left_alone(headers: dict[str, str]) -> None:
    auth = signing(Wallet())
    handler = in_turn(httpx.Response(200, json={}, headers=headers))
    async with Watched(BASE_URL, handler=handler, auth=auth) as watched:
        await watched.client.get("/models")
    assert auth.skew == timedelta()


@pytest.mark.parametrize("code", ["X402_SIGN_IN_EXPIRED", "X402_SIGN_IN_FUTURE_TIMESTAMP"])
@pytest.mark.parametrize("kind", list(CallKind))
async def test_a_sign_in_refused_for_its_time_is_signed_again_once(code: str, kind: CallKind) -> None:
    wallet = Wallet()
    handler = in_turn(refused(code, 300), dated(300))
    call = Call("POST", "/x", kind, "chat", content=JsonContent({}))
    async with Watched(BASE_URL, handler=handler, auth=signing(wallet)) as watched:
        async with watched.client.fetch(call):
            pass
        assert watched.slept == []
    assert wallet.skews == [timedelta(), timedelta(seconds=300)]
    assert (watched.exchange.outcome, watched.exchange.attempts) == ("ok", 2)


async def test_a_sign_in_is_not_signed_a_third_time() -> None:
    handler = in_turn(*[refused("X402_SIGN_IN_EXPIRED", 300)] * 3)
    async with Watched(BASE_URL, handler=handler, auth=signing(Wallet())) as watched:
        with pytest.raises(AuthenticationFailed) as caught:
            await watched.client.get("/models")
        assert len(watched.requests) == 2
    assert caught.value.code == "X402_SIGN_IN_EXPIRED"


async def test_a_refusal_without_a_code_counts_when_it_set_the_clock_right() -> None:
    wallet = Wallet()
    async with Watched(BASE_URL, handler=in_turn(refused(ahead_s=-120), dated(-120)), auth=signing(wallet)) as watched:
        await watched.client.get("/x402/balance/0x0")
    assert wallet.skews == [timedelta(), timedelta(seconds=-120)]


@pytest.mark.parametrize("code", ["", "X402_SIGN_IN_NONCE_REUSED", "X402_SIGN_IN_DOMAIN_MISMATCH"])
async def test_r_auth_11_any_other_refusal_is_final(code: str) -> None:
    async with Watched(BASE_URL, handler=in_turn(refused(code)), auth=signing(Wallet())) as watched:
        with pytest.raises(AuthenticationFailed):
            await watched.client.get("/models")
        assert len(watched.requests) == 1


async def test_a_key_gets_no_second_chance() -> None:
    error = AuthenticationFailed("x", status=401, code="X402_SIGN_IN_EXPIRED")
    assert not ClockRetry(None).taken(error)
    async with Watched(BASE_URL, handler=in_turn(refused("X402_SIGN_IN_EXPIRED", 300))) as watched:
        with pytest.raises(AuthenticationFailed):
            await watched.client.get("/models")


async def test_a_wallet_that_cannot_sign_sends_nothing_and_says_why() -> None:
    async def locked(skew: timedelta) -> str:
        raise Locked("The wallet is locked.")

    auth = WalletAuth(BASE_URL, "X-Sign-In-With-X", locked, refused_by=(Locked,))
    async with Watched(BASE_URL, handler=in_turn(dated(0)), auth=auth) as watched:
        with pytest.raises(AuthenticationFailed) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        assert watched.requests == []
    assert caught.value.surely_not_sent
    assert (caught.value.message, caught.value.code) == ("The wallet is locked.", "sign_in_refused")
    assert caught.value.__context__ is None


@pytest.mark.parametrize("value", ["", "line\nbreak", "two words", "sch\u00f6n", "nul\x00"])
async def test_a_header_that_cannot_be_sent_is_refused_without_repeating_it(value: str) -> None:
    async def made(skew: timedelta) -> str:
        return value

    async with Watched(BASE_URL, handler=in_turn(dated(0)), auth=WalletAuth(BASE_URL, "X", made)) as watched:
        with pytest.raises(AuthenticationFailed) as caught:
            await watched.client.get("/models")
        assert watched.requests == []
    assert not value or value not in str(caught.value)


async def test_r_auth_10_a_sign_in_is_in_no_record_repr_error_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wallet = Wallet()
    auth = signing(wallet)

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("broke", request=request)

    async with Watched(BASE_URL, handler=broken, auth=auth) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        value = sent(watched)[0]
    assert value is not None
    command = curl_command(watched.exchange.request)
    assert value not in repr([watched.exchange, auth, caught.value, caught.value.__context__]) + command + caplog.text
    assert 'X-Sign-In-With-X: $RIALTO_SIGN_IN"' in command
    assert "Authorization" not in command


async def test_over_a_real_socket_the_header_arrives_once_and_alone() -> None:
    wallet = Wallet()
    async with serving(http(503), http(200, {"data": []})) as loopback:
        auth = WalletAuth(loopback.base_url, "SIGN-IN-WITH-X", wallet)
        async with Watched(loopback.base_url, auth=auth, dialect="venice") as watched:
            await watched.client.get("/models")
    assert [each.headers["sign-in-with-x"] for each in loopback.received] == ["c2lnbi1pbi01", "c2lnbi1pbi02"]
    assert all("authorization" not in each.headers for each in loopback.received)


async def test_calls_at_the_same_time_each_get_a_header_of_their_own() -> None:
    wallet = Wallet()
    async with Watched(BASE_URL, handler=lambda _: dated(0), auth=signing(wallet)) as watched:
        await asyncio.gather(*(watched.client.get("/models") for _ in range(5)))
        assert len(set(sent(watched))) == 5


async def test_a_wallet_has_five_paid_calls_under_way_and_the_next_one_begins_as_one_is_read() -> None:
    async def hold(watched: Watched) -> None:
        async with watched.client.open(PAID):
            await release.wait()

    release = asyncio.Event()
    async with Watched(BASE_URL, handler=lambda _: dated(0), auth=signing(Wallet())) as watched:
        held = [asyncio.create_task(hold(watched)) for _ in range(7)]
        await until(lambda: len(watched.requests) >= WALLET_CALLS_AT_ONCE)
        await watched.client.get("/models")  # costs nothing, so it waits for nobody
        assert [request.method for request in watched.requests] == ["POST"] * WALLET_CALLS_AT_ONCE + ["GET"]
        held[0].cancel()
        await until(lambda: len(watched.requests) == WALLET_CALLS_AT_ONCE + 2)
        release.set()
        await asyncio.gather(*held, return_exceptions=True)
        assert len(watched.requests) == 8


async def test_calls_with_a_key_wait_for_no_place() -> None:
    async with Watched(BASE_URL, handler=lambda _: dated(0), auth=ApiKeyAuth(lambda: asyncio.sleep(0, KEY))) as watched:
        async with AsyncExitStack() as stack:
            for _ in range(WALLET_CALLS_AT_ONCE + 1):
                await stack.enter_async_context(watched.client.open(PAID))
        assert len(watched.requests) == WALLET_CALLS_AT_ONCE + 1


def test_an_auth_says_nothing_about_whoever_signs() -> None:
    assert repr(signing(Wallet())) == "WalletAuth(X-Sign-In-With-X)"
    assert repr(ApiKeyAuth(lambda: asyncio.sleep(0, KEY))) == "ApiKeyAuth()"
