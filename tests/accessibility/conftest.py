"""One desktop, one program and one reader for all tests here, in the Sandbox from its first start on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from app.storage.paths import HOME_VARIABLE
from tests.accessibility.bus import LAUNCHER, Node, Reader, desktop, program


class Heard(NamedTuple):
    reader: Reader
    root: Node


@pytest.fixture(scope="session")
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
