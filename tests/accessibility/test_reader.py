"""What a screen reader finds and is told, on a real accessibility bus, by keys alone."""

from __future__ import annotations

import pytest

from tests.accessibility.bus import Reader, Seen
from tests.accessibility.conftest import Heard

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
NO_ROLE = {"filler", "unknown", "layered pane", "panel", "invalid"}
WITH_A_VALUE = {"slider", "progress bar", "spin box", "scroll bar", "split pane"}


def open_tab(heard: Heard, name: str) -> list[Seen]:
    """Press the key of a tab; return everything on screen."""
    reader, root = heard
    reader.press("Escape")
    reader.press(TABS[name])
    reader.wait(lambda: "checked" in reader.look(reader.find(root, name, "radio button")).states, f"the tab {name}")
    reader.listen(0.5)
    return list(reader.walk(root))


@pytest.mark.parametrize("name", TABS)
def test_everything_that_takes_the_keyboard_has_a_name_and_a_role_and_tab_says_it(heard: Heard, name: str) -> None:
    seen = open_tab(heard, name)
    stops = [each for each in seen if "focusable" in each.states and each.role != "cell"]  # a cell may be empty
    assert len(stops) > 15
    assert [each for each in stops if not each.name] == []
    assert [each for each in seen if each.role == "layered pane"] == []
    assert [(each.role, each.name) for each in stops if each.role in NO_ROLE] == []
    assert [
        (each.role, each.name) for each in seen if each.role in WITH_A_VALUE and "Value" not in each.interfaces
    ] == []
    go_round(heard.reader)


def go_round(reader: Reader) -> None:
    """Press Tab until the first stop comes again."""
    passed = [reader.focus_after("Tab")]
    first = (passed[0].role, passed[0].name)
    for _ in range(150):
        passed.append(reader.focus_after("Tab"))
        if (passed[-1].role, passed[-1].name) == first:
            break
    assert (passed[-1].role, passed[-1].name) == first, [each.name for each in passed[-20:]]
    assert len(passed) > 10
    assert [each for each in passed if "focused" not in each.states or "showing" not in each.states] == []


def go_to(heard: Heard, tab: str, field: str) -> None:
    """Open a tab by its key and go to its main field, in which Esc leaves the keyboard however late it comes."""
    reader = heard.reader

    def press() -> None:
        for key in ("Escape", TABS[tab], "Escape"):
            reader.press(key)

    press()
    reader.wait(lambda: reader.at(field), f"{field} in {tab}", press)
    reader.listen(0.3)
    assert reader.at(field)
