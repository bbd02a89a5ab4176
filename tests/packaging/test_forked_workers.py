"""Workers that are forks: what tests import is imported once, each runs tests, and what made them ends with the run."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import suite

from tests.kit.waiting import block_until

pytestmark = pytest.mark.skipif(not suite.FORKS, reason="elsewhere each worker is a Python of its own")
TESTS = """
import os, pathlib, pytest, time
(pathlib.Path("imported") / str(os.getpid())).touch()

@pytest.mark.parametrize("number", range(2))
def test_one(number):
    (pathlib.Path("ran") / str(os.getpid())).touch()
    while len(list(pathlib.Path("ran").iterdir())) < 2:  # so that each worker has one
        time.sleep(0.01)
    if "ENDS" in os.environ:
        os._exit(3)
"""
# What a run does: of the first command a process stays behind, and the second has its workers made by that.
RUN = """
import subprocess, sys
python, module, workers = sys.executable, *sys.argv[1:]
collect = [python, module, "serve", workers, "-p", "no:terminal", "--collect-only"]
subprocess.run(collect, check=True, capture_output=True)
tx = f"2*popen//python={python} {module} join {workers}"
sys.exit(subprocess.run([python, "-m", "pytest", "-p", "xdist.plugin", "--dist=load", "--tx", tx]).returncode)
"""


@pytest.mark.parametrize(("more", "code", "said"), [({}, 0, "2 passed"), ({"ENDS": "1"}, 1, "2 failed")])
def test_workers_share_what_was_imported_once(more: dict[str, str], code: int, said: str, tmp_path: Path) -> None:
    for name in ("imported", "ran"):
        (tmp_path / name).mkdir()
    (tmp_path / "test_one.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]", "utf-8")
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more}
    with tempfile.TemporaryDirectory() as folder:
        workers = f"{folder}/{'long' * 30}/workers"
        Path(workers).parent.mkdir()
        command = [sys.executable, "-c", RUN, str(Path(suite.__file__).with_name("forked_workers.py")), workers]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == code and said in done.stdout, done.stdout + done.stderr
        block_until(lambda: not answers(workers))
    imported, ran = ({each.name for each in (tmp_path / name).iterdir()} for name in ("imported", "ran"))
    assert len(imported) == 1 and len(ran) == 2 and not imported & ran


def answers(workers: str) -> bool:
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(Path(workers).parent):  # its path is too long
        return server.connect_ex(Path(workers).name) == 0
