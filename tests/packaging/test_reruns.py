"""A failed test gets a second chance by itself: chance is named and forgiven, what is broken fails the run."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import suite
from environments import Environment
from reruns import MOST

ENVIRONMENT = Environment(Path("/nowhere/.venv-test"), Path("/nowhere/lock"))
BARE = ("-p", "xdist.plugin", "-p", "no:cacheprovider")  # pytest starts ten times faster without our other plugins
PASSING = "def test_passes():\n    pass\n"
BROKEN = "def test_broken():\n    assert 2 + 2 == 5\n"
FLAKY = """
import pathlib, pytest

class TestWeather:
    @pytest.mark.parametrize("day", ["a - b", "c.d::e"])
    def test_is_fine(self, day):
        seen = pathlib.Path(__file__).with_name("seen")
        if not seen.exists():
            seen.touch()
            raise OSError("it rained")
"""
UNCLEAN = """
import pathlib, pytest

@pytest.fixture
def room():
    yield
    left = pathlib.Path(__file__).with_name("left")
    if not left.exists():
        left.touch()
        raise OSError("left open")

def test_in_a_room(room):
    pass
"""

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Write a suite of these tests and run it as `test` does, with `arguments` behind `--`; return the exit code."""
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setattr(suite, "pytest", lambda environment: [sys.executable, "-m", "pytest", *BARE])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(suite, "PLATFORMS", ())
    whole = suite.stages

    def run(*arguments: str, **modules: str) -> int:
        (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        folder = tmp_path / "tests"
        folder.mkdir()
        for name, text in modules.items():
            (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(suite, "stages", lambda *given: whole(*given)[-1:])
        return suite.run(ENVIRONMENT, ["-n0", *arguments])

    return run


def summary(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines below everything that the stages said."""
    lines = capsys.readouterr().out.splitlines()
    return lines[len(lines) - lines[::-1].index("") :]


def test_a_test_that_passes_by_itself_is_named_flaky_and_the_run_is_green(run: Run, capsys) -> None:
    assert run("--durations-min=0", passing=PASSING, flaky=FLAKY, unclean=UNCLEAN) == 0
    said = capsys.readouterr().out
    assert "slowest 20 durations" in said
    stage, in_class, tidying_up, closing = said.splitlines()[-4:]
    assert stage.split()[:2] == ["pytest", "ok"]
    test = "tests/test_flaky.py::TestWeather::test_is_fine[a - b]"
    assert in_class.startswith(f"Flaky: {test}: failed with OSError: it rained, then passed by itself in ")
    assert tidying_up.startswith("Flaky: tests/test_unclean.py::test_in_a_room: failed with ")
    assert "OSError: left open" in tidying_up
    assert "1 failed, 3 passed, 1 error in " in closing


def test_a_test_that_fails_by_itself_too_fails_the_run(run: Run, capsys) -> None:
    assert run(broken=BROKEN, flaky=FLAKY) == 1
    stage, broken, flaky, _closing = summary(capsys)
    assert stage.split()[:2] == ["pytest", "failed"]
    assert broken.startswith("Failed: tests/test_broken.py::test_broken: failed with ")
    assert "then failed again by itself in " in broken
    assert flaky.startswith("Flaky: ")


@pytest.mark.parametrize("arguments", [["--no-reruns"], ["-x"]])
def test_a_strict_run_and_one_that_stops_early_forgive_nothing(run: Run, capsys, arguments: list[str]) -> None:
    assert run(*arguments, flaky=FLAKY) == 1
    assert not any(line.startswith(("Flaky", "Failed")) for line in summary(capsys))


def test_many_failures_are_a_broken_change_and_not_run_again(run: Run, capsys) -> None:
    many = "".join(f"def test_{number}():\n    assert False\n" for number in range(MOST + 1))
    assert run(broken=many) == 1
    assert not any(line.startswith(("Flaky", "Failed")) for line in summary(capsys))


def test_a_run_that_came_to_nothing_fails(run: Run) -> None:
    assert run("--no-such-option", passing=PASSING) == 1
