"""The tour is a test of the whole program: two starts, one history."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tour(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "--tour", str(folder), *arguments]
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=110, check=False)


def test_the_tour_chats_stops_restarts_and_finds_both_answers(tmp_path: Path) -> None:
    done = tour(tmp_path / "tour", "--theme", "dark")
    assert done.returncode == 0, done.stdout + done.stderr
    pictures = sorted(path.name for path in (tmp_path / "tour").glob("*.png"))
    assert "08-after-restart.png" in pictures
    assert "failed.png" not in pictures
    assert "After a restart both answers are in the history" in done.stdout


def test_a_tour_that_cannot_write_says_which_step_failed(tmp_path: Path) -> None:
    folder = tmp_path / "tour"
    folder.mkdir()
    (folder / "01-welcome.png").mkdir()  # a folder where the first picture belongs
    done = tour(folder)
    assert done.returncode == 1
    assert "01-welcome.png" in done.stdout
