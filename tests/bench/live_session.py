"""The processes of `bench_live`: `serve TOKENS [RATE]` prints its port; `rialto PORT` and `bare PORT` print figures.

Figures are one JSON line: `cpu_s` of the tree while the answer came, `mb` at its end (PSS of the tree), `turn_ms`, the
longest, and `p99_ms` of `turns`. `chats PORT COUNT`, for `bench_growth`, has so many answers at the same time;
`idle PORT`, for `bench_idle`, looks at every tab with a video on the way, then says `idle` and does nothing;
`slow PORT` and `bare_slow PORT`, for `bench_slow`, tell how late beats of 5 ms came as well: `late_ms` at most,
`late_p99_ms`, `beats`, and what was taken of the processor between two of them at most: `busy_ms` by the window's
thread, `all_busy_ms` by all threads.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from app.ui.kit.qt_workarounds.pyside_features import read_no_sources

read_no_sources()  # before anything else of Qt, and what of Python it leaves out, is imported, as in the program itself

import asyncio  # noqa: E402

from PySide6.QtCore import QAbstractEventDispatcher, QObject, QTimer  # noqa: E402

from tests.bench.harness import percentile  # noqa: E402

if TYPE_CHECKING:
    from tests.bench.bench_stalls import Heart

RATE = 100  # tokens a second
PATIENCE_S = 600.0
MODEL = "bench-model"
KEY = "bench-key-0123456789abcdef"
TEXT_MODEL = {
    "id": MODEL,
    "object": "model",
    "type": "text",
    "created": 1,
    "owned_by": "bench",
    "model_spec": {
        "name": "Bench",
        "availableContextTokens": 1_000_000,
        "pricing": {"input": {"usd": 1, "diem": 1}, "output": {"usd": 2, "diem": 2}},
        "capabilities": {},
    },
}


# -- the server -------------------------------------------------------------------------------------------------------


class Server:
    """Answers what an account asks at its start, and streams one text to whoever asks for a chat."""

    def __init__(self, tokens: int, rate: float = RATE) -> None:
        from tests.bench.bench_message_view import stream

        self._rate = rate
        self._tokens = list(islice(stream(tokens), tokens))

    async def run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if b"content-length" in line]
                await reader.readexactly(int(length[0]) if length else 0)
                path = head.split(b" ")[1].decode()
                if path.endswith("/chat/completions"):
                    await self._stream(writer)
                else:
                    _answer(writer, path)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            b"x-request-id: bench\r\n\r\n"
        )
        async for event in self._events():
            data = b"data: " + event + b"\n\n"
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async def _events(self) -> AsyncIterator[bytes]:
        begun = time.monotonic()
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        for number, token in enumerate(self._tokens):
            await asyncio.sleep(max(0.0, begun + number / self._rate - time.monotonic()))
            delta = {"index": 0, "delta": {"content": token}, "finish_reason": None}
            yield json.dumps({**base, "choices": [delta]}).encode()
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": len(self._tokens), "total_tokens": len(self._tokens) + 10}
        yield json.dumps({**base, "choices": [end], "usage": usage}).encode()
        yield b"[DONE]"


def _answer(writer: asyncio.StreamWriter, path: str) -> None:
    answers: dict[str, object] = {
        "models": {"object": "list", "type": "text", "data": [TEXT_MODEL]},
        "retrieve": {"status": "PROCESSING", "average_execution_time": 180_000, "execution_duration": 60_000},
    }
    found = answers.get(path.split("?")[0].rpartition("/")[2])
    body = json.dumps(found or {"error": "none"}).encode()
    status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(head.encode() + b"\r\n\r\n" + body)


# -- what is measured of a window -------------------------------------------------------------------------------------


class Meter(QObject):
    """Processor time, memory and the longest turn of this process from `begin` to `end`."""

    def __init__(self) -> None:
        super().__init__()
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.aboutToBlock.connect(self._sleeps)
        self._slept_at = 0.0  # of this thread's processor time, which stands while it sleeps
        self._turns_s: list[float] = []
        self._begun_s = 0.0

    def begin(self) -> None:
        self._turns_s, self._begun_s, self._slept_at = [], _cpu_s(), time.thread_time()

    def end(self) -> dict[str, float]:
        turns = self._turns_s or [0.0]
        figures = {"cpu_s": _cpu_s() - self._begun_s, "turn_ms": max(turns) * 1000, "turns": float(len(turns))}
        figures["p99_ms"] = percentile(turns, 0.99) * 1000
        figures["mb"] = _pss_mb()
        return figures

    def _sleeps(self) -> None:
        """A turn is from one sleep to the next: with GLib's loop, "awake" is said after the events were handled."""
        now = time.thread_time()
        self._turns_s.append(now - self._slept_at)
        self._slept_at = now


