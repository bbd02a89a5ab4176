"""The request log: one line for every call, what was in the newest of them, and who waits for the next.

Nothing that opens anything is kept: credentials and payments in headers are hidden before a call gets in here, and so
is its own key wherever else it stands in the call. Bodies are kept up to a few kilobytes, media not at all.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

LOG_LENGTH = 500
DETAILS_KEPT = 100
MAX_BODY_BYTES = 8 * 1024
MAX_FIELD_BYTES = 400
MAX_PARTS = 40
MAX_PART_HEAD_BYTES = 2048
HIDDEN = "[hidden]"
SECRET_HEADERS = frozenset(
    (
        *("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"),
        *("sign-in-with-x", "x-sign-in-with-x", "payment-signature", "x-402-payment", "x-payment"),
    )
)
_TEXT = ("application/json", "text/", "application/x-www-form-urlencoded")
_PART = re.compile(
    rb'content-disposition: *form-data; *name="([^"\r\n]*)"(?:; *filename="([^"\r\n]*)")?[^\r\n]*\r\n'
    rb"(?:[^\r\n]+\r\n)*\r\n",
    re.IGNORECASE,
)


class LoggedRequest(NamedTuple):
    """One line of the request log: no body, no header, no key. `status` is 0 where it was cut unanswered."""

    at: float
    request_id: str
    method: str
    path: str
    status: int
    duration_s: float
    model: str
    cost_usd: Decimal
    scripted_answer: str = ""  # the name of the one that was given, or ""


class Side(NamedTuple):
    """What went one way. `kind`: text, form, media or none; `text` is cut after `MAX_BODY_BYTES` of `size_bytes`."""

    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "none"
    text: str = ""
    size_bytes: int = 0


class Details(NamedTuple):
    request: Side
    response: Side
    query: tuple[tuple[str, str], ...] = ()


class RequestLog:
    """Lines are numbered from 1 and never numbered anew; `epoch` changes when they are forgotten."""

    def __init__(self) -> None:
        self.epoch = 0
        self.revision = 0  # grows with every line and with every control that was used
        self.last = 0
        self._lines: deque[LoggedRequest] = deque(maxlen=LOG_LENGTH)
        self._details: OrderedDict[str, Details] = OrderedDict()
        self._waiting: set[asyncio.Event] = set()

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[LoggedRequest]:
        return iter(self._lines)

    def append(self, line: LoggedRequest, details: Details | None = None) -> None:
        self._lines.append(line)
        self.last += 1
        if details is not None:
            self._details[line.request_id] = details
            while len(self._details) > DETAILS_KEPT:
                self._details.popitem(last=False)
        self.changed()

    def clear(self) -> None:
        self._lines.clear()
        self._details.clear()
        self.epoch += 1
        self.changed()

    def after(self, number: int) -> list[tuple[int, LoggedRequest]]:
        """Return the lines behind that number with their own numbers, oldest first."""
        first = self.last - len(self._lines) + 1
        return [(first + index, line) for index, line in enumerate(self._lines) if first + index > number]

    def details(self, request_id: str) -> tuple[LoggedRequest, Details] | None:
        found = self._details.get(request_id)
        line = next((line for line in self._lines if line.request_id == request_id), None)
        return (line, found) if line is not None and found is not None else None

    def changed(self) -> None:
        """Wake whoever watches. Also for what is no call: a control was used."""
        self.revision += 1
        for event in self._waiting:
            event.set()

    async def wait(self, revision: int, timeout_s: float) -> None:
        """Return when there is something that a watcher who knows `revision` has not seen, or after `timeout_s`."""
        if revision != self.revision:
            return
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            await asyncio.wait_for(event.wait(), timeout_s)
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(event)


class Capture:
    """Keeps the beginning of a body that passes in pieces, and counts all of it."""

    def __init__(self) -> None:
        self.head = b""
        self.size_bytes = 0

    def add(self, piece: bytes) -> None:
        self.size_bytes += len(piece)
        if len(self.head) < MAX_BODY_BYTES:
            self.head += piece[: MAX_BODY_BYTES - len(self.head)]


def key_of(headers: Mapping[str, str]) -> str:
    """Return the credential in a request's headers, to be hidden elsewhere; "" for none."""
    return headers.get("authorization", "").partition(" ")[2].strip()


def side(headers: Mapping[str, str], body: bytes, size_bytes: int, key: str) -> Side:
    """Return what may be shown of one direction. `body` is the whole or its beginning, not compressed."""
    lower = {name.lower(): text for name, text in headers.items()}
    shown = tuple(headers.items())
    if not SECRET_HEADERS.isdisjoint(lower) or key in "\n".join(headers.values()):
        shown = tuple(
            (name, HIDDEN if name.lower() in SECRET_HEADERS else without_key(key, text)) for name, text in shown
        )
    content_type = lower.get("content-type", "").lower()
    if not size_bytes:
        return Side(shown)
    if content_type.startswith("multipart/"):
        return Side(shown, "form", without_key(key, _parts(body)), size_bytes)
    if content_type.startswith(_TEXT):
        text = body[:MAX_BODY_BYTES].decode("utf-8", "replace")
        return Side(shown, "text", without_key(key, text), size_bytes)
    return Side(shown, "media", "", size_bytes)


def shown_query(query: tuple[tuple[str, str], ...], key: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, without_key(key, value)) for name, value in query)


def without_key(key: str, text: str) -> str:
    """Return a text with the caller's key hidden."""
    return text.replace(key, HIDDEN) if len(key) >= 4 else text


def _parts(body: bytes) -> str:
    """Name the parts of a form: a field with the beginning of its value, a file with its name and size."""
    lines: list[str] = []
    boundary = body[: max(0, body.find(b"\r\n"))]
    at = 0
    while len(lines) < MAX_PARTS and (found := _PART.search(body, at, at + MAX_PART_HEAD_BYTES)) is not None:
        name, file_name = found[1].decode("utf-8", "replace"), found[2]
        at = body.find(b"\r\n" + boundary, found.end())
        at = len(body) if at < 0 else at
        if file_name is not None:
            lines.append(f"{name}: file “{file_name.decode('utf-8', 'replace')}”, {at - found.end():,} bytes")
        else:
            value = body[found.end() : min(at, found.end() + MAX_FIELD_BYTES)].decode("utf-8", "replace")
            lines.append(f"{name}: {value}")
    return "\n".join(lines)
