"""What `bootstrap.py` can do, one function per command, and how its command line is read."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import suite
import system_packages
from environments import ROOT, Environment, cache_folder, ensure, find, fit_for_environments, prove_qt
from locks import DEV_LOCK, PACKAGE_LOCK, RUN_LOCK, lock
from progress import Refusal, say, speak_everywhere

# Platform plugins of Qt that need neither X11 nor Wayland and still show a window to somebody.
OWN_SCREEN = ("eglfs", "linuxfb", "vnc", "vkkhrdisplay")
SCREENSHOTS = ROOT / "resources" / "screenshots"


def main(arguments: Sequence[str]) -> int:
    speak_everywhere()
    options, rest = read_command_line(arguments)
    try:
        return int(options.command(options, rest))
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


def read_command_line(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split at the first `--`: what stands before it is ours, what stands behind it is passed on as it is."""
    own, rest = list(arguments), []
    if "--" in own:
        rest = own[own.index("--") + 1 :]
        own = own[: own.index("--")]
    parser = argparse.ArgumentParser(prog="bootstrap.py", description="Start, test and maintain Rialto.")
    parser.add_argument(
        "--without-system-packages", action="store_true", help="do not look for missing Debian or Ubuntu packages"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("run", help="start Rialto; `run -- ARGS` passes arguments on")
    command.add_argument(
        "--shots-to", type=Path, metavar="FOLDER", help="with no display: where the tour puts its screenshots"
    )
    command.set_defaults(command=run)
    command = commands.add_parser("test", help="ruff, mypy and the whole test suite; `test -- ARGS` is for pytest")
    command.add_argument("--only", choices=suite.PARTS, help="ruff and mypy, or the test suite, alone")
    command.set_defaults(command=test)
    command = commands.add_parser("sandbox", help="start the Sandbox alone; `sandbox -- ARGS` passes arguments on")
    command.set_defaults(command=sandbox)
    command = commands.add_parser("bench", help="measure, and print ratios; `bench -- TOPIC …` measures only those")
    command.set_defaults(command=bench)
    command = commands.add_parser("lock", help="write the lock files from pyproject.toml")
    command.add_argument("--upgrade", action="store_true", help="take the newest versions that fit")
    command.set_defaults(command=make_locks)
    command = commands.add_parser("shots", help="take the README's screenshots again, light and dark")
    command.set_defaults(command=shots)
    command = commands.add_parser("package", help="build what people install, and let it test itself")
    command.add_argument("--without-test", action="store_true", help="do not run the built program's self-test")
    command.add_argument("--only-folder", action="store_true", help="build the program's folder, and pack nothing")
    command.set_defaults(command=make_packages)
    return parser.parse_args(own), rest


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Start the program; on a computer without a display, let it show itself in images."""
    environ = dict(os.environ)
    if has_display(environ):
        python = prepare(".venv", RUN_LOCK, options, window=True, environ=environ).python
        return replace_by([str(python), "-m", "app", *rest], environ)
    if not {"--help", "-h", "--version", "--tour", "--self-test", "--uninstall-info"} & set(rest):
        folder = (options.shots_to or default_tour_folder()).absolute()
        say(f"There is no display here, so Rialto takes a tour without one and leaves screenshots in {folder}.")
        rest = ["--tour", str(folder), *rest]
    environ["QT_QPA_PLATFORM"] = "offscreen"
    python = prepare(".venv", RUN_LOCK, options, window=False, environ=environ).python
    return replace_by([str(python), "-m", "app", *rest], environ)


def test(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Run every check there is."""
    return suite.run(prepare_for_tests(options), rest, only=options.only)


def sandbox(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Serve the Sandbox without a window; files in its arguments are found from the current folder."""
    if not options.without_system_packages and not find(".venv", RUN_LOCK).ready:
        system_packages.require(system_packages.for_venv())
    python = ensure(".venv", RUN_LOCK).python
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return replace_by([str(python), "-m", "app.sandbox", *rest], {**os.environ, "PYTHONPATH": path}, Path.cwd())


def bench(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Measure. The figures are only worth something on a computer that does nothing else meanwhile."""
    python = prepare_for_tests(options).python
    return replace_by([str(python), "-m", "tests.bench", *rest], dict(os.environ))


def make_locks(options: argparse.Namespace, rest: Sequence[str]) -> int:
    if not options.without_system_packages:
        system_packages.require(system_packages.for_venv())
    lock(upgrade=options.upgrade)
    return 0


def shots(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Take the tour in both themes; the old images are replaced only when both tours went well."""
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    python = prepare(".venv", RUN_LOCK, options, window=False, environ=environ).python
    with tempfile.TemporaryDirectory() as scratch:
        for theme in ("light", "dark"):
            say(f"Taking the screenshots, {theme}.")
            folder = Path(scratch) / theme
            command = [str(python), "-m", "app", "--tour", str(folder), "--theme", theme, *rest]
            code = subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
            if code != 0:
                say("The tour did not end well; the screenshots in the repository are as they were.")
                return code
        for theme in ("light", "dark"):
            shutil.rmtree(SCREENSHOTS / theme, ignore_errors=True)
            shutil.copytree(Path(scratch) / theme, SCREENSHOTS / theme)
    say(f"The screenshots are in {SCREENSHOTS}.")
    return 0


def make_packages(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Build for the system that this is; each can only be built on itself. What a window needs is carried along."""
    from package import build_folder, package

    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment = prepare(".venv-package", PACKAGE_LOCK, options, window=True, environ=environ)
    if options.only_folder:
        return build_folder(environment, test=not options.without_test)
    return package(environment, test=not options.without_test)


def prepare(
    name: str, lock_file: Path, options: argparse.Namespace, *, window: bool, environ: Mapping[str, str]
) -> Environment:
    """Return an environment in which Qt starts, with everything around it that the system has to give."""
    wanted = [*system_packages.QT, *system_packages.SOUND]
    if window:
        wanted += system_packages.QT_WINDOW
    if lock_file == DEV_LOCK:
        wanted += system_packages.for_tests()
    if lock_file == PACKAGE_LOCK:
        wanted += system_packages.for_packages()
    if not options.without_system_packages:
        if not find(name, lock_file).ready:
            wanted += system_packages.for_venv()
        system_packages.require(wanted)
    environment = ensure(name, lock_file)
    prove_qt(environment, environ.get("QT_QPA_PLATFORM") or "default", environ)
    return environment


def prepare_for_tests(options: argparse.Namespace) -> Environment:
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return prepare(".venv-test", DEV_LOCK, options, window=False, environ=environ)


def has_display(environ: Mapping[str, str], system: str = sys.platform) -> bool:
    """Return whether a window would be seen by anybody. Windows and macOS always have a display."""
    if not system.startswith("linux"):
        return True
    if environ.get("QT_QPA_PLATFORM", "").partition(":")[0] in OWN_SCREEN:
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def default_tour_folder() -> Path:
    return (ROOT if fit_for_environments(ROOT) else cache_folder().parent) / "tour"


def replace_by(command: Sequence[str], environ: Mapping[str, str], folder: Path = ROOT) -> int:
    """Become the program: the same process, so that signals and the exit code are its own. Windows: wait for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":
        return subprocess.run(command, cwd=folder, env=environ, check=False).returncode
    os.chdir(folder)
    os.execve(command[0], list(command), dict(environ))
