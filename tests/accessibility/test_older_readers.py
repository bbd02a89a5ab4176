"""A reader that listens to no announcements, as Orca 43, is told the same sentences by notification objects."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from app.storage.paths import HOME_VARIABLE
from tests.accessibility.bus import Reader, desktop, program

# What Orca 43.1 registers for, and here is of use.
ORCA_43 = ("focus:", "object:state-changed:focused", "object:state-changed:showing", "window:activate")


def test_a_reader_without_announcements_hears_the_same_sentences(tmp_path: Path) -> None:
    with (
        desktop() as (environment, bus),
        closing(Reader(bus, environment["DISPLAY"], ORCA_43)) as reader,
        program({**environment, HOME_VARIABLE: str(tmp_path / "home")}),
    ):
        root = reader.program()
        reader.find(root, "Start in the Sandbox", "push button")
        reader.wait(lambda: reader.at("Start in the Sandbox"), "the first button")
        reader.press("Return")
        reader.wait(lambda: reader.at("Message"), "the message box")
        reader.press("Ctrl+Shift+m")
        reader.wait(lambda: reader.at("Filter models by name or id"), "the filter of the models")

        def place() -> list[str]:
            reader.press("Down")  # the models may still be on their way
            return [words for words in reader.notified() if re.search(r"\d of \d", words)]

        reader.wait(place, "a notification")
