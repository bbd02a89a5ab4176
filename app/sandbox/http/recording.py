"""Record and replay: calls are passed on to a real service and written down, and what was written down is given again.

Recording is the one case in which the Sandbox speaks to another computer, and only when it is started so. It has no key
of its own: callers bring theirs, which is not written down.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from app.sandbox.http.connections import MAX_BODY_BYTES, SERVER_NAME, HangUp, Request, Response
from app.sandbox.http.errors import Json
from app.sandbox.http.request_log import HIDDEN, SECRET_HEADERS, key_of, without_key
from app.sandbox.http.routes import API_ROOT
from app.sandbox.http.validation import read_json

if TYPE_CHECKING:
    from app.sandbox.http.client_library import httpx

Handler = Callable[[Request], Awaitable[Response]]
SHORT_ROOT = "/v1/"
TIMEOUT_S = 600.0
# Of one connection and its framing, which differ from the next one's. Bodies are passed on unpacked.
OWN = frozenset(
    {"host", "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "accept-encoding"}
    | {"expect", "upgrade", "te", "trailer", "proxy-connection", "server", "date", "alt-svc"}
)
_BOUNDARY = re.compile(rb"^--([^\r\n]+)\r\n")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of an answer, and how long they were waited for."""

    data: bytes
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call as it is written down. `asked` tells requests apart: method, path, query and body, without the key."""

    asked: str
    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]


def service_address(text: str) -> str:
    """Return an address to pass calls on to, without a slash at its end. Raises `ValueError` for what is none."""
    parts = urlsplit(text)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not is_safe or not parts.hostname or parts.username or parts.query or parts.fragment or not text.isascii():
        raise ValueError(f"{text!r} is not an address such as https://api.example.org/api/v1")
    return text.rstrip("/")


def _in_api(request: Request) -> str | None:
    """Return the path behind the root of the API; None for what is not in it."""
    path = f"/api{request.path}" if request.path.startswith(SHORT_ROOT) else request.path
    return path.removeprefix(API_ROOT) if path.startswith(f"{API_ROOT}/") else None


def _asked(method: str, path: str, query: Iterable[tuple[str, str]], body: bytes, key: str) -> str:
    """Return what tells requests apart. JSON counts by its values, a form without its boundary."""
    try:
        told = without_key(key, json.dumps(read_json(body), sort_keys=True))
    except (ValueError, RecursionError):
        boundary = _BOUNDARY.match(body)
        same = body.replace(boundary[1], b"boundary") if boundary else body
        told = without_key(key, same.decode("latin-1"))
    return json.dumps([method, path, sorted((name, without_key(key, value)) for name, value in query), told])


class Recorder:
    """Passes every call of the API on to `service` and appends it to a file; all other paths are for `otherwise`."""

    def __init__(self, file: Path, service: str, otherwise: Handler, hosts: Iterable[str] = ()) -> None:
        """`hosts`: names besides those of this computer that it may be called by.

        Raises `OSError` when the file cannot be written.
        """
        self._file = os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8")
        self._service = service
        self._otherwise = otherwise
        self._hosts = frozenset((*_LOOPBACK, *hosts))
        self._client: httpx.AsyncClient | None = None

    async def handle(self, request: Request) -> Response:
        path = _in_api(request)
        if path is None:
            return await self._otherwise(request)
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if host not in self._hosts or "origin" in request.headers:  # no web page calls a real service through this
            return _plain(403 if host in self._hosts else 421, "Web pages cannot send requests through a recorder")
        if request.too_large:
            return _plain(413, f"The request body exceeds the limit of {MAX_BODY_BYTES // 1024**2} MB")
        from app.sandbox.http.client_library import httpx  # 10 MB that a Sandbox which does not record never needs

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=httpx.Timeout(TIMEOUT_S, connect=30.0))
        query = f"?{urlencode(request.query)}" if request.query else ""
        headers = {name: text for name, text in request.headers.items() if name not in OWN}
        call = self._client.build_request(
            request.method, f"{self._service}{path}{query}", headers=headers, content=request.body
        )
        begun = time.monotonic()
        try:
            answer = await self._client.send(call, stream=True)
        except httpx.HTTPError as error:
            return _plain(502, f"The service cannot be reached: {error or type(error).__name__}")
        told = {name: text.encode("ascii", "replace").decode() for name, text in answer.headers.items()}
        told = {name: text for name, text in told.items() if name not in OWN}
        pieces = self._passed(request, path, answer, begun)
        told["Server"] = f"{SERVER_NAME} (passes on to {urlsplit(self._service).hostname} and records)"
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return Response(answer.status_code, told, pieces)
        try:
            async with aclosing(pieces):
                return Response(answer.status_code, told, b"".join([piece async for piece in pieces]))
        except HangUp:
            return _plain(502, "The service’s answer was cut off")

    async def _passed(
        self, request: Request, path: str, answer: httpx.Response, begun: float
    ) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes, and write the whole call down when it has ended well."""
        from app.sandbox.http.client_library import httpx

        pieces: list[Piece] = []
        before = begun
        try:
            async for data in answer.aiter_bytes():
                now = time.monotonic()
                pieces.append(Piece(data, now - before))
                before = now
                yield data
        except httpx.HTTPError:
            raise HangUp from None
        finally:
            await answer.aclose()
        self._file.write(json.dumps(_line(request, path, answer, pieces), ensure_ascii=False) + "\n")
        self._file.flush()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
        self._file.close()


