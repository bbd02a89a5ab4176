"""Spending limits: every call that may cost money is checked against them before it is sent.

    "soft day", "hard day"              all accounts together, since midnight
    "soft call", "hard call"            one single call, by what it is expected to cost
    "soft tab speech", …                one tab, since midnight
    "soft account <id>", …              one account, since midnight

A project has a hard limit of its own for everything that is ever spent in it; it is kept with the project. What is
called inside `spending_in` belongs to one.

Past a soft limit the person is asked, once a day for each sum. A hard one stops: the way past it is to change it.
Work in the background is never asked about, it is refused. Play money and real money are two sums, each over all the
accounts that spend it.

Calls that one press makes, like the parts of a long reading or four images, are held against the limits with the sum
of them all before the first one leaves (`call_group`). Agreed to once, they are not asked about again; refused
once, neither.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.core.expected_cost import expected_cost
from app.core.money import money
from app.core.tabs import tab_title
from app.formats import plain
from app.service.errors import SpendingLimit
from app.storage.errors import StorageError
from app.storage.receipt_sums import LocalZone, midnight
from app.storage.receipts import receipt_of
from app.translation import tr

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.calls import Call
    from app.service.models import Model
    from app.storage.receipts import Receipt, Receipts

_log = logging.getLogger(__name__)
Hardness = Literal["soft", "hard"]
LARGEST = Decimal(1_000_000)
ROUNDING = Decimal("0.000001")  # USD: what the parts of something may cost more than the whole of it


class Question(NamedTuple):
    """What is asked before a call that goes past a soft limit."""

    title: str
    text: str


Ask = Callable[[Question], Awaitable[bool]]
PROJECT = "project "  # a scope: the id of a project behind it


class _CallGroup:
    """Calls that belong together. `left` is what those that have not left yet will cost, in USD."""

    def __init__(self, amounts: tuple[Decimal, ...], of: str) -> None:
        self.count = len(amounts)
        self.left = sum(amounts, Decimal(0))
        self.of = of
        self.has_passed = False
        self.refusal: SpendingLimit | None = None
        self.let_go: Callable[[], object] = lambda: None

    def covers(self, expected: Decimal | None) -> bool:
        """Whether a call is one of those that were let pass together."""
        return self.has_passed and expected is not None and expected <= self.left + ROUNDING


_whole: ContextVar[_CallGroup | None] = ContextVar("whole", default=None)
_project: ContextVar[str] = ContextVar("project", default="")


@dataclass(frozen=True, slots=True)
class _PendingCall:
    """A call that left and has no receipt yet."""

    account_id: str
    tab: str
    is_play: bool
    expected: Decimal | None
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class _Breach:
    scope: str
    hardness: Hardness
    limit: Decimal
    before: Decimal  # today's sum, or a project's, without what is asked for; 0 for a single call
    asked: Decimal | None  # what is asked for, None where nobody knows


@contextmanager
def spending_in(project_id: str | None) -> Iterator[None]:
    """Calls made inside belong to a project: they are held against its limit, and their receipts name it."""
    token = _project.set(project_id or "")
    try:
        yield
    finally:
        _project.reset(token)


@contextmanager
def call_group(amounts: Iterable[Decimal | None], of: str) -> Iterator[None]:
    """Say what the calls made inside will cost one by one: the first is held against the limits with the sum of all.

    `of` is what they are called, such as "parts". Where one price is not known, each call stands for itself. So does
    one that costs more than what is left of the sum. Inside another such block this one says nothing new.
    """
    if _whole.get() is not None:
        yield
        return
    told = tuple(amounts)
    known = tuple(amount for amount in told if amount is not None)
    whole = _CallGroup(known, of) if len(known) == len(told) > 1 else None
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
        amount = Decimal(plain(text.strip().strip("$").strip()))
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


class SpendingLimits:
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
        self._open: dict[str, _PendingCall] = {}
        self._agreed: set[tuple[date, str, str]] = set()
        self._turn = asyncio.Lock()

    def start(self, receipts: Receipts) -> None:
        """Take the opened receipts. What leaves before that is held against the single-call limits only."""
        self._receipts = receipts

    def limit(self, hardness: Hardness, scope: str) -> Decimal | None:
        """The limit in USD of "day", "call", "tab speech", "account <id>"; None for none."""
        return read_limit(self._limits().get(f"{hardness} {scope}", ""))

    async def _limit(self, hardness: Hardness, scope: str) -> Decimal | None:
        """The same, of projects too: theirs is read from the disk, so that it is the newest."""
        if not scope.startswith(PROJECT):
            return self.limit(hardness, scope)
        is_known = hardness == "hard" and self._receipts is not None
        return await self._receipts.project_limit(scope.removeprefix(PROJECT)) if is_known and self._receipts else None

    def gate(self, account: Account) -> Callable[[Call, str], Awaitable[Decimal | None]]:
        """Return what the client of one account asks before each call that may cost something."""

        async def check(call: Call, exchange_id: str) -> Decimal | None:
            return await self.check(account, call, exchange_id)

        return check

    async def check(self, account: Account, call: Call, exchange_id: str) -> Decimal | None:
        """Let a call pass, count it as under way, and return what it may cost. Raises `SpendingLimit`.

        Its receipt is on the disk when this returns, so that a crash cannot lose it.
        """
        expected = call.expected_usd if call.expected_usd is not None else expected_cost(call, self._models())
        entry = _PendingCall(account.id, self._tab_of(call.resource), account.is_sandbox, expected, _project.get())
        whole = _whole.get()
        async with self._turn:  # two calls at once would each fit alone
            if whole is None or not whole.covers(expected):
                if whole is not None and whole.refusal is not None:
                    raise copy(whole.refusal)  # one that was raised already carries the traces of that
                first = whole if whole is not None and not whole.has_passed and expected is not None else None
                held = replace(entry, expected=max(first.left, expected or Decimal(0))) if first is not None else entry
                breach = await self._worst(held)
                if breach is not None:
                    await self._ask_or_refuse(breach, first, background=call.background)
            if whole is not None and exchange_id not in self._open:
                self._hold(whole, entry)
            self._open[exchange_id] = entry
        if self._receipts is not None:
            try:
                await self._receipts.add(_open_receipt(entry, call, exchange_id, self._now()))
            except StorageError:  # what the call cost is kept once the disk takes it
                _log.exception("The receipt of a call that leaves could not be kept")
        return expected

    def _hold(self, whole: _CallGroup, leaves: _PendingCall) -> None:
        """Let calls that belong together pass, the first of which leaves: the others count as under way."""
        whole.has_passed = True
        whole.left = max(Decimal(0), whole.left - (leaves.expected or Decimal(0)))
        key = f"whole {id(whole)}"
        self._open[key] = replace(leaves, expected=whole.left)
        whole.let_go = lambda: self._open.pop(key, None)

    def is_under_way(self, exchange_id: str) -> bool:
        """Whether a call that may cost something has left and has no receipt yet."""
        return exchange_id in self._open

    def project_of(self, exchange_id: str) -> str:
        """The project that a call under way belongs to, "" for none."""
        entry = self._open.get(exchange_id)
        return entry.project_id if entry is not None else ""

    def settled(self, exchange_id: str) -> None:
        """The call is over and its receipt is kept, or it never left."""
        self._open.pop(exchange_id, None)

    async def spent(self, scope: str, account: Account) -> Decimal:
        """Today's sum in USD of "day", "tab …" or "account …", calls under way included."""
        return await self._spent(scope, account.id, account.is_sandbox)

    async def _worst(self, entry: _PendingCall) -> _Breach | None:
        """The limit that the call would break: a hard one if there is one. What the person agreed to is none."""
        scopes = ["call", "day", f"tab {entry.tab}", f"account {entry.account_id}"]
        if entry.project_id:
            scopes.append(PROJECT + entry.project_id)
        today = self._now().astimezone().date()
        sums: dict[str, Decimal] = {"call": Decimal(0)}
        for hardness in ("hard", "soft"):
            for scope in scopes:
                limit = await self._limit(hardness, scope)
                if limit is None or (today, hardness, scope) in self._agreed:
                    continue
                if scope not in sums:
                    sums[scope] = await self._spent(scope, entry.account_id, entry.is_play)
                before = sums[scope]
                # a call of unknown price passes until the sum itself has reached the limit
                used_up = entry.expected is None and scope != "call" and before >= limit
                if before + (entry.expected or Decimal(0)) > limit or used_up:
                    return _Breach(scope, hardness, limit, before, entry.expected)
        return None

    async def _spent(self, scope: str, account_id: str, is_play: bool) -> Decimal:
        tab = scope.removeprefix("tab ") if scope.startswith("tab ") else None
        one = account_id if scope.startswith("account ") else None
        project = scope.removeprefix(PROJECT) if scope.startswith(PROJECT) else None
        under_way = sum(
            (
                each.expected or Decimal(0)
                for each in self._open.values()
                if each.is_play == is_play
                and (one is None or each.account_id == one)
                and tab in (None, each.tab)
                and project in (None, each.project_id)
            ),
            Decimal(0),
        )
        if self._receipts is None:
            return under_way
        since = midnight(self._now().astimezone().date(), LocalZone()) if project is None else None
        kept, _ = await self._receipts.spent_since(
            since, account_id=one, tab=tab, project_id=project, charged=not is_play, without=tuple(self._open)
        )  # a receipt that comes meanwhile is of one that was counted above
        return kept + under_way

    async def _ask_or_refuse(self, breach: _Breach, whole: _CallGroup | None, *, background: bool) -> None:
        together = tr("all {count} {of}", count=whole.count, of=whole.of) if whole is not None else ""
        if breach.hardness == "soft" and not background and await self._ask(_question(breach, together)):
            if breach.scope != "call":
                self._agreed.add((self._now().astimezone().date(), breach.hardness, breach.scope))
            return

        rule = _limit_words(breach)
        told = tr("{rule}. {reason} Nothing was sent.", rule=rule, reason=_reason(breach, together))
        error = SpendingLimit(told, rule=rule, scope=breach.scope)
        if whole is not None:
            whole.refusal = error
        raise error


