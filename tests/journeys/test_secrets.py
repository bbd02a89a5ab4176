"""Runs `secrets_journey.py` in a process of its own, whose command line and memory hold nothing of other tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("place", ["session", "passphrase"])
def test_no_file_log_or_command_line_holds_the_key(tmp_path: Path, place: str) -> None:
    journey = Path(__file__).with_name("secrets_journey.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--basetemp={tmp_path}/j",
    ]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [*command, str(journey), "-k", place], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:]
