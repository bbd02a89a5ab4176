"""The calls of one request, as rows and as JSON text: two views of one thing, always in step.

Rows are the truth while rows are edited, the text is while it is edited; each turns into the other without loss. An
answer is matched to its call by its id (R-RPC-09): the one that a person wrote, else the call's place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.service.crypto_rpc import AUTO, Auto, RpcId, RpcItem, double_id_sentence, id_of, ids_of, twice_in
from app.translation import tr

MAX_TEXT_CHARS = 8_000_000
_ITEM_KEYS = frozenset({"jsonrpc", "id", "method", "params"})
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call as it is edited. `params` is a list, or names and values; `id` its place in the batch, from 1.

    `rpc_id` is the id it goes out with, `AUTO` for its place.
    """

    id: int
    method: str = ""
    params: Sequence[object] | Mapping[str, object] = ()
    rpc_id: RpcId | Auto = AUTO

    @property
    def item(self) -> RpcItem:
        return RpcItem(self.method, self.params, self.rpc_id)

    @property
    def params_text(self) -> str:
        """The parameters in one line of JSON."""
        return json.dumps(_plain(self.params), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class TextProblem:
    """What is wrong in a text, and in which line (from 1)."""

    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a text holds. With a problem, `rows` are those that stand before it."""

    rows: tuple[CallRow, ...] = ()
    batch: bool = False  # written as a list, so sent as one, even with a single call
    problems: tuple[TextProblem, ...] = ()
    double_id: str = ""  # a sentence; in `rows`, the second of them has none of its own


def numbered(rows: Sequence[CallRow]) -> tuple[CallRow, ...]:
    """The rows with their places as ids; of two with the same `rpc_id`, the first keeps it."""
    seen: set[object] = set()
    found = []
    for place, row in enumerate(rows, start=1):
        own = row.rpc_id if isinstance(row.rpc_id, Auto) or id_of(row.rpc_id) not in seen else AUTO
        seen.add(own if isinstance(own, Auto) else id_of(own))
        found.append(row if (row.id, row.rpc_id) == (place, own) else replace(row, id=place, rpc_id=own))
    return tuple(found)


def moved(rows: Sequence[CallRow], place: int, step: int) -> tuple[CallRow, ...]:
    """The rows with the one at index `place` moved by `step`; unchanged at an end."""
    target = place + step
    if not (0 <= place < len(rows) and 0 <= target < len(rows)):
        return tuple(rows)
    order = list(rows)
    order.insert(target, order.pop(place))
    return numbered(order)


def text_of(rows: Sequence[CallRow], *, batch: bool) -> str:
    """The JSON text, one call after the other, readable."""
    items = bodies_of(rows)
    if not batch and len(items) == 1:
        return json.dumps(items[0], ensure_ascii=False, indent=2)
    return json.dumps(items, ensure_ascii=False, indent=2)


def tidy(text: str) -> str:
    """Any JSON text with its usual breaks and spaces; what is no JSON stays as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def read_id(text: str) -> RpcId:
    """The id that a person wrote: a whole number, `null`, or else a text, with or without quotes."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, bool) or not isinstance(value, int | str | None) else value


def read_params(text: str) -> Sequence[object] | Mapping[str, object] | TextProblem:
    """The parameters that a person wrote: a list or an object. Nothing at all is an empty list."""
    if not text.strip():
        return []
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return TextProblem(error.lineno, json_sentence(error))
    except (ValueError, RecursionError):
        return TextProblem(1, tr("This is nested too deeply."))
    if isinstance(value, list | dict):
        return value
    return TextProblem(1, tr("Parameters must be a list [ ] or an object { }."))


def read_text(text: str) -> ReadText:
    """Read one call or a list of calls. Never raises: what is wrong is in `problems`, with its line."""
    if len(text) > MAX_TEXT_CHARS:
        return ReadText(problems=(TextProblem(1, tr("This is too large for one request.")),))
    start = _skip(text, 0)
    if start == len(text):
        return ReadText(problems=(TextProblem(1, tr("Write a call or a list of calls.")),))
    batch = text[start] == "["
    rows: list[CallRow] = []
    problems: list[TextProblem] = []
    given: list[RpcId | Auto] = []
    try:
        for place, item in _items(text, start, batch):
            line = text.count("\n", 0, place) + 1
            fault = _fault(item)
            if fault:
                problems.append(TextProblem(line, fault))
            else:
                assert isinstance(item, dict)
                place = len(rows) + 1
                given.append(item.get("id", AUTO))
                own = AUTO if given[-1] == place else given[-1]
                rows.append(CallRow(place, item["method"], item.get("params", []), own))
    except json.JSONDecodeError as error:
        problems.append(TextProblem(error.lineno, json_sentence(error)))
    except RecursionError:
        problems.append(TextProblem(1, tr("This is nested too deeply.")))
    if not rows and not problems:
        problems.append(TextProblem(1, tr("The list has no calls.")))
    twice = twice_in(given)
    return ReadText(
        numbered(rows), batch, tuple(problems), "" if isinstance(twice, Auto) else double_id_sentence(twice)
    )


def json_sentence(error: json.JSONDecodeError) -> str:
    """The parser's remark as a sentence."""
    return {
        "Expecting value": tr("A value is missing here."),
        "Expecting ',' delimiter": tr("A comma or a closing bracket is missing here."),
        "Expecting ':' delimiter": tr("A colon is missing after the name."),
        "Expecting property name enclosed in double quotes": tr("A name in double quotes is missing here."),
        "Illegal trailing comma before end of object": tr("There is an extra comma before the closing bracket."),
        "Illegal trailing comma before end of array": tr("There is an extra comma before the closing bracket."),
        "Unterminated string starting at": tr("A closing quote is missing."),
        "Invalid control character at": tr("A string contains a line break. Use \\n instead."),
        "Extra data": tr("There is extra text after the end."),
    }.get(error.msg, tr("This is not JSON."))


def bodies_of(rows: Sequence[CallRow]) -> list[dict[str, object]]:
    """The calls as they go out."""
    return [
        {"jsonrpc": "2.0", "id": rpc_id, "method": row.method, "params": _plain(row.params)}
        for rpc_id, row in zip(ids_of([row.rpc_id for row in rows]), rows, strict=True)
    ]


def _plain(params: Sequence[object] | Mapping[str, object]) -> object:
    return dict(params) if isinstance(params, Mapping) else list(params)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n\ufeff":
        place += 1
    return place


def _items(text: str, start: int, batch: bool) -> Iterator[tuple[int, object]]:
    """Each item with where it begins. Raises `JSONDecodeError` where the text ends to be JSON."""
    if not batch:
        item, end = _decoder.raw_decode(text, start)
        yield start, item
    else:
        place = _skip(text, start + 1)
        if text[place : place + 1] != "]":
            while True:
                item, end = _decoder.raw_decode(text, place)
                yield place, item
                place = _skip(text, end)
                if text[place : place + 1] != ",":
                    break
                place = _skip(text, place + 1)
        if text[place : place + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
        end = place + 1
    rest = _skip(text, end)
    if rest < len(text):
        raise json.JSONDecodeError(tr("Extra data"), text, rest)


def _fault(item: object) -> str:
    """Why this is no call that can be sent; "" when it is one."""
    if not isinstance(item, dict):
        return tr("A call must be an object with a method and parameters.")
    if item.get("jsonrpc", "2.0") != "2.0":
        return tr('The protocol version must be "2.0".')
    method = item.get("method")
    if not isinstance(method, str) or not method.strip():
        return tr('The call has no "method".')
    if not isinstance(item.get("params", []), list | dict):
        return tr('The "params" must be a list [ ] or an object { }.')
    rpc_id = item.get("id")
    if isinstance(rpc_id, bool) or not isinstance(rpc_id, int | str | None):
        return tr("The ID must be a whole number, a text or null.")
    unknown = [key for key in item if key not in _ITEM_KEYS]
    if unknown:
        return tr("A call cannot contain “{unknown}”.", unknown=unknown[0][:40])
    return ""
