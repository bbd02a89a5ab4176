"""P12: the Sandbox without its engines, in a process of its own: until it answers, how much at once, what it holds.

Up means that the first request was answered, not only that the port is open. The memory is the process's proportional
share, so what it has in common with other programs counts once. The clients of the load are bare sockets in a process
of their own, on the other one of two cores.
"""

import asyncio
import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.bench.harness import Ratio, medians

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-this-bench"
RUNS = 9
UP_LIMIT_MS = 150.0
MEMORY_LIMIT_MB = 60.0
SCRIPTED_PER_S = 2000
STREAMS = 200
STREAM_TOKENS_PER_S = 50
LATE_LIMIT_MS = 50.0
MANY_CHATS = 10_000
CONNECTIONS = 8
QUESTION = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}


@contextmanager
def sandbox(*more: str) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection, str]]:
    command = [sys.executable, "-m", "app.sandbox", "--api-key", KEY, "--speed", "0", "--no-local", *more]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = urlsplit(process.stdout.readline().strip())
            connection = http.client.HTTPConnection(address.netloc)
            yield process, connection, address.path
            connection.close()
        finally:
            process.terminate()


def asked(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> bytes:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, content
    return content


def up_s() -> float:
    begun = time.perf_counter()
    with sandbox() as (_, connection, root):
        asked(connection, "GET", f"{root}/models")
        return time.perf_counter() - begun


def python_s() -> float:
    """What starting Python alone takes here."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - begun


def memory_mb() -> float:
    with sandbox() as (process, connection, root):
        asked(connection, "GET", f"{root}/models?type=all")
        asked(connection, "POST", f"{root}/chat/completions", QUESTION)
        memory = psutil.Process(process.pid).memory_full_info()
        return (getattr(memory, "pss", 0) or memory.uss) / 1e6


def post(connection: http.client.HTTPConnection, path: str, body: object) -> bytes:
    """Return a request as bytes, to be sent again and again."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {connection.host}:{connection.port}\r\nAuthorization: Bearer {KEY}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


async def repeated(connection: http.client.HTTPConnection, request: bytes, times: int) -> None:
    """Send a request so often over one connection, each when the answer before has come."""
    reader, writer = await asyncio.open_connection(connection.host, connection.port)
    for _ in range(times):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        at = head.lower().index(b"content-length: ") + 16
        await reader.readexactly(int(head[at : head.index(b"\r", at)]))
    writer.close()


async def load(connection: http.client.HTTPConnection, request: bytes, times: int) -> float:
    """Return the seconds that so many requests take over several connections at once."""
    begun = time.perf_counter()
    await asyncio.gather(*(repeated(connection, request, times // CONNECTIONS) for _ in range(CONNECTIONS)))
    return time.perf_counter() - begun


def scripted_per_s() -> float:
    with sandbox("--no-limits") as (_, connection, root):
        entry = {"answers": [{"match": {"words": ["stop"]}, "answer": {"text": "Press Esc."}}]}
        asked(connection, "PUT", "/sandbox/answers", entry)
        request = post(connection, f"{root}/chat/completions", QUESTION)
        asyncio.run(load(connection, request, 400))
        return statistics.median(4000 / asyncio.run(load(connection, request, 4000)) for _ in range(5))


async def lateness_ms(connection: http.client.HTTPConnection, request: bytes) -> list[float]:
    """Return for each chunk of one stream how much later it came than the first one's time and the speed say."""
    reader, writer = await asyncio.open_connection(connection.host, connection.port)
    writer.write(request)
    await reader.readuntil(b"\r\n\r\n")
    began, late, count = 0.0, [], 0
    while b"[DONE]" not in (line := await reader.readline()):
        if b'"content":"' not in line or b'"content":""' in line:
            continue
        now = time.perf_counter()
        began = began or now
        late.append((now - began - count / STREAM_TOKENS_PER_S) * 1000)
        count += 1
    writer.close()
    return late


def latest_ms() -> float:
    """The latest of all chunks in 200 streams at once."""

    async def all_of_them(connection: http.client.HTTPConnection, request: bytes) -> list[list[float]]:
        return await asyncio.gather(*(lateness_ms(connection, request) for _ in range(STREAMS)))

    with sandbox("--no-limits", "--speed", str(STREAM_TOKENS_PER_S)) as (_, connection, root):
        asked(connection, "GET", f"{root}/models")
        request = post(connection, f"{root}/chat/completions", {**QUESTION, "stream": True})
        rows = asyncio.run(all_of_them(connection, request))
        assert len(rows) == STREAMS and min(map(len, rows)) > 50
        return max(max(row) for row in rows)


def memory_after_many_mb() -> float:
    with sandbox("--no-limits") as (process, connection, root):
        request = post(connection, f"{root}/chat/completions", QUESTION)
        asyncio.run(load(connection, request, MANY_CHATS))
        memory = psutil.Process(process.pid).memory_full_info()
        return (getattr(memory, "pss", 0) or memory.uss) / 1e6


def main() -> list[Ratio]:
    up, python = medians(up_s, python_s, runs=RUNS)
    memory, many = memory_mb(), memory_after_many_mb()
    per_s = scripted_per_s()
    late = latest_ms()
    return [
        Ratio(
            "P12",
            "the Sandbox answers",
            up * 1000,
            UP_LIMIT_MS,
            "from nothing",
            unit="ms",
            detail=f"{up * 1000:.0f} ms, of it {python * 1000:.0f} ms Python's own start",
        ),
        Ratio("P12", "the Sandbox after a chat: memory", memory, MEMORY_LIMIT_MB, "all of its process", unit="MB"),
        Ratio("P12", "the same after 10,000 chats", many, MEMORY_LIMIT_MB, "all of its process", unit="MB"),
        Ratio(
            "P12",
            "one scripted answer",
            1000 / per_s,
            1000 / SCRIPTED_PER_S,
            "eight clients at once",
            unit="ms",
            detail=f"{per_s:.0f} a second",
        ),
        Ratio("P12", "the latest chunk of 200 streams", late, LATE_LIMIT_MS, "50 tokens a second each", unit="ms"),
    ]
