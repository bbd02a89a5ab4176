"""Failed tests once more, each by itself in a fresh process: one that passes then is flaky, not broken.

A flaky test is a defect all the same, of Rialto or of the test; the summary names it until it is mended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

MOST = 5  # more failures than these are a broken change, not chance
SOME_FAILED = 1  # pytest's exit code; every other says that the run itself came to nothing


@dataclass(frozen=True)
class Rerun:
    test: str
    reason: str  # why it failed the first time, in one line
    passed: bool
    seconds: float

    def __str__(self) -> str:
        name, then = ("Flaky", "passed") if self.passed else ("Failed", "failed again")
        return f"{name}: {self.test}: failed with {self.reason}, then {then} by itself in {self.seconds:.1f} s"


def failures_in(report: Path) -> Mapping[str, str]:
    """Return the first line of why each test failed, by pytest's name for the test.

    `report` is what pytest's `--junitxml` wrote in the family `xunit1`. Without the file there is no failure.
    """
    if not report.exists():
        return {}
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        for outcome in (*case.iterfind("failure"), *case.iterfind("error")):
            lines = outcome.get("message", "").splitlines()
            found.setdefault(test_id(case), lines[0].strip() if lines else "no message")
    return found


def test_id(case: ElementTree.Element) -> str:
    """Return `tests/test_x.py::TestClass::test_name[values]`, as pytest takes it on its command line."""
    file, name = case.get("file", "").replace("\\", "/"), case.get("name", "")
    module = file.removesuffix(".py").replace("/", ".")
    classes = [part for part in case.get("classname", "").removeprefix(module).split(".") if part]
    return "::".join([file, *classes, name]) if file else name


def run_again(failures: Mapping[str, str], run: Callable[[str], tuple[int, float]]) -> list[Rerun]:
    """Run each failed test by itself, unless there are too many; `run` returns the exit code and the seconds taken."""
    if len(failures) > MOST:
        return []
    reruns: list[Rerun] = []
    for test, reason in sorted(failures.items()):
        code, seconds = run(test)
        reruns.append(Rerun(test, reason, code == 0, seconds))
    return reruns
