"""`test`: every stage runs, the summary tells which failed, and the last line is pytest's own."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import suite
from environments import Environment

from tests.conftest import LONGEST, longest_first

ENVIRONMENT = Environment(Path("/nowhere/.venv-test"), Path("/nowhere/lock"))
REPORT = Path("/nowhere/tests.xml")


def stages_that_end_with(*codes: int):
    closing = "print('=== 7 passed, 1 warning in 0.52s ===')"
    names = ("ruff check", "mypy --strict", "pytest")
    return lambda environment, rest, report: [
        (name, [sys.executable, "-c", f"{closing if name == 'pytest' else ''}\nraise SystemExit({code})"])
        for name, code in zip(names, codes, strict=True)
    ]


def test_the_last_line_is_the_one_that_pytest_closed_with(monkeypatch, capsys) -> None:
    monkeypatch.setattr(suite, "stages", stages_that_end_with(0, 0, 0))
    assert suite.run(ENVIRONMENT, []) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "=== 7 passed, 1 warning in 0.52s ==="


@pytest.mark.parametrize(
    ("only", "code", "ran"),
    [("checks", 1, ["ruff", "mypy"]), ("tests", 0, ["pytest"]), (None, 1, ["ruff", "mypy", "pytest"])],
)
def test_the_checks_and_the_tests_can_run_apart(
    monkeypatch, capsys, only: str | None, code: int, ran: list[str]
) -> None:
    monkeypatch.setattr(suite, "stages", stages_that_end_with(1, 0, 0))
    assert suite.run(ENVIRONMENT, [], only=only) == code
    summary = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.endswith(" s")]
    assert summary == ran


def test_a_failed_stage_hides_no_other_and_fails_the_run(monkeypatch, capsys) -> None:
    monkeypatch.setattr(suite, "stages", stages_that_end_with(1, 0, 0))
    assert suite.run(ENVIRONMENT, []) == 1
    summary = capsys.readouterr().out.splitlines()[-4:-1]
    assert [line.split()[-3] for line in summary] == ["failed", "ok", "ok"]


def test_the_output_of_a_check_stands_whole_under_its_name(monkeypatch, capsys) -> None:
    def talks(name: str) -> tuple[str, list[str]]:
        said = f"import time\nfor part in range(3): print('{name}', part, flush=True); time.sleep(0.05)"
        return name, [sys.executable, "-c", said]

    monkeypatch.setattr(suite, "stages", lambda *given: [talks("ruff"), talks("mypy"), talks("pytest")])
    assert suite.run(ENVIRONMENT, []) == 0
    said = capsys.readouterr().out
    for name in ("ruff", "mypy"):
        assert f"\n{name}\n{name} 0\n{name} 1\n{name} 2\n" in said
    assert [line for line in said.splitlines() if line.startswith("pytest ")][:3] == [f"pytest {n}" for n in range(3)]


def test_types_are_checked_beside_the_tests_and_what_these_need_is_compiled_before(monkeypatch, tmp_path) -> None:
    meet = """
import pathlib, sys, time
folder, mine, other = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
assert mine != "pytest" or (folder / "compiled").exists()
(folder / mine).touch()
limit = time.monotonic() + 60
while not (folder / other).exists():
    assert time.monotonic() < limit
    time.sleep(0.01)
