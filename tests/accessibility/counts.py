"""What is counted in every place, and none of which may be found."""

from __future__ import annotations

from collections.abc import Callable

from tests.accessibility.bus import Reader, Seen

COUNTS = (
    "nameless",
    "unreachable",
    "wrong roles",
    "focus lost",
    "silent arrows",
    "silent ends",
    "text not readable",
    "targets under 24 px",
)
LEAST_PX = 24
PRESSED = {"push button", "check box", "radio button"}
ARROWS_LEAD_THERE = {"radio button", "page tab", "list item", "tree item", "menu item", "cell"}
NO_STOPS = ARROWS_LEAD_THERE | {"label"}  # a label whose text the mouse can select takes the keyboard by a click alone
WORDS = {"paragraph", "heading"}
NO_ROLE = {"filler", "unknown", "layered pane", "panel", "invalid"}
WITH_A_VALUE = {"slider", "progress bar", "spin box", "scroll bar", "split pane"}

Record = Callable[[str, object], None]


def judge(record_property: Record, found: list[str]) -> None:
    """Count what was found, by what each line begins with."""
    for kind in COUNTS:
        record_property(kind, sum(each.startswith(f"{kind}:") for each in found))
    assert not found, "\n".join(found)


def faults(reader: Reader, seen: list[Seen]) -> list[str]:
    """What is wrong with what is on screen, a line each."""
    found = []
    for each in seen:
        words = f"{each.role} {each.name!r}"
        stop = "focusable" in each.states and each.role != "cell"  # a cell may be empty
        if stop and not each.name.strip():
            found.append(f"nameless: {words}")
        if stop and each.role in NO_ROLE:
            found.append(f"wrong roles: {words}")
        if each.role == "layered pane":
            found.append(f"wrong roles: {words}")
        if each.role in WITH_A_VALUE and "Value" not in each.interfaces:
            found.append(f"wrong roles: without a value, {words}")
        is_pressed = each.role in PRESSED and each.role not in ARROWS_LEAD_THERE
        if is_pressed and not stop and "enabled" in each.states and each.name:
            found.append(f"unreachable: {words}")
        if stop and each.name.strip() and each.description.strip() == each.name.strip():
            found.append(f"text not readable: said twice, {words}")
        is_silent = each.role in WORDS and not each.name.strip()
        if is_silent or (each.role == "text" and "Text" not in each.interfaces):
            found.append(f"text not readable: {words}")
        if stop and each.role in PRESSED:
            width, height = reader.size(each.node)
            if each.role != "check box" and min(width, height) < LEAST_PX:  # of a check box it is the text's height
                found.append(f"targets under 24 px: {width} × {height}, {words}")
    return found


def go_round(reader: Reader, seen: list[Seen]) -> list[str]:
    """Press Tab until a stop comes again; return what was wrong on the way, and what it never came to.

    Not until the first one does: a notice that had the keyboard goes, and lists come meanwhile.
    """
    passed = [reader.focus_after("Tab")]
    for _ in range(150):
        at = reader.focus_after("Tab")
        if at.role not in ARROWS_LEAD_THERE and at.node in {each.node for each in passed}:
            break  # rows of a list are other objects each time
        passed.append(at)
    else:
        raise AssertionError([each.name for each in passed[-20:]])
    assert len(passed) > 10
    found = [
        f"focus lost: {each.role} {each.name!r}"
        for each in passed
        if "focused" not in each.states or "showing" not in each.states
    ]
    nodes = {each.node for each in passed}
    nodes |= {reader.parent(each.node) for each in passed if each.role in ARROWS_LEAD_THERE}
    for each in seen:
        is_stop = {"focusable", "enabled"} <= each.states and each.role not in NO_STOPS
        if is_stop and each.node not in nodes and is_there(reader, each):
            found.append(f"unreachable: {each.role} {each.name!r}")
    return found


def is_there(reader: Reader, seen: Seen) -> bool:
    """Whether what was seen is still on screen and can be used."""
    try:
        return {"enabled", "showing"} <= reader.look(seen.node).states
    except LookupError:
        return False
