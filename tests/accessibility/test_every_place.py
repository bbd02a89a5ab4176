"""Every place, dialog and picker, walked by keys: what `COUNTS` names is counted in each, and none may be found."""

from __future__ import annotations

import re

import pytest

from tests.accessibility.bus import Node, Reader, Seen
from tests.accessibility.conftest import Heard
from tests.accessibility.counts import Record, faults, judge
from tests.accessibility.test_jobs import press, told
from tests.accessibility.test_reader import FIELDS, TABS, go_to, open_tab

PARTS = 4  # of the commands
PICKERS = {
    "the palette": ("Chat", "Ctrl+k", "Find a command"),
    "models of a chat": ("Chat", "Ctrl+Shift+m", "Filter models by name or id"),
    "methods": ("Console", "Ctrl+Shift+m", "Search methods"),
    "networks": ("Console", "Ctrl+Shift+l", "Search by name, slug or chain ID"),
}
FIELDS_OF_FILE_DIALOGS = ("File name:", "Directory:")  # Qt's own dialogs, whose cells are not ours to name

OPENED = {  # by a key: the object that has the keyboard then
    "the handbook": ("Chat", "F1", ""),
    "all shortcuts": ("Chat", "Ctrl+slash", "Search shortcuts"),
    "the main menu": ("Chat", "F10", "File"),
}


@pytest.fixture(scope="module")
def commands_that_open(heard: Heard) -> list[str]:
    """What the palette offers in Settings whose name ends in "…", once every tab is there to say what it has."""
    reader, root = heard
    for tab in TABS:
        open_tab(heard, tab)
    go_to(heard, "Settings")
    press(reader, "Ctrl+k", until="Find a command")
    reader.type(">…")

    def counted() -> list[str] | None:  # what was found for ">" alone may be said, too
        rows = [row for row in results(reader, root) if "…" in row]
        return rows if reader.said()[-1:] and reader.said()[-1].endswith(f" of {len(rows)}") else None

    rows = reader.wait(counted, "as many rows as are said")
    assert len(rows) > 30
    reader.press("Escape")
    reader.wait(lambda: working_at(reader), "Settings after the palette")
    return rows


def results(reader: Reader, root: Node) -> list[str]:
    return reader.names(reader.children(reader.find(root, "Results", "list")))


def is_work(seen: Seen) -> bool:
    """Whether somebody works there: in the main field of a tab, or a row of what another test left in it."""
    return seen.name in {*FIELDS.values(), "Record", "Accounts"} or (
        seen.role == "list item" and seen.name.startswith("0:00 ")
    )


def working_at(reader: Reader) -> Seen | None:
    """Where somebody works in the tab that is open, once it was told that the keyboard is there."""
    found = (told(reader, "", last) for last in (1, 2))
    return next((seen for seen in found if seen and is_work(seen)), None)


def opened_now(reader: Reader) -> Seen | None:
    """What has the keyboard, when it is no longer where somebody works; or that, when a sentence was said instead."""
    found = told(reader, "", last=1)
    return found if found and (not is_work(found) or reader.said()) else None


def what_it_opens(heard: Heard, row: str) -> list[str]:
    """Run a command of the palette, judge what comes, and leave it."""
    reader, root = heard
    name = row.partition(",")[0]
    press(reader, "Ctrl+k", until="Find a command")
    reader.type(f">{name.removesuffix('…')}")
    names = {row, *(row.replace(f", {tab}", "") for tab in TABS)}  # that of the open tab is left out

    def found() -> int | None:
        rows = [each for each in results(reader, root) if "…" in each]
        return next((place for place, each in enumerate(rows, 1) if each in names), None)

    place = reader.wait(found, row)
    for _ in range(place - 1):
        reader.press("Down")
    reader.hear(f" {place} of ")
    reader.events.clear()
    reader.press("Return")
    try:
        at = reader.wait(lambda: opened_now(reader), f"what {name} opens")
    except AssertionError:
        return [f"silent ends: nothing comes of {row}"]
    if at.name in FIELDS_OF_FILE_DIALOGS:
        found = []
    else:
        window = reader.window(at.node, root)
        seen = list(reader.walk(window, 1))
        found = [f"{each}, in {name}" for each in faults(reader, seen)]
        is_picker = seen[0].role == "panel" and at.role == "text"  # a popover whose field walks its list
        if is_picker and any(each.role == "list item" for each in seen):
            found += silent_arrows(reader, name)
    reader.events.clear()
    if not is_work(at):
        reader.press("Escape")
        try:
            reader.wait(lambda: working_at(reader), name, lambda: reader.press("Escape"))
        except AssertionError:
            found.append(f"focus lost: after {row}")
    return found


