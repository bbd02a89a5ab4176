"""P6: what it costs to turn a streamed chat answer's bytes into typed deltas, over a real socket.

The server runs in a process of its own and sends every event as an HTTP chunk of its own, as model servers do, as fast
as the loopback takes them. Held against httpx handing over the same bytes unread, and against the official client.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import httpx
import openai

from app.service.chat_types import ChatMessage, ChatRequest, TextDelta
from app.service.service import open_service
from tests.bench.harness import Ratio, medians

EVENTS = 10_000
RUNS = 9
WORD = "scattering "
LIMIT_RAW = 1.3
LIMIT_OPENAI = 1 / 7

Measure = Callable[[], float]


def chunk(delta: dict[str, object], **more: object) -> bytes:
    body = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 1767323045,
        "model": "bench-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
        **more,
    }
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


async def serve() -> None:
    """Answer every POST with one long stream; print the port first."""
    event = chunk({"content": WORD})
    end = chunk({}, choices=[], usage={"prompt_tokens": 10, "completion_tokens": EVENTS, "total_tokens": EVENTS + 10})
    framed = b"%x\r\n%s\r\n" % (len(event), event)
    body = framed * EVENTS + b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in (end, b"data: [DONE]\n\n"))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in request.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                writer.write(head + body + b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _raw(http: httpx.AsyncClient, base_url: str) -> None:
    size = 0
    async with http.stream("POST", f"{base_url}/chat/completions", json={"stream": True}) as response:
        async for piece in response.aiter_raw():
            size += len(piece)
    assert size > EVENTS * 100


async def cpu_of(work: Callable[[], Awaitable[None]]) -> float:
    """Run `work` twice, connections and imports warm the second time; return its processor seconds."""
    await work()
    begun = time.process_time()
    await work()
    return time.process_time() - begun


async def measure_raw(base_url: str) -> float:
    async with httpx.AsyncClient(timeout=60) as http:
        return await cpu_of(lambda: _raw(http, base_url))


async def measure_ours(base_url: str) -> float:
    service = open_service(base_url, "service", None, lambda exchange: None)
    request = ChatRequest("bench-model", (ChatMessage("user", "Why is the sky blue?"),))

    async def once() -> None:
        size = 0
        async with service.chat.stream(request) as stream:
            async for events in stream:
                for event in events:
                    if isinstance(event, TextDelta):
                        size += len(event.text)
        assert size == EVENTS * len(WORD)

    try:
        return await cpu_of(once)
    finally:
        await service.aclose()


async def measure_openai(base_url: str) -> float:
    client = openai.AsyncOpenAI(base_url=base_url, api_key="bench")

    async def once() -> None:
        size = 0
        stream = await client.chat.completions.create(
            model="bench-model", messages=[{"role": "user", "content": "Why is the sky blue?"}], stream=True
        )
        async for part in stream:
            if part.choices:
                size += len(part.choices[0].delta.content or "")
        assert size == EVENTS * len(WORD)

    try:
        return await cpu_of(once)
    finally:
        await client.close()


def main() -> list[Ratio]:
    server = subprocess.Popen([sys.executable, "-m", "tests.bench.bench_bytes"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{server.stdout.readline().strip()}"

        def run(measure: Callable[[str], Awaitable[float]]) -> Measure:
            async def measured() -> float:
                return await measure(base_url)

            return lambda: asyncio.run(measured())

        ours, floor, official = medians(run(measure_ours), run(measure_raw), run(measure_openai), runs=RUNS)
    finally:
        server.kill()
        server.communicate()
    per_event = 1e6 / EVENTS
    return [
        Ratio(
            "P6",
            "streamed bytes to typed deltas",
            ours / floor,
            LIMIT_RAW,
            "httpx, bytes unread",
            detail=f"{ours * per_event:.1f} µs an event against {floor * per_event:.1f} µs",
        ),
        Ratio(
            "P6",
            "streamed bytes to typed deltas",
            ours / official,
            LIMIT_OPENAI,
            "the openai client",
            detail=f"{ours * per_event:.1f} µs an event against {official * per_event:.1f} µs",
        ),
    ]


if __name__ == "__main__":
    asyncio.run(serve())
