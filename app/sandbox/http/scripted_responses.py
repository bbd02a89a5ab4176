"""Scripted answers: which requests are answered with exactly what, how often, and what each was used for.

The list is in order: the first answer that matches a request and has times left is given. Conditions and answers are
described by `resources/data/answers.schema.json`, which `GET /sandbox/answers/schema` serves.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, NamedTuple

from app.sandbox.http.errors import Json
from app.sandbox.http.faults import sendable_headers
from app.sandbox.http.request_log import HIDDEN, SECRET_HEADERS
from app.sandbox.http.validation import REQUIRED, Checker, Path, read_json

if TYPE_CHECKING:
    from app.sandbox.http.connections import Request

CHAT_PATH = "/api/v1/chat/completions"
_FORM_MODEL = re.compile(rb'form-data; *name="?model"?\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)\r\n', re.IGNORECASE)
YAML_FILES = (".yaml", ".yml")
FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter")
LONGEST_WAIT_S = 600
WITHOUT_BODY = (204, 304)
SAID = ("text", "reasoning", "tool_calls")  # in a chunk: exactly one of them
CHAT_FIELDS = (*SAID, "chunks", "finish_reason", "usage")
PLAIN_FIELDS = ("status", "body", "body_base64")
ENTRY_FIELDS = ("name", "match", "times", "answer")
MATCH_FIELDS = ("path", "method", "model", "words", "headers", "nth")
ANSWER_FIELDS = (*CHAT_FIELDS, *PLAIN_FIELDS, "headers", "wait_s")
CHUNK_FIELDS = (*SAID, "wait_s")
CALL_FIELDS = ("id", "name", "arguments")
USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cached_tokens")


class Match(NamedTuple):
    """What a request has to be. An empty condition holds for every request."""

    path: str  # is part of the request's path
    method: str
    model: str
    words: tuple[str, ...]  # all are in the last user message, in any case
    headers: Mapping[str, str]  # lower-case name -> value
    nth: int | None  # the how-manieth request that meets all of the others, from 1

    def meets(self, request: Request, body: Json) -> bool:
        """Whether everything but `nth` holds."""
        if self.path not in request.path or self.method not in ("", request.method):
            return False
        if self.model and self.model != body.get("model"):
            return False
        if any(request.headers.get(name) != value for name, value in self.headers.items()):
            return False
        if not self.words:
            return True
        asked = _asked(body).casefold()
        return all(word.casefold() in asked for word in self.words)


class ToolCall(NamedTuple):
    name: str
    arguments: str  # JSON text, or whatever the script wants to send as such
    id: str = ""  # "": a new one for every answer


class Chunk(NamedTuple):
    """One step of a streamed answer. `kind`: text, reasoning or tool_calls; `wait_s` passes before it is sent."""

    kind: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    wait_s: float = 0.0


class ResponseRule(NamedTuple):
    """What is answered: a chat, which goes through the usual stream, or a body as it stands."""

    is_chat: bool
    chunks: tuple[Chunk, ...]
    paced: bool  # text is cut into tokens and sent at the Sandbox's speed; False: chunk by chunk as written
    finish_reason: str | None
    usage: Mapping[str, int]
    status: int
    body: bytes
    headers: Mapping[str, str]
    wait_s: float


class ScriptedResponse(NamedTuple):
    name: str
    match: Match
    times: int | None  # None: for ever
    scripted: ResponseRule
    source: Json  # as it was written


class ScriptedResponses:
    """The list, and how often each answer was used. Answers of `first` are there again after a reset."""

    def __init__(self, first: Sequence[ScriptedResponse] = ()) -> None:
        self._first = tuple(first)
        self._listed: list[ScriptedResponse] = []
        self._used: Counter[str] = Counter()
        self._met: Counter[str] = Counter()
        self.reset()

    def reset(self) -> None:
        self.replace(self._first)

    def replace(self, answers: Iterable[ScriptedResponse]) -> None:
        """Take these instead of all that are there, and count from nothing."""
        self._listed, self._used, self._met = [], Counter(), Counter()
        self.add(answers)

    def add(self, answers: Iterable[ScriptedResponse]) -> None:
        """Add at the end. An answer whose name is there already takes its place and is counted anew."""
        for answer in answers:
            name = answer.name or self._free_name()
            named = ScriptedResponse(name, answer.match, answer.times, answer.scripted, answer.source)
            place = next((n for n, known in enumerate(self._listed) if known.name == name), len(self._listed))
            self._listed[place : place + 1] = [named]
            self._used.pop(name, None)
            self._met.pop(name, None)

    def remove(self, name: str) -> bool:
        left = [answer for answer in self._listed if answer.name != name]
        is_known = len(left) < len(self._listed)
        self._listed = left
        return is_known

    def cover(self, path: str, method: str) -> bool:
        """Whether a path that the Sandbox does not serve is one that a script speaks of."""
        return any(
            answer.match.path and answer.match.path in path and answer.match.method in ("", method)
            for answer in self._listed
            if not answer.scripted.is_chat
        )

    def take(self, request: Request) -> ScriptedResponse | None:
        """Return the answer for this request and use up one of its times; count the request for every `nth`."""
        if not self._listed:
            return None
        is_chat, body, taken = request.path.rstrip("/") == CHAT_PATH, _body_of(request), None
        for answer in self._listed:
            if (answer.scripted.is_chat and not is_chat) or not answer.match.meets(request, body):
                continue
            self._met[answer.name] += 1
            is_due = answer.match.nth in (None, self._met[answer.name])
            if taken is None and is_due and (answer.times is None or self._used[answer.name] < answer.times):
                taken = answer
        if taken is not None:
            self._used[taken.name] += 1
        return taken

    def give_back(self, answer: ScriptedResponse) -> None:
        """The request turned out to be one that is refused; the answer waits for the next."""
        self._used[answer.name] -= 1

    def as_json(self) -> list[Json]:
        return [
            {**_masked(answer.source), "name": answer.name, "times": answer.times, "used": self._used[answer.name]}
            for answer in self._listed
        ]

    def _free_name(self) -> str:
        taken = {answer.name for answer in self._listed}
        return next(name for n in range(1, len(taken) + 2) if (name := f"answer-{n}") not in taken)


def load(file: File) -> tuple[ScriptedResponse, ...]:
    """Read a script from a file, JSON or `.yaml`. Raises `OSError`, and `ValueError` that names every wrong field."""
    raw = file.read_bytes()
    if file.suffix.lower() in YAML_FILES:
        raw = _json_of_yaml(raw)
    try:
        body = read_json(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON: {error}") from None
    check = Checker()
    answers = _answers(check, body if isinstance(body, dict) else {"answers": body})
    if complaints := check.lines():
        raise ValueError("; ".join(complaints))
    return answers


def _json_of_yaml(raw: bytes) -> bytes:
    """Return the same in JSON. YAML 1.2, in which `no` is a word and a date is text only in quotes."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError:
        raise ValueError("YAML needs ruamel.yaml, which is not installed: pip install ruamel.yaml") from None
    try:
        value = YAML(typ="safe", pure=True).load(raw.decode())
    except (YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not YAML: {' '.join(str(error).split())}") from None
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueError("there is a value that JSON does not have; put dates in quotes") from None


def read(body: Json) -> tuple[ScriptedResponse, ...]:
    """Read a script, or one answer alone. Raises `Refusal` 400 with the tree of every wrong field."""
    check = Checker()
    answers = (_entry(check, (), body),) if "answer" in body else _answers(check, body)
    check.finish()
    return answers


def _answers(check: Checker, body: Json) -> tuple[ScriptedResponse, ...]:
    check.only((), body, ("$schema", "answers"))
    check.text(("$schema",), body.get("$schema"))
    if body.get("answers") is None:
        check.complain(("answers",), REQUIRED)
    rows = check.items(("answers",), body.get("answers")) or []
    answers = []
    names: set[str] = set()
    for number, row in enumerate(rows):
        path: Path = ("answers", number)
        answer = _entry(check, path, check.record(path, row) or {})
        if answer.name in names:
            check.complain((*path, "name"), "Another answer has this name")
        names |= {answer.name} - {""}
        answers.append(answer)
    return tuple(answers)


def _entry(check: Checker, path: Path, body: Json) -> ScriptedResponse:
    check.only(path, body, ENTRY_FIELDS)
    name = _filled(check, (*path, "name"), body.get("name"))
    times = check.integer((*path, "times"), body.get("times"), 1)
    match = _match(check, (*path, "match"), check.record((*path, "match"), body.get("match")) or {})
    if body.get("answer") is None:
        check.complain((*path, "answer"), REQUIRED)
    scripted = _scripted(check, (*path, "answer"), check.record((*path, "answer"), body.get("answer")) or {})
    if scripted.is_chat and match.path not in CHAT_PATH:
        check.complain((*path, "match", "path"), f"Only {CHAT_PATH} is answered with a chat; give a body instead")
    return ScriptedResponse(name, match, times, scripted, body)


def _match(check: Checker, path: Path, body: Json) -> Match:
    check.only(path, body, MATCH_FIELDS)
    words = check.items((*path, "words"), body.get("words")) or []
    headers = check.record((*path, "headers"), body.get("headers")) or {}
    for number, word in enumerate(words):
        _filled(check, (*path, "words", number), word, required=True)
    for name, value in headers.items():
        _string(check, (*path, "headers", name), value)
    return Match(
        _filled(check, (*path, "path"), body.get("path")),
        _filled(check, (*path, "method"), body.get("method")).upper(),
        _filled(check, (*path, "model"), body.get("model")),
        tuple(str(word) for word in words),
        {name.lower(): str(value) for name, value in headers.items()},
        check.integer((*path, "nth"), body.get("nth"), 1),
    )


def _scripted(check: Checker, path: Path, body: Json) -> ResponseRule:
    check.only(path, body, ANSWER_FIELDS)
    is_chat = any(name in body for name in CHAT_FIELDS)
    status = check.integer((*path, "status"), body.get("status"), 200, 599)
    for name in PLAIN_FIELDS:
        if is_chat and name in body and (name, status) != ("status", 200):
            check.complain((*path, name), "A chat cannot have this; give either a chat or a status and a body")
    if not is_chat and not any(name in body for name in PLAIN_FIELDS):
        check.complain(path, f"Give a chat ({', '.join(CHAT_FIELDS)}) or a body ({', '.join(PLAIN_FIELDS)})")
    if "body" in body and "body_base64" in body:
        check.complain((*path, "body_base64"), "Give either body or body_base64")
    content_type, content = _content(check, path, body)
    if content and status in WITHOUT_BODY:
        check.complain((*path, "body"), f"An answer with status {status} has no body")
    headers = sendable_headers(check, (*path, "headers"), body.get("headers")) or {}
    if content_type and not any(name.lower() == "content-type" for name in headers):
        headers = {"Content-Type": content_type, **headers}
    chunks, paced = _chunks(check, path, body)
    usage = check.record((*path, "usage"), body.get("usage")) or {}
    check.only((*path, "usage"), usage, USAGE_FIELDS)
    counts = {name: check.integer((*path, "usage", name), usage.get(name), 0) for name in USAGE_FIELDS}
    return ResponseRule(
        is_chat,
        chunks,
        paced,
        check.choice((*path, "finish_reason"), body.get("finish_reason"), FINISH_REASONS),
        {name: count for name, count in counts.items() if count is not None},
        status or 200,
        content,
        {str(name): str(value) for name, value in headers.items()},
        check.number((*path, "wait_s"), body.get("wait_s"), 0, LONGEST_WAIT_S) or 0.0,
    )


def _chunks(check: Checker, path: Path, body: Json) -> tuple[tuple[Chunk, ...], bool]:
    """Return what is said, in its order, and whether it is paced like any other answer."""
    rows = check.items((*path, "chunks"), body.get("chunks"))
    if rows is None:
        return tuple(
            _said(check, path, name, body) for name in ("reasoning", "text", "tool_calls") if name in body
        ), True
    for name in SAID:
        if name in body:
            check.complain((*path, name), "Give it in the chunks, or leave the chunks out")
    chunks = []
    for number, row in enumerate(rows):
        here: Path = (*path, "chunks", number)
        chunk = check.record(here, row) or {}
        check.only(here, chunk, CHUNK_FIELDS)
        names = [name for name in SAID if name in chunk]
        if len(names) != 1:
            check.complain(here, f"Give exactly one of {', '.join(SAID)}")
            continue
        wait_s = check.number((*here, "wait_s"), chunk.get("wait_s"), 0, LONGEST_WAIT_S) or 0.0
        chunks.append(_said(check, here, names[0], chunk, wait_s))
    return tuple(chunks), False


def _said(check: Checker, path: Path, name: str, body: Json, wait_s: float = 0.0) -> Chunk:
    if name != "tool_calls":
        return Chunk(name, _string(check, (*path, name), body[name]), wait_s=wait_s)
    if body[name] is None:
        check.complain((*path, name), REQUIRED)
    rows = check.items((*path, name), body[name]) or []
    return Chunk(name, calls=tuple(_call(check, (*path, name, n), row) for n, row in enumerate(rows)), wait_s=wait_s)


def _call(check: Checker, path: Path, row: Any) -> ToolCall:
    call = check.record(path, row) or {}
    check.only(path, call, CALL_FIELDS)
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict | str):
        check.complain((*path, "arguments"), "Expected object or string")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(
        _filled(check, (*path, "name"), call.get("name"), required=True),
        text,
        _filled(check, (*path, "id"), call.get("id")),
    )


