"""The undo history: any command once, the newest of a tab first, and nothing of what is gone or back already."""

from __future__ import annotations

from app.core.undo import MOST_COMMANDS, UndoCommand, UndoStack

Undone = list[tuple[str, ...]]


def command(tab: str, *ids: str, undone: Undone | None = None) -> UndoCommand:
    return UndoCommand(tab, " ".join(ids), (undone if undone is not None else []).append, ids)


def test_undo_takes_the_newest_command_of_the_tab_and_leaves_the_others() -> None:
    stack, undone = UndoStack(), Undone()
    for each in (("chat", "a"), ("speech", "b"), ("chat", "c")):
        stack.push(command(*each, undone=undone))
    assert [each.text for each in stack.newest("speech")] == ["b", "c"]
    assert [stack.undo_last("chat") for _ in range(3)] == [True, True, False]
    assert undone == [("c",), ("a",)]
    assert stack.can_undo("speech") and not stack.can_undo("chat")


def test_a_command_is_undone_once_in_whatever_order_its_notice_is_pressed() -> None:
    stack, undone = UndoStack(), Undone()
    first, second = command("chat", "a", undone=undone), command("chat", "b", undone=undone)
    gone: list[UndoCommand] = []
    stack.removed.connect(gone.append)
    stack.push(first)
    stack.push(second)
    assert stack.undo(first) and not stack.undo(first)
    assert stack.undo_last("chat") and not stack.undo_last("chat")
    assert undone == [("a",), ("b",)] and gone == [first, second]


def test_what_came_back_or_is_gone_by_other_means_is_not_undone_again() -> None:
    stack, undone = UndoStack(), Undone()
    stack.push(command("chat", "a", "b", undone=undone))
    stack.push(command("speech", "a", undone=undone))
    stack.forget("chat", ("a",))
    assert stack.undo_last("chat") and undone == [("b",)]
    stack.push(command("chat", "c", undone=undone))
    stack.forget("chat", ("c",))
    assert not stack.can_undo("chat") and stack.can_undo("speech")


def test_the_oldest_commands_are_forgotten_in_the_end() -> None:
    stack = UndoStack()
    for number in range(MOST_COMMANDS + 5):
        stack.push(command("chat", str(number)))
    undone = sum(stack.undo_last("chat") for _ in range(MOST_COMMANDS + 5))
    assert undone == MOST_COMMANDS
