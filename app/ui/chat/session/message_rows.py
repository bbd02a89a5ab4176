"""What the message view shows of a message: its text, its receipt, what went wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from app.core import money, number_format, time_format
from app.core.problems import ActionSpec, Problem
from app.formats import format_number, written
from app.service.http.sanitize import sanitize_text
from app.storage.chat_rows import IMPORTED_SEAL
from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import attachments_of
from app.ui.chat.session.answer_notes import CONTENT_FILTER, EDIT, OTHER_MODEL, note_of_ending
from app.ui.chat.session.tool_calls import answers_after, calls_in
from app.ui.conversation.rows import MessageRow, ReceiptRun, RowAttachment, RowCall, RowSource, RowState
from app.ui.kit.markdown.citations import has_markers
from app.ui.kit.markdown.tail import cut_off

if TYPE_CHECKING:
    from app.service.chat_types import Source
    from app.storage.attachment_files import AttachmentFiles
    from app.storage.chat_rows import Message
    from app.ui.chat.session.live_answer import LiveAnswer
    from app.ui.chat.session.message_tree import MessageTree

RETRY = ActionSpec("retry", tr("Try again"))
EDITED = "edited"  # in a message's `extra`: the person wrote this answer
SPEAK_NOW = ("speak",)  # what an answer that is still being written can do, from its first whole sentence on
CUT_OFF = ("stopped", "interrupted", "failed")  # states in which a text may end anywhere


def row_of(
    message: Message,
    thread: MessageTree,
    *,
    sandbox: bool,
    live: LiveAnswer | None = None,
    problem: Problem | None = None,
    is_last: bool = False,
    files: AttachmentFiles | None = None,
    name_of: Callable[[str], str] = str,
    now: datetime | None = None,
) -> MessageRow:
    """What the message view shows of a message. `live` is the answer being written into it.

    `name_of` gives the name of a model for its id; `now` is what "today" in a byline means, left out the present.

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
            attachments=row_attachments(message, files),
        )
    if message.role == "tool":
        return MessageRow(
            id=message.id,
            role="tool",
            text=message.content,
            caption=tr("Your result for {extra}", extra=message.extra.get("name") or tr("the function")),
            actions=("copy", "edit"),
            place=place,
            places=places,
        )
    if live is not None:
        row = live_row(message, live, place, places, sandbox=sandbox, problem=problem)
        if live.searched and not live.sources:  # marks count the results, which come first in the list
            return row
        return replace(row, sources=row.sources + cited_passages(message, thread))
    state = cast("RowState", message.state)
    usage = message.usage
    # A crash keeps the text of an answer alone.
    citations = bool(message.sources) or bool(usage.get("searched")) or has_markers(message.content)
    return MessageRow(
        id=message.id,
        role="assistant",
        text=cut_off(message.content, citations=citations) if state in CUT_OFF else message.content,
        reasoning=message.reasoning,
        reasoning_s=message.thinking_s,
        reasoning_tokens=_number(usage, "reasoning") or None,
        citations=citations,
        sources=stored_sources(message.sources) + cited_passages(message, thread),
        receipt=receipt_of(message, sandbox),
        byline=byline_of(message, thread.answer_before(message.id), name_of, now),
        moment=moment_of(message),
        state=state,
        state_text=kept_text(message) if state in ("stopped", "interrupted") else "",
        problem=problem or stored_problem(message) or ended_note(message),
        actions=None if message.content or message.reasoning or message.extra else (),
        place=place,
        places=places,
        calls=answered_calls(message, thread),
        structured="structured" in usage,
        schema_violation=str(usage.get("structured") or ""),
    )


def byline_of(
    message: Message, before: Message | None, name_of: Callable[[str], str], now: datetime | None = None
) -> tuple[ReceiptRun, ...]:
    """`Qwen 3 · 14:02`: the model and the time of an answer, each when it differs from those of the one `before`."""
    if not (message.content or message.reasoning):
        return ()
    runs = []
    if message.extra.get(EDITED) is True:
        runs.append(ReceiptRun(tr("Edited by you"), icon="pencil"))
    elif message.model and (before is None or before.model != message.model):
        runs.append(ReceiptRun(name_of(message.model)))
    told = _told(message, now)
    if told and (before is None or _told(before, now) != told):
        runs.append(ReceiptRun(told, spare=True))
    return tuple(runs)


