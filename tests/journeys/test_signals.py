"""Ctrl+C and a terminate request end the program in order, not in the middle of a slot."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals to send to a process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_with_everything_saved(tmp_path: Path, number: int) -> None:
    said = tmp_path / "said"
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "RIALTO_HOME": str(tmp_path / "home"),
        "RIALTO_READY_FILE": str(said),
    }
    with subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL) as rialto:
        database = tmp_path / "home" / "data" / "rialto.db"
        until = time.monotonic() + 60
        while not (said.exists() and database.exists()) and time.monotonic() < until and rialto.poll() is None:
            time.sleep(0.02)
        rialto.send_signal(number)
        assert rialto.wait(60) == 0
    assert not database.with_name("rialto.db-wal").exists()  # closed in order


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals to send to a process")
def test_a_thread_that_never_ends_keeps_neither_the_program_nor_its_lock(tmp_path: Path) -> None:
    """As one that reads from a network drive that went away."""
    said, home = tmp_path / "said", tmp_path / "home"
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "RIALTO_HOME": str(home),
        "RIALTO_READY_FILE": str(said),
    }
    program = (
        "import asyncio, sys, time\n"
        "from app import __main__\n"
        "from app.bootstrap import rialto\n"
        "live = rialto.Rialto.live\n"
        "async def with_stuck_threads(self):\n"
        "    for _ in range(64):\n"
        "        asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600)\n"
        "    return await live(self)\n"
        "rialto.Rialto.live = with_stuck_threads\n"
        "sys.argv = ['rialto']\n"
        "raise SystemExit(__main__.main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL) as stuck:
        until = time.monotonic() + 120
        database = home / "data" / "rialto.db"
        while not (said.exists() and database.exists()) and time.monotonic() < until and stuck.poll() is None:
            time.sleep(0.02)
        stuck.send_signal(signal.SIGTERM)
        try:
            assert stuck.wait(60) == 0
        finally:
            stuck.kill()
    lock = QLockFile(str(home / "data" / "rialto.lock"))
    lock.setStaleLockTime(0)
    assert lock.tryLock(0)
    lock.unlock()
