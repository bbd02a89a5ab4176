"""The one gate for money: before any call that may cost something leaves, in every tab, it is held against the limits.

    "soft day", "hard day"              all accounts together, since midnight
    "soft call", "hard call"            one single call, by what it is expected to cost
    "soft tab speech", …                one tab, since midnight
    "soft account <id>", …              one account, since midnight

Past a soft limit the person is asked, once a day for each sum; past a hard one they are asked every time, and the usual
answer is no. Work in the background is never asked about, it is refused. Play money is counted for itself.

Calls that one press makes one after the other, like the parts of a long reading, are held against the limits with the
sum of them all before the first one leaves (`expecting_together`). Agreed to once, they are not asked about again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.ui.shared.expected_cost import expected_cost
from app.ui.shared.money import money

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.calls import Call
    from app.service.models import Model
    from app.storage.receipts import Receipts

Hardness = Literal["soft", "hard"]
LARGEST = Decimal(1_000_000)
ROUNDING = Decimal("0.000001")  # USD: what the parts of something may cost more than the whole of it
_expected: ContextVar[Decimal | None] = ContextVar("expected", default=None)


class Question(NamedTuple):
    """What is asked before a call that goes past a limit."""

    title: str
    text: str
    is_hard: bool


Ask = Callable[[Question], Awaitable[bool]]


class _Whole:
    """Calls that belong together. `left` is what those that have not left yet will cost, in USD."""

    def __init__(self, amounts: tuple[Decimal, ...], of: str) -> None:
        self.count = len(amounts)
        self.left = sum(amounts, Decimal(0))
        self.of = of
        self.has_passed = False
        self.let_go: Callable[[], object] = lambda: None

    def covers(self, expected: Decimal | None) -> bool:
        """Whether a call is one of those that were let pass together."""
        return self.has_passed and expected is not None and expected <= self.left + ROUNDING


_whole: ContextVar[_Whole | None] = ContextVar("whole", default=None)


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that left and has no receipt yet."""

    account_id: str
    tab: str
    is_play: bool
    expected: Decimal | None


@dataclass(frozen=True, slots=True)
class _Breach:
    scope: str
    hardness: Hardness
    limit: Decimal
    would_be: Decimal


@contextmanager
def expecting(amount: Decimal | None) -> Iterator[None]:
    """Say what the calls made inside are expected to cost, for a tab that knows better than the price list."""
    token = _expected.set(amount)
    try:
        yield
    finally:
        _expected.reset(token)


@contextmanager
def expecting_together(amounts: Iterable[Decimal | None], of: str) -> Iterator[None]:
    """Say what the calls made inside will cost one by one: the first is held against the limits with the sum of all.

    `of` is what they are called, such as "parts". Where one price is not known, each call stands for itself. So does
    one that costs more than what is left of the sum. Inside another such block this one says nothing new.
    """
    if _whole.get() is not None:
        yield
        return
    told = tuple(amounts)
    known = tuple(amount for amount in told if amount is not None)
    whole = _Whole(known, of) if len(known) == len(told) > 1 else None
    token = _whole.set(whole)
    try:
        yield
    finally:
        _whole.reset(token)
        if whole is not None:
            whole.let_go()


def read_limit(text: str) -> Decimal | None:
    """Return an amount in USD as somebody typed it or the settings keep it; None for none or for what is no amount."""
    try:
        amount = Decimal(text.strip().lstrip("$").replace(",", ""))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= LARGEST else None


def with_limit(limits: Mapping[str, str], key: str, text: str) -> dict[str, str] | None:
    """Return the limits with one of them as typed, without it for empty text; None for what is no amount."""
    amount = read_limit(text)
    if text.strip() and amount is None:
        return None
    changed = {name: value for name, value in limits.items() if name != key}
    if amount is not None:
        changed[key] = f"{amount:f}"
    return changed