def _told(message: Message, now: datetime | None) -> str:
    """The clock time of a message, with its day unless that is today; "" for one that is not known."""
    at = message.created_at
    if at.year <= 1970:  # what a message has that came without one
        return ""
    same_day = at.astimezone().date() == (now or datetime.now(UTC)).astimezone().date()
    clock = time_format.time_of_day(at)
    return clock if same_day else f"{time_format.day(at)} {clock}"


def moment_of(message: Message) -> str:
    """The full date and time of a message, "" for one that is not known."""
    at = message.created_at
    return (
        f"{written(at.astimezone(), 'dddd')}, {time_format.day(at)} {time_format.clock(at)}" if at.year > 1970 else ""
    )


def answered_calls(message: Message, thread: MessageTree) -> tuple[RowCall, ...]:
    """The functions that an answer asks for, with what of them is answered on the branch that is shown."""
    calls = calls_in(message) if message.extra else ()
    if not calls:
        return ()
    branch = thread.shown()
    place = next((number for number, each in enumerate(branch) if each.id == message.id), None)
    given = answers_after(branch, place) if place is not None else {}
    return tuple(replace(call, answered=call.id in given) for call in calls)


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
        actions=() if waits else SPEAK_NOW if live.has_sentence else None,
        place=place,
        places=places,
    )


def row_attachments(message: Message, files: AttachmentFiles | None) -> tuple[RowAttachment, ...]:
    """What was attached to a turn; where the bytes are is told, not whether they still are."""
    return tuple(
        RowAttachment(
            each.kind,
            sanitize_text(each.name),
            sanitize_text(each.detail),
            str(files.path(each.sha256)) if files is not None and each.sha256 else "",
            each.width,
            each.height,
            each.place is not None,
        )
        for each in attachments_of(message.attachments)
    )


def cited_passages(message: Message, thread: MessageTree) -> tuple[RowSource, ...]:
    """The passages of documents that went along with the question of an answer."""
    question = thread.get(message.parent_id)
    while question is not None and question.role != "user":
        question = thread.get(question.parent_id)
    if question is None or not question.attachments:
        return ()
    return tuple(
        RowSource(sanitize_text(each.name), "", passage=(question.id, place))
        for place, each in enumerate(attachments_of(question.attachments))
        if each.place is not None
    )


def live_sources(sources: Iterable[Source]) -> tuple[RowSource, ...]:
    return tuple(RowSource(source.title, source.url, source.content, source.date) for source in sources)


def stored_sources(sources: Iterable[Mapping[str, object]]) -> tuple[RowSource, ...]:
    told = (
        tuple(sanitize_text(str(source.get(name) or "")) for name in ("title", "url", "content", "date"))
        for source in sources
    )
    return tuple(RowSource(title, url, content, date) for title, url, content, date in told)


def receipt_of(message: Message, sandbox: bool) -> tuple[ReceiptRun, ...]:
    """`$0.0007 · in 812 (512 cached) · out 164 · 61 tok/s · first token 0.8 s · 3.1 s`; () before a first report."""
    usage = message.usage
    if not usage:
        return ()
    free = bool(usage.get("sandbox", sandbox))
    source = str(usage.get("cost_source") or "none")
    runs = [ReceiptRun(_cost_text(message.cost_usd, source, free), icon="receipt")]
    runs += _token_runs(_number(usage, "prompt"), _number(usage, "cached"), _number(usage, "completion"))
    runs += _seal_runs(str(usage.get("seal") or ""))
    rate, first, took = (usage.get(name) for name in ("tokens_per_s", "first_token_s", "duration_s"))
    if isinstance(rate, (int, float)) and rate > 0:
        runs.append(ReceiptRun(tr("{rate} tok/s", rate=format_number(rate, 0)), spare=True))
    if isinstance(first, (int, float)):
        runs.append(ReceiptRun(tr("first token {first}", first=time_format.duration(first)), spare=True))
    if isinstance(took, (int, float)):
        runs.append(ReceiptRun(time_format.duration(took)))
    return tuple(runs)


# What came of a sealed answer's receipt → its words. Only the first means that the bytes are proved.
_RECEIPTS = {
    "bound": tr("receipt matches"),
    "signed": tr("signed by the enclave, not comparable"),
    "foreign": tr("receipt signed by another key"),
    "failed": tr("receipt cannot be read"),
    "none": tr("no receipt"),
    "asked": tr("no receipt yet"),
}


