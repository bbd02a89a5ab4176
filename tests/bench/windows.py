"""Start windows in processes of their own and learn when they are painted: Rialto's, and a bare one to compare with.

Both say `ready <monotonic ns>` in a file named by RIALTO_READY_FILE, when the first paint is over and the event loop
turns again. Rialto adds `sandbox` once the Sandbox answers, where the account in use is the Sandbox, `can-send`
once its own client has the list of models, and `tabs` once every tab is built ahead.
Both windows are 1440x900 on a screen that has room for them: Qt's usual off-screen one is 800 px wide, which would
measure a narrow window with its panes folded away.
The clock is the system's monotonic one, the same for every process. Both find their bytecode compiled, as installed
programs do: it is kept in a folder of this run, whatever the environment says about writing it, and the warm-up rounds
fill that folder.
"""

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from app.credentials.accounts import SANDBOX_ADDRESS, Accounts, Kind, new_account
from app.storage.atomic_files import write_atomically
from app.storage.paths import Paths
from app.storage.settings import SettingsStore
from tests.kit.settings import change_settings

ROOT = Path(__file__).resolve().parents[2]
READY_FILE = "RIALTO_READY_FILE"
PATIENCE_S = 60.0
LOOK_EVERY_S = 0.002

RIALTO = ("-m", "app")
SESSION = (sys.executable, "-m", "tests.bench.live_session")
BARE = (
    "-c",
    """
import os, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

class Window(QMainWindow):
    painted = False

    def paintEvent(self, event):
        super().paintEvent(event)
        if not self.painted:
            self.painted = True
            QTimer.singleShot(0, say)

def say():
    Path(os.environ["RIALTO_READY_FILE"]).write_text(f"ready {time.monotonic_ns()}\\n")

qt_app = QApplication(sys.argv)
window = Window()
window.resize(1440, 900)
window.show()
qt_app.exec()
""",
)


def prepare_home(home: Path, kind: Kind) -> None:
    """Make a data folder in which the welcome is over and one account is in use: what an ordinary start finds."""
    paths = Paths.below(home)
    paths.make()
    address = SANDBOX_ADDRESS if kind == "sandbox" else "http://127.0.0.1:9"
    book = Accounts(lambda: None, lambda data: write_atomically(paths.accounts, data))
    book.add(new_account("Bench", address, kind=kind))
    change_settings(SettingsStore(paths.settings), welcome_done=True, secret_store="session")


@cache
def _bytecode() -> tempfile.TemporaryDirectory[str]:
    """Return the folder for compiled files; it goes with this process."""
    return tempfile.TemporaryDirectory(prefix="rialto-bench-")


def find_bytecode() -> None:
    """Let this process import the program's modules from compiled files, which it makes first.

    One that was started with `environment` finds them made by whoever imported them before.
    """
    if sys.pycache_prefix is not None:
        return
    sys.pycache_prefix = _bytecode().name
    if not compileall.compile_dir(ROOT / "app", quiet=1):
        raise RuntimeError("the program could not be compiled")


SCREEN = {"name": "bench", "x": 0, "y": 0, "width": 1920, "height": 1080, "logicalDpi": 96, "dpr": 1}


@cache
def screen() -> str:
    """Return Qt's platform: off-screen, with a screen of 1920x1080."""
    path = Path(_bytecode().name) / "screens.json"
    path.write_text(json.dumps({"synchronousWindowSystemEvents": False, "screens": [SCREEN]}), encoding="utf-8")
    return f"offscreen:configfile={path}"


def environment(**variables: str) -> dict[str, str]:
    """Return what a process finds that shows a window: room on the screen, and the bytecode of this run."""
    found = {**os.environ, "QT_QPA_PLATFORM": screen(), "PYTHONPYCACHEPREFIX": _bytecode().name, **variables}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


@contextmanager
def streaming(tokens: int, *rate: int) -> Iterator[str]:
    """Stream a text, from a process of its own, to whoever asks for a chat; yields the port."""
    command = [*SESSION, "serve", str(tokens), *map(str, rate)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def session(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start a session of `live_session`; `figures` waits for what it measures."""
    command = [*SESSION, *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment(**variables), stdout=subprocess.PIPE, text=True)


def figures(window: subprocess.Popen[str]) -> dict[str, float]:
    """Return what a session printed last. Raises `RuntimeError` when it did not end well."""
    told = window.communicate()[0]
    if window.returncode:
        raise RuntimeError("a window did not end well")
    found: dict[str, float] = json.loads(told.splitlines()[-1])
    return found


@contextmanager
def running(
    arguments: Sequence[str], home: Path, program: str = sys.executable
) -> Iterator[tuple[subprocess.Popen[bytes], Path, int]]:
    """Start a window; yields the process, its ready file and when it was started (monotonic ns). Ends it afterwards."""
    said = home / "ready"
    said.unlink(missing_ok=True)
    environ = environment(RIALTO_HOME=str(home), **{READY_FILE: str(said)})
    begun_ns = time.monotonic_ns()
    with subprocess.Popen([program, *arguments], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL) as process:
        try:
            yield process, said, begun_ns
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(process: subprocess.Popen[bytes], said: Path, words: Sequence[str]) -> int:
    """Return the latest of the named moments, in monotonic ns. Raises `RuntimeError` when one does not come."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        said_so_far = moments(said)
        if all(word in said_so_far for word in words):
            return max(said_so_far[word] for word in words)
        if process.poll() is not None:
            raise RuntimeError(f"the window ended with {process.returncode} before it was ready")
        time.sleep(LOOK_EVERY_S)
    raise RuntimeError(f"the window did not say {' and '.join(words)} within {PATIENCE_S:.0f} s")


def start_s(
    arguments: Sequence[str], home: Path, words: Sequence[str] = ("ready",), program: str = sys.executable
) -> float:
    """Return the seconds from the start of the process to the latest of the named moments."""
    with running(arguments, home, program) as (process, said, begun_ns):
        return (wait_for(process, said, words) - begun_ns) / 1e9


def moments(said: Path) -> dict[str, int]:
    """Return what a ready file says so far; a line without its end is still being written."""
    try:
        lines = said.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
