"""The entry: standard library only, a sentence for the wrong Python, and a command line that passes the rest on."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from bootstrap import version_problem

from tests.kit.portable import not_on_windows

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
MODULES = sorted(PACKAGING.glob("*.py"))
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def interpreters() -> list[str]:
    """Return every supported Python that this computer has, the current one first; each is asked who it is."""
    found = {sys.version.rpartition("(")[0].split()[0].rpartition(".")[0]: sys.executable}
    candidates = [shutil.which(f"python{version}") for version in SUPPORTED]
    candidates += [str(path) for path in (Path.home() / ".pyenv" / "versions").glob("3.1[1234].*/bin/python")]
    for candidate in filter(None, candidates):
        asked = subprocess.run(
            [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0 and asked.stdout.strip() in SUPPORTED:
            found.setdefault(asked.stdout.strip(), candidate)
    return list(found.values())


# What packing shares with the program, how its list of licenses is written and read, and what runs beside the tests.
SHARED = {"licenses": {"app"}, "forked_workers": {"pytest", "hypothesis"}}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_the_bootstrap_imports_the_standard_library_and_itself_only(path: Path) -> None:
    own = {module.stem for module in MODULES} | SHARED.get(path.stem, set())
    assert imports_of(path) - own - set(sys.stdlib_module_names) == set()


def test_what_packing_shares_with_the_program_needs_nothing_installed() -> None:
    script = "import sys; sys.path.insert(0, 'packaging'); import licenses; print(sorted(map(str, sys.modules)))"
    done = subprocess.run([sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "PySide6" not in done.stdout and "pydantic" not in done.stdout


def test_no_module_of_the_bootstrap_hides_one_of_the_standard_library() -> None:
    assert {module.stem for module in MODULES} & set(sys.stdlib_module_names) == set()


def test_the_entry_can_be_read_by_an_older_python() -> None:
    ast.parse((PACKAGING / "bootstrap.py").read_text(encoding="utf-8"), feature_version=(3, 7))


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
def test_a_supported_python_is_taken(version: tuple[int, int]) -> None:
    assert version_problem(version) is None


def test_another_python_is_told_which_one_to_use() -> None:
    said = version_problem((3, 9), starts=lambda name: name == "python3.12")
    assert said == (
        "Rialto needs Python 3.11, 3.12, 3.13 or 3.14; this is Python 3.9. "
        "There is a python3.12 here: use it instead of python3 in the same line."
    )
    assert "Install one of them" in version_problem((3, 15), starts=lambda name: False)


@not_on_windows
def test_a_shim_that_starts_no_python_is_not_recommended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shims of pyenv exist for every installed version, and say "command not found" unless it is selected."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, code in (("python3.13", 127), ("python3.12", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    assert "There is a python3.12 here" in version_problem((3, 9))


@pytest.mark.parametrize("python", interpreters())
def test_help_is_given_from_any_folder_on_every_python_here(python: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "with a space and ü"
    elsewhere.mkdir()
    ended = subprocess.run(
        [python, str(PACKAGING / "bootstrap.py"), "--help"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for command in ("run", "test", "sandbox", "bench", "lock", "shots"):
        assert command in ended.stdout


def test_what_stands_behind_the_dashes_is_passed_on_untouched() -> None:
    options, rest = commands.read_command_line(["test", "--", "-k", "chat", "--", "-x"])
    assert (options.command, rest) == (commands.test, ["-k", "chat", "--", "-x"])


@pytest.mark.parametrize(
    ("environ", "system", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ""}, "linux", False),
        ({"QT_QPA_PLATFORM": "vnc:port=5901"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_a_display_is_looked_for_where_it_may_be_absent(environ: dict[str, str], system: str, expected: bool) -> None:
    assert commands.has_display(environ, system) is expected


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], dict[str, str]]]:
    """Record how the program would be started; installing is not what these tests are about."""
    calls: list[tuple[list[str], dict[str, str]]] = []
    environment = commands.Environment(tmp_path / ".venv", commands.RUN_LOCK)
    monkeypatch.setattr(commands, "prepare", lambda *given, **named: environment)
    monkeypatch.setattr(commands, "replace_by", lambda command, environ: calls.append((command[1:], environ)) or 0)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    return calls


def test_without_a_display_it_says_so_and_takes_the_tour(started, tmp_path, capsys) -> None:
    assert commands.main(["run", "--shots-to", str(tmp_path / "pictures")]) == 0
    command, environ = started[0]
    assert command == ["-m", "app", "--tour", str(tmp_path / "pictures")]
    assert environ["QT_QPA_PLATFORM"] == "offscreen"
    assert capsys.readouterr().out == (
        "There is no display here, so Rialto takes a tour without one "
        f"and leaves screenshots in {tmp_path / 'pictures'}.\n"
    )


def test_with_a_display_it_starts_the_program_with_the_arguments_given(started, monkeypatch, capsys) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert commands.main(["run", "--", "--theme", "dark"]) == 0
    command, environ = started[0]
    assert command == ["-m", "app", "--theme", "dark"]
    assert "QT_QPA_PLATFORM" not in environ
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("argument", ["--version", "--self-test", "--uninstall-info"])
def test_arguments_that_need_no_display_are_not_turned_into_a_tour(started, capsys, argument: str) -> None:
    commands.main(["run", "--", argument])
    assert started[0][0] == ["-m", "app", argument]
    assert capsys.readouterr().out == ""


def test_the_settings_of_pip_and_of_certificates_are_left_alone(started, monkeypatch) -> None:
    kept = {"PIP_INDEX_URL": "x", "PIP_CERT": "y", "SSL_CERT_FILE": "z", "REQUESTS_CA_BUNDLE": "w"}
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    commands.main(["run"])
    assert {name: started[0][1][name] for name in kept} == kept