# Read from /proc: psutil is the suite's, and half a megabyte in the process that is measured.


def _tree() -> list[Path]:
    """Return the folders below /proc of this process and of those it started."""
    found = [Path("/proc/self")]
    for process in found:
        for children in process.glob("task/*/children"):
            found += [Path("/proc") / pid for pid in children.read_text().split()]
    return found


def _cpu_s() -> float:
    ticks = 0
    for process in _tree():
        after_name = (process / "stat").read_text().rpartition(")")[2].split()
        ticks += int(after_name[11]) + int(after_name[12])  # in the program and in the system for it
    return ticks / os.sysconf("SC_CLK_TCK")


def _pss_mb() -> float:
    lines = (line for process in _tree() for line in (process / "smaps_rollup").read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


# -- the windows ------------------------------------------------------------------------------------------------------


def rialto(port: int) -> None:
    _show(partial(_measure, port=port))


def slow(port: int) -> None:
    _show(partial(_measure, port=port, beats=True))


def chats(port: int, count: int) -> None:
    _show(partial(_measure_chats, port=port, count=count))


def idle(port: int) -> None:
    _show(partial(_idle, port=port))


def _show(measure) -> None:  # type: ignore[no-untyped-def]  # the program's types would load Qt
    from tests.bench.whole_program import run_with
    from tests.bench.windows import prepare_home

    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as home:
        prepare_home(Path(home), "api_key")  # no Sandbox beside it
        run_with(partial(measure, figures=figures), Path(home))
    print(json.dumps(figures), flush=True)


async def _can_send(rialto, port: int) -> None:  # type: ignore[no-untyped-def]  # as above
    from app.ui.settings.accounts.presenter import AccountDraft
    from tests.kit.waiting import until

    await until(lambda: rialto.chat.library is not None, within_s=PATIENCE_S)
    rialto.accounts.add(AccountDraft(f"http://127.0.0.1:{port}/api/v1", KEY), unchecked=True)
    await until(lambda: rialto.chat.account_models.get(MODEL) is not None, within_s=PATIENCE_S)
    await asyncio.sleep(5)


async def _idle(rialto, port: int, figures: dict[str, float]) -> None:  # type: ignore[no-untyped-def]  # as above
    from app.bootstrap.startup_marks import mark
    from app.storage.video_jobs import VideoJobs

    await _can_send(rialto, port)
    store = VideoJobs(rialto.database)
    job = await store.add(
        account_id=rialto.current_account.account.id,
        model="reel",
        model_name="Reel",
        prompt="A harbour at dawn",
        form={"model": "reel", "duration": "5s", "resolution": "720p"},
        file="1.mp4",
        quote_usd=None,
        clean_after=False,
        charged=True,
    )
    await store.change(job.id, state="running", queue_id="1", queued_at=store.now(), average_s=180.0, told="PROCESSING")
    for name in (*rialto.window.tab_names(), "chat"):
        rialto.window.show_tab(name)
        await asyncio.sleep(2)
    await asyncio.sleep(15)  # what comes some seconds after work: collections, the caret's rest
    mark("idle")
    await asyncio.Event().wait()


async def _measure_chats(  # type: ignore[no-untyped-def]  # as above
    rialto, port: int, count: int, figures: dict[str, float]
) -> None:
    from tests.kit.waiting import until

    try:
        await _can_send(rialto, port)
        for number in range(count):
            rialto.chat_page.new_chat()
            rialto.chat.use_model(MODEL)
            rialto.chat_page.send(f"Question {number}: how long should a client wait?")
            await until(lambda: rialto.chat.head().writing, within_s=PATIENCE_S)
        await asyncio.sleep(2)
        meter = Meter()
        meter.begin()
        while rialto.chat.head().writing:
            await asyncio.sleep(0.5)
        figures |= meter.end()
    finally:
        rialto.window.close()


async def _measure(  # type: ignore[no-untyped-def]  # as above
    rialto, port: int, figures: dict[str, float], beats: bool = False
) -> None:
    from tests.kit.waiting import until

    frames, names = rialto.window.tab_frames, tuple(rialto.window.tab_names())
    try:
        await _can_send(rialto, port)
        meter = Meter()
        box = rialto.chat_page.main.composer.box
        box.setFocus()
        _type(box, "How long should a client wait?")
        rialto.chat.use_model(MODEL)
        await asyncio.sleep(1)
        heart = _heart() if beats else None
        meter.begin()
        if heart is not None:
            heart.start()  # only now: to read the processor time of all processes takes a turn
        _type(box, "\r")
        # Not until it is being written: a short answer has ended by the next look.
        await until(lambda: rialto.chat.opened.thread.last_of("assistant") is not None, within_s=PATIENCE_S)
        while rialto.chat.head().writing:
            await asyncio.sleep(0.5)
        figures |= meter.end()
        if heart is not None:
            figures |= _told(heart)
            return
        rialto.window.expect_tab()
        await until(lambda: all(name in frames.by_name for name in names), within_s=PATIENCE_S)
        await asyncio.sleep(2)
        figures["all_mb"] = meter.end()["mb"]
    finally:
        rialto.window.close()


def _type(box, text: str) -> None:  # type: ignore[no-untyped-def]  # as above
    """Type it without QtTest, which is the suite's: half a megabyte in the process that is measured."""
    from PySide6.QtCore import QEvent, Qt
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QApplication

    for character in text:
        key = Qt.Key.Key_Return if character == "\r" else Qt.Key(ord(character.upper()))
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(box, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, character))


