"""The account's API keys: listed, made once, revoked."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from app.service.api_keys import ApiKey, KeyTerms
from app.service.errors import AdminKeyRequired, LimitExceeded, OutcomeUnknown
from tests.service.loopback import Watched, answering

ROW = {"id": "k1", "apiKeyType": "ADMIN", "description": "Main", "last6Chars": "abc123", "createdAt": None}


async def test_keys_are_read_as_far_as_they_are_told() -> None:
    rows = [{**ROW, "consumptionLimits": {"usd": 5}, "usage": {"trailingSevenDays": {"usd": "1.25"}}}, {"id": "k2"}]
    async with Watched(handler=answering({"object": "list", "data": rows})) as watched:
        first, second = await watched.service.api_keys.list_all()
    assert (first.kind, first.last_chars, first.limits.usd, first.spent.week.usd) == (
        *("ADMIN", "abc123"),
        *(Decimal(5), Decimal("1.25")),
    )
    assert (second.id, second.expires_at, second.limits.usd) == ("k2", None, None)


async def test_a_new_key_is_told_once_and_shown_nowhere() -> None:
    body = {"success": True, "data": {**ROW, "apiKey": "secret-key", "consumptionLimit": {}}}
    async with Watched(handler=answering(body)) as watched:
        made = await watched.service.api_keys.make("ADMIN", KeyTerms("Main", "2031-01-31"))
        sent = json.loads(watched.requests[0].content)
    assert sent == {"apiKeyType": "ADMIN", "description": "Main", "expiresAt": "2031-01-31"}
    assert made.secret.get_secret_value() == "secret-key"
    assert "secret-key" not in repr(made)


async def test_a_key_that_was_made_and_not_told_is_said_to_be_unknown_and_never_asked_for_again() -> None:
    async with Watched(handler=answering({"success": True, "data": {"id": "k1"}})) as watched:
        with pytest.raises(OutcomeUnknown):
            await watched.service.api_keys.make("INFERENCE", KeyTerms("Main"))
        assert len(watched.requests) == 1


@pytest.mark.parametrize("name", ["", "x" * 65])
async def test_a_name_that_does_not_fit_is_refused_before_it_is_sent(name: str) -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded):
            await watched.service.api_keys.make("INFERENCE", KeyTerms(name))
        assert watched.requests == []


async def test_r_key_01_r_key_02_only_what_differs_is_sent_and_under_the_name_for_writing() -> None:
    row = {**ROW, "consumptionLimits": {"usd": 5, "diem": None}, "limitPeriod": "MONTH", "modelPrivacy": "ALL"}
    async with Watched(handler=answering({"success": True, "data": row})) as watched:
        key = ApiKey.model_validate(row)
        assert key.terms == KeyTerms("Main", usd=Decimal(5), period="MONTH")
        await watched.service.api_keys.change(key, key.terms)
        assert watched.requests == [], "nothing differs"
        await watched.service.api_keys.change(key, replace(key.terms, usd=Decimal("7.25")))
        await watched.service.api_keys.change(key, replace(key.terms, usd=None, privacy="PRIVATE_ONLY"))
        await watched.service.api_keys.change(key, replace(key.terms, expires_on="2031-01-31", period="EPOCH"))
    assert {request.method for request in watched.requests} == {"PATCH"}
    assert [json.loads(request.content) for request in watched.requests] == [
        {"id": "k1", "consumptionLimit": {"usd": 7.25, "diem": None}},
        {"id": "k1", "consumptionLimit": {"usd": None, "diem": None}, "modelPrivacy": "PRIVATE_ONLY"},
        {"id": "k1", "expiresAt": "2031-01-31", "limitPeriod": "EPOCH"},
    ]


@pytest.mark.parametrize("most", [Decimal(-1), Decimal(10_000_000_000), Decimal("NaN")])
async def test_a_limit_that_the_service_would_refuse_is_not_sent(most: Decimal) -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded):
            await watched.service.api_keys.make("INFERENCE", KeyTerms("Main", usd=most))
        assert watched.requests == []


async def test_a_key_is_revoked_by_its_id() -> None:
    async with Watched(handler=answering({"success": True})) as watched:
        await watched.service.api_keys.revoke("k1")
        assert (watched.requests[0].method, watched.requests[0].url.query) == ("DELETE", b"id=k1")


async def test_a_key_that_may_not_see_the_others_is_told_so() -> None:
    async with Watched(handler=answering({"error": "needs an admin key"}, 401)) as watched:
        with pytest.raises(AdminKeyRequired):
            await watched.service.api_keys.list_all()
