"""The undo history: each command once, the newest of a tab first, and nothing of what is gone or back already."""

from __future__ import annotations

import pytest

from app.core.tasks import TaskScope
from app.core.undo import MOST_COMMANDS, UndoCommand, UndoStack
from app.storage.errors import NotStored, StorageError, StorageUnavailable

Undone = list[tuple[str, ...]]


@pytest.fixture
def stack(tasks: TaskScope) -> UndoStack:
    return UndoStack(tasks)


def command(
    tab: str, *ids: str, undone: Undone | None = None, refusals: list[StorageError] | None = None
) -> UndoCommand:
    """`refusals` are raised one after the other, before the first success."""

    async def undo(ids: tuple[str, ...]) -> None:
        if refusals:
            raise refusals.pop(0)
        if undone is not None:
            undone.append(ids)

    return UndoCommand(tab, " ".join(ids), undo, ids)


async def test_undo_takes_the_newest_command_of_the_tab_and_leaves_the_others(
    stack: UndoStack, tasks: TaskScope
) -> None:
    undone = Undone()
    for each in (("chat", "a"), ("speech", "b"), ("chat", "c")):
        stack.push(command(*each, undone=undone))
    assert [each.text for each in stack.newest("speech")] == ["b", "c"]
    assert [stack.undo_last("chat") for _ in range(3)] == [True, True, False]
    await tasks.idle()
    assert undone == [("c",), ("a",)]
    assert stack.can_undo("speech") and not stack.can_undo("chat")


async def test_a_command_is_undone_once_in_whatever_order_its_notice_is_pressed(
    stack: UndoStack, tasks: TaskScope
) -> None:
    undone = Undone()
    first, second = command("chat", "a", undone=undone), command("chat", "b", undone=undone)
    gone: list[UndoCommand] = []
    stack.removed.connect(gone.append)
    stack.push(first)
    stack.push(second)
    assert stack.undo(first) and not stack.undo(first)
    assert stack.undo_last("chat") and not stack.undo_last("chat")
    await tasks.idle()
    assert undone == [("a",), ("b",)] and gone == [first, second]


async def test_what_came_back_or_is_gone_by_other_means_is_not_undone_again(stack: UndoStack, tasks: TaskScope) -> None:
    undone = Undone()
    stack.push(command("chat", "a", "b", undone=undone))
    stack.push(command("speech", "a", undone=undone))
    stack.forget("chat", ("a",))
    assert stack.undo_last("chat")
    await tasks.idle()
    assert undone == [("b",)]
    stack.push(command("chat", "c", undone=undone))
    stack.forget("chat", ("c",))
    assert not stack.can_undo("chat") and stack.can_undo("speech")


async def test_the_oldest_commands_are_forgotten_in_the_end(stack: UndoStack, tasks: TaskScope) -> None:
    undone = Undone()
    for number in range(MOST_COMMANDS + 5):
        stack.push(command("chat", str(number), undone=undone))
    while stack.undo_last("chat"):
        await tasks.idle()
    assert len(undone) == MOST_COMMANDS


async def test_what_the_disk_refuses_to_undo_is_in_its_place_again_and_is_undone_later(qapp: object) -> None:
    told: list[Exception] = []
    tasks = TaskScope(told.append)
    stack, undone, offered = UndoStack(tasks), Undone(), list[UndoCommand]()
    stack.pushed.connect(offered.append)
    full = StorageUnavailable("The disk is full, so nothing more can be saved.")
    first, second = (command("chat", each, undone=undone, refusals=[full, full]) for each in "ab")
    for each in (first, second):
        stack.push(each)
    for _ in range(2):
        assert stack.undo_last("chat") and stack.undo_last("chat")
        await tasks.idle()
    assert told == [full] * 4 and undone == []
    assert offered == [first, second, *[second, first] * 2]  # its notice is there again
    assert stack.undo_last("chat") and stack.undo_last("chat")
    await tasks.idle()
    assert undone == [("b",), ("a",)]
    await tasks.aclose()


async def test_what_can_never_be_undone_does_not_stay_in_the_way(qapp: object) -> None:
    told: list[Exception] = []
    tasks = TaskScope(told.append)
    stack = UndoStack(tasks)
    stack.push(command("chat", "a", refusals=[NotStored("This chat is not there any more.")]))
    assert stack.undo_last("chat")
    await tasks.idle()
    assert len(told) == 1 and not stack.can_undo("chat")
    await tasks.aclose()
