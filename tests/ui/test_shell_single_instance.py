"""One Rialto for each data folder; the second start raises the first window."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket

from app.ui.shell import single_instance
from app.ui.shell.single_instance import SingleInstance, _socket_name
from tests.kit.portable import KILL


def test_a_second_start_finds_the_folder_taken_and_raises_the_first(tmp_path: Path, qtbot) -> None:
    first, second = SingleInstance(tmp_path), SingleInstance(tmp_path)
    assert first.try_lock()
    first.listen()
    assert not second.try_lock()
    with qtbot.waitSignal(first.raise_requested, timeout=60_000):
        asking = in_another_process(tmp_path, "raise_other")
    qtbot.waitUntil(lambda: asking.poll() is not None, timeout=60_000)
    assert asking.wait() == 0
    first.release()
    assert second.try_lock()
    second.release()


def in_another_process(folder: Path, question: str) -> subprocess.Popen[bytes]:
    """Ask a `SingleInstance` there something; the process ends with 0 for True."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from app.ui.shell import single_instance\n"
        "application = QCoreApplication([])\n"
        f"raise SystemExit(not single_instance.SingleInstance(Path(sys.argv[1])).{question}())\n"
    )
    return subprocess.Popen([sys.executable, "-c", program, str(folder)])


def test_a_rialto_that_is_stuck_raises_nothing(tmp_path: Path, qapp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system accepts the connection, but the window does not say that it came to the front."""
    first = SingleInstance(tmp_path)
    assert first.try_lock()
    first.listen()
    monkeypatch.setattr(single_instance, "_ANSWER_WITHIN_MS", 100)
    assert not SingleInstance(tmp_path).raise_other()
    first.release()


def test_a_window_that_is_closed_hands_its_folder_on(tmp_path: Path, qapp) -> None:
    first, second = SingleInstance(tmp_path), SingleInstance(tmp_path)
    assert first.try_lock()
    first.listen()
    first.stop_listening()
    assert not second.raise_other() and not second.try_lock()
    threading.Timer(0.2, first.release).start()
    assert second.try_lock(within_ms=60_000)
    second.release()


def test_another_folder_is_another_rialto(tmp_path: Path, qapp) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    first, second = SingleInstance(one), SingleInstance(other)
    assert first.try_lock()
    assert second.try_lock()
    first.release()
    second.release()


def test_a_killed_rialto_does_not_keep_its_folder(tmp_path: Path, qapp) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from app.ui.shell.single_instance import SingleInstance\n"
        "instance = SingleInstance(Path(sys.argv[1]))\n"
        "assert instance.try_lock()\n"
        f"os.kill(os.getpid(), {int(KILL)})\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert (tmp_path / "rialto.lock").exists()
    after = SingleInstance(tmp_path)
    assert after.try_lock()
    after.release()


def test_a_stranger_on_the_socket_raises_nothing(tmp_path: Path, qtbot) -> None:
    instance = SingleInstance(tmp_path)
    instance.try_lock()
    instance.listen()
    told: list[bool] = []
    instance.raise_requested.connect(lambda: told.append(True))
    socket = QLocalSocket()
    socket.connectToServer(_socket_name(tmp_path))
    assert socket.waitForConnected(60_000)
    socket.write(b"x" * 100_000)
    socket.waitForBytesWritten(60_000)
    with qtbot.waitSignal(socket.disconnected, timeout=3000, raising=False):
        socket.disconnectFromServer()
    assert told == []
    instance.release()
