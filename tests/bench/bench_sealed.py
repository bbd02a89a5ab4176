"""P13, and P3 and P4 of a sealed answer: a quote, a chunk, the first word against an open one, and the message view."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.sealed.chain import Root
from app.sealed.envelope import SecretKey, open_envelope, seal
from app.service.auth import ApiKeyAuth
from app.service.chat import OPENED_AT_ONCE, ChatStream
from app.service.chat_chunks import ChatReader
from app.service.chat_types import ChatMessage, ChatRequest, TextDelta
from app.service.sealed.resource import SealedSession
from app.service.sealed.stream import SealedAnswer
from app.service.service import Service, open_service
from app.ui.kit.theme import Theme
from tests.bench.bench_message_view import LONG, TOKENS, close, section_cost_s, streaming_view
from tests.bench.bench_stalls import P99_MS, WORST_MS, our_beats
from tests.bench.harness import MIN_RUNS, Ratio, cpu_s, medians, percentile
from tests.sandbox.support import Client, running
from tests.sealed.samples import Sample

RUNS = 15
CHUNKS = 500
TURN_MS = 16.0
QUOTE_MS, CHUNK_MS, FIRST_WORD_MS = 30.0, 0.15, 150.0
SEALED, OPEN = "rialto-sealed-gateway", "rialto-handbook"  # the same reader, neither shows its reasoning


def quote() -> Ratio:
    """A real quote with Intel's lists."""
    sample = Sample("first-shape")
    lists = sample.collateral
    (taken,) = medians(lambda: cpu_s(lambda: sample.verify(collateral=lists)), runs=RUNS, warm_up=2)
    return Ratio("P13", "checking a quote", taken * 1000, QUOTE_MS, "the goal", unit="ms")


def chunk() -> Ratio:
    key = SecretKey()
    envelope = seal(" scattering", key.public)

    def work() -> None:
        for _ in range(CHUNKS):
            open_envelope(envelope, key)

    (taken,) = medians(lambda: cpu_s(work) / CHUNKS, runs=RUNS)
    return Ratio("P13", "opening a chunk", taken * 1000, CHUNK_MS, "the goal", unit="ms")


def burst() -> Ratio:
    """What is opened before the window has its turn again."""
    key = SecretKey()
    pieces = _pieces(key, OPENED_AT_ONCE)
    answer = SealedAnswer(key, b"", lambda: None)
    (taken,) = medians(lambda: cpu_s(lambda: answer.open(b"", pieces)), runs=RUNS)
    return Ratio("P4", "sealed: opening what is opened at once", taken * 1000, TURN_MS, "one frame", unit="ms")


class Arriving:
    """The way of sealed tokens to their text: what `ChatStream` does with each read of the network."""

    def __init__(self) -> None:
        key = SecretKey()
        self._pieces = {token: _piece(key, token) for token in TOKENS}
        self._answer = SealedAnswer(key, b"", lambda: None)
        self._reader = ChatReader(())

    def __call__(self, tokens: Sequence[str]) -> str:
        pieces = [self._pieces[token] for token in tokens]
        chunks, broken = self._answer.open(b"".join(pieces), pieces)
        assert broken is None
        return "".join(event.text for event in self._reader.read(chunks) if isinstance(event, TextDelta))


def late_token(theme: Theme) -> Ratio:
    """Opened and painted: a token at the end of a sealed answer of 20,000 against one at its beginning."""
    short, long = streaming_view(theme, 1000, []), streaming_view(theme, LONG, [])
    arrived = Arriving()
    early, late = medians(lambda: section_cost_s(short, arrived), lambda: section_cost_s(long, arrived))
    for view in (short, long):
        close(view)
    detail = f"{late * 1e6:.0f} µs against {early * 1e6:.0f} µs"
    return Ratio(
        "P3", "sealed: a token at 20,000 tokens, painted", late / early, 1.15, "at 1,000 tokens", detail=detail
    )


def stalls(theme: Theme) -> list[Ratio]:
    """`bench_stalls` with a sealed answer, and the same answer unsealed in the same minutes."""
    our_beats(theme)
    sealed, unsealed = [], []
    for _ in range(MIN_RUNS):
        sealed.append(our_beats(theme, Arriving(), OPENED_AT_ONCE))
        unsealed.append(our_beats(theme))
    found = []
    for name, share, limit in (("p99", 0.99, P99_MS), ("worst", 1.0, WORST_MS)):
        (late, busy), (plain, plain_busy) = (
            (
                statistics.median(percentile(heart.late_ms, share) for heart in runs),
                statistics.median(percentile(heart.busy_ms, share) for heart in runs),
            )
            for runs in (sealed, unsealed)
        )
        detail = f"unsealed {plain:.1f}; processor between two beats {busy:.1f}, unsealed {plain_busy:.1f}"
        what = f"sealed: stall while 20,000 tokens arrive: {name}"
        found.append(Ratio("P4", what, late, limit, f"median of {MIN_RUNS} runs", "ms", detail))
    return found


def _pieces(key: SecretKey, count: int) -> list[bytes]:
    return [_piece(key, " scattering")] * count


def _piece(key: SecretKey, token: str) -> bytes:
    delta = {"content": seal(token, key.public)}
    content = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    return json.dumps(content).encode()


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
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.apply(qt_app)
    return [quote(), chunk(), first_word(), burst(), late_token(theme), *stalls(theme)]