def _content(check: Checker, path: Path, body: Json) -> tuple[str, bytes]:
    """Return the type and the bytes of a body. Text goes out as it is, everything else as JSON; null is none."""
    if "body_base64" in body:
        text = _string(check, (*path, "body_base64"), body["body_base64"])
        try:
            return "application/octet-stream", base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            check.complain((*path, "body_base64"), "This is not base64")
    content = body.get("body")
    if content is None:
        return "", b""
    if isinstance(content, str):
        return "text/plain; charset=utf-8", content.encode()
    return "application/json; charset=utf-8", json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _string(check: Checker, path: Path, value: object) -> str:
    if value is None:
        check.complain(path, REQUIRED)
    return check.text(path, value) or ""


def _filled(check: Checker, path: Path, value: object, *, required: bool = False) -> str:
    if value is None and not required:
        return ""
    text = _string(check, path, value)
    if value == "":
        check.complain(path, "String must contain at least 1 character(s)")
    return text


def _body_of(request: Request) -> Json:
    """Return the JSON object in a body, or the model that a form names. The handler says what is wrong with either."""
    content_type = request.headers.get("content-type", "")
    if content_type.startswith("multipart/form-data"):
        found = _FORM_MODEL.search(request.body)
        return {"model": found[1].decode("utf-8", "replace")} if found is not None else {}
    if not request.body or "json" not in content_type:
        return {}
    try:
        body = read_json(request.body)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _asked(body: Json) -> str:
    """The last user message; where there are no messages, what an image, speech or an embedding is asked for."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return next((text for name in ("prompt", "input") if isinstance(text := body.get(name), str)), "")
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            parts = content if isinstance(content, list) else []
            return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return ""


def _masked(source: Json) -> Json:
    """A script without the credentials that its conditions may name."""
    match = source.get("match") or {}
    headers = match.get("headers")
    if not headers:
        return source
    shown = {name: HIDDEN if name.lower() in SECRET_HEADERS else value for name, value in headers.items()}
    return {**source, "match": {**match, "headers": shown}}


def merged(headers: Mapping[str, str], scripted: Mapping[str, str]) -> dict[str, str]:
    """Return headers in which a scripted one takes the place of its own name in any case."""
    own = {name.lower() for name in scripted}
    return {**{name: value for name, value in headers.items() if name.lower() not in own}, **scripted}