"""
    compiles = f"import pathlib; pathlib.Path({str(tmp_path / 'compiled')!r}).touch()"
    commands = [(suite.COMPILE, [sys.executable, "-c", compiles])]
    commands += [
        (mine, [sys.executable, "-c", meet, str(tmp_path), mine, other])
        for mine, other in (("mypy", "pytest"), ("pytest", "mypy"))
    ]
    monkeypatch.setattr(suite, "stages", lambda *given: commands)
    assert suite.run(ENVIRONMENT, []) == 0


@pytest.mark.parametrize(
    ("line", "closes"),
    [
        ("================= 512 passed in 80.12s (0:01:20) =================", True),
        ("12 passed in 0.10s", True),
        ("=== 1 failed, 3 passed, 2 errors in 1.00s ===", True),
        ("=== no tests ran in 0.01s ===", True),
        ("tests/ui/test_chat.py ....", False),
        ("PASSED tests/x.py::test_y", False),
    ],
)
def test_the_closing_line_is_told_from_the_others(line: str, closes: bool) -> None:
    assert bool(suite.CLOSING_LINE.match(line)) is closes


def test_tests_are_compiled_once_before_the_workers_collect_them() -> None:
    names = [name for name, _ in suite.stages(ENVIRONMENT, [], REPORT)]
    assert names.index("compile") < names.index("pytest")
    commands = dict(suite.stages(ENVIRONMENT, ["tests/service", "-x", "-k", "chat"], REPORT))
    assert commands["compile"][-2:] == ["--collect-only", "tests/service"]


@pytest.mark.skipif(not suite.FORKS, reason="elsewhere each worker is a Python of its own")
def test_workers_are_forks_of_what_compiled() -> None:
    commands = dict(suite.stages(ENVIRONMENT, [], REPORT))
    serve, socket = commands["compile"][2:4]
    workers = commands["pytest"][commands["pytest"].index("--tx") + 1]
    assert serve == "serve" and workers.startswith(f"{suite.WORKERS}*popen//python=")
    assert workers.endswith(f" join {socket}") and Path(socket).parent == REPORT.parent


@pytest.mark.parametrize("workers", [1, 2, 5, 6])
def test_each_worker_begins_with_some_of_what_takes_longest(workers) -> None:
    names = [f"test_{number}.py" for number in range(100)]
    items = [SimpleNamespace(path=Path(name)) for name in sorted((*names, *LONGEST))]
    ordered = [item.path.name for item in longest_first(items, workers)]
    assert sorted(ordered) == sorted((*names, *LONGEST)) and ordered[0] == "test_devices.py"
    begun = []
    for worker in range(workers):  # as xdist shares them out
        share = len(ordered) // (workers - worker)
        begun += ordered[: len(LONGEST) // workers]
        del ordered[:share]
    assert set(begun) <= set(LONGEST)


def test_arguments_reach_pytest_and_nobody_else() -> None:
    commands = dict(suite.stages(ENVIRONMENT, ["-k", "chat"], REPORT))
    assert commands["pytest"][-2:] == ["-k", "chat"]
    assert not any("chat" in command for name, command in commands.items() if name != "pytest")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the platform itself is looked at")
def test_types_are_checked_for_every_system_that_rialto_runs_on(monkeypatch) -> None:
    def caches() -> set[str]:
        checked = [command for name, command in suite.stages(ENVIRONMENT, [], REPORT) if name.startswith("mypy")]
        assert [command[command.index("--platform") + 1] for command in checked] == ["linux", "win32", "darwin"]
        return {option for command in checked for option in command if option.startswith("--cache-dir")}

    monkeypatch.delenv("CI", raising=False)
    assert len(caches()) == 3
    monkeypatch.setenv("CI", "true")  # where every run is the first one
    assert caches() == {"--cache-dir=/dev/null"}


def test_what_a_test_starts_need_not_compile_rialto_again(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in suite.scratch_variables(ENVIRONMENT)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such folder")
def test_tests_write_to_memory_where_it_has_room(monkeypatch, tmp_path) -> None:
    given = []
    monkeypatch.setattr(suite, "IN_MEMORY", tmp_path)
    monkeypatch.setattr(suite, "stages", lambda environment, rest, report: given.append(rest) or [("pytest", ["true"])])
    for room in (0, 2**62):
        monkeypatch.setattr(suite, "ROOM_BYTES", room)
        assert suite.run(ENVIRONMENT, ["-k", "chat"]) == 0
    in_memory, on_disk = given
    assert in_memory[0].startswith(f"--basetemp={tmp_path}/") and in_memory[-2:] == on_disk == ["-k", "chat"]
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_in_memory_tests_write_to_the_disk(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(suite, "IN_MEMORY", tmp_path / "missing")
    assert suite.folder_in_memory() is None
