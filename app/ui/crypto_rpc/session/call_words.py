"""Requests in the Console's words: titles and second lines of the list, the facts of an answer. No Qt, no state."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money, number_format, time_format
from app.core.number_format import credits_text
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.crypto_rpc.session.outcomes import items_of
from app.ui.crypto_rpc.session.tracking import outcome_words
from app.ui.crypto_rpc.state import CallEntry

if TYPE_CHECKING:
    from app.storage.rpc_calls import Rounds, RpcCall
    from app.ui.crypto_rpc.session.decoding import Interfaces

HTTP_OK = 200
KEPT_A_DAY = tr("Kept 24 h")  # said of a key that nothing went with yet


def title_of(call: RpcCall, interfaces: Interfaces) -> str:
    """What was called: a contract's function or the method, or how many calls."""
    items = items_of(call.items)
    if len(items) == 1:
        return interfaces.function(items[0]) or str(items[0].get("method", ""))
    return tr("{count} calls in a batch", count=len(items))


def entry_of(
    call: RpcCall, now: datetime, interfaces: Interfaces, mark: str = "", rounds: Rounds | None = None
) -> CallEntry:
    """One row of the list; `mark` names its account where that is not the one in use. `rounds`: of a job's request."""
    badge, tone = outcome_words(call)
    if not badge:
        badge, tone = _badge(call)
    charged, at, times = _charged(call), call.at, ""
    if rounds is not None and rounds.requests > 1:
        badge, tone = _errors(rounds.errors)
        charged, at = credits_text(rounds.credits), rounds.last_at
        times = tr_n("{n} time", "{n} times", rounds.requests)
    right = f"{charged}  {time_format.time_of_day(at)}".strip()
    return CallEntry(
        call.id,
        day_of(call.at, now),
        title_of(call, interfaces),
        " · ".join(words for words in (network_title(call.network), times, mark) if words),
        right,
        tone,
        badge,
        mono=len(items_of(call.items)) == 1,
        at=call.at,
    )


def _badge(call: RpcCall) -> tuple[str, str]:
    if call.state == "open":
        return tr("Sending"), ""
    if call.state == "unknown":
        return tr("Unknown"), "warn"
    if call.state == "failed":
        return (str(call.status) if call.status else tr("Not sent")), "bad"
    if call.replayed:
        return tr("Replay"), "replay"
    return _errors(call.errors)


def _errors(errors: int) -> tuple[str, str]:
    return (tr_n("{n} error", "{n} errors", errors), "warn") if errors else ("", "")


def _charged(call: RpcCall) -> str:
    if call.state == "failed":
        return tr("not charged")
    if call.state == "open":
        return ""
    if call.replayed:
        return credits_text(0)
    if call.credits is not None:
        return credits_text(call.credits)
    return tr("about {estimate_credits} cr", estimate_credits=number_format.count(call.estimate_credits))


@number_format.or_dash
def day_of(at: datetime, now: datetime) -> str:
    """The heading that a moment stands under: Today, Yesterday, or the day."""
    day, today = at.astimezone().date(), now.astimezone().date()
    if day == today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    return time_format.day(at)


def run_title(place: int, call: RpcCall) -> str:
    """One run in the menu of runs."""
    return tr(
        "Run {place}: {at}, {charged}",
        place=place,
        at=time_format.clock(call.at),
        charged=tr("replay, 0 cr") if call.replayed else _charged(call) or tr("sending"),
    )


def facts_of(call: RpcCall, first: RpcCall | None) -> tuple[tuple[str, str, str], ...]:
    """Label, value and tone of the line above an answer. `first` is the run that a replay repeats."""
    facts: list[tuple[str, str, str]] = []
    if call.status is not None:
        good = call.status == HTTP_OK
        facts.append((tr("Status"), "200 OK" if good else str(call.status), "ok" if good else "bad"))
    if call.attempts > 1:
        facts.append((tr("Tries"), number_format.count(call.attempts), "warn"))
    if call.duration_s is not None:
        facts.append((tr("Time"), time_format.duration(call.duration_s), ""))
    if call.replayed:
        facts.append((tr("Charged"), credits_text(0), "ok"))
        if first is not None:
            facts.append((tr("First run"), _charged(first), ""))
        facts.append((tr("Cost"), money.money(Decimal(0)), "ok"))
    elif call.state == "answered":
        facts.append((tr("Charged"), _charged(call), ""))
        if call.cost_usd is not None:
            facts.append((tr("Cost"), money.money(call.cost_usd), ""))
    return tuple(facts)


def key_note(first: RpcCall | None, digest: str, now: datetime) -> tuple[str, str]:
    """What is known of a key: a note, and a sentence when it cannot be used for this request."""
    if first is None or first.key_ends_at is None:
        return KEPT_A_DAY, ""
    left = (first.key_ends_at - now).total_seconds()
    left -= left % 3600 if left >= 3600 else 0  # whole hours: beside the key there is room for no more
    if first.digest == digest:
        return tr("Repeats are free for {left}", left=time_format.duration(left)), ""
    sentence = tr(
        "This key was used for another request at {at}. The service would refuse this one. Create a new key.",
        at=time_format.time_of_day(first.at),
    )
    return tr("In use for another {left}", left=time_format.duration(left)), sentence
