"""What ends without a job of its own in `test_jobs`: each of these says so, once."""

from __future__ import annotations

import pytest

from tests.accessibility.conftest import Heard
from tests.accessibility.counts import Record, judge
from tests.accessibility.test_reader import go_to

ENDS = {  # keys, the object that then has the keyboard, text, more keys, and what is said
    "nothing in the palette": ("Ctrl+k", "Find a command", "zzz", "", "No results for “zzz”."),
    "a control of the Sandbox": ("Ctrl+k", "Find a command", "answer with an er", "", "Answer with an error"),
    "nothing in all chats": ("Ctrl+Shift+f", "Search all chats", "zzz", "", "No results for “zzz”."),
    "an answer": ("Ctrl+n", "Message", "what is a batch?", "Return", "Answer complete"),
    "a search in all chats": ("Ctrl+Shift+f", "Search all chats", "batch", "", "1 of "),
    "find in a chat": ("Ctrl+f", "Find in this chat", "batch", "", "of "),
    "a copied answer": ("Ctrl+l", "Message", "", "Ctrl+Shift+c", "copied"),
    "an answer that is stopped": ("Ctrl+n", "Message", "how do i top up?", "Return Escape", "Stopped"),
    "a private chat": ("Ctrl+l", "Message", "", "Ctrl+Shift+n", "Private chat."),
    "a new chat": ("Ctrl+l", "Message", "", "Ctrl+n", "New chat"),
    "another chat": ("Ctrl+l", "Message", "", "Alt+Down", "how do i top up?"),
}


@pytest.mark.timeout(600)
def test_every_end_is_said_once(heard: Heard, record_property: Record) -> None:
    reader, found = heard.reader, []
    go_to(heard, "Chat")
    for end, (keys, field, text, more, words) in ENDS.items():
        reader.press(keys)
        reader.wait(lambda field=field: reader.at(field), f"{field} for {end}", lambda keys=keys: reader.press(keys))
        reader.events.clear()
        reader.type(text)
        for key in more.split():
            reader.press(key)
            if key != more.split()[-1]:
                reader.wait(reader.said, f"the first words of {end}")
        try:
            reader.hear(words)
        except AssertionError:
            found.append(f"silent ends: {end}, heard {reader.said()}")
        said = reader.said()
        if len(said) != len(set(said)):
            found.append(f"silent ends: {end} is said twice, heard {said}")
        go_to(heard, "Chat")
    judge(record_property, found)


def test_while_an_answer_comes_a_reader_is_told_of_nothing_but_its_sentences(heard: Heard) -> None:
    reader = heard.reader
    go_to(heard, "Chat")
    reader.press("Ctrl+n")
    reader.hear("New chat")
    for question in ("what is a batch?", "how do i top up?"):  # the second is below what can be seen
        reader.events.clear()
        reader.type(question)
        reader.press("Return")
        reader.hear("Answer complete", lambda: reader.press("Return"))  # the models may still be on their way
    assert [event for event in reader.events if event.detail == "accessible-value"] == []
