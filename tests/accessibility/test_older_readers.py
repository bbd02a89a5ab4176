"""A reader that listens to no announcements, as Orca 43, is told the same sentences by notification objects."""

from __future__ import annotations

import re

from tests.accessibility.conftest import Heard
from tests.accessibility.test_jobs import press
from tests.accessibility.test_reader import go_to

# What Orca 43.1 registers for, and here is of use.
ORCA_43 = ("focus:", "object:state-changed:focused", "object:state-changed:showing", "window:activate")


def test_a_reader_without_announcements_hears_the_same_sentences(heard: Heard) -> None:
    go_to(heard, "Chat")
    reader = heard.reader
    with reader.listening_to(ORCA_43):
        press(reader, "Ctrl+Shift+m", until="Filter models by name or id")

        def place() -> list[str]:
            reader.press("Down")  # the models may still be on their way
            return [words for words in reader.notified() if re.search(r"\d of \d", words)]

        reader.wait(place, "a notification")
        press(reader, "Escape", until="Message")
