"""The Sandbox of the window is a process of its own, and never outlives the window."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest
import pytest_asyncio

from app.bootstrap import sandbox_process
from app.bootstrap.sandbox_process import SandboxProcess
from app.storage.paths import Paths

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _sandboxes_are_forked() -> None:
    """Here it starts as it does for everybody."""


@pytest_asyncio.fixture
async def harness(tmp_path: Path, qapp: object) -> AsyncIterator[SandboxProcess]:
    harness = SandboxProcess(Paths.below(tmp_path))
    yield harness
    await harness.stop()


async def models_status(base_url: str, key: str) -> int:
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        answer = await http.get(f"{base_url}/models", headers={"Authorization": f"Bearer {key}"})
        return answer.status_code


async def test_it_answers_with_its_key_and_to_no_other(harness: SandboxProcess) -> None:
    base_url = await harness.start_and_tell()
    assert harness.address() == (base_url, harness.key)
    assert await models_status(base_url, harness.key) == 200
    assert await models_status(base_url, "another-key-of-somebody") == 401


async def test_the_key_is_in_no_argument_and_no_environment(harness: SandboxProcess) -> None:
    await harness.start()
    (child,) = [each for each in psutil.Process().children() if sandbox_process.SERVE_SANDBOX in each.cmdline()]
    assert harness.key not in " ".join(child.cmdline())
    assert harness.key not in " ".join(child.environ().values())


async def test_two_who_start_it_at_once_get_the_same_one(harness: SandboxProcess) -> None:
    first, second = await asyncio.gather(harness.start_and_tell(), harness.start_and_tell())
    assert first == second


async def test_it_stops_and_starts_anew_with_another_key(harness: SandboxProcess) -> None:
    await harness.start()
    address, key = harness.address() or ("", "")
    await harness.stop()
    assert harness.address() is None
    with pytest.raises(httpx.ConnectError):
        await models_status(address, key)
    assert await models_status(await harness.start_and_tell(), harness.key) == 200
    assert harness.key != key


async def test_a_start_that_fails_says_why(harness: SandboxProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_process, "SERVE_SANDBOX", "--serve-nothing")
    with pytest.raises(OSError, match=r"\S"):
        await harness.start()
    monkeypatch.setattr(sys, "executable", "/nowhere/at/all")
    with pytest.raises(OSError, match=r"\S"):
        await harness.start()
    assert harness.address() is None


async def test_one_that_dies_is_started_again(harness: SandboxProcess) -> None:
    await harness.start()
    (child,) = [each for each in psutil.Process().children() if sandbox_process.SERVE_SANDBOX in each.cmdline()]
    child.kill()
    async with asyncio.timeout(60):
        while harness.address() is not None:
            await asyncio.sleep(0.01)
    assert await models_status(await harness.start_and_tell(), harness.key) == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_it_ends_with_a_window_that_is_killed(tmp_path: Path) -> None:
    window = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from PySide6.QtCore import QCoreApplication
        from app.bootstrap.sandbox_process import SandboxProcess
        from app.storage.paths import Paths

        qt_app = QCoreApplication([])
        desk = SandboxProcess(Paths.below(Path(sys.argv[1])))
        desk.answering.connect(lambda: print("answering", flush=True))
        desk.begin()
        qt_app.exec()
        """
    )
    command = [sys.executable, "-c", window, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "answering\n"
        (child,) = psutil.Process(parent.pid).children()
        parent.send_signal(signal.SIGKILL)
        parent.wait(60)
    _, alive = psutil.wait_procs([child], timeout=60)
    until = time.monotonic() + 60
    while alive and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
        time.sleep(0.02)  # nobody may be there to collect an orphan
    assert not alive or child.status() == psutil.STATUS_ZOMBIE