def _open_receipt(entry: _PendingCall, call: Call, exchange_id: str, now: datetime) -> Receipt:
    return receipt_of(
        id=exchange_id,
        at=now,
        account_id=entry.account_id,
        tab=entry.tab,
        endpoint=f"{call.method} {call.path}",
        model=call.model,
        outcome="open",
        units=call.expected_units,
        charged=not entry.is_play,
        estimate_usd=entry.expected,
        project_id=entry.project_id,
    )


def _limit_words(breach: _Breach) -> str:
    """Which limit it is and what is wrong: "Your daily limit of $0.02 is reached"."""
    kind, _, tab = breach.scope.partition(" ")
    whose = {
        "call": tr("limit per request"),
        "day": tr("daily limit"),
        "tab": tr("daily limit for {tab_title}", tab_title=tab_title(tab)),
        "account": tr("daily limit for this account"),
        "project": tr("project limit"),
    }[kind]
    limit = money(breach.limit)
    if breach.before >= breach.limit and kind != "call":
        return tr("You have reached your {whose} of {limit}", whose=whose, limit=limit)
    return tr("This would exceed your {whose} of {limit}", whose=whose, limit=limit)


def _reason(breach: _Breach, together: str) -> str:
    """`together`: "all 3 parts" of what was asked for, "" for a single call."""
    before = money(breach.before)
    is_project = breach.scope.startswith(PROJECT)
    spent = (
        tr("This project has spent {before}.", before=before)
        if is_project
        else tr("You have spent {before} today.", before=before)
    )
    if breach.asked is None:
        return spent
    what = tr("{together} together", together=together.capitalize()) if together else tr("This request")
    price = tr("{what} may cost {asked}.", what=what, asked=money(breach.asked))
    return f"{price} {spent}" if breach.before else price


def _question(breach: _Breach, together: str) -> Question:
    return Question(tr("This would exceed your limit"), f"{_limit_words(breach)}. {_reason(breach, together)}")
