"""Requests and tokens per minute, default and partner: rules R-LIM."""

from pathlib import Path

import pytest

from app.sandbox.http.limits import DEFAULT, RateLimits, allowance
from tests.sandbox.support import NOON, Client, running

TIERS = {"XS": "rialto-plain", "S": "rialto-think-tags", "M": "rialto-reasoning", "L": "rialto-search"}


@pytest.mark.parametrize(
    ("rule", "tier", "requests", "tokens"),
    [
        ("R-LIM-01", "XS", 500, 1_000_000),
        ("R-LIM-02", "S", 75, 750_000),
        ("R-LIM-03", "M", 50, 750_000),
        ("R-LIM-04", "L", 20, 500_000),
    ],
)
def test_R_LIM_01_R_LIM_02_R_LIM_03_R_LIM_04_the_tier_of_a_model_stands_in_the_headers(
    sandbox: Client, rule: str, tier: str, requests: int, tokens: int
) -> None:
    headers = sandbox.chat_raw("hello", model=TIERS[tier]).headers
    assert int(headers["x-ratelimit-limit-requests"]) == requests, rule
    assert int(headers["x-ratelimit-remaining-requests"]) == requests - 1
    assert int(headers["x-ratelimit-limit-tokens"]) == tokens


@pytest.mark.parametrize(
    ("rule", "tier", "requests", "tokens"),
    [
        ("R-LIM-10", "XS", 500, 2_000_000),
        ("R-LIM-11", "S", 150, 1_500_000),
        ("R-LIM-12", "M", 100, 1_500_000),
        ("R-LIM-13", "L", 60, 1_000_000),
    ],
)
def test_R_LIM_10_R_LIM_11_R_LIM_12_R_LIM_13_partners_have_more(
    tmp_path: Path, rule: str, tier: str, requests: int, tokens: int
) -> None:
    with running(tmp_path, partner=True) as sandbox:
        headers = sandbox.chat_raw("hello", model=TIERS[tier]).headers
    assert (int(headers["x-ratelimit-limit-requests"]), int(headers["x-ratelimit-limit-tokens"])) == (
        requests,
        tokens,
    ), rule


@pytest.mark.parametrize(
    ("rule", "name", "default", "partner"),
    [
        ("R-LIM-05, R-LIM-14", "image", 20, 60),
        ("R-LIM-06, R-LIM-14", "audio", 60, 120),
        ("R-LIM-07, R-LIM-14", "embedding", 500, 500),
        ("R-LIM-08", "video_queue", 40, 40),
        ("R-LIM-09", "video_retrieve", 120, 120),
    ],
)
def test_so_many_calls_of_a_class_go_in_a_minute_and_no_more(rule: str, name: str, default: int, partner: int) -> None:
    for is_partner, allowed in ((False, default), (True, partner)):
        limits, figures = RateLimits(), allowance(name, partner=is_partner)
        answers = [limits.admit(name, figures, NOON + n / 1000).exceeded for n in range(allowed + 1)]
        assert answers == [None] * allowed + ["RPM"], rule
        assert limits.admit(name, figures, NOON + 60).exceeded is None


def test_R_LIM_29_the_21st_request_of_a_minute_is_refused_until_the_next_window(sandbox: Client) -> None:
    statuses = [sandbox.chat_raw("hello", model="rialto-search").status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    answer = sandbox.chat_raw("hello", model="rialto-search")
    assert answer.headers["x-ratelimit-remaining-requests"] == "0"
    assert answer.headers["x-ratelimit-type"] == "api_key"
    assert answer.headers["retry-after"] == "60"
    assert int(answer.headers["x-ratelimit-reset-requests"]) == 1_795_608_060
    assert sandbox.chat_raw("hello").status_code == 200, "another model has a window of its own"
    sandbox.turn_clock(60)
    assert sandbox.chat_raw("hello", model="rialto-search").status_code == 200


def test_used_up_tokens_are_refused_too() -> None:
    limits, allowed = RateLimits(), DEFAULT["L"]
    assert limits.admit("rialto-search", allowed, NOON).exceeded is None
    limits.use_tokens("rialto-search", 500_000, NOON + 1)
    refused = limits.admit("rialto-search", allowed, NOON + 2)
    assert (refused.exceeded, refused.headers()["x-ratelimit-remaining-tokens"]) == ("TPM", "0")
    assert limits.admit("rialto-search", allowed, NOON + 60).exceeded is None


def test_a_refusal_is_in_the_log_of_the_key(sandbox: Client) -> None:
    for _ in range(21):
        sandbox.chat_raw("hello", model="rialto-search")
    (line,) = sandbox.get("/api_keys/rate_limit_logs").json()["data"]
    assert (line["modelId"], line["rateLimitTier"], line["rateLimitType"]) == ("rialto-search", "L", "RPM")
    assert line["timestamp"] == "2026-11-25T12:00:00.000Z"
    assert set(line) == {"apiKeyId", "modelId", "rateLimitTier", "rateLimitType", "timestamp"}


def test_R_NS_09_the_list_of_limits_agrees_with_the_headers(sandbox: Client) -> None:
    data = sandbox.get("/api_keys/rate_limits").json()["data"]
    amounts = {
        entry["apiModelId"]: {limit["type"]: limit["amount"] for limit in entry["rateLimits"]}
        for entry in data["rateLimits"]
    }
    assert amounts["rialto-search"] == {"RPM": 20, "TPM": 500_000}
    assert data["balances"] == {"USD": 100.0, "DIEM": 0.0}
    assert data["apiTier"] == {"id": "paid", "isCharged": True}
    assert data["nextEpochBegins"] == "2026-11-26T00:00:00.000Z"
    assert data["keyExpiration"] is None
