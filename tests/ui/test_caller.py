"""What every tab may know about who we call as."""

from __future__ import annotations

from decimal import Decimal

from app.core.caller import Caller, Headroom
from app.credentials.accounts import Account


def account(kind: str = "api_key") -> Account:
    return Account("a1", "Main account", "https://api.example.com/v1", kind=kind)  # type: ignore[arg-type]  # a Kind


def test_another_account_forgets_the_numbers_of_the_one_before(qapp) -> None:
    caller = Caller()
    caller.use(account(), None)
    caller.set_numbers(balance=Decimal("18.42"), latency_ms=84, headroom=Headroom(68, 75))
    told: list[str] = []
    caller.account_changed.connect(lambda: told.append("account"))
    caller.numbers_changed.connect(lambda: told.append("numbers"))
    caller.use(account("sandbox"), None)
    assert (caller.balance, caller.latency_ms, caller.headroom) == (None, None, None)
    assert caller.is_sandbox
    assert told == ["account", "numbers"]


def test_numbers_that_are_not_news_are_not_told(qapp) -> None:
    caller = Caller()
    told: list[None] = []
    caller.numbers_changed.connect(lambda: told.append(None))
    caller.set_numbers(balance=Decimal("1"))
    caller.set_numbers(balance=Decimal("1"))
    caller.set_numbers()
    assert len(told) == 1


def test_nobody_is_not_the_sandbox(qapp) -> None:
    caller = Caller()
    assert not caller.is_sandbox
    assert caller.host == ""
