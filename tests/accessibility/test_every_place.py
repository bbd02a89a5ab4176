"""Pages of Settings: nothing without a name, a role or room. Pickers: no key without a word, and a way back."""

from __future__ import annotations

import re

import pytest

from tests.accessibility.bus import Reader, Seen
from tests.accessibility.conftest import Heard
from tests.accessibility.test_jobs import press, told
from tests.accessibility.test_reader import NO_ROLE, WITH_A_VALUE, go_to

LEAST_PX = 24
PRESSED = {"push button", "check box", "radio button"}
PICKERS = {
    "the palette": ("Chat", "Message", "Ctrl+k", "Find a command"),
    "models of a chat": ("Chat", "Message", "Ctrl+Shift+m", "Filter models by name or id"),
    "methods": ("Console", "Call parameters", "Ctrl+Shift+m", "Find method"),
    "networks": ("Console", "Call parameters", "Ctrl+Shift+l", "Find by name, slug or chain ID"),
}


OPENED = {  # by a key: the object that has the keyboard then
    "the handbook": ("Chat", "Message", "F1", ""),
    "all shortcuts": ("Chat", "Message", "Ctrl+slash", "Search shortcuts"),
    "characters": ("Chat", "Message", "Ctrl+Shift+p", "Search, or #tag"),
    "models to compare": ("Chat", "Message", "Ctrl+j", "Models to compare"),
    "the main menu": ("Chat", "Message", "F10", "File"),
    "accounts": ("Chat", "Message", "Ctrl+Shift+a", "Sandbox"),
    "models of speech": ("Speech", "Text to speak", "Ctrl+Shift+m", ""),
    "a new wallet": ("Wallet", "Usage by day and tab", "Ctrl+n", "New"),
}


def faults(reader: Reader, seen: list[Seen]) -> list[str]:
    """What is wrong with what is on screen, a line each."""
    found = []
    for each in seen:
        words = f"{each.role} {each.name!r}"
        stop = "focusable" in each.states and each.role != "cell"  # a cell may be empty
        if stop and not each.name.strip():
            found.append(f"nameless: {words}")
        if stop and each.role in NO_ROLE:
            found.append(f"without a role: {words}")
        if each.role in WITH_A_VALUE and "Value" not in each.interfaces:
            found.append(f"without a value: {words}")
        if each.name.strip() and each.description.strip() == each.name.strip():
            found.append(f"said twice: {words}")
        if stop and each.role in PRESSED:
            width, height = reader.size(each.node)
            if each.role != "check box" and min(width, height) < LEAST_PX:  # of a check box it is the text's height
                found.append(f"too small, {width} × {height}: {words}")
    return found


def test_every_page_of_settings_has_names_roles_and_room(heard: Heard) -> None:
    reader, root = heard
    go_to(heard, "Settings", "Settings sections")
    reader.press("Home")
    names = [reader.name(node) for node in reader.children(reader.find(root, "Settings sections", "list"))]
    assert len(names) == 11
    found = {}
    for name in names:
        reader.listen(0.5)
        reader.wait(lambda name=name: reader.at(name), f"the section {name}")
        found[name] = faults(reader, list(reader.walk(root)))
        reader.press("Down")
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize("picker", PICKERS)
def test_every_picker_says_each_row_and_gives_the_keyboard_back(heard: Heard, picker: str) -> None:
    tab, field, keys, search = PICKERS[picker]
    go_to(heard, tab, field)
    reader = heard.reader
    press(reader, keys, until=search)
    for _ in range(2):
        reader.events.clear()
        reader.press("Down")
        reader.hear(" of ")
    reader.events.clear()
    reader.press("Escape")
    reader.wait(lambda: told(reader, field), f"{field} after the picker")


def test_voices_are_said_one_by_one(heard: Heard) -> None:
    go_to(heard, "Speech", "Text to speak")
    reader = heard.reader
    names = (reader.focus_after("Tab").name for _ in range(60))
    assert "Find a voice" in names
    places = []
    for _ in range(2):
        reader.events.clear()
        reader.press("Down")
        places.append(re.search(r", (\d+) of \d+$", reader.hear(" of ")))
    assert all(places) and int(places[1][1]) == int(places[0][1]) + 1
    reader.press("Escape")  # into the list, to the row that was said
    press(reader, "Escape", until="Text to speak")


def test_a_control_of_the_sandbox_keeps_the_keyboard_while_it_works(heard: Heard) -> None:
    go_to(heard, "Settings", "Settings sections")
    reader = heard.reader
    reader.press("Home")
    for _ in range(20):
        reader.listen(0.4)
        if reader.at("Sandbox"):
            break
        reader.press("Down")
    assert "Overview" in (reader.focus_after("Tab").name for _ in range(20))
    for page in ("Requests", "Controls"):
        press(reader, "Right", until=page)
    assert "Answer with an error: turn on" in (reader.focus_after("Tab").name for _ in range(20))
    for words in ("off", "on"):
        press(reader, "Space", until=f"Answer with an error: turn {words}")
        assert len(set(reader.focused())) == 1


@pytest.mark.parametrize("opened", OPENED)
def test_what_a_key_opens_has_names_and_roles_and_gives_the_keyboard_back(heard: Heard, opened: str) -> None:
    tab, field, keys, first = OPENED[opened]
    go_to(heard, tab, field)
    reader, root = heard
    press(reader, keys, until=first)
    assert faults(reader, [seen for window in reader.children(root) for seen in reader.walk(window, 1)]) == []
    reader.press("Escape")
    reader.wait(lambda: reader.at(field), f"{field} after {opened}")
