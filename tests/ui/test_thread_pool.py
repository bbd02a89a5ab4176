"""What threads make comes back to the window's own thread, or nowhere when whoever asked is gone."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QThreadPool
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.ui.kit.qt_workarounds.thread_pool import once_in_window_thread, run_in_pool

ROOT = Path(__file__).resolve().parents[2]


def test_a_result_is_taken_in_the_windows_own_thread(qtbot: QtBot) -> None:
    owner, threads = QObject(), []
    run_in_pool(owner, threading.get_ident, lambda made: threads.extend((made, threading.get_ident())))
    qtbot.waitUntil(lambda: len(threads) == 2, timeout=60_000)
    assert threads[0] != threads[1] == threading.get_ident()


def test_a_result_for_an_owner_that_is_gone_is_dropped(qtbot: QtBot) -> None:
    gone, here, taken = QObject(), QObject(), []
    go_on = threading.Event()
    run_in_pool(gone, lambda: go_on.wait(60), lambda _made: taken.append("gone"), pool=QThreadPool.globalInstance())
    delete(gone)
    go_on.set()
    QThreadPool.globalInstance().waitForDone()
    run_in_pool(here, lambda: True, lambda _made: taken.append("here"))
    qtbot.waitUntil(lambda: taken != [], timeout=60_000)
    assert taken == ["here"]


def test_work_that_raises_is_told_and_nothing_is_taken(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    taken: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: told.append(str(error)))

    def work() -> None:
        raise ValueError("not made")

    owner = QObject()
    run_in_pool(owner, work, taken.append)
    QThreadPool.globalInstance().waitForDone()
    run_in_pool(owner, lambda: "next", taken.append)
    qtbot.waitUntil(lambda: taken != [], timeout=60_000)
    assert (told, taken) == (["not made"], ["next"])


def test_any_thread_may_use_a_way_back_once(qtbot: QtBot) -> None:
    taken: list[str] = []
    threading.Thread(target=once_in_window_thread(QObject(), taken.append), args=("made",)).start()
    qtbot.waitUntil(lambda: taken == ["made"], timeout=60_000)


PAGES_THAT_CLOSE = """
import sys
from PySide6.QtCore import QSize, QThreadPool, QTimer
from PySide6.QtMultimedia import QVideoFrame, QVideoFrameFormat
from PySide6.QtWidgets import QApplication, QWidget
from app.ui.kit.theme import Theme
from app.ui.video.video_player import VideoPlayer

sys.setswitchinterval(0.0001)
qt = QApplication(["-platform", "offscreen"])
theme, host = Theme(), QWidget()
frame = QVideoFrame(QVideoFrameFormat(QSize(64, 36), QVideoFrameFormat.PixelFormat.Format_ARGB8888))
left = 60

def turn():
    global left
    left -= 1
    player = VideoPlayer(theme, host)
    for _ in range(4):
        player._painting = False
        player._frame(frame)
    player.deleteLater()
    if not left:
        QThreadPool.globalInstance().waitForDone()
        qt.quit()

timer = QTimer()
timer.timeout.connect(turn)
timer.start(0)
qt.exec()
"""


def test_a_player_may_be_closed_while_its_images_are_made() -> None:
    done = subprocess.run([sys.executable, "-c", PAGES_THAT_CLOSE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_the_way_back_starts_work_in_a_pool() -> None:
    starts = re.compile(r"QThreadPool\.globalInstance\(\)\.start|QRunnable")
    found = [path.name for path in (ROOT / "app").rglob("*.py") if starts.search(path.read_text(encoding="utf-8"))]
    assert found == []
