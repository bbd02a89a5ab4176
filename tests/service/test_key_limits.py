"""One failure budget, one pace and one memory of limits for each key and host, whichever client calls with it."""

import asyncio
import pickle
from itertools import pairwise

import pytest

from app.service.account import RateLimits
from app.service.chat_types import ChatMessage, ChatRequest, RetryWait
from app.service.errors import AuthenticationFailed, ConnectionFailed, NotFound, RateLimited, ServerFailed
from app.service.key_limits import LONGEST_HOLD_S, LimitsRegistry
from app.service.retry import FailureBudget
from tests.service.loopback import KEY, Loopback, Received, Watched, http, serving

LIMITS = {"data": {"accessPermitted": True, "balances": {"USD": "5"}}}

REFUSED = http(429, {"error": "Rate limit exceeded"}, retry_after="600")
ANSWER = http(200, {"model": "m", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})


def standing_still() -> float:
    return 1000.0


async def until_held(budget: FailureBudget) -> None:
    async with asyncio.timeout(60):
        while not budget.state.holding:
            await asyncio.sleep(0.01)


async def test_r_err_12_two_clients_with_one_key_are_held_before_the_twentieth_refusal() -> None:
    registry = LimitsRegistry(standing_still)
    async with (
        serving(http(503, b"")) as service,
        Watched(service.base_url, registry=registry) as in_use,
        Watched(service.base_url, registry=registry) as checked,
    ):
        asking = [asyncio.ensure_future(each.client.get("/models")) for each in (in_use, checked) * 5]
        await until_held(in_use.budget)
        assert in_use.budget is checked.budget
        assert len(service.received) == FailureBudget.HOLD_AT
        for each in asking:
            each.cancel()
        await asyncio.wait(asking)


async def test_r_lim_28_going_to_and_fro_between_accounts_makes_no_new_budget() -> None:
    registry = LimitsRegistry(standing_still)
    async with serving(http(503, b"")) as service:
        for failures in (4, 8, 12):
            async with Watched(service.base_url, registry=registry) as account:
                with pytest.raises(ServerFailed):
                    await account.client.get("/models")
                assert account.budget.state.failures == failures


async def test_another_key_and_another_host_have_budgets_of_their_own() -> None:
    registry = LimitsRegistry()
    one = registry.of("https://one.test/v1", KEY)
    assert registry.of("https://ONE.test/other", KEY) is one
    assert registry.of("https://one.test/v1", KEY + "x") is not one
    assert registry.of("https://two.test/v1", KEY) is not one
    assert registry.of("https://one.test:8443/v1", KEY) is not one


async def test_the_registry_keeps_no_key() -> None:
    registry = LimitsRegistry()
    registry.of("https://one.test/v1", KEY)
    assert KEY.encode() not in pickle.dumps([registry._secret, list(registry._known)])


async def test_a_client_that_comes_later_hears_that_its_key_is_held() -> None:
    registry = LimitsRegistry()
    limits = registry.of("https://one.test/v1", KEY)
    limits.budget.block()
    heard: list[bool] = []
    limits.budget.listen(lambda state: heard.append(state.holding))
    assert heard == [True]
    limits.budget.close()


async def test_r_err_11_a_429_holds_background_reads_for_five_minutes_and_what_a_person_presses_never() -> None:
    """One answer that says "tomorrow" must not stop every list until then: only a call that passes clears a limit."""
    refused = http(429, {"error": "Rate limit exceeded"}, retry_after="86400")
    async with serving(refused, refused, http(200, {})) as service, Watched(service.base_url) as at:
        for sent in (1, 2):
            with pytest.raises(RateLimited) as told:
                await at.client.get("/models")
            assert not told.value.surely_not_sent
            assert len(service.received) == sent
        for path in ("/models", "/characters"):
            with pytest.raises(RateLimited) as told:
                await at.client.get(path, background=True)
            assert told.value.surely_not_sent
            assert told.value.retry_after_s == pytest.approx(LONGEST_HOLD_S, abs=5)
        assert len(service.received) == 2
        at.ahead_s += LONGEST_HOLD_S
        await at.client.get("/characters", background=True)
        assert len(service.received) == 3


async def test_a_read_waits_for_the_end_of_a_short_limit_that_another_read_met() -> None:
    async with serving(http(200, {})) as service, Watched(service.base_url) as at:
        at.client.limits.met("", 40)
        await at.client.get("/models")
        assert at.slept == [pytest.approx(40, abs=1)]
        with pytest.raises(RateLimited):
            at.client.limits.met("", 40)
            await at.client.get("/models", background=True)
        assert len(service.received) == 1


async def test_a_limit_of_one_text_model_binds_that_model_alone() -> None:
    async with serving(REFUSED, ANSWER) as service, Watched(service.base_url) as at:
        with pytest.raises(RateLimited):
            await at.service.chat.complete(hello("large"))
        await at.service.chat.complete(hello("small"))
        await at.client.get("/models")
        assert at.slept == []
        at.client.limits.met("text:large", 30)  # it is a shorter one now
        assert at.client.limits.resets_in_s("text:large") > 250
        at.client.limits.passed("text:large")
        at.client.limits.met("text:large", 30)
        waits: list[RetryWait] = []
        await at.service.chat.complete(hello("large"), on_wait=waits.append)
        assert [each.reason for each in waits] == ["rate_limit"]
        assert len(service.received) == 4


