"""What produces an answer: the handbook reader, the attachment meter, or a model server on this computer.

Every engine yields `Piece`s; pacing, cutting at stop words and limits, counting and framing happen outside.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.sandbox.chat import structured, tool_calls
from app.sandbox.chat.attachments import describe
from app.sandbox.chat.augmentation import Findings
from app.sandbox.chat.chat_request import ChatRequest, text_of
from app.sandbox.chat.file_parts import passages_in, quotes, read_files
from app.sandbox.chat.handbook import Section
from app.sandbox.chat.handbook_reader import DocumentReading, Reply, read
from app.sandbox.http.call import DIALECTS
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import Checker
from app.sandbox.model_catalog import ModelEntry

if TYPE_CHECKING:
    from app.sandbox.http.scripted_responses import ResponseRule
    from app.sandbox.site import Site

PASSAGE_MARK = "(#passage-n)"  # a system prompt with it asks for links to the passages that are quoted
LOOK_AT = {"low": 2, "medium": 4, "high": 8}


@dataclass(frozen=True, slots=True)
class Piece:
    """`kind`: "text", "reasoning", "tool_calls", "usage", "length" or "finish" (whose text is the reason)."""

    kind: str
    text: str = ""
    data: tuple[Json, ...] = ()
    is_whole: bool = False  # sent in one event as it is, not token by token


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything an engine may know about one request."""

    request: ChatRequest
    model: ModelEntry
    prompt: tuple[Json, ...]
    question: str
    earlier: list[str]
    findings: Findings
    greeting: str  # a character's first line, or ""
    scripted: ResponseRule | None = None  # what is said in place of an engine's answer

    @property
    def thinks(self) -> bool:
        return (
            self.model.thinking != "none"
            and not self.request.extension.disable_thinking
            and self.request.effort != "none"
        )

    @property
    def cites(self) -> bool:
        return self.findings.kind != "none" and self.request.extension.enable_web_citations


def make_turn(
    request: ChatRequest,
    model: ModelEntry,
    prompt: tuple[Json, ...],
    findings: Findings,
    greeting: str,
    scripted: ResponseRule | None = None,
) -> Turn:
    question, earlier = question_of(request)
    return Turn(request, model, prompt, question, earlier, findings, greeting, scripted)


def question_of(request: ChatRequest) -> tuple[str, list[str]]:
    """Return the person's last message and the ones before it."""
    asked = [text_of(message) for message in request.messages if message.get("role") == "user"]
    return (asked[-1], asked[:-1]) if asked else ("", [])


async def answer(site: Site, turn: Turn) -> AsyncGenerator[Piece, None]:
    """Yield the pieces of one answer. Raises `HttpError` before the first piece when there is none."""
    if turn.scripted is not None:
        async for piece in _as_scripted(turn.scripted, site.world.token):
            yield piece
        return
    if turn.model.engine == "local":
        async for piece in _passed_on(site, turn):
            yield piece
        return
    check = Checker(flat_list=DIALECTS[site.world.settings.dialect].issues_in_errors)
    calls = tool_calls.wanted(turn.request, turn.question, site.world.token, check)
    if calls:
        yield Piece("tool_calls", data=tuple(calls))
        return
    reply = _reply(site, turn)
    if turn.thinks and reply.trace:
        trace = "\n".join(reply.trace)
        if turn.model.thinking == "field":
            yield Piece("reasoning", trace)
        elif not turn.request.extension.strip_thinking_response:
            yield Piece("text", f"<think>\n{trace}\n</think>\n\n")
    if turn.request.response_format:
        form, titles = turn.request.response_format, _titles(turn, reply)
        yield Piece("text", structured.as_json(form, turn.question, reply.text, titles, check))
    else:
        yield Piece("text", reply.text)


async def _as_scripted(scripted: ResponseRule, token: tool_calls.Token) -> AsyncGenerator[Piece, None]:
    for chunk in scripted.chunks:
        if chunk.wait_s:
            await asyncio.sleep(chunk.wait_s)
        if chunk.kind == "tool_calls":
            yield Piece(
                "tool_calls", data=tuple(tool_calls.call(one.name, one.arguments, token, one.id) for one in chunk.calls)
            )
        else:
            yield Piece(chunk.kind, chunk.text, is_whole=not scripted.paced)
    if scripted.finish_reason is not None:
        yield Piece("finish", scripted.finish_reason)


