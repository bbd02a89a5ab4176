"""An answer beside the calls it belongs to: what the response tree shows, call by call."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from app.core.number_format import credits_text
from app.formats import csv_cell
from app.service.crypto_rpc import NO_ANSWER, answers_by_id, has_id, id_of, is_answer_to
from app.service.http.json_large import JSON_LIST, Large, LargeArray
from app.service.rpc_methods import ERROR_CREDITS, STATE_CHANGING, call_credits
from app.translation import tr
from app.ui.kit.json.node import TreeRoot

MAX_COLUMNS = 48
MAX_TABLES = 200
LOOKED_AT = 100  # logs of a list, one of which is decoded
_WHERE = (
    ("contract", "address"),
    ("block", "blockNumber"),
    ("transaction", "transactionHash"),
    ("log", "logIndex"),
)
DECODED = "decoded"  # under which a value holds what its bytes say
NOT_KNOWN = tr("It is not clear whether this transaction was sent.")


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What became of one call. `credits` is what it cost by the price list: the headers state the sum alone. None where
    nobody answered, and so nobody knows."""

    id: int
    method: str
    value: object
    is_error: bool
    credits: int | None
    message: str = ""  # of an error
    data: object = None  # of an error
    words: str = ""  # what the bytes of a result say, in one line


def outcomes_of(network: str, items: Sequence[Mapping[str, object]], answer: object) -> tuple[CallOutcome, ...]:
    """Match the calls with their answers by id; the order of a batch's answers means nothing (R-RPC-10)."""
    answers: dict[int | str | None, Mapping[str, object]] = {}
    whole: Mapping[str, object] | None = None
    refusal: Mapping[str, object] | None = None
    if isinstance(answer, JSON_LIST):
        answers, refusal = answers_by_id([each for each in answer if isinstance(each, Mapping)])
    elif isinstance(answer, Mapping):
        whole = answer
    found = []
    for place, item in enumerate(items, start=1):
        method = str(item.get("method", ""))
        wanted = item.get("id", place)
        each = answers.get(id_of(wanted))
        each = each if each is not None and has_id(each, wanted, method) else None
        if whole is not None and (len(items) > 1 or is_answer_to(whole, wanted, method)):
            each = whole
        found.append(_outcome(network, place, method, each, refusal))
    return tuple(found)


def _outcome(
    network: str,
    place: int,
    method: str,
    answer: Mapping[str, object] | None,
    refusal: Mapping[str, object] | None = None,
) -> CallOutcome:
    """`refusal` is an error that names no call: it is shown for those without an answer, which may have run."""
    if answer is None and refusal is not None:
        refused = _outcome(network, place, method, refusal)
        words = f"{NOT_KNOWN} {refused.message}".strip() if method in STATE_CHANGING else refused.message
        return replace(refused, credits=None, message=words or NO_ANSWER)
    if answer is None:
        words = NOT_KNOWN if method in STATE_CHANGING else NO_ANSWER
        return CallOutcome(place, method, {"message": words}, True, None, words)
    error = answer.get("error")
    if error is None and "result" in answer:
        return CallOutcome(place, method, answer["result"], False, call_credits(network, method))
    if isinstance(error, Mapping):
        message = error.get("message")
        words = message if isinstance(message, str) else ""
        return CallOutcome(place, method, dict(error), True, ERROR_CREDITS, words, error.get("data"))
    return CallOutcome(place, method, dict(answer), True, ERROR_CREDITS, str(error or ""))


def roots_of(outcomes: Sequence[CallOutcome]) -> tuple[TreeRoot, ...]:
    """The first level of the response tree."""
    return tuple(
        TreeRoot(
            outcome.method,
            outcome.value,
            str(outcome.id),
            tr("Error") if outcome.is_error else tr("Result"),
            credits_text(outcome.credits) if outcome.credits is not None else "",
            "bad" if outcome.is_error else "ok",
            outcome.words,
        )
        for outcome in outcomes
    )


def items_of(text: str) -> tuple[Mapping[str, object], ...]:
    """The calls of a stored request; nothing for a text that is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, Mapping))


@dataclass(frozen=True, slots=True)
class Table:
    """A list of objects. `columns` in the order of their appearance, as many as are shown."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, object]]


def _event(log: object) -> object:
    """A decoded log as one row: the event, its values, and where it is; anything else unchanged."""
    said = log.get(DECODED) if isinstance(log, Mapping) else None
    if not isinstance(log, Mapping) or "topics" not in log:
        return log
    if not isinstance(said, Mapping):
        return {"event": "", **log}
    values = {name: value for name, value in said.items() if name != "name"}
    where = {name: log.get(key) for name, key in _WHERE if name not in values}
    return {"event": said.get("name"), **values, **where}


def table_of(title: str, value: object) -> Table | None:
    """A list of objects as a table, decoded logs one event a row; None for anything else."""
    if not isinstance(value, JSON_LIST) or not value or not all(isinstance(item, Mapping) for item in value):
        return None
    first = value[0]
    if isinstance(first, Mapping) and "topics" in first and any(DECODED in item for item in value[:LOOKED_AT]):  # type: ignore[operator]  # all are mappings
        value = value.changed_by(_event) if isinstance(value, LargeArray) else [_event(item) for item in value]
    rows = cast(Sequence[Mapping[str, object]], value)
    columns: dict[str, None] = {}
    for item in rows:
        if len(columns) >= MAX_COLUMNS:
            break
        columns.update(dict.fromkeys(str(name) for name in item))
    return Table(title, tuple(columns)[:MAX_COLUMNS], rows)


def csv_of(table: Table) -> str:
    """The table as CSV with a header, every row of it; values as they were sent. Call it in a thread."""
    file = io.StringIO()
    lines = csv.writer(file)
    lines.writerow(table.columns)
    for row in table.rows:
        lines.writerow([_cell(row.get(name)) for name in table.columns])
    return file.getvalue()


def _cell(value: object) -> str:
    """A value of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, str):
        return csv_cell(value)
    return value.text if isinstance(value, Large) else json.dumps(value, ensure_ascii=False, default=str)


def tables_in(outcomes: Sequence[CallOutcome]) -> tuple[Table, ...]:
    """Every result that is a list of objects, and every such list directly inside of one. Call it in a thread."""
    found: list[Table] = []
    for outcome in outcomes:
        title = f"{outcome.id} {outcome.method}"
        values: list[tuple[str, object]] = [(title, outcome.value)]
        if isinstance(outcome.value, Mapping):
            values = [(f"{title}: {name}", each) for name, each in outcome.value.items()]
        found += [table for each_title, each in values if (table := table_of(each_title, each)) is not None]
        if len(found) >= MAX_TABLES:
            break
    return tuple(found[:MAX_TABLES])