def _heart() -> "Heart":
    from tests.bench.bench_stalls import Heart  # and with it the view of messages: not where memory is measured

    return Heart()


def _told(heart: "Heart") -> dict[str, float]:
    heart.stop()
    late = heart.late_ms
    figures = {"late_ms": max(late), "late_p99_ms": percentile(late, 0.99), "beats": float(len(late))}
    return {**figures, "busy_ms": max(heart.busy_ms), "all_busy_ms": max(heart.all_busy_ms)}


def bare_slow(port: int) -> None:
    bare(port, beats=True)


def bare(port: int, *, beats: bool = False) -> None:
    from PySide6.QtGui import QTextCursor
    from PySide6.QtNetwork import QTcpSocket
    from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit

    qt_app = QApplication(sys.argv)
    window = QMainWindow()
    field = QPlainTextEdit()
    field.setReadOnly(True)
    field.setUndoRedoEnabled(False)
    window.setCentralWidget(field)
    window.resize(1440, 900)
    window.show()
    meter = Meter()
    heart = _heart() if beats else None
    socket = QTcpSocket()
    rest = b""

    def read() -> None:
        nonlocal rest
        *lines, rest = (rest + socket.readAll().data()).split(b"\n")
        cursor = field.textCursor()
        for line in lines:
            if line.startswith(b"data: {"):
                cursor.movePosition(QTextCursor.MoveOperation.End)
                cursor.insertText(json.loads(line[6:])["choices"][0]["delta"].get("content", ""))
            elif line.startswith(b"data: [DONE]"):
                told = _told(heart) if heart is not None else {}
                print(json.dumps({**meter.end(), **told}), flush=True)
                qt_app.quit()
        field.verticalScrollBar().setValue(field.verticalScrollBar().maximum())

    def begin() -> None:
        meter.begin()
        if heart is not None:
            heart.start()
        socket.connectToHost("127.0.0.1", port)
        socket.write(b"POST /chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")

    socket.readyRead.connect(read)
    QTimer.singleShot(1000, begin)
    qt_app.exec()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(Server(*map(int, sys.argv[2:])).run())
    else:
        kinds = (rialto, bare, chats, idle, slow, bare_slow)
        {kind.__name__: kind for kind in kinds}[sys.argv[1]](*map(int, sys.argv[2:]))
