"""Nothing leaves without the key that it needs: every call of the layer, on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.service.auth import ApiKeyAuth, Unlock
from app.service.calls import Call
from app.service.errors import CredentialUnavailable, ServiceError
from app.service.retry import CallKind
from app.service.wallet_auth import WalletAuth
from app.wallet.errors import KeyUnavailable, WalletError
from tests.service.every_call import CALLS, HI, WITHOUT_CREDENTIALS
from tests.service.loopback import DONE, KEY, Watched, delta, event, finish, http, serving, streamed

ANSWER = streamed([event(delta(content="yes")), event(finish()), DONE])


class Keys:
    """A place for one key that is locked, and a person who unlocks it or does not."""

    def __init__(self, *, unlocks: bool = False) -> None:
        self.locked = True
        self.asked = 0
        self._unlocks = unlocks

    async def read(self) -> str:
        if self.locked:
            raise CredentialUnavailable("Your keys are locked.", locked=True)
        return KEY

    async def unlock(self) -> bool:
        self.asked += 1
        self.locked = not self._unlocks
        return self._unlocks


def by_key(keys: Keys, _base_url: str) -> httpx.Auth:
    return ApiKeyAuth(keys.read, keys.unlock)


def by_missing_key(keys: Keys, _base_url: str) -> httpx.Auth:
    async def nothing() -> str:
        return ""

    return ApiKeyAuth(nothing, keys.unlock)


def by_wallet(keys: Keys, base_url: str) -> httpx.Auth:
    async def sign(_skew: object) -> str:
        raise KeyUnavailable("locked", "The wallets are locked.")

    unlock: Unlock = keys.unlock
    return WalletAuth(base_url, "X-Sign-In", sign, refused_by=(WalletError,), unlock=unlock)


@pytest.mark.parametrize("auth", [by_key, by_missing_key, by_wallet])
@pytest.mark.parametrize("call", sorted(set(CALLS) - set(WITHOUT_CREDENTIALS)))
async def test_no_call_sends_anything_without_its_key(
    call: str, auth: Callable[[Keys, str], httpx.Auth], tmp_path: Path
) -> None:
    wav = tmp_path / "a.wav"
    wav.write_bytes(b"RIFF\0\0\0\0WAVE" + b"\0" * 2000)
    keys = Keys()
    async with (
        serving(http(200, {})) as served,
        Watched(served.base_url, auth=auth(keys, served.base_url)) as watched,
    ):
        with pytest.raises(CredentialUnavailable) as refused:
            await CALLS[call](watched.service, wav)
        assert served.received == []
        assert refused.value.surely_not_sent
        assert watched.exchanges == []  # and so there is no receipt of it


async def test_a_message_asks_once_to_unlock_and_goes_on_by_itself() -> None:
    keys = Keys(unlocks=True)
    async with serving(ANSWER) as served, Watched(served.base_url, auth=ApiKeyAuth(keys.read, keys.unlock)) as watched:
        async with watched.service.chat.stream(HI) as steps:
            _ = [step async for step in steps]
        assert keys.asked == 1
        assert [request.headers["authorization"] for request in served.received] == [f"Bearer {KEY}"]
        assert watched.exchange.attempts == 1


async def test_what_nobody_waits_for_does_not_ask_to_unlock() -> None:
    keys = Keys(unlocks=True)
    async with (
        serving(http(200, {"data": []})) as served,
        Watched(served.base_url, auth=ApiKeyAuth(keys.read, keys.unlock)) as watched,
    ):
        with pytest.raises(CredentialUnavailable):
            await watched.service.models.list()
        assert (keys.asked, served.received) == (0, [])


async def test_whoever_would_rather_not_unlock_is_asked_once_and_nothing_is_sent() -> None:
    keys = Keys()
    async with serving(ANSWER) as served, Watched(served.base_url, auth=ApiKeyAuth(keys.read, keys.unlock)) as watched:
        with pytest.raises(CredentialUnavailable):
            await watched.service.chat.complete(HI)
        assert (keys.asked, served.received) == (1, [])


async def test_a_key_that_stays_locked_after_unlocking_is_not_asked_for_again_and_again() -> None:
    keys = Keys()

    async def in_vain() -> bool:
        keys.asked += 1
        return True

    async with serving(ANSWER) as served, Watched(served.base_url, auth=ApiKeyAuth(keys.read, in_vain)) as watched:
        with pytest.raises(CredentialUnavailable):
            await watched.service.chat.complete(HI)
        assert (keys.asked, served.received) == (1, [])


async def test_calls_that_wait_for_the_person_do_not_use_up_the_room_for_refusals() -> None:
    """While the dialog is open, other calls go out: the waiting ones do not count as unanswered."""
    opened, answer = asyncio.Event(), asyncio.Event()

    async def slow() -> bool:
        opened.set()
        await answer.wait()
        return False

    async def refused(watched: Watched) -> None:
        with pytest.raises(ServiceError):
            await watched.service.chat.complete(HI)

    keys = Keys()
    free = Call("GET", "/models", CallKind.READ, "models", authenticated=False)
    async with (
        serving(http(200, {"data": []})) as served,
        Watched(served.base_url, auth=ApiKeyAuth(keys.read, slow)) as watched,
    ):
        async with asyncio.TaskGroup() as group:
            for _ in range(30):
                group.create_task(refused(watched))
            await opened.wait()
            async with watched.client.fetch(free):
                answer.set()
        assert len(served.received) == 1