def _reply(site: Site, turn: Turn) -> Reply:
    told = tool_calls.told(turn.request)
    if told:
        return Reply(told, trace=("The last message contains tool results. They are returned unchanged.",))
    if turn.model.engine == "vision":
        return Reply(describe(turn.request), trace=())
    if turn.findings.kind == "native" and turn.findings.sources:
        return _from_notices(turn)
    if turn.findings.kind == "scrape" and turn.findings.sources and turn.findings.sources[0].section is None:
        return _from_links(turn)
    cited = {source.section: n for n, source in enumerate(turn.findings.sources) if source.section is not None}

    def marker(section: Section) -> str:
        return f"[REF]{cited[section]}[/REF]" if turn.cites and section in cited else ""

    page = None
    if turn.findings.kind == "scrape" and turn.findings.sources[:1]:
        section = turn.findings.sources[0].section
        page = section.page if section else None
    look_at = LOOK_AT.get(turn.request.effort or "medium", 4)
    reply = read(site.handbook, DocumentReading(turn.question, turn.earlier, page, turn.greeting, look_at, marker))
    asked = [message for message in turn.request.messages if message.get("role") == "user"]
    files = read_files(asked[-1:])
    if not files:
        return reply
    is_cited = any(PASSAGE_MARK in text_of(each) for each in turn.request.messages if each.get("role") == "system")
    if is_cited:
        files = passages_in(files)
    quoted = quotes(turn.question, files, lambda number: f" [{number}](#passage-{number})" if is_cited else "")
    text = f"{quoted}\n\n{reply.text}" if reply.used else quoted
    return Reply(text, reply.used, (*reply.trace, f"Read {len(files)} attached files."))


def _from_notices(turn: Turn) -> Reply:
    lines = [
        f"- {source.content}" + (f"[REF]{n}[/REF]" if turn.cites else "")
        for n, source in enumerate(turn.findings.sources)
    ]
    text = "The notice board says:\n\n" + "\n".join(lines)
    return Reply(f"{turn.greeting}\n\n{text}" if turn.greeting else text, trace=("Searched only the notice board.",))


def _from_links(turn: Turn) -> Reply:
    parts = []
    for n, source in enumerate(turn.findings.sources):
        mark = f"[REF]{n}[/REF]" if turn.cites else ""
        parts.append(f"**{source.title}** begins:\n\n> {source.content}{mark}")
    parts += [f"{url} could not be read." for url in turn.findings.failed]
    return Reply("\n\n".join(parts), trace=(f"Read {len(turn.findings.sources)} linked pages.",))


def _titles(turn: Turn, reply: Reply) -> Sequence[str]:
    return [section.title for section in reply.used] or [source.title for source in turn.findings.sources]


async def _passed_on(site: Site, turn: Turn) -> AsyncGenerator[Piece, None]:
    calls: dict[int, Json] = {}
    async for chunk in site.local_servers.answer(turn.model, list(turn.prompt), turn.request.sent):
        if isinstance(chunk.get("error"), dict | str):
            raise HttpError(502, f"The model server answered with an error: {json.dumps(chunk['error'])[:300]}")
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            thoughts = delta.get("reasoning_content") or delta.get("reasoning")
            if thoughts and turn.request.extension.strip_thinking_response is False:
                yield Piece("reasoning", str(thoughts))
            if delta.get("content"):
                yield Piece("text", str(delta["content"]))
            for fragment in delta.get("tool_calls") or ():
                _merge_call(calls, fragment)
            if choice.get("finish_reason") == "length":
                yield Piece("length")
        if isinstance(chunk.get("usage"), dict):
            yield Piece("usage", data=(chunk["usage"],))
    if calls:
        yield Piece("tool_calls", data=tuple(calls.values()))


def _merge_call(calls: dict[int, Json], fragment: Json) -> None:
    """Put the fragments of streamed tool calls together; a new id starts a new call even under a used index."""
    index = int(fragment.get("index") or 0)
    function = fragment.get("function") or {}
    known = calls.get(index)
    if known is None or (fragment.get("id") and fragment["id"] != known["id"]):
        index = index if known is None else max(calls) + 1
        name = str(function.get("name") or "")
        calls[index] = known = {
            "id": fragment.get("id") or f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
    known["function"]["arguments"] += str(function.get("arguments") or "")
