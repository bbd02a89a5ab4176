"""One chat's messages as a tree, and the rows that its chosen branch shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from app.ui.chat.message_rows import MessageRow, ReceiptRun, RowSource, RowState
from app.ui.shared import money
from app.ui.shared.problems import ActionSpec, Problem

if TYPE_CHECKING:
    from app.service.chat_types import Source
    from app.storage.conversations import Message
    from app.ui.chat.live_answer import LiveAnswer

SANDBOX_NOTE = "Sandbox, not charged"
CONTINUE = ActionSpec("continue", "Continue")
START_OVER = ActionSpec("start-over", "Start over")
RETRY = ActionSpec("retry", "Try again")


@dataclass(slots=True)
class Thread:
    """The messages of the open chat. `head_id` is the leaf whose branch is on screen."""

    head_id: str | None = None
    _by_id: dict[str, Message] = field(default_factory=dict)
    _children: dict[str | None, list[str]] = field(default_factory=dict)
    _shown_from: str | None = None  # the head that the next three were made for
    _shown: tuple[Message, ...] | None = None
    _shown_ids: frozenset[str] = frozenset()

    @classmethod
    def of(cls, messages: Iterable[Message], head_id: str | None) -> Thread:
        thread = cls(head_id)
        for message in messages:
            thread.put(message)
        if head_id not in thread._by_id:
            thread.head_id = next(reversed(thread._by_id), None)
        return thread

    def put(self, message: Message) -> None:
        """Add a message, or replace the one with its id."""
        if message.id not in self._by_id:
            self._children.setdefault(message.parent_id, []).append(message.id)
        self._by_id[message.id] = message
        self._shown = None

    def get(self, message_id: str | None) -> Message | None:
        return self._by_id.get(message_id) if message_id is not None else None

    def all(self) -> tuple[Message, ...]:
        """Every message of every branch, oldest first."""
        return tuple(self._by_id.values())

    def path(self, leaf_id: str | None) -> tuple[Message, ...]:
        """From the first turn down to `leaf_id`; () for None."""
        found: list[Message] = []
        message = self.get(leaf_id)
        while message is not None:
            found.append(message)
            message = self.get(message.parent_id)
        return tuple(reversed(found))

    def shown(self) -> tuple[Message, ...]:
        """The branch on screen. Asked for with every piece of text that comes, so it is kept."""
        if self._shown is None or self._shown_from != self.head_id:
            self._shown = self.path(self.head_id)
            self._shown_from = self.head_id
            self._shown_ids = frozenset(message.id for message in self._shown)
        return self._shown

    def is_shown(self, message_id: str) -> bool:
        self.shown()
        return message_id in self._shown_ids

    def place(self, message_id: str) -> tuple[int, int]:
        """Which of how many turns at its place a message is: (2, 3) is the second of three."""
        siblings = self._children[self._by_id[message_id].parent_id]
        return (1, 1) if len(siblings) == 1 else (siblings.index(message_id) + 1, len(siblings))

    def sibling(self, message_id: str, step: int) -> str | None:
        """The turn `step` places to the right among those at the same place, or None at an end."""
        message = self._by_id[message_id]
        siblings = self._children[message.parent_id]
        wanted = siblings.index(message_id) + step
        return siblings[wanted] if 0 <= wanted < len(siblings) else None

    def newest_leaf(self, message_id: str) -> str:
        """The newest turn below `message_id`, itself when it has none: what choosing its branch shows."""
        below = {message_id}
        newest = message_id
        for message in self._by_id.values():  # in the order they were made: parents come before children
            if message.parent_id in below:
                below.add(message.id)
                newest = message.id
        return newest

    def last_of(self, role: str) -> Message | None:
        """The last turn of a role on the branch that is shown."""
        return next((message for message in reversed(self.shown()) if message.role == role), None)


def row_of(
    message: Message,
    thread: Thread,
    *,
    sandbox: bool,
    live: LiveAnswer | None = None,
    problem: Problem | None = None,
    is_last: bool = False,
) -> MessageRow:
    """What the message view shows of a message. `live` is the answer being written into it.

    A person's turn without an answer (`is_last`) can be asked again: the program ended between the two.
    """
    place, places = thread.place(message.id)
    if message.role == "user":
        return MessageRow(
            id=message.id,
            role="user",
            text=message.content,
            actions=("copy", "edit", "retry") if is_last else ("copy", "edit"),
            place=place,
            places=places,
        )
    if live is not None:
        return live_row(message, live, place, places, sandbox=sandbox, problem=problem)
    state = cast("RowState", message.state)
    usage = message.usage
    return MessageRow(
        id=message.id,
        role="assistant",
        text=message.content,
        reasoning=message.reasoning,
        reasoning_s=message.thinking_s,
        reasoning_tokens=_number(usage, "reasoning") or None,
        citations=bool(message.sources) or bool(usage.get("searched")),
        sources=stored_sources(message.sources),
        receipt=receipt_of(message, sandbox),
        state=state,
        state_text=kept_text(message) if state in ("stopped", "interrupted") else "",
        problem=problem or stored_problem(message),
        actions=None if message.content or message.reasoning else (),
        place=place,
        places=places,
    )


def live_row(
    message: Message, live: LiveAnswer, place: int, places: int, *, sandbox: bool, problem: Problem | None = None
) -> MessageRow:
    """The same for an answer that is being written, or that waits for its next try (`problem` says for what)."""
    waits = problem is not None and live.first_token_at is None
    return MessageRow(
        id=message.id,
        role="assistant",
        text=live.text,
        reasoning=live.reasoning,
        reasoning_s=live.thinking_s,
        citations=bool(live.sources) or live.searched,
        sources=live_sources(live.sources),
        receipt=() if waits else live_receipt(live, sandbox),
        state="failed" if waits else "streaming",
        problem=problem,
        actions=() if waits else None,
        place=place,
        places=places,
    )


def live_sources(sources: Iterable[Source]) -> tuple[RowSource, ...]:
    return tuple(RowSource(source.title, source.url, source.content, source.date) for source in sources)


def stored_sources(sources: Iterable[Mapping[str, object]]) -> tuple[RowSource, ...]:
    return tuple(
        RowSource(*(str(source.get(name) or "") for name in ("title", "url", "content", "date"))) for source in sources
    )


def receipt_of(message: Message, sandbox: bool) -> tuple[ReceiptRun, ...]:
    """`$0.0007 · in 812 (512 cached) · out 164 · 61 tok/s · first token 0.8 s · 3.1 s`; () before a first report."""
    usage = message.usage
    if not usage:
        return ()
    free = bool(usage.get("sandbox", sandbox))
    source = str(usage.get("cost_source") or "none")
    runs = [ReceiptRun(_cost_text(message.cost_usd, source, free), icon="receipt")]
    runs += _token_runs(_number(usage, "prompt"), _number(usage, "cached"), _number(usage, "completion"))
    rate, first, took = (usage.get(name) for name in ("tokens_per_s", "first_token_s", "duration_s"))
    if isinstance(rate, (int, float)) and rate > 0:
        runs.append(ReceiptRun(f"{rate:,.0f} tok/s"))
    if isinstance(first, (int, float)):
        runs.append(ReceiptRun(f"first token {money.duration(first)}"))
    if isinstance(took, (int, float)):
        runs.append(ReceiptRun(money.duration(took)))
    return tuple(runs)


def live_receipt(live: LiveAnswer, sandbox: bool) -> tuple[ReceiptRun, ...]:
    """`Writing · 61 tok/s · first token 0.8 s · in 1,284 · out 418 · about $0.0019 so far`."""
    waiting = live.first_token_at is None
    runs = [ReceiptRun("Waiting for the first token" if waiting else "Writing", icon="dot")]
    rate, first = live.tokens_per_s, live.first_token_s
    if rate is not None:
        runs.append(ReceiptRun(f"{rate:,.0f} tok/s"))
    if first is not None:
        runs.append(ReceiptRun(f"first token {money.duration(first)}"))
    runs += _token_runs(live.input_tokens, live.cached_tokens, 0 if waiting else live.output_tokens)
    cost = live.cost_so_far
    if cost is not None and not waiting:
        stated = live.cost_usd is not None
        text = money.money(cost) if stated else f"{money.about(cost)} so far"
        runs.append(ReceiptRun(f"{text}, {SANDBOX_NOTE}" if sandbox else text, "text", strong=True))
    return tuple(runs)


def _token_runs(prompt: int, cached: int, completion: int) -> list[ReceiptRun]:
    runs = []
    if prompt:
        inside = f" ({money.count(cached)} cached)" if cached else ""
        runs.append(ReceiptRun(f"in {money.count(prompt)}{inside}"))
    if completion:
        runs.append(ReceiptRun(f"out {money.count(completion)}"))
    return runs


def _cost_text(cost_usd: Decimal | None, source: str, sandbox: bool) -> str:
    if sandbox:
        return f"{money.cost(cost_usd, source)}, {SANDBOX_NOTE}" if cost_usd is not None else SANDBOX_NOTE
    return money.cost(cost_usd, source)


def kept_text(message: Message) -> str:
    """`418 tokens kept, $0.0019.` beside the note that an answer stopped early."""
    tokens = _number(message.usage, "completion")
    parts = []
    if tokens:
        parts.append(f"{money.count(tokens)} tokens kept")
    elif message.content:
        parts.append("What arrived is kept")
    if message.cost_usd is not None:
        parts.append(money.cost(message.cost_usd, str(message.usage.get("cost_source") or "none")))
    return f"{', '.join(parts)}." if parts else ""


def stored_problem(message: Message) -> Problem | None:
    """The error card of an answer that failed before, or after a restart."""
    if message.state != "failed":
        return None
    what, _, meaning = message.error.partition("\n")
    return Problem(what or "No answer came", meaning, primary=RETRY, severity="warn", icon="warning")


def problem_text(problem: Problem) -> str:
    """How a problem is stored with its message; `stored_problem` reads it."""
    return f"{problem.what}\n{problem.meaning}"


def _number(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
