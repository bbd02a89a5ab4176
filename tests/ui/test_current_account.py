"""What every tab may know about who we call as."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import NoReturn

import pytest

from app.core.account_switch import AccountSwitch
from app.core.current_account import CurrentAccount, RateLimitRemaining
from app.core.receipt_recorder import ReceiptRecorder
from app.credentials.accounts import Account
from app.service.errors import ConnectionFailed
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until


def account(kind: str = "api_key") -> Account:
    return Account("a1", "Main account", "https://api.example.com/v1", kind=kind)  # type: ignore[arg-type]  # a Kind


def test_another_account_forgets_the_numbers_of_the_one_before(qapp) -> None:
    current_account = CurrentAccount()
    current_account.use(account(), None)
    current_account.set_numbers(balance=Decimal("18.42"), latency_ms=84, headroom=RateLimitRemaining(68, 75))
    told: list[str] = []
    current_account.account_changed.connect(lambda: told.append("account"))
    current_account.numbers_changed.connect(lambda: told.append("numbers"))
    current_account.use(account("sandbox"), None)
    assert (current_account.balance, current_account.latency_ms, current_account.headroom) == (None, None, None)
    assert current_account.is_sandbox
    assert told == ["account", "numbers"]


def test_numbers_that_are_not_news_are_not_told(qapp) -> None:
    current_account = CurrentAccount()
    told: list[None] = []
    current_account.numbers_changed.connect(lambda: told.append(None))
    current_account.set_numbers(balance=Decimal("1"))
    current_account.set_numbers(balance=Decimal("1"))
    current_account.set_numbers()
    assert len(told) == 1


async def test_an_account_has_its_name_while_its_service_opens(qapp, tasks: CheckedTasks) -> None:
    class Starting:
        key = "k"
        released = asyncio.Event()

        async def start_and_tell(self) -> str:
            await self.released.wait()
            raise OSError("No port is free.")

    def never() -> NoReturn:
        raise AssertionError

    current_account, sandbox = CurrentAccount(), Starting()
    recorder = ReceiptRecorder(current_account, tasks)
    switch = AccountSwitch(current_account, recorder, never, sandbox, lambda _account, _address: never())
    tasks.start_unless_running("use", switch.use, account("sandbox"))
    await until(lambda: current_account.is_sandbox)
    assert current_account.service is None
    sandbox.released.set()
    await tasks.idle()


async def test_an_account_that_is_left_by_way_of_another_is_closed(
    qapp, tasks: CheckedTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Starting:
        key, asked = "k", asyncio.Event()

        async def start_and_tell(self) -> str:
            self.asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    class Keys:
        async def api_key(self, account_id: str) -> str:
            return f"key-{account_id}"

    async def read_no_limits(_switch: AccountSwitch) -> None:
        """Nobody answers there."""

    monkeypatch.setattr(AccountSwitch, "read_limits", read_no_limits)
    current_account, sandbox = CurrentAccount(), Starting()
    recorder = ReceiptRecorder(current_account, tasks)
    switch = AccountSwitch(current_account, recorder, Keys, sandbox, lambda _account, _address: None)
    first, last = (Account(each, each, "http://127.0.0.1:1/v1", kind="api_key") for each in ("a1", "a2"))
    await switch.use(first)
    left = current_account.service
    tasks.replace("account", switch.use, account("sandbox"))
    await sandbox.asked.wait()
    tasks.replace("account", switch.use, last)
    await tasks.idle()
    assert current_account.account == last
    with pytest.raises(ConnectionFailed) as caught:
        await left.models.list()
    assert caught.value.code == "closed"
    await switch.aclose()


def test_nobody_is_not_the_sandbox(qapp) -> None:
    current_account = CurrentAccount()
    assert not current_account.is_sandbox
    assert current_account.host == ""


def test_things_of_another_account_are_marked_with_its_name(qapp) -> None:
    current_account = CurrentAccount()
    current_account.names = {"box": "Sandbox", "a1": "Main account"}.__getitem__
    assert current_account.mark_of("box") == "", "nobody is in use"
    current_account.use(account(), None)
    assert (current_account.mark_of("box"), current_account.mark_of("a1"), current_account.mark_of("")) == (
        "Sandbox",
        "",
        "",
    )


async def test_a_sandbox_that_ended_starts_again_for_the_next_call(qapp, tasks: CheckedTasks) -> None:
    class Ending:
        key, starts = "", 0

        async def start_and_tell(self) -> str:
            if not self.key:
                self.starts += 1
                self.key = f"k{self.starts}"
            return f"http://127.0.0.1:{self.starts}/v1"

    current_account, sandbox = CurrentAccount(), Ending()
    recorder = ReceiptRecorder(current_account, tasks)
    switch = AccountSwitch(current_account, recorder, lambda: None, sandbox, lambda _account, _address: None)
    await switch.use(account("sandbox"))
    before = current_account.service
    sandbox.key = ""
    with pytest.raises(ConnectionFailed, match="running again") as caught:
        await before.models.list()
    assert caught.value.surely_not_sent
    assert (sandbox.starts, sandbox.key) == (2, "k2")
    assert current_account.service is not before
    await switch.aclose()
    await tasks.idle()
