"""Calls and tokens per minute: the documented limits, the account's own, and waiting for one's turn."""

import asyncio

import pytest

from app.credentials.accounts import LIMIT_CLASSES
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.crypto_rpc import RpcItem
from app.service.documented_limits import LIMITS
from app.service.rate_limiter import WINDOW_S, RateLimiter, text_pace
from app.service.service import open_service
from tests.service.loopback import Watched, answering

ANSWER = {"model": "m", "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]}
HELLO = ChatRequest("m", (ChatMessage("user", "hi"),))


class Turned:
    """A clock that sleeping turns."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


async def test_r_lim_05_r_lim_29_calls_wait_for_their_turn_within_the_minute() -> None:
    turned = Turned()
    pace = RateLimiter({"image": 2}, turned.clock, turned.sleep)
    told: list[float] = []
    for _ in range(5):
        await pace.turn("image", told.append)
        await pace.turn("other", told.append)
        turned.now += 1
    assert told == turned.slept == [WINDOW_S - 2, WINDOW_S - 2, 2 * WINDOW_S - 4]
    turned.now += 200
    await pace.turn("image", told.append)
    assert len(told) == 3
    pace.set("image", 1)
    await pace.turn("image", told.append)
    assert len(told) == 4


async def test_a_turn_given_up_is_free_again() -> None:
    async def given_up(seconds: float) -> None:
        raise asyncio.CancelledError

    pace = RateLimiter({"image": 1}, lambda: 100.0, given_up)
    await pace.turn("image", lambda seconds: None)
    for _ in range(3):
        told: list[float] = []
        with pytest.raises(asyncio.CancelledError):
            await pace.turn("image", told.append)
        assert told == [WINDOW_S]


@pytest.mark.parametrize(
    ("rule", "name", "paid", "partner", "staff"),
    [
        ("R-LIM-05", "image", 20, 60, 20),
        ("R-LIM-06", "audio", 60, 120, 60),
        ("R-LIM-07", "embedding", 500, 500, 500),
        ("R-LIM-08", "video_queue", 40, 40, 40),
        ("R-LIM-09", "video_retrieve", 120, 120, 120),
        ("R-LIM-14", "image", 20, 60, 20),
        ("R-LIM-14", "audio", 60, 120, 60),
        ("R-LIM-14", "embedding", 500, 500, 500),
        ("R-LIM-15, R-RPC-44", "crypto", 90, 90, 900),
    ],
)
async def test_so_many_calls_go_in_a_minute_and_the_next_one_waits(
    rule: str, name: str, paid: int, partner: int, staff: int
) -> None:
    for limit, limit_class in zip((paid, partner, staff), LIMIT_CLASSES, strict=True):
        assert await held_after(limit, RateLimiter(limit_class=limit_class), name), rule


def test_r_lim_16_r_rpc_45_every_class_of_an_account_has_its_documented_limits() -> None:
    assert tuple(LIMITS) == LIMIT_CLASSES
    assert [limits.credits_a_day for limits in LIMITS.values()] == [10_000_000, 10_000_000, 100_000_000]


async def held_after(count: int, pace: RateLimiter, name: str) -> bool:
    """Whether the call after `count` calls is the first that has to wait."""
    turned = Turned()
    pace._clock, pace._sleep = turned.clock, turned.sleep
    told: list[float] = []
    for _ in range(count):
        await pace.turn(name, told.append)
    before = list(told)
    await pace.turn(name, told.append)
    return before == [] and told == [WINDOW_S]


TIERS = [
    ("R-LIM-01", False, 500, 1_000_000),
    ("R-LIM-02", False, 75, 750_000),
    ("R-LIM-03", False, 50, 750_000),
    ("R-LIM-04", False, 20, 500_000),
    ("R-LIM-10", True, 500, 2_000_000),
    ("R-LIM-11", True, 150, 1_500_000),
    ("R-LIM-12", True, 100, 1_500_000),
    ("R-LIM-13", True, 60, 1_000_000),
]


@pytest.mark.parametrize(("rule", "partner", "requests", "tokens"), TIERS)
async def test_the_limits_of_a_text_model_are_those_that_its_answer_told(
    rule: str, partner: bool, requests: int, tokens: int
) -> None:
    told = {"x_ratelimit_limit_requests": str(requests), "x_ratelimit_limit_tokens": str(tokens)}
    async with Watched(handler=answering(ANSWER, **told)) as watched:
        await watched.service.chat.complete(HELLO)
        pace = watched.client.limits.pace
        assert pace._limits[text_pace("m")] == requests, rule
        pace._times.clear()
        assert await held_after(requests, pace, text_pace("m")), rule
        assert await held_by_tokens(tokens, pace, text_pace("m")), rule


async def held_by_tokens(tokens: int, pace: RateLimiter, name: str) -> bool:
    """Whether one token less than `tokens` lets the next call go, and one more holds it for the rest of the minute."""
    turned = Turned()
    pace._clock, pace._sleep = turned.clock, turned.sleep
    pace._times.clear()
    told: list[float] = []
    pace.spend(name, tokens - 1)
    await pace.turn(name, told.append)
    before = list(told)
    turned.now += 20
    pace.spend(name, 1)
    await pace.turn(name, told.append)
    return before == [] and told == [WINDOW_S - 20]


@pytest.mark.parametrize(("limit_class", "tokens"), [("paid", 1_000_000), ("partner", 2_000_000)])
async def test_r_lim_01_r_lim_10_a_model_that_has_told_nothing_has_the_roomiest_limits(
    limit_class: str, tokens: int
) -> None:
    assert await held_after(500, RateLimiter(limit_class=limit_class), text_pace("m"))
    assert await held_by_tokens(tokens, RateLimiter(limit_class=limit_class), text_pace("m"))


async def test_r_lim_29_tokens_of_an_answer_count_for_a_minute() -> None:
    body = {**ANSWER, "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}}
    async with Watched(handler=answering(body, x_ratelimit_limit_requests="20", x_ratelimit_limit_tokens="1000")) as at:
        turned = Turned()
        at.client.limits.pace._clock, at.client.limits.pace._sleep = turned.clock, turned.sleep
        told: list[float] = []
        await at.service.chat.complete(HELLO)
        turned.now += 10
        await at.client.limits.pace.turn(text_pace("m"), told.append)
        await at.client.limits.pace.turn(text_pace("other"), told.append)
        assert told == [WINDOW_S - 10]
        turned.now += WINDOW_S
        await at.client.limits.pace.turn(text_pace("m"), told.append)
        assert len(told) == 1


async def test_r_ep_10_the_list_of_limits_is_kept_to() -> None:
    rows = [{"apiModelId": "m", "rateLimits": [{"amount": 3, "type": "RPM"}, {"amount": 70, "type": "TPM"}]}]
    rows += [{"apiModelId": "n", "rateLimits": [{"amount": 0, "type": "RPM"}]}, {"apiModelId": "o"}]
    async with Watched(handler=answering({"data": {"rateLimits": rows}})) as watched:
        await watched.service.account.rate_limits()
        assert await held_after(3, watched.client.limits.pace, text_pace("m"))
        assert await held_by_tokens(70, watched.client.limits.pace, text_pace("m"))
        assert await held_after(500, watched.client.limits.pace, text_pace("n"))


@pytest.mark.parametrize(("cap", "allowed"), [("100", 90), ("1000", 900)])
async def test_r_rpc_44_r_lim_15_a_tenth_of_the_proxys_cap_is_left_to_other_programs(cap: str, allowed: int) -> None:
    headers = {"x_ratelimit_limit": cap, "x_ratelimit_limit_requests": "5"}
    async with Watched(handler=answering({"id": 1, "result": "0x1"}, **headers)) as watched:
        rpc = watched.service.crypto_rpc
        await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_chainId")]))
        watched.client.limits.pace._times.clear()
        assert await held_after(allowed, watched.client.limits.pace, "crypto")


@pytest.mark.parametrize("told", ["0", "-1", "many", ""])
async def test_limits_that_cannot_be_are_not_taken(told: str) -> None:
    async with Watched(handler=answering(ANSWER, x_ratelimit_limit_requests=told)) as watched:
        await watched.service.chat.complete(HELLO)
        assert text_pace("m") not in watched.client.limits.pace._limits


async def test_an_account_of_a_partner_begins_with_a_partners_limits() -> None:
    service = open_service("https://service.test/v1", "service", None, lambda exchange: None, limit_class="partner")
    assert await held_after(60, (await service.client.key_limits()).pace, "image")
    await service.aclose()