def _line(request: Request, path: str, answer: httpx.Response, pieces: list[Piece]) -> Json:
    key = key_of(request.headers)
    return {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request": {
            "method": request.method,
            "path": path,
            "query": [[name, without_key(key, value)] for name, value in request.query],
            "headers": _shown(request.headers.items(), key),
            **_body(request.body, key),
        },
        "response": {
            "status": answer.status_code,
            "headers": _shown(answer.headers.items(), key),
            "chunks": [{"wait_s": round(piece.wait_s, 4), **_body(piece.data, key)} for piece in pieces],
        },
    }


def _shown(headers: Iterable[tuple[str, str]], key: str) -> list[list[str]]:
    """Headers as they are written down: what opens anything is hidden, what is one connection's own is left out."""
    return [
        [name, HIDDEN if name.lower() in SECRET_HEADERS else without_key(key, text)]
        for name, text in headers
        if name.lower() not in OWN
    ]


def _body(data: bytes, key: str) -> Json:
    try:
        return {"text": without_key(key, data.decode())}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(row: Mapping[str, Any]) -> bytes:
    if "base64" in row:
        return base64.b64decode(row["base64"], validate=True)
    return str(row.get("text") or "").encode()


class Replayer:
    """Gives what was recorded. The same question asked again gets the next answer to it, and the last one for ever."""

    def __init__(self, exchanges: Iterable[Exchange], otherwise: Handler, *, with_pauses: bool) -> None:
        self._left: dict[str, list[Exchange]] = {}
        for exchange in exchanges:
            self._left.setdefault(exchange.asked, []).append(exchange)
        self._otherwise = otherwise
        self._with_pauses = with_pauses

    async def handle(self, request: Request) -> Response:
        path = _in_api(request)
        if path is None:
            return await self._otherwise(request)
        asked = _asked(request.method, path, request.query, request.body, key_of(request.headers))
        left = self._left.get(asked)
        if left is None:
            return _plain(404, f"No {request.method} {path} with this query and body was recorded")
        exchange = left.pop(0) if len(left) > 1 else left[0]
        headers = dict(exchange.headers)
        if len(exchange.pieces) < 2:
            return Response(exchange.status, headers, b"".join(piece.data for piece in exchange.pieces))
        return Response(exchange.status, headers, self._paced(exchange))

    async def _paced(self, exchange: Exchange) -> AsyncIterator[bytes]:
        for piece in exchange.pieces:
            if self._with_pauses:
                await asyncio.sleep(piece.wait_s)
            yield piece.data


def load(file: Path) -> tuple[Exchange, ...]:
    """Read what `Recorder` wrote, or an HTTP Archive (`.har`). Raises `OSError`, and `ValueError` with the place."""
    raw = file.read_text(encoding="utf-8")
    exchanges = []
    if file.suffix.lower() == ".har":
        try:
            entries = json.loads(raw)["log"]["entries"]
        except (ValueError, KeyError, TypeError):
            raise ValueError("this is not an HTTP Archive") from None
        rows: Iterable[tuple[str, Any]] = ((f"entry {number}", row) for number, row in enumerate(entries, 1))
        read: Callable[[Any], Exchange] = _of_archive
    else:
        rows = ((f"line {number}", line) for number, line in enumerate(raw.splitlines(), 1) if line.strip())
        read = _of_line
    for place, row in rows:
        try:
            exchanges.append(read(row))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ValueError(f"{place} is not a recorded call") from None
    return tuple(exchanges)


def _of_line(line: str) -> Exchange:
    row = json.loads(line)
    asked, told = row["request"], row["response"]
    query = [(str(name), str(value)) for name, value in asked["query"]]
    pieces = tuple(Piece(_bytes(one), float(one.get("wait_s", 0))) for one in told["chunks"])
    return Exchange(
        _asked(str(asked["method"]), str(asked["path"]), query, _bytes(asked), ""),
        _status(told["status"]),
        _sendable((str(name), str(text)) for name, text in told["headers"]),
        pieces,
    )


def _of_archive(entry: Mapping[str, Any]) -> Exchange:
    asked, told = entry["request"], entry["response"]
    address = urlsplit(asked["url"])
    content = told["content"]
    text = str(content.get("text") or "")
    data = base64.b64decode(text, validate=True) if content.get("encoding") == "base64" else text.encode()
    body = str((asked.get("postData") or {}).get("text") or "").encode()
    query = parse_qsl(address.query, keep_blank_values=True)
    return Exchange(
        _asked(str(asked["method"]), address.path.removeprefix(API_ROOT), query, body, ""),
        _status(told["status"]),
        _sendable((str(one["name"]), str(one["value"])) for one in told["headers"]),
        (Piece(data),),
    )


def _status(value: object) -> int:
    if not isinstance(value, int) or not 200 <= value <= 599:
        raise ValueError(value)
    return value


def _sendable(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, text)
        for name, text in headers
        if name.lower() not in OWN and text.isprintable() and text.isascii() and name.replace("-", "").isalnum()
    )


def _plain(status: int, text: str) -> Response:
    body = json.dumps({"error": text}, ensure_ascii=False).encode()
    return Response(status, {"Content-Type": "application/json; charset=utf-8"}, body)


def warn(service: str) -> None:
    """Say on stderr that from now on calls are real."""
    print(
        f"Every call is passed on to {service} with its caller’s key, and costs what it costs there.", file=sys.stderr
    )
