"""The virtual environments beside the program: one to run it, one to test it, each made from one lock file.

An environment is ready when its mark equals `stamp_of(lock)`. The mark says "unfinished" until the last step is over,
so a half-made environment is made again, and an environment of another lock, Python or machine too.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from progress import CommandFailed, Refusal, quietly, say, step

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = 1  # raise it when environments have to be made anew though lock and Python are the same
MARK = "rialto-environment"
UNFINISHED = "unfinished"
# Windows refuses paths of 260 characters. A test compares the longest path with the wheels that are installed.
LONGEST_PATH_IN_A_WHEEL = 152  # in PySide6-Essentials
LONGEST_ROOT_ON_WINDOWS = 259 - len("\\.venv-package\\Lib\\site-packages\\") - LONGEST_PATH_IN_A_WHEEL

QT_PROBE = "from PySide6.QtWidgets import QApplication; QApplication([])"


@dataclass(frozen=True)
class Environment:
    folder: Path
    lock: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def mark(self) -> Path:
        return self.folder / MARK

    @property
    def ready(self) -> bool:
        with suppress(OSError):
            return self.mark.read_text(encoding="utf-8") == stamp_of(self.lock) and self.python.exists()
        return False


def stamp_of(lock: Path) -> str:
    """Return what an environment must have been made from to be used: the lock's bytes, this Python, this machine."""
    made_from = (
        f"schema {SCHEMA}",
        f"python {platform.python_version()} {sys.implementation.cache_tag}",
        f"machine {sys.platform} {platform.machine()}",
        hashlib.sha256(lock.read_bytes()).hexdigest(),
    )
    return hashlib.sha256("\n".join(made_from).encode()).hexdigest()


def ensure(name: str, lock: Path, *, root: Path = ROOT) -> Environment:
    """Return the ready environment `name`, making it first where needed.

    Raises `Refusal` when it cannot be made here.
    """
    environment = find(name, lock, root)
    if environment.ready:
        return environment
    home = environment.folder.parent
    if home != root:
        say(f"The program's folder cannot hold its libraries, so they are kept in {home}.")
    with alone(home):
        if not environment.ready:  # another start may have made it while we waited
            make(environment)
    return environment


def find(name: str, lock: Path, root: Path = ROOT) -> Environment:
    """Return the environment `name`, ready or not: in the program's folder, or in the user's cache if that fails."""
    environment = Environment(root / name, lock)
    if environment.ready or fit_for_environments(root):
        return environment
    return Environment(cache_folder() / hashlib.sha256(str(root).encode()).hexdigest()[:12] / name, lock)


def fit_for_environments(root: Path) -> bool:
    """Return whether a folder is writable and its path one that `venv` and the system can work with."""
    if os.pathsep in str(root) or (os.name == "nt" and len(str(root)) > LONGEST_ROOT_ON_WINDOWS):
        return False
    try:
        with tempfile.TemporaryFile(dir=root):
            return True
    except OSError:
        return False


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the platform's folder for things that can be made again, with ours inside."""
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "rialto" / "environments"


