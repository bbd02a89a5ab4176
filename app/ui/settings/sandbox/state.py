"""What the pages about the Sandbox show, and the test controls as people read them. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.core.number_format import DASH, MOST, or_dash
from app.translation import tr, tr_n

PLAY_MONEY_USD = Decimal(100)
MAX_ROWS = 500  # as many as the Sandbox itself keeps


@dataclass(frozen=True, slots=True)
class EngineRow:
    """`state`: missing, idle or loaded."""

    name: str
    title: str
    does: str
    version: str
    licence: str
    state: str
    install: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One line of the request log. `status` 0: cut without an answer."""

    number: int
    request_id: str
    at: datetime
    method: str
    path: str
    status: int
    duration_s: float
    model: str
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """One call with what was in it, as text; `asked` and `answered` are "" until they are read."""

    row: RequestRow
    asked: str = ""
    answered: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ActiveControl:
    """One test control that is switched on."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class SandboxState:
    """`address` and `key` are "" while it does not run; the key changes with each start."""

    running: bool = False
    busy: bool = False
    address: str = ""
    key: str = ""
    in_use: bool = False
    problem: str = ""
    done: str = ""  # what the last press did
    silent: str = ""  # why its controls cannot be read, "" while they can
    engines: tuple[EngineRow, ...] = ()
    balance_usd: Decimal | None = None
    rows: tuple[RequestRow, ...] = ()  # newest first
    opened: OpenRequest | None = None
    active: tuple[ActiveControl, ...] = ()
    faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    clock_offset_s: float = 0.0
    any_key: bool = False
    partner: bool = False
    tokens_per_second: float = 0.0
    own_code: str = ""  # the page of that name, Markdown; "" until it is read


@dataclass(frozen=True, slots=True)
class Choice:
    """A field of a control with fixed answers: (value, words)."""

    field: str
    label: str
    items: tuple[tuple[Any, str], ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Number:
    """A field of a control with a number. `unit` stands behind it."""

    field: str
    label: str
    low: float
    high: float
    value: float
    unit: str
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail. `times` is how many calls it hits unless changed; 0 means until it is switched off."""

    name: str
    title: str
    does: str
    fields: tuple[Choice | Number, ...] = ()
    times: int = 1


