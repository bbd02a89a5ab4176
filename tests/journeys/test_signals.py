"""Ctrl+C and a terminate request end the program in order, not in the middle of a slot."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