def make(environment: Environment) -> None:
    """Make an environment from nothing and mark it. Raises `Refusal`; what is left behind then counts as unfinished."""
    folder = environment.folder
    clear(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        environment.mark.write_text(UNFINISHED, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The folder {folder} cannot be written: {error.strerror}.") from error
    try:
        with step("Making a place for the libraries"):
            quietly([sys.executable, "-I", "-m", "venv", str(folder)])
    except CommandFailed as failure:
        raise Refusal(f"Python could not make the environment {folder}. It said:\n\n{failure.tail}\n") from failure
    install(environment)
    environment.mark.write_text(stamp_of(environment.lock), encoding="utf-8")


def install(environment: Environment) -> None:
    """Install the lock file with pip: wheels only, each checked against its hash. The person's pip settings hold."""
    # -I: what PYTHONPATH names is not in the environment, so pip must not take it for installed
    # --no-user: a person's `user = true` is about their own folder and has no meaning inside an environment
    command = [str(environment.python), "-I", "-m", "pip", "install", "--no-user", "--no-input", "--require-hashes"]
    command += ["--progress-bar", "off", "--disable-pip-version-check", "--only-binary", ":all:"]
    try:
        with step("Installing the libraries; the first time takes a minute or so"):
            quietly([*command, "-r", str(environment.lock)])
    except CommandFailed as failure:
        raise Refusal(
            f"The libraries could not be installed. {_advice(failure.output)}\npip said:\n\n{failure.tail}\n"
        ) from failure


def prove_qt(environment: Environment, plugin: str, environ: Mapping[str, str]) -> None:
    """Start Qt once per environment and platform plugin, and explain what is missing when it cannot.

    Raises `Refusal`. Needed where no package list was checked: a missing library is an ImportError, a missing part of
    the X11 set even ends the process, and neither says what to do.
    """
    proven = environment.folder / f"{MARK}-{plugin}"
    if proven.exists():
        return
    try:
        with step("Starting Qt for the first time"):
            quietly([str(environment.python), "-c", QT_PROBE], env=environ)
    except CommandFailed as failure:
        raise Refusal(f"{_lacking(failure.output)}\n\n{failure.tail}\n") from failure
    with suppress(OSError):  # a folder that became read-only: prove it again next time
        proven.touch()


def clear(folder: Path) -> None:
    """Remove an environment of ours; set aside one that somebody else made. Raises `Refusal` when it is in use."""
    if not folder.exists():
        return
    try:
        if (folder / "pyvenv.cfg").exists() and not (folder / MARK).exists():
            aside = Path(tempfile.mkdtemp(prefix=f"{folder.name.lstrip('.')}-", dir=_scratch(folder.parent)))
            say(f"{folder} was not made by Rialto; it is now in {aside}.")
            folder.rename(aside / folder.name)
        else:
            shutil.rmtree(folder)
    except OSError as error:
        raise Refusal(
            f"The old libraries in {folder} could not be removed: {error.strerror}.\n"
            "Close Rialto if it is open, then start again."
        ) from error


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Hold the one lock of a folder's environments, waiting for another start that is making one."""
    try:
        handle = (_scratch(home) / "environments.lock").open("a+b")
    except OSError as error:
        raise Refusal(f"The folder {home} cannot be written: {error.strerror}.") from error
    with handle:
        with step("Waiting for another start of Rialto to finish its installation"):
            _lock(handle.fileno())
        yield  # closing the handle gives the lock back, and so does the end of the process


def _lock(descriptor: int) -> None:
    """Wait for the lock on an open file, for as long as it takes."""
    if sys.platform == "win32":
        import msvcrt

        while True:
            with suppress(OSError):  # raised after ten tries, one a second
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _scratch(home: Path) -> Path:
    scratch = home / "build"
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


def _advice(output: str) -> str:
    if "No matching distribution found" in output or "not a supported wheel" in output:
        return (
            "One of them has no build for this system "
            f"({platform.system()} {platform.machine()}, Python {platform.python_version()}); "
            "README.md names the supported ones."
        )
    if "No space left on device" in output:
        return "The disk is full; the libraries need about 1.1 GB."
    if "do not match the hashes" in output.lower():
        return "A download differs from what was published, so it was not used."
    return "The first start needs a connection to the Python package index; later ones need none."


def _lacking(output: str) -> str:
    library = re.search(r"ImportError: (lib[^\s:]+): cannot open shared object", output)
    if library:
        return (
            f"Qt cannot start: the system library {library[1]} is missing. "
            "Install the package of your system that holds it, then start again. Qt said:"
        )
    display = re.search(r"could not connect to display (\S+)", output)
    if display:
        return (
            f"The display {display[1]} does not answer. With DISPLAY unset, Rialto takes a tour without one. Qt said:"
        )
    if "platform plugin" in output:
        return (
            "Qt cannot open a window here: a library that it needs for X11 is missing (Debian's names for them are "
            "libxcb-cursor0, libxcb-icccm4, libxcb-keysyms1, libxcb-shape0 and libxkbcommon-x11-0). Qt said:"
        )
    return "Qt cannot start here. It said:"
