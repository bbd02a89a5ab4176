"""What a screen reader finds and is told, on a real accessibility bus, by keys alone."""

from __future__ import annotations

import pytest

from tests.accessibility.bus import Seen
from tests.accessibility.conftest import Heard
from tests.accessibility.counts import Record, faults, go_round, judge

TABS = {
    "Chat": "Ctrl+1",
    "Speech": "Ctrl+2",
    "Transcribe": "Ctrl+3",
    "Images": "Ctrl+4",
    "Video": "Ctrl+5",
    "Console": "Ctrl+6",
    "Wallet": "Ctrl+7",
    "Settings": "Ctrl+comma",
}
FIELDS = {  # where the keyboard is in each tab at first, and where Esc leads
    "Chat": "Message",
    "Speech": "Text to speak",
    "Transcribe": "Choose files…",  # in these tests there is no microphone, which shows after a moment
    "Images": "Prompt",
    "Video": "Prompt",
    "Console": "Call parameters",
    "Wallet": "Wallet: usage by day and tab",
    "Settings": "Settings sections",
}


def open_tab(heard: Heard, name: str) -> list[Seen]:
    """Press the key of a tab; return everything on screen."""
    reader, root = heard
    reader.press("Escape")
    reader.press(TABS[name])
    reader.wait(lambda: "checked" in reader.look(reader.find(root, name, "radio button")).states, f"the tab {name}")
    reader.listen(0.5)
    return list(reader.walk(root))


@pytest.mark.parametrize("name", TABS)
def test_a_tab_and_its_round_of_tab(heard: Heard, record_property: Record, name: str) -> None:
    seen = open_tab(heard, name)
    assert len([each for each in seen if "focusable" in each.states]) > 15
    judge(record_property, faults(heard.reader, seen) + go_round(heard.reader, seen))


def go_to(heard: Heard, tab: str) -> None:
    """Open a tab by its key and go to its main field, in which Esc leaves the keyboard however late it comes."""
    reader, field = heard.reader, FIELDS[tab]

    def press() -> None:
        for key in ("Escape", TABS[tab], "Escape"):
            reader.press(key)

    press()
    reader.wait(lambda: reader.at(field), f"{field} in {tab}", press)
    reader.listen(0.3)
    assert reader.at(field)
