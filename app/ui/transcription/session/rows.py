"""From stored rows to what the list, the head, the table and the receipt line say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.audio.formats import format_title
from app.core import money, number_format, time_format
from app.core.problems import ActionSpec, Problem
from app.core.time_format import length
from app.storage.values import money_of
from app.translation import tr, tr_n
from app.ui.kit.widgets.receipt_line import Run
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.exporting import Head as ExportHead
from app.ui.transcription.session.exporting import length_words
from app.ui.transcription.state import BatchRow, Entry, Mark, Work, language_name

if TYPE_CHECKING:
    from app.storage.transcripts import TranscriptRow

STATE_WORDS = {
    "recording": tr("Recording…"),
    "recorded": tr("Not transcribed"),
    "queued": tr("Waiting"),
    "sending": tr("Transcribing"),
    "failed": tr("Not transcribed"),
    "unknown": tr("No response"),
}
BATCH_WORDS: Mapping[str, tuple[str, str]] = {
    "recorded": (tr("Ready"), ""),
    "queued": (tr("Waiting"), ""),
    "sending": (tr("Sending"), "accent"),
    "done": (tr("Done"), "ok"),
    "failed": (tr("Failed"), "bad"),
    "unknown": (tr("No response. Open it to try again."), "warn"),
}


def entry_of(
    row: TranscriptRow,
    work: Work | None,
    now: datetime,
    name_of: Callable[[str], str],
    snippet: str = "",
    mark: str = "",
) -> Entry:
    """One row of the list; `mark` names its account where that is not the one in use."""
    state = row.state
    if work is not None:
        second, state = work_words(work), "sending"
    elif state == "sending":  # and nothing is under way: the disk refused the end of it
        state = "unknown"
        second = STATE_WORDS.get(state, "")
    elif state == "done":
        second = " · ".join(part for part in (name_of(row.model), str(row.options.get("language") or ""), mark) if part)
    else:
        second = STATE_WORDS.get(state, "")
    return Entry(
        id=row.id,
        title=row.title,
        second_line=snippet or second,
        right=length(row.duration_s) if row.duration_s else "",
        cost=money.money(row.cost_usd) if row.cost_usd is not None and state == "done" else "",
        group=time_format.day_group(row.created_at, now),
        state=state,
        origin=row.origin,
    )


def work_words(work: Work) -> str:
    """`Uploading part 2 of 5, 40 %`."""
    words = work.words
    if work.parts > 1:
        words = tr("{work} part {part} of {parts}", work=words, part=work.part, parts=work.parts)
    return f"{words}, {number_format.percent(work.share)}" if work.share is not None else words


def marks_of(row: TranscriptRow) -> tuple[Mark, ...]:
    return tuple(
        Mark(float(mark["at"]), str(mark.get("text") or ""))
        for mark in row.marks
        if isinstance(mark.get("at"), int | float)
    )


def receipt_of(row: TranscriptRow) -> tuple[Run, ...]:
    """The line under a transcript: cost, length, words, language, time taken, request id."""
    told = row.receipt
    if not told:
        return ()
    cost = money_of(told.get("cost_usd"))
    runs = [Run(money.cost(cost, str(told.get("cost_source") or "none")), strong=True)]
    if row.duration_s:
        runs.append(Run(tr("{length_words} of audio", length_words=length_words(row.duration_s))))
    runs.append(Run(tr_n("{n} word", "{n} words", row.word_count)))
    if row.options.get("language"):
        runs.append(Run(language_name(str(row.options["language"]))))
    parts = told.get("parts")
    if isinstance(parts, int) and parts > 1:
        runs.append(Run(tr("{parts} parts", parts=parts)))
    took = told.get("took_s")
    if isinstance(took, int | float):
        runs.append(Run(tr("took {took}", took=time_format.duration(float(took)))))
    if told.get("request_id"):
        runs.append(Run(tr("req {told}", told=str(told["request_id"])[:12]), mono=True))
    if told.get("charged") is False:
        runs.append(Run(tr("simple recognizer")))
        runs.append(Run(money.PLAY_MONEY, role="sandbox"))
    return tuple(runs)


def problem_of(row: TranscriptRow) -> Problem | None:
    """Why a row was not transcribed, as far as it was kept over a restart."""
    if row.state not in ("failed", "unknown"):
        return None
    retry = ActionSpec("retry", tr("Try again"))
    what = str(row.problem.get("what") or "")
    if row.state == "unknown" and not what:
        return Problem(
            tr("Rialto quit while this was being sent"),
            tr("It may have been transcribed and charged. The audio is saved. Trying again costs extra."),
            primary=retry,
            severity="warn",
        )
    meaning = str(row.problem.get("meaning") or tr("The audio is saved."))
    words = what or tr("This was not transcribed")
    if row.state == "unknown":
        return Problem(words, meaning, primary=retry, severity="warn")
    return Problem(words, meaning, primary=retry)


def facts_of(
    row: TranscriptRow, document: Document, model_name: str, kind: str, path: str
) -> tuple[tuple[str, str], ...]:
    """The Details page, label and value."""
    times = {"": tr("from the model"), "words": tr("segments from the model, words estimated"), "all": "estimated"}
    facts = [
        (
            tr("Recorded") if row.origin == "recording" else tr("Added"),
            time_format.moment(row.created_at),
        ),
        (tr("Length"), length_words(row.duration_s) if row.duration_s else ""),
        (tr("Type"), format_title(kind) if kind else ""),
        (tr("Size"), number_format.size(row.size_bytes) if row.size_bytes else ""),
        (tr("Model"), model_name),
        (tr("Language hint"), language_name(str(row.options.get("language") or "")) or "none"),
        (tr("Words"), number_format.count(document.word_count) if document.segments else ""),
        (tr("Segments"), number_format.count(len(document.segments)) if document.segments else ""),
        (tr("Timestamps"), times.get(document.estimated, "") if document.segments else ""),
        (tr("File"), path),
        ("SHA-256", row.file_hash),
    ]
    return tuple((label, value) for label, value in facts if value)


def export_head(row: TranscriptRow, model_name: str, received: Mapping[str, Any]) -> ExportHead:
    """What an exported file says about the recording."""
    return ExportHead(
        title=row.title,
        recorded=time_format.day(row.created_at),
        model=model_name,
        language=language_name(str(row.options.get("language") or "")),
        marks=tuple((mark.at, mark.text) for mark in marks_of(row)),
        received=received,
    )


def batch_row(row: TranscriptRow, work: Work | None, kind: str, price: Decimal | None) -> BatchRow:
    """One file of the table."""
    words, tone = BATCH_WORDS.get(row.state, ("", ""))
    if row.state == "failed" and row.problem.get("what"):
        words = str(row.problem["what"])
    if work is not None:
        words, tone = work_words(work), "accent"
    if row.state == "done":
        words = tr_n("Done, {n} word", "Done, {n} words", row.word_count)
    cost = money.money(row.cost_usd) if row.cost_usd is not None and row.state == "done" else ""
    return BatchRow(
        id=row.id,
        title=row.title,
        kind=kind,
        size=number_format.size(row.size_bytes),
        length=length(row.duration_s) if row.duration_s else "",
        price=cost or (money.about(price) if price is not None else ""),
        status=words,
        tone=tone,
        share=work.share if work is not None else None,
        is_busy=work is not None,
    )