async def test_an_answer_ends_what_was_said_of_a_limit() -> None:
    async with serving(REFUSED, ANSWER) as service, Watched(service.base_url) as at:
        with pytest.raises(RateLimited):
            await at.service.chat.complete(hello("m"))
        await at.service.chat.complete(hello("m"))  # a person's own decision: too long to wait for
        assert at.client.limits.resets_in_s("text:m") == 0
        assert len(service.received) == 2


async def test_r_ep_10_who_asks_for_limits_while_somebody_asks_gets_the_same_answer() -> None:
    registry = LimitsRegistry()
    async with (
        serving(http(200, LIMITS)) as service,
        Watched(service.base_url, registry=registry) as one,
        Watched(service.base_url, registry=registry) as other,
    ):
        asked = [each.service.account.rate_limits(background=True) for each in (one, other) * 4]
        assert len({str(each.balances.usd) for each in await asyncio.gather(*asked)}) == 1
        assert len(service.received) == 1
        await one.service.account.rate_limits()
        assert len(service.received) == 2


async def test_a_check_is_never_answered_by_a_call_of_another_address() -> None:
    """Two accounts with one key, at two paths of one host: the second address does not exist."""
    registry = LimitsRegistry()

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        good = "/good/" in received.target
        writer.write(http(200 if good else 404, LIMITS if good else {"error": "Not found"}))

    async with (
        serving(answer) as service,
        Watched(f"{service.base_url}/good", registry=registry) as good,
        Watched(f"{service.base_url}/bad", registry=registry) as bad,
    ):
        assert good.client.limits is bad.client.limits
        for background in (False, True):
            results = await asyncio.gather(
                good.service.account.rate_limits(background=background),
                bad.service.account.rate_limits(background=background),
                return_exceptions=True,
            )
            assert [type(each) for each in results] == [RateLimits, NotFound]


async def test_a_person_is_never_answered_by_a_background_call() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(_received: Received, writer: asyncio.StreamWriter) -> None:
        begun.set()
        await ended.wait()
        writer.write(http(401, {"error": "revoked"}))

    async with serving(slow, http(200, LIMITS)) as service, Watched(service.base_url) as at:
        watcher = asyncio.ensure_future(at.service.account.rate_limits(background=True))
        await begun.wait()
        assert (await at.service.account.rate_limits()).balances.usd == 5
        ended.set()
        with pytest.raises(AuthenticationFailed):
            await watcher


async def test_when_the_one_who_asks_gives_up_the_next_one_asks() -> None:
    begun = asyncio.Event()

    async def silent(_received: Received, _writer: asyncio.StreamWriter) -> None:
        begun.set()
        await asyncio.sleep(3600)

    async with serving(silent, http(200, LIMITS)) as service, Watched(service.base_url) as at:
        first = asyncio.ensure_future(at.service.account.rate_limits())
        await begun.wait()
        second = asyncio.ensure_future(at.service.account.rate_limits())
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).balances.usd == 5


async def test_what_was_tried_once_in_the_background_is_tried_in_earnest_for_a_person() -> None:
    begun = asyncio.Event()

    async def away(_received: Received, writer: asyncio.StreamWriter) -> None:
        begun.set()
        await asyncio.sleep(0.2)
        writer.close()

    async with serving(away, http(200, LIMITS)) as service, Watched(service.base_url) as at:
        watcher = asyncio.ensure_future(at.service.account.rate_limits(background=True))
        await begun.wait()
        assert (await at.service.account.rate_limits()).balances.usd == 5
        with pytest.raises(ConnectionFailed):
            await watcher


async def hang_up(_received: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def asked_each_second(at: Watched, service: Loopback, seconds: int) -> list[int]:
    """The seconds at which a question that is asked every second reached the service."""
    sent: list[int] = []
    for second in range(seconds):
        before = len(service.received)
        with pytest.raises(ConnectionFailed):
            await at.service.account.rate_limits(background=True)
        if len(service.received) > before:
            sent.append(second)
        at.ahead_s += 1
    return sent


async def test_a_service_out_of_reach_is_asked_in_the_background_in_ever_longer_gaps() -> None:
    async with serving(hang_up) as service, Watched(service.base_url) as at:
        sent = await asked_each_second(at, service, 120)
        gaps = [later - earlier for earlier, later in pairwise(sent)]
        assert gaps == sorted(gaps)
        assert len(service.received) == len(sent) <= 9
        service.replies[:] = [http(200, LIMITS)]
        await at.service.account.rate_limits()  # a person asks
        await at.service.account.rate_limits(background=True)
        assert at.reached[-1] == ""


async def test_no_wait_of_a_call_is_shorter_than_the_one_before() -> None:
    asks_for_7_s = http(503, b"", retry_after="7")
    replies = (asks_for_7_s, http(500, b""), http(500, b""), http(200, {}))
    async with serving(*replies) as service, Watched(service.base_url) as at:
        await at.client.get("/models")
        assert at.slept == [7.0, 7.0, 7.0]


def hello(model: str) -> ChatRequest:
    return ChatRequest(model, (ChatMessage("user", "Hello"),))