def _seal_runs(seal: str) -> list[ReceiptRun]:
    """`Sealed · receipt matches`; nothing for an open answer."""
    if not seal:
        return []
    if seal == "broken":
        return [ReceiptRun(tr("Seal broken"), "bad", strong=True, icon="warning")]
    if seal == IMPORTED_SEAL:
        return [ReceiptRun(tr("Imported, seal not checked"))]
    said = _RECEIPTS.get(seal)
    return [ReceiptRun(tr("Sealed"), icon="lock"), *([ReceiptRun(said)] if said else [])]


def live_receipt(live: LiveAnswer, sandbox: bool) -> tuple[ReceiptRun, ...]:
    """`Writing · 61 tok/s · first token 0.8 s · in 1,284 · out 418 · about $0.0019 so far`."""
    waiting = live.first_token_at is None
    state = tr("Waiting for the first token") if waiting else tr("Thinking") if live.is_thinking else tr("Writing")
    runs = [ReceiptRun(state, icon="dot")]
    rate, first = live.tokens_per_s, live.first_token_s
    if rate is not None:
        runs.append(ReceiptRun(tr("{rate} tok/s", rate=format_number(rate, 0))))
    if first is not None:
        runs.append(ReceiptRun(tr("first token {first}", first=time_format.duration(first))))
    runs += _token_runs(live.input_tokens, live.cached_tokens, 0 if waiting else live.output_tokens)
    cost = live.cost_so_far
    if cost is not None and not waiting:
        stated = live.cost_usd is not None
        text = money.money(cost) if stated else tr("{cost} so far", cost=money.about(cost))
        runs.append(ReceiptRun(f"{text}, {money.PLAY_MONEY}" if sandbox else text, "text", strong=True))
    return tuple(runs)


def _token_runs(prompt: int, cached: int, completion: int) -> list[ReceiptRun]:
    runs = []
    if prompt:
        taken = number_format.count(prompt)
        runs.append(
            ReceiptRun(
                tr("in {prompt} ({cached} cached)", prompt=taken, cached=number_format.count(cached))
                if cached
                else tr("in {prompt}", prompt=taken)
            )
        )
    if completion:
        runs.append(ReceiptRun(tr("out {completion}", completion=number_format.count(completion))))
    return runs


def _cost_text(cost_usd: Decimal | None, source: str, sandbox: bool) -> str:
    if sandbox:
        return f"{money.cost(cost_usd, source)}, {money.PLAY_MONEY}" if cost_usd is not None else money.PLAY_MONEY
    return money.cost(cost_usd, source)


def kept_text(message: Message) -> str:
    """`The model is at capacity. 418 tokens kept, $0.0019.` beside the note that an answer stopped early."""
    said = message.error.partition("\n")[2]
    tokens = _number(message.usage, "completion")
    parts = []
    if tokens:
        parts.append(tr_n("{n} token saved", "{n} tokens saved", tokens))
    elif message.content:
        parts.append(tr("The part that arrived is saved"))
    if message.cost_usd is not None:
        parts.append(money.cost(message.cost_usd, str(message.usage.get("cost_source") or "none")))
    return f"{said} {', '.join(parts)}{'.' if parts else ''}".strip()


def stored_problem(message: Message) -> Problem | None:
    """The error card of an answer that failed before, or after a restart."""
    if message.state != "failed":
        return None
    what, _, meaning = message.error.partition("\n")
    if message.usage.get("finish_reason") == CONTENT_FILTER:  # the same request would be stopped again
        return Problem(what, meaning, primary=EDIT, alternative=OTHER_MODEL, severity="warn", icon="shield")
    return Problem(what or tr("No answer"), meaning, primary=RETRY, severity="warn", icon="warning")


def ended_note(message: Message) -> Problem | None:
    """What is said of an answer that ended in its own way, such as at its length limit."""
    if message.state != "complete":
        return None
    said = message.error.partition("\n")[2]
    return note_of_ending(message.usage, has_words=bool(message.content or message.reasoning), stated=said)


def problem_text(problem: Problem) -> str:
    """How a problem is stored with its message; `stored_problem` reads it."""
    return f"{problem.what}\n{problem.meaning}"


def _number(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