STATUSES = (
    (400, tr("400 Bad request")),
    (401, tr("401 Key not accepted")),
    (402, tr("402 Balance too low")),
    (403, tr("403 Forbidden")),
    (404, tr("404 Not found")),
    (409, tr("409 Conflict")),
    (413, tr("413 Too large")),
    (422, tr("422 Content refused")),
    (429, tr("429 Rate limit")),
    (500, tr("500 Failed")),
    (503, tr("503 Overloaded")),
    (504, tr("504 Timeout")),
)
LIES = (
    ("length", tr("Shorter than declared")),
    ("json", tr("Truncated JSON")),
    ("html", tr("Web page")),
    ("empty", tr("Empty body")),
    ("type", tr("Wrong content type")),
)
SEALED_LIES = (
    ("other_nonce", tr("Another nonce")),
    ("old_quote", tr("An old quote")),
    ("other_key", tr("Another key")),
    ("other_address", tr("Another signing address")),
    ("other_model", tr("Another model")),
    ("debug", tr("Debug mode")),
    ("flipped_byte:body", tr("A changed byte in the quote")),
    ("flipped_byte:signature", tr("A changed byte in the signature")),
    ("flipped_byte:qe", tr("A changed byte in the quoting enclave’s report")),
    ("other_root", tr("Another root certificate")),
    ("firmware:out_of_date", tr("Outdated firmware")),
    ("firmware:revoked", tr("Revoked firmware")),
    ("lists_expired", tr("Expired lists")),
    ("revoked", tr("A revoked processor")),
    ("quote_type:sgx", tr("Another type of enclave")),
    ("quote_type:version", tr("Another quote version")),
    ("server_nonce", tr("The server’s own nonce")),
    ("two_keys", tr("Two different keys")),
    ("report_data", tr("Extra report data")),
    ("event_log", tr("A changed event log")),
    ("gpu:nonce", tr("Old evidence of a graphics processor")),
    ("gpu:empty", tr("No evidence of a graphics processor")),
    ("nvidia:nonce", tr("NVIDIA’s answer: different nonce")),
    ("nvidia:signature", tr("NVIDIA’s answer: signed by another key")),
    ("nvidia:verdict", tr("NVIDIA’s answer: evidence not accepted")),
    ("nvidia:expired", tr("NVIDIA’s answer: expired")),
    ("nvidia:other_gpu", tr("NVIDIA’s answer: another graphics processor")),
    ("nvidia:debug", tr("NVIDIA’s answer: debug mode")),
    ("measurements", tr("Other measurements")),
    ("no_quote", tr("No quote at all")),
    ("claims", tr("A failed check by the server")),
    ("clear_first", tr("The first piece in the clear")),
    ("clear_middle", tr("A later piece in the clear")),
    ("clear_reasoning", tr("Reasoning in the clear")),
    ("bad_chunk:cut", tr("A piece cut short")),
    ("bad_chunk:odd", tr("A piece with half a byte")),
    ("bad_chunk:other_key", tr("A piece for another key")),
    ("lost_chunk:blank", tr("An empty piece")),
    ("lost_chunk:dropped", tr("A missing piece")),
    ("resealed", tr("The service’s key in place of yours")),
    ("no_header", tr("No enclave header")),
    ("plain_json", tr("An answer in the clear")),
    ("receipt:other_text", tr("A receipt for other bytes")),
    ("receipt:other_key", tr("A receipt by another key")),
    ("stale_key:stream", tr("A new key during the answer")),
    ("stale_key:history", tr("Refused earlier answers")),
)
FAULTS = (
    Fault(
        "slow",
        tr("Slow down"),
        tr("Waits before each answer begins."),
        (Number("seconds", tr("Seconds to wait"), 0.1, 600, 2, " s", 1),),
        times=0,
    ),
    Fault(
        "answer",
        tr("Answer with an error"),
        tr("Does nothing, charges nothing, and answers with this status."),
        (Choice("status", tr("Status"), STATUSES, 429),),
    ),
    Fault(
        "cut",
        tr("Cut the stream"),
        tr(
            "Closes the connection after this many characters of a streamed chat, or bytes of speech or video. "
            "Anything sent before that is charged."
        ),
        (Number("after", tr("Characters or bytes before the cut"), 0, 1_000_000, 100, f" {tr('characters')}"),),
    ),
    Fault(
        "lie",
        tr("Malformed body"),
        tr("Answers 200, but the body does not match its headers."),
        (Choice("kind", tr("Body"), LIES, "json"),),
    ),
    Fault("drop", tr("Hang up"), tr("Closes the connection without any answer.")),
    Fault(
        "in_band_error",
        tr("Fail inside the stream"),
        tr("Starts a streamed chat normally, then sends an error after this many characters."),
        (Number("after", tr("Characters before the error"), 0, 100_000, 60, f" {tr('characters')}"),),
    ),
    Fault("no_done", tr("Omit the end marker"), tr("Leaves out the last event of a streamed chat, [DONE].")),
    Fault(
        "sealed",
        tr("Falsify sealed chats"),
        tr("Gives false evidence of its enclave, or breaks the seal of an answer."),
        (Choice("kind", tr("What is false"), SEALED_LIES, "other_nonce"),),
        times=0,
    ),
)
PLACES = (
    ("", tr("Every request")),
    ("/chat/completions", tr("Chats")),
    ("/models", tr("Model lists")),
    ("/audio/speech", tr("Speech")),
    ("/audio/transcriptions", tr("Transcriptions")),
    ("/image", tr("Images")),
    ("/video", tr("Videos")),
    ("/crypto/rpc", tr("Blockchain calls")),
    ("/x402", tr("Wallets and top-ups")),
)
CLOCK_STEPS = ((60.0, tr("1 minute")), (3600.0, tr("1 hour")), (86_400.0, tr("1 day")), (8 * 86_400.0, tr("8 days")))


def words_of(name: str, values: Mapping[str, Any]) -> str:
    """Say what an active fault does now: `Answer with an error: 429, chats, 2 more calls`."""
    known = next((fault for fault in FAULTS if fault.name == name), None)
    said = []
    for part in known.fields if known is not None else ():
        value = values.get(part.field)
        if value is None:
            continue
        said.append(_choice_words(part, value) if isinstance(part, Choice) else f"{float(value):g}{part.unit}")
    place = str(values.get("path") or "")
    if place:
        said.append(next((words.lower() for path, words in PLACES if path == place), place))
    times = values.get("times")
    said.append(tr("until turned off") if times is None else tr_n("{n} more request", "{n} more requests", times))
    return f"{known.title if known is not None else name}: {', '.join(said)}"


def _choice_words(part: Choice, value: Any) -> str:
    return next((words for one, words in part.items if one == value), str(value))


@or_dash
def ahead(offset_s: float) -> str:
    """`1 day 1 h ahead`, `2 min behind`; "" for a clock that is right."""
    if not offset_s:
        return ""
    if not abs(offset_s) < MOST:
        return DASH
    minutes, seconds = divmod(abs(round(offset_s)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [tr_n("{n} day", "{n} days", days)] if days else []
    parts += [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (seconds, "s")) if number]
    time = " ".join(parts) or "0 s"
    return tr("{time} ahead", time=time) if offset_s > 0 else tr("{time} behind", time=time)
