"""Delivers one chat completion: cut at stop sequences and limits, paced, counted, framed and billed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from decimal import Decimal

from app.sandbox.chat import answer_engines, tokens, tool_calls
from app.sandbox.chat.answer_engines import Piece, Turn
from app.sandbox.chat.prompts import CacheUse
from app.sandbox.chat.stream_filters import StopCutter, ThinkStripper
from app.sandbox.http.call import Call, dump
from app.sandbox.http.connections import HangUp
from app.sandbox.http.errors import Json
from app.sandbox.world import Charge

UNLIMITED = 2**31
RETRY_AFTER_S = 30
MARK = "\0\1"  # in no name of a model
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Job:
    turn: Turn
    prompt_tokens: int
    cache: CacheUse
    id: str


@dataclass(slots=True)
class _Choice:
    """What one choice has said so far."""

    text: str = ""
    reasoning: str = ""
    calls: list[Json] = field(default_factory=list)
    announced: int = 0  # how many of the calls have gone out
    finish: str | None = None
    stopped: bool = False  # by one of the request's stop strings


BLOCKED_AFTER = 24  # characters
BLOCKED_CODE = "content_blocked_by_provider"
BLOCKED_TEXT = "The model's provider stopped this answer because of its content policy."


class Completion:
    """`begin()`, then either `whole()` or `events()`, then `end()`; `end()` charges exactly once."""

    def __init__(self, call: Call, job: Job) -> None:
        self._call = call
        self._job = job
        self._turn = job.turn
        self._created = int(call.world.clock.now())
        self._began_at = call.world.clock.now()
        self._text_tokens = 0
        self._reasoning_tokens = 0
        self._stated: Json | None = None  # the figures of a local server, which count its own tokens
        self._cost: Decimal | None = None
        self._pieces: AsyncGenerator[Piece, None] | None = None
        self._first: Piece | None = None
        self.is_blocked = False  # the provider of the model stops the answer for its content
        self._frames: dict[tuple[int, str], tuple[bytes, bytes]] = {}  # around a token, by choice and field

    @property
    def id(self) -> str:
        return self._job.id

    async def begin(self) -> None:
        """Get the first piece, so that an engine that cannot answer is refused with a status of its own."""
        self._pieces = answer_engines.answer(self._call.site, self._turn)
        if self._turn.scripted is None:  # a script is never refused, and its waits belong into the stream
            self._first = await anext(self._pieces, None)

    async def whole(self) -> Json:
        choices = []
        for index in range(self._turn.request.choices):
            choice = _Choice()
            async for _ in self._run(choice):
                pass
            choices.append(self._whole_choice(index, choice))
        await self.end()
        return {
            "id": self._job.id,
            "object": "chat.completion",
            "created": self._created,
            "model": self._turn.model.id,
            "choices": choices,
            "usage": self._usage(),
            "cost": {"usd": self._cost, "diem": 0},
            self._call.names.extension: self._echo(with_sources=True),
        }

    async def events(self) -> AsyncIterator[bytes]:
        """Yield server-sent events: results, role, reasoning, text, finish, usage, [DONE]."""
        path = self._call.request.path
        take_fault = self._call.world.faults.take_fault
        cut, broken = take_fault("cut", path), take_fault("in_band_error", path)
        if self.is_blocked:
            broken = {"after": BLOCKED_AFTER, "text": BLOCKED_TEXT, "code": BLOCKED_CODE}
        split_think, same_index = (
            take_fault("split_think", path) is not None,
            take_fault("same_index", path) is not None,
        )
        extension = self._turn.request.extension
        if extension.include_search_results_in_stream and self._turn.findings.kind != "none":
            yield self._chunk([], {self._call.names.extension: self._echo(with_sources=True)})
        passed_on = self._turn.model.engine == "local"  # such a server has a pace of its own
        scripted = self._turn.scripted
        has_own_pace = passed_on or (scripted is not None and not scripted.paced)
        pace = _Pace(0.0 if has_own_pace else self._call.world.settings.tokens_per_second)
        said = 0
        for index in range(self._turn.request.choices):
            choice = _Choice()
            yield self._delta(index, {"role": "assistant", "content": ""})
            async for kind, text in self._run(choice):
                if kind == "calls":
                    for event in self._call_deltas(index, choice, same_index=same_index):
                        yield event
                    continue
                await pace.wait()
                name = "reasoning_content" if kind == "reasoning" else "content"
                if split_think and text in ("<think>", "</think>"):
                    yield self._delta(index, {name: text[:3]})
                    text = text[3:]
                if cut is not None and said + len(text) > int(cut.get("after", 0)):
                    raise HangUp
                if broken is not None and said + len(text) > int(broken.get("after", 0)):
                    yield self._broken(broken)
                    yield DONE
                    return
                said += len(text)
                yield self._said(index, name, text)
            yield self._delta(index, {}, finish=choice.finish)
        if cut is not None:
            raise HangUp
        if broken is not None:
            yield self._broken(broken)
            yield DONE
            return
        await self.end()
        totals = {"usage": self._usage(), "cost": {"usd": self._cost, "diem": 0}}
        yield self._chunk([], {**totals, self._call.names.extension: self._echo(with_sources=False)})
        if take_fault("no_done", path) is None:
            yield DONE

    async def end(self) -> None:
        """Charge what was generated, also when the client left half-way."""
        if self._cost is not None:
            return
        self._cost = self._charge()
        self._call.cost_usd = self._cost
        if self._pieces is not None:
            await self._pieces.aclose()

    async def _run(self, choice: _Choice) -> AsyncIterator[tuple[str, str]]:
        """Yield ("reasoning" | "text", token) and once ("calls", ""); fills `choice` and ends at stop word or limit."""
        request = self._turn.request
        documents = self._documents()
        if documents:
            choice.calls.append(documents)
            yield "calls", ""
        is_scripted = self._turn.scripted is not None
        passed_on = self._turn.model.engine == "local" and not is_scripted
        has_no_limit = passed_on or is_scripted
        left = UNLIMITED if has_no_limit else request.max_tokens or self._turn.model.max_completion_tokens or UNLIMITED
        strips = request.extension.strip_thinking_response or request.extension.disable_thinking
        stripper = ThinkStripper(active=strips and passed_on)
        cutter = StopCutter(() if is_scripted else request.stop)
        finish = ""
        async with aclosing(self._next_pieces()) as pieces:
            async for piece in pieces:
                if piece.kind == "usage":
                    self._stated = _summed(self._stated, piece.data[0])
                elif piece.kind == "length":
                    finish = "length"
                elif piece.kind == "finish":
                    finish = piece.text
                elif piece.kind == "tool_calls":
                    choice.calls.extend(piece.data)
                    self._text_tokens += sum(tokens.count(call["function"]["arguments"]) for call in piece.data)
                    yield "calls", ""
                else:
                    text = piece.text if piece.kind == "reasoning" else cutter.feed(stripper.feed(piece.text))
                    for token in [text] if piece.is_whole else tokens.split(text):
                        if left <= 0:
                            choice.finish = "length"
                            return
                        left -= 1
                        self._count(choice, piece.kind, token, tokens.count(token) if piece.is_whole else 1)
                        yield piece.kind, token
                    if cutter.stopped:
                        choice.finish, choice.stopped = "stop", True
                        return
        for token in tokens.split(cutter.feed(stripper.rest()) + cutter.rest()):
            if left <= 0:
                choice.finish = "length"
                return
            left -= 1
            self._count(choice, "text", token)
            yield "text", token
        choice.finish = finish or ("tool_calls" if choice.calls else "stop")

    async def _next_pieces(self) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer begun in `begin()`, and for every further choice those of a new one."""
        pieces, self._pieces = self._pieces or answer_engines.answer(self._call.site, self._turn), None
        first, self._first = self._first, None
        try:
            if first is not None:
                yield first
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    def _count(self, choice: _Choice, kind: str, text: str, number: int = 1) -> None:
        if kind == "reasoning":
            choice.reasoning += text
            self._reasoning_tokens += number
        else:
            choice.text += text
            self._text_tokens += number

    def _documents(self) -> Json | None:
        findings = self._turn.findings
        if not self._turn.request.extension.return_search_results_as_documents or not findings.sources:
            return None
        return tool_calls.documents_call(
            [
                {"id": str(n), "title": s.title, "url": s.url, "snippet": s.content, "published_at": s.date}
                for n, s in enumerate(findings.sources)
            ],
            self._call.world.token,
        )

    def _usage(self) -> Json:
        if self._stated is not None:
            return self._stated
        cache = self._job.cache
        told = self._turn.scripted.usage if self._turn.scripted is not None else {}
        prompt = told.get("prompt_tokens", self._job.prompt_tokens)
        completion = told.get("completion_tokens", self._text_tokens + self._reasoning_tokens)
        cached = told.get("cached_tokens", cache.cached)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": told.get("total_tokens", prompt + completion),
            "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_input_tokens": cache.created},
            "completion_tokens_details": {"reasoning_tokens": told.get("reasoning_tokens", self._reasoning_tokens)},
        }

    def _charge(self) -> Decimal:
        call, model, cache = self._call, self._turn.model, self._job.cache
        completion = self._text_tokens + self._reasoning_tokens
        now = call.world.clock.now()
        seconds = max(0.0, now - self._began_at)
        lines = [
            (
                "llm-input",
                self._job.prompt_tokens,
                model.prices.cost(self._job.prompt_tokens, 0, cache.cached, cache.created),
            ),
            ("llm-output", completion, self._output_cost(completion)),
        ]
        total = Decimal(0)
        for suffix, units, usd in lines:
            if usd:
                line = Charge(
                    now,
                    f"{model.id}-{suffix}",
                    Decimal(units),
                    usd / units,
                    -usd,
                    self._job.id,
                    model.id,
                    self._job.prompt_tokens,
                    completion,
                    seconds,
                )
                call.caller.charge(line)
            total += usd
        for sku, units, price in self._turn.findings.charges:
            usd = units * price
            call.caller.charge(Charge(now, sku, Decimal(units), price, -usd, self._job.id, model.id))
            total += usd
        call.caller.limits.use_tokens(model.id, self._job.prompt_tokens + completion, now)
        return total

    def _output_cost(self, completion: int) -> Decimal:
        """The output rate depends on the size of the prompt where extended rates exist."""
        prices, prompt = self._turn.model.prices, self._job.prompt_tokens
        return prices.cost(prompt, completion, 0, 0) - prices.cost(prompt, 0, 0, 0)

    def _echo(self, *, with_sources: bool) -> Json:
        echo = self._turn.request.extension.as_json()
        if with_sources:
            echo["web_search_citations"] = [source.as_json() for source in self._turn.findings.sources]
        return echo

    def _whole_choice(self, index: int, choice: _Choice) -> Json:
        message: Json = {"role": "assistant", "content": choice.text or None, "tool_calls": choice.calls}
        message["reasoning_content"] = choice.reasoning or None
        return {
            "index": index,
            "finish_reason": choice.finish,
            "stop_reason": "stop" if choice.stopped else None,
            "logprobs": None,
            "message": message,
        }

    def _chunk(self, choices: list[Json], more: Json) -> bytes:
        head = {"id": self._job.id, "object": "chat.completion.chunk", "created": self._created}
        return b"data: " + dump({**head, "model": self._turn.model.id, "choices": choices, **more}) + b"\n\n"

    def _said(self, index: int, name: str, text: str) -> bytes:
        """What `_delta` says of a text, a token after a token, without writing all around it each time."""
        if (index, name) not in self._frames:
            whole = self._delta(index, {name: MARK})
            before, _, after = whole.partition(dump(MARK))
            self._frames[index, name] = before, after
        before, after = self._frames[index, name]
        return before + dump(text) + after

    def _delta(self, index: int, delta: Json, finish: str | None = None) -> bytes:
        return self._chunk([{"index": index, "delta": delta, "finish_reason": finish}], {})

    def _call_deltas(self, index: int, choice: _Choice, *, same_index: bool) -> list[bytes]:
        """First a fragment with id and name, then the arguments in two halves, call by call."""
        events = []
        first, choice.announced = choice.announced, len(choice.calls)
        for number, call in enumerate(choice.calls[first:], first):
            place = {"index": 0 if same_index else number}
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            half = len(arguments) // 2
            opening = {**place, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
            fragments = [
                opening,
                *({**place, "function": {"arguments": part}} for part in (arguments[:half], arguments[half:])),
            ]
            events += [self._delta(index, {"tool_calls": [fragment]}) for fragment in fragments]
        return events

    def error_event(self, message: str, code: str) -> bytes:
        """An error inside the stream, whose status 200 is long gone."""
        kind = "content_filter_error" if code == BLOCKED_CODE else "server_error"
        error: Json = {"message": message, "type": kind, "code": code}
        if code == "model_overloaded":
            error["retry_after"] = RETRY_AFTER_S
        return b"data: " + dump({"error": error}) + b"\n\n"

    def _broken(self, fault: Json) -> bytes:
        text, code = fault.get("text") or "The model is overloaded", fault.get("code") or "model_overloaded"
        return self.error_event(str(text), str(code))


class _Pace:
    """Lets tokens leave at an even rate; a rate of 0 never waits, but other connections have their turn."""

    def __init__(self, tokens_per_second: float) -> None:
        self._interval_s = 1 / tokens_per_second if tokens_per_second > 0 else 0.0
        self._next_at: float | None = None

    async def wait(self) -> None:
        if not self._interval_s:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = now if self._next_at is None else self._next_at
        if due > now:
            await asyncio.sleep(due - now)
        self._next_at = max(due, now - self._interval_s) + self._interval_s


def _summed(known: Json | None, more: Json) -> Json:
    if known is None:
        return more
    counted = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {**more, **{name: int(known.get(name) or 0) + int(more.get(name) or 0) for name in counted}}
