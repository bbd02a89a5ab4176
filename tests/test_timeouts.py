"""A test that hangs ends its process, which says where it hung."""

import os
import subprocess
import sys
from pathlib import Path

HANGS = """
import threading

def test_first():
    pass

def test_hangs():
    assert sum(thread.name == "timeouts" for thread in threading.enumerate()) == 1
    threading.Event().wait()
"""


def test_a_test_that_hangs_ends_and_shows_its_stack(tmp_path: Path) -> None:
    (tmp_path / "test_hangs.py").write_text(HANGS)
    options = ["-p", "tests.kit.timeouts", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, "--timeout=0.1", "--timeout-method=thread", str(tmp_path)]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "Timeout" in ended.stdout
    assert "threading.Event().wait()" in ended.stdout
