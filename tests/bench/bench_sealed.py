"""P13, and P3 and P4 of a sealed answer: checking a quote, opening a chunk, and the first word against an open one."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.sealed.chain import Root
from app.sealed.envelope import SecretKey, open_envelope, seal
from app.service.auth import ApiKeyAuth
from app.service.chat import OPENED_AT_ONCE, ChatStream
from app.service.chat_types import ChatMessage, ChatRequest, TextDelta
from app.service.sealed.resource import SealedSession
from app.service.sealed.stream import SealedAnswer
from app.service.service import Service, open_service
from tests.bench.harness import Ratio, medians, wall_s
from tests.sandbox.support import Client, running
from tests.sealed.samples import Sample

RUNS = 15
CHUNKS = 500
LONG = 20_000  # pieces
TURN_MS = 16.0
QUOTE_MS, CHUNK_MS, FIRST_WORD_MS = 30.0, 0.15, 150.0
SEALED, OPEN = "rialto-sealed-gateway", "rialto-handbook"  # the same reader, neither shows its reasoning


def quote() -> Ratio:
    """A real quote with Intel's lists."""
    sample = Sample("first-shape")
    lists = sample.collateral
    (taken,) = medians(lambda: wall_s(lambda: sample.verify(collateral=lists)), runs=RUNS, warm_up=2)
    return Ratio("P13", "checking a quote", taken * 1000, QUOTE_MS, "the goal", unit="ms")


def chunk() -> Ratio:
    key = SecretKey()
    envelope = seal(" scattering", key.public)

    def work() -> None:
        for _ in range(CHUNKS):
            open_envelope(envelope, key)

    (taken,) = medians(lambda: wall_s(work) / CHUNKS, runs=RUNS)
    return Ratio("P13", "opening a chunk", taken * 1000, CHUNK_MS, "the goal", unit="ms")


def burst() -> Ratio:
    """What is opened before the window has its turn again."""
    key = SecretKey()
    pieces = _pieces(key, OPENED_AT_ONCE)
    answer = SealedAnswer(key, b"", lambda: None)
    (taken,) = medians(lambda: wall_s(lambda: answer.open(b"", pieces)), runs=RUNS)
    return Ratio("P4", "sealed: opening what is opened at once", taken * 1000, TURN_MS, "one frame", unit="ms")


def late_piece() -> Ratio:
    """A piece at the end of 20,000 against one at their beginning."""
    key = SecretKey()
    pieces = _pieces(key, OPENED_AT_ONCE)
    answer = SealedAnswer(key, b"", lambda: None)

    def work() -> None:
        for _ in range(8):
            answer.open(b"x" * 300, pieces)

    (early,) = medians(lambda: wall_s(work), runs=RUNS)
    while answer.opened < LONG:
        answer.open(b"x" * 300, pieces)
    (late,) = medians(lambda: wall_s(work), runs=RUNS)
    return Ratio("P3", "sealed: a piece at 20,000 tokens", late / early, 1.15, "at the beginning")


def _pieces(key: SecretKey, count: int) -> list[bytes]:
    delta = {"content": seal(" scattering", key.public)}
    content = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    return [json.dumps(content).encode()] * count


async def _first_word(stream: ChatStream) -> float:
    begun = time.perf_counter()
    async with stream:
        async for events in stream:
            if any(isinstance(event, TextDelta) and event.text.strip() for event in events):
                return time.perf_counter() - begun
    raise AssertionError("no word came")


def first_word() -> Ratio:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), clock=time.time) as sandbox:
        return asyncio.run(_against_an_open_one(sandbox))


async def _against_an_open_one(sandbox: Client) -> Ratio:
    async def key() -> str:
        return sandbox.running.api_key

    service = open_service(sandbox.running.base_url, "service", ApiKeyAuth(key), lambda exchange: None)
    try:
        root = sandbox.control("/sealed/root", method="GET")
        attestation = await service.sealed.attest(SEALED, root=Root(root["sha256"], root["name"]))
        session = SealedSession(attestation)
        question = (ChatMessage("user", "How do I stop an answer?"),)
        asked: tuple[Callable[[Service], ChatStream], ...] = (
            lambda at: at.sealed.stream(ChatRequest(SEALED, question), session),
            lambda at: at.chat.stream(ChatRequest(OPEN, question)),
        )
        figures: tuple[list[float], ...] = ([], [])
        for number in range(RUNS + 1):
            for ask, taken in zip(asked, figures, strict=True):
                once: Awaitable[float] = _first_word(ask(service))
                took = await once
                if number:  # the first opens connections
                    taken.append(took)
        ours, theirs = (sorted(each)[len(each) // 2] * 1000 for each in figures)
        detail = f"{ours:.3g} ms against {theirs:.3g} ms"
        baseline = "the same answer unsealed"
        return Ratio("P13", "first word, later by", ours - theirs, FIRST_WORD_MS, baseline, unit="ms", detail=detail)
    finally:
        await service.aclose()


def main() -> list[Ratio]:
    return [quote(), chunk(), first_word(), burst(), late_piece()]
