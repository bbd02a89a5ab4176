"""Random requests to every route: `python -m tests.sandbox.fuzz 100000` sends so many and counts answers with 500.

Each is a good request in which some values were replaced, added, left out or cut, from a seed that is told, so that it
can be sent again. Two Sandboxes are asked at once, one for each half.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from app.sandbox.http.routes import API_ROOT, ROUTES
from tests.sandbox.support import NOON, running
from tests.sandbox.test_wrong_values import BODIES, CONTROLS, RPC, SOME_ADDRESS, WRONG, Connection, places

# A Sandbox that is told to hang up, to wait or to forget its key would not be asked anything more.
KEPT_OUT = ("/sandbox/faults", "/sandbox/watch", "/sandbox/answers")
TEXTS = (
    "",
    " ",
    "\ud83d",
    "\0",
    "Oslo 7",
    "a" * 5000,
    "٣",
    "0x",
    "1e999",
    "../..",
    "%00",
    "\r\n",
    "🙂" * 9,
    "data:a;b,c",
)


@dataclass(frozen=True, slots=True)
class Sent:
    method: str
    path: str
    body: bytes = b""
    kind: str = "application/json"


def value(dice: random.Random, depth: int = 0) -> Any:
    """Any JSON value: one of the wrong ones of the suite, a text, a number, or several of them."""
    kind = dice.randrange(8)
    if kind < 3:
        try:
            return json.loads(dice.choice(WRONG))
        except ValueError:
            return None
    if kind == 3:
        return dice.choice(TEXTS)
    if kind == 4:
        return dice.choice([dice.randint(-10, 10), dice.randint(-(10**20), 10**20), dice.uniform(-1e6, 1e6), 2**63])
    if depth > 3 or kind == 5:
        return dice.choice([None, True, False, [], {}])
    if kind == 6:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {dice.choice(TEXTS) or "a": value(dice, depth + 1) for _ in range(dice.randint(0, 3))}


def changed(dice: random.Random, body: Any) -> Any:
    """Replace, add or leave out up to four values."""
    body = json.loads(json.dumps(body))
    for _ in range(dice.randint(1, 4)):
        spots = list(places(body))
        if not spots:
            return value(dice)
        *way, last = dice.choice(spots)
        parent = body
        for step in way:
            parent = parent[step]
        action = dice.randrange(6)
        if action == 0:
            del parent[last]
        elif action == 1 and isinstance(parent, dict):
            parent[dice.choice(("model", "type", "stream", "n", "seed", dice.choice(TEXTS)))] = value(dice)
        elif action == 2 and isinstance(parent, list):
            parent.append(value(dice))
        else:
            parent[last] = value(dice)
    return body


def requests(seed: int, count: int) -> Iterator[Sent]:
    dice = random.Random(seed)
    bodies = [(f"{API_ROOT}{path}", body) for path, body in BODIES.values()]
    bodies += [(f"/sandbox{path}", body) for path, body in CONTROLS.values() if "fault" not in path]
    bodies += [
        (f"{API_ROOT}/crypto/rpc/base-mainnet", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        for method, params in RPC.items()
    ]
    routes = [(method, route) for route in ROUTES for method in route.methods]
    left = count
    while left:
        left -= 1
        kind = dice.randrange(10)
        if kind < 6:
            path, body = dice.choice(bodies)
            raw = json.dumps(changed(dice, body)).encode()
            if dice.random() < 0.05:
                raw = raw[: dice.randrange(len(raw) + 1)] + dice.choice([b"", b"\xff", b"]", b"\0"])
            yield Sent("POST", path, raw)
        else:
            method, route = dice.choice(routes)
            parts = [
                dice.choice((*TEXTS, SOME_ADDRESS, "base-mainnet")) if "{" in part else part for part in route.path
            ]
            path = "/" + "/".join(quote(part.encode("utf-8", "replace"), safe="") for part in parts)
            if path.startswith(KEPT_OUT):
                left += 1
                continue
            names = (
                "type",
                "limit",
                "page",
                "cursor",
                "currency",
                "startDate",
                "model",
                "nonce",
                "signing_algo",
                "search",
            )
            query = "&".join(
                f"{dice.choice(names)}={quote(str(value(dice)).encode('utf-8', 'replace'))[:3000]}"
                for _ in range(dice.randint(0, 3))
            )
            raw, sort = json.dumps(value(dice)).encode() if method != "GET" else b"", "application/json"
            if method == "POST" and dice.random() < 0.4:
                raw, sort = form(dice), "multipart/form-data; boundary=zz"
            yield Sent(method, f"{path}?{query}" if query else path, raw, sort)


def form(dice: random.Random) -> bytes:
    parts = []
    for _ in range(dice.randint(0, 4)):
        name = dice.choice(
            (*TEXTS[:5], "model", "file", "image", "images", "response_format", "name", "prompt", "scale")
        )
        file = dice.choice(("", '; filename="a.wav"', '; filename="a.png"', "; filename*=x''%ff"))
        said = (
            str(value(dice)) if dice.random() < 0.7 else dice.choice(["RIFF\x10\0\0\0WAVEfmt ", "\x89PNG\r\n", "ID3"])
        )
        parts.append(f'--zz\r\ncontent-disposition: form-data; name="{name}"{file}\r\n\r\n{said}\r\n')
    return ("".join(parts) + dice.choice(("--zz--\r\n", "--zz", ""))).encode("utf-8", "replace")


def send(seed: int, count: int) -> tuple[Counter[int], list[str]]:
    """Return how often each status came, and what was answered with 500."""
    made: list[Connection] = []
    statuses: Counter[int] = Counter()
    broken: list[str] = []

    def clock() -> float:  # a minute with every eighteenth request, so that no limit is met
        return NOON + 61 * (made[0].sent // 18 if made else 0)

    with tempfile.TemporaryDirectory() as folder, running(Path(folder), clock=clock, no_limits=True) as client:
        made.append(Connection(client.running))
        for number, sent in enumerate(requests(seed, count)):
            if number % 500 == 0:
                made[0].must("/sandbox/reset")
            try:
                status, content = made[0].send(sent.method, sent.path, sent.body, sent.kind)
            except (OSError, ValueError) as error:  # no answer at all
                status, content = 0, repr(error).encode()
                made[0].close()
            statuses[status] += 1
            if status in (0, 500, 502, 504) or b"Traceback" in content:
                broken.append(f"{status} {sent.method} {sent.path[:300]} {sent.kind} {sent.body[:3000]!r}")
        made[0].close()
    return statuses, broken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    begun = time.perf_counter()
    statuses: Counter[int] = Counter()
    broken: list[str] = []
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(
            send, (chosen.seed, chosen.seed + 1), (chosen.count // 2, chosen.count - chosen.count // 2)
        ):
            statuses += found[0]
            broken += found[1]
    print("\n".join(broken[:50]))
    seconds = time.perf_counter() - begun
    print(f"{statuses.total()} requests in {seconds:.0f} s, {len(broken)} without a proper answer: {dict(statuses)}")


if __name__ == "__main__":
    main()
