"""`test`: every check, each named, and a summary whose last line is pytest's own.

A test that fails is run once more by itself, and named as flaky when it passes then; `--no-reruns` is the strict form.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from environments import ROOT, Environment
from progress import say
from reruns import SOME_FAILED, Rerun, failures_in, run_again

# Linux looks after the others, so that they are not broken unseen; elsewhere the libraries for Linux are not installed.
PLATFORMS = ("linux", "win32", "darwin") if sys.platform == "linux" else (sys.platform,)
WORKERS = 6  # three for each of two processors: half of the time a test waits for Qt, a child or a sound
CHECKS_AT_ONCE = 2  # mypy uses one processor and two thirds of a gigabyte
COMPILE = "compile"
PYTEST = "pytest"
PARTS = ("checks", "tests")
FORKS = sys.platform == "linux"  # libraries of macOS do not bear it, and Windows has none
SLOWEST = 20
IN_MEMORY, ROOM_BYTES = Path("/dev/shm"), 2 * 2**30
NO_RERUNS = "--no-reruns"
STOPS_EARLY = ("-x", "--exitfirst", "--maxfail", "--sw", "--stepwise")  # then the tests behind a flaky one never ran
CLOSING_LINE = re.compile(r"^(=+ )?.*\b(passed|failed|error|errors|no tests ran)\b.* in [\d.]+s.*$")


@dataclass(frozen=True)
class Stage:
    name: str
    code: int
    seconds: float
    closing_line: str


def stages(environment: Environment, rest: Sequence[str], report: Path) -> list[tuple[str, list[str]]]:
    """Return the name and command of every stage, pytest last; `rest` is for pytest, which writes to `report`.

    Types are checked beside the tests, which wait a third of their time.
    """
    module = [str(environment.python), "-m"]
    caches = environment.folder.parent
    workers = report.with_name("workers")
    tests = [*pytest(environment), *of_workers(environment, workers), "--dist=worksteal", f"--durations={SLOWEST}"]
    tests += [f"--junitxml={report}", "-o", "junit_family=xunit1", *rest]
    return [
        ("ruff check", [*module, "ruff", "check", "."]),
        ("ruff format", [*module, "ruff", "format", "--check", "."]),
        (COMPILE, compile_tests(environment, rest, workers)),
        *((f"mypy {name}", [*module, "mypy", *types_on(name, caches / ".mypy_cache")]) for name in PLATFORMS),
        (PYTEST, tests),
    ]


def compile_tests(environment: Environment, rest: Sequence[str], workers: Path) -> list[str]:
    """Return the command that collects once what else each of the workers would compile and import by itself.

    It says nothing: what cannot be collected is pytest's to tell.
    """
    named = [argument for argument in rest if argument.startswith("tests")]
    with_pytest = pytest(environment)
    if FORKS:
        with_pytest[:3] = forked(environment, "serve", workers)
    return [*with_pytest, "-p", "no:terminal", "-o", "addopts=", "--collect-only", *named]


def of_workers(environment: Environment, workers: Path) -> list[str]:
    """Return the options of pytest for as many workers as are good, forked where that can be."""
    if not FORKS:
        return ["-n", str(WORKERS)]
    return ["--tx", f"{WORKERS}*popen//python={shlex.join(forked(environment, 'join', workers))}"]


def forked(environment: Environment, deed: str, workers: Path) -> list[str]:
    return [str(environment.python), str(Path(__file__).with_name("forked_workers.py")), deed, str(workers)]


def pytest(environment: Environment) -> list[str]:
    return [str(environment.python), "-m", "pytest", "-o", f"cache_dir={environment.folder.parent / '.pytest_cache'}"]


def types_on(platform: str, caches: Path) -> list[str]:
    """Return what mypy is told to check for one platform; a cache for each, so that a second run takes seconds.

    Where there is none (`CI`), nothing is kept, which takes a tenth less. What only Linux never reaches is an error:
    elsewhere much is for Linux alone.
    """
    unreachable = [] if platform == "linux" else ["--no-warn-unreachable"]
    kept = os.devnull if "CI" in os.environ else caches / platform
    return ["--strict", "--platform", platform, f"--cache-dir={kept}", *unreachable]


def is_in(part: str | None, stage: str) -> bool:
    """Whether a stage belongs to a part of the whole (one of `PARTS`); None is all of it."""
    return part is None or (stage in (COMPILE, PYTEST)) == (part == "tests")


def run(environment: Environment, rest: Sequence[str], *, only: str | None = None) -> int:
    """Run every stage even after one failed, so that one run tells all; 1 when any of them failed."""
    environ = scratch_variables(environment)
    for_pytest = [argument for argument in rest if argument != NO_RERUNS]
    memory = folder_in_memory()
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        if memory is not None:
            for_pytest = [f"--basetemp={scratch}/tests", "-o", "tmp_path_retention_policy=failed", *for_pytest]
        report = Path(scratch) / "tests.xml"
        wanted = [stage for stage in stages(environment, for_pytest, report) if is_in(only, stage[0])]
        others = [stage for stage in wanted if stage[0] != PYTEST]
        pool = ThreadPoolExecutor(CHECKS_AT_ONCE)
        try:
            checks = {each: pool.submit(run_quietly, each, command, environ) for each, command in others}
            if COMPILE in checks:
                checks[COMPILE].result()
            last = [run_stage(name, command, environ) for name, command in wanted if name == PYTEST]
            ended = [*(check.result() for check in checks.values()), *last]
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl+C no other begins
        failures = failures_in(report) if last and last[0].code == SOME_FAILED else {}
    reruns: list[Rerun] = []
    if NO_RERUNS not in rest and not any(argument.startswith(STOPS_EARLY) for argument in rest):
        reruns = run_again(failures, lambda test: run_alone(environment, test, environ))
    if reruns and all(rerun.passed for rerun in reruns):
        ended[-1] = replace(ended[-1], code=0)
    say("")
    for stage in ended:
        say(f"{stage.name:<14} {'ok' if stage.code == 0 else 'failed':<7} {stage.seconds:6.1f} s")
    for rerun in reruns:
        say(str(rerun))
    if ended[-1].closing_line:
        say(ended[-1].closing_line)
    return 0 if all(stage.code == 0 for stage in ended) else 1


def folder_in_memory() -> Path | None:
    """Return where tests write without waiting for a disk, which saves a fifth of their processor time as well.

    None where there is no such folder, where it has no room, or where nothing in it may be run.
    """
    if sys.platform != "linux":
        return None
    try:
        found = os.statvfs(IN_MEMORY)
    except OSError:
        return None
    fits = found.f_bavail * found.f_frsize >= ROOM_BYTES and not found.f_flag & os.ST_NOEXEC
    return IN_MEMORY if fits and os.access(IN_MEMORY, os.W_OK) else None


def run_alone(environment: Environment, test: str, environ: dict[str, str]) -> tuple[int, float]:
    """Run one test in a process of its own; return the exit code, and how many seconds it took."""
    stage = run_stage(f"once more: {test}", [*pytest(environment), test], environ)
    return stage.code, stage.seconds


def run_stage(name: str, command: Sequence[str], environ: dict[str, str]) -> Stage:
    """Run one stage, showing its output as it comes, and keep the last line that sums up a test run."""
    say(f"\n{name}")
    begun = time.monotonic()
    closing_line = ""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if CLOSING_LINE.match(line):
                closing_line = line.rstrip()
    return Stage(name, process.returncode, time.monotonic() - begun, closing_line)


def run_quietly(name: str, command: Sequence[str], environ: dict[str, str]) -> Stage:
    """Run one stage and show its output when it has ended, so that two at once can be read."""
    begun = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    say(f"\n{name}\n{ended.stdout.rstrip()}")
    return Stage(name, ended.returncode, time.monotonic() - begun, "")


def scratch_variables(environment: Environment) -> dict[str, str]:
    """Return the surroundings of a stage: no display, and caches beside the environment, where writing works."""
    caches = environment.folder.parent
    inherited = dict(os.environ)
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)  # every process that a test starts would compile Rialto again
    return {
        **inherited,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "RUFF_CACHE_DIR": str(caches / ".ruff_cache"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(caches / ".hypothesis"),
    }
