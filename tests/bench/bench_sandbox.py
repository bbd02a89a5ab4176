"""P12: the Sandbox without its engines, in a process of its own: until it answers, and what it holds after a chat.

Up means that the first request was answered, not only that the port is open. The memory is the process's proportional
share, so what it has in common with other programs counts once.
"""

import http.client
import json
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
QUESTION = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}


@contextmanager
def sandbox() -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection, str]]:
    command = [sys.executable, "-m", "app.sandbox", "--api-key", KEY, "--speed", "0", "--no-local"]
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


def main() -> list[Ratio]:
    up, python = medians(up_s, python_s, runs=RUNS)
    memory = memory_mb()
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
    ]