def silent_arrows(reader: Reader, where: str) -> list[str]:
    for _ in range(2):
        reader.events.clear()
        reader.press("Down")
        try:
            reader.wait(lambda: reader.said() or reader.focused(), "a row")
        except AssertionError:
            return [f"silent arrows: Down in {where}"]
    return []


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.timeout(900)
def test_what_commands_open_is_named_reached_said_and_left(
    heard: Heard, commands_that_open: list[str], record_property: Record, part: int
) -> None:
    go_to(heard, "Settings")
    judge(record_property, [fault for row in commands_that_open[part::PARTS] for fault in what_it_opens(heard, row)])


def test_every_page_of_settings(heard: Heard, record_property: Record) -> None:
    reader, root = heard
    go_to(heard, "Settings")
    reader.press("Home")
    names = [reader.name(node) for node in reader.children(reader.find(root, "Settings sections", "list"))]
    assert len(names) == 11
    found = []
    for name in names:
        reader.listen(0.5)
        reader.wait(lambda name=name: reader.at(name), f"the section {name}")
        found += [f"{each}, in {name}" for each in faults(reader, list(reader.walk(root)))]
        reader.press("Down")
    judge(record_property, found)


@pytest.mark.parametrize("picker", PICKERS)
def test_every_picker_says_each_row_and_gives_the_keyboard_back(
    heard: Heard, record_property: Record, picker: str
) -> None:
    tab, keys, search = PICKERS[picker]
    go_to(heard, tab)
    reader, root = heard
    field = press(reader, keys, until=search)
    found = faults(reader, list(reader.walk(reader.window(field.node, root), 1))) + silent_arrows(reader, picker)
    reader.events.clear()
    reader.press("Escape")
    reader.wait(lambda: told(reader, FIELDS[tab]), f"{FIELDS[tab]} after the picker")
    judge(record_property, found)


def test_voices_are_said_one_by_one(heard: Heard) -> None:
    go_to(heard, "Speech")
    reader = heard.reader
    names = (reader.focus_after("Tab").name for _ in range(60))
    assert "Search voices" in names
    places = []
    for _ in range(2):
        reader.events.clear()
        reader.press("Down")
        places.append(re.search(r", (\d+) of \d+$", reader.hear(" of ")))
    assert all(places) and int(places[1][1]) == int(places[0][1]) + 1
    reader.press("Escape")  # into the list, to the row that was said
    press(reader, "Escape", until="Text to speak")


def test_every_page_of_the_sandbox_and_a_control_keeps_the_keyboard_while_it_works(
    heard: Heard, record_property: Record
) -> None:
    go_to(heard, "Settings")
    reader, root = heard
    reader.press("Home")
    for _ in range(20):
        reader.listen(0.4)
        if reader.at("Sandbox"):
            break
        reader.press("Down")
    assert "Overview" in (reader.focus_after("Tab").name for _ in range(20))
    found = []
    for page in ("Requests", "Controls", "Your code"):
        press(reader, "Right", until=page)
        found += [f"{each}, in {page}" for each in faults(reader, list(reader.walk(root)))]
    press(reader, "Left", until="Controls")
    assert "Answer with an error: turn on" in (reader.focus_after("Tab").name for _ in range(20))
    for words in ("off", "on"):
        press(reader, "Space", until=f"Answer with an error: turn {words}")
        if len(set(reader.focused())) != 1:
            found.append(f"focus lost: at turn {words}")
    judge(record_property, found)


