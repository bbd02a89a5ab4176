"""What a screen reader finds and is told, on a real accessibility bus, by keys alone."""

from __future__ import annotations

import pytest

from tests.accessibility.bus import Seen
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
def test_everything_that_takes_the_keyboard_has_a_name_and_a_role(heard: Heard, name: str) -> None:
    seen = open_tab(heard, name)
    stops = [each for each in seen if "focusable" in each.states and each.role != "cell"]  # a cell may be empty
    assert len(stops) > 15
    assert [each for each in stops if not each.name] == []
    assert [each for each in seen if each.role == "layered pane"] == []
    assert [(each.role, each.name) for each in stops if each.role in NO_ROLE] == []
    assert [
        (each.role, each.name) for each in seen if each.role in WITH_A_VALUE and "Value" not in each.interfaces
    ] == []


@pytest.mark.parametrize("name", TABS)
def test_tab_goes_round_through_everything_and_says_each_stop(heard: Heard, name: str) -> None:
    open_tab(heard, name)
    reader = heard.reader
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
    reader.press("Escape")
    reader.press(TABS[tab])
    reader.press("Escape")
    reader.wait(lambda: reader.at(field), f"{field} in {tab}")
    reader.listen(0.3)
    assert reader.at(field)


def test_an_answer_is_read_again_message_by_message_and_block_by_block(heard: Heard) -> None:
    go_to(heard, "Chat", "Message")
    reader = heard.reader
    reader.type("what is a batch?")
    reader.press("Return")
    reader.hear("Answer complete")
    said = reader.said()
    assert len(said) == len(set(said)), "nothing is said twice"
    answer = reader.focus_after("Shift+Tab")
    assert (answer.role, answer.name[:7]) == ("list item", "Answer:")
    question = reader.focus_after("Up")
    assert question.name == "You: what is a batch?"
    assert reader.focus_after("Down").node == answer.node
    block = reader.focus_after("Right")
    assert block.role == "paragraph"
    blocks = [block]
    for _ in range(20):
        blocks.append(reader.focus_after("Down"))
        if "play money" in blocks[-1].name:  # its receipt is the last
            break
    assert "section" in [each.role for each in blocks]  # its sources
    assert answer.name.startswith(f"Answer: {block.name}")
    reader.press("Escape")
    reader.wait(lambda: reader.at("Message"), "the message box after Esc")


def test_a_picker_says_each_row_and_its_place(heard: Heard) -> None:
    go_to(heard, "Chat", "Message")
    reader = heard.reader
    assert reader.focus_after("Ctrl+Shift+m").name == "Filter models by name or id"
    for _ in range(2):
        reader.events.clear()
        reader.press("Down")
        reader.hear(" of ")
    assert reader.focus_after("Escape").name == "Message"


def test_an_image_says_when_it_is_ready(heard: Heard) -> None:
    go_to(heard, "Images", "Prompt")
    reader = heard.reader
    reader.type("a lighthouse")
    reader.events.clear()
    reader.press("Ctrl+Return")
    reader.hear("ready")


def test_speech_says_when_it_is_ready(heard: Heard) -> None:
    go_to(heard, "Speech", "Text to speak")
    reader = heard.reader
    reader.type("good morning")
    reader.events.clear()
    reader.press("Ctrl+Return")
    reader.hear("Speech ready")


def test_a_console_call_says_its_result(heard: Heard) -> None:
    go_to(heard, "Console", "Call parameters")
    reader = heard.reader
    reader.events.clear()
    reader.press("Ctrl+Return")
    reader.hear(" result")
