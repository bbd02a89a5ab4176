"""A desktop, a program and a reader for each file of tests, in the Sandbox from its first start on: what the tests of
one file leave in a tab, those of another would take for their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from app.storage.paths import HOME_VARIABLE
from tests.accessibility.bus import LAUNCHER, Node, Reader, desktop, program
from tests.accessibility.counts import COUNTS


class Heard(NamedTuple):
    reader: Reader
    root: Node


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heard]:
    """The program at its first start, with a reader: "Start in the Sandbox" has the focus and is pressed."""
    if not LAUNCHER.exists():
        pytest.skip("only Linux has AT-SPI")
    home: Path = tmp_path_factory.mktemp("reader") / "home"
    with (
        desktop() as (environment, bus),
        closing(Reader(bus, environment["DISPLAY"])) as reader,
        program({**environment, HOME_VARIABLE: str(home)}),
    ):
        root = reader.program()
        reader.find(root, "Start in the Sandbox", "push button")
        reader.wait(lambda: reader.at("Start in the Sandbox"), "the first button")
        reader.press("Return")
        reader.wait(lambda: reader.at("Message"), "the message box")
        yield Heard(reader, root)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the sums, where this folder is run by itself."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    found = [pair for report in reports for pair in report.user_properties if pair[0] in COUNTS]
    sums = ", ".join(f"{kind} {sum(count for name, count in found if name == kind)}" for kind in COUNTS)
    terminalreporter.write_line(f"{len(found) // len(COUNTS)} places: {sums}")
