"""What a built program has to know of how it was built."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.ui.kit.own_executable import restore_environment


def built_environment() -> dict[str, str]:
    """What a process of a built program finds: variables of PyInstaller's loader and Qt hook, and of PySide."""
    return {
        "HOME": "/home/person",
        "LD_LIBRARY_PATH": "/opt/rialto/_internal",
        "QT_PLUGIN_PATH": "/opt/rialto/_internal/PySide6/Qt/plugins",
        "QML2_IMPORT_PATH": "/opt/rialto/_internal/PySide6/Qt/qml",
        "PYSIDE6_OPTION_PYTHON_ENUM": "True",
        "_PYI_ARCHIVE_FILE": "/opt/rialto/rialto",
        "_PYI_PARENT_PROCESS_LEVEL": "1",
        "_PYI_LINUX_PROCESS_NAME": "rialto",
    }


def test_what_a_built_program_opens_finds_the_environment_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environ = built_environment()
    restore_environment(environ)
    assert environ == {"HOME": "/home/person"}


def test_a_library_path_of_the_person_s_own_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environ = built_environment() | {"LD_LIBRARY_PATH_ORIG": "/opt/driver"}
    restore_environment(environ)
    assert environ == {"HOME": "/home/person", "LD_LIBRARY_PATH": "/opt/driver"}


def test_a_start_from_source_leaves_the_environment_alone() -> None:
    environ = built_environment()
    restore_environment(environ)
    assert environ == built_environment()


def test_the_start_of_a_built_program_restores_the_environment(tmp_path: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
from app.bootstrap.start import run
from app.ui.shell.single_instance import SingleInstance

other = SingleInstance(Path({str(tmp_path / "data")!r}))  # holds the folder, so the start ends
other.try_lock()
sys.frozen = True
os.environ.update({built_environment()!r})
code = run(["--portable", {str(tmp_path)!r}])
print(code, sorted(set(os.environ) & set({[*built_environment()]!r})))
"""
    (tmp_path / "data").mkdir()
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines()[-1:] == ["1 ['HOME']"], done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_work_beside_the_loop_starts_no_more_threads_than_it_needs() -> None:
    script = """
import asyncio, os
from unittest.mock import MagicMock
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication
from app.bootstrap import start

class Window(QObject):
    closed = Signal()

async def live():
    before = len(os.listdir("/proc/self/task"))
    await asyncio.to_thread(os.getpid)
    print(len(os.listdir("/proc/self/task")) - before)
    return 0

start._run_in_loop(QApplication([]), MagicMock(window=Window(), live=live))
"""
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["1"], done.stderr


def test_a_start_without_a_library_of_the_system_names_it() -> None:
    script = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name == "PySide6.QtWidgets":
            raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")

sys.meta_path.insert(0, Lacking())
sys.argv = ["rialto", "--version"]
from app.__main__ import main
raise SystemExit(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Rialto cannot start: the system library libGL.so.1 is missing.")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_a_start_without_a_display_is_one_sentence(tmp_path: Path) -> None:
    without = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environ = {name: value for name, value in os.environ.items() if name not in without}
    environ["RIALTO_HOME"] = str(tmp_path / "home")
    command = [sys.executable, "-m", "app"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Rialto needs a display") and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "home").exists()
