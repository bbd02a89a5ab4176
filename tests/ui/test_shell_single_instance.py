"""One Rialto for each data folder; the second start raises the first window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PySide6.QtNetwork import QLocalSocket

from app.ui.shell.single_instance import SingleInstance, _socket_name


def test_a_second_start_finds_the_folder_taken_and_raises_the_first(tmp_path: Path, qtbot) -> None:
    first, second = SingleInstance(tmp_path), SingleInstance(tmp_path)
    assert first.try_lock()
    first.listen()
    assert not second.try_lock()
    with qtbot.waitSignal(first.raise_requested, timeout=60_000):
        assert second.raise_other()
    first.release()
    assert second.try_lock()
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
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from app.ui.shell.single_instance import SingleInstance\n"
        "instance = SingleInstance(Path(sys.argv[1]))\n"
        "assert instance.try_lock()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
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
