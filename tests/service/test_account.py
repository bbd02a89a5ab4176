"""Limits, balances, and the check of a key."""

from decimal import Decimal

import httpx
import pytest

from app.service.errors import AuthenticationFailed, BadResponse, NotFound
from tests.service.loopback import Watched, answering

LIMITS = {
    "data": {
        "accessPermitted": True,
        "apiTier": {"id": "paid", "isCharged": True},
        "balances": {"USD": 4.25, "DIEM": 0, "NEW": 3},
        "keyExpiration": None,
        "nextEpochBegins": "2026-03-02T00:00:00Z",
        "rateLimits": [
            {"apiModelId": "glm", "rateLimits": [{"amount": 20, "type": "RPM"}, {"amount": 500000, "type": "TPM"}]},
            {"apiModelId": 7, "rateLimits": None},
        ],
    }
}


async def test_r_ep_10_limits_and_balances_are_read() -> None:
    async with Watched(handler=answering(LIMITS)) as watched:
        limits = await watched.service.account.rate_limits()
        assert watched.requests[0].url.path == "/api/v1/api_keys/rate_limits"
    assert (limits.access_permitted, limits.tier.id, limits.tier.is_charged) == (True, "paid", True)
    assert (limits.balances.usd, limits.balances.diem, limits.balances.bundled) == (Decimal("4.25"), Decimal(0), None)
    assert limits.key_expires_at is None
    assert limits.next_epoch_at is not None
    model = limits.for_model("glm")
    assert model is not None
    assert (model.amount("RPM"), model.amount("RPD")) == (Decimal(20), None)
    assert limits.for_model("absent") is None


async def test_r_auth_11_a_wrong_key_is_told() -> None:
    async with Watched(handler=answering({"error": "Authentication failed"}, 401)) as watched:
        with pytest.raises(AuthenticationFailed):
            await watched.service.account.rate_limits()
        assert len(watched.requests) == 1


@pytest.mark.parametrize("body", [{}, [], {"data": []}])
async def test_something_else_is_a_bad_answer(body: object) -> None:
    async with Watched(handler=answering(body)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.account.rate_limits()


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [
        ("service", "/api/v1/api_keys/rate_limit_logs", "/api/v1/api_keys/rate_limits/log"),
        ("venice", "/api/v1/api_keys/rate_limits/log", "/api/v1/api_keys/rate_limit_logs"),
    ],
)
async def test_r_ep_11_the_other_path_is_tried_once_and_remembered(dialect: str, first: str, second: str) -> None:
    hit = {"apiKeyId": "1", "modelId": "m", "rateLimitTier": "paid", "rateLimitType": "RPM", "timestamp": "odd"}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == first:
            return httpx.Response(404, json={"error": "no such path"})
        return httpx.Response(200, json={"data": [hit], "object": "list"})

    async with Watched(handler=answer, dialect=dialect) as watched:
        (log,) = await watched.service.account.limit_log()
        assert (log.model_id, log.limit_type, log.at) == ("m", "RPM", None)
        await watched.service.account.limit_log()
        assert [request.url.path for request in watched.requests] == [first, second, second]
    async with Watched(handler=answering({"error": "x"}, 404), dialect=dialect) as watched:
        with pytest.raises(NotFound):
            await watched.service.account.limit_log()