class Budget:
    """Knows the limits, what was spent and what is under way. `ask` puts a question to the person."""

    def __init__(
        self,
        limits: Callable[[], Mapping[str, str]],
        models: Callable[[], tuple[Model, ...]],
        ask: Ask,
        tab_of: Callable[[str], str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._limits = limits
        self._models = models
        self._ask = ask
        self._tab_of = tab_of
        self._now = now
        self._receipts: Receipts | None = None
        self._open: dict[str, _Open] = {}
        self._agreed: set[tuple[date, str, str]] = set()
        self._turn = asyncio.Lock()

    def start(self, receipts: Receipts) -> None:
        """Take the opened receipts. What leaves before that is held against the single-call limits only."""
        self._receipts = receipts

    def limit(self, hardness: Hardness, scope: str) -> Decimal | None:
        """The limit in USD of "day", "call", "tab speech", "account <id>"; None for none."""
        return read_limit(self._limits().get(f"{hardness} {scope}", ""))

    def gate(self, account: Account) -> Callable[[Call, str], Awaitable[None]]:
        """Return what the client of one account asks before each call that may cost something."""

        async def check(call: Call, exchange_id: str) -> None:
            await self.check(account, call, exchange_id)

        return check

    async def check(self, account: Account, call: Call, exchange_id: str) -> None:
        """Let a call pass, and count it as under way. Raises `LimitExceeded` when it must not leave."""
        told = _expected.get()
        expected = told if told is not None else expected_cost(call, self._models())
        entry = _Open(account.id, self._tab_of(call.resource), account.is_sandbox, expected)
        whole = _whole.get()
        async with self._turn:  # two calls at once would each fit alone
            if whole is None or not whole.covers(expected):
                first = whole if whole is not None and not whole.has_passed and expected is not None else None
                held = replace(entry, expected=max(first.left, expected or Decimal(0))) if first is not None else entry
                breach = await self._worst(held)
                if breach is not None:
                    await self._settle(breach, first, background=call.background)
            if whole is not None and exchange_id not in self._open:
                self._hold(whole, entry)
            self._open[exchange_id] = entry

    def _hold(self, whole: _Whole, leaves: _Open) -> None:
        """Let calls that belong together pass, the first of which leaves: the others count as under way."""
        whole.has_passed = True
        whole.left = max(Decimal(0), whole.left - (leaves.expected or Decimal(0)))
        key = f"whole {id(whole)}"
        self._open[key] = replace(leaves, expected=whole.left)
        whole.let_go = lambda: self._open.pop(key, None)

    def expected(self, exchange_id: str) -> Decimal | None:
        """What a call under way is expected to cost."""
        entry = self._open.get(exchange_id)
        return entry.expected if entry is not None else None

    def settled(self, exchange_id: str) -> None:
        """The call is over and its receipt is kept."""
        self._open.pop(exchange_id, None)

    async def spent(self, scope: str, account: Account) -> Decimal:
        """Today's sum in USD of "day", "tab …" or "account …", calls under way included."""
        return await self._spent(scope, account.id, account.is_sandbox)

    async def _worst(self, entry: _Open) -> _Breach | None:
        """The limit that the call would break: a hard one if there is one. What the person agreed to is none."""
        scopes = ("call", "day", f"tab {entry.tab}", f"account {entry.account_id}")
        today = self._now().astimezone().date()
        sums: dict[str, Decimal] = {}
        for hardness in ("hard", "soft"):
            for scope in scopes:
                limit = self.limit(hardness, scope)
                if limit is None or (today, hardness, scope) in self._agreed:
                    continue
                if scope not in sums:
                    before = (
                        Decimal(0) if scope == "call" else await self._spent(scope, entry.account_id, entry.is_play)
                    )
                    sums[scope] = before + (entry.expected or Decimal(0))
                # a call of unknown price passes until the sum itself has reached the limit
                used_up = entry.expected is None and scope != "call" and sums[scope] >= limit
                if sums[scope] > limit or used_up:
                    return _Breach(scope, hardness, limit, sums[scope])
        return None

    async def _spent(self, scope: str, account_id: str, is_play: bool) -> Decimal:
        tab = scope.removeprefix("tab ") if scope.startswith("tab ") else None
        one = account_id if scope.startswith("account ") or is_play else None
        under_way = sum(
            (
                each.expected or Decimal(0)
                for each in self._open.values()
                if each.is_play == is_play and (one is None or each.account_id == one) and tab in (None, each.tab)
            ),
            Decimal(0),
        )
        if self._receipts is None:
            return under_way
        midnight = self._now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        kept = await self._receipts.spent_since(midnight, account_id=one, tab=tab, charged_only=not is_play)
        return kept + under_way

    async def _settle(self, breach: _Breach, whole: _Whole | None, *, background: bool) -> None:
        from app.service.errors import LimitExceeded

        is_hard = breach.hardness == "hard"
        fact = _fact(breach, f"all {whole.count} {whole.of}" if whole is not None else "")
        if not background and await self._ask(Question(_title(breach), fact, is_hard)):
            if not is_hard and breach.scope != "call":
                self._agreed.add((self._now().astimezone().date(), breach.hardness, breach.scope))
            return
        error = LimitExceeded(f"{fact} Nothing was sent.", field="budget", limit=f"{breach.limit:f}")
        error.code = "budget"
        raise error


def _title(breach: _Breach) -> str:
    return "This goes past your hard limit" if breach.hardness == "hard" else "This goes past your limit"


def _fact(breach: _Breach, together: str) -> str:
    """`together`: "all 3 parts" of what was asked for, "" for a single call."""
    limit = money(breach.limit)
    if breach.scope == "call":
        what = f"{together.capitalize()} together" if together else "This call"
        return f"{what} may cost {money(breach.would_be)}; your limit for a single call is {limit}."
    whose = {"day": "all accounts", "tab": "this tab", "account": "this account"}[breach.scope.partition(" ")[0]]
    total = money(breach.would_be)
    return f"With {together or 'it'}, today would come to {total}; your limit a day for {whose} is {limit}."
