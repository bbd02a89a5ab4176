"""Whoever asks is told after each try whether the service could be reached, and what was in the way."""

import httpx
import pytest

from app.service.errors import ConnectionFailed, ServiceError
from app.service.retry import CallKind
from tests.service.loopback import Watched


async def test_every_try_that_reaches_nobody_is_told_and_so_is_the_first_that_does() -> None:
    tries = iter((httpx.ConnectError("no route"), httpx.ConnectTimeout("slow"), httpx.Response(200, json={"ok": 1})))

    def handler(_request: httpx.Request) -> httpx.Response:
        told = next(tries)
        if isinstance(told, Exception):
            raise told
        return told

    async with Watched(handler=handler) as watched:
        assert await watched.client.get("/models") == {"ok": 1}
        assert watched.reached == ["network", "timeout", ""]


async def test_a_refusal_is_an_answer() -> None:
    async with Watched(handler=lambda _request: httpx.Response(401, json={"error": "no"})) as watched:
        with pytest.raises(ServiceError):
            await watched.client.get("/models")
        assert set(watched.reached) == {""}


async def test_another_host_says_nothing_about_the_service() -> None:
    def handler(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("gone")

    async with Watched(handler=handler) as watched:
        with pytest.raises(ConnectionFailed):
            await watched.client.post_json("https://elsewhere.test/film", {}, kind=CallKind.PAID)
        assert watched.reached == []
