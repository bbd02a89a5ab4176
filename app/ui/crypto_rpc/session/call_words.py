"""Requests in the Console's words: titles and second lines of the list, the facts of an answer. No Qt, no state."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from app.core import money
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.crypto_rpc.session.outcomes import items_of
from app.ui.crypto_rpc.state import CallEntry

if TYPE_CHECKING:
    from app.storage.rpc_calls import RpcCall

HTTP_OK = 200
KEPT_A_DAY = "Kept 24 h"  # said of a key that nothing went with yet


def title_of(call: RpcCall) -> str:
    """What was called: the method, or how many calls."""
    items = items_of(call.items)
    if len(items) == 1:
        return str(items[0].get("method", ""))
    return f"{len(items)} calls in a batch"


def entry_of(call: RpcCall, now: datetime) -> CallEntry:
    """One row of the list."""
    badge, tone = _badge(call)
    right = f"{_charged(call)}  {money.moment(call.at, '%H:%M')}".strip()
    return CallEntry(
        call.id,
        day_of(call.at, now),
        title_of(call),
        network_title(call.network),
        right,
        tone,
        badge,
        mono=len(items_of(call.items)) == 1,
        at=call.at,
    )


def _badge(call: RpcCall) -> tuple[str, str]:
    if call.state == "open":
        return "Sending", ""
    if call.state == "unknown":
        return "Unknown", "warn"
    if call.state == "failed":
        return (str(call.status) if call.status else "Not sent"), "bad"
    if call.replayed:
        return "Replay", "replay"
    if call.errors:
        return ("1 error" if call.errors == 1 else f"{call.errors} errors"), "warn"
    return "", ""


def _charged(call: RpcCall) -> str:
    if call.state == "failed":
        return "not charged"
    if call.state == "open":
        return ""
    if call.replayed:
        return "0 cr"
    if call.credits is not None:
        return f"{money.count(call.credits)} cr"
    return f"about {money.count(call.estimate_credits)} cr"


@money.or_dash
def day_of(at: datetime, now: datetime) -> str:
    """The heading that a moment stands under: Today, Yesterday, or the day."""
    day, today = at.astimezone().date(), now.astimezone().date()
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return money.day(at)


def run_title(place: int, call: RpcCall) -> str:
    """One run in the menu of runs."""
    return f"Run {place}: {money.clock(call.at)}, {'replay, 0 cr' if call.replayed else _charged(call) or 'sending'}"


def facts_of(call: RpcCall, first: RpcCall | None) -> tuple[tuple[str, str, str], ...]:
    """Label, value and tone of the line above an answer. `first` is the run that a replay repeats."""
    facts: list[tuple[str, str, str]] = []
    if call.status is not None:
        good = call.status == HTTP_OK
        facts.append(("Status", "200 OK" if good else str(call.status), "ok" if good else "bad"))
    if call.duration_s is not None:
        facts.append(("Time", money.duration(call.duration_s), ""))
    if call.replayed:
        facts.append(("Charged", "0 cr", "ok"))
        if first is not None:
            facts.append(("First run", _charged(first), ""))
            if first.cost_usd is not None:
                facts.append(("Cost", money.money(first.cost_usd), ""))
    elif call.state == "answered":
        facts.append(("Charged", _charged(call), ""))
        if call.cost_usd is not None:
            facts.append(("Cost", money.money(call.cost_usd), ""))
    return tuple(facts)


def key_note(first: RpcCall | None, digest: str, now: datetime) -> tuple[str, str]:
    """What is known of a key: a note, and a sentence when it cannot be used for this request."""
    if first is None or first.key_ends_at is None:
        return KEPT_A_DAY, ""
    left = (first.key_ends_at - now).total_seconds()
    if first.digest == digest:
        return f"Repeats are free for {money.duration(left)}", ""
    sentence = (
        f"This key was used for another request at {money.moment(first.at, '%H:%M')}. The service would "
        f"refuse this one. Create a new key."
    )
    return f"In use for {money.duration(left)}", sentence
