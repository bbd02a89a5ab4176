"""The same jobs by the mouse, with text alone typed: how often its button is pressed, for docs/accessibility.md."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tests.accessibility.bus import Node, Reader, Seen
from tests.accessibility.conftest import Heard
from tests.accessibility.test_jobs import counted, keep_keys, told, write_talk
from tests.accessibility.test_reader import FIELDS, go_to


def click(heard: Heard, name: str, role: str = "push button", presses: int = 1) -> Node:
    """Press the mouse button on what is called so, an expression, once it can be used; in a popover too. Return it."""
    reader, root = heard

    def found() -> Node | None:
        for window in (top for top in (popover(reader, root), root) if top):
            for seen in reader.search(window, re.compile(name).fullmatch):
                if seen.role == role and {"enabled", "showing"} <= seen.states:
                    return seen.node
        return None

    node = reader.wait(found, f"{role} {name}")
    reader.events.clear()
    reader.click(node, presses)
    return node


def click_again(reader: Reader, node: Node, name: str) -> None:
    """Click once more where it was lost: what came meanwhile moved the button away under the pointer."""
    with suppress(LookupError):  # it went meanwhile
        seen = reader.look(node)
        if seen.name == name and {"enabled", "showing"} <= seen.states:
            reader.click(node)
            reader.clicks -= 1


def popover(reader: Reader, root: Node) -> Node | None:
    for node in reversed(reader.focused()):
        with suppress(LookupError):  # it went meanwhile
            return reader.window(node, root)
    return None


def go_by_click(heard: Heard, tab: str) -> None:
    click(heard, tab, "radio button")
    heard.reader.wait(lambda: heard.reader.at(FIELDS[tab]), f"{FIELDS[tab]} after a click")


def test_a_question_a_model_a_clip_and_an_image(heard: Heard) -> None:
    go_to(heard, "Settings")
    with counted(heard, "Ask, and hear or see the answer") as reader:
        go_by_click(heard, "Chat")
        reader.type("what is a batch?")
        click(heard, "Send")
        reader.hear("Answer complete")
    with counted(heard, "Choose another model for a chat") as reader:
        click(heard, "Model: .*")
        reader.wait(lambda: told(reader, "Filter models"), "the picker")
        click(heard, "Handbook reader 2025.*", "list item")
        reader.wait(lambda: told(reader, "Message"), "the message box")
    for tab, title, button, words in (
        ("Speech", "Have text spoken", "Speak", "Speech ready"),
        ("Images", "Generate an image", r"Generate an image for \$.*", "ready"),
    ):
        go_to(heard, "Chat")
        with counted(heard, title) as reader:
            go_by_click(heard, tab)
            reader.type("good morning")
            click(heard, button)
            reader.hear(words)


def test_a_transcript_a_video_and_a_batch(heard: Heard, tmp_path: Path) -> None:
    path = write_talk(tmp_path / "talk.wav")
    go_to(heard, "Chat")
    with counted(heard, "Transcribe a file and correct a word") as reader:
        click(heard, "Transcribe", "radio button")
        click(heard, "Open files or drop them here")
        reader.wait(lambda: told(reader, "File name:"), "the file dialog")
        reader.type(str(path))
        click(heard, "Open")  # which closes the names that are offered under the field
        reader.listen(0.5)
        click(heard, "Open")
        button = click(heard, "Transcribe")
        reader.hear("Transcript ready", lambda: click_again(reader, button, "Transcribe"))
        click(heard, "0:00 .*", "list item", presses=2)
        reader.wait(lambda: told(reader, "Segment text"), "the editor")
        reader.type("corrected")
        click(heard, "Transcript", "list")
        reader.wait(lambda: told(reader, "0:00 corrected"), "the row")
    go_to(heard, "Chat")
    with counted(heard, "Queue a video and go to it when it is ready") as reader:
        go_by_click(heard, "Video")
        reader.type("a lighthouse at night")
        click(heard, r"Queue for \$.*")
        reader.hear("is ready.")
        click(heard, "Show")
        reader.wait(lambda: told(reader, "a lighthouse at night, Ready"), "its row")
    go_to(heard, "Chat")
    with counted(heard, "Send a batch of three calls and read the third answer") as reader:
        go_by_click(heard, "Console")
        for name in ("chainid", "gasprice", "blocknumber"):
            click(heard, "Add method")
            reader.wait(lambda: told(reader, "Search methods"), "the picker")
            reader.type(name)
            reader.hear("1 of ")
            click(heard, "eth_.*", "list item")
            reader.wait(lambda: told(reader, "Call parameters"), "the call")
        click(heard, "Send batch")
        reader.hear("3 results, 60 credits")


def test_a_wallet_and_its_top_up(heard: Heard) -> None:
    keep_keys(heard)
    go_to(heard, "Chat")
    with counted(heard, "Create a wallet, with its twelve words") as reader:
        go_by_click(heard, "Wallet")
        click(heard, "Add a wallet…")
        click(heard, "Show recovery phrase")
        phrase = reader.wait(lambda: told(reader, "1. "), "the words").name.split()
        click(heard, "Continue")
        field = reader.wait(lambda: told(reader, "Confirm word "), "the first word")
        type_word(reader, field, phrase)
        fields = [seen for seen in reader.walk(reader.window(field.node, heard.root)) if seen.role == "text"]
        other = next(seen for seen in fields if seen.name.startswith("Confirm word") and seen.node != field.node)
        reader.click(other.node)
        type_word(reader, other, phrase)
        click(heard, "Add wallet")
        reader.hear("is ready. Top it up")
    with counted(heard, "Top up the wallet in the Sandbox") as reader:
        click(heard, "Top up.*")
        reader.wait(lambda: told(reader, "Amount in USD"), "the dialog")
        click(heard, "Continue")
        reader.hear("Step 2 of 4: Payment")
        click(heard, "Get 100 play USDC")
        reader.hear("This wallet holds 100.00 play USDC")
        click(heard, "Continue")
        reader.hear("Step 3 of 4: Review and sign")
        click(heard, "Sign and pay.*")
        reader.hear("Step 4 of 4")
        click(heard, "Close")


def type_word(reader: Reader, field: Seen, phrase: list[str]) -> None:
    reader.type(phrase[2 * int(field.name.split()[2].rstrip(",")) - 1])