@pytest.mark.parametrize("opened", OPENED)
def test_what_a_key_opens_has_names_and_roles_and_gives_the_keyboard_back(
    heard: Heard, record_property: Record, opened: str
) -> None:
    tab, keys, first = OPENED[opened]
    go_to(heard, tab)
    reader, root = heard
    at = press(reader, keys, until=first)
    found = faults(reader, list(reader.walk(reader.window(at.node, root), 1)))
    reader.events.clear()
    reader.press("Escape")
    reader.wait(lambda: told(reader, FIELDS[tab]), f"{FIELDS[tab]} after {opened}")
    judge(record_property, found)


def test_f6_enters_the_rail_at_its_tab(heard: Heard) -> None:
    go_to(heard, "Chat")
    passed = [heard.reader.focus_after("F6") for _ in range(8)]
    assert ("radio button", "Chat") in [(each.role, each.name) for each in passed]
    assert "Rialto menu" not in [each.name for each in passed]


def run_command(reader: Reader, name: str, until: str) -> Seen:
    press(reader, "Ctrl+k", until="Find a command")
    reader.events.clear()
    reader.type(f">{name}")
    reader.hear("1 of ")
    return press(reader, "Return", until=until)


def tab_to(reader: Reader, name: str, role: str = "", keys: str = "Tab") -> Seen:
    """Press a key until something whose name begins so has the keyboard."""
    for _ in range(60):
        seen = reader.focus_after(keys)
        if seen.name.startswith(name) and role in ("", seen.role):
            return seen
    raise AssertionError(f"{name} is not reached by {keys}")


@pytest.mark.usefixtures("commands_that_open")  # every tab is there
def test_a_project_its_documents_a_seal_and_a_prompt_with_blanks(heard: Heard, record_property: Record) -> None:
    reader, root = heard
    go_to(heard, "Chat")
    found = []

    def look(at: Seen) -> None:
        found.extend(faults(reader, list(reader.walk(reader.window(at.node, root), 1))))

    run_command(reader, "new project", "Name")
    reader.type("atlas")
    reader.press("Return")
    reader.hear("Project “atlas” created.")
    tab_to(reader, "New project")
    row = tab_to(reader, "", role="list item")  # of the chat that is open, if another test left one
    project = row if row.name.startswith("atlas, project, ") else tab_to(reader, "atlas, project, ", keys="Up")
    look(press(reader, "Ctrl+Shift+y", until="Name"))
    press(reader, "Escape", until=project.name)
    look(press(reader, "Shift+F10", until="New chat"))
    press(reader, "Escape", until=project.name)
    look(run_command(reader, "project documents", "Close"))
    press(reader, "Escape", until=project.name)

    go_to(heard, "Chat")
    press(reader, "Ctrl+Shift+m", until="Filter models")
    reader.type("sealed")
    reader.hear("Handbook reader, sealed")
    press(reader, "Return", until="Message")
    run_command(reader, "seal chat", "Message")
    reader.hear("Sealed")
    look(reader.look(reader.focused()[-1]))
    look(run_command(reader, "what was checked", "Close"))
    first = tab_to(reader, "Passed: ", role="list item")
    assert re.fullmatch(r"Passed: Nonce, [0-9a-f]{64}", reader.focus_after("Down").name) and "Model" in first.name
    press(reader, "Escape", until="Message")

    reader.press("Ctrl+Shift+n")
    reader.hear("Private chat.")
    look(tab_to(reader, "System prompt"))
    reader.type("Write about {{topic}}.")
    press(reader, "Escape", until="Message")
    run_command(reader, "prompt library", "Search prompts")
    tab_to(reader, "Save current…")
    press(reader, "Space", until="Name")
    reader.type("tides")
    press(reader, "Return", until="Message")
    run_command(reader, "prompt library", "Search prompts")
    reader.press("Down")
    look(press(reader, "Return", until="topic"))
    press(reader, "Escape", until="Message")
    judge(record_property, found)


def test_the_menu_of_a_text_field_opens_on_its_first_entry(heard: Heard) -> None:
    go_to(heard, "Chat")
    assert press(heard.reader, "Shift+F10", until="").role == "menu item"
    press(heard.reader, "Escape", until="Message")
