"""Whole jobs by keys alone, judged only by what a screen reader is told; docs/accessibility.md has how many keys."""

from __future__ import annotations

import math
import re
import struct
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.accessibility.bus import ROOT, Reader, Seen
from tests.accessibility.conftest import Heard
from tests.accessibility.test_reader import go_to

ROW = re.compile(r"^\| ([^|]+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
RATE_HZ = 16_000


@contextmanager
def counted(heard: Heard, title: str) -> Iterator[Reader]:
    """A job from the key of its tab on, or by clicks alone; typed text is not counted."""
    rows = ROW.findall((ROOT / "docs" / "accessibility.md").read_text("utf-8"))
    told = {job: (int(keys), int(clicks)) for job, keys, clicks in rows}
    reader = heard.reader
    reader.listen(0.3)
    reader.events.clear()
    reader.presses = reader.clicks = 0
    yield reader
    done, wanted = (reader.clicks, told[title][1]) if reader.clicks else (reader.presses, told[title][0])
    assert {title: done} == {title: wanted}


def press(reader: Reader, keys: str, until: str) -> Seen:
    """Press a key; wait until an object whose name begins so has the focus, and return it."""
    at = reader.focus_now()
    reader.events.clear()
    reader.press(keys)

    def press_again() -> None:
        """Where it was lost, not where its work is only slow: then the next one that has the keyboard would get it."""
        if "Ctrl+" in keys or reader.focus_now() == at:
            reader.press(keys)
            reader.presses -= 1

    return reader.wait(lambda: told(reader, until, last=1), f"the focus on {until!r} after {keys}", press_again)


def told(reader: Reader, name: str, last: int = 3) -> Seen | None:
    """What has the focus, if its name begins so. Qt tells of the row of a list and then of the list itself."""
    found = [reader.look(node) for node in reader.focused()[-last:]]
    return next((seen for seen in found if seen.name.startswith(name) and "focused" in seen.states), None)


def test_an_answer_is_asked_for_and_read_block_by_block(heard: Heard) -> None:
    go_to(heard, "Settings")
    with counted(heard, "Ask, and hear or see the answer") as reader:
        press(reader, "Ctrl+1", until="Message")
        send = reader.find(heard.root, "Send", "push button")
        reader.wait(lambda: "enabled" in reader.look(send).states, "the first list of models")
        reader.type("what is a batch?")
        send = reader.find(heard.root, "Send", "push button")
        reader.wait(lambda: "enabled" in reader.look(send).states, "the models, and with them Send")
        reader.press("Return")
        reader.hear("Answer complete")
        said = reader.said()
        assert len(said) == len(set(said)), "nothing is said twice"
        assert reader.senders("Announcement") == {"frame"}, "Orca drops others that come fast"
    answer = press(reader, "Shift+Tab", until="Answer: ")
    block = press(reader, "Right", until="")
    assert block.role == "paragraph" and len(block.name) > 20
    assert re.sub(r" \(source \d+\)", "", block.name) in " ".join(said), "it was heard while it came"
    assert answer.role == "list item" and answer.name.startswith(f"Answer: {block.name}")
    blocks = [block]
    for _ in range(20):
        blocks.append(reader.focus_after("Down"))
        if "play money" in blocks[-1].name:  # its receipt is the last
            break
    assert "section" in [each.role for each in blocks]  # its sources
    press(reader, "Escape", until="Message")
    assert reader.focus_after("Shift+Tab").node == answer.node
    assert reader.focus_after("Up").name == "You: what is a batch?"
    assert reader.focus_after("Down").node == answer.node
    press(reader, "Escape", until="Message")


def write_talk(path: Path) -> Path:
    """Write four seconds of sound with pauses."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        beats = (8_000 * math.sin(at / 20) * (at // 4_000 % 2) for at in range(4 * RATE_HZ))
        file.writeframes(b"".join(struct.pack("<h", int(each)) for each in beats))
    return path


def confirm_again(reader: Reader) -> None:
    """Press Enter again where it was lost, and only there: it would press the button that then has the keyboard."""
    if reader.at("File name:"):
        reader.press("Return")
        reader.presses -= 1


def test_a_transcript_is_made_of_a_file_and_a_word_corrected(heard: Heard, tmp_path: Path) -> None:
    path = write_talk(tmp_path / "talk.wav")
    go_to(heard, "Chat")
    with counted(heard, "Transcribe a file and correct a word") as reader:
        press(reader, "Ctrl+3", until="Choose files…")
        press(reader, "Ctrl+o", until="File name:")
        reader.type(str(path))
        reader.press("Return")
        reader.wait(lambda: reader.at("Transcribe"), "the file", lambda: confirm_again(reader))
        reader.press("Ctrl+Return")
        reader.hear("Transcript ready")
        reader.wait(lambda: reader.role(reader.focused()[-1]) == "list item", "the first row of the transcript")
        assert "page tab" not in reader.senders("Focus"), "the inspector has no focus"
        assert "page tab list" not in reader.senders("SelectionChanged"), "Orca goes to a chosen tab"
        words = [each.partition(",")[0] for each in map(reader.name, reader.children(reader.focused()[-1]))]
        assert words, "a row has its words"
        press(reader, "F2", until="Segment text")
        reader.type(" ".join(["Corrected", *words[1:]]))
        row = press(reader, "Return", until="0:00 Corrected")
        assert row.role == "list item"


def test_a_video_is_ordered_and_its_end_heard(heard: Heard) -> None:
    go_to(heard, "Chat")
    with counted(heard, "Queue a video and go to it when it is ready") as reader:
        press(reader, "Ctrl+5", until="Prompt")
        reader.type("a lighthouse at night")
        reader.find(heard.root, "Queue for $", "push button")  # the quote
        reader.press("Ctrl+Return")
        reader.hear("is ready.")
        said = reader.said()
        press(reader, "F6", until="Show")
        reader.press("Space")
        ready = reader.wait(lambda: told(reader, "a lighthouse at night, Ready"), "its row")
        assert ["is ready." in each for each in (*said, *reader.said())].count(True) == 1, "by the notice or by the tab"
        assert ready.role == "list item" and "$" in ready.name


def test_the_third_answer_of_a_batch_is_read(heard: Heard) -> None:
    go_to(heard, "Chat")
    with counted(heard, "Send a batch of three calls and read the third answer") as reader:
        press(reader, "Ctrl+6", until="Call parameters")
        press(reader, "Ctrl+Shift+m", until="Search methods")
        for number, (name, found) in enumerate((("chainid", 2), ("gasprice", 2), ("blocknumber", 4)), 1):
            reader.events.clear()
            reader.type(name)
            reader.hear(f"1 of {found}")
            if number < 3:
                reader.press("Shift+Return")
                reader.hear(f"Call {number}: eth_")
        assert press(reader, "Return", until="Call parameters").description == "Call 3: eth_blockNumber"
        reader.press("Ctrl+Return")
        reader.hear("3 results, 60 credits")
        press(reader, "F7", until="1 ")
        third = press(reader, "End", until="3 ")
        assert third.role == "tree item"
        assert re.search(r'eth_blockNumber: "0x[0-9a-f]+" Result 20 cr$', third.name)


def keep_keys(heard: Heard) -> None:
    """Answer the question that is asked once: keys are kept in memory."""
    reader = heard.reader
    go_to(heard, "Settings")
    reader.press("Home")  # Accounts, whatever was looked at before
    reader.listen(1.0)
    press(reader, "F6", until="Add account")
    press(reader, "Space", until="Service address")
    at = press(reader, "Shift+Tab", until="")
    for _ in range(20):
        if at.name.startswith("In memory"):
            break
        at = press(reader, "Shift+Tab", until="")
    reader.press("Space")
    press(reader, "Tab", until="Continue")
    press(reader, "Space", until="Check and connect")


def test_a_wallet_is_made_with_its_twelve_words_and_topped_up(heard: Heard) -> None:
    keep_keys(heard)
    go_to(heard, "Chat")
    with counted(heard, "Create a wallet, with its twelve words") as reader:
        press(reader, "Ctrl+7", until="Wallet")
        press(reader, "Ctrl+n", until="New")
        phrase = press(reader, "Return", until="1. ")
        read = phrase.name.split()
        assert read[::2] == [f"{number}." for number in range(1, 13)]
        assert all(word.isalpha() for word in read[1::2])
        field = press(reader, "Return", until="Confirm word ")
        for keys in ("Tab", "Return"):
            place = re.search(r"\d+", field.name)
            assert place is not None
            reader.type(read[2 * int(place[0]) - 1])
            if keys == "Tab":
                field = press(reader, keys, until="Confirm word ")
        reader.press("Return")
        reader.hear("is ready. Top it up")

    with counted(heard, "Top up the wallet in the Sandbox") as reader:
        press(reader, "Ctrl+t", until="Amount in USD")
        press(reader, "Return", until="Get 100 play USDC")
        reader.hear("Step 2 of 4: Payment")
        press(reader, "Space", until="Continue")
        reader.hear("This wallet holds 100.00 play USDC")
        press(reader, "Space", until="Fields")
        reader.hear("Step 3 of 4: Review and sign")
        assert not reader.senders("SelectionChanged"), "Orca 43 drops a notification while 50 events wait"
        press(reader, "Ctrl+Return", until="Close")
        reader.hear("Step 4 of 4")
        press(reader, "Space", until="Wallet")


def test_speech_and_images_take_two_keys(heard: Heard) -> None:
    for tab, field, title, button, words in (
        ("2", "Text to speak", "Have text spoken", "Speak", "Speech ready"),
        ("4", "Prompt", "Generate an image", "Generate an image for $", "ready"),
    ):
        go_to(heard, "Chat")
        with counted(heard, title) as reader:
            press(reader, f"Ctrl+{tab}", until=field)
            reader.type("good morning")
            reader.find(heard.root, button, "push button")  # with its price, once the models are known
            reader.press("Ctrl+Return")
            reader.hear(words)
    assert reader.look(reader.find(heard.root, button, "push button")).description == "", "no reason that is past"
    reader.find(heard.root, "Model: Canvas", "label")


def test_another_model_is_chosen(heard: Heard) -> None:
    go_to(heard, "Chat")
    with counted(heard, "Choose another model for a chat") as reader:
        press(reader, "Ctrl+Shift+m", until="Filter models")
        reader.press("Down")
        reader.hear(" of ")
        press(reader, "Return", until="Message")
