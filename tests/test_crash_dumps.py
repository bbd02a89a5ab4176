"""No process of ours may write its memory to the disk when it crashes, whatever the system would allow."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kit.memory_dumps import dumps_allowed

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = {
    "documents": ("app", "--read-documents", "INDEX"),
    "formulas": ("app", "--typeset"),
    "the window's Sandbox": ("app", "--serve-sandbox", "FOLDER"),
    "the Sandbox alone": ("app.sandbox", "--port", "0"),
}
CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there it is a flag that cannot be read back")


def crashed(code: str, here: Path) -> list[str]:
    """Run code that ends by a crash; return the files it left."""
    here.mkdir()
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"]
    ended = subprocess.run(command, cwd=here, preexec_fn=dumps_allowed(), check=False)
    assert ended.returncode == -signal.SIGSEGV
    return [each.name for each in here.iterdir()]


def test_a_crash_leaves_no_memory_behind(tmp_path: Path) -> None:
    forbid = "from app.sandbox.crash_dumps import forbid_crash_dumps as forbid; forbid(); "
    assert crashed(forbid + CRASH, tmp_path / "ours") == []
    pattern = Path("/proc/sys/kernel/core_pattern")
    if pattern.exists() and pattern.read_text().strip() == "core":  # where this system would have written one
        assert crashed(CRASH, tmp_path / "others") == ["core"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the limits of another process")
@pytest.mark.parametrize("name", PROCESSES)
def test_every_process_begins_by_forbidding_dumps(name: str, tmp_path: Path) -> None:
    module, *arguments = PROCESSES[name]
    places = [str(tmp_path / each) if each.isupper() else each for each in arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", module, *places],
        cwd=ROOT,
        preexec_fn=dumps_allowed(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        limits = Path(f"/proc/{process.pid}/limits")
        until = time.monotonic() + 60
        while limit_of(limits.read_text()) != ["1", "1"]:
            assert time.monotonic() < until and process.poll() is None, limits.read_text()
            time.sleep(0.02)
    finally:
        process.kill()
        process.communicate()


def limit_of(limits: str) -> list[str]:
    (line,) = (line for line in limits.splitlines() if line.startswith("Max core file size"))
    return line.split()[4:6]
