"""P4: 25 MB of attachments on their way out: read, encoded in a thread and sent, while the window's loop goes on.

Held against a 2 ms heartbeat of the same loop, and beside what the same heartbeat says while nothing is done.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.service.chat_types import ChatMessage, ChatRequest
from app.service.service import Service, open_service
from app.storage.attachment_files import AttachmentFiles
from app.ui.chat.composer.attachment import Attachment
from app.ui.chat.session.content_parts import AttachedPart, filled
from tests.bench.bench_open_chat import Heartbeat
from tests.bench.harness import MIN_RUNS, Ratio

FILES, FILE_BYTES = 5, 5_000_000
STALL_MS = 16.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n"


async def serve() -> None:
    """Take every body to its end and answer with an empty stream; print the port first."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                lines = request.lower().split(b"\r\n")
                length = next(int(each.partition(b":")[2]) for each in lines if each.startswith(b"content-length:"))
                while length:
                    length -= len(await reader.read(min(length, 1 << 20)))
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def send(service: Service, request: ChatRequest, files: AttachmentFiles) -> None:
    """As an answer is asked for; see `answer_writer`."""
    stream = await asyncio.to_thread(lambda: service.chat.stream(filled(request, files)))
    async with stream:
        async for _ in stream:
            pass


async def measure(base_url: str, folder: Path) -> list[Ratio]:
    files = AttachmentFiles(folder)
    parts = []
    for number in range(FILES):
        data = bytes([number]) + bytes(FILE_BYTES - 1)
        digest = await asyncio.to_thread(files.keep, data)
        parts.append(AttachedPart.of(Attachment("pdf", f"{number}.pdf", "application/pdf", FILE_BYTES, digest)))
    request = ChatRequest("bench-model", (ChatMessage("user", tuple(parts)),))
    service = open_service(base_url, "service", None, lambda exchange: None)
    stalls, idle = [], []
    try:
        beat = Heartbeat()
        for number in range(MIN_RUNS + 1):
            begun = time.perf_counter()
            beat.begin()
            await send(service, request, files)
            worst, took = beat.worst_s, time.perf_counter() - begun
            beat.begin()
            await asyncio.sleep(took)
            if number:
                stalls.append(worst * 1000)
                idle.append(beat.worst_s * 1000)
    finally:
        await service.aclose()
    detail = f"with nothing to do {statistics.median(idle):.1f}"
    name = "longest stall while 25 MB of attachments are sent"
    return [Ratio("P4", name, statistics.median(stalls), STALL_MS, "a 2 ms heartbeat", "ms", detail)]


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    qt_app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(qt_app)
    asyncio.set_event_loop(loop)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bench_attachments"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        with tempfile.TemporaryDirectory() as folder, loop:
            ratios: list[Ratio] = loop.run_until_complete(measure(base_url, Path(folder)))
    finally:
        server.kill()
        server.communicate()
    return ratios


if __name__ == "__main__":
    asyncio.run(serve())
