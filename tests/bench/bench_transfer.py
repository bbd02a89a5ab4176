"""P8: 25 MB up with progress and 1 GB down to the disk: memory stays flat, and the processor time is near curl's."""

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil

from app.service.calls import Call
from app.service.http.downloads import save
from app.service.http.multipart import FormContent, FormFile
from app.service.retry import CallKind
from app.service.service import Service, open_service
from tests.bench.harness import Ratio, cpu_s, medians

MB = 1024 * 1024
UPLOAD_BYTES = 25 * MB
DOWNLOAD_BYTES = 1024 * MB
LIMIT_CPU = 2.0
LIMIT_MB = 32.0
LOOK_EVERY = 8


async def serve() -> None:
    """GET sends a gigabyte, POST swallows whatever comes; print the port first."""
    block = os.urandom(MB)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                if head.startswith(b"get"):
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n")
                    writer.write(b"content-length: %d\r\n\r\n" % DOWNLOAD_BYTES)
                    for _ in range(DOWNLOAD_BYTES // MB):
                        writer.write(block)
                        await writer.drain()
                    continue
                if b"expect: 100-continue" in head:
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                left = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                while left:
                    left -= len(await reader.read(min(left, MB)))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=4 * MB)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def upload(service: Service, path: Path, on_progress: Callable[[int, int], None]) -> None:
    content = FormContent((("model", "m"),), (FormFile("file", path, path.name, "audio/wav"),), on_progress)
    async with service.client.fetch(Call("POST", "/x", CallKind.UPLOAD, "x", content=content)):
        pass


async def download(service: Service, path: Path, on_received: Callable[[int, int | None], None]) -> None:
    call = Call("GET", "/film", CallKind.READ, "x", max_bytes=2 * DOWNLOAD_BYTES)
    async with service.client.open(call) as answer:
        size = await save(answer.pieces(), path, total=answer.info.content_length, on_received=on_received)
        assert size == DOWNLOAD_BYTES


def run(base_url: str, work: Callable[[Service], Awaitable[None]]) -> None:
    async def whole() -> None:
        service = open_service(base_url, "service", None, lambda exchange: None)
        try:
            await work(service)
        finally:
            await service.aclose()

    asyncio.run(whole())


def curl_cpu_s(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["curl", "--silent", "--fail", "--show-error", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _memory_folder() -> Path | None:
    """A folder that is no disk, if there is room: how a busy machine's disk writes back says nothing about a client."""
    folder = Path("/dev/shm")
    roomy = folder.is_dir() and shutil.disk_usage(folder).free > 2 * DOWNLOAD_BYTES
    return folder if roomy and psutil.virtual_memory().available > 3 * DOWNLOAD_BYTES else None


class Peak:
    """The largest resident size seen, in MB above where it began."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._begin = self._process.memory_info().rss
        self._calls = 0
        self.mb = 0.0

    def look(self, *_: object) -> None:
        self._calls += 1
        if self._calls % LOOK_EVERY == 1:
            self.mb = max(self.mb, (self._process.memory_info().rss - self._begin) / MB)


def main() -> list[Ratio]:
    server = subprocess.Popen([sys.executable, "-m", "tests.bench.bench_transfer"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        with tempfile.TemporaryDirectory(dir=_memory_folder()) as scratch:
            sound, video = Path(scratch) / "sound.wav", Path(scratch) / "film.mp4"
            with sound.open("wb") as file:
                for _ in range(UPLOAD_BYTES // MB):
                    file.write(os.urandom(MB))
            return _measure(base_url, sound, video)
    finally:
        server.kill()
        server.communicate()


def _measure(base_url: str, sound: Path, video: Path) -> list[Ratio]:
    def up(told: Callable[..., None]) -> None:
        run(base_url, lambda service: upload(service, sound, told))

    def down(told: Callable[..., None]) -> None:
        run(base_url, lambda service: download(service, video, told))

    def afresh(measure: Callable[[], float]) -> float:
        video.unlink(missing_ok=True)  # out here, because to free a gigabyte is the kernel's work and not the client's
        return measure()

    up(_untold)  # imports
    up_peak = Peak()
    up(up_peak.look)
    down_peak = Peak()
    down(down_peak.look)
    ratios = [
        Ratio("P8", "memory of a 25 MB upload", up_peak.mb, LIMIT_MB, "itself, before", unit="MB"),
        Ratio("P8", "memory of a 1 GB download", down_peak.mb, LIMIT_MB, "itself, before", unit="MB"),
    ]
    if shutil.which("curl") is None:
        return ratios
    ours_up, curl_up, ours_down, curl_down = medians(
        lambda: cpu_s(lambda: up(_untold)),
        lambda: curl_cpu_s("--form", f"file=@{sound}", "--form", "model=m", f"{base_url}/x"),
        lambda: afresh(lambda: cpu_s(lambda: down(_untold))),
        lambda: afresh(lambda: curl_cpu_s("--output", str(video), f"{base_url}/film")),
    )
    return [
        *ratios,
        _ratio("processor time of a 25 MB upload", ours_up, curl_up),
        _ratio("processor time of a 1 GB download", ours_down, curl_down),
    ]


def _untold(*_: object) -> None:
    """Progress that nobody watches."""


def _ratio(name: str, ours: float, curl: float) -> Ratio:
    return Ratio(
        "P8", name, ours / curl, LIMIT_CPU, "curl", detail=f"{ours * 1000:.0f} ms against {curl * 1000:.0f} ms"
    )


if __name__ == "__main__":
    asyncio.run(serve())
