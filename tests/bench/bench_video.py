"""P11, videos: 200 jobs are listed on the screen and asked for by one scheduler, over real sockets, for 30 s.

The service is a process of its own that answers "in progress" to everything; what is counted is the processor time of
the window's process alone.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
import qasync
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.paths import resources
from app.storage.video_jobs import VideoJobs
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.video.page import VideoPage
from app.ui.video.presenter import VideoPresenter
from tests.bench.harness import Ratio

JOBS = 200
SETTLE_S, WATCH_S = 5.0, 30.0
LIMIT_PERCENT = 1.0
SERVICE = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.answer(b'{"object":"list","data":[]}')
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(b'{"status":"PROCESSING","average_execution_time":180000,"execution_duration":60000}')
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


async def fill(database: Database) -> None:
    """Two hundred videos that the service works on since a minute ago."""
    store = VideoJobs(database)
    for number in range(JOBS):
        job = await store.add(
            account_id="box",
            model="reel",
            model_name="Reel",
            prompt=f"Film {number} of a harbour at dawn",
            form={"model": "reel", "duration": "5s", "resolution": "720p"},
            file=f"{number}.mp4",
            quote_usd=None,
            clean_after=False,
            charged=True,
        )
        queued_at = store.now() - timedelta(seconds=60)
        await store.change(
            job.id, state="running", queue_id=f"id-{number}", queued_at=queued_at, average_s=180.0, told="PROCESSING"
        )


async def watch(app: QApplication, home: Path, address: str) -> tuple[float, int]:
    """Return the share of one core in percent, and how many times was asked."""
    theme = Theme(resources())
    theme.configure(mode="light", text_percent=100)
    theme.apply(app)
    tasks, current_account = TaskScope(_raise), CurrentAccount()
    asked: list[Exchange] = []

    async def read_key() -> str:
        return "sk-test-0123456789abcdef"

    service = open_service(address, "service", ApiKeyAuth(read_key), asked.append)
    database = await Database.open(home / "rialto.db")
    await fill(database)
    presenter = VideoPresenter(current_account, tasks, home / "videos", UndoStack(tasks))
    page = VideoPage(theme, presenter, tasks)
    window = QWidget()
    row = QHBoxLayout(window)
    for pane in (page.list_pane(), page.canvas(), page.inspector()):
        row.addWidget(pane)
    window.resize(1440, 900)
    window.show()
    page.set_zones(Zones())
    page.activated()
    current_account.use(Account(id="box", name="Box", base_url=address, kind="api_key"), service)
    await Intents(database).settle_after_start()
    await presenter.start(database, None)
    await asyncio.sleep(SETTLE_S)
    process = psutil.Process()
    before, asked_before = process.cpu_times(), len(asked)
    await asyncio.sleep(WATCH_S)
    after = process.cpu_times()
    spent = (after.user - before.user) + (after.system - before.system)
    count = len(asked) - asked_before
    await presenter.aclose()
    await tasks.aclose()
    await service.aclose()
    await database.close()
    window.hide()
    return spent / WATCH_S * 100, count


def _raise(error: Exception) -> None:
    raise error


def main() -> list[Ratio]:
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    server = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = f"http://127.0.0.1:{server.stdout.readline().strip()}/api/v1"
    try:
        with tempfile.TemporaryDirectory() as home:
            loop = qasync.QEventLoop(app)
            with loop:
                percent, count = loop.run_until_complete(watch(app, Path(home), address))
    finally:
        server.kill()
        server.wait()
    return [
        Ratio(
            "P11",
            f"{JOBS} video jobs listed and polled",
            percent,
            LIMIT_PERCENT,
            "one core",
            unit="%",
            detail=f"{count} questions in {WATCH_S:.0f} s",
        )
    ]
