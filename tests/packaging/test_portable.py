"""`rialto --portable FOLDER`: a real start keeps all that it writes in that folder, and nothing in the home folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from app.storage.paths import HOME_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0


def test_a_portable_start_writes_into_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    home, stick, said = tmp_path / "home", tmp_path / "stick", tmp_path / "said"
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", HOME_VARIABLE))}
    environ |= {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "RIALTO_READY_FILE": str(said)}
    command = [sys.executable, "-m", "app", "--portable", str(stick)]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL) as program:
        try:
            wait_for_database(program, said, stick / "data" / "rialto.db")
        finally:
            program.send_signal(signal.SIGTERM)
        assert program.wait(PATIENCE_S) == 0
    assert sorted(path.name for path in stick.iterdir()) == ["cache", "config", "data", "logs"]
    ours = [path for path in home.rglob("*") if "rialto" in path.name.lower()]
    assert ours == []


def wait_for_database(program: subprocess.Popen[bytes], said: Path, database: Path) -> None:
    """Wait until the window is painted and the history is open, which is the last thing that a start writes."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if said.exists() and "ready" in said.read_text(encoding="utf-8") and database.exists():
            return
        assert program.poll() is None, "the program ended before its window was ready"
        time.sleep(0.02)
    raise AssertionError("no window within a minute")
