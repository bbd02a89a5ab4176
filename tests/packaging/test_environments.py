"""Environments: made once, used again while nothing changed, made anew when anything did or when half-made."""

import os
import subprocess
import sys
import threading
from importlib.metadata import distributions
from pathlib import Path

import environments
import pytest
from environments import Environment, ensure, find, fit_for_environments, prove_qt, stamp_of
from progress import CommandFailed, Refusal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "a place with ü"
    folder.mkdir()
    return folder


@pytest.fixture
def lock(root: Path) -> Path:
    path = root / "requirements.lock"
    path.write_text("httpx==0.28.1 \\\n    --hash=sha256:00\n", encoding="utf-8")
    return path


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stand for venv and pip, and record their calls: the first makes a Python that is this one, the second nothing."""
    calls: list[list[str]] = []

    def quietly(command: list[str], **named: object) -> str:
        calls.append(command)
        if command[1:4] == ["-I", "-m", "venv"]:
            python = Environment(Path(command[4]), Path()).python
            python.parent.mkdir(parents=True, exist_ok=True)
            python.symlink_to(sys.executable)
        return ""

    monkeypatch.setattr(environments, "quietly", quietly)
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(os.environ["RIALTO_HOME"]).parent / "cache"))
    return calls


def test_the_second_start_finds_everything_and_calls_nothing(root, lock, tools) -> None:
    first = ensure(".venv", lock, root=root)
    assert [command[1:4] for command in tools] == [["-I", "-m", "venv"], ["-I", "-m", "pip"]]
    tools.clear()
    assert ensure(".venv", lock, root=root) == first
    assert tools == []


def test_pip_takes_wheels_with_known_hashes_only(root, lock, tools) -> None:
    ensure(".venv", lock, root=root)
    pip = tools[1]
    assert {"--require-hashes", "--only-binary", ":all:", str(lock)} <= set(pip)
    assert not [word for word in pip if "index" in word or "://" in word or "cert" in word]


def test_another_lock_another_python_or_another_scheme_makes_another_stamp(lock, monkeypatch) -> None:
    stamps = {stamp_of(lock)}
    monkeypatch.setattr(environments.platform, "python_version", lambda: "3.11.99")
    stamps.add(stamp_of(lock))
    monkeypatch.setattr(environments, "SCHEMA", environments.SCHEMA + 1)
    stamps.add(stamp_of(lock))
    lock.write_text("httpx==0.28.2\n", encoding="utf-8")
    stamps.add(stamp_of(lock))
    assert len(stamps) == 4


def test_a_changed_lock_makes_the_environment_again(root, lock, tools) -> None:
    environment = ensure(".venv", lock, root=root)
    left_over = environment.folder / "left over"
    left_over.touch()
    lock.write_text("httpx==0.28.2\n", encoding="utf-8")
    ensure(".venv", lock, root=root)
    assert (len(tools), left_over.exists(), environment.ready) == (4, False, True)


def test_a_half_made_environment_is_made_again(root, lock, tools, monkeypatch) -> None:
    def fail(environment: Environment) -> None:
        raise Refusal("no connection")

    with monkeypatch.context() as patch:
        patch.setattr(environments, "install", fail)
        with pytest.raises(Refusal, match="no connection"):
            ensure(".venv", lock, root=root)
    assert (root / ".venv" / environments.MARK).read_text(encoding="utf-8") == environments.UNFINISHED
    assert ensure(".venv", lock, root=root).ready


def test_an_environment_whose_python_is_gone_is_made_again(root, lock, tools) -> None:
    environment = ensure(".venv", lock, root=root)
    environment.python.unlink()
    assert not environment.ready
    assert ensure(".venv", lock, root=root).ready


def test_an_environment_that_somebody_else_made_is_set_aside_and_not_deleted(root, lock, tools, capsys) -> None:
    (root / ".venv").mkdir()
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    (root / ".venv" / "precious").touch()
    ensure(".venv", lock, root=root)
    assert [path.name for path in (root / "build").rglob("precious")] == ["precious"]
    assert "was not made by Rialto" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_keeps_its_libraries_in_the_cache(
    root, lock, tools, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(environments, "fit_for_environments", lambda folder: False)
    environment = ensure(".venv", lock, root=root)
    assert environment.folder.is_relative_to(os.environ["XDG_CACHE_HOME"])
    assert "cannot hold its libraries, so they are kept in" in capsys.readouterr().out
    assert not (root / ".venv").exists()


@pytest.mark.skipif(os.name == "nt", reason="the path of a folder cannot hold a colon on Windows")
def test_a_path_that_venv_refuses_is_not_fit(tmp_path: Path) -> None:
    folder = tmp_path / "with:colon"
    folder.mkdir()
    assert fit_for_environments(tmp_path)
    assert not fit_for_environments(folder)
    assert not fit_for_environments(tmp_path / "absent")


def test_the_longest_path_in_an_environment_is_one_that_windows_takes() -> None:
    """Measured in the wheels that are installed here; those for Windows have the same files."""
    names = [str(file) for one in distributions() for file in one.files or () if not str(file).startswith("..")]
    longest = max(map(len, names))
    assert longest <= environments.LONGEST_PATH_IN_A_WHEEL, max(names, key=len)
    root = "C:\\" + "x" * (environments.LONGEST_ROOT_ON_WINDOWS - 3)
    assert len(f"{root}\\.venv-package\\Lib\\site-packages\\") + longest <= 259
    home = "C:\\Users\\somebody with a name\\AppData\\Local\\rialto\\environments\\01234567"
    assert len(home) <= environments.LONGEST_ROOT_ON_WINDOWS  # where they go from a longer path


def test_a_ready_environment_is_used_even_where_nothing_can_be_written(root, lock, tools, monkeypatch) -> None:
    ensure(".venv", lock, root=root)
    monkeypatch.setattr(environments, "fit_for_environments", lambda folder: False)
    assert find(".venv", lock, root).folder.parent == root


def test_two_starts_at_once_make_one_environment(root, lock, tools) -> None:
    starts = [threading.Thread(target=ensure, args=(".venv", lock), kwargs={"root": root}) for _ in range(2)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert [command[1:4] for command in tools] == [["-I", "-m", "venv"], ["-I", "-m", "pip"]]


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("ERROR: No matching distribution found for pyside6", "no build for this system"),
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "so it was not used"),
        ("Temporary failure in name resolution", "needs a connection"),
    ],
)
def test_a_failed_installation_says_what_it_means(root, lock, tools, monkeypatch, said: str, advice: str) -> None:
    make = environments.quietly

    def quietly(command: list[str], **named: object) -> str:
        if "pip" in command:
            raise CommandFailed(command, 1, said)
        return make(command)

    monkeypatch.setattr(environments, "quietly", quietly)
    with pytest.raises(Refusal, match=advice) as refused:
        ensure(".venv", lock, root=root)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("ImportError: libGL.so.1: cannot open shared object file", "the system library libGL.so.1 is missing"),
        ('Could not load the Qt platform plugin "xcb"', "libxcb-cursor0"),
        ("qt.qpa.xcb: could not connect to display :99\nno Qt platform plugin", "The display :99 does not answer"),
        ("Segmentation fault", "Qt cannot start here"),
    ],
)
def test_what_qt_lacks_is_named(root, lock, tools, monkeypatch, said: str, sentence: str) -> None:
    environment = ensure(".venv", lock, root=root)

    def fail(command: list[str], **named: object) -> str:
        raise CommandFailed(command, 1, said)

    monkeypatch.setattr(environments, "quietly", fail)
    with pytest.raises(Refusal, match=sentence):
        prove_qt(environment, "offscreen", {})


def test_qt_is_proven_once_for_each_platform_plugin(root, lock, tools) -> None:
    environment = ensure(".venv", lock, root=root)
    tools.clear()
    for plugin in ("offscreen", "offscreen", "default"):
        prove_qt(environment, plugin, {})
    assert len(tools) == 2


def test_a_real_environment_is_made_from_an_empty_lock(root: Path) -> None:
    lock = root / "requirements.lock"
    lock.write_text("# nothing\n", encoding="utf-8")
    environment = ensure(".venv", lock, root=root)
    asked = subprocess.run(
        [str(environment.python), "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True
    )
    assert Path(asked.stdout.strip()) == environment.folder


def test_what_pythonpath_names_is_not_taken_for_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rialto's environment lacked every library that somebody's PYTHONPATH happened to hold."""
    elsewhere = root / "elsewhere" / "one-1.0.dist-info"
    elsewhere.mkdir(parents=True)
    (elsewhere / "METADATA").write_text("Metadata-Version: 2.1\nName: one\nVersion: 1.0\n")
    (elsewhere / "RECORD").touch()
    monkeypatch.setenv("PYTHONPATH", str(elsewhere.parent))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    path = root / "requirements.lock"
    path.write_text(f"one==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    with pytest.raises(Refusal, match="No matching distribution"):
        ensure(".venv", path, root=root)
