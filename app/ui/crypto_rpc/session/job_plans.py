"""Work of several requests that is agreed on before it begins: what it does, and the most it can cost.

A plan is made from what stands in a dialog; what does not fit is named in a sentence, and then there is no plan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from app.core import money
from app.formats import format_number
from app.service.crypto_rpc import MAX_BATCH_ITEMS
from app.service.rpc_methods import STATE_CHANGING, USD_PER_CREDIT, call_credits, family_of
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.log_ranges import BlockRange, cut
from app.wallet.addresses import read_evm_address
from app.wallet.errors import WalletError
from app.wallet.quantities import read_quantity

MAX_REQUESTS = 10_000
MAX_ADDRESSES, MAX_TOKENS = 2_000, 20
LEAST_PAUSE_S, MOST_PAUSE_S = 2, 86_400
_SEPARATORS = re.compile(r"[\s,;]+")


class NoPlan(ValueError):
    """What is written makes no plan; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`requests` and `credits` are the most that the work may take; it ends before it would take more."""

    title: str
    requests: int
    credits: int
    stops_when_hidden: bool = False

    @property
    def price(self) -> str:
        low, high = (self.credits * each for each in USD_PER_CREDIT)
        words = tr_n(
            "{n} request, {credits} credits",
            "{n} requests, {credits} credits",
            self.requests,
            credits=format_number(self.credits),
        )
        usd = tr("{low} to {high}", low=money.money(Decimal(low)), high=money.money(Decimal(high)))
        return tr("At most {words}, {usd}. Stops there, or when you press Stop.", words=words, usd=usd)


@dataclass(frozen=True, slots=True)
class LogPlan(Plan):
    """`last` None: up to the newest block, which is asked first."""

    network: str = ""
    asked: Mapping[str, object] = field(default_factory=dict)  # address and topics
    first: int = 0
    last: int | None = None
    most_blocks: int = 1


@dataclass(frozen=True, slots=True)
class SheetPlan(Plan):
    network: str = ""
    addresses: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchPlan(Plan):
    networks: tuple[str, ...] = ()
    pause_s: int = 12
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class RepeatPlan(Plan):
    network: str = ""
    rows: tuple[CallRow, ...] = ()
    batch: bool = False
    pause_s: int = 12
    rounds: int = 1


def log_plan(
    network: str, asked: Mapping[str, object], first: str, last: str, most_blocks: str, requests: str
) -> LogPlan:
    """Raises `NoPlan`."""
    start = _number(tr("First block"), first, 0)
    newest = last.strip().lower() in ("", "latest")
    end = None if newest else _number(tr("Last block"), last, 0)
    if end is not None and end < start:
        raise NoPlan(tr("The last block is before the first."))
    step = _number(tr("Blocks per request"), most_blocks, 1)
    budget = _number(tr("Maximum requests"), requests, 1, MAX_REQUESTS)
    if end is not None:
        needed = len(cut(BlockRange(start, end), step)) if (end - start) // step < MAX_REQUESTS else MAX_REQUESTS + 1
        if needed > budget:
            raise NoPlan(
                tr(
                    "This takes at least {needed} requests. Raise the maximum, or the blocks per request.",
                    needed=format_number(needed),
                )
            )
    credits = call_credits(network, "eth_getLogs") * budget
    kept = {name: value for name, value in asked.items() if name not in ("fromBlock", "toBlock", "blockHash")}
    return LogPlan(tr("Searching logs"), budget, credits, False, network, kept, start, end, step)


def sheet_plan(network: str, addresses: str, tokens: str) -> SheetPlan:
    """Raises `NoPlan`."""
    owners = _addresses("addresses", addresses, MAX_ADDRESSES)
    if not owners:
        raise NoPlan(tr("Enter at least one address."))
    contracts = _addresses("tokens", tokens, MAX_TOKENS)
    calls = len(owners) * (1 + len(contracts)) + 2 * len(contracts)
    price = len(owners) * call_credits(network, "eth_getBalance")
    price += (calls - len(owners)) * call_credits(network, "eth_call")
    requests = -(-calls // MAX_BATCH_ITEMS)
    return SheetPlan(tr("Reading balances"), requests, price, False, network, owners, contracts)


def watch_plan(networks: Sequence[str], pause: str, rounds: str) -> WatchPlan:
    """Raises `NoPlan`."""
    if not networks:
        raise NoPlan(tr("Choose at least one network."))
    wait = _number(tr("Interval in seconds"), pause, LEAST_PAUSE_S, MOST_PAUSE_S)
    times = _number(tr("Number of rounds"), rounds, 1, MAX_REQUESTS)
    credits = times * sum(call_credits(each, HEAD_METHODS[family_of(each)]) for each in networks)
    return WatchPlan(tr("Watching chain heads"), times * len(networks), credits, True, tuple(networks), wait, times)


def repeat_plan(network: str, rows: tuple[CallRow, ...], batch: bool, pause: str, rounds: str) -> RepeatPlan:
    """Raises `NoPlan`."""
    changing = [row.method for row in rows if row.method in STATE_CHANGING]
    if changing:
        raise NoPlan(tr("{changing} changes the blockchain and is never repeated.", changing=changing[0]))
    if not rows:
        raise NoPlan(tr("Nothing to repeat yet."))
    wait = _number(tr("Interval in seconds"), pause, LEAST_PAUSE_S, MOST_PAUSE_S)
    times = _number(tr("Number of times"), rounds, 1, MAX_REQUESTS)
    credits = times * sum(call_credits(network, row.method) for row in rows)
    return RepeatPlan(tr("Repeating the request"), times, credits, True, network, rows, batch, wait, times)


HEAD_METHODS = {"evm": "eth_getBlockByNumber", "starknet": "starknet_blockNumber", "solana": "getSlot"}


def head_row(network: str) -> CallRow:
    """The call that asks for a network's newest block."""
    method = HEAD_METHODS[family_of(network)]
    return CallRow(1, method, ["latest", False] if method == "eth_getBlockByNumber" else [])


def _number(what: str, text: str, least: int, most: int | None = None) -> int:
    if not text.strip():
        raise NoPlan(tr("{what}: enter a number.", what=what))
    try:
        number = read_quantity(text)
    except WalletError as error:
        raise NoPlan(f"{what}: {error.sentence}") from None
    if number < least:
        raise NoPlan(tr("{what} must be at least {least}.", what=what, least=format_number(least)))
    if most is not None and number > most:
        raise NoPlan(tr("{what} must be at most {most}.", what=what, most=format_number(most)))
    return number


def _addresses(what: str, text: str, most: int) -> tuple[str, ...]:
    words = [word for word in _SEPARATORS.split(text) if word]
    found: dict[str, None] = {}
    for word in words:
        try:
            found.setdefault(read_evm_address(word))
        except WalletError as error:
            raise NoPlan(f"“{word[:50]}”: {error.sentence}") from None
    if len(found) > most:
        raise NoPlan(
            tr(
                "Up to {most} {what} are allowed. You entered {count}.",
                most=format_number(most),
                what=what,
                count=format_number(len(found)),
            )
        )
    return tuple(found)
