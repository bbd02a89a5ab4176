"""P7: a batch of a hundred JSON-RPC calls, the first one of a client and a warm one, against bare httpx."""

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable

import httpx

from app.service.crypto_rpc import RpcItem
from app.service.service import open_service
from tests.bench.harness import Ratio, medians

ITEMS = 100
RUNS = 15
LIMIT = 1.3
PATH = "/crypto/rpc/base-mainnet"
PARAMS = ["0x00000000219ab540356cbb839cbe05303d7705fa", "latest"]
BODY = [{"jsonrpc": "2.0", "id": n, "method": "eth_getBalance", "params": PARAMS} for n in range(1, ITEMS + 1)]
ANSWER = json.dumps([{"jsonrpc": "2.0", "id": n, "result": hex(n * 10**18)} for n in range(1, ITEMS + 1)]).encode()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-service-rpc-cost-usd: 0.0014\r\n"
    try:
        while True:
            request = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(request.partition(b"content-length:")[2].partition(b"\r\n")[0]))
            writer.write(head + b"content-length: %d\r\n\r\n" % len(ANSWER) + ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


class Server(threading.Thread):
    """Answers every batch with the same hundred results, from a thread of its own."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.port = 0
        self.ready = threading.Event()
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(_answer, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        self._loop.run_forever()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.join()


async def bare(base_url: str) -> tuple[float, float]:
    """Seconds of the first and of a warm batch with httpx and nothing around it."""
    begun = time.perf_counter()
    async with httpx.AsyncClient(base_url=base_url) as http:

        async def batch() -> None:
            response = await http.post(PATH, json=BODY)
            assert len(response.json()) == ITEMS

        return await _first_and_warm(batch, begun)


async def ours(base_url: str) -> tuple[float, float]:
    begun = time.perf_counter()
    service = open_service(base_url, "service", None, lambda exchange: None)
    items = [RpcItem("eth_getBalance", PARAMS)] * ITEMS
    rpc = service.crypto_rpc

    async def batch() -> None:
        answer = await rpc.send(rpc.prepare("base-mainnet", items))
        assert answer.outcomes[-1].result == hex(ITEMS * 10**18)

    try:
        return await _first_and_warm(batch, begun)
    finally:
        await service.aclose()


async def _first_and_warm(batch: Callable[[], Awaitable[None]], begun: float) -> tuple[float, float]:
    await batch()
    first = time.perf_counter() - begun
    warm: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        await batch()
        warm.append(time.perf_counter() - begun)
    return first, min(warm)


def main() -> list[Ratio]:
    server = Server()
    server.start()
    server.ready.wait()
    base_url = f"http://127.0.0.1:{server.port}"
    taken: dict[str, list[tuple[float, float]]] = {"bare": [], "ours": []}

    def measure(name: str, work: Callable[[str], Awaitable[tuple[float, float]]]) -> Callable[[], float]:
        async def run() -> tuple[float, float]:
            return await work(base_url)

        def measured() -> float:
            taken[name].append(asyncio.run(run()))
            return taken[name][-1][0]

        return measured

    try:
        first_ours, first_bare = medians(measure("ours", ours), measure("bare", bare), runs=RUNS)
    finally:
        server.stop()
    warm_ours, warm_bare = (sorted(warm for _, warm in taken[name])[len(taken[name]) // 2] for name in ("ours", "bare"))
    return [
        _ratio("first batch of 100 calls", first_ours, first_bare),
        _ratio("warm batch of 100 calls", warm_ours, warm_bare),
    ]


def _ratio(name: str, mine: float, theirs: float) -> Ratio:
    detail = f"{mine * 1000:.2f} ms against {theirs * 1000:.2f} ms"
    return Ratio("P7", name, mine / theirs, LIMIT, "httpx alone", detail=detail)
